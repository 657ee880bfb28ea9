"""Deviations of few cells, many at a time: the circuits of a basis of the hidden cells.

Take the cells in some order, and keep each whose column of A does not follow from those kept before: these are a basis.
Every other cell j closes a circuit with it, one deviation that moves j and cells of the basis that come before j. In an
order of falling room (by how far cells can move) every circuit through the basis moves as far as its narrowest cell
allows, and where all entries are -1, 0 and 1 no other deviation of a cell has a wider narrowest cell (the greedy
algorithm for matroids; Edmonds 1971). Cells that somebody knows come last, so that circuits avoid them where they can.

One sparse elimination gives thousands of them: no programme is solved.
"""

from __future__ import annotations

import heapq

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import CIRCUIT_ENTRY

__all__ = ["circuits"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Terms = dict[int, float]

LOOK = 256
"""After so many columns the limits are looked at."""


def circuits(
    A: sparse.csc_array, order: Ints, down: Floats, up: Floats, most: float, budget: Budget | None = None
) -> sparse.csr_array:
    """Return the circuits of the basis of an order, each to both sides, as far as the bounds of its cells allow.

    Parameters
    ----------
    A : scipy.sparse.csc_array, shape (equations, cells)
    order : ndarray of int
        Hidden cells, the most wanted ones first.
    down, up : ndarray of float, shape (cells,)
        How far cells can move, in the unit of the values; may be infinite.
    most : float
        No cell moves further than this.
    budget : Budget, optional
        Where it is exhausted, what is there until then is returned.

    Returns
    -------
    scipy.sparse.csr_array, shape (deviations, cells)
        One deviation a row, in the unit of the values, up to rounding: to be checked by whoever uses it. A circuit that
        cannot move to a side is left out.

    Examples
    --------
    >>> A = sparse.csc_array([[-1.0, 1, 1, 1]])
    >>> bound = np.array([20.0, 9, 6, 5])
    >>> circuits(A, np.array([1, 2, 3]), bound, np.full(4, np.inf), 10.0).toarray().tolist()
    [[0.0, -9.0, 9.0, 0.0], [0.0, -9.0, 0.0, 9.0], [0.0, 6.0, -6.0, 0.0], [0.0, 5.0, 0.0, -5.0]]
    """
    start, index, data = A.indptr.tolist(), A.indices.tolist(), A.data.tolist()
    basis = _Basis(np.bincount(A.indices, minlength=A.shape[0]).tolist())
    cells: list[int] = []
    moved: list[float] = []
    ends = [0]
    for k, j in enumerate(order.tolist()):
        if budget is not None and k % LOOK == LOOK - 1 and budget.exhausted:
            break
        part = slice(start[j], start[j + 1])
        circuit = basis.add(j, dict(zip(index[part], data[part], strict=True)))
        if circuit:
            cells += circuit.keys()
            moved += circuit.values()
            ends.append(len(cells))
    whole = sparse.csr_array((moved, cells, ends), shape=(len(ends) - 1, A.shape[1]))
    if not len(moved):
        return whole
    whole.sort_indices()
    return sparse.csr_array(sparse.vstack([_stretched(whole, side, down, up, most) for side in (1.0, -1.0)]))


class _Basis:
    """Independent columns, each reduced by those before it.

    Parameters
    ----------
    length : list of int
        Of every equation: short ones are eliminated first.
    """

    def __init__(self, length: list[int]) -> None:
        self._length = length
        self._place: dict[int, int] = {}  # equation -> the column that has its pivot there
        self._rows: list[int] = []
        self._columns: list[Terms] = []  # reduced, with pivot 1 left out
        self._names: list[int] = []
        self._made: list[tuple[float, Terms]] = []  # (pivot, multiples of reduced columns that were taken off)

    def add(self, name: int, column: Terms) -> Terms | None:
        """Take a column in, and return None; or the circuit that it closes, as {column: entry}."""
        taken: Terms = {}
        waiting = [self._place[r] for r in column if r in self._place]
        heapq.heapify(waiting)
        while waiting:
            k = heapq.heappop(waiting)
            value = column.pop(self._rows[k], 0.0)
            if not value:
                continue
            taken[k] = value
            for r, entry in self._columns[k].items():
                now = column.get(r, 0.0) - value * entry
                if abs(now) < CIRCUIT_ENTRY:
                    column.pop(r, None)
                    continue
                if r not in column and r in self._place:
                    heapq.heappush(waiting, self._place[r])
                column[r] = now
        if not column:
            return {name: 1.0, **self._unrolled(taken)}
        row = min(column, key=self._length.__getitem__)
        pivot = column.pop(row)
        self._place[row] = len(self._rows)
        self._rows.append(row)
        self._columns.append({r: entry / pivot for r, entry in column.items()})
        self._names.append(name)
        self._made.append((pivot, taken))
        return None

    def _unrolled(self, taken: Terms) -> Terms:
        """Return minus a combination of reduced columns as one of the columns that they were made of."""
        left = dict(taken)
        waiting = [-k for k in left]
        heapq.heapify(waiting)
        found: Terms = {}
        while waiting:
            k = -heapq.heappop(waiting)
            value = left.pop(k, 0.0)
            if abs(value) < CIRCUIT_ENTRY:
                continue
            pivot, made = self._made[k]
            share = value / pivot
            found[self._names[k]] = -share
            for i, multiple in made.items():
                if i not in left:
                    heapq.heappush(waiting, -i)
                left[i] = left.get(i, 0.0) - share * multiple
        return found


def _stretched(whole: sparse.csr_array, side: float, down: Floats, up: Floats, most: float) -> sparse.csr_array:
    """Return deviations to one side, each as long as the bounds of its cells allow."""
    z, cells = side * whole.data, whole.indices
    room = np.minimum(np.where(z > 0, up[cells], down[cells]), most) / np.abs(z)
    length = np.minimum.reduceat(room, whole.indptr[:-1].astype(np.int64))
    moved = sparse.csr_array(sparse.diags_array(side * length) @ whole)
    return sparse.csr_array(moved[np.flatnonzero(length > 0)])
