"""Run methods on one problem and put them side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.audit import audit
from tabprotect.attack.sums import LevelsForOthers, levels_for_others
from tabprotect.comparison.approaches import Approach, parse_approach, publish
from tabprotect.comparison.figures import charts, grids
from tabprotect.comparison.line import Line
from tabprotect.comparison.measures import risk
from tabprotect.counted import counted
from tabprotect.errors import InfeasibleError, InputError, as_items, as_numbers, need
from tabprotect.formats.dialect import Dialect
from tabprotect.methods.base.method import Call, Method
from tabprotect.methods.loss import loss
from tabprotect.paths import possible
from tabprotect.problem import Problem, need_problem
from tabprotect.report.comparison import comparison_page
from tabprotect.report.folded import short
from tabprotect.report.numbers import Numbers
from tabprotect.report.pages import Bars, Grid
from tabprotect.report.views import facts_view
from tabprotect.seeds import Seed, as_seed
from tabprotect.solver.limits import Budget, Limits, Progress, as_limits, check_progress
from tabprotect.table.reading.recognised import Recognised
from tabprotect.table.table import Table, need_table
from tabprotect.workflow import request
from tabprotect.workflow.prepare import Prepared, with_records
from tabprotect.workflow.prepare import prepare as prepare_request

__all__ = ["Comparison", "Line", "compare"]

NOT_RUN = "not run"
"""The status of methods that somebody stopped the comparison before."""

NOTICE = "CONFIDENTIAL: for internal use only, never publish this comparison"


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods side by side. Everything in it is confidential.

    Attributes
    ----------
    problem : Problem
    lines : tuple of Line
    title : str
    recognised : tuple of Recognised
        How the data write numbers; the page does, too, where no other format is given.
    """

    problem: Problem = field(repr=False)
    lines: tuple[Line, ...]
    title: str = "Comparison of methods"
    recognised: tuple[Recognised, ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        return f"Comparison({', '.join(f'{line.approach}: {line.words}' for line in self.lines)})"

    def _repr_html_(self) -> str:
        facts = [f"{short(str(line.approach))}: {line.words}{_hidden_words(line)}" for line in self.lines]
        return facts_view(short(self.title), facts)

    @property
    def frame(self) -> pd.DataFrame:
        """One row a method, one column a measure; confidential."""
        rows = []
        for line in self.lines:
            row: dict[str, Any] = {
                "method": str(line.approach),
                "status": line.status,
                "optimality": line.words,
                "seconds": line.seconds,
            }
            row |= {"cost": line.cost, "bound": line.bound, "gap": line.gap}
            row |= {"hidden_value": line.hidden_value(self.problem.values)}
            row |= {} if line.loss is None else asdict(line.loss)
            row |= {} if line.risk is None else asdict(line.risk)
            rows.append(row | {"message": line.message})
        return pd.DataFrame(rows)

    def grids(self) -> tuple[Grid, ...]:
        """Value hidden, cost and gap; information loss; remaining risk: as small tables of facts."""
        return grids(self.problem, self.lines)

    def charts(self) -> list[Bars]:
        """The main measures as bars; None where a measure does not apply to a method."""
        return charts(self.problem, self.lines)

    def html(self, dialect: Dialect | None = None) -> str:
        """Return a page of its own that fetches nothing; confidential.

        Parameters
        ----------
        dialect : Dialect, optional
            How numbers are written; by default as in the data.
        """
        if dialect is not None:
            need(dialect, Dialect, "html(dialect=)", "of tabprotect.formats.dialect")
        p = self.problem
        n = Numbers.of(dialect or Dialect.like(self.recognised))
        equations = n.counted(p.system.n_equations, "equation")
        size = f"{n.counted(p.n_cells, 'cell')}, {n(len(p.primaries))} sensitive, {equations}"
        return comparison_page(self.title, "; ".join((size, *p.notes)), self.charts(), self.grids(), n)

    def plot(self, path: str | Path) -> None:
        """Draw the main measures into a .png, .svg or .pdf file; confidential.

        Raises
        ------
        InputError
            If matplotlib is not installed, or the ending is another one.
        """
        path = possible(path)
        if path.suffix not in (".png", ".svg", ".pdf"):
            raise InputError(f"{path}: plots are written as .png, .svg or .pdf")
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise InputError("plots need matplotlib: install tabprotect[plot]") from error
        bars = self.charts()
        figure = Figure(figsize=(3.2 * max(1, len(bars)), 1.4 + 0.35 * len(self.lines)), layout="constrained")
        figure.suptitle(f"{self.title} ({NOTICE})", fontsize=9)
        for k, chart in enumerate(bars):
            axes = figure.add_subplot(1, len(bars), k + 1)
            axes.barh(range(len(chart.names)), [0.0 if height is None else height for height in chart.heights])
            for i, height in enumerate(chart.heights):
                if height is None:
                    axes.text(0, i, " does not apply", fontsize=7, va="center")
            axes.set_yticks(range(len(chart.names)), list(chart.names))
            axes.invert_yaxis()
            axes.set_title(chart.title, fontsize=8)
            axes.tick_params(labelsize=8, labelleft=k == 0)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def _hidden_words(line: Line) -> str:
    return "" if line.loss is None or not line.hides else f", {counted(line.loss.hidden, 'cell')} hidden"


def compare(
    problem: Problem | request.Request,
    methods: Sequence[str | Approach] | None = None,
    *,
    limits: Limits | float | None = None,
    audit_limits: Limits | float | None = None,
    seed: Seed = 0,
    keys: npt.NDArray[np.int64] | None = None,
    table: Table | None = None,
    prepare: Callable[[Any], Any] | None = None,
    title: str = "Comparison of methods",
    progress: Callable[[Progress], None] | None = None,
) -> Comparison:
    """Run several methods on one problem; measure what each loses and what its own intruder still learns.

    Parameters
    ----------
    problem : Problem or tabprotect.workflow.request.Request
        Of a table with rules the problem is ``make_problem(table, rules)``. Of a request to protect every method solves
        the very problem that `tabprotect.protect` would state for it, its sums of hidden cells protected as there;
        keys, table and records are its own. (`tabprotect.Request` is a rule, and no such request.)
    methods : sequence of str or Approach, optional
        Such as ``["suppress", "adjust:norm=l2", "round:base=5"]``; by default suppression, adjustment and rounding,
        with a table also recoding, for counts small count rounding, and the cell key method where there are keys.
    limits : Limits or float, optional
        Of each method. Where somebody stops one, those after it are not carried out; their status says so.
    audit_limits : Limits or float, optional
        Of each judgement; what is not decided within them is reported so. It ends where the methods are stopped, too.
    seed : int or numpy.random.Generator
    keys : ndarray of int, shape (cells,), optional
        Cell keys (see `tabprotect.methods.cell_key.cell_keys`).
    table : Table, optional
        What the problem was made of, for recoding: ``compare(make_problem(table, rules), table=table)``.
    prepare : callable, optional
        Gives methods that need records (cell keys, swapping) what they need of them.
    title : str
    progress : callable, optional

    Returns
    -------
    Comparison

    Raises
    ------
    InputError
        Unknown methods or options.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> found = compare(p, ["suppress", "round:base=5"])
    >>> [(line.approach.name, line.loss.hidden, line.loss.changed, line.risk.exposed) for line in found.lines]
    [('suppress', 4, 0, 0), ('round', 0, 7, 0)]
    """
    words = "methods such as 'suppress' or 'round:base=5' (or one of them)"
    several = [methods] if isinstance(methods, str) else methods
    given = None if several is None else [
        parse_approach(m) if isinstance(m, str) else m for m in as_items(several, (str, Approach), "methods", words)
    ]  # fmt: skip
    if table is not None:
        need_table(table, "compare(table=)")
    if keys is not None:
        numbers = as_numbers(keys, "keys", "a cell key for every cell")
        if not np.all(np.isfinite(numbers) & (numbers == np.rint(numbers))):
            raise InputError("keys must be whole numbers, one for every cell; make them with cell_keys")
        keys = numbers.astype(np.int64)
    check_progress(progress)
    if not isinstance(title, str):
        raise InputError(f"title must be a text, not {title!r}")
    if prepare is not None and not callable(prepare):
        raise InputError(f"prepare must be a function of a method, not {prepare!r}")
    prepared = None
    if isinstance(problem, request.Request):
        limits = problem.limits if limits is None else limits
        seed = seed if problem.seed is None else problem.seed
        asked = problem.asking(limits=limits, progress=progress, seed=seed)
        prepared = prepare_request(asked, max((getattr(g.choice, "contributions", 0) for g in given or ()), default=0))
        problem, table, seed = prepared.problem, prepared.table, prepared.seed
        prepare = partial(with_records, prepared) if prepared.source.roles is not None else None
    need_problem(problem, "compare")
    records = keys is not None or prepare is not None
    approaches = [parse_approach(m) for m in _default(problem, records, table)] if given is None else given
    call = Call(problem, as_limits(limits), as_seed(seed), progress, keys, table, prepare)
    judging = as_limits(audit_limits)
    judging = judging if judging.stop is not None else replace(judging, stop=call.limits.stop)
    levels = LevelsForOthers(problem, problem)
    if prepared is not None and any(isinstance(one.choice, Method) for one in approaches):
        Budget(progress=progress).report("levels")
        # whom a stop leaves out is not asked, and nothing is judged after it
        levels = levels_for_others(problem, prepared.lowered, Budget(Limits(stop=call.limits.stop)))
    lines = tuple(_line(call, one, levels, judging, prepared) for one in approaches)
    return Comparison(problem, lines, title, () if table is None else tuple(table.recognised))


def _default(problem: Problem, records: bool, table: Table | None) -> list[str]:
    names = ["suppress", "adjust", "round", "unbiased-round", "random-round", "conventional-round"]
    if table is not None and not table.parts:
        names.insert(1, "recode")
    if problem.integer:
        names.append("small-counts")
    return names + (["cell-key"] if records else [])


def _line(call: Call, approach: Approach, asked: LevelsForOthers, limits: Limits, prepared: Prepared | None) -> Line:
    started = time.perf_counter()
    if _asked_to_stop(call.limits):
        return Line(approach, NOT_RUN, 0.0, message="the comparison was stopped before this method", stopped=True)
    try:
        published = publish(approach, call, asked, prepared)
    except (InputError, InfeasibleError) as error:
        # options were checked when they were read: what is left is a table that the method is not for
        return Line(approach, "not possible", time.perf_counter() - started, message=str(error))
    line = Line(
        approach, published.status, time.perf_counter() - started, published.cost, published.bound,
        message=published.message, stopped=published.stopped, optimality=published.optimality,
    )  # fmt: skip
    if published.values is None:
        return line
    line = replace(line, loss=loss(call.problem, published.values), values=published.values)
    if published.doubtful:
        return line
    budget = Budget(limits, call.progress)
    budget.report("audit", message=approach.name)
    found = audit(published.seen, published.hidden, budget=budget, of=published.seen.primaries)
    judged = risk(call.problem, found, published.knows)
    said = line.message
    if judged.undecided and budget.stopped:
        cells = counted(judged.undecided, "sensitive cell")
        said = "; ".join(filter(None, (said, f"{cells} not decided when the judgement was ended")))
    undecided = any(not exposure.decided for exposure in found.exposures)
    return replace(line, risk=judged, message=said, stopped=line.stopped or undecided)


def _asked_to_stop(limits: Limits) -> bool:
    return limits.stop is not None and limits.stop()
