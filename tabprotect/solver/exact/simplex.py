"""The simplex method in rational numbers, for what floating point leaves undecided on small polyhedra."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Final

import numpy as np

from tabprotect.solver.exact.polyhedron import Polyhedron
from tabprotect.solver.exact.rational import RationalVector

__all__ = ["furthest"]

OPERATIONS: Final = 1_000_000
"""The method gives up after so many additions of fractions, which take a few seconds."""

Row = dict[int, Fraction]


def furthest(polyhedron: Polyhedron, target: int, side: int, enough: int) -> tuple[RationalVector, bool] | None:
    """Move one entry as far as the polyhedron lets it, from 0, which must be in it.

    The primal simplex method with bounds and Bland's rule.

    Parameters
    ----------
    polyhedron : Polyhedron
    target : int
        The entry.
    side : {1, -1}
        Up or down.
    enough : int
        The method ends where the entry has moved so far, times ``polyhedron.scale``.

    Returns
    -------
    (RationalVector, bool) or None
        A point of the polyhedron, and whether the entry moves by `enough` there; if not, it moves further nowhere.
        None where this takes too long.

    Examples
    --------
    >>> from scipy import sparse
    >>> row = sparse.csr_array(np.array([[-1, 1, 1]]))
    >>> box = Polyhedron(row, np.array([-3] * 3), np.array([4] * 3), np.ones(3, bool), np.ones(3, bool), 1)
    >>> point, reached = furthest(box, 1, 1, 9)
    >>> point.numerators.tolist(), reached
    ([4, 4, 0], False)
    """
    method = _Simplex(polyhedron, target, side, enough)
    while method.operations < OPERATIONS:
        if not method.step():
            return method.point(), method.moved >= enough
    return None


class _Simplex:
    """Rows z[basic] = - sum of coefficient times z of the other columns."""

    def __init__(self, polyhedron: Polyhedron, target: int, side: int, enough: int) -> None:
        p = polyhedron
        n = p.A.shape[1]
        self.scale, self.target, self.side, self.enough = p.scale, target, side, enough
        self.z = [Fraction(0)] * n
        pairs = zip(p.lower.tolist(), p.lower_finite.tolist(), strict=True)
        self.low = [Fraction(int(x)) if finite else None for x, finite in pairs]
        pairs = zip(p.upper.tolist(), p.upper_finite.tolist(), strict=True)
        self.high = [Fraction(int(x)) if finite else None for x, finite in pairs]
        self.rows: dict[int, Row] = {}
        self.operations = 0
        for i in range(p.A.shape[0]):
            part = slice(p.A.indptr[i], p.A.indptr[i + 1])
            entries = zip(p.A.indices[part].tolist(), p.A.data[part].tolist(), strict=True)
            if self.operations < OPERATIONS:
                self._add({j: Fraction(int(a)) for j, a in entries if a})

    @property
    def moved(self) -> Fraction:
        return self.side * self.z[self.target]

    def _add(self, row: Row) -> None:
        """Take an equation in; one that follows from those before changes nothing."""
        for basic in [j for j in row if j in self.rows]:
            self._add_multiple(row, self.rows[basic], -row.pop(basic))
        if not row:
            return
        new = next((j for j in row if j != self.target), self.target)
        self._enter(new, row)

    def _enter(self, column: int, row: Row) -> None:
        """Make a column basic by an equation."""
        factor = row.pop(column)
        row = {j: a / factor for j, a in row.items()}
        for other in self.rows.values():
            if (a := other.pop(column, None)) is not None:
                self._add_multiple(other, row, -a)
        self.rows[column] = row

    def step(self) -> bool:
        """Move one column as far as it goes; False where nothing is left to gain."""
        if self.moved >= self.enough:
            return False
        entering = self._entering()
        if entering is None:
            return False
        column, way = entering
        moves = [(column, Fraction(way)), *((b, -way * row[column]) for b, row in self.rows.items() if column in row)]
        step, leaving = min(self._rooms(moves), key=lambda room: room)
        for j, rate in moves:
            self.z[j] += rate * step
        if leaving in self.rows:
            row = self.rows.pop(leaving)
            row[leaving] = Fraction(1)
            self._enter(column, row)
        return True

    def _rooms(self, moves: list[tuple[int, Fraction]]) -> Iterator[tuple[Fraction, int]]:
        """How far every moving column may go; the target no further than asked."""
        for j, rate in moves:
            if j == self.target and rate * self.side > 0:
                yield (self.enough - self.moved) / abs(rate), j
            bound = self.high[j] if rate > 0 else self.low[j]
            if bound is not None:
                yield (bound - self.z[j]) / rate, j

    def _entering(self) -> tuple[int, int] | None:
        """Return the first column that moves the target on, and which way."""
        if self.target not in self.rows:
            gains = {self.target: Fraction(self.side)}
        else:
            gains = {j: -self.side * a for j, a in self.rows[self.target].items()}
        for j in sorted(gains):
            bound = self.high[j] if gains[j] > 0 else self.low[j]
            if bound is None or bound != self.z[j]:
                return j, 1 if gains[j] > 0 else -1
        return None

    def point(self) -> RationalVector:
        """Return where it stands, over one denominator."""
        denominator = math.lcm(*(x.denominator for x in self.z))
        numerators = [int(x * denominator) for x in self.z]
        divisor = math.gcd(denominator * self.scale, *numerators)
        return RationalVector(
            np.array([x // divisor for x in numerators], dtype=object), denominator * self.scale // divisor
        )

    def _add_multiple(self, row: Row, other: Row, factor: Fraction) -> None:
        """Add a multiple of another row; entries that vanish are left out."""
        self.operations += len(other)
        for j, a in other.items():
            if value := row.get(j, Fraction(0)) + factor * a:
                row[j] = value
            else:
                row.pop(j, None)
