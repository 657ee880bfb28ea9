"""A comparison as tables of facts and bars: a measure that does not apply to a method is left empty, never 0."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tabprotect.comparison.line import Line
from tabprotect.methods.loss import Loss
from tabprotect.problem import Problem
from tabprotect.report.pages import Bars, Grid
from tabprotect.solver.tolerances import NO_GAP

__all__ = ["charts", "grids"]

_MAIN = ("method", "status", "hidden cells", "hidden value", "cost", "bound", "gap", "exposed")
_LOSS = (
    "method", "hidden", "changed", "sum |v-a|", "mean |v-a|", "mean |v-a|/|a|", "largest |v-a|", "margins kept",
    "sums off by", "Hellinger", "rank correlation",
)  # fmt: skip
_RISK = (
    "method", "status", "seconds", "exposed", "undecided", "exact", "median width", "the intruder knows", "message",
)  # fmt: skip
_MAIN_NOTE = (
    "Hidden value: sum of the absolute values of hidden cells, totals and parts alike. Cost and bound are in the "
    "measure of each method and not comparable between methods. A dash: the measure does not apply."
)
_LOSS_NOTE = (
    "Distances, Hellinger and rank correlation are over the cells that a method publishes; these and sums off do not "
    "apply to methods that hide cells and publish the others as they are."
)
_RISK_NOTE = (
    "Exposed: sensitive cells of which an intruder comes nearer than a protection level allows. Every intruder knows "
    "the method, the published values, all sums and the external bounds. Width: of the intervals of sensitive cells, "
    "as a share of their value."
)


def grids(problem: Problem, lines: Sequence[Line]) -> tuple[Grid, ...]:
    """Return value hidden, cost and gap; information loss; remaining risk."""
    unsafe = [k for k, line in enumerate(lines) if line.risk is not None and line.risk.exposed]
    main = [
        (
            str(line.approach), line.words, line.loss.hidden if line.loss and line.hides else None,
            line.hidden_value(problem.values), line.cost, line.bound,
            None if line.gap is None else f"{100 * line.gap:.2f} %", _exposed(line),
        )
        for line in lines
    ]  # fmt: skip
    lost = [(str(line.approach), *((None,) * 10 if line.loss is None else _lost(line, line.loss))) for line in lines]
    risky = [
        (
            str(line.approach),
            line.words,
            round(line.seconds, 2),
            _exposed(line),
            *((None,) * 3 if (y := line.risk) is None else (y.undecided, y.exact, y.width)),
            "" if line.risk is None else line.risk.knows,
            line.message,
        )
        for line in lines
    ]

    def red(columns: Sequence[str]) -> frozenset[tuple[int, int]]:
        return frozenset((k, columns.index("exposed")) for k in unsafe)

    return (
        Grid(_MAIN, main, "Methods side by side", _MAIN_NOTE, red(_MAIN)),
        Grid(_LOSS, lost, "Information loss", _LOSS_NOTE),
        Grid(_RISK, risky, "Remaining risk", _RISK_NOTE, red(_RISK)),
    )


def _exposed(line: Line) -> str | None:
    """Say how many sensitive cells are exposed; what was not decided is never left out of that."""
    if line.risk is None:
        return None
    open_ = f", {line.risk.undecided:,} undecided" if line.risk.undecided else ""
    return f"{line.risk.exposed:,} of {line.risk.sensitive:,}{open_}"


def _lost(line: Line, x: Loss) -> tuple[object, ...]:
    hides = line.hides and not x.changed
    distances = (None,) * 5 if hides else (x.changed, x.distance, x.mean, x.relative, x.largest)
    # sums that are off although nothing was changed were so before, which is to be seen
    likeness = (x.off or None, None, None) if hides else (x.off, x.hellinger, x.ranks)
    return (x.hidden if line.hides else None, *distances, f"{x.kept:,} of {x.margins:,}", *likeness)


def charts(problem: Problem, lines: Sequence[Line]) -> list[Bars]:
    """Return the main measures as bars."""
    done = [line for line in lines if line.loss is not None]
    if not done:
        return []
    names = _different([line.approach.name for line in done])
    n, sensitive = max(1, problem.n_cells), max(1, len(problem.primaries))
    whole = float(np.abs(problem.values).sum()) or 1.0

    def of_loss(measure: Callable[[Loss], float], hides: bool | None = None) -> list[float | None]:
        return [measure(x.loss) if x.loss and hides in (None, x.hides) else None for x in done]

    worth = [None if (v := x.hidden_value(problem.values)) is None else 100 * v / whole for x in done]
    risks = [None if (y := x.risk) is None else 100 * (y.exposed + y.undecided) / sensitive for x in done]
    measures: list[tuple[str, list[float | None]]] = [
        ("Hidden value (%)", worth),
        ("Gap of the cost (%)", [None if x.gap is None else 100 * x.gap * (x.gap > NO_GAP) for x in done]),
        ("Cells hidden or changed (%)", of_loss(lambda x: 100 * (x.hidden + x.changed) / n)),
        ("Mean relative change of published cells (%)", of_loss(lambda x: 100 * x.relative, False)),
        ("Margins not kept (%)", of_loss(lambda x: 100 * (1 - x.kept / max(1, x.margins)))),
        ("Sensitive cells exposed (%)", risks),
        ("Seconds", [x.seconds for x in done]),
    ]
    bad = {"Sensitive cells exposed (%)"}
    return [Bars(title, names, heights, bad=title in bad, digits=3) for title, heights in measures]


def _different(names: list[str]) -> list[str]:
    """Number names that are there several times."""
    return [f"{n} {names[: i + 1].count(n)}" if names.count(n) > 1 else n for i, n in enumerate(names)]
