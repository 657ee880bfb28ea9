"""The page on words and defaults of other tools says what holds here."""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.problem import Status
from tabprotect.workflow.request import Request

PAGE = Path(__file__).parents[2] / "docs" / "words.md"


def first_column(heading: str) -> list[str]:
    """Return what the table under a heading has in its first column."""
    part = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    lines = [line for line in part.splitlines() if line.startswith("|")]
    return [line.split("|")[1].strip() for line in lines[2:]]


def default(name: str) -> str:
    """Return the default of ours with a name."""
    part = PAGE.read_text(encoding="utf-8").split("## Defaults\n")[1]
    return next(line.split("|")[2].strip() for line in part.splitlines() if line.startswith(f"| {name} |"))


def test_words_are_keys_or_names_that_there_are() -> None:
    known = set(tp.__all__) | set(Request.model_fields) | {f.name for f in fields(tp.Problem)}
    for function in (tp.protect, tp.tabulate, tp.Table.from_cells):
        known |= set(inspect.signature(function).parameters)
    known |= {f"release.{name}()" for name in dir(tp.Release)}
    named = [name for word in first_column("Words") for name in re.findall(r"`([^`]+)`", word)]
    assert len(named) > 12
    assert set(named) <= known


def test_statuses_are_those_of_cells() -> None:
    named = [re.findall(r"`(\w+)`", word)[0] for word in first_column("Statuses")]
    assert set(named) - {"secondary"} <= {status.name.lower() for status in Status}


@pytest.mark.parametrize("number", range(4))
def test_rules_are_read_as_they_are_written(number: int) -> None:
    text = re.findall(r"`([^`]+)`", first_column("Rules")[number])[0]
    assert str(tp.parse_rules(text)[0]) == text


def test_defaults_hold() -> None:
    frame = pd.DataFrame({"region": list("aabbbccc"), "firm": range(8), "turnover": [30.0, 10, 9, 9, 9, 9, 9, 9]})
    counts = tp.protect(frame, "threshold=3", by=["region"], contributor="firm").problem
    sums = tp.protect(frame, "threshold=3", by=["region"], contributor="firm", value="turnover").problem
    assert default("levels of a frequency rule") == "10 % of the value, of counts at least 1"
    assert counts.upl[counts.primaries].tolist() == counts.lpl[counts.primaries].tolist() == [1.0]
    assert sums.upl[sums.primaries].tolist() == sums.lpl[sums.primaries].tolist() == [4.0]
    assert default("method").startswith("`auto`")
    assert tp.Suppress().method == "auto"
