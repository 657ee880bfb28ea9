"""Small programmes: their limits."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tabprotect.solver.small import SmallProgrammes


def test_no_time_is_no_answer_and_does_not_shorten_the_next() -> None:
    n = 500
    rng = np.random.default_rng(1)
    A = sparse.csc_array(sparse.random_array((300, n), density=0.05, rng=rng))
    cost, upper = rng.uniform(1, 2, n), np.full(n, 5.0)
    lower = np.where(np.arange(n) == 7, 0.01, -5.0)
    programmes = SmallProgrammes()
    assert programmes.solve(A, cost, lower, upper, seconds=-1.0) is None
    solution = programmes.solve(A, cost, lower, upper, seconds=60.0)
    assert solution is not None
    assert np.abs(A @ solution.x).max() < 1e-6
