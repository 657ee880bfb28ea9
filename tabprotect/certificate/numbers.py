"""The problem inside a certificate as Python integers; the standard library only."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

from tabprotect.certificate.document import (
    COLUMNS,
    EXPONENT,
    FORCED,
    PRIMARY,
    PROBLEM,
    SAFE,
    SHOWN,
    ZERO,
    Malformed,
    integers,
    list_of,
    mapping_of,
    positions,
    require,
    text_of,
)
from tabprotect.certificate.limits import Meter
from tabprotect.certificate.shown import check_shown

__all__ = ["Numbers", "decimal"]

_DECIMAL = re.compile(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?(?:e[+-]?[0-9]{1,3})?")


def decimal(text: Any, name: str) -> Fraction:
    """Return a number that must be written as the decimal of a float."""
    if not isinstance(text, str) or not _DECIMAL.fullmatch(text):
        words = repr(text) if isinstance(text, (str, int, float, type(None))) else type(text).__name__
        raise Malformed(f"'{name}' holds {words[:60]}, which is not a number written as text")
    if not math.isfinite(float(text)) or abs(int(text.partition("e")[2] or 0)) > EXPONENT:
        raise Malformed(f"'{name}' holds {text}, which no floating-point number can be")
    return Fraction(text)


class Numbers:
    """The numbers of a problem as integers: values, bounds and levels times `scale`, coefficients times `unit`.

    Intruders who know that all values are integers see levels and external bounds rounded to integers.

    Parameters
    ----------
    problem : mapping
        The section ``problem`` of a certificate.
    meter : Meter, optional
        Counts the work of all that is done with them.

    Raises
    ------
    Malformed
        Unless every entry is of the right type, length and range.
    """

    def __init__(self, problem: Any, meter: Meter | None = None) -> None:
        self.meter = meter = meter or Meter()
        problem = mapping_of(problem, "problem", PROBLEM, SHOWN)
        self.n = n = len(list_of(problem["cells"], "cells"))
        self._check_ids(problem["cells"])
        if "shown" in problem:
            check_shown(problem["shown"], n)
            meter.spend(10 * len(problem["shown"]["other"]))
        self._memo: dict[str, Fraction] = {}
        column = {name: self._column(problem, name, n) for name in COLUMNS if name != "status"}
        self.status = integers(problem["status"], "status")
        require(len(self.status) == n and all(SAFE <= s <= ZERO for s in self.status), "status must be 0 to 4 a cell")
        self.integer = problem["integer"]
        require(isinstance(self.integer, bool), "'integer' must be true or false")
        meter.spend(100 * n)
        finite = [
            v for name in COLUMNS if name not in ("status", "weights") for v in set(column[name]) if v is not None
        ]
        scale = math.lcm(1, *{v.denominator for v in finite})
        value, down, up = (scaled(column[name], scale) for name in ("values", "lower", "upper"))
        levels = {side: scaled(column[name], scale) for side, name in ((1, "upl"), (-1, "lpl"), (0, "spl"))}
        self.values: list[int] = [v for v in value if v is not None]
        self.need = {side: [v for v in level if v is not None] for side, level in levels.items()}
        self.scale = scale
        self.down = [None if d is None else v - d for v, d in zip(self.values, down, strict=True)]
        self.up = [None if u is None else u - v for v, u in zip(self.values, up, strict=True)]
        self._equations(problem)
        if self.integer:
            self._round()
        inside = all(v is None or v >= 0 for distances in (self.down, self.up) for v in distances)
        require(inside, "values must lie within their external bounds")
        require(all(v >= 0 for level in self.need.values() for v in level), "protection levels must be >= 0")
        self.weights = [w for w in column["weights"] if w is not None]
        require(all(w >= 0 for w in self.weights), "weights must be >= 0")
        self.known: list[frozenset[int]] = []
        self.unasked: list[frozenset[int]] = []
        for attacker in list_of(problem["attackers"], "attackers"):
            mapping_of(attacker, "attacker", ("name", "known"), ("spared",))
            text_of(attacker["name"], "name of an attacker")
            known = positions(attacker["known"], n, "known cells")
            spared = positions(attacker.get("spared", []), n, "spared cells")
            self.known.append(frozenset(known))
            self.unasked.append(frozenset((*known, *spared)))
            meter.spend(10 + len(known) + len(spared))

    def _check_ids(self, cells: list[Any]) -> None:
        seen = set()
        for cell in cells:
            parts = tuple(cell) if isinstance(cell, list) else (cell,)
            plain = all(type(part) in (str, int) or (type(part) is list and _plain(part)) for part in parts)
            require(plain, "the id of a cell must be text, a whole number, or a list of these")
            key = (isinstance(cell, list), *(tuple(part) if isinstance(part, list) else part for part in parts))
            require(key not in seen, f"two cells are called {cell!r:.60}")
            seen.add(key)

    def _column(self, problem: Mapping[str, Any], name: str, n: int | None = None) -> list[Fraction | None]:
        column = list_of(problem[name], name)
        require(n is None or len(column) == n, f"'{name}' must have {n} entries")
        endless = {"lower": "-inf", "upper": "inf"}.get(name)
        require(all(isinstance(text, str) for text in column), f"'{name}' must hold numbers written as text")
        for text in set(column):
            if text != endless and text not in self._memo:
                self._memo[text] = decimal(text, name)
        return [None if text == endless else self._memo[text] for text in column]

    def _equations(self, problem: Mapping[str, Any]) -> None:
        coefficients, rhs = self._column(problem, "coefficient"), self._column(problem, "rhs")
        start, cell = integers(problem["start"], "start"), positions(problem["cell"], self.n, "cell")
        self.unit = math.lcm(1, *{c.denominator for c in set(coefficients) if c is not None})
        number = scaled(coefficients, self.unit)
        self.meter.spend(20 * len(cell) + 10 * len(rhs))
        shape = len(start) == len(rhs) + 1 and start[0] == 0 and start[-1] == len(cell) == len(number)
        require(shape and start == sorted(start), "'start', 'cell', 'coefficient' and 'rhs' do not make equations")
        self.rows = [
            [(j, c) for j, c in zip(cell[lo:hi], number[lo:hi], strict=True) if c is not None]
            for lo, hi in itertools.pairwise(start)
        ]
        factor = self.unit * self.scale
        sums = [Fraction(sum(c * self.values[j] for j, c in row), factor) for row in self.rows]
        self.residual = max((abs(s - (r or 0)) for s, r in zip(sums, rhs, strict=True)), default=Fraction(0))
        self.columns: list[list[tuple[int, int]]] = [[] for _ in range(self.n)]
        for i, row in enumerate(self.rows):
            for j, c in row:
                self.columns[j].append((i, c))

    def _round(self) -> None:
        s = self.scale
        require(all(v % s == 0 for v in self.values), "values of an integer problem must be integers")
        self.values = [v // s for v in self.values]
        self.down = [None if d is None else d // s for d in self.down]
        self.up = [None if u is None else u // s for u in self.up]
        self.need = {side: [-(-v // s) for v in levels] for side, levels in self.need.items()}
        self.scale = 1

    def must_hide(self, cell: int) -> bool:
        """Primary or forced: hidden in every pattern."""
        return self.status[cell] in (PRIMARY, FORCED)

    def is_open(self, cell: int) -> bool:
        """Whether hiding the cell is a choice that costs something."""
        return self.status[cell] == SAFE and self.weights[cell] > 0

    def questions(self) -> list[tuple[int, int]]:
        """Return (cell, side) of every level that the public intruder must not beat; 0 asks for SPL."""
        primary = [p for p in range(self.n) if self.status[p] == PRIMARY]
        up, down, wide = (self.need[side] for side in (1, -1, 0))
        return [
            (p, side)
            for p in primary
            for side in (1, -1, 0)
            if (self.need[side][p] > 0 if side else wide[p] > up[p] + down[p])
        ]


def scaled(column: Iterable[Fraction | None], scale: int) -> list[int | None]:
    return [None if v is None else v.numerator * (scale // v.denominator) for v in column]


def _plain(part: list[Any]) -> bool:
    return all(type(piece) in (str, int) for piece in part)
