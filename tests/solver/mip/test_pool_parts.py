"""Pools solved in parts say the same as pools solved at once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.pool import PoolAnswer, pool_solver
from tabprotect.solver.mip.pool_parts import InParts

ENGINE = pool_solver("highs")


def growing_pools(seed: int):
    """Covering rows over blocks of variables, a few more in every pool; the first variable is fixed."""
    rng = np.random.default_rng(seed)
    blocks, size = 6, 7
    n = blocks * size
    cost, fixed = rng.integers(1, 30, n).astype(float), np.zeros(n, bool)
    cost[0], fixed[0] = 0.0, True
    rows = []
    for step in range(5):
        for block in rng.integers(0, blocks, 12 if not step else 4).tolist():
            row = np.zeros(n)
            row[block * size + rng.choice(size, 3, replace=False)] = rng.choice([0.5, 0.75, 1.0], 3)
            rows.append(row)
        matrix = np.array(rows)
        rhs = 1.0 - 0.5 * (matrix[:, 0] > 0)
        order = rng.permutation(len(rows))
        yield cost, fixed, sparse.csr_array(matrix[order]), rhs[order], order


def solve(solver, pool, gap: float, **more) -> PoolAnswer:
    cost, fixed, matrix, rhs, _ = pool
    return solver(cost, fixed, matrix, rhs, gap=gap, most=3, budget=Budget(), **({"cutoff": np.inf} | more))


@pytest.mark.parametrize("seed", range(8))
def test_parts_sum_up_to_the_optimum(seed):
    programmes = []

    def counting(cost, fixed, matrix, rhs, **how):
        programmes.append(matrix.shape[0])
        return ENGINE(cost, fixed, matrix, rhs, **how)

    solver = InParts(counting)
    for pool in growing_pools(seed):
        cost, _, matrix, rhs, names = pool
        exact = solve(ENGINE, pool, 0.0)
        answer = solve(solver, pool, 0.0, names=names)
        assert answer.bound == pytest.approx(exact.bound)
        assert cost[answer.solutions[0]].sum() == pytest.approx(exact.bound)
        assert all(np.all(matrix @ solution >= rhs - 1e-6) for solution in answer.solutions)
        assert all(solution[0] for solution in answer.solutions)
    assert sum(programmes) < sum(pool[2].shape[0] for pool in growing_pools(seed))


@pytest.mark.parametrize("seed", range(8))
def test_bounds_hold_with_parts_that_were_not_solved_to_the_end(seed):
    def rough(cost, fixed, matrix, rhs, *, gap, **how):
        """An engine that stops at the gap asked for as early as it may."""
        found = ENGINE(cost, fixed, matrix, rhs, gap=0.0, **how)
        return PoolAnswer(found.bound * (1 - 0.9 * gap), found.solutions, found.nodes)

    solver = InParts(rough, small=0)
    for gap, pool in zip((0.1, 0.1, 0.05, 0.05, 0.0), growing_pools(seed), strict=True):
        exact = solve(ENGINE, pool, 0.0)
        answer = solve(solver, pool, gap, names=pool[-1])
        assert (1 - 2 * gap) * exact.bound <= answer.bound + 1e-9 <= exact.bound + 2e-9


def test_nothing_below_the_cutoff_is_said_so():
    *_, pool = growing_pools(0)
    best = solve(ENGINE, pool, 0.0).bound
    solver = InParts(ENGINE)
    assert solve(solver, pool, 0.0, names=pool[-1]).bound == pytest.approx(best)
    for cutoff in (best - 0.5, best + 0.5):
        answer = solve(InParts(ENGINE), pool, 0.0, names=pool[-1], cutoff=cutoff)
        assert answer.bound >= cutoff if cutoff < best else answer.bound == pytest.approx(best)
