"""A lower bound for every pattern, whichever method made it, or nobody but the user."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.attack.proof_rows import BoundProof
from tabprotect.attack.witness import Witnesses
from tabprotect.counted import counted
from tabprotect.errors import InputError, SolverError
from tabprotect.masks import pattern_mask
from tabprotect.methods.suppression.large.bound import LocalBound
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.merge import NOTHING_FOUND, with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.tolerances import COST_ROUNDING

__all__ = ["TRIVIAL", "found_safe", "own_pattern", "with_lower_bound"]

OWN: Final = "own pattern"
"""The method of a pattern that no search made."""

TRIVIAL: Final = "no time for a lower bound: 0, what the primaries alone cost"
"""What a result says whose bound is that of no secondary cell at all."""


def with_lower_bound(
    result: SuppressionResult, budget: Budget, executor: Executor | None = None, options: Options = DEFAULTS
) -> SuppressionResult:
    """Return a result with a bound on what any safe pattern costs, and its proof in `cuts`.

    It is the linear programme over capacity cuts and bridges of `tabprotect.methods.suppression.large.bound`, whose
    optimum is computed from multipliers and rebuilt in exact arithmetic by the certificate. Attackers who know cells
    are left out of it: they can only make patterns dearer.

    Parameters
    ----------
    result : SuppressionResult
        As it is where it has a bound, or no safe pattern.
    budget : Budget
        What may be spent; without limits as much work as the method took, or a moment. When nothing is left, the bound
        is 0, since secondary cells alone cost, and the message says so.
    executor : concurrent.futures.Executor, optional
        Solves attacks side by side.
    options : Options
    """
    if result.bound is not None or result.cost is None:
        return result
    problem, before = result.problem, budget.work
    endless = math.isinf(budget.seconds_left) and math.isinf(budget.work_left)
    work = float(max(options.schedule.bound_work, result.work)) if endless else math.inf
    value, proof, finished = 0.0, BoundProof((), (), Fraction(0)), False
    with cancel_on_interrupt(budget), budget.run(work=work) as part:
        if result.cost > 0 and not part.exhausted:
            bound = LocalBound(problem, Surroundings(problem.system), executor, options.local.bound)
            while not (bound.finished or part.exhausted or bound.bound >= result.cost):
                bound.step(part)
                part.report("bound", result.cost, bound.bound)
            if bound.bound > result.cost * (1 + COST_ROUNDING):
                raise SolverError(
                    f"a safe pattern costs {result.cost:.10g}, less than the bound of {bound.bound:.10g}; "
                    "please report this"
                )
            value, proof, finished = min(bound.bound, result.cost), bound.proof(), bound.finished
    trivial = "" if value or not result.cost else NOTHING_FOUND if finished else TRIVIAL
    known = replace(result.with_message(trivial), cuts=proof, work=result.work + budget.work - before)
    # a bound met by the cost is a proof, whatever ended the search
    return with_bound(known, value)


def own_pattern(
    problem: Problem,
    pattern: npt.ArrayLike,
    *,
    limits: Limits | Budget | float | None = None,
    progress: Callable[[Progress], None] | None = None,
    executor: Executor | None = None,
) -> SuppressionResult:
    """Judge a pattern of one's own as it is, and bound what any safe pattern costs.

    Parameters
    ----------
    problem : Problem
    pattern : array_like of bool, shape (cells,)
        Cells hidden, sensitive ones included. Nothing is added to it and nothing taken away; sums behind the cells of
        a table (`Problem.sums`) may be left out.
    limits : Limits, float or Budget, optional
        Of the bound; the pattern is judged to the end.
    progress : callable, optional
    executor : concurrent.futures.Executor, optional

    Returns
    -------
    SuppressionResult
        With the method 'own pattern'. Status 'unknown', without cost and bound, where the pattern is not safe; the
        message says how many protection levels are broken.

    Raises
    ------
    InputError
        If the pattern has another length, shows sensitive cells, or hides cells that must be published.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> mine = own_pattern(p, [False, True, True, False, True, True, False, False, False])
    >>> mine.safe, mine.cost, mine.bound, round(mine.gap, 3)
    (True, 25.0, 17.0, 0.32)
    """
    if np.asarray(pattern).dtype != np.bool_:
        raise InputError(f"a pattern is {counted(problem.n_cells - problem.sums, 'boolean')}, one a cell")
    hidden = pattern_mask(problem, pattern)
    for cells, what in ((problem.must_hide & ~hidden, "shows"), (hidden & ~problem.may_hide, "hides")):
        if cells.any():
            names = ", ".join(problem.system.label(int(i)) for i in np.flatnonzero(cells)[:5])
            must = "hidden" if what == "shows" else "published"
            raise InputError(f"the pattern {what} cells that must be {must}: {names}")
    budget = Budget.of(limits, progress)
    exposed = Witnesses(problem).check(hidden)
    if not exposed:
        return found_safe(problem, hidden, budget, executor)
    message = f"{counted(len(exposed), 'protection level is', 'protection levels are')} not reached"
    return SuppressionResult(
        problem, hidden.copy(), "unknown", False, None, None,
        method=OWN, seconds=budget.seconds, work=budget.work, message=message,
    )  # fmt: skip


def found_safe(
    problem: Problem, pattern: npt.NDArray[np.bool_], budget: Budget, executor: Executor | None = None
) -> SuppressionResult:
    """Return the cost and bound of a pattern of the user that an audit has found safe; see `own_pattern`."""
    result = SuppressionResult(
        problem, pattern.copy(), "feasible", True, problem.cost(pattern), None, method=OWN, work=budget.work
    )
    return replace(with_lower_bound(result, budget, executor), seconds=budget.seconds)
