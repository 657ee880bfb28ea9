"""What is left of A z = 0 once every published cell is a constant."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.connected import connected
from tabprotect.solver.ranges import entries_of

__all__ = ["Region", "open_region"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Region:
    """The equations between cells that can still move.

    Attributes
    ----------
    cells : ndarray of int
        Cell of every column, ascending.
    rows : ndarray of int
        Equation of every row; of equations that became equal only the first is kept.
    A : scipy.sparse.csc_array, shape (len(rows), len(cells))
    component : ndarray of int
        Connected component of every column.
    peeled : ndarray of int
        Hidden cells that the equations fix all the same, in the order in which they fall.
    peel_rows : ndarray of int
        The equation that fixes each of them.
    """

    cells: Ints
    rows: Ints
    A: sparse.csc_array
    component: Ints
    peeled: Ints
    peel_rows: Ints

    @property
    def n_components(self) -> int:
        """Number of connected components."""
        return int(self.component.max()) + 1 if len(self.component) else 0

    def places(self, cells: Ints) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Where cells are among those that can move, and which of them can."""
        place = np.searchsorted(self.cells, cells)
        inside = place < len(self.cells)
        inside[inside] = self.cells[place[inside]] == cells[inside]
        return place, inside

    @cached_property
    def _place(self) -> dict[int, int]:
        """Where every peeled cell is."""
        return {cell: i for i, cell in enumerate(self.peeled.tolist())}

    def fix_peeled(self, A: sparse.csr_array, reduced: dict[int, float]) -> dict[int, float]:
        """Return multipliers of the peeling equations that make the reduced costs of peeled cells zero.

        Parameters
        ----------
        A : scipy.sparse.csr_array
            All equations.
        reduced : dict of int to float
            Non-zero reduced costs (cost - A' multipliers) of peeled cells, by position in `peeled`. It is used up.
        """
        place = self._place if reduced else {}
        heap = [-i for i in reduced]
        heapq.heapify(heap)
        multipliers: dict[int, float] = {}
        while heap:
            i = -heapq.heappop(heap)
            value = reduced.pop(i, 0.0)
            if value == 0.0:
                continue
            row = int(self.peel_rows[i])
            lo, hi = A.indptr[row], A.indptr[row + 1]
            entries = dict(zip(A.indices[lo:hi].tolist(), A.data[lo:hi].tolist(), strict=True))
            factor = value / entries[int(self.peeled[i])]
            multipliers[row] = multipliers.get(row, 0.0) + factor
            for cell, coefficient in entries.items():
                j = place.get(cell, i)
                if j != i:
                    if j not in reduced:
                        heapq.heappush(heap, -j)
                    reduced[j] = reduced.get(j, 0.0) - factor * coefficient
        return multipliers


def open_region(A: sparse.csc_array, cells: Ints) -> Region:
    """Keep the columns `cells`, drop what cannot move, and split the rest into components.

    An equation with one cell left fixes it, which may leave another equation with one cell: cells fall in waves.

    Examples
    --------
    >>> A = sparse.csc_array([[1, 1, 1, 0, 0], [0, 0, 1, 1, 0], [0, 0, 0, 1, 1]])
    >>> r = open_region(A, np.array([0, 1, 2, 3]))
    >>> r.cells.tolist(), r.peeled.tolist(), r.peel_rows.tolist()
    ([0, 1], [3, 2], [2, 1])
    """
    cells = np.asarray(cells, np.int64)
    entry, lengths = entries_of(A.indptr, cells)
    column = np.repeat(np.arange(len(cells)), lengths)
    rows, row = _unique(A.indices[entry].astype(np.int64), A.shape[0])
    data = A.data[entry]
    local = sparse.csc_array(
        (data, row, np.concatenate(([0], np.cumsum(lengths)))), shape=(len(rows), len(cells)), dtype=np.float64
    )

    count = np.bincount(row, minlength=len(rows))
    names = np.bincount(row, weights=column, minlength=len(rows)).astype(np.int64)
    alive = np.ones(len(cells), bool)
    fallen: list[Ints] = []
    by: list[Ints] = []
    wave = np.flatnonzero(count == 1)
    while len(wave):
        now, first = np.unique(names[wave], return_index=True)
        fallen.append(now)
        by.append(wave[first])
        alive[now] = False
        gone = local[:, now]
        touched = np.repeat(now, np.diff(gone.indptr))
        np.subtract.at(count, gone.indices, 1)
        np.subtract.at(names, gone.indices, touched)
        candidates = np.unique(gone.indices)
        wave = candidates[count[candidates] == 1]
    none = np.zeros(0, np.int64)
    peeled = np.concatenate(fallen) if fallen else none
    peel_rows = np.concatenate(by) if by else none

    keep = np.flatnonzero(alive)
    inner = (local[:, keep] if fallen else local).tocsr()
    distinct = _distinct_rows(inner)
    if len(distinct) < len(rows):
        inner = inner[distinct]
    m, n = inner.shape
    component = connected(inner.indices, n + np.repeat(np.arange(m), np.diff(inner.indptr)), n + m)[:n]
    # labels of rows without cells cannot occur (every row kept has cells), so column labels are dense
    return Region(
        cells[keep],
        rows[distinct],
        sparse.csc_array(inner),
        component,
        cells[peeled],
        rows[peel_rows],
    )


def _unique(index: Ints, size: int) -> tuple[Ints, Ints]:
    """np.unique with inverse; by a table where that is cheaper than sorting."""
    if size > 16 * len(index) + 1000:
        values, inverse = np.unique(index, return_inverse=True)
        return values, inverse
    seen = np.zeros(size, bool)
    seen[index] = True
    values = np.flatnonzero(seen)
    place = np.zeros(size, np.int64)
    place[values] = np.arange(len(values))
    return values, place[index]


def _distinct_rows(A: sparse.csr_array) -> Ints:
    """Rows that have entries and are not equal to an earlier one, or to its negative."""
    m, n = A.shape
    A.sort_indices()
    hashes = A @ np.random.default_rng(0).random((n, 2)) if n else np.zeros((m, 2))
    flip = np.where(hashes[:, 0] < 0, -1.0, 1.0)
    hashes *= flip[:, None]
    first = np.unique(hashes, axis=0, return_index=True)[1]
    first = np.sort(first)
    filled = np.diff(A.indptr) > 0
    return np.asarray(first[filled[first]], np.int64)
