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


def test_other_costs_from_the_last_basis_give_what_a_new_programme_gives() -> None:
    rng = np.random.default_rng(2)
    A = sparse.csc_array(sparse.random_array((40, 90), density=0.1, rng=rng))
    lower, upper = np.full(90, -1.0), np.full(90, 2.0)
    cost, other = rng.normal(size=90), rng.normal(size=90)
    programmes, fresh = SmallProgrammes(), SmallProgrammes()
    assert programmes.solve(A, cost, lower, upper, primal=True) is not None
    again, anew = programmes.again(other), fresh.solve(A, other, lower, upper, primal=True)
    assert again is not None
    assert anew is not None
    assert np.isclose(other @ again.x, other @ anew.x)
    assert np.abs(A @ again.x).max() < 1e-6
    assert programmes.again(cost, iterations=0) is None
    back, first = programmes.again(cost), fresh.solve(A, cost, lower, upper, primal=True)
    assert back is not None
    assert first is not None
    assert np.isclose(cost @ back.x, cost @ first.x)


def test_a_limit_of_iterations_is_told_from_no_answer() -> None:
    A = sparse.csc_array([[1.0, 1, -1, 0, 0], [0, 0, 1, -1, -1]])
    lower, upper = np.array([0.0, 0, 3, 0, 0]), np.array([2.0, 2, 3, 2, 2])
    small = SmallProgrammes()
    assert small.solve(A, np.ones(5), lower, upper, iterations=0) is None
    assert small.unfinished
    found = small.solve(A, np.ones(5), lower, upper)
    assert found is not None
    assert not small.unfinished
    assert small.solve(A, np.ones(5), lower, upper / 2 + lower / 2) is None
    assert not small.unfinished
