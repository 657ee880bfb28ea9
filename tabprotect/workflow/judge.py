"""The last look at a pattern: whether it is safe, for as long as that takes, and intervals while the limits allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy.typing as npt

from tabprotect.attack.audit import audit
from tabprotect.attack.findings import Audit
from tabprotect.attack.pool import Deviation
from tabprotect.attack.sums import not_cells, with_sums
from tabprotect.counted import counted
from tabprotect.methods.suppression.merge import with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.settle import settle
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.stops import seconds_after
from tabprotect.solver.tolerances import LEVEL_ROOM
from tabprotect.workflow.extended import extended

__all__ = ["JUDGE_SECONDS", "explored", "found_safe", "judge", "judge_sums", "judging"]

MOMENT = 2.0
"""Seconds that intervals, or hiding more, get where a search left nothing of its limit."""

JUDGE_SECONDS = 60.0
"""Seconds that the judgement may take after a limit, at least: as long as the limit, if that is more."""

STOP_SECONDS = 20.0
"""Seconds that it may take after Ctrl-C."""

JUDGED = "the limit ended the search before its pattern was judged; the audit finds it safe"


def judge(
    problem: Problem,
    result: SuppressionResult,
    search: Budget,
    limits: Limits,
    *,
    allow_unsafe: bool,
    progress: Callable[[Progress], None] | None,
    executor: Executor | None,
    options: Options = DEFAULTS,
) -> tuple[SuppressionResult, Audit]:
    """Audit a pattern, beyond the limits if need be; intervals are for `explored`.

    What is not judged is not safe, so the audit goes on after a limit: for `JUDGE_SECONDS` seconds, or as long as the
    limit itself if that is more; after Ctrl-C for `STOP_SECONDS`. What is undecided then is no verdict, and no answer.

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
        Of everything. Hiding more takes what is left of a limit of time, or a moment.
    allow_unsafe, progress, executor
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
            budget=looking,
            executor=executor,
            deviations=deviations,
            stop_at_first=result.status == "unknown" and not allow_unsafe,
        )

    looking = judging(search, limits, progress)
    found, ended = look(result.deviations if result.problem is problem else ()), ""
    for tight in LEVEL_ROOM if result.safe else ():
        if not found.exposures or _undecided(found, looking):
            break
        # whoever asks for the best answer so far gets it a moment later
        settling = _left(search, limits, limits.stop and seconds_after(limits.stop, MOMENT), progress)
        if (more := settle(result, found.exposures, tight, settling, options)) is None:
            ended = settling.stopped
            continue
        result = more
        found = look((*result.deviations, *(w.deviation for w in found.evidence.witnesses)))
    if ended and found.exposures:
        result = replace(result, status="unknown", safe=False, cost=None, stopped=search.stopped or ended)
    if _undecided(found, looking) and result.status != "infeasible":
        what = counted(sum(not e.decided for e in found.exposures), "level")
        said = "; ".join(filter(None, (result.message, f"the audit was ended with {what} not decided")))
        stopped = search.stopped or looking.stopped
        result = replace(result, status="unknown", safe=False, cost=None, stopped=stopped, message=said)
    return result, found


def judge_sums(
    result: SuppressionResult,
    found: Audit,
    sums: Sequence[UnionExposure],
    search: Budget,
    limits: Limits,
    *,
    progress: Callable[[Progress], None] | None,
    executor: Executor | None,
) -> tuple[SuppressionResult, Audit]:
    """Judge a pattern with the sums that it gives away as cells of its problem, so that they are exposed cells.

    Then whatever is made of the judgement, the certificate above all, says that they are. What holds for the cells
    before them, costs and bounds included, holds as before.

    Parameters
    ----------
    result : SuppressionResult
    found : Audit
        Of the pattern, without these sums.
    sums : sequence of UnionExposure
        Those that are cells already were judged with the pattern.
    search, limits
        As for `judge`: the audit may go on as long after them. A sum that is not decided then counts as exposed.
    progress, executor
        As for `tabprotect.protect`.
    """
    if not (fresh := not_cells(found.problem, sums)):
        return result, found
    before = result.deviations if result.problem is found.problem else ()
    known = (*before, *(w.deviation for w in found.evidence.witnesses))
    grown = with_sums(found.problem, fresh)
    result = extended(replace(result, problem=found.problem, deviations=known), grown)
    budget = judging(search, limits, progress)
    return result, audit(
        grown, result.pattern, intervals=False, budget=budget, executor=executor, deviations=result.deviations
    )


def explored(
    found: Audit,
    search: Budget,
    limits: Limits,
    *,
    progress: Callable[[Progress], None] | None,
    executor: Executor | None,
    of: npt.ArrayLike | None = None,
) -> Audit:
    """Return a judgement with intervals, as far as what is left of a limit of time, or a moment, goes."""
    if not found.exhaustive:
        return found
    looking = _left(search, limits, limits.stop, progress)
    with cancel_on_interrupt(looking):
        return found.explored(looking, executor, of)


def _left(
    search: Budget, limits: Limits, stop: Callable[[], bool] | None, progress: Callable[[Progress], None] | None
) -> Budget:
    """Return what a search left of the limits, or a moment."""
    rest = None if limits.seconds is None else max(limits.seconds - search.seconds, MOMENT)
    seconds = MOMENT if search.cancelled else rest
    return Budget(replace(limits, seconds=seconds, work=None, stop=stop), progress)


def judging(search: Budget, limits: Limits, progress: Callable[[Progress], None] | None) -> Budget:
    """Return what the audit may take after a search; see `judge`."""
    seconds = None
    if limits.seconds is not None:
        seconds = max(limits.seconds - search.seconds, limits.seconds, JUDGE_SECONDS)
    if search.exhausted and search.stopped == "cancelled":
        seconds = STOP_SECONDS
    return Budget(Limits(seconds, stop=limits.stop and seconds_after(limits.stop, STOP_SECONDS)), progress)


def _undecided(found: Audit, judging: Budget) -> bool:
    """Whether an audit has no answer since it was ended."""
    return bool(judging.stopped) and any(not e.decided for e in found.exposures)


def found_safe(result: SuppressionResult) -> SuppressionResult:
    """Return the result for a pattern that an audit finds safe, and that nobody had judged before the limits."""
    judged = replace(result, status="feasible", safe=True, cost=result.problem.cost(result.pattern), message=JUDGED)
    return with_bound(judged, result.bound or 0.0)
