"""Numbers on pages: signs, decimals, and where they come from."""

from __future__ import annotations

from decimal import Decimal

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
