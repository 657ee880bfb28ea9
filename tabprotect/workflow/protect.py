"""The front door: from data to a release in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.suppression.method import Suppress

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from os import PathLike
    from typing import TypedDict, Unpack

    from tabprotect.methods.base.method import Method as Choice
    from tabprotect.problem import Attacker
    from tabprotect.release.changed import ChangedRelease
    from tabprotect.release.earlier import Previous
    from tabprotect.release.suppressed import Release
    from tabprotect.seeds import Seed
    from tabprotect.sensitivity.assess import Levels
    from tabprotect.sensitivity.bounds import Bounds
    from tabprotect.sensitivity.requirements import Rules
    from tabprotect.solver.limits import Limits, Progress
    from tabprotect.table.dimension import By
    from tabprotect.table.hierarchy.given import Hierarchies

    class _Options(TypedDict, total=False):
        """What `protect` takes besides data, rules and method."""

        by: By | None
        value: str | None
        shadow: str | None
        cost: str | None
        contributor: str | None
        holding: str | None
        weight: str | None
        request: str | None
        waiver: str | None
        kind: Literal["magnitude", "frequency"] | None
        empty: Literal["zero", "structural", "drop"] | None
        hierarchies: Hierarchies | None
        holding_rules: Rules | None
        levels: Levels
        bounds: Bounds | None
        singletons: bool
        attackers: Mapping[str, Sequence[Any]] | Sequence[Attacker] | None
        unions: Literal["repair", "audit", "off"]
        protect_hidden: bool
        limits: Limits | float | None
        seed: Seed | None
        intervals: bool
        title: str
        unit: str
        source: str
        separate_statuses: bool
        decimals: int | None
        allow_unsafe: bool
        progress: Callable[[Progress], None] | None
        executor: Executor | None
        resume: str | PathLike[str] | None
        previous: str | PathLike[str] | Sequence[bool] | Previous | None


__all__ = ["Changing", "Hiding", "protect"]

Hiding = Literal[
    "auto", "exact", "greedy", "local", "modular", "hypercube", "network", "joint", "passes", "recode",
    "open-classes", "granularity",
]  # fmt: skip
"""Names of methods that hide cells, for type checkers."""

Changing = Literal[
    "adjust", "round", "unbiased-round", "successive-round", "random-round", "conventional-round", "small-counts",
    "cell-key", "swap",
]  # fmt: skip
"""Names of methods that change values, for type checkers."""


@overload
def protect(
    data: Any, rules: Rules | None = None, method: Suppress | Recode | Hiding | None = None, **options: Unpack[_Options]
) -> Release: ...


@overload
def protect(
    data: Any, rules: Rules | None, method: Choice | Changing, **options: Unpack[_Options]
) -> ChangedRelease: ...


@overload
def protect(
    data: Any, rules: Rules | None, method: Suppress | Recode | Choice | str, **options: Unpack[_Options]
) -> Release | ChangedRelease: ...


def protect(
    data: Any,
    rules: Rules | None = None,
    method: Suppress | Choice | Recode | str | None = None,
    *,
    by: By | None = None,
    value: str | None = None,
    shadow: str | None = None,
    cost: str | None = None,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    request: str | None = None,
    waiver: str | None = None,
    kind: Literal["magnitude", "frequency"] | None = None,
    empty: Literal["zero", "structural", "drop"] | None = None,
    hierarchies: Hierarchies | None = None,
    holding_rules: Rules | None = None,
    levels: Levels = "symmetric",
    bounds: Bounds | None = None,
    singletons: bool = True,
    attackers: Mapping[str, Sequence[Any]] | Sequence[Attacker] | None = None,
    unions: Literal["repair", "audit", "off"] = "repair",
    protect_hidden: bool = False,
    limits: Limits | float | None = None,
    seed: Seed | None = None,
    intervals: bool = True,
    title: str = "Protected table",
    unit: str = "",
    source: str = "",
    separate_statuses: bool = False,
    decimals: int | None = None,
    allow_unsafe: bool = False,
    progress: Callable[[Progress], None] | None = None,
    executor: Executor | None = None,
    resume: str | PathLike[str] | None = None,
    previous: str | PathLike[str] | Sequence[bool] | Previous | None = None,
    **unknown: Any,
) -> Release | ChangedRelease:
    """Find the sensitive cells of a table, hide or change as little as possible to protect them, and prove it.

    Parameters
    ----------
    data : Table or microdata
        A finished `Table`, or anything that `tabprotect.tabulate` takes: frame, path, relation.
    rules : rules, optional
        Such as ``["p%=15", "threshold=3"]``; see `tabprotect.assess`. To be left out where `holding_rules`, or
        statuses or levels of a finished table, say which cells are sensitive.
    method : Suppress, Recode, Round, Adjust, ... or str, optional
        How to protect, or its name; by default cells are hidden at the cost of their values. `Recode` rolls up before.
    by, value, shadow, cost : str, sequence or mapping
        Of microdata: the dimensions, and the columns that are added up; see `tabprotect.tabulate`.
    contributor, holding, weight, request, waiver : str, optional
        Of microdata: columns that say who contributes, and what follows from that.
    kind, empty, hierarchies
        Of microdata: magnitudes or counts, what empty cells are, and the hierarchy of each dimension (or its file).
    holding_rules : rules, optional
        Rules that look at holdings, beside `rules`, which then look at contributors: a cell is sensitive by either.
    levels, bounds, singletons
        Protection levels, external bounds, and whether single contributors attack; see `tabprotect.make_problem`.
    attackers : mapping of str to sequence of cells, or sequence of Attacker, optional
        Further intruders by name, and the cells that each knows, such as ``{"tax office": ["N x a", ("S", "b")]}``.
        Sums of hidden cells are looked at for the public and for respondents only. Of codes that `Recode` gives up
        above a known cell the parts stay in the system: not published, but audited.
    unions : {'repair', 'audit', 'off'}
        Sensitive sums of hidden cells: protect them too, only find them (then the release is not safe), or neither.
    protect_hidden : bool
        Give levels to hidden cells that no rule asks levels for: suppressed already, or secondary and recomputable.
    limits : Limits or float, optional
        Of the search, over all rounds; a number is one of seconds. A tenth of the seconds is kept for the judgement.
    seed : int or numpy.random.Generator, optional
        Same seed, data and work limit, same release. By default methods that draw values take a fresh secret seed.
    intervals : bool
        Compute the intruder's intervals now, as far as time allows; else when asked for.
    title, unit, source : str
        Heading of the pages, unit of the values such as "1,000 EUR", and who they are from; public.
    separate_statuses : bool
        The public sees which hidden cells are primary.
    decimals : int, optional
        Round published values to so many decimals, and write them with all of these.
    allow_unsafe : bool
        A release that is not safe can be written; the internal report warns.
    progress : callable, optional
        Called with a `tabprotect.Progress` every few seconds.
    executor : concurrent.futures.Executor, optional
        Runs independent parts of the search in parallel; see `tabprotect.suppress`.
    resume : path, optional
        Confidential folder of finished pieces: the same call continues there after an interruption.
    previous : path, sequence of bool, or Previous, optional
        The last period's release, or which cells it hid: these cost a tenth; see `tabprotect.Previous`.
    **unknown
        Refused, with the name that is meant.

    Returns
    -------
    Release or ChangedRelease
        Also when no safe pattern was found: then ``release.safe`` is False, ``release.summary()`` says why, and nothing
        can be written. The second where values are changed; both can do what `tabprotect.release.publication` says.

    Raises
    ------
    InputError
        Everything that is wrong with the data, or that a rule lacks.

    Examples
    --------
    >>> import pandas as pd
    >>> firms = pd.DataFrame({"region": list("nnnnnsssss"), "size": list("bbbssbbsss"),
    ...     "firm": range(10), "turnover": [90, 5, 4, 40, 50, 20, 30, 60, 10, 20]})
    >>> release = protect(firms, "p%=15", by=["region", "size"], value="turnover", contributor="firm")
    >>> release
    Release('Protected table': 9 cells, 4 hidden, safe)
    >>> release.published[["region", "size", "turnover", "status"]].tail(3)
      region   size  turnover      status
    6      s  Total       140   published
    7      s      b      <NA>  suppressed
    8      s      s      <NA>  suppressed

    The same table, rounded; no cell tells that it is sensitive:

    >>> from tabprotect.methods.rounding.method import Round
    >>> rounded = protect(firms, "p%=15", Round(base=20), by=["region", "size"], value="turnover", contributor="firm")
    >>> rounded.published.tail(3)
      region   size  turnover
    6      s  Total       140
    7      s      b        40
    8      s      s       100
    """
    from tabprotect.solver.limits import Limits
    from tabprotect.workflow.beforehand import asked_for
    from tabprotect.workflow.carry_out import carry_out

    roles: dict[str, Any] = {
        "by": by, "value": value, "shadow": shadow, "cost": cost, "contributor": contributor, "holding": holding,
        "weight": weight, "request": request, "waiver": waiver, "kind": kind, "empty": empty,
        "hierarchies": hierarchies,
    }  # fmt: skip
    asked = asked_for(
        data, roles, rules, holding_rules, unknown,
        method=method, levels=levels, bounds=bounds, singletons=singletons, attackers=attackers, unions=unions,
        protect_hidden=protect_hidden, limits=Limits() if limits is None else limits, seed=seed, intervals=intervals,
        title=title, unit=unit, source_line=source, separate_statuses=separate_statuses, decimals=decimals,
        allow_unsafe=allow_unsafe, progress=progress, executor=executor, resume=resume, previous=previous,
    )  # fmt: skip
    return carry_out(asked)
