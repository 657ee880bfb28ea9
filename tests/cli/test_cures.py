"""Cures are written for the face they appear on, and all that is wrong is said at once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

FIRMS = "region,size,firm,turnover\nn,b,f0,90\nn,s,f1,5\n,b,f2,4\ns,b,f5,20.5\ns,s,f6,30\n"
CELLS = "region,value,st,low\nTotal,100,s,\nn,70,u,5\ns,30,s,\n"
ASKED = ("firms.csv", "--by", "region", "--by", "size", "--value", "turnover", "--rule", "p%=15")
FINISHED = ("--cells", "cells.csv", "--by", "region", "--value", "value")
SPEC = """
data = "firms.csv"
by = ["region", "size"]
value = "turnover"
rules = ["p%=15"]
"""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "spec.toml").write_text(SPEC)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("more", "cure"),
    [
        ((), "under a code of their own: --missing region=unknown"),
        (("--method", "open-classes"), "such as --option open=age"),
        (("--set", "method.open=age"), "--method: should be a text; options of a method are --option open=age"),
        (("--method", "recode", "--option", "rules=x"), "such as --set options.rules.age=age.grc"),
        (("--format", "nope"), "--format: 'nope' is not possible; there are 'csv'"),
    ],
)
def test_flags(tabprotect: Run, more: tuple[str, ...], cure: str) -> None:
    done = tabprotect("protect", *ASKED, *more, "--out", "out")
    assert done.code == 2
    assert cure in done.err


@pytest.mark.parametrize(
    ("more", "cure"),
    [
        ("", 'under a code of their own: missing = {"region" = ["unknown"]}'),
        ('method = "open-classes"', 'such as options = {open = ["age"]}'),
        ('[method]\nopen = ["age"]', 'method: should be a text; options of a method are options = {open = ["age"]}'),
    ],
)
def test_specifications(place: Path, tabprotect: Run, more: str, cure: str) -> None:
    (place / "spec.toml").write_text(SPEC + more + '\n[output]\nfolder = "out"\n')
    done = tabprotect("protect", "spec.toml")
    assert done.code == 2
    assert cure in done.err


@pytest.mark.parametrize("stated", [("--status", "st"), ("--lpl", "low")])
def test_a_finished_table_that_says_what_is_sensitive_needs_no_rule(tabprotect: Run, stated: tuple[str, str]) -> None:
    done = tabprotect("protect", *FINISHED, *stated, "--out", "out")
    assert "--rule" not in done.err
    assert "verdict" in done.out


def test_other_tables_do(tabprotect: Run) -> None:
    done = tabprotect("protect", *FINISHED, "--out", "out")
    assert "--rule is missing" in done.err
    assert done.code == 2


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="a file system that holds no files of users")
def test_everything_is_told_beside_a_wrong_rule(tabprotect: Run) -> None:
    wrong = ("--method", "exat", "--levels", "nope", "--resume", "/proc/y")
    done = tabprotect("protect", *ASKED[:-1], "q%=15", *wrong, "--out", "out")
    for told in ("rule 'q%=15' is not known", "'nope' is not possible", "/proc/y: cannot be written", "mean 'exact'?"):
        assert told in done.err, told


@pytest.mark.parametrize("command", ["protect", "compare"])
def test_folders_are_said_to_be_folders(place: Path, tabprotect: Run, command: str) -> None:
    (place / "data").mkdir()
    assert "data: a folder, where a file of data is wanted" in tabprotect(command, "data", *ASKED[1:]).err
    assert tabprotect("protect", *ASKED, "--missing", "region=x", "--out", "rel", "--allow-unsafe").code in (0, 1)
    done = tabprotect(command, "rel", *ASKED[1:])
    assert done.code == 2
    assert "rel: the folder of a release, where a file of data is wanted; 'tabprotect audit rel'" in done.err


def test_what_is_missing_is_not_judged_by_its_ending(tabprotect: Run) -> None:
    assert "relase: there is no such file or folder" in tabprotect("audit", "relase").err


def test_values_that_are_no_codes_are_not_said_to_be_missing(tabprotect: Run) -> None:
    done = tabprotect("protect", "firms.csv", "--by", "turnover", "--value", "turnover", "--rule", "p%=15")
    assert "cannot be a dimension" in done.err
    assert "has no code" not in done.err
