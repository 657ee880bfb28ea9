"""Results of several runs as one: the cheaper pattern, the better bound, and what ended the work."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabprotect.methods.suppression.merge import joined, with_bound, with_bound_of
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem

PROBLEM = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
HIDDEN = np.array([False, True, True, False])


def run(cost: float | None, bound: float | None, **more: object) -> SuppressionResult:
    status = "unknown" if cost is None else "feasible"
    found = SuppressionResult(
        PROBLEM, HIDDEN, status, cost is not None, cost, bound, seconds=2.0, work=3, stopped="time"
    )
    return replace(found, **more)  # type: ignore[arg-type]


def test_a_bound_that_meets_the_cost_makes_an_answer_optimal() -> None:
    met = with_bound(run(6.0, None), 6.0 - 1e-12)
    assert (met.status, met.bound, met.stopped) == ("optimal", 6.0, "")
    open_ = with_bound(run(6.0, None), 5.0)
    assert (open_.status, open_.bound, open_.stopped) == ("feasible", 5.0, "time")
    assert with_bound(run(None, None), 4.0).bound == 4.0
    assert with_bound(run(None, 4.0, status="infeasible"), 4.0).bound is None


@pytest.mark.parametrize(
    ("mine", "other", "bound"), [(3.0, 5.0, 5.0), (5.0, 3.0, 5.0), (None, 3.0, 3.0), (3.0, None, 3.0)]
)
def test_the_better_bound_is_kept(mine: float | None, other: float | None, bound: float) -> None:
    found = with_bound_of(run(6.0, mine), run(8.0, other, method="exact", stopped="work"))
    assert (found.cost, found.bound) == (6.0, bound)
    assert found.stopped == ("work" if bound == other else "time")
    assert with_bound_of(run(6.0, mine), run(8.0, 6.0)).status == "optimal"


def test_two_runs_have_the_cheaper_pattern_and_the_better_bound() -> None:
    first, second = run(9.0, 4.0, method="local"), run(7.0, 3.0, method="exact", stopped="work")
    found = joined(first, second)
    assert (found.cost, found.bound, found.method) == (7.0, 4.0, "local, then exact")
    assert (found.seconds, found.work, found.stopped) == (4.0, 6, "work")
    assert joined(second, first).cost == 7.0
    assert joined(run(7.0, 4.0), run(None, 7.0)).status == "optimal"


def test_a_second_run_decides_where_the_first_has_no_pattern() -> None:
    none = run(None, None)
    assert joined(none, run(7.0, 3.0)).cost == 7.0
    nothing = joined(run(7.0, 3.0), run(None, None, status="infeasible"))
    assert (nothing.status, nothing.cost) == ("infeasible", None)
