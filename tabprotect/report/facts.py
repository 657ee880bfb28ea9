"""Facts of a judged table that confidential reports share: intervals, reasons, exposures, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.audit import Audit
from tabprotect.problem import Problem, Status
from tabprotect.report.pages import Bars, Cube, Detail, Grid, Section, Spans
from tabprotect.report.parts import parts_of
from tabprotect.report.public import free_name
from tabprotect.sensitivity.assess import Assessment
from tabprotect.solver.tolerances import LEVEL
from tabprotect.table.table import Table

__all__ = [
    "Judged",
    "alarms",
    "cubes",
    "exposed_section",
    "frame_of",
    "hardest",
    "interval_plot",
    "intervals",
    "primaries_by_rule",
    "published_section",
    "reasons",
    "setting",
    "settings_grid",
    "who",
    "widths",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_HARDEST = 20
_WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0)
_SIDES = {1: "upwards", -1: "downwards", 0: "width"}


def alarms(safe: bool, judgement: Audit) -> list[str]:
    """Return what a reader of the internal report has to know first."""
    found = []
    if not safe:
        found.append("NOT SAFE: this release does not meet the protection levels; it was written on explicit request.")
    if judgement.lp_safe_only:
        found.append(
            "LP-safe only: intruders who know that all values are whole numbers may conclude more; no integral witness "
            "was found."
        )
    if not judgement.complete:
        found.append("The limits ended the computation of intervals; some are missing.")
    return found + [f"Warning: {line}." for line in judgement.warnings()]


class Judged(Protocol):
    """A table, its problem, and what an intruder makes of it."""

    @property
    def table(self) -> Table:
        """The table."""

    @property
    def problem(self) -> Problem:
        """Its first cells are those of the table."""

    @property
    def judgement(self) -> Audit | None:
        """Of what is published; None without anything to publish."""

    @property
    def assessment(self) -> Assessment:
        """Why cells are sensitive."""

    @property
    def settings(self) -> Mapping[str, Any]:
        """What was asked for."""


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


def reasons(release: Judged) -> npt.NDArray[np.object_]:
    """Return for every cell the rules by which it is sensitive."""
    words = np.full(release.table.n_cells, "", dtype=object)
    for rule, mask in release.assessment.reasons.items():
        words[mask] = np.where(words[mask] == "", rule, words[mask] + ", " + rule)
    return words


def frame_of(release: Judged, words: npt.NDArray[np.object_], further: Mapping[str, Any]) -> pd.DataFrame:
    """Return one row a code combination: everything that is known of its cell (but no respondent).

    Parameters
    ----------
    release : Judged
    words : ndarray of str
        Status of every cell.
    further : mapping of str to array
        Further columns, by cell.
    """
    table, problem = release.table, release.problem
    cell = table.row_cell
    frame = table.rows.reset_index(drop=True)

    def add(name: str, values: Any) -> None:
        frame[free_name(name, frame.columns)] = np.asarray(values)[cell]

    low, high = intervals(release)
    add("status", words)
    if table.counts is not None:
        add("contributors", table.counts)
    add("rules", reasons(release))
    for name in ("lpl", "upl", "spl", "weights", "lower", "upper"):
        add(name, getattr(problem, name)[: table.n_cells])
    for name, column in further.items():
        add(name, column)
    add("interval_low", low)
    add("interval_high", high)
    # the last column ties the rows to the cells of the certificate
    add("cell", np.arange(table.n_cells))
    return frame


def cubes(release: Judged, status: Ints, further: Mapping[str, Any]) -> list[Cube]:
    """Return the table with all details that its page shows.

    Parameters
    ----------
    release : Judged
    status : ndarray of int
        Number of the status key of every cell.
    further : mapping of str to array
        Further details, by cell.
    """
    table, problem = release.table, release.problem
    n = table.n_cells
    low, high = intervals(release)
    lpl, upl, spl = problem.lpl[:n], problem.upl[:n], problem.spl[:n]
    primary = problem.status[:n] == Status.PRIMARY
    rules, place = np.unique(reasons(release).astype(str), return_inverse=True)

    def pairs(name: str, ends: tuple[Floats, Floats], where: Bools, cell: Ints) -> Detail:
        rows = np.flatnonzero(where[cell])
        both = zip(ends[0][cell[rows]].tolist(), ends[1][cell[rows]].tolist(), strict=True)
        return Detail(name, {row: [_finite(a), _finite(b)] for row, (a, b) in zip(rows.tolist(), both, strict=True)})

    found = []
    for part in parts_of(table):
        cell = table.row_cell[part.rows]
        needed = (table.values - lpl, table.values + upl)
        details = [
            Detail("Sensitive by", {i: int(k) for i, k in enumerate(place[cell]) if rules[k]}, rules.tolist()),
            pairs("The intruder's interval", (low, high), ~np.isnan(low), cell),
            pairs("Must reach", needed, primary & ((lpl > 0) | (upl > 0)), cell),
            Detail("Must be as wide as", {i: float(v) for i, v in enumerate(spl[cell]) if v > 0}),
            *(Detail(name, np.asarray(column)[cell].tolist()) for name, column in further.items()),
        ]
        if table.counts is not None:
            details.append(Detail("Contributors", _known(table.counts[cell])))
        found.append(Cube(part.name, part.axes, part.at, table.values[cell], status[cell], tuple(details)))
    return found


def _known(numbers: Floats) -> dict[int, float]:
    return {i: v for i, v in enumerate(numbers.tolist()) if v == v}


def _finite(value: float) -> float | str:
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return value


def primaries_by_rule(release: Judged) -> list[Bars]:
    """How many cells every rule finds sensitive."""
    rules = release.assessment.reasons
    if not rules:
        return []
    counts = [int(mask.sum()) for mask in rules.values()]
    note = "A cell may be sensitive by several rules." if len(rules) > 1 else ""
    return [Bars("Primary cells by rule", list(rules), counts, note=note)]


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


def exposed_section(release: Judged) -> list[Section]:
    """The cells of which an intruder learns too much."""
    label = release.problem.system.label
    rows = [
        [label(e.key.cell), who(release, e.key.attacker), _SIDES[e.key.side], e.reached, e.needed]
        for e in (release.judgement.exposures[:100] if release.judgement else ())
    ]
    columns = ["cell", "intruder", "side", "reaches", "needs"]
    return [Section("Exposed cells", [Grid(columns, rows)])] if rows else []


def published_section(published: Mapping[str, str]) -> Section:
    """The published files and their digests."""
    files = [[f"publish/{name}", digest] for name, digest in sorted(published.items())]
    note = "The certificate holds the same digests. None of them is in the published folder."
    return Section("What was published", [Grid(["file", "SHA-256"], files, note=note)])


def settings_grid(release: Judged, further: Sequence[Sequence[str]]) -> Grid:
    """What was asked for, and further facts."""
    facts = [[name, setting(value)] for name, value in release.settings.items() if value is not None]
    return Grid(["setting", "value"], [*facts, *further])


def who(release: Judged, attacker: int) -> str:
    """Name an intruder."""
    return "the public" if attacker < 0 else release.problem.attackers[attacker].name


def setting(value: Any) -> str:
    """Write a setting for people."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "–"
    return "yes" if value is True else "no" if value is False else str(value)


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


def hardest(release: Judged) -> Grid | None:
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
            f"{_text(low[i])} to {_text(high[i])}",
            f"{_text(table.values[i] - problem.lpl[i])} to {_text(table.values[i] + problem.upl[i])}",
            f"{room:.2f} times" if np.isfinite(room) else "–",
        ]
        for i, room in zip(*found, strict=True)
    ]
    return Grid(["cell", "value", "the intruder's interval", "must reach", "reaches as far as needed"], rows)


def _text(value: float) -> str:
    if np.isinf(value):
        return str(_finite(value))
    return f"{value:,.2f}".removesuffix(".00") if abs(value) >= 100 else f"{value:,.6g}"
