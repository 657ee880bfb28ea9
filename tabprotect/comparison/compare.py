"""Run methods on one problem and put them side by side."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.audit import audit
from tabprotect.comparison.approaches import Approach, parse_approach, publish
from tabprotect.comparison.measures import Risk, risk
from tabprotect.errors import InfeasibleError, InputError
from tabprotect.methods.base.method import Call
from tabprotect.methods.loss import Loss, loss
from tabprotect.problem import Problem
from tabprotect.report.comparison import comparison_page
from tabprotect.report.pages import Bars, Grid
from tabprotect.seeds import Seed, as_seed
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.table.table import Table
from tabprotect.workflow.prepare import Prepared, with_records
from tabprotect.workflow.prepare import prepare as prepare_request
from tabprotect.workflow.request import Request

__all__ = ["Comparison", "Line", "compare"]

NOTICE = "CONFIDENTIAL: for internal use only, never publish this comparison"


@dataclass(frozen=True)
class Line:
    """One method.

    Attributes
    ----------
    approach : Approach
    status : str
        Of its result; 'not possible' where it does not apply to this table.
    seconds : float
        Of the method (without the judgement).
    cost, bound : float or None
        In the method's own measure: not comparable between methods.
    loss : Loss or None
        None without published values.
    risk : Risk or None
    message : str
    values : ndarray of float or None
        What would be published of every cell, nan where it is hidden.
    """

    approach: Approach
    status: str
    seconds: float
    cost: float | None = None
    bound: float | None = None
    loss: Loss | None = None
    risk: Risk | None = None
    message: str = ""
    values: npt.NDArray[np.float64] | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, eq=False)
class Comparison:
    """Methods side by side. Everything in it is confidential.

    Attributes
    ----------
    problem : Problem
    lines : tuple of Line
    title : str
    """

    problem: Problem = field(repr=False)
    lines: tuple[Line, ...]
    title: str = "Comparison of methods"

    def frame(self) -> pd.DataFrame:
        """One row a method, one column a measure; confidential."""
        rows = []
        for line in self.lines:
            row: dict[str, Any] = {"method": str(line.approach), "status": line.status, "seconds": line.seconds}
            row |= {"cost": line.cost, "bound": line.bound}
            row |= {} if line.loss is None else asdict(line.loss)
            row |= {} if line.risk is None else asdict(line.risk)
            rows.append(row | {"message": line.message})
        return pd.DataFrame(rows)

    def grids(self) -> tuple[Grid, Grid]:
        """Information loss, and risk, as small tables of facts."""
        lost = [
            (
                str(line.approach),
                *(
                    (None,) * 10
                    if (x := line.loss) is None
                    else (
                        x.hidden, x.changed, x.distance, x.mean, x.relative, x.largest, f"{x.kept:,} of {x.margins:,}",
                        x.off, x.hellinger, x.ranks,
                    )
                ),
            )
            for line in self.lines
        ]  # fmt: skip
        risky = [
            (
                str(line.approach),
                line.status,
                round(line.seconds, 2),
                *(
                    (None,) * 4
                    if (y := line.risk) is None
                    else (f"{y.exposed:,} of {y.sensitive:,}", y.undecided, y.exact, y.width)
                ),
                "" if line.risk is None else line.risk.knows,
                line.message,
            )
            for line in self.lines
        ]
        return Grid(_LOSS, lost, "Information loss", _LOSS_NOTE), Grid(_RISK, risky, "Remaining risk", _RISK_NOTE)

    def charts(self) -> list[Bars]:
        """The main measures as bars."""
        done = [line for line in self.lines if line.loss is not None and line.risk is not None]
        names = _different([line.approach.name for line in done])
        n, sensitive = max(1, self.problem.n_cells), max(1, len(self.problem.primaries))
        measures: list[tuple[str, Callable[[Loss, Risk], float]]] = [
            ("Cells hidden or changed (%)", lambda x, _: 100 * (x.hidden + x.changed) / n),
            ("Mean relative change of published cells (%)", lambda x, _: 100 * x.relative),
            ("Margins not kept (%)", lambda x, _: 100 * (1 - x.kept / max(1, x.margins))),
            ("Sensitive cells exposed (%)", lambda _, y: 100 * (y.exposed + y.undecided) / sensitive),
        ]
        charts = [(title, [measure(x.loss, x.risk) for x in done if x.loss and x.risk]) for title, measure in measures]
        charts.append(("Seconds", [line.seconds for line in done]))
        return [Bars(title, names, heights, [f"{h:,.3g}" for h in heights]) for title, heights in charts if done]

    def html(self) -> str:
        """A page of its own that fetches nothing; confidential."""
        p = self.problem
        facts = f"{p.n_cells:,} cells, {len(p.primaries):,} sensitive, {p.system.n_equations:,} equations"
        return comparison_page(self.title, facts, self.charts(), self.grids())

    def plot(self, path: str | Path) -> None:
        """Draw the main measures into a .png, .svg or .pdf file; confidential.

        Raises
        ------
        InputError
            If matplotlib is not installed, or the ending is another one.
        """
        path = Path(path)
        if path.suffix not in (".png", ".svg", ".pdf"):
            raise InputError(f"{path}: plots are written as .png, .svg or .pdf")
        try:
            from matplotlib.figure import Figure
        except ImportError as error:
            raise InputError("plots need matplotlib: install tabprotect[plot]") from error
        charts = self.charts()
        figure = Figure(figsize=(3.2 * max(1, len(charts)), 1.4 + 0.35 * len(self.lines)), layout="constrained")
        figure.suptitle(f"{self.title} ({NOTICE})", fontsize=9)
        for k, chart in enumerate(charts):
            axes = figure.add_subplot(1, len(charts), k + 1)
            axes.barh(range(len(chart.names)), list(chart.heights))
            axes.set_yticks(range(len(chart.names)), list(chart.names))
            axes.invert_yaxis()
            axes.set_title(chart.title, fontsize=8)
            axes.tick_params(labelsize=8, labelleft=k == 0)
        figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


_LOSS = (
    "method", "hidden", "changed", "sum |v-a|", "mean |v-a|", "mean |v-a|/|a|", "largest |v-a|", "margins kept",
    "sums off by", "Hellinger", "rank correlation",
)  # fmt: skip
_RISK = (
    "method", "status", "seconds", "exposed", "undecided", "exact", "median width", "the intruder knows", "message",
)  # fmt: skip
_LOSS_NOTE = "Distances, Hellinger and rank correlation are over the cells that a method publishes."
_RISK_NOTE = (
    "Exposed: sensitive cells of which an intruder comes nearer than a protection level allows. Every intruder knows "
    "the method, the published values, all sums and the external bounds. Width: of the intervals of sensitive cells, "
    "as a share of their value."
)


def compare(
    problem: Problem | Request,
    methods: Sequence[str | Approach] | None = None,
    *,
    limits: Limits | None = None,
    audit_limits: Limits | None = None,
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
    problem : Problem or Request
        Of a request every method solves the very problem that `tabprotect.protect` would state for it, its sums of
        hidden cells protected as there; keys, table and records are its own.
    methods : sequence of str or Approach, optional
        Such as ``["suppress", "adjust:norm=l2", "round:base=5"]``; by default suppression, adjustment and rounding,
        with a table also recoding, for counts small count rounding, and the cell key method where there are keys.
    limits : Limits, optional
        Of each method.
    audit_limits : Limits, optional
        Of each judgement; what is not decided within them is told as such.
    seed : int or numpy.random.Generator
    keys : ndarray of int, shape (cells,), optional
        Cell keys (see `tabprotect.methods.cell_key.cell_keys`).
    table : Table, optional
        What the problem was made of, for recoding.
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
    given = None if methods is None else [parse_approach(m) if isinstance(m, str) else m for m in methods]
    prepared = None
    if isinstance(problem, Request):
        limits = limits or problem.limits
        seed = seed if problem.seed is None else problem.seed
        request = problem.asking(limits=limits, progress=progress, seed=seed)
        prepared = prepare_request(
            request, max((getattr(g.choice, "contributions", 0) for g in given or ()), default=0)
        )
        problem, table, seed = prepared.problem, prepared.table, prepared.seed
        prepare = partial(with_records, prepared) if prepared.source.roles is not None else None
    records = keys is not None or prepare is not None
    approaches = [parse_approach(m) for m in _default(problem, records, table)] if given is None else given
    call = Call(problem, limits or Limits(), as_seed(seed), progress, keys, table, prepare)
    lines = tuple(_line(call, one, audit_limits or Limits(), prepared) for one in approaches)
    return Comparison(problem, lines, title)


def _different(names: list[str]) -> list[str]:
    """Number names that are there several times."""
    return [f"{n} {names[: i + 1].count(n)}" if names.count(n) > 1 else n for i, n in enumerate(names)]


def _default(problem: Problem, records: bool, table: Table | None) -> list[str]:
    names = ["suppress", "adjust", "round", "unbiased-round", "random-round", "conventional-round"]
    if table is not None and not table.parts:
        names.insert(1, "recode")
    if problem.integer:
        names.append("small-counts")
    return names + (["cell-key"] if records else [])


def _line(call: Call, approach: Approach, limits: Limits, prepared: Prepared | None) -> Line:
    started = time.perf_counter()
    try:
        published = publish(approach, call, prepared)
    except (InputError, InfeasibleError) as error:
        # options were checked when they were read: what is left is a table that the method is not for
        return Line(approach, "not possible", time.perf_counter() - started, message=str(error))
    seconds = time.perf_counter() - started
    if published.values is None:
        return Line(approach, published.status, seconds, published.cost, published.bound, message=published.message)
    if published.doubtful:
        return Line(
            approach, published.status, seconds, published.cost, published.bound,
            loss(call.problem, published.values), None, published.message, published.values,
        )  # fmt: skip
    budget = Budget(limits, call.progress)
    budget.report("audit", message=approach.name)
    found = audit(published.seen, published.hidden, budget=budget, of=call.problem.primaries)
    return Line(
        approach,
        published.status,
        seconds,
        published.cost,
        published.bound,
        loss(call.problem, published.values),
        risk(call.problem, found, published.knows),
        published.message,
        published.values,
    )
