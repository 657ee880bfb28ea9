"""Among the cells of two safe patterns the cheapest safe pattern is found, and `auto` makes use of that."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from tabprotect.attack.witness import Witnesses
from tabprotect.instances.families import family
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.options import Options, changed
from tabprotect.methods.suppression.search import recombination
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.search.recombination import recombined
from tabprotect.methods.suppression.start.cleanup import clean
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget, Limits
from tests.checker import Judge
from tests.quick import examples
from tests.random_problems import random_problem


def two_patterns(problem):
    """Return two safe patterns made for other costs than those of the problem; None where something stays exposed."""
    rng = np.random.default_rng(1)
    others = [replace(problem, weights=rng.permutation(problem.weights)) for _ in range(2)]
    results = [suppress(p, method="greedy") for p in others]
    return [r.pattern for r in results] if all(r.safe for r in results) else None


@pytest.mark.slow
def test_the_cheapest_pattern_among_the_cells_of_two():
    compared = 0
    for seed in range(examples(6, 30)):
        problem = random_problem(seed, max_cells=24)
        patterns = two_patterns(problem)
        if patterns is None:
            continue
        result = recombined(problem, patterns, Budget(Limits()))
        cells = patterns[0] | patterns[1]
        judge = Judge(problem)
        assert result.safe
        assert judge.well_formed(result.pattern)
        assert judge.safe(result.pattern)
        assert not (result.pattern & ~cells).any()
        assert result.cost == pytest.approx(problem.cost(result.pattern), rel=1e-12)
        assert (result.bound, result.cuts, result.rows) == (None, None, None)
        costs = [problem.cost(p) for p in patterns]
        assert result.cost <= min(costs) * (1 + 1e-9)
        outside = (problem.status == Status.SAFE) & ~cells
        among = replace(problem, status=np.where(outside, Status.PROTECTED, problem.status).astype(np.int8))
        try:
            best = Judge(among).optimum(largest=12)
        except ValueError:
            continue
        assert result.cost == pytest.approx(best.cost, rel=1e-9, abs=1e-9)
        compared += 1
    assert compared >= examples(1, 7)


def test_what_is_told_on_the_way_is_no_bound_of_the_whole_table():
    problem = family("thin", seed=0, sizes=(5, 5, 5))
    first = suppress(problem, method="greedy", limits=Limits(work=4000)).pattern
    second = suppress(problem, method="local", limits=Limits(work=4000)).pattern
    seen = []
    budget = Budget(Limits(work=4000), seen.append)
    result = recombined(problem, [first, second], budget)
    assert result.safe
    assert result.cost <= min(problem.cost(first), problem.cost(second))
    assert seen
    assert {p.stage for p in seen} == {"recombination"}
    assert all(p.bound is None for p in seen)
    assert all(p.cost is None or p.cost >= result.cost for p in seen)
    assert 0 < budget.work <= 2 * 4000


@pytest.mark.slow
def test_auto_recombines_under_a_limit_and_says_so():
    problem = family("thin", seed=1, sizes=(5, 5, 5))
    limits, options = Limits(work=15_000), changed(Options(), "choice.own_start_cells", 100)
    result = suppress(problem, method="auto", limits=limits, seed=3, options=options)
    assert "local, then recombination, then exact" in result.method
    assert result.safe
    assert result.bound <= result.cost
    again = suppress(problem, method="auto", limits=limits, seed=3, options=options)
    assert (result.cost, result.bound, result.work) == (again.cost, again.bound, again.work)
    assert result.pattern.tolist() == again.pattern.tolist()
    patient = changed(options, "choice.second_after_share", 1.0)
    both = suppress(problem, method="auto", limits=limits, seed=3, options=patient)
    assert "local, then greedy, then recombination, then exact" in both.method
    assert both.safe


def test_what_the_search_finds_no_answer_for_leaves_the_cheapest_pattern(monkeypatch):
    problem = family("thin", seed=0, sizes=(5, 5, 5))
    pattern = suppress(problem, method="greedy", limits=Limits(work=2000)).pattern

    def without_answer(among, **given):
        return replace(exact(among, **given), status="infeasible", safe=False, cost=None)

    monkeypatch.setattr(recombination, "exact", without_answer)
    kept = recombined(problem, [pattern], Budget(Limits(work=500)))
    assert (kept.status, kept.safe, kept.cost) == ("feasible", True, problem.cost(pattern))
    assert kept.pattern.tolist() == pattern.tolist()
    assert kept.unprotectable == ()


def test_progress_of_auto_goes_one_way():
    problem, seen = family("thin", seed=1, sizes=(5, 5, 5)), []
    both = changed(changed(Options(), "choice.own_start_cells", 100), "choice.second_after_share", 1.0)
    result = suppress(problem, method="auto", limits=Limits(work=15_000), seed=3, progress=seen.append, options=both)
    assert "local, then greedy, then recombination" in result.method
    for before, after in itertools.pairwise(seen):
        assert before.seconds <= after.seconds
        assert before.cost is None or after.cost <= before.cost
        assert before.bound is None or after.bound >= before.bound
    assert seen[-1].cost == pytest.approx(result.cost)


def test_a_search_that_stalls_leaves_the_rest_of_its_limits():
    problem = family("thin", 1, sizes=(5, 5, 5))
    first = suppress(problem, method="greedy", limits=Limits(work=5_000))
    limits = Limits(work=60_000)
    whole, ended = Budget(limits), Budget(limits)
    kept = recombined(problem, [first.pattern], whole)
    result = recombined(problem, [first.pattern], ended, options=changed(Options(), "schedule.stall_limit_share", 0.0))
    assert kept.safe
    assert result.safe
    assert result.status == "feasible"
    assert not result.stopped
    assert ended.work < 0.75 * whole.work
    assert kept.cost <= result.cost <= first.cost


def test_a_search_does_not_stall_before_its_pattern_is_cleaned_up():
    problem = family("thin", 1, sizes=(6, 6, 6))
    first = greedy(problem, restarts=0, cleanup=0.0)
    at_once = changed(changed(Options(), "schedule.stall_limit_share", 0.0), "schedule.stall_gain", 1.0)
    options = changed(at_once, "schedule.cleanup_limit_share", 0.0)
    result = recombined(problem, [first.pattern], Budget(Limits(work=200_000)), options=options)
    assert result.cost < 0.9 * first.cost
    assert not result.stopped
    rest = clean(Witnesses(problem), result.pattern, Budget())
    assert rest.tolist() == result.pattern.tolist()


def test_a_part_that_is_not_cleaned_up_is_before_a_stalled_search_ends():
    """Else the part with the larger gap has all the time, although it gains nothing, and the other one none."""
    one, other = family("thin", 1, sizes=(6, 6, 6)), family("thin", 0, sizes=(4, 4, 4))
    both = Problem.from_arrays(
        sparse.block_diag([one.system.A, other.system.A]),
        np.concatenate([one.values, other.values]),
        primary=[*one.primaries, *(one.n_cells + other.primaries)],
        lpl=np.concatenate([one.lpl, other.lpl]),
        upl=np.concatenate([one.upl, other.upl]),
        weights=np.concatenate([one.weights, other.weights / 1000]),
    )
    first = greedy(both, restarts=0, cleanup=0.0)
    at_once = changed(changed(Options(), "schedule.stall_limit_share", 0.0), "schedule.stall_gain", 1.0)
    options, budget = changed(at_once, "schedule.cleanup_limit_share", 0.0), Budget(Limits(work=100_000))
    result = recombined(both, [first.pattern], budget, options=options)
    assert result.cleaned
    assert not result.stopped
    assert budget.work < 50_000
    rest = clean(Witnesses(both), result.pattern, Budget())
    assert rest.tolist() == result.pattern.tolist()
