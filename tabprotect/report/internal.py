"""What the office gets: the table with values, reasons and intervals, and the report. All of it is confidential."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.formats.frames import encode_frame
from tabprotect.problem import Status
from tabprotect.report.pages import Bars, Card, Cube, Detail, Grid, Section, StatusKey, internal_page
from tabprotect.report.parts import parts_of
from tabprotect.report.public import MOST_DECIMALS, decimals_of, free_name
from tabprotect.solver.tolerances import LEVEL

if TYPE_CHECKING:
    from tabprotect.release import Release

__all__ = ["internal_files", "internal_frame"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_KEYS = {
    "safe": ("published", "123", ""),
    "primary": ("primary: sensitive", "123 P", "P"),
    "secondary": ("secondary: hidden to protect others", "123 S", "S"),
    "forced": ("suppressed before", "123 F", "F"),
    "protected": ("must be published", "123 !", "!"),
    "zero": ("structural zero or fixed", "0", ""),
}
_HARDEST = 20


def internal_files(release: Release, published: Mapping[str, str], formats: Sequence[str]) -> dict[str, bytes]:
    """Return the confidential files by name, but for the certificate.

    Parameters
    ----------
    release : Release
    published : mapping
        The digest of every public file by name.
    formats : sequence of str
        Of the table.
    """
    frame = internal_frame(release)
    kinds = dict.fromkeys(formats)
    files = {f"table.{kind}": encode_frame(frame, kind, title="confidential", confidential=True) for kind in kinds}
    files["report.html"] = _page(release, published).encode()
    return files


def internal_frame(release: Release) -> pd.DataFrame:
    """Return one row a code combination: everything that is known of its cell (but no respondent)."""
    table, problem = release.table, release.problem
    cell = table.row_cell
    frame = table.rows.reset_index(drop=True)

    def add(name: str, values: Any) -> None:
        frame[free_name(name, frame.columns)] = np.asarray(values)[cell]

    low, high = _intervals(release)
    add("status", release.words)
    if table.counts is not None:
        add("contributors", table.counts)
    add("rules", _reasons(release))
    for name in ("lpl", "upl", "spl", "weights", "lower", "upper"):
        add(name, getattr(problem, name)[: table.n_cells])
    add("interval_low", low)
    add("interval_high", high)
    # the last column ties the rows to the cells of the certificate
    add("cell", np.arange(table.n_cells))
    return frame


def _intervals(release: Release) -> tuple[Floats, Floats]:
    """Return the public intruder's interval of every cell of the table; NaN where it is published or not computed."""
    public = release.judgement.public
    ends = []
    for side in (public.low, public.high):
        full = np.full(release.problem.n_cells, np.nan)
        full[public.cells] = side
        ends.append(full[: release.table.n_cells])
    return ends[0], ends[1]


def _reasons(release: Release) -> npt.NDArray[np.object_]:
    words = np.full(release.table.n_cells, "", dtype=object)
    for rule, mask in release.assessment.reasons.items():
        words[mask] = np.where(words[mask] == "", rule, words[mask] + ", " + rule)
    return words


def _page(release: Release, published: Mapping[str, str]) -> str:
    table = release.table
    decimals = decimals_of(table.values)
    return internal_page(
        release.title,
        table.value_name,
        _cubes(release),
        _keys(release),
        MOST_DECIMALS if decimals is None else max(decimals, 2),
        alarms=_alarms(release),
        cards=_cards(release),
        charts=_charts(release),
        sections=_sections(release, published),
    )


def _keys(release: Release) -> list[StatusKey]:
    rows = pd.Series(release.words[release.table.row_cell]).value_counts()
    return [StatusKey(word, text, symbol, int(rows.get(word, 0)), mark) for word, (text, symbol, mark) in _KEYS.items()]


