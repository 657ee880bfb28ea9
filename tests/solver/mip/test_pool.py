"""Integer programmes over a pool of rows: both solvers find what enumeration finds."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.pool import pool_solver


def programme(seed, n=10, m=6):
    """Covering rows over some of the variables; some are fixed at 1, inside the rows and outside of them."""
    rng = np.random.default_rng(seed)
    A = rng.integers(0, 4, (m, n)) * (rng.random((m, n)) < 0.4) * 1.0
    A[:, rng.choice(n, 3, replace=False)] = 0.0
    rhs = np.minimum(A.sum(axis=1), 3.0)
    return rng.integers(1, 9, n) * 1.0, rng.random(n) < 0.2, sparse.csr_array(A), rhs


@pytest.mark.parametrize("engine", ["scip", "highs"])
@pytest.mark.parametrize("seed", range(6))
def test_pools_agree_with_enumeration(engine, seed):
    cost, fixed, A, rhs = programme(seed)
    solutions = np.array(list(product((False, True), repeat=len(cost))))
    allowed = solutions[(solutions | ~fixed).all(axis=1) & (solutions @ A.T.toarray() >= rhs - 1e-9).all(axis=1)]
    best = float((allowed @ cost).min())
    answer = pool_solver(engine)(cost, fixed, A, rhs, cutoff=np.inf, gap=0.0, most=8, budget=Budget())
    assert answer.bound == pytest.approx(best)
    assert cost[answer.solutions[0]].sum() == pytest.approx(best)
    for solution in answer.solutions:
        assert solution[fixed].all()
        assert np.all(A @ solution >= rhs - 1e-9)


@pytest.mark.parametrize("engine", ["scip", "highs"])
def test_the_cut_off_counts_variables_outside_of_the_rows(engine):
    cost, fixed = np.array([2.0, 3.0, 7.0]), np.array([False, False, True])
    A, rhs = sparse.csr_array(np.array([[1.0, 1.0, 0.0]])), np.array([1.0])
    solve = pool_solver(engine)
    assert solve(cost, fixed, A, rhs, cutoff=9.5, gap=0.0, most=8, budget=Budget()).bound == pytest.approx(9.0)
    assert solve(cost, fixed, A, rhs, cutoff=8.5, gap=0.0, most=8, budget=Budget()).bound >= 8.5
