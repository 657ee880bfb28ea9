"""The front door: from data to a release in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from tabprotect.methods.suppression.result import SuppressionResult
    from tabprotect.release import Release
    from tabprotect.sensitivity.assess import Levels, Rules
    from tabprotect.sensitivity.bounds import Bounds
    from tabprotect.sensitivity.costs import Preferences, Transform
    from tabprotect.sensitivity.unions import UnionExposure
    from tabprotect.solver.limits import Budget, Limits, Progress
    from tabprotect.table.dimension import Dimension
    from tabprotect.table.hierarchy import Hierarchy

__all__ = ["Suppress", "protect"]

TOP = 3
"""Contributions kept per cell, at least: sums of hidden cells are judged by the largest of each."""


@dataclass(frozen=True)
class Suppress:
    """Hide cells, at the least cost.

    Parameters
    ----------
    cost : str or sequence of float, optional
        What hiding a cell costs: 'value', 'unit', 'count', the name of a column, or numbers; see
        `tabprotect.sensitivity.costs.costs`. By default the column ``cost`` of the table, else the value.
    method : {'auto', 'exact', 'greedy', 'modular', 'hypercube', 'network', 'joint'}
    transform : callable, optional
        Applied to the costs, such as `tabprotect.BoxCox`.
    preferences : mapping, optional
        Factors on the costs by dimension and level.
    engine : {'scip', 'highs', 'pyomo'}
        What solves the programmes.
    solver : str, optional
        The solver behind engine='pyomo'.
    """

    cost: Any = None
    method: str = "auto"
    transform: Transform | None = None
    preferences: Preferences | None = None
    engine: str = "scip"
    solver: str | None = None


def protect(
    data: Any,
    rules: Rules,
    method: Suppress | None = None,
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
    limits: Limits | None = None,
    seed: int = 0,
    intervals: bool = True,
    title: str = "Protected table",
    separate_statuses: bool = False,
    decimals: int | None = None,
    allow_unsafe: bool = False,
    progress: Callable[[Progress], None] | None = None,
    executor: Executor | None = None,
) -> Release:
    """Find the sensitive cells of a table, hide as little as possible to protect them, and prove it.

    Parameters
    ----------
    data : Table or microdata
        A finished `Table`, or anything that `tabprotect.tabulate` takes; then `by` and what follows it (to
        `hierarchies`) are handed to it.
    rules : rules
        Such as ``["p%=15", "threshold=3"]``; see `tabprotect.assess`.
    method : Suppress, optional
        How to protect; by default cells are hidden at the cost of their values.
    levels, bounds, singletons
        Protection levels, external bounds and intruders who know cells; see `tabprotect.make_problem`.
    unions : {'repair', 'audit', 'off'}
        Sums of hidden cells that everybody can compute and that are sensitive themselves: protect them too, only
        find them (the release is not safe if there are any), or do not look.
    limits : Limits, optional
        For the search, over all its rounds. What it finds is always judged in full.
    seed : int
        The same seed, data and limits (counted in work) give the same release.
    intervals : bool
        Compute the intruder's interval of every hidden cell now (for the internal report); else when asked for.
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
        Computes the intruder's intervals side by side, with the same answer.

    Returns
    -------
    Release
        Also when no safe pattern was found: then ``release.safe`` is False, ``release.summary()`` says why, and nothing
        can be written.

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
    """
    from tabprotect.attack.audit import audit
    from tabprotect.attack.insiders import within_reach
    from tabprotect.errors import InputError
    from tabprotect.release import Release
    from tabprotect.sensitivity.assess import assess, needs
    from tabprotect.sensitivity.build import make_problem
    from tabprotect.sensitivity.parse import as_rules
    from tabprotect.sensitivity.unions import union_exposures
    from tabprotect.solver.limits import Budget, Limits
    from tabprotect.sums import suppress_with_sums
    from tabprotect.table.table import Table
    from tabprotect.table.tabulate import tabulate

    method = method or Suppress()
    limits = limits or Limits()
    if unions not in ("repair", "audit", "off"):
        raise InputError(f"unions must be 'repair', 'audit' or 'off', not {unions!r}")
    wanted = as_rules(rules)
    budget = Budget(limits, progress)
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
        table = tabulate(data, top=max(TOP, needs(wanted)), **of_data)  # type: ignore[arg-type]
    budget.report("rules", message=f"{table.n_cells:,} cells")
    assessment = assess(table, wanted, levels=levels)
    problem = make_problem(
        table,
        assessment,
        cost=method.cost,
        transform=method.transform,
        preferences=method.preferences,
        bounds=bounds,
        singletons=singletons,
    )

    budget.report("levels")
    problem = within_reach(problem)

    def exposed(result: SuppressionResult) -> tuple[UnionExposure, ...]:
        return () if unions == "off" else union_exposures(table, wanted, result.pattern, levels=levels)

    answer = suppress_with_sums(
        problem,
        exposed,
        budget,
        repair=unions == "repair",
        method=method.method,
        seed=seed,
        engine=method.engine,
        solver=method.solver,
    )
    problem, result = answer.problem, answer.result
    budget.report("audit", result.cost, result.bound)
    judgement = audit(problem, result.pattern, intervals=intervals, budget=_judging(progress), executor=executor)
    settings = {
        "rules": [str(rule) for rule in wanted],
        "levels": levels,
        "value": table.value_name,
        "dimensions": [str(d.name) for d in table.dimensions],
        "shadow": shadow,
        "contributor": contributor,
        "holding": holding,
        "sampling weight": weight,
        "cost": method.cost if isinstance(method.cost, str | None) else "as given",
        "cost transform": None if method.transform is None else str(method.transform),
        "preferences": None if method.preferences is None else str(dict(method.preferences)),
        "external bounds": None if bounds is None else "as given" if not _short(bounds) else str(bounds),
        "search": method.method,
        "engine": method.engine if method.solver is None else f"{method.engine} ({method.solver})",
        "singletons attack": singletons,
        "sums of hidden cells": unions,
        "seed": seed,
        "time limit (seconds)": limits.seconds,
        "work limit": limits.work,
        "memory limit (bytes)": limits.memory,
        "gap limit": limits.gap,
        "separate statuses": separate_statuses,
        "decimals": decimals,
    }
    return Release(
        table,
        problem,
        result,
        judgement,
        assessment,
        answer.sums,
        settings,
        title,
        separate_statuses,
        decimals,
        allow_unsafe,
    )


def _judging(progress: Callable[[Progress], None] | None) -> Budget:
    """The judge has no limits: what is not judged is not safe."""
    from tabprotect.solver.limits import Budget

    return Budget(progress=progress)


def _short(bounds: Any) -> bool:
    return isinstance(bounds, str) or all(isinstance(side, int | float | str | None) for side in bounds)
