"""The intruder's intervals of a judged table as confidential reports show them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from tabprotect.problem import Status
from tabprotect.report.judged import Judged
from tabprotect.report.numbers import Numbers
from tabprotect.report.pages import Bars, Grid, Spans
from tabprotect.solver.tolerances import LEVEL

__all__ = ["end", "hardest", "interval_plot", "intervals", "widths"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_HARDEST = 20
_WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0)


def intervals(release: Judged) -> tuple[Floats, Floats]:
    """Return the public intruder's interval of every cell of the table; NaN where it is published or not computed."""
    if release.judgement is None:
        raise ValueError("there is no judgement to report")
    public = release.judgement.public
    ends = []
    for side in (public.low, public.high):
        full = np.full(release.problem.n_cells, np.nan)
        full[public.cells] = side
        ends.append(full[: release.table.n_cells])
    return ends[0], ends[1]


def widths(release: Judged) -> list[Bars]:
    """How wide the intruder's intervals are, as shares of the values."""
    low, high = intervals(release)
    known = ~np.isnan(low)
    if not known.any():
        return []
    value = np.abs(release.table.values[known])
    width = (high - low)[known]
    share = np.divide(width, value, out=np.full(len(width), np.inf), where=value > 0)
    edges = [0.0, *_WIDTHS, np.inf]
    names = [f"up to {100 * _WIDTHS[0]:.0f} %"]
    names += [f"{100 * a:.0f} to {100 * b:.0f} %" for a, b in pairwise(_WIDTHS)]
    names += [f"above {100 * _WIDTHS[-1]:.0f} %", "without limit"]
    place = np.where(np.isinf(width), len(names) - 1, np.searchsorted(edges[1:-1], share))
    counts = np.bincount(place, minlength=len(names)).tolist()
    return [Bars("Width of the intruder's intervals, as share of the value", names, counts)]


def end(value: float) -> float | str:
    """Return the end of an interval as pages show it."""
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return value


def interval_plot(release: Judged) -> list[Spans]:
    """The intervals of the primaries that are protected most tightly, beside what they must reach."""
    found = _tightest(release)
    if found is None:
        return []
    cells, _ = found
    value, scale = release.table.values[cells], np.abs(release.table.values[cells])
    scale = np.where(scale > 0, scale, 1.0)
    low, high = intervals(release)
    lpl, upl = release.problem.lpl[cells], release.problem.upl[cells]
    reached = ((low[cells] - value) / scale, (high[cells] - value) / scale)
    needed = (-lpl / scale, upl / scale)
    label = release.problem.system.label
    return [
        Spans(
            "Intervals of the most tightly protected primaries",
            [_short(label(int(i))) for i in cells],
            list(zip(reached[0].tolist(), reached[1].tolist(), strict=True)),
            list(zip(needed[0].tolist(), needed[1].tolist(), strict=True)),
            "Bars: the intruder's interval. Marks: what it must reach. Longer intervals end at the edge.",
        )
    ]


def _short(name: str) -> str:
    return name if len(name) <= 28 else name[:27] + "…"


def _tightest(release: Judged) -> tuple[Ints, Floats] | None:
    """Return the primaries whose intervals exceed what is needed least, and how many times as far they reach."""
    problem, table = release.problem, release.table
    low, high = intervals(release)
    cells = np.flatnonzero((problem.status[: table.n_cells] == Status.PRIMARY) & ~np.isnan(low))
    if not len(cells):
        return None
    value, lpl, upl = table.values[cells], problem.lpl[cells], problem.upl[cells]
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.fmin(
            np.where(upl > 0, (high[cells] - value) / upl, np.inf),
            np.where(lpl > 0, (value - low[cells]) / lpl, np.inf),
        )
    chosen = np.argsort(np.where(room < 1 + LEVEL, 1.0, room), kind="stable")[:_HARDEST]
    return cells[chosen], room[chosen]


def hardest(release: Judged, numbers: Numbers) -> Grid | None:
    """The primaries whose intervals exceed what is needed least."""
    found = _tightest(release)
    if found is None:
        return None
    problem, table = release.problem, release.table
    low, high = intervals(release)
    rows = [
        [
            problem.system.label(int(i)),
            float(table.values[i]),
            _span(low[i], high[i], numbers),
            _span(table.values[i] - problem.lpl[i], table.values[i] + problem.upl[i], numbers),
            f"{numbers(room, '.2f')} times" if np.isfinite(room) else "–",
        ]
        for i, room in zip(*found, strict=True)
    ]
    return Grid(["cell", "value", "the intruder's interval", "must reach", "reaches as far as needed"], rows)


def _span(low: float, high: float, numbers: Numbers) -> str:
    return f"{_text(low, numbers)} to {_text(high, numbers)}"


def _text(value: float, numbers: Numbers) -> str:
    if np.isinf(value):
        return str(end(value))
    if abs(value) < 100:
        return numbers(value, ",.6g")
    return numbers(value, ",.0f" if round(value, 2) == round(value) else ",.2f")
