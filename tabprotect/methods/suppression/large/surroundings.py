"""Cells and equations near a cell, without touching the rest of a large system."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.small import Columns
from tabprotect.table.system import LinearSystem

__all__ = ["Block", "Surroundings"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


class Block(NamedTuple):
    """A part of a system.

    Attributes
    ----------
    cells, rows : ndarray of int
        Ascending.
    A : Columns, shape (len(rows), len(cells))
    """

    cells: Ints
    rows: Ints
    A: Columns


class Surroundings:
    """Grows neighbourhoods over the equations of a system; what a call costs depends on what it returns alone.

    Parameters
    ----------
    system : LinearSystem
    room : ndarray of float, shape (cells,), optional
        How far each cell can move; with `few`.
    few : int, optional
        Balls grow through so many cells of an equation only, those with most room.

    Examples
    --------
    >>> A = sparse.csr_array([[1.0, 1, 0, 0], [0, 1, 1, 0], [0, 0, 1, 1]])
    >>> near = Surroundings(LinearSystem(A, np.zeros(3), range(4)))
    >>> near.ball(np.array([0]), 2, np.ones(4, bool)).tolist()
    [0, 1, 2]
    >>> near.closed(np.array([0, 1, 2]), 0).cells.tolist(), near.closed(np.arange(4), 0).cells.tolist()
    ([0], [0, 1, 2, 3])
    >>> near.relaxed(np.array([1])).rows.tolist()
    [1]
    """

    def __init__(self, system: LinearSystem, room: Floats | None = None, few: int | None = None) -> None:
        rows, columns = system.A, sparse.csc_array(system.A)
        self._row, self._column = _Compressed(rows), _Compressed(columns)
        self._ball = self._row if room is None or few is None else _Compressed(_roomiest(rows, room, few))
        self._shape = rows.shape
        self._clear()

    def _clear(self) -> None:
        m, n = self._shape
        self._row_mark, self._cell_mark = np.zeros(m, bool), np.zeros(n, bool)
        self._row_place, self._cell_place = np.zeros(m, np.int64), np.zeros(n, np.int64)

    def twin(self) -> Surroundings:
        """Return the same for another thread: what is written to is its own."""
        other = copy(self)
        other._clear()
        return other

    def equations(self, cells: Ints) -> Ints:
        """Equations that hold one of the cells, ascending."""
        return _distinct(self._column.entries(cells)[0])

    def ball(
        self,
        cells: Ints,
        hops: int,
        allowed: Bools,
        price: Floats | None = None,
        limit: float = np.inf,
        most: int | None = None,
    ) -> Ints:
        """Return the cells within so many equations of some cells, through allowed ones of price below `limit` only.

        The cells given are there whether allowed or not. Of a hop that leads to more than `most` cells nothing is kept.
        """
        seen_rows, seen = [], [cells]
        self._cell_mark[cells] = True
        wave = cells
        for _ in range(hops):
            rows = self._column.entries(wave)[0]
            rows = _distinct(rows[~self._row_mark[rows]])
            self._row_mark[rows] = True
            seen_rows.append(rows)
            near = self._ball.entries(rows)[0]
            good = allowed[near] & ~self._cell_mark[near]
            if price is not None:
                good &= price[near] < limit
            wave = _distinct(near[good])
            if most is not None and sum(map(len, seen)) + len(wave) > most:
                break
            self._cell_mark[wave] = True
            seen.append(wave)
            if not len(wave):
                break
        found = np.sort(np.concatenate(seen))
        for rows in seen_rows:
            self._row_mark[rows] = False
        self._cell_mark[found] = False
        return found

    def closed(self, cells: Ints, keep: int) -> Block:
        """Return all equations between some cells, which stand still outside.

        Cells that cannot move then (alone in an equation) are left out, and so on, but for the cell `keep`.
        """
        row, length, value = self._column.entries(cells, lengths=True)
        rows, row = self._numbered(row)
        column = np.repeat(np.arange(len(cells)), length)
        alive = np.ones(len(cells), bool)
        own = int(np.searchsorted(cells, keep))
        live = np.arange(len(row))
        while True:
            count = np.bincount(row[live], minlength=len(rows))
            stuck = column[live[count[row[live]] == 1]]
            stuck = stuck[stuck != own]
            if not len(stuck):
                break
            alive[stuck] = False
            live = live[alive[column[live]]]
        left = np.flatnonzero(alive)
        used = np.flatnonzero(count)
        place = np.zeros(len(rows), np.int64)
        place[used] = np.arange(len(used))
        start = np.concatenate(([0], np.cumsum(length[left])))
        return Block(cells[left], rows[used], Columns((len(used), len(left)), start, place[row[live]], value[live]))

    def relaxed(self, rows: Ints) -> Block:
        """Return some equations with all their cells, which are free in all others."""
        cell, length, value = self._row.entries(rows, lengths=True)
        self._cell_mark[cell] = True
        cells = np.unique(cell)
        self._cell_mark[cells] = False
        self._cell_place[cells] = np.arange(len(cells))
        start = np.concatenate(([0], np.cumsum(length)))
        A = sparse.csc_array(sparse.csr_array((value, self._cell_place[cell], start), shape=(len(rows), len(cells))))
        return Block(cells, rows, Columns((len(rows), len(cells)), A.indptr, A.indices, A.data))

    def _numbered(self, row: Ints) -> tuple[Ints, Ints]:
        rows = _distinct(row)
        self._row_place[rows] = np.arange(len(rows))
        return rows, self._row_place[row]


def _distinct(numbers: Ints) -> Ints:
    """Ascending, each once; faster than `numpy.unique` on short arrays, which hashes."""
    ordered = np.sort(numbers)
    fresh = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=fresh[1:])
    return ordered[fresh]


def _roomiest(matrix: sparse.csr_array, room: Floats, few: int) -> sparse.csr_array:
    """The first so many entries of each row, those of columns with most room first."""
    length = np.diff(matrix.indptr)
    row = np.repeat(np.arange(matrix.shape[0]), length)
    order = np.lexsort((-room[matrix.indices], row))
    kept = order[np.arange(len(row)) - np.repeat(matrix.indptr[:-1], length) < few]
    start = np.concatenate(([0], np.cumsum(np.minimum(length, few))))
    return sparse.csr_array((matrix.data[kept], matrix.indices[kept], start), shape=matrix.shape)


class _Compressed:
    """A compressed sparse matrix whose rows (or columns) are gathered many at once."""

    def __init__(self, matrix: sparse.csr_array | sparse.csc_array) -> None:
        self._start = matrix.indptr.astype(np.int64)
        self._length = np.diff(self._start)
        self._index = matrix.indices.astype(np.int64)
        self._value = matrix.data

    def entries(self, which: Ints, *, lengths: bool = False) -> tuple[Ints, Ints, npt.NDArray[np.float64]]:
        """Return the indices of some rows, one after the other; with `lengths` also their lengths, and the values."""
        length = self._length[which]
        ends = np.cumsum(length)
        total = int(ends[-1]) if len(ends) else 0
        entry = np.arange(total) + np.repeat(self._start[which] - (ends - length), length)
        index = self._index[entry]
        return (index, length, self._value[entry]) if lengths else (index, length, self._value[:0])
