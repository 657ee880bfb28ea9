"""Charts of confidential pages, as their templates draw them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tabprotect.report.numbers import STANDARD, Numbers

__all__ = ["Bars", "Course", "Spans", "Steps"]


@dataclass(frozen=True)
class Bars:
    """A bar chart: names, heights, and the words at the end of each bar; a height of None does not apply.

    Without words heights stand there, as whole numbers or with so many significant digits.
    """

    title: str
    names: Sequence[str]
    heights: Sequence[float | None]
    labels: Sequence[str] | None = None
    note: str = ""
    bad: bool = False
    digits: int | None = None

    def bars(self, numbers: Numbers = STANDARD) -> list[dict[str, Any]]:
        """Return what the template draws."""
        known = [height for height in self.heights if height is not None]
        top = max([*known, 0]) or 1
        labels = self.labels or ["does not apply" if h is None else self._written(h, numbers) for h in self.heights]
        return [
            {"name": name, "share": 0.0 if height is None else height / top, "label": label}
            for name, height, label in zip(self.names, self.heights, labels, strict=True)
        ]

    def _written(self, height: float, numbers: Numbers) -> str:
        return numbers(height, ",.0f") if self.digits is None else numbers.plain(float(f"{height:.{self.digits}g}"))


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
class Steps:
    """Something that changes now and then: from each place on the value beside it.

    Attributes
    ----------
    name, style : str
        The style is the class of the line.
    points : sequence of (float, float)
        Places in their order, and values.
    """

    name: str
    style: str
    points: Sequence[tuple[float, float]]


_LEFT: Final = 100.0
_RIGHT: Final = 430.0
_TOP: Final = 10.0
_BOTTOM: Final = 160.0


@dataclass(frozen=True)
class Course:
    """How values went: steps over an axis that begins at 0.

    Attributes
    ----------
    title, across, note : str
        The second is the word below the axis.
    lines : sequence of Steps
    end : float
        Where the axis ends.
    """

    title: str
    across: str
    lines: Sequence[Steps]
    end: float
    note: str = ""

    def drawn(self, numbers: Numbers = STANDARD) -> dict[str, Any]:
        """Return what the template draws, in the units of its picture.

        Examples
        --------
        >>> chart = Course("Cost", "work units", [Steps("cost", "cost", [(0, 8), (5, 4)])], 10)
        >>> chart.drawn()["lines"][0]["points"]
        '100.0,10.0 265.0,10.0 265.0,85.0 430.0,85.0'
        """
        values = [value for line in self.lines for _, value in line.points]
        low, high = min([0.0, *values]), max([0.0, *values])
        size, end = (high - low) or 1.0, self.end or 1.0

        def at(place: float, value: float) -> tuple[float, float]:
            share = (value - low) / size
            return _LEFT + (_RIGHT - _LEFT) * min(1.0, place / end), _BOTTOM - (_BOTTOM - _TOP) * share

        levels = [(at(0, value)[1], _round(value, numbers)) for value in (low, low + size / 2, low + size)]
        places = [(_LEFT, "0", "start"), (_RIGHT, _round(self.end, numbers), "end")]
        return {"levels": levels, "places": places, "lines": [self._line(line, at) for line in self.lines]}

    def _line(self, line: Steps, at: Callable[[float, float], tuple[float, float]]) -> dict[str, Any]:
        corners: list[tuple[float, float]] = []
        for place, value in line.points:
            corners += [(place, corners[-1][1])] if corners else []
            corners.append((place, value))
        corners += [(self.end, corners[-1][1])] if corners else []
        drawn = [at(*corner) for corner in corners]
        points = " ".join(dict.fromkeys(f"{x:.1f},{y:.1f}" for x, y in drawn))
        return {"name": line.name, "style": line.style, "points": points, "dot": drawn[-1] if drawn else None}


def _round(value: float, numbers: Numbers) -> str:
    return numbers(value, ",.0f" if 1_000 <= abs(value) < 1e10 else ",.4g")
