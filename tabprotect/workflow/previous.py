"""Carry the pattern of the last period forward, and judge what an intruder makes of both releases."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from tabprotect.attack.audit import audit
from tabprotect.counted import counted
from tabprotect.errors import InputError
from tabprotect.problem import Problem, Status
from tabprotect.release.carried import Both, Carried, Stability
from tabprotect.release.earlier import Earlier, Previous
from tabprotect.release.suppressed import Release
from tabprotect.sensitivity.assess import assess
from tabprotect.solver.limits import Budget
from tabprotect.table.table import Table
from tabprotect.workflow.request import Request

__all__ = ["beside", "carrying", "judge_both", "keeping", "lowered", "preferring", "revising", "stability", "with_both"]

_OPEN = ("", "s", None)
"""Statuses of a finished table that say nothing."""


def carrying(request: Request, table: Table) -> tuple[Table, Earlier | None, tuple[str, ...]]:
    """Return the table with the statuses that the last period asks for.

    Returns
    -------
    Table
    Earlier or None
        The pattern of the last period; None where there is none to carry forward.
    tuple of str
        Of a revision: cells that are sensitive now and were published.
    """
    previous = request.previous
    if previous is None:
        return table, None, ()
    earlier = previous.read(table)
    disclosed: tuple[str, ...] = ()
    if previous.revision:
        table, disclosed = revising(request, table, earlier)
    return keeping(request, table, earlier) if previous.keep else table, earlier, disclosed


def beside(
    release: Release,
    previous: Previous,
    earlier: Earlier,
    published_before: tuple[str, ...],
    budget: Budget,
    executor: Executor | None = None,
) -> Release:
    """Return the release with what became of the pattern of the last period.

    Parameters
    ----------
    release : Release
    previous : Previous
    earlier : Earlier
    published_before : tuple of str
        Of a revision: cells that are sensitive now and were published.
    budget : Budget
        Of the judgement on both releases.
    executor : concurrent.futures.Executor, optional
    """
    carried = Carried(stability(release, earlier), previous.factor, None, earlier.not_safe)
    release = replace(release, carried=carried)
    if not previous.revision:
        return release
    return with_both(release, judge_both(release, earlier, published_before, budget, executor), budget.stopped)


def with_both(release: Release, both: Both, stopped: str = "") -> Release:
    """Return the release of a revision with what both releases tell: it is safe only if they are so together.

    Parameters
    ----------
    release : Release
    both : Both
    stopped : str
        What ended the judgement on both; where it decided nothing no safe pattern is known.
    """
    carried, judgement, result = release.carried, release.judgement, release.result
    assert carried is not None
    if not both.safe:
        judgement = replace(judgement, not_safe=tuple(both.problems()))
    if stopped and both.undecided and result.status != "infeasible":
        left = counted(len(both.now.exposures) + len(both.before.exposures), "level")
        said = f"the audit of both releases was ended with {left} not decided"
        result = replace(
            result.with_message(said), status="unknown", safe=False, cost=None, stopped=result.stopped or stopped
        )
    return replace(release, carried=replace(carried, both=both), judgement=judgement, result=result)


def lowered(problem: Problem, table: Table, earlier: Earlier, factor: float) -> Problem:
    """Return the problem with lower costs of the cells of its table that were hidden in the last period."""
    weights = problem.weights.copy()
    weights[: table.n_cells][earlier.hides(table)] *= factor
    return replace(problem, weights=weights)


def preferring(request: Request, earlier: Earlier, factor: float) -> Request:
    """Return the request with lower costs of cells that were hidden in the last period.

    Parameters
    ----------
    request : Request
        Whose method hides cells, without recoding.
    earlier : Earlier
    factor : float
        Above 0 and at most 1: what the costs are multiplied by.
    """
    return request.asking(previous=Previous(earlier, factor))


def keeping(request: Request, table: Table, earlier: Earlier) -> Table:
    """Return the table in which cells that were hidden in the last period stay hidden.

    Cells that are sensitive now, that have a status of their own, or that everybody knows to be zero, are left alone.
    """
    assessed = assess(table, request.rules, levels=request.levels)
    status = np.array(table.columns.get("status", np.full(table.n_cells, "")), dtype=object)
    quiet = np.array([one in _OPEN for one in status]) & (assessed.status == Status.SAFE)
    status[earlier.hides(table) & quiet] = "m"
    return replace(table, columns={**table.columns, "status": status})


def revising(request: Request, table: Table, earlier: Earlier) -> tuple[Table, tuple[str, ...]]:
    """Return the table of a revision: what was published stays published, what was sensitive stays protected.

    Whoever has both releases knows what either publishes. So a cell that was published protects nothing now, and
    hiding it again would be of no use; a cell that was sensitive keeps its protection levels.

    Returns
    -------
    Table
    tuple of str
        Cells that are sensitive now and were published: nothing can protect them any more.
    """
    before = earlier.problem
    if before is None:
        raise InputError("previous: a revision is audited with the release that it revises; give its folder")
    match = earlier.match(table)
    there = match >= 0
    assessed = assess(table, request.rules, levels=request.levels)
    sensitive = assessed.status == Status.PRIMARY
    was = np.where(there, before.status[match], Status.SAFE)
    published = there & ~earlier.hidden[match]
    status = np.array(table.columns.get("status", np.full(table.n_cells, "")), dtype=object)
    quiet = np.array([one in _OPEN for one in status]) & (assessed.status == Status.SAFE)
    status[published & quiet] = "p"
    again = (was == Status.PRIMARY) & there & earlier.hidden[match] & ~sensitive & quiet
    status[again] = "u"
    columns: dict[str, Any] = {**table.columns, "status": status}
    for name in ("lpl", "upl", "spl"):
        given = np.array(table.columns.get(name, np.full(table.n_cells, np.nan)), dtype=np.float64)
        columns[name] = np.where(again, getattr(before, name)[match], given)
    disclosed = tuple(table.system.label(int(i)) for i in np.flatnonzero(published & sensitive))
    return replace(table, columns=columns), disclosed


def judge_both(
    release: Release,
    earlier: Earlier,
    published_before: tuple[str, ...],
    budget: Budget | None = None,
    executor: Executor | None = None,
) -> Both:
    """Audit both releases, each with only those cells hidden that both hide, as far as the budget goes."""
    problem = earlier.problem
    if problem is None:
        raise InputError("previous: a revision is audited with the release that it revises; give its folder")
    match = earlier.match(release.table)
    there = match >= 0
    now = release.result.pattern.copy()
    cells = np.flatnonzero(there)
    now[cells] &= earlier.hidden[match[cells]]
    before = earlier.hidden.copy()
    before[match[cells]] &= release.pattern[cells]
    return Both(
        audit(_without_forced(release.problem), now, intervals=False, budget=budget, executor=executor),
        audit(_without_forced(problem), before, intervals=False, budget=budget, executor=executor),
        published_before,
    )


def stability(release: Release, earlier: Earlier) -> Stability:
    """Compare a pattern with that of the last period."""
    match = earlier.match(release.table)
    cells = np.flatnonzero(match >= 0)
    now, was = release.pattern[cells], earlier.hidden[match[cells]]
    label = release.table.system.label
    return Stability(
        len(cells),
        int(np.sum(now == was)),
        tuple(label(int(i)) for i in cells[now & ~was]),
        tuple(label(int(i)) for i in cells[~now & was]),
        release.table.n_cells - len(cells),
        len(earlier.position) - len(set(match[cells].tolist())),
    )


def _without_forced(problem: Problem) -> Problem:
    """Return the problem without cells that have to be hidden although nothing protects them."""
    status = np.where(problem.status == Status.FORCED, Status.SAFE, problem.status).astype(problem.status.dtype)
    return replace(problem, status=status)
