"""The end of a search: repairs and proofs that there are none, and what is told when a limit cuts them short."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tabprotect.attack.witness import Key, Witnesses
from tabprotect.instances import load
from tabprotect.methods.suppression.options import Options, changed
from tabprotect.methods.suppression.postsolve.finish import finish
from tabprotect.methods.suppression.presolve.unprotectable import explain, out_of_reach
from tabprotect.problem import Attacker, Problem
from tabprotect.solver.limits import Budget, Limits
from tests.checker import Judge
from tests.random_problems import random_problem

AT_ONCE = changed(Options(), "finish.grace_seconds", 0.0)


def lost() -> Problem:
    """Cell 4 follows from cells that may not be hidden; 8 can be protected."""
    A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, -1, 1, 1],
         [-1, 0, 0, 1, 0, 0, 1, 0, 0], [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]  # fmt: skip
    values = [20, 9, 11, 8, 3, 5, 12, 6, 6]
    return Problem.from_arrays(A, values, primary=[4, 8], lpl=1, upl=1, protected=[5, 7, 3, 1])


def cancelled() -> Budget:
    budget = Budget()
    budget.cancel()
    return budget


def test_an_unsafe_pattern_is_repaired_after_a_cancel_too() -> None:
    problem = load("linked-small")
    for budget in (Budget(), Budget(Limits(work=0)), cancelled()):
        result = finish(problem, Witnesses(problem), problem.must_hide, budget, "none")
        assert (result.status, result.safe) == ("feasible", True)
        assert Judge(problem).safe(result.pattern)
        assert result.stopped == budget.stopped


@pytest.mark.parametrize(
    "budget", [Budget, cancelled, lambda: Budget(Limits(work=0)), lambda: Budget(Limits(seconds=0.0))]
)
def test_what_no_pattern_protects_is_named_whatever_ended_the_search(budget: Callable[[], Budget]) -> None:
    problem = lost()
    result = finish(problem, Witnesses(problem), problem.must_hide, budget(), "none")
    assert (result.status, result.safe) == ("infeasible", False)
    assert {(u.cell, u.reachable, u.needed) for u in result.unprotectable} == {(4, (3.0, 3.0), (2.0, 4.0))}
    assert {e.key.cell for e in Witnesses(problem).check(result.pattern)} == {4}


def test_without_a_moment_left_nothing_is_claimed() -> None:
    problem = load("hier2d-medium")
    result = finish(problem, Witnesses(problem), problem.must_hide, cancelled(), "none", AT_ONCE)
    assert (result.status, result.safe, result.cost, result.unprotectable) == ("unknown", False, None, ())
    assert "limits" in result.message
    assert np.array_equal(result.pattern, problem.must_hide)


def test_who_cancels_during_repairs_ends_them() -> None:
    problem = load("hier2d-medium")
    polled = iter(range(10**9))
    budget = Budget(Limits(stop=lambda: next(polled) >= 3))
    result = finish(problem, Witnesses(problem), problem.must_hide, budget, "none")
    assert (result.status, result.stopped) == ("unknown", "cancelled")
    assert next(polled) < 10


def test_only_the_questions_asked_are_answered() -> None:
    problem = Problem.from_arrays(
        [[-1, 1, 1], [0, 0, 0]], [100, 90, 10], primary=[0, 1, 2], lpl=[15, 1, 20], upl=1,
        attackers=[Attacker("a", (2,)), Attacker("b", (1,))],
    )  # fmt: skip
    asked = [Key(1, 0, -1), Key(1, 0, 1), Key(-1, 2, -1), Key(-1, 1, -1)]
    found = out_of_reach(problem, asked, Budget())
    assert [(e.key, e.reached, e.needed) for e in found] == [(Key(-1, 2, -1), 10, 20), (Key(1, 0, -1), 10, 15)]
    assert {u.cell: u.reachable for u in explain(problem, found, Budget())} == {0: (90, np.inf), 2: (0, np.inf)}
    # what decided it is told where there is no time for whole intervals
    told = explain(problem, found, cancelled())
    assert {u.cell: u.reachable for u in told} == {0: (90, 101), 2: (0, 11)}


@pytest.mark.parametrize("seed", range(12))
def test_out_of_reach_agrees_with_the_judge(seed: int) -> None:
    problem = random_problem(seed)
    everything = Witnesses(problem).check(problem.may_hide)
    keys = [e.key for e in Witnesses(problem).check(problem.must_hide)]
    beyond = {e.key for e in out_of_reach(problem, keys, Budget())}
    assert beyond == {e.key for e in everything} & set(keys)


def test_what_could_be_protected_is_told_beside_what_cannot() -> None:
    """Cell 4 is lost, 8 is not; with no moment for repairs the levels of 8 are not reached either."""
    problem = lost()
    result = finish(problem, Witnesses(problem), problem.must_hide, cancelled(), "none", AT_ONCE)
    assert {e.key.cell for e in Witnesses(problem).check(result.pattern)} == {4, 8}
    assert result.status == "infeasible"
    assert {u.cell for u in result.unprotectable} == {4}
    assert result.message.endswith("; 2 other protection levels are not reached when the limits ended the work")
