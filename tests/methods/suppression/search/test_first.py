"""The first safe pattern: there whenever there is one, safe by a judge that shares no code, and names what is lost."""

from __future__ import annotations

import numpy as np
import pytest

import tabprotect as tp
from benchmarks.fuzz_releases import Asked, case
from benchmarks.problems import SHAPES, Shape, watched
from tabprotect.attack.witness import Witnesses
from tabprotect.instances import family
from tabprotect.methods.suppression.search.first import first_patterns, first_results
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tests.checker import Judge
from tests.quick import first
from tests.random_problems import random_problem

EASED = {"plain", "watched", "sliding", "unlimited", "crowded", "wide_weights"}


def problems(shape: Shape, seed: int) -> Problem:
    return shape(random_problem(seed, max_cells=24), np.random.default_rng(seed))


@pytest.mark.parametrize("seed", first(5, range(12)))
@pytest.mark.parametrize("shape", [s for s in SHAPES if s.__name__ in EASED], ids=lambda s: s.__name__)
def test_a_safe_pattern_is_there_whenever_one_exists(shape: Shape, seed: int) -> None:
    problem = problems(shape, seed)
    judge = Judge(problem)
    everything = problem.may_hide | problem.must_hide
    found = list(first_results(problem, Budget()))
    if not judge.safe(everything):
        lost = {(e.attacker, e.cell) for e in judge.exposed(everything)}
        named = {(u.attacker, u.cell) for u in found[-1].unprotectable}
        assert found[-1].status == "infeasible"
        # an attacker is not asked about what the public knows already
        assert named <= lost
        assert {cell for _, cell in named} == {cell for _, cell in lost}
        return
    assert found
    assert [r.status for r in found] == ["feasible"] * len(found)
    costs = [r.cost for r in found if r.cost is not None]
    assert costs == sorted(costs, reverse=True)
    for result in found:
        assert judge.well_formed(result.pattern)
        assert judge.safe(result.pattern)
        assert result.cost == pytest.approx(float(problem.weights[result.pattern & ~problem.must_hide].sum()))


@pytest.mark.parametrize("seed", range(8))
def test_it_costs_less_than_everything(seed: int) -> None:
    problem = family("singletons", seed, activity=(4, 3), region=(3, 2))
    everything, *cheaper = first_results(problem, Budget())
    assert everything.cost is not None
    assert cheaper[-1].cost is not None
    assert cheaper[-1].cost < 0.8 * everything.cost
    assert Witnesses(problem).check(cheaper[-1].pattern) == ()


def test_a_start_stays_hidden_and_what_it_leaves_open_is_answered() -> None:
    problem = watched(random_problem(3, max_cells=24), np.random.default_rng(3))
    start = problem.may_hide & (np.arange(problem.n_cells) % 3 == 0)
    judge = Judge(problem)
    for pattern in first_patterns(Witnesses(problem), Budget(), start):
        assert pattern[start].all()
        assert judge.safe(pattern) == judge.safe(problem.may_hide | problem.must_hide)


def test_it_needs_no_linear_programme_where_respondents_are_alone_in_many_cells() -> None:
    """The judge alone states a programme for every other attacker."""
    problem = family("singletons", 2, activity=(6, 4), region=(5, 3))
    assert len(problem.attackers) > 40
    budget = Budget(Limits(work=500))
    *_, result = first_results(problem, budget)
    assert result.safe
    assert not budget.exhausted


def test_nothing_comes_when_the_limit_comes_first() -> None:
    """Levels that no single circuit reaches need a programme, and there is no work left for one."""
    A = [[-1, 1, 1, 1, 1]]
    problem = Problem.from_arrays(A, [34, 10, 8, 8, 8], primary=[1], lpl=10, upl=20, zero=[0])
    assert list(first_results(problem, Budget(Limits(work=0)))) == []
    *_, result = first_results(problem, Budget())
    assert result.suppressed.tolist() == [1, 2, 3, 4]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [28, 153])
def test_a_witness_that_the_check_does_not_accept_is_no_endless_search(seed: int) -> None:
    call = case(Asked(seed, 3.0))
    made = tp.protect(call.data, call.rules, call.method, **call.options)
    assert made.safe == (made.result.safe and made.judgement.safe)
    assert made.result.status in ("feasible", "optimal", "infeasible", "unknown")
