"""Sums of hidden cells within the limit of time, on a clock that the test turns."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from tabprotect.attack.sums import with_sums
from tabprotect.instances import load
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Attacker, Problem
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget, Limits
from tabprotect.workflow.extended import extends
from tabprotect.workflow.sums import suppress_with_sums

LIMIT, SEARCH, BUILD, LOOK = 100.0, 60.0, 4.0, 3.0


@pytest.mark.parametrize("rounds", [1, 2])
def test_time_is_left_for_the_rounds_that_sums_need(rounds: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pattern is made cheaper for as long as it may; the next one, and looking at it, still end in time."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr("tabprotect.workflow.rounds.with_sums", lambda problem, sums, budget: problem)
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    # what is left for a bound comes on top
    budget = Budget(Limits(seconds=LIMIT / (1 - DEFAULTS.schedule.bound_limit_share)), started=0.0)
    tidied = []

    def result(stopped: str = "") -> SuppressionResult:
        pattern = problem.must_hide | (np.arange(problem.n_cells) == 3)
        return SuppressionResult(problem, pattern, "feasible", True, problem.cost(pattern), None, stopped=stopped)

    def search(problem: Problem, **options: Any) -> SuppressionResult:
        clock[0] += SEARCH
        return result("time")

    def quickly(problem: Problem, *, limits: Budget, cleanup: float, **options: Any) -> SuppressionResult:
        tidied.append(cleanup * (limits.seconds_left - BUILD))
        clock[0] += BUILD + tidied[-1]
        return result()

    def exposed(found: SuppressionResult, budget: Budget | None) -> Any:
        clock[0] += LOOK
        return ("a sum",) if len(tidied) < rounds else ()

    monkeypatch.setattr("tabprotect.workflow.first_answer.first_results", lambda *_: iter(()))
    monkeypatch.setattr("tabprotect.workflow.rounds.suppress", search)
    monkeypatch.setattr("tabprotect.workflow.rounds.greedy", quickly)
    answer = suppress_with_sums(problem, exposed, budget, method="hypercube")
    assert answer.sums == ()
    assert len(tidied) == rounds
    assert tidied[0] > BUILD
    assert clock[0] <= LIMIT


def test_the_next_search_begins_with_the_inequalities_of_the_one_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sum of two cells that are hidden together is given away by the first exact pattern, as the test has it."""
    problem = load("flat3d-6x6x6")
    begun: list[tuple[int, bool]] = []

    def search(problem: Problem, **options: Any) -> SuppressionResult:
        start = options["start"]
        begun.append((problem.n_cells, start is not None and start.rows is not None))
        return suppress(problem, **options)

    def exposed(found: SuppressionResult, budget: Budget | None) -> tuple[UnionExposure, ...]:
        if len(begun) != 1 or found.problem.sums:
            return ()
        cells = tuple(found.secondaries[:2].tolist())
        value = float(problem.values[list(cells)].sum())
        return (UnionExposure(cells, value, ("p%=15",), 3.0, 3.0, 0.0, True, ""),)

    monkeypatch.setattr("tabprotect.workflow.rounds.suppress", search)
    answer = suppress_with_sums(problem, exposed, Budget(Limits(work=8_000)), method="exact")
    assert answer.result.safe
    assert begun[:2] == [(problem.n_cells, False), (problem.n_cells + 1, True)]


@pytest.mark.parametrize(("used", "searches"), [(0.95, 2), (0.5, 1)])
def test_a_search_that_its_share_of_the_limits_ended_goes_on(
    used: float, searches: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that ended by itself does not; nor is one begun that leaves no time for sums."""
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    pattern = problem.must_hide | (np.arange(problem.n_cells) == 3)
    found = SuppressionResult(problem, pattern, "feasible", True, problem.cost(pattern), 0.0)
    starts: list[object] = []

    def search(problem: Problem, *, limits: Budget, start: SuppressionResult | None, **options: Any) -> Any:
        clock[0] += used * limits.seconds_left
        starts.append(start)
        return found

    def exposed(found: SuppressionResult, budget: Budget | None) -> Any:
        clock[0] += 0.1
        return ()

    monkeypatch.setattr("tabprotect.workflow.first_answer.first_results", lambda *_: iter(()))
    monkeypatch.setattr("tabprotect.workflow.rounds.by_root_solve", lambda *_: found)
    monkeypatch.setattr("tabprotect.workflow.rounds.suppress", search)
    answer = suppress_with_sums(problem, exposed, Budget(Limits(seconds=LIMIT), started=0.0), method="exact")
    assert (answer.result.safe, answer.sums) == (True, ())
    assert len(starts) == searches
    assert all(start is not None for start in starts)
    assert clock[0] < LIMIT


def test_a_look_ends_soon_after_the_limit_with_a_safe_pattern_in_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    given: list[float] = []

    def search(problem: Problem, **options: Any) -> SuppressionResult:
        clock[0] = LIMIT - 1
        pattern = problem.must_hide | (np.arange(problem.n_cells) == 3)
        return SuppressionResult(problem, pattern, "feasible", True, problem.cost(pattern), None)

    def exposed(found: SuppressionResult, budget: Budget | None) -> Any:
        assert budget is not None
        given.append(clock[0] + budget.seconds_left)
        return () if found.pattern.all() else ("a sum",)

    monkeypatch.setattr("tabprotect.workflow.rounds.with_sums", lambda problem, sums, budget: problem)
    monkeypatch.setattr("tabprotect.workflow.rounds.suppress", search)
    answer = suppress_with_sums(problem, exposed, Budget(Limits(seconds=LIMIT), started=0.0), method="hypercube")
    assert (answer.sums, answer.result.pattern.all()) == ((), True)
    assert given[0] < LIMIT
    assert LIMIT < max(given) <= 1.1 * LIMIT


@pytest.mark.parametrize("method", ["exact", "local"])
def test_a_pattern_that_gives_nothing_away_is_not_looked_at_twice(method: str) -> None:
    problem = load("singletons-large")
    looked: list[bytes] = []

    def exposed(found: SuppressionResult, budget: Budget | None) -> tuple[UnionExposure, ...]:
        looked.append(found.pattern.tobytes())
        return ()

    answer = suppress_with_sums(problem, exposed, Budget(Limits(work=300)), method=method)
    assert answer.result.safe
    assert looked
    assert all(one != after for one, after in pairwise(looked))


def test_a_problem_extends_another_with_sums_only_where_all_else_is_as_before() -> None:
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, attackers=[Attacker("one", (2,))]
    )
    grown = with_sums(problem, [UnionExposure((2, 3), 11.0, ("p%=15",), 1.0, 1.0, 0.0, True, "")])
    assert extends(grown, problem)
    assert extends(problem, problem)
    assert extends(replace(grown, attackers=(Attacker("one", (2, 4)),)), problem)
    assert not extends(problem, grown)
    others: list[dict[str, Any]] = [
        {"lpl": grown.lpl / 2},
        {"integer": True},
        {"attackers": ()},
        {"attackers": (Attacker("one", (3,)),)},
        {"attackers": (Attacker("one", (2, 3)),)},
    ]
    for other in others:
        assert not extends(replace(grown, **other), problem)
