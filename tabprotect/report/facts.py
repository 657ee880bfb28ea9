"""Facts of a judged table that confidential reports share: intervals, reasons, exposures, settings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.findings import Audit
from tabprotect.problem import Status
from tabprotect.report.charts import Course, Steps
from tabprotect.report.intervals import end, intervals
from tabprotect.report.judged import Judged
from tabprotect.report.pages import Bars, Cube, Detail, Grid, Section
from tabprotect.report.parts import parts_of
from tabprotect.report.public import free_name
from tabprotect.solver.trace import Known

__all__ = [
    "alarms",
    "course",
    "cubes",
    "exposed_section",
    "frame_of",
    "primaries_by_rule",
    "published_section",
    "reasons",
    "setting",
    "settings_grid",
    "who",
]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_MOST_COST = 2.0
"""The chart of costs goes up to so many times the last one."""

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
        found.append(
            f"{judgement.left_out}. They are missing in this report and in interval_low and interval_high of the table "
            "beside it; a larger limit computes them, and so does: tabprotect audit RELEASE --intervals OUT.csv"
        )
    return found + [f"Warning: {line}." for line in judgement.warnings()]


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
        return Detail(name, {row: [end(a), end(b)] for row, (a, b) in zip(rows.tolist(), both, strict=True)})

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


def primaries_by_rule(release: Judged) -> list[Bars]:
    """How many cells every rule finds sensitive."""
    rules = release.assessment.reasons
    if not rules:
        return []
    counts = [int(mask.sum()) for mask in rules.values()]
    note = "A cell may be sensitive by several rules." if len(rules) > 1 else ""
    return [Bars("Primary cells by rule", list(rules), counts, note=note)]


def course(trace: Sequence[Known], costs: str) -> list[Course]:
    """Cost and bound over the work of the search; nothing where that had nothing to do.

    Parameters
    ----------
    trace : sequence of Known
    costs : str
        What the cost is of.
    """
    end, best = (trace[-1].work, trace[-1].cost) if trace else (0, None)
    if len(trace) < 2 or end <= 0 or best is None:
        return []
    # the first pattern may hide everything, which would leave the rest of the chart flat
    most = _MOST_COST * best if best > 0 else np.inf
    high = any(known.cost is not None and known.cost > most for known in trace)
    lines = [
        Steps(costs, "cost", [(known.work, min(known.cost, most)) for known in trace if known.cost is not None]),
        Steps("lower bound", "bound", [(known.work, known.bound) for known in trace if known.bound is not None]),
    ]
    note = "Work units are simplex iterations and nodes of the search; they do not depend on the machine."
    note += " Higher costs end at the edge." if high else ""
    return [Course("Cost and bound as the search went", "work units", [x for x in lines if x.points], end, note)]


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
