"""The last look at a pattern: whether it is safe, for as long as that takes, and intervals while the limits allow."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace

from tabprotect.attack.audit import audit
from tabprotect.attack.findings import Audit
from tabprotect.attack.pool import Deviation
from tabprotect.counted import counted
from tabprotect.methods.suppression.merge import with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.settle import settle
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.tolerances import LEVEL_ROOM

__all__ = ["found_safe", "judge"]

MOMENT = 2.0
"""Seconds that intervals, or hiding more, get where a search left nothing of its limit."""

JUDGE_SECONDS = 20.0
"""Seconds that the judgement may take, at least, after a limit or Ctrl-C; after a limit as long as that, if more."""

JUDGED = "the limit ended the search before its pattern was judged; the audit finds it safe"


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
    options: Options = DEFAULTS,
) -> tuple[SuppressionResult, Audit]:
    """Audit a pattern, beyond the limits if need be; intervals are told as far as they go.

    What is not judged is not safe, so the audit goes on after a limit: for `JUDGE_SECONDS` seconds, or as long as the
    limit itself if that is more; after Ctrl-C for `JUDGE_SECONDS`. What is undecided then is no verdict, and no answer.

    A search decides in floating point. Where the audit does not agree more is hidden, and that is audited again. Ctrl-C
    or a limit leave a moment for that; where it is too little no safe pattern was found, which is no verdict.

    Parameters
    ----------
    problem : Problem
    result : SuppressionResult
        What its search knows is made use of, if it solves this problem.
    search : Budget
        What was spent until now.
    limits : Limits
        Of everything. Intervals, and hiding more, take what is left of a limit of time, or a moment.
    intervals, allow_unsafe, progress, executor
        As for `tabprotect.protect`. Where no pattern was found and none may be written one exposed cell is enough.
    options : Options
        Of what hides more.

    Returns
    -------
    SuppressionResult, Audit
        The result is the one given unless more had to be hidden.
    """

    def look(deviations: Sequence[Deviation]) -> Audit:
        return audit(
            problem,
            result.pattern,
            intervals=False,
            budget=judging,
            executor=executor,
            deviations=deviations,
            stop_at_first=result.status == "unknown" and not allow_unsafe,
        )

    def left(stop: Callable[[], bool] | None) -> Budget:
        rest = None if limits.seconds is None else max(limits.seconds - search.seconds, MOMENT)
        seconds = MOMENT if search.cancelled else rest
        return Budget(replace(limits, seconds=seconds, work=None, stop=stop), progress)

    judging = _judging(search, limits, progress)
    found, ended = look(result.deviations if result.problem is problem else ()), ""
    for tight in LEVEL_ROOM if result.safe else ():
        if not found.exposures or _undecided(found, judging):
            break
        # whoever asks for the best answer so far gets it a moment later
        settling = left(_after(limits.stop, MOMENT))
        if (more := settle(result, found.exposures, tight, settling, options)) is None:
            ended = settling.stopped
            continue
        result = more
        found = look((*result.deviations, *(w.deviation for w in found.evidence.witnesses)))
    if ended and found.exposures:
        result = replace(result, status="unknown", safe=False, cost=None, stopped=search.stopped or ended)
    if _undecided(found, judging) and result.status != "infeasible":
        what = counted(sum(not e.decided for e in found.exposures), "level")
        said = "; ".join(filter(None, (result.message, f"the audit was ended with {what} not decided")))
        stopped = search.stopped or judging.stopped
        return replace(result, status="unknown", safe=False, cost=None, stopped=stopped, message=said), found
    if not (intervals and found.exhaustive):
        return result, found
    looking = left(limits.stop)
    with cancel_on_interrupt(looking):
        return result, found.explored(looking, executor)


def _judging(search: Budget, limits: Limits, progress: Callable[[Progress], None] | None) -> Budget:
    """Return what the audit may take."""
    seconds = None
    if limits.seconds is not None:
        seconds = max(limits.seconds - search.seconds, limits.seconds, JUDGE_SECONDS)
    if search.stopped == "cancelled":
        seconds = JUDGE_SECONDS
    return Budget(Limits(seconds, stop=_after(limits.stop, JUDGE_SECONDS)), progress)


def _undecided(found: Audit, judging: Budget) -> bool:
    """Whether an audit has no answer since it was ended."""
    return bool(judging.stopped) and any(not e.decided for e in found.exposures)


def _after(stop: Callable[[], bool] | None, seconds: float) -> Callable[[], bool] | None:
    """Return a stop that says so some seconds after another one does."""
    if stop is None:
        return None
    asked: list[float] = []

    def late() -> bool:
        if not asked and stop():
            asked.append(time.monotonic())
        return bool(asked) and time.monotonic() - asked[0] >= seconds

    return late


def found_safe(result: SuppressionResult) -> SuppressionResult:
    """Return the result for a pattern that an audit finds safe, and that nobody had judged before the limits."""
    judged = replace(result, status="feasible", safe=True, cost=result.problem.cost(result.pattern), message=JUDGED)
    return with_bound(judged, result.bound or 0.0)
