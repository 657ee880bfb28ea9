"""The inner cells of a table, of which all others are sums."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InputError
from tabprotect.table.system import LinearSystem

__all__ = ["inner_cells"]

Ints = npt.NDArray[np.int64]


def inner_cells(system: LinearSystem) -> tuple[Ints, sparse.csr_array]:
    """Return the inner cells, and how every cell adds up from them.

    Parameters
    ----------
    system : LinearSystem
        Every equation is a margin (coefficient -1, or the only one of its sign) and its parts.

    Returns
    -------
    inner : ndarray of int
        Positions of the cells that are no margin.
    sums : sparse array, shape (cells, inner)
        1 where an inner cell is part of a cell.

    Raises
    ------
    InputError
        If there are other equations, or the cells do not all follow from the inner ones: linked tables without
        their common finest table, of which one margin adds up in two ways that have no cell in common.

    Examples
    --------
    >>> s = LinearSystem.from_equations([("t", ["a", "b"]), ("a", ["c", "d"])])
    >>> inner, sums = inner_cells(s)
    >>> s.cells[inner].tolist(), sums.toarray()[0].tolist()
    (['b', 'c', 'd'], [1.0, 1.0, 1.0])
    """
    A = _margins_negative(system)
    n = system.n_cells
    entry_row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    margin = A.indices[A.data < 0]
    parts = A.copy()
    parts.data = np.maximum(parts.data, 0.0)
    parts.eliminate_zeros()
    known = np.ones(n, bool)
    known[margin] = False
    inner = np.flatnonzero(known)
    column = np.cumsum(known) - 1
    sums = sparse.csr_array((np.ones(len(inner)), (inner, column[inner])), shape=(n, len(inner)))
    while not known.all():
        waiting = np.bincount(entry_row, weights=~known[A.indices] & (A.data > 0), minlength=A.shape[0])
        ready = np.flatnonzero((waiting == 0) & ~known[margin])
        if not len(ready):
            cell = system.label(int(np.flatnonzero(~known)[0]))
            raise InputError(f"the equations go round in a circle: no inner cells add up to {cell}")
        first = ready[np.unique(margin[ready], return_index=True)[1]]
        place = sparse.csr_array((np.ones(len(first)), (margin[first], np.arange(len(first)))), shape=(n, len(first)))
        sums = sparse.csr_array(sums + place @ (parts[first] @ sums))
        known[margin[first]] = True
    off = sparse.csr_array(A @ sums)
    off.eliminate_zeros()
    if off.nnz:
        row = int(off.tocoo().coords[0][0])
        raise InputError(
            f"the cells do not follow from the inner cells ({system.equation(row)} counts others): tabulate the finest "
            "table that the linked tables have in common, and say which cells are published"
        )
    return inner, sums


def _margins_negative(system: LinearSystem) -> sparse.csr_array:
    """Return A with the margin of every equation at -1."""
    A = system.A
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    plus, minus = (np.bincount(row, weights=A.data == sign, minlength=A.shape[0]) for sign in (1, -1))
    turn = np.where((minus != 1) & (plus == 1), -1.0, 1.0)
    usual = (plus + minus == np.diff(A.indptr)) & ((minus == 1) | (plus == 1))
    if not usual.all():
        raise InputError(f"not a sum of parts: {system.equation(int(np.flatnonzero(~usual)[0]))}")
    return sparse.csr_array(sparse.diags_array(turn) @ A)
