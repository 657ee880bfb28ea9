"""Settings of the clusters of a protocol, compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tabprotect.comparison.approaches import Approach, Hide, RollUp
from tabprotect.comparison.compare import Comparison, Line, compare
from tabprotect.errors import InputError
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.suppression.method import Suppress
from tabprotect.solver.limits import Limits, Progress
from tabprotect.workflow.protocol.develop import Trial
from tabprotect.workflow.protocol.period import Period
from tabprotect.workflow.request import Request

__all__ = ["settings_of", "try_settings"]

COSTS = ("cost", "random_costs")


def settings_of(approach: Approach) -> dict[str, Any]:
    """Return what a protocol says for a method.

    Examples
    --------
    >>> from tabprotect.comparison.approaches import parse_approach
    >>> settings_of(parse_approach("suppress:method=modular")), settings_of(parse_approach("round:base=5"))
    ({'method': 'modular'}, {'method': 'round', 'options': {'base': 5.0}})
    """
    if approach.name == Hide.name:
        return {"method": approach.choice.method}
    options = dict(approach.options)
    return {"method": approach.name, **({"options": options} if options else {})}


def try_settings(
    period: Period,
    cluster: str,
    settings: Sequence[Mapping[str, Any]],
    *,
    limits: Limits | None = None,
    stop: Callable[[], bool] | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> tuple[list[Trial], list[Comparison]]:
    """Run settings of a cluster, each on the problem that it asks for, and judge what each leaves to an intruder.

    Parameters
    ----------
    period : Period
    cluster : str
    settings : sequence of mapping
        In the place of those of the protocol.
    limits : Limits, optional
        Of each search and of each judgement; by default those of the request.
    stop, progress : callable, optional

    Raises
    ------
    InputError
        Settings that do not go together.
    """
    trials, comparisons = [], []
    for number, given in enumerate(settings, 1):
        request = period.request(cluster, **given)
        limit = limits or request.limits
        limit = Limits(limit.seconds, limit.work, limit.gap, stop, request.limits.memory)
        try:
            found = compare(
                request,
                [_approach(request, period, cluster, given)],
                limits=limit,
                audit_limits=Limits(limit.seconds, stop=stop),
                title=f"{cluster}, trial {number}",
                progress=progress,
            )
        except InputError as error:
            raise InputError(*(f"{cluster}, trial {number}: {problem}" for problem in error.problems)) from error
        trials.append(_trial(cluster, number, given, found.lines[0]))
        comparisons.append(found)
    return trials, comparisons


def _approach(request: Request, period: Period, cluster: str, given: Mapping[str, Any]) -> Approach:
    method = request.method
    if isinstance(method, Suppress):
        return Approach(Hide.name, {"method": method.method})
    if isinstance(method, Recode):
        return Approach(RollUp.name)
    spec = period.protocol.spec(period.clusters[cluster], {**period.protocol.settings.get(cluster, {}), **given})
    return Approach(method.name, spec.options)


def _trial(cluster: str, number: int, given: Mapping[str, Any], line: Line) -> Trial:
    hides = line.approach.name == Hide.name
    return Trial(
        cluster, number, dict(given), str(line.approach), line.status, round(line.seconds, 3), line.cost, line.bound,
        None if line.loss is None else line.loss.hidden, None if line.loss is None else line.loss.changed,
        None if line.risk is None else line.risk.exposed, None if line.risk is None else line.risk.undecided,
        hides and not any(name in given for name in COSTS), line.message,
    )  # fmt: skip
