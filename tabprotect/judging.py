"""The last look at a pattern: whether it is safe, for as long as that takes, and intervals while the limits allow."""

from __future__ import annotations

import math
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import replace

from tabprotect.attack.audit import Audit, audit
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits, Progress, cancel_on_interrupt

__all__ = ["judge", "of_search"]

JUDGE_SHARE = 0.1
"""Part of a limit in seconds that is left for the last audit of a suppression pattern."""

MOMENT = 2.0
"""Seconds that intervals get where a search left nothing of its limit."""


def of_search(limits: Limits) -> Limits:
    """Return limits that leave time for the judge."""
    return limits if limits.seconds is None else replace(limits, seconds=(1 - JUDGE_SHARE) * limits.seconds)


def judge(
    problem: Problem,
    result: SuppressionResult,
    search: Budget,
    limits: Limits,
    *,
    intervals: bool,
    allow_unsafe: bool,
    progress: Callable[[Progress], None] | None,
    executor: Executor | None,
) -> Audit:
    """Audit a pattern without limits, since what is not judged is not safe; intervals are told as far as they go.

    Parameters
    ----------
    problem : Problem
    result : SuppressionResult
        What its search knows is made use of, if it solves this problem.
    search : Budget
        What was spent until now.
    limits : Limits
        Of everything. Intervals take what is left of a limit of time, or a moment; nothing depends on them.
    intervals, allow_unsafe, progress, executor
        As for `tabprotect.protect`. Where no pattern was found and none may be written one exposed cell is enough.
    """
    known = result.deviations if result.problem is problem else ()
    found = audit(
        problem,
        result.pattern,
        intervals=False,
        budget=Budget(progress=progress),
        executor=executor,
        deviations=known,
        stop_at_first=result.status == "unknown" and not allow_unsafe,
    )
    if not (intervals and found.exhaustive):
        return found
    left = 0.0 if search.cancelled else math.inf if limits.seconds is None else limits.seconds - search.seconds
    seconds = None if math.isinf(left) else max(left, MOMENT)
    looking = Budget(replace(limits, seconds=seconds, work=None), progress)
    with cancel_on_interrupt(looking):
        return found.explored(looking, executor)
