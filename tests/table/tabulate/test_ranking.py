"""Holders with few entries are ranked another way than those with many: the outcome is the same."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from tabprotect.sums import Limbs
from tabprotect.table.levels import Measures
from tabprotect.table.tabulate.entries import Entries
from tabprotect.table.tabulate.ranking import rank

ONE = Limbs((1.0,))


@pytest.mark.parametrize("seed", range(6))
def test_few_and_many_entries_of_a_holder(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, cells = 4000, int(rng.integers(3, 300))
    numbers = rng.integers(0, 50, n) / 4 if seed % 2 else rng.lognormal(3, 6, n)
    limbs = Limbs.of(numbers)
    measures = Measures(limbs, limbs, ONE, limbs, ONE, limbs, weighted=False, signed=False, top=3)
    holder = rng.integers(0, rng.integers(20, 3000), n)
    leaf = np.arange(n)
    entries = Entries.of(leaf, holder, {"shadow": limbs.split(numbers)})
    cell = rng.integers(0, cells + 1, n).astype(np.int32)  # some are in no cell of the level

    parts = list(entries.by_length())
    assert sum(len(part.cell) for part in parts) == n
    by_comparing = rank(entries.at(np.arange(0)), cell[:0], cells, measures)
    for part in parts:
        by_comparing = rank(part, cell[part.cell], cells, measures, by_comparing)
    # where nothing is known yet all entries are sorted
    by_sorting = rank(entries, cell[entries.cell], cells, measures)
    np.testing.assert_array_equal(by_comparing.count, by_sorting.count)
    for field in fields(by_comparing.best):
        one, other = getattr(by_comparing.best, field.name), getattr(by_sorting.best, field.name)
        np.testing.assert_array_equal(one, other, err_msg=field.name)
