"""What an intruder is left with: the hidden cells that can still move, in groups that move independently."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.region import open_region
from tabprotect.masks import cell_mask
from tabprotect.problem import Problem

__all__ = ["Component", "components"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Component:
    """Hidden cells tied to each other by equations, and to no other hidden cell.

    Attributes
    ----------
    cells : ndarray of int
        Positions in the problem, ascending.
    A : csr_array, shape (equations, len(cells))
        The equations between them, each with at least two of the cells. The right-hand side is 0 for deviations.
    """

    cells: Ints
    A: sparse.csr_array


def components(problem: Problem, hidden: Any, known: Sequence[int] = ()) -> Iterator[Component]:
    """Split the hidden cells that can move in the eyes of an intruder into groups that no equation joins.

    Hidden are exactly the cells given, as one bool a cell or as positions: of sums, too, only those among them.

    A published or known cell is a constant, so is a cell whose external bounds coincide; the only hidden cell left in
    an equation follows from the others, and then is a constant itself, and so on. Groups come in order of their first
    cell.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 0, 0], [-1, 0, 0, 1, 1]], [3, 1, 2, 0, 3], [1], lpl=1, upl=1)
    >>> [c.cells.tolist() for c in components(p, [1, 2, 3, 4])]
    [[1, 2], [3, 4]]
    >>> [c.cells.tolist() for c in components(p, [1, 2, 3, 4], known=[3])]
    [[1, 2]]
    """
    movable = cell_mask(hidden, problem.n_cells, "hidden") & ((problem.down > 0) | (problem.up > 0))
    movable[np.asarray(known, dtype=np.int64)] = False
    region = open_region(sparse.csc_array(problem.system.A), np.flatnonzero(movable))
    if not len(region.cells):
        return
    A = sparse.csr_array(region.A)
    order = np.argsort(region.component, kind="stable")
    label = region.component[order]
    row_label = region.component[A.indices[A.indptr[:-1]]]
    row_order = np.argsort(row_label, kind="stable")
    A = sparse.csr_array(A[row_order][:, order])
    A.sort_indices()
    bounds = np.arange(region.n_components + 1)
    column_start, row_start = np.searchsorted(label, bounds), np.searchsorted(row_label[row_order], bounds)
    for c in range(region.n_components):
        j0, j1, r0, r1 = column_start[c], column_start[c + 1], row_start[c], row_start[c + 1]
        start, stop = A.indptr[r0], A.indptr[r1]
        block = sparse.csr_array(
            (A.data[start:stop], A.indices[start:stop] - j0, A.indptr[r0 : r1 + 1] - start), shape=(r1 - r0, j1 - j0)
        )
        yield Component(region.cells[order[j0:j1]], block)
