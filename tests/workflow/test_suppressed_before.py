"""Cells that another programme suppressed (status 'm' or 'x') are not published by methods that change values."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.cli.app import run
from tabprotect.errors import InputError

CELLS = pd.DataFrame(
    {
        "r": ["Total", "Total", "Total", "1", "1", "1", "2", "2", "2"],
        "c": ["Total", "a", "b"] * 3,
        "v": [130.0, 70, 60, 50, 20, 30, 80, 50, 30],
        "st": ["s", "s", "s", "s", "x", "s", "s", "s", "m"],
    }
)

METHODS: list[Any] = [tp.Adjust(), tp.Round(base=5), tp.RandomRound(base=5), tp.ConventionalRound(base=5)]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_no_value_is_published_in_their_place(method: Any) -> None:
    table = tp.Table.from_cells(CELLS, ["r", "c"], "v", status="st")
    with pytest.raises(InputError) as error:
        tp.protect(table, "manual=20", method, seed=1)
    assert str(error.value).startswith("2 cells were suppressed already (status 'm' or 'x'): 1 x a, 2 x b; ")
    assert "protect_hidden=True" in str(error.value)


@pytest.mark.parametrize("method", [tp.Adjust(), tp.Round(base=20)], ids=lambda method: method.name)
def test_with_levels_they_change(method: Any) -> None:
    table = tp.Table.from_cells(CELLS, ["r", "c"], "v", status="st")
    made = tp.protect(table, "manual=20", method, protect_hidden=True, seed=1)
    assert made.safe
    assert made.verify().safe
    sensitive = [table.system.cells.get_loc(cell) for cell in (("1", "a"), ("2", "b"))]
    for cell in sensitive:
        low, high = made.audit().interval(cell)
        level = 0.2 * table.values[cell]
        assert low <= table.values[cell] - level
        assert high >= table.values[cell] + level


def test_the_cure_is_a_flag_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    CELLS.to_csv(tmp_path / "cells.csv", index=False)
    flags = "--by r --by c --value v --status st --rule manual=20 --method adjust"
    words = ["protect", "--cells", str(tmp_path / "cells.csv"), *flags.split(), "--out", str(tmp_path / "out")]
    assert run(words) == 2
    assert "Give them levels with --protect-hidden" in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "out").exists()
    assert run([*words, "--protect-hidden"]) == 0


def test_levels_for_hidden_cells_where_there_are_none_are_said_to_change_nothing() -> None:
    table = tp.Table.from_cells(CELLS.assign(st="s"), ["r", "c"], "v", status="st")
    made = tp.protect(table, "manual=20", tp.Round(base=5), protect_hidden=True)
    said = "protect_hidden changes nothing: round hides no cell, and none was suppressed"
    assert said in made.problem.notes
    # unasked, and by methods that hide cells, whose own may need levels
    for others in (
        tp.protect(table, "manual=20", tp.Round(base=5)),
        tp.protect(table, "manual=20", protect_hidden=True),
    ):
        assert not any("protect_hidden" in note for note in others.problem.notes)
