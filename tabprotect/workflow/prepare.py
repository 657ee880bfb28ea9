"""From a request to the problem that methods solve: records, table, rules, levels, costs."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.insiders import within_reach
from tabprotect.attack.sums import lowered_levels
from tabprotect.counted import counted
from tabprotect.errors import InputError
from tabprotect.methods.base.method import Method
from tabprotect.methods.cell_key.method import CellKey
from tabprotect.methods.recoding.method import Recode
from tabprotect.methods.record_swapping.method import Swap
from tabprotect.methods.registry import PASSES
from tabprotect.methods.suppression.method import Suppress
from tabprotect.problem import Problem, Status
from tabprotect.release.earlier import Earlier
from tabprotect.seeds import Seed, secret_seed
from tabprotect.sensitivity.assess import assess
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.attackers import knowing
from tabprotect.sensitivity.build import make_problem
from tabprotect.sensitivity.costs import raised
from tabprotect.sensitivity.hidden import levels_for_hidden
from tabprotect.sensitivity.requirements import needs
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget, Limits
from tabprotect.table.duck import share_of
from tabprotect.table.link.clusters import cells_by_table
from tabprotect.table.table import Table
from tabprotect.workflow.fitting import absent_missing, unfitting, unknown_missing
from tabprotect.workflow.groupings import by_least_grouping
from tabprotect.workflow.known_codes import Attackers, Finer, finer_table, with_known
from tabprotect.workflow.open_ends import open_ends
from tabprotect.workflow.previous import carrying
from tabprotect.workflow.previous import lowered as of_last_period
from tabprotect.workflow.recode import roll_up
from tabprotect.workflow.records import keys_of_cells
from tabprotect.workflow.request import Request
from tabprotect.workflow.source import Source
from tabprotect.workflow.swap import swap_table

__all__ = ["Prepared", "draw_seed", "of_search", "prepare", "tabulated_so", "with_records"]

JUDGE_SHARE = 0.1
"""Part of a limit in seconds that is left for the last audit of a suppression pattern."""

LEVELS_SHARE = 0.2
"""Part of the limits for finding out which levels nothing can provide against respondents who know cells."""

TOP = 3
"""Contributions kept per cell, at least: sums of hidden cells are judged by the largest of each."""


@dataclass(frozen=True, eq=False)
class Prepared:
    """A request whose data are read: what every method of it starts from.

    Attributes
    ----------
    request : Request
    source : Source
        As the method needs it: recoded, or with empty cells that records may fill.
    table : Table
    tables : mapping of str to ndarray of int
        The cells of each of several linked tables; empty for one table.
    assessment : Assessment
    problem : Problem
    seed : int
    rolled : str or None
        What was given up by recoding, in words.
    seconds : float
    work : int
        What was spent until the problem was stated.
    earlier : Earlier or None
        The pattern of the last period.
    disclosed : tuple of str
        Of a revision: cells that are sensitive now, and that the last release published.
    lowered : tuple of UnionExposure
        Cells whose levels are lower in the problem than the rules ask for, since some respondents know a part of them,
        with the levels that all others are asked about.
    """

    request: Request
    source: Source = field(repr=False)
    table: Table = field(repr=False)
    tables: Mapping[str, npt.NDArray[np.int64]] = field(repr=False)
    assessment: Assessment = field(repr=False)
    problem: Problem = field(repr=False)
    method: Any
    seed: int
    rolled: str | None
    seconds: float
    work: int
    earlier: Earlier | None = field(default=None, repr=False)
    disclosed: tuple[str, ...] = field(default=(), repr=False)
    lowered: tuple[UnionExposure, ...] = field(default=(), repr=False)

    def budget(self) -> Budget:
        """Open the account of a search: preparation is part of it."""
        started = time.monotonic() - self.seconds
        return Budget(of_search(self.request.limits), self.request.progress, started, self.work)


def of_search(limits: Limits) -> Limits:
    """Return limits that leave time for the judge."""
    return limits if limits.seconds is None else replace(limits, seconds=(1 - JUDGE_SHARE) * limits.seconds)


def prepare(request: Request, contributions: int = 0) -> Prepared:
    """Read, tabulate, assess, and state the problem.

    Parameters
    ----------
    request : Request
    contributions : int
        How many of the largest contributions to every cell are kept at least, for methods beside that of the request.

    Raises
    ------
    InputError
        Everything that is wrong with the data, or that a rule or the method lacks.
    """
    budget = Budget(of_search(request.limits), request.progress)
    method = request.method
    seed = draw_seed(method, request.seed)
    budget.report("tabulate")
    source, top, memory = tabulated_so(request, contributions)
    table, opened, recoded = _tabulated(request, source, top, memory, budget)
    method = _with_records(method, request, source, table, seed)
    tables = cells_by_table(table) if table.parts else {}
    if request.hiding.method == PASSES and not tables:
        raise InputError(f"method '{PASSES}' goes table by table through linked tables, and this is one table")
    budget.report("rules", message=f"{counted(table.n_cells, 'cell')}")
    table, earlier, disclosed = carrying(request, table)
    try:
        finer = Finer(table, request.attackers)
        if isinstance(method, Recode):
            finer = finer_table(request.attackers, request.source, recoded, table, top, memory)
        table, assessment, rolled = _assessed(request, table, finer)
        problem, lowered = _stated(request, table, assessment, finer.known, seed, budget, earlier)
    except InputError as error:
        raise InputError(*dict.fromkeys([*error.problems, *unfitting(request, table)])) from error
    rolled = "; ".join(filter(None, (opened, rolled))) or None
    return Prepared(
        request, source, table, tables, assessment, problem, method, seed, rolled, budget.seconds, budget.work,
        earlier, disclosed, lowered,
    )  # fmt: skip


def tabulated_so(request: Request, contributions: int = 0) -> tuple[Source, int, str | None]:
    """Return the source as the method needs it, how many contributions to a cell are kept, and within what memory."""
    method, source = request.method, request.source
    if isinstance(method, Recode) and method.rules:
        source = source.recoded(method.rules)
    if isinstance(method, Swap):
        # swapped records may fill cells that are empty, so nobody knows these to be
        source = source.filled()
    memory = None if request.limits.memory is None else share_of(request.limits.memory)
    own = method.contributions if isinstance(method, Method) else 0
    return source, max(TOP, needs(request.rules), own, contributions), memory


def _tabulated(
    request: Request, source: Source, top: int, memory: str | None, budget: Budget
) -> tuple[Table, str | None, pd.DataFrame | None]:
    """Return the table, what recoding its codes did in words, and the recoded records where attackers know others."""
    method, opened = request.method, None
    recoded = source.records() if isinstance(method, Recode) and method.rules and request.attackers else None
    table = source.table(top, memory)
    if unknown_missing(table):
        raise InputError(*unfitting(request, table))
    if request.when_read is not None:
        request.when_read(table.recognised)
    if isinstance(method, Recode) and method.open:
        table, opened, recoded = open_ends(source, table, method.opened, request.rules, top, memory)
    if isinstance(method, Recode) and method.groupings:
        rules, limits = request.rules, budget.limits
        table, opened, recoded = by_least_grouping(source, table, method.groupings, rules, top, memory, limits)
    return table, opened, recoded


def _assessed(request: Request, table: Table, finer: Finer) -> tuple[Table, Assessment, str | None]:
    """Apply the rules, and roll up what they find where that is asked for."""
    assessment = assess(table, request.rules, levels=request.levels)
    rolled = None
    if isinstance(request.method, Recode):
        if request.method.least:
            table, rolled = roll_up(table, assessment, request.method.keep, request.limits, request.progress)
        table, kept = with_known(finer, table)
        rolled = "; ".join(filter(None, (rolled, kept)))
        assessment = assess(table, request.rules, levels=request.levels)
    if request.protect_hidden:
        before, assessment = assessment, levels_for_hidden(assessment, request.levels)
        if isinstance(request.method, Method) and assessment is before:
            said = f"protect_hidden changes nothing: {request.method.name} hides no cell, and none was suppressed"
            assessment = replace(assessment, messages=(*assessment.messages, said))
    _check_suppressed(request.method, assessment)
    return table, assessment, rolled


def _check_suppressed(method: Any, assessment: Assessment) -> None:
    """Refuse to publish values in the place of cells that were suppressed already."""
    before = np.flatnonzero(assessment.status == Status.FORCED)
    if isinstance(method, Method) and len(before):
        names = [assessment.table.system.label(int(cell)) for cell in before[:3]]
        names += ["..."] if len(before) > 3 else []
        raise InputError(
            f"{counted(len(before), 'cell')} {'was' if len(before) == 1 else 'were'} suppressed already (status 'm' or "
            f"'x'): {', '.join(names)}; {method.name} publishes a value for every cell, which would be the true one. "
            "Give them levels with protect_hidden=True, or take their status away"
        )


def _stated(
    request: Request,
    table: Table,
    assessment: Assessment,
    attackers: Attackers,
    seed: int,
    budget: Budget,
    earlier: Earlier | None,
) -> tuple[Problem, tuple[UnionExposure, ...]]:
    """State the problem, without the levels that nothing can provide; and which of these others can be asked about."""
    how = request.hiding
    problem = make_problem(
        table,
        assessment,
        cost=how.cost,
        transform=how.transform,
        preferences=how.preferences,
        bounds=request.bounds,
        singletons=request.singletons,
    )
    problem = replace(problem, notes=(*absent_missing(table), *problem.notes))
    problem = knowing(problem, table, attackers)
    if how.random_costs:
        problem = replace(problem, weights=raised(problem.weights, how.random_costs, seed))
    if earlier is not None:
        problem = of_last_period(problem, table, earlier, request.previous.factor)
    budget.report("levels")
    with budget.part(LEVELS_SHARE) as part:
        eased = within_reach(problem, part)
    return eased, lowered_levels(problem, eased)


def with_records(prepared: Prepared, method: Any) -> Any:
    """Give another method what it needs of the records of a request."""
    p = prepared
    return _with_records(method, p.request, p.source, p.table, p.seed)


def _with_records(method: Any, request: Request, source: Source, table: Table, seed: int) -> Any:
    """Give the methods that need records what they need: cell keys, or the table of swapped records.

    Raises
    ------
    InputError
        If there are no records, or they do not go with the method.
    """
    needed = (isinstance(method, Swap) and method.swapped is None) or (
        isinstance(method, CellKey) and method.keys is None
    )
    if not needed:
        return method
    roles = source.roles
    if roles is None:
        what = "the keys of records" if isinstance(method, CellKey) else "the records of one table"
        raise InputError(f"{method.name} needs {what}, so a table made from microdata")
    if isinstance(method, CellKey):
        if roles.get("weight") is not None:
            raise InputError("cell-key: records with sampling weights are not perturbed; use round or adjust")
        keys = keys_of_cells(source.data, method, seed, list(table.dimensions), roles.get("empty"))
        return replace(method, keys=keys)
    swapped = swap_table(source.records(), table, method, seed, roles, request.rules, request.levels)
    return replace(method, swapped=swapped)


def draw_seed(method: object, seed: Seed | None) -> int:
    """Return the seed: a fresh secret one where values, levels or costs are drawn at random and none was given."""
    how = method.then if isinstance(method, Recode) else method
    protects = (isinstance(how, Method) and how.secret) or (isinstance(how, Suppress) and how.random_costs > 0)
    return 0 if seed is None and not protects else secret_seed(seed)
