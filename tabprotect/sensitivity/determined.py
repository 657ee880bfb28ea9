"""Sums of hidden cells that one equation or a few of them determine, whatever their size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.table.system import LinearSystem

__all__ = ["determined_unions"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

DEPTH: Final = 2
"""How many hidden margins one after the other are replaced by their parts."""


def determined_unions(system: LinearSystem, pattern: Bools) -> tuple[Ints, ...]:
    """Return the sets of two or more hidden cells whose sum the published cells determine.

    These are (1) the hidden parts of every equation whose margin is published; (2) such a set in which a hidden
    margin is replaced by its hidden parts, up to `DEPTH` times (the sum of two or three equations); (3) the
    difference of two such sets, one inside the other. Longer combinations of equations are looked for by
    `tabprotect.sensitivity.invariants`, for small sums. Equations with coefficients other than +1 and -1 are passed
    over. Single cells that are determined are the business of the
    interval audit.

    Parameters
    ----------
    system : LinearSystem
    pattern : ndarray of bool, shape (cells,)
        True where a cell is hidden.

    Examples
    --------
    >>> s = LinearSystem.from_equations([("t", ["a", "b", "c", "d"]), ("b", ["e", "f", "g"])])
    >>> hidden = np.isin(s.cells, ["a", "b", "e", "f"])
    >>> [s.cells[u].tolist() for u in determined_unions(s, hidden)]
    [['a', 'b'], ['a', 'e', 'f']]
    """
    hidden = np.flatnonzero(pattern)
    rows = sparse.csr_array(_margins_negative(system.A)[:, hidden])
    plus, minus = _count(rows, 1.0), _count(rows, -1.0)
    usual = plus + minus == np.diff(rows.indptr)
    base = sparse.vstack(
        [rows[usual & (minus == 0) & (plus > 0)], -rows[usual & (plus == 0) & (minus > 0)]], format="csr"
    )
    margins = sparse.csr_array(rows[usual & (minus == 1) & (plus > 0)])
    found: dict[bytes, Ints] = {}
    frontier = _new(base, found)
    for _ in range(DEPTH):
        frontier = _new(_replaced(frontier, margins), found)
    sets = [cells for cells in found.values() if len(cells)]
    _new(_differences(sets, len(hidden)), found)
    unions = (hidden[cells] for cells in found.values() if len(cells) > 1)
    return tuple(sorted(unions, key=lambda cells: cells.tolist()))


def _count(A: sparse.csr_array, sign: float) -> Floats:
    """Return how often every row has the coefficient `sign`."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    return np.asarray(np.bincount(row, weights=A.data == sign, minlength=A.shape[0]), np.float64)


def _margins_negative(A: sparse.csr_array) -> sparse.csr_array:
    """Return A with every equation that has one cell of coefficient +1 and several of -1 turned over."""
    plus, minus = _count(A, 1.0), _count(A, -1.0)
    turn = np.where((plus == 1) & (minus > 1), -1.0, 1.0)
    return sparse.csr_array(sparse.diags_array(turn) @ A)


def _new(sets: sparse.csr_array, found: dict[bytes, Ints]) -> sparse.csr_array:
    """Note the rows that are not known yet; return them."""
    sets.sort_indices()
    fresh = []
    for row in range(sets.shape[0]):
        cells = sets.indices[sets.indptr[row] : sets.indptr[row + 1]].astype(np.int64)
        if found.setdefault(cells.tobytes(), cells) is cells:
            fresh.append(row)
    return sparse.csr_array(sets[fresh])


def _replaced(sets: sparse.csr_array, margins: sparse.csr_array) -> sparse.csr_array:
    """Return every set with one of its cells, a hidden margin, replaced by its hidden parts."""
    heads = margins.copy()
    heads.data = (margins.data == -1).astype(np.float64)
    heads.eliminate_zeros()
    pairs = (sets @ heads.T).tocoo()
    both = sparse.csr_array(sets[pairs.coords[0]] + margins[pairs.coords[1]])
    both.eliminate_zeros()
    return sparse.csr_array(both[_count(both, 1.0) == np.diff(both.indptr)])


def _differences(sets: Sequence[Ints], n: int) -> sparse.csr_array:
    """Return what is left of every set without another one that lies inside it."""
    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.concatenate([np.zeros(0, np.int64), *sets])
    rows = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(sets), n))
    sizes = np.diff(indptr)
    # a set lies only in such that have its rarest cell
    order = np.lexsort((np.bincount(indices, minlength=n)[indices], np.repeat(np.arange(len(sets)), sizes)))
    rarest = indices[order[indptr[:-1]]]
    having = sparse.csr_array(rows.T)
    inner = np.repeat(np.arange(len(sets)), np.diff(having.indptr)[rarest])
    outer = having[rarest].indices
    larger = sizes[inner] < sizes[outer]
    outer, inner = outer[larger], inner[larger]
    inside = (rows[outer].multiply(rows[inner]).sum(axis=1) == sizes[inner]) if len(inner) else larger[larger]
    left = sparse.csr_array(rows[outer[inside]] - rows[inner[inside]])
    left.eliminate_zeros()
    return left
