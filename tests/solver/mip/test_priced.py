"""Pools solved beside their relaxation say the same as pools solved alone."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.mip.pool import PoolAnswer, pool_solver
from tabprotect.solver.mip.priced import Point, Priced
from tests.quick import first

ENGINE = pool_solver("highs")


def pool(seed: int):
    """Covering rows over three blocks of variables, the first variable fixed, and the solved relaxation."""
    rng = np.random.default_rng(seed)
    n, m = 60, 24
    cost, fixed = rng.integers(1, 30, n).astype(float), np.zeros(n, bool)
    cost[0], fixed[0] = 0.0, True
    matrix = np.zeros((m, n))
    for k, row in enumerate(matrix):
        row[20 * (k % 3) + rng.choice(20, 4, replace=False)] = rng.choice([0.5, 0.75, 1.0], 4)
    matrix[m - 3 :] = np.where(matrix[m - 3 :] > 0, 1.0, 0.0)
    for row in matrix[m - 3 :]:  # a bridge: one of them needs another one
        row[np.flatnonzero(row)[0]] = -1.0
    rhs = np.where(matrix.min(axis=1) < 0, 0.0, np.minimum(1.0, matrix.sum(axis=1)) - 0.5 * (matrix[:, 0] > 0))
    lp = LinearProgram(matrix, rhs, np.full(m, np.inf), fixed.astype(float), np.ones(n), cost).solve()
    return cost, fixed, sparse.csr_array(matrix), rhs, Point(lp.x, lp.reduced)


def solve(solver, given, gap: float = 0.0, cutoff: float = np.inf, **more) -> PoolAnswer:
    return solver(*given[:4], gap=gap, most=3, budget=Budget(), cutoff=cutoff, **more)


@pytest.mark.parametrize("open_", [(3, 50), (1, 1), (0, 0)])
@pytest.mark.parametrize("seed", first(4, range(12)))
def test_the_same_optimum(seed, open_):
    given = pool(seed)
    cost, fixed, matrix, rhs, point = given
    exact = solve(ENGINE, given).bound
    for cutoff in (np.inf, exact + 0.5, exact + 40):
        answer = solve(Priced(ENGINE, *open_), given, cutoff=cutoff, point=point)
        assert answer.bound == pytest.approx(exact)
        assert cost[answer.solutions[0]].sum() == pytest.approx(exact)
        assert all(np.all(matrix @ solution >= rhs - 1e-6) and solution[fixed].all() for solution in answer.solutions)
    assert solve(Priced(ENGINE, *open_), given, cutoff=exact - 0.5, point=point).bound >= exact - 0.5


@pytest.mark.parametrize("seed", range(12))
def test_bounds_hold_where_variables_stay_closed(seed):
    given = pool(seed)
    exact = solve(ENGINE, given).bound
    answer = solve(Priced(ENGINE, times=1, more=0), given, gap=0.2, point=given[-1])
    assert answer.bound <= exact + 1e-6
    assert given[0][answer.solutions[0]].sum() <= answer.bound + 0.4 * exact


def test_variables_are_left_out_and_settled_parts_are_not_solved():
    solved, everything, rows = 0, 0, []

    def counting(cost, fixed, matrix, rhs, **how):
        nonlocal solved
        rows.append(matrix.shape[0])
        solved += len(np.unique(matrix.indices))
        return ENGINE(cost, fixed, matrix, rhs, **how)

    for seed in range(12):
        given = pool(seed)
        everything += len(np.unique(given[2].indices))
        solve(Priced(counting, times=1, more=2), given, gap=0.5, point=given[-1])
    assert solved < 0.85 * everything
    assert min(rows) < 24
