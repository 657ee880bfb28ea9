"""Flags that were taken and said nothing: they do what they say now, or are refused with the cure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.errors import InputError

Run = Callable[..., Any]

FIRMS = "Region;Größe;Firma;Umsatz\n" + "".join(
    f"{region};{size};f{i};{value}\n"
    for i, (region, size, value) in enumerate(
        [("N1", "k", "90,5"), ("N1", "k", "15,0"), ("N2", "g", "24,0"), ("S1", "g", "50,25"), ("S1", "k", "30,0"),
         ("S2", "g", "40,0"), ("S2", "k", "12,5"), ("N2", "k", "33,0")] * 2
    )
)  # fmt: skip
ASKED = ("firms.csv", "--by", "Region", "--by", "Größe", "--value", "Umsatz", "--rule", "threshold=3", "--out", "out")
SPEC = """data = "firms.csv"
by = ["Region", "Größe"]
value = "Umsatz"
rules = ["threshold=3"]
output = {folder = "out"}
"""
SOURCES = {
    "file": '"region.hrc"',
    "pairs": '{pairs = "pairs.csv"}',
    "codes": '{codes = ["N1", "N2", "S1", "S2"]}',
    "lengths": "{lengths = [1, 2]}",
    "digits": "{digits = [1, 1]}",
}


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "firms.csv").write_text(FIRMS)
    (tmp_path / "region.hrc").write_text("N\n@N1\n@N2\nS\n@S1\n@S2\n")
    (tmp_path / "pairs.csv").write_text("parent;child\n;N\n;S\nN;N1\nN;N2\nS;S1\nS;S2\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("source", SOURCES)
def test_the_total_of_a_hierarchy_has_the_name_that_it_is_given(place: Path, tabprotect: Run, source: str) -> None:
    (place / "spec.toml").write_text(SPEC + f"hierarchy = {{Region = {SOURCES[source]}}}\n")
    done = tabprotect("protect", "spec.toml", "--total", "Region=Deutschland")
    assert done.code == 0, done.err
    table = pd.read_csv("out/publish/table.csv", sep=";")
    assert "Deutschland" in set(table["Region"])
    assert "Total" not in set(table["Region"])


def test_two_names_of_one_total(place: Path, tabprotect: Run) -> None:
    (place / "spec.toml").write_text(SPEC + '[hierarchy.Region]\nfile = "region.hrc"\ntotal = "BRD"\n')
    done = tabprotect("protect", "spec.toml", "--total", "Region=Deutschland")
    assert done.code == 2
    assert "its total is 'BRD' here, and 'Deutschland' in total.Region" in done.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--sheet", "x"), "firms.csv: --sheet x is for Excel files, and this is text; leave it out"),
        (("--member", "x"), "firms.csv: --member x is for zip archives, and this is none; leave it out"),
        (("--relation", "x"), "firms.csv: --relation x is for DuckDB files, and this is text; leave it out"),
        (("--missing", "Region=n1"), "--missing: 'n1' is no code of 'Region'; 'N1' is known"),
        (("--missing", "Region=n1", "--rule", "missing"), "--missing: 'n1' is no code of 'Region'"),
        (("--missing", "Region=n1", "--hierarchy", "Region=region.hrc"), "--missing: 'n1' is no code of 'Region'"),
    ],
)
def test_flags_that_would_say_nothing(place: Path, tabprotect: Run, more: tuple[str, ...], words: str) -> None:
    done = tabprotect("protect", *ASKED, *more)
    assert done.code == 2
    assert words in done.err
    assert not (place / "out").exists()


def test_what_says_nothing_of_other_files(place: Path) -> None:
    frame = pd.read_csv("firms.csv", sep=";", decimal=",")
    frame.to_parquet("firms.parquet")
    frame.to_excel("firms.xlsx", index=False)
    for name, key, what in (("parquet", "separator", "a Parquet"), ("xlsx", "encoding", "an Excel")):
        with pytest.raises(InputError, match=rf"{key}=';' is for text, and this is {what} file; leave it out"):
            tp.tabulate(tp.File(f"firms.{name}", **{key: ";"}), ["Region"], "Umsatz")


def test_codes_for_unknown_that_are_there(place: Path, tabprotect: Run) -> None:
    """One in the data, one of the hierarchy only, and one for records without a code."""
    (place / "firms.csv").write_text(FIRMS + ";k;f9;3,5\nN1;;f9;4,5\n")
    more = ("--hierarchy", "Region=region.hrc", "--missing", "Region=?,S2", "--missing", "Größe=?")
    done = tabprotect("protect", *ASKED, *more)
    assert done.code == 0, done.err
    with pytest.raises(InputError, match="missing: 's1' is no code of 'Region'"):
        tp.protect("firms.csv", "threshold=3", by=[tp.Dimension("Region", missing=["?", "s1"])], value="Umsatz")


@pytest.mark.parametrize("more", [(), ("--rule", "missing"), ("--hierarchy", "Region=region.hrc")])
def test_a_code_for_unknown_that_no_record_has_this_time_is_noted(
    place: Path, tabprotect: Run, more: tuple[str, ...]
) -> None:
    done = tabprotect("protect", *ASKED, "--missing", "Region=DE99", *more)
    assert done.code == 0, done.err
    assert "no record has the code 'DE99' of 'Region', which stands for 'unknown'" in " ".join(done.out.split())
    assert "DE99" not in (place / "out/publish/table.csv").read_text()
    (place / "firms.csv").write_text(FIRMS + "DE99;k;f9;3,5\n")
    done = tabprotect("protect", *ASKED[:-1], "again", "--missing", "Region=DE99", *more)
    assert done.code == 0, done.err
    assert "no record has the code" not in done.out


def test_an_encoding_that_lacks_letters_is_said(place: Path, tabprotect: Run) -> None:
    done = tabprotect("protect", *ASKED, "--set", "output.encoding=ascii")
    assert done.code == 0, done.err
    assert "ascii has not all characters of 'Größe': text files are UTF-8, with a byte-order mark" in done.err
    assert (place / "out/publish/table.csv").read_bytes().startswith(b"\xef\xbb\xbf")
    assert "byte-order" not in tabprotect("protect", *ASKED, "--set", "output.encoding=cp1252").err


@pytest.mark.parametrize("text", ["12,5%", "50,5%", "0,150"])
@pytest.mark.parametrize("command", ["protect", "compare"])
def test_bounds_with_a_decimal_comma(place: Path, tabprotect: Run, text: str, command: str) -> None:
    """Once read as a lower bound of 12 and an upper one of 5 % of the value."""
    asked = ASKED if command == "protect" else ASKED[:-2]
    done = tabprotect(command, *asked, "--bounds", text)
    assert done.code == 2
    words = (
        f"--bounds '{text}' can be read in two ways beside data with a decimal comma: write '{text.replace(',', ', ')}'"
    )
    assert words in done.err
    assert f"or '{text.replace(',', '.')}' for both sides" in done.err
    # beside all else that is wrong
    assert words in tabprotect(command, *asked, "--bounds", text, "--levels", "uper").err


def test_bounds_are_said_as_they_were_read(place: Path, tabprotect: Run) -> None:
    for text, words in (("50%", "50%, upper 50%"), ("0, 150%", "0, upper 150%"), ("12.5%", "12.5%, upper 12.5%")):
        done = tabprotect("protect", *ASKED, "--bounds", text, "--allow-unsafe")
        assert f"external bounds lower {words}" in " ".join(done.out.split()), done.err
        settings = json.loads((place / "out/internal/release.json").read_text())["settings"]
        assert settings["external bounds"] == f"lower {words}"
    (place / "firms.csv").write_text(FIRMS.replace(",", "."))
    assert "lower 0, upper 150%" in tabprotect("protect", *ASKED, "--bounds", "0,150%", "--allow-unsafe").out


def test_request_codes_that_no_rule_looks_at_are_refused(place: Path, tabprotect: Run) -> None:
    frame = pd.read_csv("firms.csv", sep=";").assign(asks=1)
    frame.to_csv("firms.csv", sep=";", index=False)
    done = tabprotect("protect", *ASKED, "--request", "asks")
    assert done.code == 2
    assert "the request codes in 'asks' say nothing" in done.err
    assert "add the rule request=70, or another one, or take request out" in done.err
    done = tabprotect("protect", *ASKED, "--request", "asks", "--rule", "request=70,85")
    assert "write the rule 'request=70,p2=85,range=10,n=0' for" in done.err
    done = tabprotect("protect", *ASKED, "--request", "asks", "--rule", "request=70")
    assert done.code == 0, done.err


def test_json_is_said_to_be_no_format_of_data(place: Path, tabprotect: Run) -> None:
    pd.read_csv("firms.csv", sep=";").to_json("firms.json", orient="records")
    done = tabprotect("protect", "firms.json", *ASKED[1:])
    assert done.code == 2
    assert "firms.json is an instance" in done.err
    assert "data are files of text such as .csv, or .xlsx, .parquet or .duckdb files" in done.err