def _cubes(release: Release) -> list[Cube]:
    table, problem = release.table, release.problem
    n = table.n_cells
    number = {word: i for i, word in enumerate(_KEYS)}
    status = np.array([number[word] for word in release.words], dtype=np.int64)
    low, high = _intervals(release)
    lpl, upl, spl = problem.lpl[:n], problem.upl[:n], problem.spl[:n]
    primary = problem.status[:n] == Status.PRIMARY
    reasons, place = np.unique(_reasons(release).astype(str), return_inverse=True)

    def pairs(name: str, ends: tuple[Floats, Floats], where: npt.NDArray[np.bool_], cell: Ints) -> Detail:
        rows = np.flatnonzero(where[cell])
        both = zip(ends[0][cell[rows]].tolist(), ends[1][cell[rows]].tolist(), strict=True)
        return Detail(name, {row: [_finite(a), _finite(b)] for row, (a, b) in zip(rows.tolist(), both, strict=True)})

    cubes = []
    for part in parts_of(table):
        cell = table.row_cell[part.rows]
        needed = (table.values - lpl, table.values + upl)
        details = [
            Detail("Sensitive by", {i: int(k) for i, k in enumerate(place[cell]) if reasons[k]}, reasons.tolist()),
            pairs("The intruder's interval", (low, high), ~np.isnan(low), cell),
            pairs("Must reach", needed, primary & ((lpl > 0) | (upl > 0)), cell),
            Detail("Must be as wide as", {i: float(v) for i, v in enumerate(spl[cell]) if v > 0}),
            Detail("Cost of hiding", problem.weights[cell].tolist()),
        ]
        if table.counts is not None:
            details.append(Detail("Contributors", _known(table.counts[cell])))
        cubes.append(Cube(part.name, part.axes, part.at, table.values[cell], status[cell], tuple(details)))
    return cubes


def _known(numbers: Floats) -> dict[int, float]:
    return {i: v for i, v in enumerate(numbers.tolist()) if v == v}


def _finite(value: float) -> float | str:
    if np.isinf(value):
        return "∞" if value > 0 else "−∞"
    return value


def _alarms(release: Release) -> list[str]:
    alarms = []
    if not release.safe:
        alarms.append("NOT SAFE: this release does not meet the protection levels; it was written on explicit request.")
    if release.judgement.lp_safe_only:
        alarms.append(
            "LP-safe only: intruders who know that all values are whole numbers may conclude more; no integral witness "
            "was found."
        )
    if not release.judgement.complete:
        alarms.append("The limits ended the computation of intervals; some are missing.")
    return alarms


def _cards(release: Release) -> list[Card]:
    result, table = release.result, release.table
    hidden = int(release.pattern.sum())
    words = release.words
    cards = [
        Card("Verdict", "safe" if release.safe else "NOT SAFE", "by exact witnesses, see certificate.json"),
        Card("Cells", f"{table.n_cells:,}", f"{len(table.rows):,} rows"),
        Card("Hidden", f"{hidden:,}", f"{100 * hidden / max(1, table.n_cells):.1f} % of the cells"),
        Card("Primary", f"{int(np.sum(words == 'primary')):,}"),
        Card("Secondary", f"{int(np.sum(words == 'secondary')):,}"),
    ]
    if result.cost is not None:
        cards.append(Card("Cost of secondaries", f"{result.cost:,.10g}"))
    if result.bound is not None:
        cards.append(Card("Lower bound", f"{result.bound:,.10g}", "no safe pattern costs less"))
    if result.gap is not None:
        cards.append(Card("Gap", f"{100 * result.gap:.2f} %", f"status: {result.status}"))
    proven = release.certificate.bound
    if proven is not None:
        cards.append(Card("Bound proven exactly", f"{float(proven):,.10g}", "checked without a solver"))
    return cards


def _charts(release: Release) -> list[Bars]:
    reasons = release.assessment.reasons
    charts = []
    if reasons:
        counts = [int(mask.sum()) for mask in reasons.values()]
        note = "A cell may be sensitive by several rules." if len(reasons) > 1 else ""
        charts.append(Bars("Primary cells by rule", list(reasons), counts, note=note))
    charts += _by_level(release)
    charts += _widths(release)
    return charts


