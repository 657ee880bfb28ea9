"""Controlled rounding: equal to the readable model, judged apart from it, and honest where it cannot be."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.attack.audit import audit
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.methods.distance import NORMS, distance, distance_weights
from tabprotect.methods.rounding import METHODS, intruder, judge
from tabprotect.methods.rounding import round as controlled
from tabprotect.models import rounding as model
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits
from tests.methods.rounding.tables import check, flat, unsensitive
from tests.random_problems import problems, random_problem

BASES = (1, 0.5, 3, 5, 0.3)
WEIGHTS = ("unit", "reciprocal", "value")


def both(seed, protect):
    """Solve by the fast path and by the model."""
    problem = random_problem(seed, max_cells=18 if protect else 40)
    base = BASES[seed % 5]
    steps, norm, weights = seed // 5 % 2, NORMS[seed // 10 % 3], WEIGHTS[seed // 30 % 3]
    if norm == "l2" and protect:
        norm = "l1"
    fast = controlled(problem, base, steps=steps, norm=norm, weights=weights, protect=protect)
    weight = distance_weights(problem, weights)
    multiples, answer = model.solve(problem, base, weight, steps=steps, norm=norm, protect=protect)
    return fast, multiples, answer


def agree(seed, protect):
    fast, multiples, answer = both(seed, protect)
    assert (fast.values is None) == (multiples is None)
    if fast.values is None:
        assert fast.status == "infeasible"
        assert answer.status in ("infeasible", "unknown")
        return False
    check(fast)
    assert fast.status == "optimal"
    # the model's multiples, measured here: SCIP's squares have tolerances of their own
    theirs = distance(multiples * fast.base - fast.problem.values, fast.weights, fast.norm)
    assert fast.cost == pytest.approx(theirs, rel=1e-6, abs=1e-9)
    assert fast.cost == pytest.approx(answer.objective, rel=1e-4, abs=1e-5)
    assert fast.bound <= fast.cost <= fast.bound * (1 + 1e-6) + 1e-12
    assert fast.cost == pytest.approx(distance(fast.values - fast.problem.values, fast.weights, fast.norm), abs=1e-9)
    return True


@pytest.mark.parametrize("seed", range(12))
def test_equals_the_model(seed):
    agree(seed, protect=False)


@pytest.mark.slow
def test_equals_the_model_on_100_problems():
    assert sum(agree(seed, protect=False) for seed in range(1000, 1100)) > 50


@pytest.mark.slow
def test_equals_the_model_with_levels_on_100_problems():
    assert sum(agree(seed, protect=True) for seed in range(2000, 2100)) > 20


@settings(max_examples=40)
@given(problems(max_cells=24), st.sampled_from(BASES), st.sampled_from(NORMS))
def test_what_is_given_is_right(problem, base, norm):
    result = controlled(problem, base, norm=norm, steps="least", limits=Limits(work=50_000))
    if result.values is None:
        assert not result.additive
        return
    check(result)
    assert result.verdict.ok
    assert result.verdict == judge(problem, result.values, base, result.steps)
    assert result.steps == 0 or result.diagnosis.steps == result.steps


def by_hand(problem, base, steps):
    """The least distance by enumeration of the inner cells of a flat 2 x 2 table."""
    best = None
    inner = [i for i, code in enumerate(problem.system.cells) if "Total" not in code]
    below = np.floor(problem.values / base)
    above = np.ceil(problem.values / base)
    ranges = [range(int(below[i]) - steps, int(above[i]) + steps + 1) for i in inner]
    for choice in itertools.product(*ranges):
        table = np.array(choice, float).reshape(2, 2)
        table = np.concatenate([table.sum(0, keepdims=True), table])
        table = np.concatenate([table.sum(1, keepdims=True), table], 1).ravel()
        if np.all((table >= below - steps) & (table <= above + steps)):
            cost = float(np.abs(table * base - problem.values).sum())
            best = cost if best is None else min(best, cost)
    return best


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("steps", [0, 1])
def test_equals_enumeration(seed, steps):
    problem = flat(2, 2, seed=seed, high=30)
    assert controlled(problem, 5, steps=steps).cost == pytest.approx(by_hand(problem, 5, steps))


@pytest.mark.parametrize("base", [5, 3, 1000])
def test_two_dimensions_always_can(base):
    result = controlled(flat(20, 20, seed=3), base)
    check(result)
    assert (result.status, result.steps, result.loss) == ("optimal", 0, 0)
    assert result.jump < base


def test_decimals_and_negative_values():
    problem = flat(4, 5, seed=1, high=1000, scale=0.01)
    shifted = replace(problem, values=problem.values - problem.values * 2, lower=np.full(problem.n_cells, -np.inf))
    for table in (problem, shifted):
        for base in (0.1, 0.5):
            result = controlled(table, base)
            check(result)
            assert result.status == "optimal"
    minus = controlled(shifted, 0.1)
    assert minus.cost == pytest.approx(controlled(problem, 0.1).cost)
    assert minus.values.min() < 0


def impossible():
    """Causey, Cox and Ernst (1985): the smallest three-dimensional table without zero-restricted rounding."""
    inner = np.zeros((2, 2, 2))
    inner[0, 0, 0] = inner[0, 1, 1] = inner[1, 0, 1] = inner[1, 1, 0] = 1
    table = inner
    for k in range(3):
        table = np.concatenate([table.sum(k, keepdims=True), table], k)
    problem = flat(2, 2, 2)
    return replace(problem, values=table.ravel(), upper=np.full(27, np.inf))


def test_where_it_cannot_be_the_smallest_relaxation_is_told():
    problem = impossible()
    result = controlled(problem, 2)
    assert (result.status, result.values, result.bound) == ("infeasible", None, None)
    assert model.solve(problem, 2, np.ones(27))[0] is None
    told = result.diagnosis
    assert told.steps == 1
    assert told.proven
    assert told.smallest
    assert (told.taken, told.least, told.gap) == (1, 1, 0.0)
    assert len(told.cells) >= 1
    assert judge(problem, told.values, 2, 1).ok
    near = (told.values >= 2 * np.floor(problem.values / 2)) & (told.values <= 2 * np.ceil(problem.values / 2))
    assert np.flatnonzero(~near).tolist() == told.cells.tolist()
    assert "1 further base" in result.message

    relaxed = controlled(problem, 2, steps="least")
    check(relaxed)
    assert (relaxed.steps, relaxed.status, relaxed.diagnosis.proven) == (1, "optimal", True)
    assert relaxed.cost == pytest.approx(model.solve(problem, 2, np.ones(27), steps=1)[1].objective)


def sensitive(seed=0):
    problem = flat(3, 4, seed=seed, high=40)
    inner = [i for i, code in enumerate(problem.system.cells) if "Total" not in code]
    status = problem.status.copy()
    status[inner[::5]] = 1
    return replace(problem, status=status)


@pytest.mark.parametrize("level", [2.0, 4.0])
def test_levels_hold_against_the_intruder(level):
    problem = sensitive()
    problem = replace(problem, lpl=np.minimum(level, problem.values), upl=np.full(20, level))
    result = controlled(problem, 5, protect=True, steps="least")
    assert result.exposed == ()
    seen = audit(intruder(problem, result.values, 5, result.steps), np.ones(20, bool))
    assert seen.safe
    assert np.all(seen.public.low[problem.primaries] <= (problem.values - problem.lpl)[problem.primaries] + 1e-6)


def test_levels_beyond_the_base_need_more_steps():
    problem = sensitive()
    problem = replace(problem, lpl=np.full(20, 0.0), upl=np.full(20, 12.0))
    plain = controlled(problem, 5)
    assert plain.status == "optimal"
    assert plain.exposed is None
    result = controlled(problem, 5, protect=True)
    assert result.status == "infeasible"
    assert result.values is None
    assert "protection levels: give a larger base" in result.message
    assert controlled(problem, 12, protect=True).status == "optimal"
    assert result.diagnosis.steps > 0
    more = controlled(problem, 5, protect=True, steps=result.diagnosis.steps)
    assert more.exposed == ()
    assert more.status == "optimal"


@pytest.mark.parametrize("method", METHODS)
def test_every_method_gives_a_sound_table(method):
    problem = flat(4, 4, 4, seed=5)
    result = controlled(problem, 5, method=method)
    check(result)
    best = controlled(problem, 5, method="exact")
    assert best.status == "optimal"
    assert best.cost <= result.cost * (1 + 1e-9)
    assert result.bound <= best.cost * (1 + 1e-9)


def test_same_seed_same_values_under_a_work_limit():
    problem = flat(5, 5, 5, seed=2)
    one, two = (controlled(problem, 5, method="heuristic", limits=Limits(work=3000), seed=4) for _ in range(2))
    assert np.array_equal(one.values, two.values)
    assert (one.cost, one.bound, one.work) == (two.cost, two.bound, two.work)


def test_linked_tables_share_their_margin():
    found = 0
    for seed in range(10):
        result = controlled(unsensitive(random_problem(seed, kinds=["linked"])), 5, steps="least")
        if result.values is not None:
            check(result)
            found += 1
    assert found >= 8


def test_limits_end_with_the_best_so_far_or_nothing():
    stopped = controlled(flat(6, 6, 6), 5, limits=Limits(stop=lambda: True))
    assert stopped.stopped_by == "user"
    assert stopped.status in ("feasible", "unknown")
    assert "cancelled" in stopped.message


def test_residuals_are_rounded_away():
    problem = Problem.from_arrays([[-1, 1, 1]], [11, 4, 5], primary=[], lpl=0, upl=0)
    result = controlled(problem, 5)
    check(result)
    assert result.values.tolist() == [10.0, 5.0, 5.0]


def test_constants_in_equations():
    problem = Problem.from_arrays([[1, 1, 1], [2, 0, -1]], [4, 3, 3], primary=[], lpl=0, upl=0, b=np.array([10.0, 5]))
    result = controlled(problem, 5)
    check(result)
    assert result.values.tolist() == [5.0, 0.0, 5.0]
    contradiction = Problem.from_arrays([[1, 1], [1, 1]], [4, 3], primary=[], lpl=0, upl=0, b=np.array([5.0, 10]))
    assert controlled(contradiction, 5).status == "infeasible"


def test_the_judge_sees_what_is_wrong():
    p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[], lpl=0, upl=0, zero=[])
    assert judge(p, np.array([10.0, 5, 5]), 5).ok
    assert judge(p, np.array([10.0, 0, 5]), 5).additive == 5
    assert judge(p, np.array([9.0, 4, 5]), 5).off_grid == 2
    assert judge(p, np.array([15.0, 10, 5]), 5).far == 2
    assert judge(p, np.array([15.0, 10, 5]), 5, steps=1).far == 0
    zero = replace(p, values=np.array([5.0, 0, 5]), status=np.array([0, 4, 0], np.int8))
    assert judge(zero, np.array([10.0, 5, 5]), 5).unfixed == 1
    half = Problem.from_arrays([[-0.5, 0.5, 0.5]], [9, 4, 5], primary=[], lpl=0, upl=0)
    assert judge(half, np.array([10.0, 0, 5]), 5).additive > 0


def test_bad_input():
    problem = flat(2, 2)
    for base in (0, -5, np.nan, np.inf):
        with pytest.raises(InputError, match="positive number"):
            controlled(problem, base)
    with pytest.raises(InputError, match="did you mean 'l1'"):
        controlled(problem, 5, norm="l11")
    with pytest.raises(InputError, match="did you mean 'exact'"):
        controlled(problem, 5, method="exakt")
    with pytest.raises(InputError, match="0 or more"):
        controlled(problem, 5, steps=-1)
    with pytest.raises(InputError, match="whole number or 'least'"):
        controlled(problem, 5, steps="most")
    constant = Problem.from_arrays([[1, 1]], [4, 3], primary=[], lpl=0, upl=0, b=np.array([7.0]))
    with pytest.raises(InfeasibleError, match="no multiples of 5"):
        controlled(constant, 5)
