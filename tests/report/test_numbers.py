"""Numbers on pages: signs, decimals, and where they come from."""

from __future__ import annotations

import re
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect.formats.dialect import STANDARD, Dialect
from tabprotect.report.numbers import Numbers
from tabprotect.table.reading import Recognised

SIGNS = [(".", ","), (",", "."), (",", "\u202f"), (".", "'"), (".", "")]


@given(st.decimals(-(10**9), 10**9, places=3), st.integers(0, 5), st.sampled_from(SIGNS))
def test_what_is_written_is_the_value_rounded(value: Decimal, decimals: int, signs: tuple[str, str]) -> None:
    text = Numbers(*signs).fixed(float(value), decimals)
    decimal, thousands = signs
    plain = text.replace(thousands, "") if thousands else text
    assert len(plain.partition(decimal)[2]) == decimals
    assert abs(Decimal(plain.replace(decimal, ".")) - value) <= Decimal(10) ** -decimals * Decimal("0.501")
    if thousands:
        groups = plain_groups(text.lstrip("-").partition(decimal)[0], thousands)
        assert all(len(group) == 3 for group in groups[1:])
        assert 1 <= len(groups[0]) <= 3


def plain_groups(text: str, thousands: str) -> list[str]:
    return text.split(thousands)


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [(1234567.5, 0, "1.234.568"), (1234.5, 2, "1.234,50"), (0.125, None, "0,125"), (2000.0, None, "2.000"),
     (-1234.0, -1, "-1.234"), (1 / 3, None, "0,333333"), (float("inf"), None, "inf")],
)  # fmt: skip
def test_signs_and_decimals(value: float, decimals: int | None, text: str) -> None:
    assert Numbers(",", ".").fixed(value, decimals) == text


FOUND = {
    "nothing known": ({}, {}, ".", ","),
    "semicolons": ({"separator": ";"}, {}, ",", "\u202f"),
    "semicolons and a decimal comma": ({"separator": ";", "decimal": ","}, {}, ",", "\u202f"),
    "as in Germany": ({"separator": ";", "decimal": ",", "thousands": "."}, {}, ",", "."),
    "blanks": ({"separator": ";", "decimal": ",", "thousands": " "}, {}, ",", "\u202f"),
    "as in Switzerland": ({"separator": ";", "decimal": ".", "thousands": "'"}, {}, ".", "'"),
    "commas between thousands": ({"separator": ";", "thousands": ","}, {}, ".", ","),
    "asked": ({"separator": ";", "decimal": ",", "thousands": "."}, {"thousands": ""}, ",", ""),
    "another decimal sign": ({"separator": ";", "decimal": ",", "thousands": "."}, {"decimal": "."}, ".", ","),
}


@pytest.mark.parametrize("name", FOUND)
def test_signs_are_those_of_the_data_or_as_asked(name: str) -> None:
    given_, asked, decimal, thousands = FOUND[name]
    found = Recognised("a.csv", "text", encoding="utf-8", **{"separator": ",", **given_})
    dialect = Dialect.like([found], **asked)
    assert Numbers.of(dialect) == Numbers(decimal, thousands)
    assert Dialect.of(dialect.document()) == dialect


def test_a_dialect_that_was_written_before_has_the_usual_signs() -> None:
    before = Dialect.of({"separator": ";", "decimal": ",", "encoding": "cp1252"})
    assert before.between_thousands == "\u202f"
    assert before.document() == {"separator": ";", "decimal": ",", "encoding": "cp1252"}


@pytest.mark.parametrize("bad", [{"thousands": "x"}, {"thousands": ","}, {"thousands": 3}, {"group": "."}])
def test_a_damaged_dialect_is_refused(bad: dict[str, object]) -> None:
    with pytest.raises(tp.InputError):
        Dialect.of({"separator": ";", "decimal": ",", "encoding": "utf-8", **bad})


def test_text_files_have_no_sign_between_thousands() -> None:
    plain = b"a,v\nx,1234567.5\n"
    assert Dialect(thousands="'").encode(plain, ["v"]) == plain == STANDARD.encode(plain, ["v"])
    assert Dialect(";", ",", thousands=".").encode(plain, ["v"]) == b"a;v\nx;1234567,5\n"


def report(data: Any, *rules: str, **options: Any) -> tuple[Any, str]:
    """Return a release, and its report."""
    release = tp.protect(data, list(rules), **options)
    with tempfile.TemporaryDirectory() as folder:
        page = release.write(Path(folder) / "out") / "internal" / "report.html"
        return release, page.read_text(encoding="utf-8")


RESIDUAL = "<td>rounding residual of the table</td>"


def test_what_is_noise_of_sums_is_zero_in_words() -> None:
    values = [90000.1, 5000.2, 40000.3, 50000.4, 20000.1, 30000.7, 0.1, 0.2]
    frame = pd.DataFrame({"region": list("nnnnssss"), "size": list("bbppbbpp"), "turnover": values})
    table = tp.tabulate(frame, ["region", "size"], value="turnover")
    assert 0 < table.residual < 1e-9
    release, page = report(table, "p%=15")
    assert f"{RESIDUAL}<td>0</td>" in page
    words = " ".join(release.explain(cell) for cell in range(len(table.values)))
    rests = re.findall(r"the rest (\S+)", words)
    assert "0" in rests
    assert not [rest for rest in rests if "e-" in rest]


def test_residuals_beyond_noise_are_told() -> None:
    frame = pd.DataFrame({"a": ["Total", "x", "y"], "v": [100.5, 60.0, 40.0], "n": [9, 5, 4]})
    table = tp.Table.from_cells(frame, by="a", value="v", count="n", tolerance=1.0)
    assert f"{RESIDUAL}<td>0.5</td>" in report(table, "threshold=3")[1]


def test_percentages_in_words_have_the_sign_of_the_page() -> None:
    german = Numbers(",", ".")
    assert german.words("proven to within 9.88 %; p%=2.5, NACE 10.11") == "proven to within 9,88 %; p%=2.5, NACE 10.11"
    assert german.words(301632.2) == "301.632,2"
    assert german.words(1021716.8) == "1.021.716,8"
    assert Numbers().words("to within 9.88 %") == "to within 9.88 %"