def _by_level(release: Release) -> list[Bars]:
    """Share of hidden rows at every level of every hierarchy."""
    table = release.table
    hidden = release.pattern[table.row_cell]
    charts = []
    named = {d.name: d for dimensions in (table.dimensions, *table.parts.values()) for d in dimensions}
    for name, dimension in named.items():
        hierarchy = dimension.hierarchy
        if hierarchy is None or name not in table.rows or int(hierarchy.levels.max(initial=0)) < 1:
            continue
        known = {code: int(level) for code, level in zip(hierarchy.codes, hierarchy.levels, strict=True)}
        level = table.rows[name].astype(str).map(known).to_numpy()
        names, shares, labels = [], [], []
        for depth in range(int(hierarchy.levels.max()) + 1):
            here = level == depth
            if here.any():
                names.append("total" if depth == 0 else f"level {depth}")
                shares.append(float(hidden[here].mean()))
                labels.append(f"{100 * shares[-1]:.1f} % of {int(here.sum()):,}")
        charts.append(Bars(f"Hidden rows by level of {name}", names, shares, labels))
    return charts


_WIDTHS = (0.1, 0.25, 0.5, 1.0, 2.0)


def _widths(release: Release) -> list[Bars]:
    """How wide the intruder's intervals are, as shares of the values."""
    low, high = _intervals(release)
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


def _sections(release: Release, published: Mapping[str, str]) -> list[Section]:
    label = release.problem.system.label
    sections = []
    if release.unions:
        rows = [[" + ".join(label(c) for c in u.cells[:6]), u.value, u.reason] for u in release.unions[:100]]
        sections.append(Section("Sums of hidden cells that give too much away", [Grid(["cells", "sum", "why"], rows)]))
    if release.judgement.exposures:
        rows = [
            [label(e.key.cell), _who(release, e.key.attacker), _SIDES[e.key.side], e.reached, e.needed]
            for e in release.judgement.exposures[:100]
        ]
        columns = ["cell", "intruder", "side", "reaches", "needs"]
        sections.append(Section("Exposed cells", [Grid(columns, rows)]))
    if release.result.unprotectable:
        rows = [
            [label(u.cell), _who(release, u.attacker), *u.reachable, *u.needed, u.reason]
            for u in release.result.unprotectable[:100]
        ]
        columns = ["cell", "intruder", "reaches", "to", "needs", "to", "reason"]
        sections.append(Section("Cells that nothing protects", [Grid(columns, rows)]))
    hardest = _hardest(release)
    if hardest is not None:
        sections.append(Section("Primary cells that are protected most tightly", [hardest]))
    problem = release.problem
    facts = [[name, _setting(value)] for name, value in release.settings.items() if value is not None]
    facts += [
        ["intruders who know cells", f"{len(problem.attackers):,}"],
        ["sums protected as cells", f"{problem.n_cells - release.table.n_cells:,}"],
        ["rounding residual of the table", f"{release.table.residual:g}"],
        ["method", release.result.method],
    ]
    notes = [note for note in (*problem.notes, release.result.message) if note]
    facts += [["note", note] for note in notes]
    sections.append(Section("Settings", [Grid(["setting", "value"], facts)]))
    files = [[f"publish/{name}", digest] for name, digest in sorted(published.items())]
    note = "The certificate holds the same digests. None of them is in the published folder."
    sections.append(Section("What was published", [Grid(["file", "SHA-256"], files, note=note)]))
    return sections


_SIDES = {1: "upwards", -1: "downwards", 0: "width"}


def _who(release: Release, attacker: int) -> str:
    return "the public" if attacker < 0 else release.problem.attackers[attacker].name


def _setting(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return ", ".join(map(str, value)) or "–"
    return "yes" if value is True else "no" if value is False else str(value)


def _hardest(release: Release) -> Grid | None:
    """The primaries whose intervals exceed what is needed least."""
    problem, table = release.problem, release.table
    low, high = _intervals(release)
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
    rows = [
        [
            problem.system.label(int(cells[i])),
            float(value[i]),
            f"{_text(low[cells[i]])} to {_text(high[cells[i]])}",
            f"{_text(value[i] - lpl[i])} to {_text(value[i] + upl[i])}",
            f"{room[i]:.2f} times" if np.isfinite(room[i]) else "–",
        ]
        for i in chosen
    ]
    return Grid(["cell", "value", "the intruder's interval", "must reach", "reaches as far as needed"], rows)


def _text(value: float) -> str:
    if np.isinf(value):
        return str(_finite(value))
    return f"{value:,.2f}".removesuffix(".00") if abs(value) >= 100 else f"{value:,.6g}"
