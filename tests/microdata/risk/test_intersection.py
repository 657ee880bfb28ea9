"""Candidates and best guesses, against looking at every pair of records."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.microdata.risk import FuzzyDraw
from tabprotect.microdata.risk.intersection import Guessing, intersect
from tabprotect.microdata.risk.windows import BITS, SIZES, Sizes, boxes
from tests.quick import examples

Floats = npt.NDArray[np.float64]


def pairwise(
    low: Floats, high: Floats, y: Floats, sx: Floats, sy: Floats, true: Any, known: Sequence[FuzzyDraw | None]
) -> tuple[Any, Any, Any]:
    """Return the same as `intersect`: the cost of a fuzzy draw is a power of the distance times its class."""
    n, found = len(low), list(dict.fromkeys(one for one in known if one is not None))
    count, contained, success = np.zeros(n, dtype=int), np.zeros(n, dtype=bool), np.zeros(n)
    for i in range(n):
        fits = (np.isnan(y) | ((y >= low[i]) & (y <= high[i]))).all(axis=1)
        count[i] = fits.sum()
        if true[i] < 0 or not fits[true[i]]:
            continue
        contained[i] = True
        if not found:
            cost = np.log(np.maximum(((sx[i] - sy) ** 2).sum(axis=1), 1e-300)) / 2
        else:
            cost = np.zeros(len(y))
            for one in found:
                mine = [c for c, other in enumerate(known) if other == one]
                rows = np.nan_to_num(y[:, mine], nan=np.inf)
                alike = (rows[:, None] == rows[None]).all(axis=2).sum(axis=1)
                apart = np.maximum(((sx[i, mine] - sy[:, mine]) ** 2).sum(axis=1), 1e-24)
                cost += np.log(apart) / (one.m2 - 1) + np.log(alike)
        best = fits & (cost <= cost[fits].min() + 1e-9)
        success[i] = best[true[i]] / best.sum()
    return count, contained, success


@settings(max_examples=examples(60, 150), deadline=None)
@given(
    seed=st.integers(0, 2**32), n=st.integers(1, 90), m=st.integers(1, 150), p=st.integers(1, 4),
    ties=st.booleans(), block=st.sampled_from([1, 3, 16, 256]), few=st.sampled_from([0, 4, 1000]),
    nearest=st.sampled_from([1, 8]), fuzzy=st.booleans(),
)  # fmt: skip
def test_candidates_and_guesses_are_those_of_all_pairs(
    seed: int, n: int, m: int, p: int, ties: bool, block: int, few: int, nearest: int, fuzzy: bool
) -> None:
    rng = np.random.default_rng(seed)
    x, y = (rng.integers(0, 6, size=(k, p)).astype(float) if ties else rng.normal(size=(k, p)) for k in (n, m))
    y[rng.random(y.shape) < rng.choice([0.0, 0.2])] = np.nan
    reach = rng.choice([0.05, 0.5, 3.0, np.inf], size=p)
    low, high = x - reach, x + reach
    q = int(rng.integers(1, p + 1))
    true = np.full(n, -1, dtype=np.int64)
    true[: min(n, m)] = rng.permutation(m)[: min(n, m)]
    true[rng.random(n) < 0.1] = -1
    known = [FuzzyDraw(float(rng.choice([1.5, 2.0]))) if fuzzy and rng.random() < 0.7 else None for _ in range(q)]
    sides = (low, high, y, np.ascontiguousarray(x[:, :q]), np.nan_to_num(y[:, :q]), true)
    guessing = Guessing(few, nearest, Sizes(block, batch=5))
    count, contained, success = intersect(*sides, known, guessing)
    wanted = pairwise(*sides, known)
    assert count.tolist() == wanted[0].tolist()
    assert contained.tolist() == wanted[1].tolist()
    assert success.tolist() == pytest.approx(wanted[2].tolist())


def test_many_candidates_over_several_blocks() -> None:
    rng = np.random.default_rng(4)
    x = rng.normal(size=(1500, 3))
    y = x + rng.normal(size=x.shape) * 0.4
    for reach in (0.3, 1.5):
        sides = (x - reach, x + reach, y, x, y, np.arange(1500))
        count, contained, success = intersect(*sides, [None] * 3)
        wanted = pairwise(*sides, [None] * 3)
        assert count.tolist() == wanted[0].tolist()
        assert contained.tolist() == wanted[1].tolist()
        assert success.tolist() == wanted[2].tolist()
    assert count.max() > SIZES.block


def test_all_records_are_in_boxes_without_limits_and_none_in_empty_ones() -> None:
    y = np.arange(130.0)[:, None]
    low, high = np.array([[-np.inf], [200.0], [3.0]]), np.array([[np.inf], [300.0], [2.0]])
    sizes = np.zeros(3, dtype=int)
    for found in boxes(low, high, y, np.arange(3)):
        for k, row in enumerate(found.rows):
            span = found.bits[k, found.first[k] : found.last[k] + 1]
            sizes[row] = sum(int(word).bit_count() for word in span)
    assert sizes.tolist() == [130, 0, 0]
    assert (2**BITS - 1).bit_length() < 63


def test_without_masked_records_there_are_no_candidates() -> None:
    x, none = np.zeros((2, 1)), np.zeros((0, 1))
    count, contained, success = intersect(x, x, none, x, none, np.array([-1, -1]), [None])
    assert (count.tolist(), contained.tolist(), success.tolist()) == ([0, 0], [False, False], [0.0, 0.0])
