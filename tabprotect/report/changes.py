"""What the office gets of a release of changed values: true and published values, reasons, intervals. Confidential."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
)
from tabprotect.report.intervals import hardest, widths
from tabprotect.report.judged import ChangedTable
from tabprotect.report.numbers import Numbers
from tabprotect.report.pages import Bars, Card, Cube, Section, Shown, StatusKey, internal_page
from tabprotect.report.sheets import table_files
from tabprotect.table.additivity import noticeable
from tabprotect.table.decimals import decimals_of

__all__ = ["internal_files"]

_KEYS = {
    "safe": ("not sensitive", "123", ""),
    "primary": ("primary: sensitive", "123 P", "P"),
    "forced": ("suppressed before", "123 F", "F"),
    "protected": ("must be published", "123 !", "!"),
    "zero": ("structural zero or fixed", "0", ""),
}
_SHARES = (0.0, 0.01, 0.05, 0.1, 0.25, 0.5)


def internal_files(
    release: ChangedTable, published: Mapping[str, str], formats: Sequence[str], dialect: Dialect = STANDARD
) -> dict[str, bytes]:
    """Return the confidential files by name, but for the certificate.

    Parameters
    ----------
    release : ChangedTable
    published : mapping
        The digest of every public file by name.
    formats : sequence of str
        Of the table.
    dialect : Dialect
        How text files and the report are written.
    """
    frame = frame_of(release, release.words, _further(release))
    files = table_files(release, frame, _KEYS, formats, dialect)
    files["report.html"] = _page(release, published, Numbers.of(dialect)).encode()
    return files


def _further(release: ChangedTable) -> dict[str, Any]:
    values = release.values
    assert values is not None
    return {"published": values, "change": values - release.table.values}


def _page(release: ChangedTable, published: Mapping[str, str], numbers: Numbers) -> str:
    table = release.table
    cells = pd.Series(release.words).value_counts()
    keys = [
        StatusKey(word, text, symbol, int(cells.get(word, 0)), mark) for word, (text, symbol, mark) in _KEYS.items()
    ]
    assert release.judgement is not None
    places = decimals_of(table.values)
    return internal_page(
        Shown(release.title, table.value_name, _cubes(release), keys, places, release.unit, release.source, numbers),
        alarms=alarms(release.safe, release.judgement),
        cards=_cards(release, numbers),
        charts=[*primaries_by_rule(release), _changes(release), *widths(release)],
        sections=_sections(release, published, numbers),
        courses=course(release.trace, "distance of the best values"),
    )


def _cubes(release: ChangedTable) -> list[Cube]:
    number = {word: i for i, word in enumerate(_KEYS)}
    status = np.array([number[word] for word in release.words], dtype=np.int64)
    further = _further(release)
    return cubes(release, status, {"Published": further["published"], "Change": further["change"]})


def _cards(release: ChangedTable, n: Numbers) -> list[Card]:
    result, counts, lost = release.result, release.counts, release.loss
    cards = [
        Card("Verdict", "safe" if release.safe else "NOT SAFE", "by exact witnesses, see certificate.json"),
        Card("Cells", n(counts.cells), n.counted(counts.rows, "row")),
        Card("Primary", n(counts.sensitive)),
        Card("Changed", n(lost.changed), f"{n(100 * lost.changed / max(1, counts.cells), '.1f')} % of the cells"),
        Card("Largest change", n(lost.largest, ",.10g")),
        Card("Mean change", f"{n(100 * lost.relative, '.2f')} %", "of the values"),
        Card("Margins kept", f"{n(lost.kept)} of {n(lost.margins)}"),
        Card("Sums", "add up" if lost.off == 0 else f"off by {n(lost.off, ',.10g')}"),
    ]
    if result.cost is not None:
        cards.append(Card("Distance", n(result.cost, ",.10g")))
    if result.bound is not None:
        cards.append(
            Card("Lower bound", n(result.bound, ",.10g"), "of the search; not part of the certificate's proof")
        )
    if result.gap is not None:
        cards.append(Card("Gap", f"{n(100 * result.gap, '.2f')} %", n.said(release.optimality)))
    return cards


def _changes(release: ChangedTable) -> Bars:
    assert release.values is not None
    value = np.abs(release.table.values)
    change = np.abs(release.values - release.table.values)
    share = np.divide(change, value, out=np.where(change > 0, np.inf, 0.0), where=value > 0)
    place = np.where(change == 0, 0, np.searchsorted(_SHARES, share))
    names = ["none", "up to 1 %", "1 to 5 %", "5 to 10 %", "10 to 25 %", "25 to 50 %", "above 50 %"]
    return Bars("Cells by change, as share of the value", names, np.bincount(place, minlength=len(names)).tolist())


def _sections(release: ChangedTable, published: Mapping[str, str], numbers: Numbers) -> list[Section]:
    sections = exposed_section(release)
    tight = hardest(release, numbers)
    if tight is not None:
        sections.append(Section("Primary cells that are protected most tightly", [tight]))
    problem, result = release.problem, release.result
    facts = [
        ["intruders know of the method", result.knows],
        ["intruders who know cells", numbers(len(problem.attackers))],
        ["rounding residual of the table", numbers(noticeable(release.table.residual, release.table.values), "g")],
        *(["note", numbers.said(text)] for text in (*problem.notes, result.message) if text),
    ]
    sections.append(Section("Settings", [settings_grid(release, facts)]))
    sections.append(published_section(published))
    return sections
