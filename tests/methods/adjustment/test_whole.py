"""Squares in whole steps: brute force over all whole deviations, the readable model, a solver that lies."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

from tabprotect.errors import InfeasibleError
from tabprotect.methods.adjustment import adjust
from tabprotect.methods.adjustment import whole as module
from tabprotect.methods.adjustment.search import Search
from tabprotect.methods.adjustment.statement import state
from tabprotect.methods.adjustment.whole import enumerate_whole
from tabprotect.methods.distance import distance_weights
from tabprotect.models import adjustment as model
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tests.methods.adjustment.test_adjust import check, without_sliding
from tests.quick import examples, first
from tests.random_problems import random_problem

TWO_BY_THREE = [
    [-1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, 0, -1, 1, 1, 1, 0, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, 0, 0, -1, 1, 1, 1],
    [-1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0],
    [0, -1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0],
    [0, 0, -1, 0, 0, 0, 1, 0, 0, 0, 1, 0],
]
INNER = [5, 6, 7, 9, 10, 11]
FARTHEST = 3


def margins(inner):
    """Six numbers (a column each) as a table with all its sums, in the order of the equations."""
    a, b, c, d, e, f = inner
    return np.array([a + b + c + d + e + f, a + d, b + e, c + f, a + b + c, a, b, c, d + e + f, d, e, f])


EVERY = margins(np.array(list(itertools.product(range(-FARTHEST, FARTHEST + 1), repeat=6))).T)


def two_by_three(seed):
    """Counts with two or three sensitive cells; no inner cell moves farther than is tried, a total may have to stay."""
    rng = np.random.default_rng(seed)
    values = margins(rng.integers(1, 9, 6)).astype(float)
    primary = rng.choice(INNER, int(rng.integers(2, 4)), replace=False)
    levels = np.zeros((2, 12))
    levels[:, primary] = rng.integers(1, 4, (2, len(primary)))
    lower, upper = np.zeros(12), np.full(12, np.inf)
    lower[INNER], upper[INNER] = np.maximum(values[INNER] - FARTHEST, 0), values[INNER] + FARTHEST
    problem = Problem.from_arrays(
        TWO_BY_THREE, values, primary=primary, lpl=levels[0], upl=levels[1], lower=lower, upper=upper
    )
    return problem, [0] if seed % 2 else []


def cheapest(problem, fixed, weights):
    """Cost of the best of all whole deviations, senses free and all up."""
    z = EVERY[:, np.all(EVERY[fixed] == 0, axis=0)]
    z = z[:, np.all(problem.values[:, None] + z >= 0, axis=0)]
    p = problem.primaries
    cost = weights @ z.astype(float) ** 2
    up, down = z[p] >= problem.upl[p, None], z[p] <= -problem.lpl[p, None]
    return [float(cost[np.all(fits, axis=0)].min(initial=np.inf)) for fits in (up | down, up)]


@pytest.mark.parametrize("weights", ["unit", "reciprocal", "value"])
def test_all_whole_deviations(weights):
    looked = 0
    for seed in range(examples(4, 8)):
        problem, fixed = two_by_three(seed)
        w = distance_weights(problem, weights)
        for best, senses in zip(cheapest(problem, fixed, w), ("free", "up"), strict=True):
            try:
                result = adjust(problem, norm="l2", weights=weights, senses=senses, decimals=0, fixed=fixed)
            except InfeasibleError:
                assert best == np.inf
                continue
            if best == np.inf:
                assert result.status == "infeasible"
                continue
            check(result, fixed, 0)
            assert result.verdict.exact
            assert result.cost == pytest.approx(best, rel=1e-12)
            assert result.bound <= result.cost
            assert result.bound == (best if weights == "unit" else pytest.approx(best, rel=1e-9))
            assert result.status == "optimal"
            looked += 1
    assert looked >= examples(4, 8)


def test_by_hand():
    """Three primaries move by 2 each, two one way, one the other; the 2 that is left does not part into three."""
    A = [[-1, 1, 1, 1, 1, 1]]
    problem = Problem.from_arrays(A, [50, 10, 10, 10, 10, 10], primary=[1, 2, 3], lpl=2, upl=2)
    result = adjust(problem, norm="l2", weights="unit", decimals=0)
    assert (result.cost, result.bound, result.status, result.bounded_by) == (14, 14, "optimal", "multipliers")
    tenths = replace(problem, values=problem.values / 10, lpl=problem.lpl / 10, upl=problem.upl / 10)
    result = adjust(tenths, norm="l2", weights="unit", decimals=1)
    assert result.cost == pytest.approx(0.14)
    assert result.bound == pytest.approx(0.14)
    assert result.verdict.exact


@pytest.mark.parametrize("seed", first(3, [1, 4, 7, 12, 16, 17]))
def test_the_result_equals_the_model(seed):
    problem = without_sliding(random_problem(seed))
    _, answer = model.solve(
        problem, distance_weights(problem, "unit"), norm="l2", step=1.0, largest=1e4, solver="scip_direct"
    )
    result = adjust(problem, norm="l2", weights="unit", decimals=0)
    assert (result.cost is None) == (answer.objective is None)
    assert result.status == ("infeasible" if result.cost is None else "optimal")
    assert "bounded by multipliers" in result.method
    if result.cost is not None:
        check(result, decimals=0)
        assert result.cost == pytest.approx(answer.objective, rel=1e-6)
        assert result.bound == result.cost


def test_multipliers_prove_given_senses_to_be_impossible():
    """Both go up by 3, and their sum has room for 5 only; by bounds alone each could."""
    problem = Problem.from_arrays(
        [[-1, 1, 1]], [20, 10, 10], primary=[1, 2], lpl=[0, 3, 3], upl=[0, 3, 3], lower=[0, 0, 0], upper=[25, 20, 20]
    )
    result = adjust(problem, norm="l2", senses="up", decimals=0)
    assert (result.status, result.values) == ("infeasible", None)
    free = adjust(problem, norm="l2", weights="unit", decimals=0)
    assert (free.cost, free.bound, free.bounded_by) == (18, 18, "multipliers")


def test_a_solver_that_lies_changes_the_bound_for_the_worse_only(monkeypatch):
    honest = {}
    for seed in range(4):
        problem, _ = two_by_three(seed)
        honest[seed] = adjust(problem, norm="l2", weights="unit", decimals=0).cost
    turn = itertools.count()

    class Lying(module.LinearProgram):
        def solve(self, **limits):
            answer = super().solve(**limits)
            if next(turn) % 3 == 0:
                return replace(answer, status="infeasible")
            return replace(answer, duals=-3.0 * answer.duals, objective=1e9)

    monkeypatch.setattr(module, "LinearProgram", Lying)
    for seed, cost in honest.items():
        problem, _ = two_by_three(seed)
        weights = distance_weights(problem, "unit")
        st = state(problem, weights, "l2", fixed=np.zeros(problem.n_cells, bool), decimals=0)
        search = Search(st, Budget(), np.random.default_rng(0))
        found = enumerate_whole(search, Budget(Limits(work=400)))
        assert not found.infeasible
        assert found.bound * st.objective_unit <= cost
        assert search.cost >= cost


def test_a_limit_leaves_a_bound_that_holds():
    for seed in (4, 7, 16)[: examples(2, 3)]:
        problem = without_sliding(random_problem(seed))
        best = adjust(problem, norm="l2", weights="reciprocal", decimals=0)
        for work in (1, 20, 100, 400):
            result = adjust(problem, norm="l2", weights="reciprocal", decimals=0, limits=Limits(work=work))
            assert result.bound is None or result.bound <= best.cost * (1 + 1e-9)
            assert result.cost is None or result.cost >= best.cost * (1 - 1e-9)


def test_none_of_it_without_free_senses_to_prove():
    problem, _ = two_by_three(3)
    for senses in ("free", "up"):
        assert "multipliers" not in adjust(problem, norm="l2", senses=senses, decimals=0, proven_senses=0).method
