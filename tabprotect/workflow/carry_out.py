"""The one way from a request to a release."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.audit import audit
from tabprotect.attack.findings import Audit
from tabprotect.attack.sums import LevelsForOthers, levels_for_others
from tabprotect.attack.values import seeing
from tabprotect.counted import counted
from tabprotect.errors import SolverError
from tabprotect.methods.base.method import Call, Changed, Method
from tabprotect.methods.suppression.options import differing
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.release.changed import ChangedRelease
from tabprotect.release.suppressed import Release
from tabprotect.sensitivity.bounds import bounds_in_words
from tabprotect.sensitivity.sums_as_cells import values_with_sums
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget, Progress
from tabprotect.solver.monotone import Monotone
from tabprotect.solver.pulse import never_silent
from tabprotect.solver.trace import Trace
from tabprotect.table.decimals import decimals_of
from tabprotect.workflow.hide import Sums, hide
from tabprotect.workflow.judge import explored, found_safe, judge, judge_sums, judging
from tabprotect.workflow.prepare import Prepared, prepare
from tabprotect.workflow.previous import beside
from tabprotect.workflow.provenance import provenance
from tabprotect.workflow.request import Request
from tabprotect.workflow.sums import Answer

__all__ = ["carry_out"]


def carry_out(request: Request) -> Release | ChangedRelease:
    """Prepare, search, judge, and put together what may leave the building.

    Raises
    ------
    InputError
        Everything that is wrong with the data, or that a rule or the method lacks.
    """
    with never_silent(request.progress) as progress:
        prepared = prepare(request.model_copy(update={"progress": progress}))
        return _changed(prepared) if isinstance(prepared.method, Method) else _hidden(prepared)


def _hidden(prepared: Prepared) -> Release:
    request, budget = prepared.request, prepared.budget()
    budget.progress = trace = Trace(request.progress)
    exposed = Sums(prepared)
    answer = hide(prepared, request.hiding, budget, exposed)
    budget.report("audit", answer.result.cost, answer.result.bound)
    heard, found = request.progress, answer.result
    progress = None if heard is None else Monotone(budget, heard, True, found.cost, found.bound)
    result, judgement, remaining = _judged(prepared, answer, exposed, budget, progress)
    problem = judgement.problem
    if notes := exposed.notes(result):
        problem = replace(problem, notes=(*problem.notes, *notes))
    release = Release(
        prepared.table,
        problem,
        result,
        judgement.of_table(prepared.table),
        prepared.assessment,
        remaining,
        {**_settings(prepared), **_settings_of_hiding(prepared)},
        request.title,
        request.separate_statuses,
        request.decimals,
        request.allow_unsafe,
        provenance(prepared),
        unit=request.unit,
        source=request.source_line,
        trace=trace.until(result.cost, result.bound, budget.work),
    )
    if prepared.earlier is None:
        return release
    budget.report("audit", answer.result.cost, answer.result.bound, message="beside the last release")
    looking = judging(budget, request.limits, request.progress)
    return beside(release, request.previous, prepared.earlier, prepared.disclosed, looking, request.executor)


def _judged(
    prepared: Prepared, answer: Answer, exposed: Sums, budget: Budget, progress: Callable[[Progress], None] | None
) -> tuple[SuppressionResult, Audit, tuple[UnionExposure, ...]]:
    """Return the pattern, the judgement on it and on the sums that it gives away, and these sums."""
    request = prepared.request
    how: dict[str, Any] = {"progress": progress, "executor": request.executor}
    result, judgement = judge(
        answer.problem, answer.result, budget, request.limits,
        allow_unsafe=request.allow_unsafe, options=request.hiding.options, **how,
    )  # fmt: skip
    if judgement.safe and result.status == "unknown":
        judged = found_safe(result)
        remaining = exposed(judged)
        result = result if remaining else judged
    else:
        remaining = answer.sums if result is answer.result else exposed(result)
    if remaining and result.stopped and request.unions == "repair":
        # what is left of a search that was to protect these sums, too, is no verdict on the table
        result = replace(result, status="unknown", safe=False, cost=None)
    if remaining and (result.status != "unknown" or request.allow_unsafe):
        result, judgement = judge_sums(result, judgement, remaining, budget, request.limits, **how)
        if judgement.safe:
            # a look within limits counts as exposed what it did not decide
            result, remaining = result if result.safe else found_safe(result), ()
    elif remaining:
        judgement = replace(judgement, not_safe=tuple(sum_.reason for sum_ in remaining))
    if request.intervals:
        judgement = explored(judgement, budget, request.limits, **how)
    return result, judgement, remaining


def _changed(prepared: Prepared) -> ChangedRelease:
    """Change values, and let the intruder who knows the method judge them, for as long as `judge` would."""
    trace = Trace(prepared.request.progress)
    request = prepared.request.model_copy(update={"progress": trace})
    prepared = replace(prepared, request=request)
    search = prepared.budget()
    asked = levels_for_others(prepared.problem, prepared.lowered)
    problem = asked.judged
    changed, judgement = _values(prepared, prepared.method, asked), None
    if changed.values is not None:
        search.report("audit", changed.cost, changed.bound)
        budget = judging(search, request.limits, trace)
        seen = seeing(problem, values_with_sums(problem, changed.values), changed.claim)
        of = problem.primaries
        judgement = audit(seen, seen.may_hide, intervals=False, of=of, budget=budget, executor=request.executor)
        if budget.stopped and judgement.undecided:
            changed = _undecided(changed, judgement)
        if request.intervals:
            judgement = explored(judgement, search, request.limits, progress=trace, executor=request.executor, of=of)
        judgement = judgement.of_table(prepared.table, changed=True)
    settings = {"method": str(prepared.method), **_settings(prepared)}
    release = ChangedRelease(
        prepared.table, problem, changed, judgement, prepared.assessment, settings, request.title,
        request.allow_unsafe, provenance(prepared), request.unit, request.source_line,
        trace.until(changed.cost, changed.bound),
    )  # fmt: skip
    if judgement is not None and (release.safe or request.allow_unsafe):
        found = release.verify()
        if not found.ok:
            raise SolverError(f"the check of the certificate refused it ({found.failures[0]}); please report this")
    return release


def _undecided(changed: Changed, judgement: Audit) -> Changed:
    """Return values of which nobody knows whether they are safe, since the audit was ended."""
    said = f"the audit was ended with {counted(len(judgement.exposures), 'level')} not decided"
    message = "; ".join(filter(None, (changed.message, said)))
    return replace(changed, status="unknown", stopped=True, message=message)


def _settings(prepared: Prepared) -> dict[str, Any]:
    """Return what was asked for, for the internal report."""
    request, table, limits = prepared.request, prepared.table, prepared.request.limits
    roles = table.roles
    return {
        "rules": [str(rule) for rule in request.rules],
        "levels": request.levels,
        "value": table.value_name,
        "dimensions": [str(d.name) for d in table.dimensions],
        "shadow": roles.get("shadow"),
        "contributor": roles.get("contributor"),
        "holding": roles.get("holding"),
        "sampling weight": roles.get("weight"),
        "external bounds": bounds_in_words(request.bounds),
        "singletons attack": request.singletons,
        "attackers": {name: [str(cell) for cell in cells] for name, cells in request.attackers.items()} or None,
        "seed": prepared.seed,
        "time limit (seconds)": limits.seconds,
        "work limit": limits.work,
        "memory limit (bytes)": limits.memory,
        "gap limit": limits.gap,
    }


def _settings_of_hiding(prepared: Prepared) -> dict[str, Any]:
    request, how, table = prepared.request, prepared.request.hiding, prepared.table
    by_default = table.roles.get("cost") or ("cost" if "cost" in table.columns else "value")
    return {
        "recoding": prepared.rolled,
        "cost": by_default if how.cost is None else how.cost if isinstance(how.cost, str) else "as given",
        "cost transform": None if how.transform is None else str(how.transform),
        "preferences": None if how.preferences is None else str(dict(how.preferences)),
        "random costs": how.random_costs or None,
        "search": how.method,
        **({"options": options} if (options := differing(how.options)) else {}),
        "engine": how.engine if how.solver is None else f"{how.engine} ({how.solver})",
        "sums of hidden cells": request.unions,
        "hidden cells protected": request.protect_hidden,
        "separate statuses": request.separate_statuses,
        "decimals": request.decimals,
    }


def _values(prepared: Prepared, method: Method, asked: LevelsForOthers) -> Changed:
    """Carry a method out, within the limits of the request; values are the floats that published decimals read as."""
    request = prepared.request
    Budget(progress=request.progress).report(method.name)
    call = Call(asked.aimed, request.limits, prepared.seed, request.progress, None, prepared.table)
    changed = method.change(call)
    return (
        changed
        if changed.values is None
        else replace(changed, values=_as_printed(changed.values, asked.aimed, changed.claim["fixed"]))
    )


def _as_printed(values: npt.NDArray[np.float64], problem: Problem, fixed: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return the floats that the published decimals read back as; fixed cells keep every digit."""
    places = decimals_of(values)
    printed = values.copy() if places is None else np.round(values, places) + 0.0
    printed[fixed] = problem.values[fixed]
    return printed
