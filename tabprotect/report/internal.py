"""What the office gets: the table with values, reasons and intervals, and the report. All of it is confidential."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from tabprotect.formats.dialect import STANDARD, Dialect
from tabprotect.report.facts import (
    alarms,
    course,
    cubes,
    exposed_section,
    frame_of,
    primaries_by_rule,
    published_section,
    settings_grid,
    who,
)
from tabprotect.report.intervals import hardest, interval_plot, widths
from tabprotect.report.judged import SuppressedTable
from tabprotect.report.numbers import Numbers
from tabprotect.report.pages import Bars, Card, Cube, Grid, Section, Shown, StatusKey, internal_page
from tabprotect.report.sheets import table_files
from tabprotect.table.additivity import noticeable
from tabprotect.table.decimals import decimals_of

__all__ = ["internal_files", "internal_frame"]

_KEYS = {
    "safe": ("published", "123", ""),
    "primary": ("primary: sensitive", "123 P", "P"),
    "secondary": ("secondary: hidden to protect others", "123 S", "S"),
    "forced": ("suppressed before", "123 F", "F"),
    "protected": ("must be published", "123 !", "!"),
    "zero": ("structural zero or fixed", "0", ""),
}

_LEAST = 1e-300
_HIDDEN = ("primary", "secondary", "forced")


def internal_files(
    release: SuppressedTable, published: Mapping[str, str], formats: Sequence[str], dialect: Dialect = STANDARD
) -> dict[str, bytes]:
    """Return the confidential files by name, but for the certificate.

    Parameters
    ----------
    release : SuppressedTable
    published : mapping
        The digest of every public file by name.
    formats : sequence of str
        Of the table.
    dialect : Dialect
        How text files and the report are written.
    """
    frame = internal_frame(release)
    files = table_files(release, frame, _KEYS, formats, dialect)
    files["report.html"] = _page(release, published, Numbers.of(dialect)).encode()
    return files


def internal_frame(release: SuppressedTable) -> pd.DataFrame:
    """Return one row a code combination: everything that is known of its cell (but no respondent)."""
    return frame_of(release, release.words, {})


def _page(release: SuppressedTable, published: Mapping[str, str], numbers: Numbers) -> str:
    table, keys = release.table, _keys(release)
    places = decimals_of(table.values)
    return internal_page(
        Shown(release.title, table.value_name, _cubes(release), keys, places, release.unit, release.source, numbers),
        alarms=alarms(release.safe, release.judgement),
        cards=_cards(release, numbers),
        charts=_charts(release, numbers),
        sections=_sections(release, published, numbers),
        spans=interval_plot(release),
        courses=course(release.trace, "cost of the best safe pattern"),
    )


def _keys(release: SuppressedTable) -> list[StatusKey]:
    cells = pd.Series(release.words).value_counts()
    return [
        StatusKey(word, text, symbol, int(cells.get(word, 0)), mark, word in _HIDDEN)
        for word, (text, symbol, mark) in _KEYS.items()
    ]


def _cubes(release: SuppressedTable) -> list[Cube]:
    number = {word: i for i, word in enumerate(_KEYS)}
    status = np.array([number[word] for word in release.words], dtype=np.int64)
    return cubes(release, status, {"Cost of hiding": release.problem.weights[: release.table.n_cells]})


def _cards(release: SuppressedTable, n: Numbers) -> list[Card]:
    result = release.result
    counts = release.counts
    beside = bool(release.judgement.not_safe)
    proof = "with the last release, see release.json" if beside else "by exact witnesses, see certificate.json"
    cards = [
        Card("Verdict", "safe" if release.safe else "NOT SAFE", proof),
        Card("Cells", n(counts.cells), n.counted(counts.rows, "row")),
        Card("Hidden", n(counts.hidden), f"{n(100 * counts.hidden / max(1, counts.cells), '.1f')} % of the cells"),
        Card("Primary", n(counts.primary)),
        Card("Secondary", n(counts.secondary)),
    ]
    if counts.forced:
        cards.append(Card("Suppressed already", n(counts.forced)))
    if counts.sums:
        cards.append(Card("Sums", n(counts.sums), "of hidden cells, protected as cells"))
    if result.cost is not None:
        cards.append(Card("Cost of secondaries", n(result.cost, ",.10g")))
    if result.bound is not None:
        cards.append(Card("Lower bound", n(result.bound, ",.10g"), "by the search"))
    if result.gap is not None:
        cards.append(Card("Gap", f"{n(100 * result.gap, '.2f')} %", n.said(release.optimality)))
    proven = release.certificate.bound
    if proven is not None:
        cards.append(Card("Bound proven exactly", n(float(proven), ",.10g"), "checked without a solver"))
    return cards


def _charts(release: SuppressedTable, n: Numbers) -> list[Bars]:
    return [*primaries_by_rule(release), *_by_level(release, n), *widths(release)]


def _by_level(release: SuppressedTable, n: Numbers) -> list[Bars]:
    """Share of hidden rows, and of the value that they hold, at every level of every hierarchy."""
    table = release.table
    hidden = release.pattern[table.row_cell]
    size = np.abs(table.values[table.row_cell])
    charts = []
    named = {d.name: d for dimensions in (table.dimensions, *table.parts.values()) for d in dimensions}
    for name, dimension in named.items():
        hierarchy = dimension.hierarchy
        if hierarchy is None or name not in table.rows or int(hierarchy.levels.max(initial=0)) < 1:
            continue
        known = {code: int(level) for code, level in zip(hierarchy.codes, hierarchy.levels, strict=True)}
        level = table.rows[name].astype(str).map(known).to_numpy()
        names, shares, labels, values, sums = [], [], [], [], []
        for depth in range(int(hierarchy.levels.max()) + 1):
            here = level == depth
            if here.any():
                names.append("total" if depth == 0 else f"level {depth}")
                shares.append(float(hidden[here].mean()))
                labels.append(f"{n(100 * shares[-1], '.1f')} % of {n(int(here.sum()))}")
                values.append(float(size[here & hidden].sum()))
                sums.append(f"{n(100 * values[-1] / max(float(size[here].sum()), _LEAST), '.1f')} % of the level")
        charts.append(Bars(f"Hidden rows by level of {name}", names, shares, labels))
        charts.append(Bars(f"Hidden value by level of {name}", names, values, sums))
    return charts


def _by_status(release: SuppressedTable) -> Grid:
    frame = release.statuses
    rows = [[_KEYS[word][0], *rest] for word, *rest in frame.astype(object).to_numpy().tolist()]
    note = (
        "Sums over cells, totals and their parts alike. Respondents: contributions to cells, not different respondents."
    )
    return Grid(["status", "cells", "value", "respondents"][: frame.shape[1]], rows, note=note)


def _sections(release: SuppressedTable, published: Mapping[str, str], numbers: Numbers) -> list[Section]:
    label = release.problem.system.label
    sections = []
    if release.unions:
        rows = [
            [" + ".join(label(c) for c in u.cells[:6]), u.value, u.said(numbers.plain)] for u in release.unions[:100]
        ]
        sections.append(Section("Sums of hidden cells that give too much away", [Grid(["cells", "sum", "why"], rows)]))
    sections += exposed_section(release)
    if release.result.unprotectable:
        rows = [
            [label(u.cell), who(release, u.attacker), *u.reachable, *u.needed, u.reason]
            for u in release.result.unprotectable[:100]
        ]
        columns = ["cell", "intruder", "reaches", "to", "needs", "to", "reason"]
        sections.append(Section("Cells that nothing protects", [Grid(columns, rows)]))
    sections.append(Section("Cells by status", [_by_status(release)]))
    tight = hardest(release, numbers)
    if tight is not None:
        sections.append(Section("Primary cells that are protected most tightly", [tight]))
    problem = release.problem
    facts = [
        ["intruders who know cells", numbers(len(problem.attackers))],
        ["sums protected as cells", numbers(release.counts.sums)],
        ["rounding residual of the table", numbers(noticeable(release.table.residual, release.table.values), "g")],
        ["method", release.result.method],
    ]
    facts += [["note", numbers.said(note)] for note in (*problem.notes, release.result.message) if note]
    sections.append(Section("Settings", [settings_grid(release, facts)]))
    sections.append(published_section(published))
    return sections
