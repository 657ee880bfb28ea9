"""The subtables of a system: one margin split along each of its dimensions, found from the equations alone.

A hierarchical table is a stack of plain tables: total x total by the codes below them, and so on for every pair
(triple, ...) of parents. In the equations such a plain table starts at its corner t: every equation with margin t is
one of its directions; the parts of those are margins again, and an equation of such a part belongs to the same plain
table when its parts are reached through a second direction as well. No codes are needed, so linked tables and bare
instance files have subtables, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.counted import counted
from tabprotect.errors import InputError
from tabprotect.table.system import LinearSystem

__all__ = ["Subtable", "subtables"]

Ints = npt.NDArray[np.int64]
Codes = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Subtable:
    """A plain table within a system.

    Attributes
    ----------
    corner : int
        The cell that is the total in all its directions.
    rows : ndarray of int
        Its equations.
    cells : ndarray of int
        Its cells, ascending.
    codes : ndarray of int, shape (cells, directions)
        Where each cell stands: 0 is the margin of a direction, 1, 2, ... its parts. No two cells stand at one place.
    """

    corner: int
    rows: Ints
    cells: Ints
    codes: Ints

    def faces(self) -> list[Subtable]:
        """Return the largest parts whose directions are all crossed with each other, as tables of their own.

        Linked tables meet in a corner without being crossed: a by b and a by c have no cell of one b and one c.
        """
        supports = {tuple(np.flatnonzero(code).tolist()) for code in self.codes}
        largest = [s for s in supports if not any(set(s) < set(other) for other in supports)]
        found = []
        for directions in sorted(largest):
            outside = np.setdiff1d(np.arange(self.codes.shape[1]), directions)
            inside = ~self.codes[:, outside].any(axis=1)
            found.append(Subtable(self.corner, self.rows, self.cells[inside], self.codes[inside][:, list(directions)]))
        return found

    def grid(self) -> Ints:
        """Return the cells as an array with one axis a direction; -1 where there is none."""
        shape = tuple((self.codes.max(axis=0) + 1).tolist()) if len(self.codes) else ()
        grid = np.full(shape, -1, np.int64)
        grid[tuple(self.codes.T)] = self.cells
        return grid


def subtables(system: LinearSystem) -> list[Subtable]:
    """Find the subtables of a system, those nearest to the grand total first.

    Every equation is in one of them at least; a subtable whose directions are all within another one is left out.

    Raises
    ------
    InputError
        If an equation is not a sum: several terms of either sign.

    Examples
    --------
    A row total over two codes, the first of which has two parts, by two columns: three equations side by side at the
    top and at the first code.

    >>> from tabprotect.table.hierarchy import Hierarchy
    >>> rows = Hierarchy.from_pairs([("T", "1"), ("T", "2"), ("1", "11"), ("1", "12")])
    >>> system = LinearSystem.from_hierarchies([rows, Hierarchy.flat(["a", "b"])])
    >>> [(system.label(t.corner), len(t.rows), t.codes.max(axis=0).tolist()) for t in subtables(system)]
    [('T x Total', 6, [2, 2]), ('1 x Total', 6, [2, 2])]
    """
    return list(_Finder(system).run())


class _Finder:
    def __init__(self, system: LinearSystem) -> None:
        A = system.A
        m, self.n = A.shape
        sizes = np.diff(A.indptr)
        row = np.repeat(np.arange(m), sizes)
        positive = np.bincount(row[A.data > 0], minlength=m)
        negative = sizes - positive
        bad = np.flatnonzero((negative != 1) & (positive != 1) & (sizes > 1))
        if len(bad):
            raise InputError(
                f"{counted(len(bad), 'equation is', 'equations are')} no sum of parts, such as "
                f"{system.equation(int(bad[0]))}; subtables are "
                "found in sums only: take method='exact', 'greedy' or 'joint'"
            )
        # a sum over one part may be read both ways; margins are -1 where the signs do not tell
        self.sign = np.where(negative == 1, -1.0, 1.0)
        is_margin = np.sign(A.data) == self.sign[row]
        is_margin &= sizes[row] > 1
        self.margin = np.full(m, -1, np.int64)
        self.margin[row[is_margin]] = A.indices[is_margin]
        part = ~is_margin & (sizes[row] > 1)
        self.parts = sparse.csr_array(
            (np.ones(int(part.sum()), np.int8), (row[part], A.indices[part])), shape=(m, self.n)
        )
        self.below: dict[int, list[int]] = {}
        for r, cell in enumerate(self.margin.tolist()):
            if cell >= 0:
                self.below.setdefault(cell, []).append(r)

    def run(self) -> Iterator[Subtable]:
        within: dict[int, set[int]] = {}
        for number, corner in enumerate(self._order()):
            mine = self.below[corner]
            if set.intersection(*(within.get(r, set()) for r in mine)):
                continue
            table = self._table(corner, mine)
            for r in table.rows.tolist():
                within.setdefault(r, set()).add(number)
            yield table

    def _order(self) -> list[int]:
        """Margins by the longest way down to them from a cell that is no part of anything."""
        waits = np.bincount(self.parts.indices, minlength=self.n)
        depth = np.zeros(self.n, np.int64)
        ready = [int(i) for i in np.flatnonzero(waits == 0)]
        while ready:
            cell = ready.pop()
            for r in self.below.get(cell, ()):
                for part in self._parts(r):
                    depth[part] = max(depth[part], depth[cell] + 1)
                    waits[part] -= 1
                    if waits[part] == 0:
                        ready.append(part)
        depth[waits > 0] = self.n  # sums that go round in a circle come last
        return sorted(self.below, key=lambda cell: (depth[cell], cell))

    def _parts(self, row: int) -> list[int]:
        return [int(i) for i in self.parts.indices[self.parts.indptr[row] : self.parts.indptr[row + 1]]]

    def _table(self, corner: int, directions: list[int]) -> Subtable:
        d = len(directions)
        place: dict[int, Codes] = {corner: (0,) * d}
        rows = list(directions)
        front: dict[int, Codes] = {}
        for k, r in enumerate(directions):
            for number, part in enumerate(self._parts(r)):
                if part not in place:
                    front[part] = place[part] = tuple(number + 1 if i == k else 0 for i in range(d))
        while front:
            accepted, front = self._next(front, place)
            rows += accepted
            place |= front
        cells = np.array(sorted(place), np.int64)
        codes = np.array([place[int(i)] for i in cells], np.int64).reshape(len(cells), d)
        return Subtable(corner, np.array(rows, np.int64), cells, codes)

    def _next(self, front: dict[int, Codes], place: dict[int, Codes]) -> tuple[list[int], dict[int, Codes]]:
        """Take one step away from the corner: equations of cells in front whose parts are all reached twice."""
        candidates = [(r, code, self._parts(r)) for cell, code in front.items() for r in self.below.get(cell, ())]
        reached: dict[int, int] = {}
        for _, _, parts in candidates:
            for part in parts:
                reached[part] = reached.get(part, 0) + 1
        accepted = [
            (r, code, parts)
            for r, code, parts in candidates
            if all(reached[part] > 1 and part not in place for part in parts)
        ]
        found: dict[int, Codes] = {}
        for _, code, parts in accepted:
            for part in parts:
                found[part] = tuple(map(max, code, found.get(part, code)))
        # two groupings of the same codes cross without giving every cell a place of its own: not one table
        users: dict[Codes, int] = {}
        for code in found.values():
            users[code] = users.get(code, 0) + 1
        shared = {tuple(c > 0 for c in code) for code, times in users.items() if times > 1}
        lost = {part for part, code in found.items() if tuple(c > 0 for c in code) in shared}
        rows = [r for r, _, parts in accepted if lost.isdisjoint(parts)]
        return rows, {part: found[part] for r in rows for part in self._parts(r)}
