from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.formats.pattern import cell_ids, pattern_of, read_pattern
from tabprotect.table.system import LinearSystem

NUMBERS = LinearSystem.from_equations([(10, [11, 12, 13])])
CODES = LinearSystem(NUMBERS.A, NUMBERS.b, pd.MultiIndex.from_product([["T", "A"], [1, 2]]))


@pytest.mark.parametrize("content", [[11, 13], ["11", 13, 11], {"suppressed": [13, 11], "cost": 3}])
def test_a_list_or_a_result_is_a_pattern(tmp_path: Path, content: object) -> None:
    (tmp_path / "p.json").write_text(json.dumps(content))
    assert read_pattern(tmp_path / "p.json", NUMBERS).tolist() == [False, True, False, True]


def test_cells_of_tables_are_lists_of_codes(tmp_path: Path) -> None:
    pattern = pattern_of([["A", 1], ("T", "2")], CODES)
    assert pattern.tolist() == [False, True, True, False]
    ids = cell_ids(CODES, pattern)
    assert ids == [["T", 2], ["A", 1]]
    assert pattern_of(json.loads(json.dumps(ids)), CODES).tolist() == pattern.tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[11, 99, 98]", "no such cell: 99, 98"),
        ("[11, ", "line 1: not JSON"),
        ('{"hidden": [11]}', "a pattern is a list of cell ids"),
        ("11", "a pattern is a list of cell ids"),
        ("[" * 100_000, r"JSON|nested"),
        ("[null, {}]", "no such cell: None, {}"),
    ],
)
def test_what_is_no_pattern_is_refused(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "p.json").write_text(text)
    with pytest.raises(InputError, match=words):
        read_pattern(tmp_path / "p.json", NUMBERS)


@pytest.mark.parametrize("content", [[0, 1, 0, 1], [False, True, False, True]])
def test_ones_for_hidden_cells_are_refused_with_the_ids_to_write(tmp_path: Path, content: list[int]) -> None:
    (tmp_path / "p.json").write_text(json.dumps(content))
    for system, ids in ((NUMBERS, "[11, 13]"), (CODES, r"[['T', 2], ['A', 2]]")):
        with pytest.raises(InputError, match="0 or 1 for each of 4 cells is no pattern") as refused:
            read_pattern(tmp_path / "p.json", system)
        assert str(refused.value).endswith(f"write the ids of the hidden cells: {ids}")
    cure = str(refused.value).rpartition(": ")[2].replace("'", '"')
    (tmp_path / "p.json").write_text(cure)
    assert read_pattern(tmp_path / "p.json", CODES).tolist() == [False, True, False, True]


def test_positions_that_are_cells_0_and_1_are_still_a_pattern() -> None:
    assert pattern_of([0, 1], LinearSystem.from_equations([(0, [1, 2])])).tolist() == [True, True, False]
