"""Inversion and change factors, by hand and by all pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tabprotect.microdata as md
from tabprotect.microdata.risk.truta.factors import (
    change_factor,
    count_inversions,
    inversion_change_factor,
    inversion_factor,
    prefix_change,
)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-3, 3)), max_size=40))
def test_inversions_are_those_of_all_pairs(pairs: list[tuple[int, int]]) -> None:
    before, after = (np.array([p[i] for p in pairs], dtype=float) for i in (0, 1))
    wanted = sum(a < c and b > d for a, b in pairs for c, d in pairs)
    assert count_inversions(before, after) == wanted


def test_full_reversal_has_every_pair_and_factor_one() -> None:
    x = np.arange(1000.0)
    assert count_inversions(x, -x) == 1000 * 999 // 2
    assert inversion_factor(x, -x) == 1.0


def test_pairs_with_a_missing_value_are_no_inversions() -> None:
    assert inversion_factor(np.array([1.0, 2, 3, np.nan]), np.array([2.0, 1, np.nan, 0])) == pytest.approx(4 / 12)


def test_zip_codes_of_the_paper() -> None:
    assert prefix_change("48201", "48301") == pytest.approx(1 - 2 / 5)
    assert prefix_change("48202", "88202") == 1.0
    assert prefix_change("48202", "48202") == 0.0
    assert change_factor(["48201", "48202"], ["48301", "48202"], prefix_change) == pytest.approx(0.3)


def _records(values: list[object], schema: md.Schema) -> md.Records:
    return md.read_records(pd.DataFrame({"k": values}), schema)


def test_the_scale_decides_between_inversions_and_changes() -> None:
    unordered, ordered = md.Schema(keys=["k"]), md.Schema(keys=["k"], orders={"k": ["low", "mid", "high"]})
    old, new = ["low", "mid", "high"], ["mid", "low", "high"]
    one = inversion_change_factor(_records(old, unordered), _records(new, unordered), "k")
    other = inversion_change_factor(_records(old, ordered), _records(new, ordered), "k")
    assert one == pytest.approx(2 / 3)
    assert other == pytest.approx(4 * 1 / (3 * 2))


def test_a_rule_that_cannot_be_is_one_clear_error() -> None:
    records = _records(["a", "b"], md.Schema(keys=["k"]))
    with pytest.raises(md.InputError, match="no hierarchy"):
        inversion_change_factor(records, records, "k", {"k": "tree"})
    with pytest.raises(md.InputError, match="from 0 to 1"):
        change_factor(["a"], ["b"], lambda old, new: 2.0)
