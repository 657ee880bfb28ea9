"""From any pattern to a safe one."""

from __future__ import annotations

from tabprotect import instances
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.postsolve.completion import complete
from tabprotect.solver.limits import Budget, Limits


def test_a_repair_with_a_budget_of_its_own_does_not_end_with_that_of_the_clean_up() -> None:
    problem = instances.load("flat3d-6x6x6")
    short, long = Limits(work=1), Limits(work=100_000)
    alone = complete(problem, problem.must_hide, Budget(short), "repaired")
    assert (alone.safe, alone.stopped) == (False, "work")
    repaired, whole = (
        complete(problem, problem.must_hide, Budget(limits), "repaired", repair=Budget(long))
        for limits in (short, long)
    )
    assert repaired.cost is not None
    assert whole.cost is not None
    assert not Witnesses(problem).check(repaired.pattern)
    assert whole.cost < repaired.cost < problem.cost(problem.may_hide) / 2
