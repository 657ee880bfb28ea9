"""Every cut of every family holds for all patterns, by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

from benchmarks.cut_families import Pool, fixed_by_cost, probed, separated, without
from benchmarks.cuts import FAMILIES
from tabprotect.methods.suppression.bound.relaxation import Relaxation
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tests.checker import Judge
from tests.random_problems import random_problem


def all_vectors(n):
    return np.array(list(product((0.0, 1.0), repeat=n)))


def random_pool(seed):
    """Capacity rows and bridges over ten cells, as a relaxation has them."""
    rng = np.random.default_rng(seed)
    n = 10
    rows, rhs = [], []
    for _ in range(7):
        row = np.zeros(n)
        inside = rng.choice(n, 5, replace=False)
        row[inside] = rng.choice([0.3, 0.5, 0.7, 1.0, rng.uniform(0.2, 0.9)], 5)
        rows.append(row / min(1.0, row.sum()) if row.sum() < 1 else row)
        rhs.append(1.0)
    for _ in range(4):
        row = np.zeros(n)
        inside = rng.choice(n, 4, replace=False)
        row[inside] = 1.0
        row[inside[0]] = -1.0
        rows.append(row)
        rhs.append(0.0)
    return Pool(
        rng.integers(1, 20, n).astype(float), np.zeros(n, bool), sparse.csr_array(np.array(rows)), np.array(rhs)
    )


def relaxed(pool):
    programme = LinearProgram(
        pool.matrix,
        pool.rhs,
        np.full(len(pool.rhs), np.inf),
        np.zeros(len(pool.cost)),
        np.ones(len(pool.cost)),
        pool.cost,
    )
    answer = programme.solve()
    return answer.objective, np.clip(answer.x, 0, 1), answer.reduced


def solutions(pool):
    vectors = all_vectors(len(pool.cost))
    return vectors[(pool.rhs - 1e-9 <= (pool.matrix @ vectors.T).T).all(axis=1)]


@pytest.mark.parametrize("name", FAMILIES)
def test_no_cut_removes_a_solution_of_the_pool(name):
    cuts = 0
    for seed in range(60):
        pool = random_pool(seed)
        good = solutions(pool)
        points = [relaxed(pool)[1], np.random.default_rng(seed).uniform(0, 0.6, len(pool.cost))]
        for x in points:
            for row in FAMILIES[name](pool.matrix, pool.rhs, x):
                assert row.slack(x) < 0
                assert (good[:, row.index] @ row.values >= row.rhs - 1e-7).all(), (seed, row)
                cuts += 1
    assert cuts > 20


@pytest.mark.slow
def test_bounds_stay_below_the_optimum_and_fixed_cells_are_those_of_every_better_solution():
    lifted = fixed = 0
    for seed in range(40):
        pool = random_pool(seed)
        good = solutions(pool)
        costs = good @ pool.cost
        bound, x, reduced = relaxed(pool)
        after = separated(pool, tuple(FAMILIES.values()), 5.0)[0]
        assert bound - 1e-7 <= after <= costs.min() + 1e-6
        lifted += after > bound + 1e-6
        best = float(np.sort(np.unique(costs))[min(1, len(np.unique(costs)) - 1)])
        never, always = fixed_by_cost(bound, x, reduced, best, pool.hidden)
        cheaper = good[costs < best - 1e-9]
        assert not cheaper[:, never].any()
        assert cheaper[:, always].all()
        fixed += int((never | always).sum())
        smaller = without(pool, never, always)
        assert (smaller.rhs - 1e-7 <= (smaller.matrix @ cheaper.T).T).all()
        assert probed(pool, float(costs.min()), 5.0)[0] <= costs.min() + 1e-6
    assert lifted > 5
    assert fixed > 5


@pytest.mark.slow
def test_no_cut_removes_the_cheapest_safe_pattern_of_a_table():
    tried = 0
    for seed in range(20):
        problem = random_problem(seed, max_cells=16, kinds=("2d", "3d", "hierarchical"))
        reduction = reduce_problem(problem)
        for number, core in enumerate(reduction.cores):
            if not 4 <= core.n - core.hidden.sum() <= 9:
                continue
            relaxation = Relaxation(core, np.arange(len(core.targets)), Budget())
            relaxation.run(core.hidden.astype(float))
            safe = safe_patterns(problem, reduction, number)
            if not len(safe):
                continue
            best = safe[np.argmin(safe @ core.weight)]
            cheapest = safe[np.abs(safe @ core.weight - best @ core.weight) < 1e-9]
            matrix, rhs = relaxation.pool.matrix, relaxation.pool.rhs
            kept = np.ones(len(cheapest), bool)  # one and the same pattern satisfies the cuts of all families
            for x in (relaxation.x, np.random.default_rng(seed).uniform(0, 0.7, core.n)):
                for one in FAMILIES.values():
                    for row in one(matrix, rhs, x):
                        kept &= cheapest[:, row.index] @ row.values >= row.rhs - 1e-6
                        tried += 1
            assert kept.any(), seed
    assert tried > 10


def safe_patterns(problem, reduction, number):
    """All safe patterns of one core, the others hidden whole."""
    core = reduction.cores[number]
    free = np.flatnonzero(~core.hidden)
    others = [np.ones(c.n, bool) for c in reduction.cores]
    checker, found = Judge(problem), []
    for bits in product((False, True), repeat=len(free)):
        mine = core.hidden.copy()
        mine[free] = bits
        others[number] = mine
        if checker.safe(reduction.pattern(others)):
            found.append(mine.astype(float))
    return np.array(found)
