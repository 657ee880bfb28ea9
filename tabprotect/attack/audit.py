"""The audit: what an intruder can conclude about every hidden cell, and which protection levels that violates."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tabprotect.attack.evidence import gather
from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.explore import explore
from tabprotect.attack.findings import Audit, asked_cells, is_complete
from tabprotect.attack.pool import Deviation
from tabprotect.attack.witness import Witnesses
from tabprotect.errors import InputError, as_bool, as_items, need
from tabprotect.masks import pattern_mask
from tabprotect.problem import Problem, need_problem
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tasks.pieces import check_executor

__all__ = ["audit"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Judged(Protocol):
    """What was judged as a whole, such as a release."""

    @property
    def judgement(self) -> Audit | None:
        """The judgement on its pattern; None without anything to publish."""
        ...


class Patterned(Protocol):
    """A problem with a pattern, such as the result of a search, or an audit."""

    @property
    def problem(self) -> Problem:
        """The problem."""
        ...

    @property
    def pattern(self) -> Bools:
        """True where a cell is hidden."""
        ...


def audit(
    problem: Problem | Judged | Patterned,
    pattern: Any = None,
    *,
    intervals: bool = True,
    budget: Budget | Limits | float | None = None,
    executor: Executor | None = None,
    witnesses: Witnesses | None = None,
    deviations: Sequence[Deviation] = (),
    of: npt.ArrayLike | None = None,
    stop_at_first: bool = False,
) -> Audit:
    """Play the intruder against a pattern.

    Whether all protection levels are reached is decided by exact witnesses, in favour of safety: a level that is
    reached up to rounding errors only is not reached.

    Parameters
    ----------
    problem : Problem, release or result
        A release, or what a search for a pattern returns, has a pattern of its own.
    pattern : sequence of bool or of positions, optional
        The hidden cells of a problem. Sums that are protected as cells (`Problem.sums`) may be left out; they are
        never published.
    intervals : bool
        Compute the interval of every hidden cell for the public intruder, and of the primaries for every attacker who
        knows cells; otherwise only answer whether the levels are reached.
    budget : Budget, Limits or float, optional
        In seconds (a number alone). What is not computed when it is exhausted is reported as such.
    executor : concurrent.futures.Executor, optional
        Runs the interval programmes side by side, with the same results.
    witnesses : Witnesses, optional
        A judge that has looked at patterns of this problem already.
    deviations : sequence of Deviation
        How cells of this problem may move together, as others say; what is wrong is found out.
    of : sequence of positions, optional
        The hidden cells whose intervals are computed, and for the public intruder alone; by default all, for all
        intruders. Exposures to all of them are found all the same.
    stop_at_first : bool
        Only answer whether the pattern is safe: the audit ends at the first cell that is certainly exposed, without
        intervals. A pattern that is safe is audited as always.

    Raises
    ------
    InputError
        If `problem` is none of these, or the pattern is missing or does not fit it.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> a = audit(p, [1, 2])
    >>> a.safe, a.interval(1), a.interval(2)
    (True, (0.0, 15.0), (0.0, 15.0))
    >>> print(audit(p, [1]).summary())
    NOT SAFE: 4 cells, hidden 1: 1 primary, 0 secondary
    1 moves 0 upwards, needs 2
    1 moves 0 downwards, needs 2
    can be recomputed exactly: 1
    """
    whole = None if isinstance(problem, Problem) else _whole(problem, pattern)
    if whole is None and pattern is None:
        raise InputError("audit needs the pattern of a problem: True for every hidden cell, or their positions")
    if whole is not None:
        problem, pattern = whole.problem, whole.pattern
    assert isinstance(problem, Problem)
    budget = Budget.of(budget, name="budget")
    intervals, stop_at_first = as_bool(intervals, "intervals"), as_bool(stop_at_first, "stop_at_first")
    check_executor(executor)
    if witnesses is not None:
        need(witnesses, Witnesses, "audit(witnesses=)", "a judge of this problem")
    deviations = as_items(deviations, Deviation, "deviations", "tabprotect.attack.pool.Deviation")
    hidden = pattern_mask(problem, pattern)
    if deviations and not problem.integer:
        witnesses = witnesses or Witnesses(problem)
        witnesses.offer_many(deviations)
    evidence = gather(problem, hidden, witnesses, budget, stop_at_first)
    exhaustive = not (stop_at_first and evidence.exposures)
    intervals = intervals and exhaustive
    seen = ExactProblem(problem).problem if problem.integer else problem
    public, insiders = explore(seen, hidden, asked_cells(hidden, of), of is None, intervals, budget, executor)
    found = Audit(
        problem,
        hidden,
        public,
        insiders,
        evidence.exposures,
        evidence.unproven,
        np.flatnonzero(problem.must_hide & ~hidden),
        evidence,
        not intervals or is_complete(public, *insiders),
        exhaustive,
        problem.n_cells - problem.sums if problem.sums else None,
    )
    # a release says how many of the cells are those of its table
    if not isinstance(whole, Audit):
        return found
    return replace(
        found, cells=whole.cells, rows=whole.rows, changed=whole.changed, table=whole.table, not_safe=whole.not_safe
    )


def _whole(given: Judged | Patterned, pattern: Any) -> Patterned:
    """Return what has a problem and a pattern, of something that has both."""
    whole: Any = getattr(given, "judgement", given)
    kind = type(given).__name__
    if whole is None and given is not None:
        raise InputError(f"there is nothing to audit: this {kind} has no values to publish")
    if not isinstance(getattr(whole, "problem", None), Problem) or not hasattr(whole, "pattern"):
        need_problem(given, "audit")
    if pattern is not None:
        raise InputError(f"a {kind} has a pattern of its own; to audit another one give its problem: .problem")
    found: Patterned = whole
    return found
