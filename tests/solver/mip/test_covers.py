"""Cover cuts hold for every binary solution of their row, and cut off the point that they were looked for at."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import sparse

from tabprotect.solver.mip.covers import cover_cuts


@pytest.mark.parametrize("seed", range(30))
def test_no_binary_solution_is_cut_off(seed):
    rng = np.random.default_rng(seed)
    n, m = 7, 5
    values = np.where(rng.random((m, n)) < 0.7, rng.integers(1, 11, (m, n)) / 10, 0.0)
    x = rng.random(n) * (rng.random(n) < 0.8)
    rhs = rng.choice([1.0, 1.5, 2.0], m)
    cuts = cover_cuts(sparse.csr_array(values), rhs, x, max_slack=np.inf)
    for cut in cuts:
        assert len(cut.row.index)
        assert cut.row.slack(x) < 0
        assert set(cut.row.index.tolist()) | set(cut.others.tolist()) == set(
            np.flatnonzero(values[cut.parent]).tolist()
        )
        assert values[cut.parent][cut.others].sum() < rhs[cut.parent]
        for point in itertools.product([0.0, 1.0], repeat=n):
            if values[cut.parent] @ point >= rhs[cut.parent]:
                assert cut.row.slack(np.array(point)) >= 0


def test_some_points_are_cut_off_and_every_cut_comes_once():
    found = [
        len(cover_cuts(sparse.csr_array([[0.6, 0.3, 1.0, 0.5]] * 3), np.ones(3), x, most=5))
        for x in (np.array([1.0, 0.8, 0.0, 0.3]), np.array([1.0, 1.0, 1.0, 1.0]))
    ]
    assert found == [1, 0]


def test_rows_with_negative_coefficients_are_passed_over():
    assert not cover_cuts(sparse.csr_array([[0.6, -0.3, 0.5]]), np.ones(1), np.full(3, 0.3), max_slack=np.inf)
    assert not cover_cuts(sparse.csr_array([[0.6, 0.3, 0.5]]), -np.ones(1), np.full(3, 0.3), max_slack=np.inf)
