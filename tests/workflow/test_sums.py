"""Sums of hidden cells within the limit of time, on a clock that the test turns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
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

    def exposed(found: SuppressionResult) -> Any:
        clock[0] += LOOK
        return ("a sum",) if len(tidied) < rounds else ()

    monkeypatch.setattr("tabprotect.workflow.rounds.first_results", lambda problem, budget, start, options: iter(()))
    monkeypatch.setattr("tabprotect.workflow.rounds.suppress", search)
    monkeypatch.setattr("tabprotect.workflow.rounds.greedy", quickly)
    answer = suppress_with_sums(problem, exposed, budget, method="hypercube")
    assert answer.sums == ()
    assert len(tidied) == rounds
    assert tidied[0] > BUILD
    assert clock[0] <= LIMIT
