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
from tabprotect.counted import counted
from tabprotect.report.cube import Cube, Detail, StatusKey
from tabprotect.report.plain import plain_tables

__all__ = ["Bars", "Card", "Cube", "Detail", "Grid", "Section", "Spans", "StatusKey", "internal_page", "public_page"]

MOST_CELLS = 300_000
"""A page holds at most so many cells; larger tables are shown without their deepest levels."""


@dataclass(frozen=True)
class Card:
    """One headline figure."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """A bar chart: names, heights, and the words at the end of each bar; a height of None does not apply."""

    title: str
    names: Sequence[str]
    heights: Sequence[float | None]
    labels: Sequence[str] | None = None
    note: str = ""
    bad: bool = False

    @property
    def bars(self) -> list[dict[str, Any]]:
        """What the template draws."""
        known = [height for height in self.heights if height is not None]
        top = max([*known, 0]) or 1
        labels = self.labels or ["does not apply" if h is None else f"{h:,.0f}" for h in self.heights]
        return [
            {"name": name, "share": 0.0 if height is None else height / top, "label": label}
            for name, height, label in zip(self.names, self.heights, labels, strict=True)
        ]


@dataclass(frozen=True)
class Spans:
    """Intervals about values, one line each.

    Attributes
    ----------
    title, note : str
    names : sequence of str
    reached, needed : sequence of (float, float)
        Ends of the intervals as shares of the value, 0 at the value; infinite ends reach the edge.
    """

    title: str
    names: Sequence[str]
    reached: Sequence[tuple[float, float]]
    needed: Sequence[tuple[float, float]]
    note: str = ""

    @property
    def lines(self) -> list[dict[str, Any]]:
        """What the template draws: places between 0 and 1."""
        return [
            {"name": name, "reached": [_place(x) for x in reached], "needed": [_place(x) for x in needed]}
            for name, reached, needed in zip(self.names, self.reached, self.needed, strict=True)
        ]


def _place(share: float) -> float:
    """Where a share of the value is drawn: the axis goes from -100 % to +100 %."""
    return (min(1.0, max(-1.0, share)) + 1) / 2


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


def public_page(
    title: str, value: str, cubes: Sequence[Cube], statuses: Sequence[StatusKey], decimals: int, note: str
) -> str:
    """Return the page that may leave the building; it holds what the cubes, keys and note hold, and nothing else."""
    data, cut = _data(value, cubes, statuses, decimals)
    cells, rows = sum(key.count for key in statuses), sum(len(cube.value) for cube in cubes)
    words = counted(cells, "cell") + ("" if rows == cells else f" in {counted(rows, 'row')}")
    plain = plain_tables(cubes, statuses, value, decimals)
    return _page("public", title=title, data=data, cut=cut, statuses=statuses, words=words, note=note, plain=plain)


def internal_page(
    title: str,
    value: str,
    cubes: Sequence[Cube],
    statuses: Sequence[StatusKey],
    decimals: int,
    *,
    alarms: Sequence[str],
    cards: Sequence[Card],
    charts: Sequence[Bars],
    sections: Sequence[Section],
    spans: Sequence[Spans] = (),
) -> str:
    """Return the confidential report."""
    data, cut = _data(value, cubes, statuses, decimals)
    facts: dict[str, Any] = {"alarms": alarms, "cards": cards, "charts": charts, "sections": sections, "spans": spans}
    facts["plain"] = plain_tables(cubes, statuses, value, decimals)
    return _page("internal", title=title, data=data, cut=cut, statuses=statuses, version=__version__, **facts)


def _data(value: str, cubes: Sequence[Cube], statuses: Sequence[StatusKey], decimals: int) -> tuple[Markup, str]:
    cells = sum(len(cube.value) for cube in cubes)
    shown = [cube.shortened(max(1, MOST_CELLS * len(cube.value) // cells)) for cube in cubes] if cells else cubes
    left = cells - sum(len(cube.value) for cube in shown)
    cut = f"The deepest {left:,} of {cells:,} cells are left out here; the table files hold all." if left else ""
    content = {
        "value": value,
        "decimals": decimals,
        "statuses": [
            {"id": key.id, "text": key.text, "symbol": key.symbol, "mark": key.mark, "hidden": key.hidden}
            for key in statuses
        ],
        "tables": [cube.payload() for cube in shown],
    }
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    # inside a script element only "<" can end the data
    return Markup(text.replace("<", "\\u003c")), cut


@cache
def environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tabprotect.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["words"] = _words
    return environment


def _words(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:,.6g}" if abs(value) < 1e6 else f"{value:,.0f}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _page(name: str, **facts: Any) -> str:
    static = resources.files("tabprotect.report") / "static"
    style = Markup((static / "style.css").read_text(encoding="utf-8"))
    script = Markup((static / "viewer.js").read_text(encoding="utf-8"))
    return environment().get_template(f"{name}.html.j2").render(style=style, script=script, **facts)
