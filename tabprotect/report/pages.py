"""Self-contained HTML pages: the public one and the internal one, from plain facts.

Nothing is fetched: style, script and data are in the page, and a content policy forbids the rest.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from markupsafe import Markup

from tabprotect._version import __version__
from tabprotect.report.charts import Bars, Course, Spans
from tabprotect.report.cube import Cube, Detail, StatusKey
from tabprotect.report.numbers import STANDARD, Numbers
from tabprotect.report.plain import plain_tables

__all__ = [
    "Bars",
    "Card",
    "Course",
    "Cube",
    "Detail",
    "Grid",
    "Section",
    "Shown",
    "Spans",
    "StatusKey",
    "internal_page",
    "public_page",
]

MOST_CELLS = 300_000
"""A page holds at most so many cells; larger tables are shown without their deepest levels."""


@dataclass(frozen=True)
class Card:
    """One headline figure."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Grid:
    """A small table of facts; `bad` are the places (row, column) of what is shown as an alarm."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    note: str = ""
    bad: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Section:
    """A heading with tables of facts."""

    title: str
    tables: Sequence[Grid] = field(default_factory=tuple)


@dataclass(frozen=True)
class Shown:
    """The table of a page, as its script and its template show it.

    Parameters
    ----------
    title, value : str
        Heading, and what the cells hold.
    cubes : sequence of Cube
    statuses : sequence of StatusKey
    decimals : int, optional
        Of every value; None: those that it has.
    unit, source : str
        Of the values, and who they are from; '' for nothing.
    numbers : Numbers
        How numbers are written.
    most_cells : int
        Larger tables are shown without their deepest levels.
    """

    title: str
    value: str
    cubes: Sequence[Cube]
    statuses: Sequence[StatusKey]
    decimals: int | None
    unit: str = ""
    source: str = ""
    numbers: Numbers = STANDARD
    most_cells: int = MOST_CELLS

    def facts(self) -> dict[str, Any]:
        """Return what the template needs."""
        data, cut = self._data()
        measure = f"{self.value}, {self.unit}" if self.unit else self.value
        plain = plain_tables(self.cubes, self.statuses, measure, self.decimals, self.numbers)
        return {
            "title": self.title, "data": data, "cut": cut, "plain": plain, "unit": self.unit, "source": self.source,
            "statuses": self.statuses, "numbers": self.numbers,
        }  # fmt: skip

    def _data(self) -> tuple[Markup, str]:
        cubes, n = self.cubes, self.numbers
        cells = sum(len(cube.value) for cube in cubes)
        shown = (
            [cube.shortened(max(1, self.most_cells * len(cube.value) // cells)) for cube in cubes] if cells else cubes
        )
        left = cells - sum(len(cube.value) for cube in shown)
        cut = f"The deepest {n(left)} of {n(cells)} cells are left out here; the table files hold all." if left else ""
        content = {
            "value": self.value,
            "unit": self.unit,
            "decimals": None if self.decimals is None else max(0, self.decimals),
            "signs": [n.decimal, n.thousands],
            "statuses": [
                {"id": key.id, "text": key.text, "symbol": key.symbol, "mark": key.mark, "hidden": key.hidden}
                for key in self.statuses
            ],
            "tables": [cube.payload() for cube in shown],
        }
        text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
        # inside a script element only "<" can end the data
        return Markup(text.replace("<", "\\u003c")), cut


def public_page(shown: Shown, note: str) -> str:
    """Return the page that may leave the building; it holds the table and what the page says of the values, no more."""
    numbers = shown.numbers
    cells, rows = sum(key.count for key in shown.statuses), sum(len(cube.value) for cube in shown.cubes)
    words = numbers.counted(cells, "cell") + ("" if rows == cells else f" in {numbers.counted(rows, 'row')}")
    return _page("public", words=words, note=note, **shown.facts())


def internal_page(
    shown: Shown,
    *,
    alarms: Sequence[str],
    cards: Sequence[Card],
    charts: Sequence[Bars],
    sections: Sequence[Section],
    spans: Sequence[Spans] = (),
    courses: Sequence[Course] = (),
) -> str:
    """Return the confidential report."""
    facts: dict[str, Any] = {"alarms": alarms, "cards": cards, "charts": charts, "sections": sections}
    return _page("internal", version=__version__, spans=spans, courses=courses, **facts, **shown.facts())


@cache
def environment() -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.PackageLoader("tabprotect.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _page(name: str, **facts: Any) -> str:
    static = resources.files("tabprotect.report") / "static"
    style = Markup((static / "style.css").read_text(encoding="utf-8"))
    script = Markup((static / "viewer.js").read_text(encoding="utf-8"))
    return environment().get_template(f"{name}.html.j2").render(style=style, script=script, **facts)
