"""The front door: from data to a release in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal, overload

from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.suppression.method import Suppress

if TYPE_CHECKING:
    from concurrent.futures import Executor
    from os import PathLike
    from typing import TypedDict, Unpack

    from tabprotect.methods.base.method import Method as Choice
    from tabprotect.methods.suppression.result import SuppressionResult
    from tabprotect.release.changed import ChangedRelease
    from tabprotect.release.suppressed import Release
    from tabprotect.seeds import Seed
    from tabprotect.sensitivity.assess import Levels, Rules
    from tabprotect.sensitivity.bounds import Bounds
    from tabprotect.sensitivity.unions import UnionExposure
    from tabprotect.solver.limits import Limits, Progress
    from tabprotect.table.dimension import Dimension
    from tabprotect.table.hierarchy import Hierarchy

    class _Options(TypedDict, total=False):
        """What `protect` takes besides data, rules and method."""

        by: Sequence[Dimension | str | Sequence[str]] | Dimension | str | None
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
        hierarchies: Mapping[str, Hierarchy] | None
        levels: Levels
        bounds: Bounds | None
        singletons: bool
        unions: Literal["repair", "audit", "off"]
        protect_hidden: bool
        limits: Limits | None
        seed: Seed | None
        intervals: bool
        title: str
        separate_statuses: bool
        decimals: int | None
        allow_unsafe: bool
        progress: Callable[[Progress], None] | None
        executor: Executor | None
        resume: str | PathLike[str] | None


__all__ = ["protect"]

LEVELS_SHARE = 0.2
"""Part of the limits for finding out which levels nothing can provide against respondents who know cells."""

HIDDEN_ROUNDS = 5
"""Searches, at most, each with levels for the secondary cells that everybody could compute after the one before."""

TOP = 3
"""Contributions kept per cell, at least: sums of hidden cells are judged by the largest of each."""


@overload
def protect(
    data: Any, rules: Rules, method: Suppress | Recode | None = None, **options: Unpack[_Options]
) -> Release: ...


@overload
def protect(data: Any, rules: Rules, method: Choice, **options: Unpack[_Options]) -> ChangedRelease: ...


@overload
def protect(
    data: Any, rules: Rules, method: Suppress | Recode | Choice, **options: Unpack[_Options]
) -> Release | ChangedRelease: ...


def protect(
    data: Any,
    rules: Rules,
    method: Suppress | Choice | Recode | None = None,
    *,
    by: Sequence[Dimension | str | Sequence[str]] | Dimension | str | None = None,
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
    hierarchies: Mapping[str, Hierarchy] | None = None,
    levels: Levels = "symmetric",
    bounds: Bounds | None = None,
    singletons: bool = True,
    unions: Literal["repair", "audit", "off"] = "repair",
    protect_hidden: bool = False,
    limits: Limits | None = None,
    seed: Seed | None = None,
    intervals: bool = True,
    title: str = "Protected table",
    separate_statuses: bool = False,
    decimals: int | None = None,
    allow_unsafe: bool = False,
    progress: Callable[[Progress], None] | None = None,
    executor: Executor | None = None,
    resume: str | PathLike[str] | None = None,
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
        How to protect; by default cells are hidden at the cost of their values. `Recode` rolls categories up before.
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
    limits : Limits, optional
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
    import numpy as np

    from tabprotect.attack.audit import NEARLY, audit, without_level
    from tabprotect.attack.insiders import within_reach
    from tabprotect.attack.sums import known_too_closely
    from tabprotect.errors import InputError
    from tabprotect.methods.base.method import Method as Choice
    from tabprotect.methods.cell_key.method import CellKey
    from tabprotect.methods.record_swapping.method import Swap
    from tabprotect.methods.suppression.suppress import store_for
    from tabprotect.release.suppressed import Release
    from tabprotect.sensitivity.assess import assess, needs, smallest_level
    from tabprotect.sensitivity.build import make_problem
    from tabprotect.sensitivity.costs import raised
    from tabprotect.sensitivity.hidden import levels_for_hidden, published_instead, widths_for_hidden
    from tabprotect.sensitivity.parse import as_rules
    from tabprotect.sensitivity.unions import dominated_sums, union_exposures
    from tabprotect.solver.limits import Budget, Limits
    from tabprotect.solver.tasks.pieces import Means
    from tabprotect.table.duck import share_of
    from tabprotect.table.link.clusters import cells_by_table
    from tabprotect.table.table import Table
    from tabprotect.table.tabulate import tabulate
    from tabprotect.workflow.judge import judge, of_search
    from tabprotect.workflow.recode import recode_microdata, roll_up
    from tabprotect.workflow.sums import PASSES, suppress_with_sums
    from tabprotect.workflow.swap import swap_table
    from tabprotect.workflow.values import change_values, draw_seed, keys_of_cells, microdata, numbers_of, refuse

    method = method or Suppress()
    if not isinstance(method, Suppress | Recode | Choice):
        raise InputError(f"method must be such as Suppress(method='exact') or Round(base=5), not {method!r}")
    how = method if isinstance(method, Suppress) else method.then if isinstance(method, Recode) else Suppress()
    limits = limits or Limits()
    if isinstance(method, Choice):
        for_hidden = {
            "unions": unions != "repair",
            "separate_statuses": separate_statuses,
            "decimals": decimals,
            "resume": resume,
            "protect_hidden": protect_hidden,
        }
        refuse(method, [name for name, value in for_hidden.items() if value not in (None, False)])
    drawn = draw_seed(method, seed)
    if unions not in ("repair", "audit", "off"):
        raise InputError(f"unions must be 'repair', 'audit' or 'off', not {unions!r}")
    wanted = as_rules(rules)
    budget = Budget(of_search(limits), progress)
    of_data = {
        "by": by, "value": value, "shadow": shadow, "cost": cost, "contributor": contributor, "holding": holding,
        "weight": weight, "request": request, "waiver": waiver, "kind": kind, "empty": empty,
        "hierarchies": hierarchies,
    }  # fmt: skip
    if isinstance(data, Table):
        given = [name for name, word in of_data.items() if word is not None]
        if given:
            raise InputError(f"{', '.join(given)} belong to microdata; the table is finished already")
        table = data
    else:
        if by is None:
            raise InputError("microdata need by=, the columns of the dimensions")
        budget.report("tabulate")
        if isinstance(method, Recode) and method.rules:
            data = recode_microdata(data, method.rules, numbers_of(of_data))
        if isinstance(method, Swap):
            # swapped records may fill cells that are empty, so nobody knows these to be
            data, of_data["empty"] = microdata(data, numbers_of(of_data)), empty or "zero"
        memory = None if limits.memory is None else share_of(limits.memory)
        top = max(TOP, needs(wanted), method.contributions if isinstance(method, Choice) else 0)
        table = tabulate(data, top=top, memory_limit=memory, **of_data)  # type: ignore[arg-type]
        if isinstance(method, Swap):
            method = replace(method, swapped=swap_table(data, table, method, drawn, of_data, wanted, levels))
    tables = cells_by_table(table) if table.parts else {}
    if how.method == PASSES and not tables:
        raise InputError("method 'passes' goes table by table through linked tables, and this is one table")
    budget.report("rules", message=f"{table.n_cells:,} cells")
    assessment = assess(table, wanted, levels=levels)
    rolled = None
    if isinstance(method, Recode) and method.least:
        table, rolled = roll_up(table, assessment, method.keep, limits, progress)
        assessment = assess(table, wanted, levels=levels)
    if protect_hidden:
        assessment = levels_for_hidden(assessment, levels)
    problem = make_problem(
        table,
        assessment,
        cost=how.cost,
        transform=how.transform,
        preferences=how.preferences,
        bounds=bounds,
        singletons=singletons,
    )
    if how.random_costs and not isinstance(method, Choice):
        problem = replace(problem, weights=raised(problem.weights, how.random_costs, drawn))

    budget.report("levels")
    with budget.part(LEVELS_SHARE) as part:
        problem = within_reach(problem, part)
    settings: dict[str, Any] = {
        "rules": [str(rule) for rule in wanted],
        "levels": levels,
        "value": table.value_name,
        "dimensions": [str(d.name) for d in table.dimensions],
        "shadow": shadow,
        "contributor": contributor,
        "holding": holding,
        "sampling weight": weight,
        "external bounds": None if bounds is None else "as given" if not _short(bounds) else str(bounds),
        "singletons attack": singletons,
        "seed": drawn,
        "time limit (seconds)": limits.seconds,
        "work limit": limits.work,
        "memory limit (bytes)": limits.memory,
        "gap limit": limits.gap,
    }
    if isinstance(method, Choice):
        keys = None
        if isinstance(method, CellKey) and method.keys is None and by is not None:
            keys = keys_of_cells(data, method, drawn, by, hierarchies, empty)
        return change_values(
            table, assessment, problem, method, keys=keys, seed=drawn, limits=limits, intervals=intervals,
            settings={"method": str(method), **settings}, title=title, allow_unsafe=allow_unsafe, progress=progress,
            executor=executor,
        )  # fmt: skip

    unlooked: list[str] = []

    def exposed(result: SuppressionResult) -> tuple[UnionExposure, ...]:
        if unions == "off":
            return ()
        unlooked.clear()
        found = union_exposures(
            table, wanted, result.pattern, levels=levels, attackers=problem.attackers, notes=unlooked
        )
        if found or not result.safe:
            return found
        dominated = dominated_sums(table, wanted, result.pattern, levels=levels)
        return known_too_closely(result.problem, result.pattern, dominated, budget)

    widened = np.zeros(0, np.int64)
    for last in (*[False] * (HIDDEN_ROUNDS if protect_hidden else 0), True):
        answer = suppress_with_sums(
            problem,
            exposed,
            budget,
            repair=unions == "repair",
            method=how.method,
            seed=drawn,
            engine=how.engine,
            solver=how.solver,
            means=Means(executor, store_for(problem, resume)),
            tables=tables,
        )
        problem = answer.problem
        out_of_reach = np.intersect1d([u.cell for u in answer.result.unprotectable], widened).astype(np.int64)
        if last or not (answer.result.safe or len(out_of_reach)):
            break
        if len(out_of_reach):
            problem = published_instead(problem, out_of_reach)
            continue
        bare = without_level(problem, answer.result.pattern)
        looked = audit(problem, answer.result.pattern, of=bare, budget=budget, executor=executor)
        if not len(looked.left_open):
            break
        widened = np.union1d(widened, looked.left_open)
        problem = widths_for_hidden(problem, looked.left_open, NEARLY, smallest_level(table))
    budget.report("audit", answer.result.cost, answer.result.bound)
    result, judgement = judge(
        problem, answer.result, budget, limits, intervals=intervals, allow_unsafe=allow_unsafe, progress=progress,
        executor=executor,
    )  # fmt: skip
    remaining = answer.sums if result is answer.result else exposed(result)
    if unlooked:
        problem = replace(problem, notes=(*problem.notes, *unlooked))
    settings |= {
        "recoding": rolled,
        "cost": how.cost if isinstance(how.cost, str | None) else "as given",
        "cost transform": None if how.transform is None else str(how.transform),
        "preferences": None if how.preferences is None else str(dict(how.preferences)),
        "random costs": how.random_costs or None,
        "search": how.method,
        "engine": how.engine if how.solver is None else f"{how.engine} ({how.solver})",
        "sums of hidden cells": unions,
        "hidden cells protected": protect_hidden,
        "separate statuses": separate_statuses,
        "decimals": decimals,
    }
    return Release(
        table,
        problem,
        result,
        judgement,
        assessment,
        remaining,
        settings,
        title,
        separate_statuses,
        decimals,
        allow_unsafe,
    )


def _short(bounds: Any) -> bool:
    return isinstance(bounds, str) or all(isinstance(side, int | float | str | None) for side in bounds)
