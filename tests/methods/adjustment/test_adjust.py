"""Adjustment on small tables: equal to the readable model, judged apart from it."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InfeasibleError, InputError
from tabprotect.instances import family
from tabprotect.methods.adjustment import METHODS, adjust, judge
from tabprotect.methods.adjustment.balance import balanced_senses
from tabprotect.methods.adjustment.method import Adjust
from tabprotect.methods.adjustment.options import Options
from tabprotect.methods.adjustment.search import Search
from tabprotect.methods.adjustment.sizes import sizes_bound
from tabprotect.methods.adjustment.statement import state
from tabprotect.methods.base.method import Call, Changed
from tabprotect.methods.distance import NORMS, WEIGHTS, distance, distance_weights
from tabprotect.models import adjustment as model
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget, Limits
from tests.checker import exact
from tests.quick import examples, first
from tests.random_problems import problems, random_problem


def without_sliding(problem):
    return replace(problem, spl=np.minimum(problem.spl, problem.lpl + problem.upl))


def check(result, fixed=(), decimals=None):
    """Look at the values alone, in fractions: sums, bounds, fixed cells, levels, decimals."""
    p, y = result.problem, [exact(v) for v in result.values]
    a = [exact(v) for v in p.values]
    slack = Fraction(0) if result.verdict.exact else Fraction(1, 10**7) * max(1, *(abs(v) for v in a))
    for row in p.system.A.toarray():
        assert abs(sum(exact(c) * (y[j] - a[j]) for j, c in enumerate(row) if c)) <= slack
    still = set(fixed) | set(np.flatnonzero(np.isin(p.status, (Status.PROTECTED, Status.ZERO))))
    for i, (new, old) in enumerate(zip(y, a, strict=True)):
        assert np.isinf(p.lower[i]) or new >= exact(p.lower[i])
        assert np.isinf(p.upper[i]) or new <= exact(p.upper[i])
        if i in still:
            assert new == old
        if p.status[i] == Status.PRIMARY and p.lpl[i] + p.upl[i] > 0:
            far_up = p.upl[i] > 0 and new - old >= exact(p.upl[i]) - slack
            far_down = p.lpl[i] > 0 and old - new >= exact(p.lpl[i]) - slack
            assert far_up or far_down
        if decimals is not None:
            assert (new * 10**decimals).denominator == 1


def both(seed, norm, senses, weights, decimals=None, fixed=()):
    """Solve by the fast path and by the model; returns the two costs, None where infeasible."""
    problem = without_sliding(random_problem(seed))
    w = distance_weights(problem, weights)
    given_senses = None
    if senses != "free":
        given_senses = np.full(len(problem.primaries), 1 if senses == "up" else -1)
        room_up, room_down = np.round(problem.up, 9), np.round(problem.down, 9)
        for k, p in enumerate(problem.primaries):
            up, down = 0 < problem.upl[p] <= room_up[p], 0 < problem.lpl[p] <= room_down[p]
            if not (up and down):
                given_senses[k] = 1 if up else -1
    step = None if decimals is None else 10.0**-decimals
    _, answer = model.solve(
        problem, w, norm=norm, senses=given_senses, fixed=fixed, step=step, largest=1e4,
        solver="scip_direct" if norm == "l2" or decimals is not None else None,
    )  # fmt: skip
    try:
        result = adjust(problem, norm=norm, senses=senses, weights=weights, decimals=decimals, fixed=list(fixed))
    except InfeasibleError:
        return None, answer.objective
    if result.values is None:
        assert result.status == "infeasible"
        return None, answer.objective
    check(result, fixed, decimals)
    assert result.status == "optimal"
    assert result.cost == pytest.approx(distance(result.values - problem.values, w, norm), rel=1e-9)
    assert result.bound <= result.cost
    return result.cost, answer.objective


def agree(seed):
    rng = np.random.default_rng(seed)
    decimals = 1 if seed % 5 == 0 else None
    norm = "l1" if decimals is not None else ["l1", "linf", "l1", "linf"][seed % 4]
    senses = ["free", "free", "up", "down"][int(rng.integers(4))]
    fixed = [int(rng.integers(9))] if seed % 3 == 0 else []
    fast, slow = both(seed, norm, senses, WEIGHTS[int(rng.integers(4))], decimals, fixed)
    assert (fast is None) == (slow is None)
    assert fast is None or fast == pytest.approx(slow, rel=1e-6, abs=1e-9)
    return fast is not None


def test_the_fast_path_equals_the_model():
    assert sum(agree(seed) for seed in range(examples(20, 40))) >= examples(10, 20)


@pytest.mark.slow
def test_the_fast_path_equals_the_model_on_100_problems():
    assert sum(agree(seed) for seed in range(2000, 2100)) >= 50


@pytest.mark.parametrize("seed", first(3, [1, 3, 4, 9, 12, 16]))
def test_least_squares_equal_the_model(seed):
    fast, slow = both(seed, "l2", ["free", "up"][seed % 2], "unit")
    assert (fast is None) == (slow is None)
    assert fast is None or fast == pytest.approx(slow, rel=2e-4, abs=1e-6)


@settings(max_examples=12, deadline=None)
@given(problems(max_cells=16), st.sampled_from(NORMS), st.integers(0, 1))
def test_values_stand_up_and_free_senses_are_no_worse(problem, norm, decimals):
    problem = without_sliding(problem)
    results = {}
    for senses in ("up", "down", "free"):
        try:
            results[senses] = adjust(problem, norm=norm, senses=senses, weights="unit", limits=Limits(work=200_000))
        except InfeasibleError:
            return
        if results[senses].values is not None:
            check(results[senses])
    free = results["free"]
    for senses in ("up", "down"):
        if results[senses].cost is not None:
            assert free.cost <= results[senses].cost * (1 + 1e-6) + 1e-9
    if decimals:
        rounded = adjust(problem, norm=norm, weights="unit", decimals=1, limits=Limits(work=200_000))
        if rounded.values is not None:
            check(rounded, decimals=1)
            assert free.cost <= rounded.cost * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_sound_table(method):
    problem = without_sliding(random_problem(11, kinds=["3d"]))
    result = adjust(problem, method=method, weights="unit")
    best = adjust(problem, method="exact", weights="unit")
    check(result)
    assert best.cost <= result.cost * (1 + 1e-9)
    assert result.bound is None or result.bound <= best.cost * (1 + 1e-6)


@settings(deadline=None, max_examples=examples(15, 40))
@given(problems(max_cells=14), st.sampled_from(WEIGHTS), st.sampled_from(NORMS))
def test_the_bound_of_sizes_is_below_every_choice_of_senses(problem, weights, norm):
    problem = without_sliding(problem)
    w = distance_weights(problem, weights)
    try:
        stated = state(problem, w, norm, fixed=np.zeros(problem.n_cells, bool))
    except InfeasibleError:
        return
    if stated.k > 7:
        return
    search = Search(stated, Budget(), np.random.default_rng(0))
    bound = sizes_bound(stated, search.farthest(), Budget(), np.inf) * stated.objective_unit
    levels = np.zeros(stated.n)
    levels[stated.primaries] = np.minimum(stated.up, stated.down)
    assert bound >= stated.cost(levels) * (1 - 1e-8)
    for senses in itertools.product((-1, 1), repeat=stated.k):
        search.try_senses(np.array(senses))
    assert bound <= search.cost * (1 + (1e-9 if norm != "l2" else 1e-6))


@pytest.mark.slow
@pytest.mark.parametrize("norm", first(2, ["linf", "l2", "l1"]))
def test_balanced_senses_and_sizes_bound_a_table_taken_for_large(norm):
    problem = family("hier2d", seed=4, activity=[3, 2], region=[3, 2], per_cell=4)
    best = adjust(problem, norm=norm, method="exact", limits=Limits(work=20_000))
    told = []
    taken_for_large = Options(relaxed_cells=0, plain_cells=0, reduced_cells=0)
    large = adjust(problem, norm=norm, limits=Limits(work=5_000), progress=told.append, options=taken_for_large)
    assert norm == "linf" or next(line.bound for line in told if line.stage == "adjust: bound") > 0
    check(large)
    assert large.bound <= best.cost * (1 + 1e-6)
    assert best.bound <= large.cost * (1 + 1e-6)
    assert large.gap < {"l1": 0.15, "l2": 0.4, "linf": 0.01}[norm]
    stated = state(problem, distance_weights(problem, "reciprocal"), "l1", fixed=np.zeros(problem.n_cells, bool))
    senses = balanced_senses(
        problem, stated, distance_weights(problem, "reciprocal"), Budget(), np.random.default_rng(0)
    )
    tried = Search(stated, Budget(), np.random.default_rng(0))
    tried.try_senses(np.ones(stated.k, np.int64))
    plain = tried.cost
    assert tried.try_senses(senses)
    assert tried.cost < plain


def test_counts_stay_counts():
    A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, -1, 1, 1],
         [-1, 0, 0, 1, 0, 0, 1, 0, 0], [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]  # fmt: skip
    problem = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=0.5, upl=1.5, integer=True)
    for norm in NORMS:
        result = adjust(problem, norm=norm, weights="unit")
        assert result.verdict.exact
        assert np.array_equal(result.values, np.rint(result.values))
        assert abs(result.deviations[4]) >= 1


def test_same_seed_same_values_under_a_work_limit():
    problem = without_sliding(random_problem(8, kinds=["3d"]))
    one, two = (adjust(problem, weights="unit", limits=Limits(work=500), seed=3) for _ in range(2))
    assert np.array_equal(one.values, two.values)
    assert (one.cost, one.bound, one.work) == (two.cost, two.bound, two.work)


def test_costs_scale_with_the_table():
    """Nothing depends on the unit in which values are given."""
    base = without_sliding(random_problem(11, kinds=["hierarchical"]))
    costs = []
    for unit in (1.0, 1e-3, 1e6):
        scaled = replace(
            base, values=base.values * unit, lpl=base.lpl * unit, upl=base.upl * unit, spl=base.spl * 0,
            lower=base.lower * unit, upper=base.upper * unit,
        )  # fmt: skip
        costs.append(adjust(scaled, weights="unit", norm="l1").cost / unit)
    assert costs == pytest.approx([costs[0]] * 3, rel=1e-7)


def test_limits_end_with_the_best_so_far_or_nothing():
    problem = without_sliding(random_problem(11, kinds=["3d"]))
    stopped = adjust(problem, limits=Limits(stop=lambda: True))
    assert stopped.stopped_by == "user"
    assert stopped.status in ("feasible", "unknown")
    assert "cancelled" in stopped.message


def test_the_judge_sees_what_is_wrong():
    p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=2, lower=0, upper=[20, 20, 6])
    free = np.zeros(3, bool)
    assert judge(p, np.array([9.0, 3.0, 6.0]), free).exact
    assert judge(p, np.array([9.0, 3.0, 6.5]), free).additive == 0.5
    assert judge(p, np.array([9.5, 3.0, 6.5]), free).outside == 0.5
    assert judge(p, np.array([10.0, 5.0, 5.0]), free).short == 1.0
    assert judge(p, np.array([10.0, 5.5, 4.5]), free).short == 0.5
    assert judge(p, np.array([8.0, 3.0, 5.0]), np.array([True, False, False])).outside == 1.0


def test_residuals_are_carried_and_told():
    problem = Problem.from_arrays([[-1, 1, 1]], [10, 4, 5], primary=[1], lpl=1, upl=1)
    result = adjust(problem, weights="unit")
    assert problem.system.residuals(result.values).tolist() == problem.system.residuals(problem.values).tolist() == [-1]
    assert "adds up to within 1 only" in result.message


def test_bad_input():
    problem = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    with pytest.raises(InputError, match="did you mean 'l1'"):
        adjust(problem, norm="l11")
    with pytest.raises(InputError, match="did you mean 'unit'"):
        adjust(problem, weights="units")
    with pytest.raises(InputError, match="weights have shape"):
        adjust(problem, weights=[1, 2])
    with pytest.raises(InputError, match="weights must be >= 0"):
        adjust(problem, weights=[1, -2, 1])
    with pytest.raises(InputError, match="unknown senses 'upp'"):
        adjust(problem, senses="upp")
    with pytest.raises(InputError, match="for each of the 1 primaries"):
        adjust(problem, senses=[1, 1])
    with pytest.raises(InputError, match="unknown method"):
        adjust(problem, method="magic")
    with pytest.raises(InputError, match="fixed cells are positions"):
        adjust(problem, fixed=[7])
    with pytest.raises(InputError, match="at most 0 decimals"):
        adjust(replace(problem, values=np.array([9.5, 4.5, 5.0])), decimals=0)
    with pytest.raises(InputError, match="sliding level"):
        adjust(replace(problem, spl=np.full(3, 5.0)))


def test_cells_that_cannot_move_are_named():
    problem = Problem.from_arrays(
        [[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=5, upl=2, upper=[20, 5, 20], cells=["t", "x", "y"]
    )
    with pytest.raises(InfeasibleError, match="x"):
        adjust(problem)
    with pytest.raises(InfeasibleError, match="x"):
        adjust(replace(problem, upper=np.full(3, 20.0)), fixed=[1])
    with pytest.raises(InfeasibleError, match="do not let these cells move at all: x"):
        adjust(replace(problem, upper=np.full(3, 20.0)), fixed=[0, 2])


def test_no_value_is_further_than_the_largest_change_in_its_last_digits_either() -> None:
    """The only way is up by 5.00, since 4.995 are asked for; from 44.3 * 1.5 that would be 5.00000000000001."""

    def changed(value: float) -> Changed:
        problem = Problem.from_arrays(
            [[-1, 1, 1]], [166.45, value, 100], primary=[1], lpl=4.995, upl=4.995, lower=[0, 64, 0]
        )
        return Adjust(within=5.0, enlarge=0.0).change(Call(problem))

    for value in (66.45, 66.45000000000002):
        found = changed(value).values
        assert found is not None
        assert found.round(2).tolist() == [171.45, 71.45, 100.0]
    assert 44.3 * 1.5 < 66.45
    with pytest.raises(InfeasibleError, match="move to neither side by their level"):
        changed(44.3 * 1.5)
