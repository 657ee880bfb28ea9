"""The front door: from data to a release in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.suppression.method import Suppress

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from os import PathLike
    from typing import TypedDict, Unpack

    from tabprotect.methods.base.method import Method as Choice
    from tabprotect.release.changed import ChangedRelease
    from tabprotect.release.earlier import Previous
    from tabprotect.release.suppressed import Release
    from tabprotect.seeds import Seed
    from tabprotect.sensitivity.assess import Levels, Rules
    from tabprotect.sensitivity.bounds import Bounds
    from tabprotect.solver.limits import Limits, Progress
    from tabprotect.table.dimension import By, Hierarchies

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
        levels: Levels
        bounds: Bounds | None
        singletons: bool
        unions: Literal["repair", "audit", "off"]
        protect_hidden: bool
        limits: Limits | float | None
        seed: Seed | None
        intervals: bool
        title: str
        separate_statuses: bool
        decimals: int | None
        allow_unsafe: bool
        progress: Callable[[Progress], None] | None
        executor: Executor | None
        resume: str | PathLike[str] | None
        previous: str | PathLike[str] | Sequence[bool] | Previous | None


__all__ = ["protect"]


@overload
def protect(
    data: Any, rules: Rules, method: Suppress | Recode | None = None, **options: Unpack[_Options]
) -> Release: ...


@overload
def protect(data: Any, rules: Rules, method: Choice, **options: Unpack[_Options]) -> ChangedRelease: ...


@overload
def protect(
    data: Any, rules: Rules, method: Suppress | Recode | Choice | str, **options: Unpack[_Options]
) -> Release | ChangedRelease: ...


def protect(
    data: Any,
    rules: Rules,
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
    levels: Levels = "symmetric",
    bounds: Bounds | None = None,
    singletons: bool = True,
    unions: Literal["repair", "audit", "off"] = "repair",
    protect_hidden: bool = False,
    limits: Limits | float | None = None,
    seed: Seed | None = None,
    intervals: bool = True,
    title: str = "Protected table",
    separate_statuses: bool = False,
    decimals: int | None = None,
    allow_unsafe: bool = False,
    progress: Callable[[Progress], None] | None = None,
    executor: Executor | None = None,
    resume: str | PathLike[str] | None = None,
    previous: str | PathLike[str] | Sequence[bool] | Previous | None = None,
) -> Release | ChangedRelease:
    """Find the sensitive cells of a table, hide or change as little as possible to protect them, and prove it.

    Parameters
    ----------
    data : Table or microdata
        A finished `Table`, or anything that `tabprotect.tabulate` takes; then `by` and what follows it (to
        `hierarchies`) are handed to it.
    rules : rules
        Such as ``["p%=15", "threshold=3"]``; see `tabprotect.assess`.
    method : Suppress, Recode, Round, Adjust, ..., optional
        How to protect, or the name of a method with its defaults.
        By default cells are hidden at the cost of their values. `Recode` rolls categories up before.
        All others change values: `Round`, `UnbiasedRound`, `SuccessiveRound`, `RandomRound`, `ConventionalRound`,
        `Adjust`, `SmallCounts`, `CellKey`, `Swap`.
    levels, bounds, singletons
        Protection levels, external bounds and intruders who know cells; see `tabprotect.make_problem`.
    unions : {'repair', 'audit', 'off'}
        Sums of hidden cells that everybody can compute and that are sensitive themselves: protect them too, only
        find them (the release is not safe if there are any), or do not look. Only where cells are hidden.
    protect_hidden : bool
        Hidden cells that no rule asks levels for get some, too. Cells that are suppressed already (status 'm', 'x')
        get those of cells marked by hand (`tabprotect.Manual`, 20 % of the value by default). Secondary cells that
        everybody could compute, exactly or to within 1 % of the value, get an interval as wide as that, and the
        search is made again. Without it such cells are a warning.
    limits : Limits or float, optional
        A number is one of seconds.
        For the search, over all its rounds. What it finds is always judged in full; a tenth of a limit in seconds is
        set aside for that.
    seed : int or numpy.random.Generator, optional
        The same seed, data and limits (counted in work) give the same release. Without one, methods that draw
        values at random draw a fresh seed, which only the internal files tell; all others are the same every time.
    intervals : bool
        Compute the intruder's interval of every hidden cell now (for the internal report), as far as a limit of time
        leaves time for that; else when asked for. Where values are changed, of every sensitive cell.
    title : str
        Heading of the pages; public.
    separate_statuses : bool
        Tell the public which hidden cells are primary.
    decimals : int, optional
        Round published values.
    allow_unsafe : bool
        Let a release that is not safe be written; the internal report says so loudly.
    progress : callable, optional
        Is handed a `tabprotect.Progress` now and then.
    executor : concurrent.futures.Executor, optional
        Works on independent parts of the search and on the intruder's intervals side by side; see
        `tabprotect.suppress`.
    resume : path, optional
        A folder (confidential) where finished pieces of the search are kept: the same call goes on there after it was
        killed. Under limits of work, or none, the release is that of a run in one go.
    previous : path, sequence of bool, or Previous, optional
        The folder of the last period's release, or which cells of the table were hidden: these cost a tenth now, so
        that the pattern is kept where it can be. `Previous` sets the factor, keeps them hidden, or says that both
        releases are of the same quantities and are audited together. ``release.carried`` says what is kept, new and
        given up. Only where cells are hidden, without recoding.

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
    from tabprotect.errors import InputError
    from tabprotect.solver.limits import Limits
    from tabprotect.table.table import Table
    from tabprotect.workflow.carry_out import carry_out
    from tabprotect.workflow.request import Request
    from tabprotect.workflow.source import Finished, Records

    of_data = {
        "by": by, "value": value, "shadow": shadow, "cost": cost, "contributor": contributor, "holding": holding,
        "weight": weight, "request": request, "waiver": waiver, "kind": kind, "empty": empty,
        "hierarchies": hierarchies,
    }  # fmt: skip
    given = [name for name, word in of_data.items() if word is not None]
    finished = isinstance(data, Table)
    asked = Request.of(
        source=Finished(data) if finished else Records(data, of_data),
        rules=rules, method=method, levels=levels, bounds=bounds, singletons=singletons, unions=unions,
        protect_hidden=protect_hidden, limits=Limits() if limits is None else limits, seed=seed, intervals=intervals,
        title=title, separate_statuses=separate_statuses, decimals=decimals, allow_unsafe=allow_unsafe,
        progress=progress, executor=executor, resume=resume, previous=previous,
    )  # fmt: skip
    if finished and given:
        raise InputError(f"{', '.join(given)} belong to microdata; the table is finished already")
    if not finished and by is None:
        raise InputError("microdata need by=, the columns of the dimensions")
    return carry_out(asked)
