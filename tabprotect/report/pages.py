"""Self-contained HTML pages: the public one and the internal one, from plain facts.

Nothing is fetched: style, script and data are in the page, and a content policy forbids the rest.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib import resources
from typing import Any

import jinja2
import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from tabprotect._version import __version__
from tabprotect.report.axes import Axis

__all__ = ["Bars", "Card", "Cube", "Detail", "Grid", "Section", "StatusKey", "internal_page", "public_page"]

MOST_CELLS = 300_000
"""A page holds at most so many cells; larger tables are shown without their deepest levels."""


@dataclass(frozen=True)
class StatusKey:
    """One status as the page shows it: its word, the style class `id`, and a mark beside the value."""

    id: str
    text: str
    symbol: str
    count: int
    mark: str = ""


@dataclass(frozen=True, eq=False)
class Detail:
    """One line of the box that opens over a cell of the internal page.

    Attributes
    ----------
    name : str
    of : sequence or mapping
        One entry a cell, or cell -> entry for the cells that have one: a number, a text, or a pair.
    words : sequence of str, optional
        When given, entries are positions in it.
    """

    name: str
    of: Sequence[Any] | Mapping[int, Any]
    words: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Cube:
    """The cells of one table on a page.

    Attributes
    ----------
    name : str
    axes : tuple of Axis
    at : tuple of ndarray of int
        For every axis the position of each cell's code in ``axis.codes``.
    value : ndarray of float
        nan shows as hidden.
    status : ndarray of int
        Positions in the list of `StatusKey`.
    details : tuple of Detail
    """

    name: str
    axes: tuple[Axis, ...]
    at: tuple[npt.NDArray[np.int64], ...]
    value: npt.NDArray[np.float64]
    status: npt.NDArray[np.int64]
    details: tuple[Detail, ...] = ()

    def shortened(self, most: int) -> Cube:
        """Leave out the deepest levels until at most `most` cells are left."""
        if len(self.value) <= most:
            return self
        level = np.zeros(len(self.value), np.int64)
        for axis, codes in zip(self.axes, self.at, strict=True):
            depth = np.full(len(axis.codes), np.iinfo(np.int64).max)
            for code, below in axis.nodes:
                depth[code] = min(depth[code], below)
            np.maximum(level, depth[codes], out=level)
        kept = np.flatnonzero(level < np.sort(level)[most])
        if not len(kept):
            kept = np.arange(most)
        place = {int(cell): i for i, cell in enumerate(kept)}
        return replace(
            self,
            at=tuple(codes[kept] for codes in self.at),
            value=self.value[kept],
            status=self.status[kept],
            details=tuple(replace(detail, of=_selected(detail.of, kept, place)) for detail in self.details),
        )

    def payload(self) -> dict[str, Any]:
        """Return what the script of the page reads."""
        content: dict[str, Any] = {
            "name": self.name,
            "axes": [{"name": a.name, "codes": a.codes, "nodes": a.nodes} for a in self.axes],
            "at": [codes.tolist() for codes in self.at],
            "value": [None if v != v else int(v) if v.is_integer() else v for v in self.value.tolist()],
            "status": self.status.tolist(),
        }
        if self.details:
            content["detail"] = [
                {"name": d.name, "of": d.of} | ({} if d.words is None else {"words": d.words}) for d in self.details
            ]
        return content


def _selected(of: Sequence[Any] | Mapping[int, Any], kept: Any, place: Mapping[int, int]) -> Any:
    if isinstance(of, Mapping):
        return {place[cell]: entry for cell, entry in of.items() if cell in place}
    return [of[int(cell)] for cell in kept]


@dataclass(frozen=True)
class Card:
    """One headline figure."""

    name: str
    value: str
    note: str = ""


@dataclass(frozen=True)
class Bars:
    """A bar chart: names, heights, and the words at the end of each bar."""

    title: str
    names: Sequence[str]
    heights: Sequence[float]
    labels: Sequence[str] | None = None
    note: str = ""

    @property
    def bars(self) -> list[dict[str, Any]]:
        """What the template draws."""
        top = max([*self.heights, 0]) or 1
        labels = self.labels or [f"{height:,.0f}" for height in self.heights]
        return [
            {"name": name, "share": height / top, "label": label}
            for name, height, label in zip(self.names, self.heights, labels, strict=True)
        ]


@dataclass(frozen=True)
class Grid:
    """A small table of facts."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    title: str = ""
    note: str = ""


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
    words = f"{cells:,} cells" + ("" if rows == cells else f" in {rows:,} rows")
    return _page("public", title=title, data=data, cut=cut, statuses=statuses, words=words, note=note)


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
) -> str:
    """Return the confidential report."""
    data, cut = _data(value, cubes, statuses, decimals)
    facts = {"alarms": alarms, "cards": cards, "charts": charts, "sections": sections}
    return _page("internal", title=title, data=data, cut=cut, statuses=statuses, version=__version__, **facts)


def _data(value: str, cubes: Sequence[Cube], statuses: Sequence[StatusKey], decimals: int) -> tuple[Markup, str]:
    cells = sum(len(cube.value) for cube in cubes)
    shown = [cube.shortened(max(1, MOST_CELLS * len(cube.value) // cells)) for cube in cubes] if cells else cubes
    left = cells - sum(len(cube.value) for cube in shown)
    cut = f"The deepest {left:,} of {cells:,} cells are left out here; the table files hold all." if left else ""
    content = {
        "value": value,
        "decimals": decimals,
        "statuses": [{"id": key.id, "text": key.text, "symbol": key.symbol, "mark": key.mark} for key in statuses],
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
