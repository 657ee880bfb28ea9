"""Files of hierarchies in whatever form offices have them: read by what is in them, from every face."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp

Run = Callable[..., Any]

FIRMS = "region,firm,v\nN1,f0,90\nN1,f1,15\nN2,f2,24\nS1,f3,50\nS1,f4,30\nS2,f5,40\n"
ASKED = ("firms.csv", "--by", "region", "--value", "v", "--contributor", "firm", "--rule", "p%=15", "--out", "out")
SPEC = """data = "firms.csv"
by = ["region"]
value = "v"
contributor = "firm"
rules = ["p%=15"]
hierarchy = {region = "{file}"}
output = {folder = "out"}
"""
LINES = "N\n>N1\n>N2\nS\n>S1\n>S2\n"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "firms.csv").write_text(FIRMS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def published(tabprotect: Run, face: str, file: str) -> list[str]:
    """Return the codes in the table that a face publishes with a file of a hierarchy."""
    if face == "python":
        done = tp.protect(
            "firms.csv", by=["region"], value="v", contributor="firm", rules="p%=15", hierarchies={"region": file}
        )
        return done.public.frame["region"].tolist()
    if face == "flags":
        answer = tabprotect("protect", *ASKED, "--hierarchy", f"region={file}")
    else:
        Path("spec.toml").write_text(SPEC.replace("{file}", file))
        answer = tabprotect("protect", "spec.toml")
    assert answer.code == 0, answer.err
    return pd.read_csv("out/publish/table.csv")["region"].tolist()


@pytest.mark.parametrize("face", ["flags", "specification", "python"])
@pytest.mark.parametrize("leader", ["@", "\t", "  "])
def test_indented_lists(place: Path, tabprotect: Run, face: str, leader: str) -> None:
    """Tabs and blanks that indent a list once made it a flat one, whose groups were published as zeros."""
    (place / "region.hrc").write_text(LINES.replace(">", leader))
    assert published(tabprotect, face, "region.hrc") == ["Total", "N", "N1", "N2", "S", "S1", "S2"]


@pytest.mark.parametrize("face", ["flags", "specification", "python"])
@pytest.mark.parametrize(
    "text",
    [
        "parent;child\n;N\nN;N1\nN;N2\n;S\nS;S1\nS;S2\n",
        "code\tlevel\nN\t1\nN1\t2\nN2\t2\nS\t1\nS1\t2\nS2\t2\n",
        "code,label,parent\nN,North,\nN1,a,N\nN2,b,N\nS,South,\nS1,c,S\nS2,d,S\n",
    ],
)
def test_lists_with_columns(place: Path, tabprotect: Run, face: str, text: str) -> None:
    """Python once read them as indented lists."""
    (place / "region.csv").write_text(text)
    assert published(tabprotect, face, "region.csv") == ["Total", "N", "N1", "N2", "S", "S1", "S2"]


@pytest.mark.parametrize("face", ["flags", "specification", "python"])
def test_one_column_with_a_heading(place: Path, tabprotect: Run, face: str) -> None:
    """Its heading was published as a code."""
    (place / "region.csv").write_text("code\nN1\nN2\nS1\nS2\n")
    assert published(tabprotect, face, "region.csv") == ["Total", "N1", "N2", "S1", "S2"]


def test_headings_that_nobody_knows(place: Path, tabprotect: Run) -> None:
    (place / "region.csv").write_text("Kode;Ober\nN;\nN1;N\n")
    done = tabprotect("protect", *ASKED, "--hierarchy", "region=region.csv")
    assert done.code == 2
    assert "region.csv: the first line, 'Kode;Ober', names no column of codes that is known; call it code" in done.err
    assert "write a line a code, with the headings parent;child; or say --set hierarchy." in done.err
    cure = done.err.partition("or say ")[2].partition(" if these")[0]
    assert cure == "--set hierarchy.region.leader='@'"
    (place / "region.csv").write_text("N1, a\nN2, b\n")
    codes = tabprotect("protect", *ASKED, "--hierarchy", "region=region.csv", *cure.replace("'", "").split())
    # the cure is taken; it is the codes of the data that this list lacks
    assert "names no column of codes" not in codes.err
    assert "codes that its hierarchy has not" in codes.err


@pytest.mark.parametrize("face", ["flags", "specification", "python"])
@pytest.mark.parametrize("heading", ["", "level;name\n"])
def test_levels_in_a_column_of_their_own(place: Path, tabprotect: Run, face: str, heading: str) -> None:
    """As sdcHierarchies writes them; codes were once ';N1'."""
    (place / "region.csv").write_text(f"{heading}@;Total\n@@;N\n@@@;N1\n@@@;N2\n@@;S\n@@@;S1\n@@@;S2\n")
    assert published(tabprotect, face, "region.csv") == ["Total", "N", "N1", "N2", "S", "S1", "S2"]


def test_indentation_in_two_ways(place: Path, tabprotect: Run) -> None:
    (place / "region.hrc").write_text("N\n\tN1\n  N2\nS\n")
    done = tabprotect("protect", *ASKED, "--hierarchy", "region=region.hrc")
    assert done.code == 2
    assert "region.hrc: line 3: 'N2' is indented by a blank, and line 2 by a tab; indent all lines in the" in done.err
