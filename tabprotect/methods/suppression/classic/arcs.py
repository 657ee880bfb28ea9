"""Equations as a network: cells are arcs, sums are nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.connected import connected
from tabprotect.solver.exact.elimination import eliminate

__all__ = ["Network", "network_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Network:
    """Every cell is an arc from `tail` to `head`: A z = 0 says that as much flows into each node as out of it.

    Attributes
    ----------
    tail, head : ndarray of int, shape (cells,)
    n_nodes : int
        The last node is the ground: it has the missing ends of cells that are in one equation only, or in none.
    """

    tail: Ints
    head: Ints
    n_nodes: int


def network_of(A: sparse.csr_array) -> Network | None:
    """Return the network behind equations, or None where there is none.

    Needed are independent equations, scaled by +-1, in which every cell has at most one +1 and one -1. Two-way tables
    have them, also with a hierarchy in one dimension: there the sums over the other dimension at codes with parts
    follow from those at the parts and are left out.

    Examples
    --------
    >>> net = network_of(sparse.csr_array([[-1.0, 1, 1, 0], [0, 0, -1, 1]]))
    >>> net.n_nodes, len(net.tail)
    (3, 4)
    >>> network_of(sparse.csr_array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]])) is None
    True
    """
    plain = _plain(A)
    rows = None if plain is None else _thinned(plain)
    if plain is None or rows is None:
        return None
    kept = sparse.csr_array(plain[rows])
    if len(rows) < plain.shape[0] and eliminate(kept).rank < eliminate(plain).rank:
        return None
    sign = _signs(kept)
    if sign is None:
        return None
    m, n = kept.shape
    entry = kept.tocoo()
    value = entry.data * sign[entry.coords[0]]
    tail, head = np.full(n, m), np.full(n, m)
    tail[entry.coords[1][value < 0]] = entry.coords[0][value < 0]
    head[entry.coords[1][value > 0]] = entry.coords[0][value > 0]
    return Network(tail, head, m + 1)


def _plain(A: sparse.csr_array) -> sparse.csr_array | None:
    """Different rows of -1 and +1, or None."""
    size = np.diff(A.indptr)
    first = np.zeros(A.shape[0])
    first[size > 0] = A.data[A.indptr[:-1][size > 0]]
    row = np.repeat(np.arange(A.shape[0]), size)
    scaled = A.data / np.abs(first[row])
    if not np.all(np.abs(scaled) == 1):
        return None
    B = sparse.csr_array((scaled, A.indices.copy(), A.indptr.copy()), shape=A.shape)
    B.sort_indices()
    seen: dict[bytes, int] = {}
    for r in np.flatnonzero(size).tolist():
        part = slice(B.indptr[r], B.indptr[r + 1])
        seen.setdefault(B.indices[part].tobytes() + (B.data[part] * B.data[B.indptr[r]]).tobytes(), r)
    return sparse.csr_array(B[sorted(seen.values())])


def _thinned(A: sparse.csr_array) -> Ints | None:
    """Rows after leaving out equations that repeat what others say, until no cell is in three; None if that fails."""
    m = A.shape[0]
    row = np.repeat(np.arange(m), np.diff(A.indptr))
    negative = np.bincount(row[A.data < 0], minlength=m)
    turn = np.where(negative == 1, 1.0, -1.0)
    is_margin = A.data * turn[row] < 0
    alone = np.bincount(row[is_margin], minlength=m) == 1
    margin = np.full(m, -1)
    margin[row[is_margin & alone[row]]] = A.indices[is_margin & alone[row]]
    columns = A.tocsc()
    count = np.diff(columns.indptr)
    margins = np.bincount(margin[margin >= 0], minlength=A.shape[1])
    kept = np.ones(m, bool)

    def cells(r: int) -> Ints:
        return np.asarray(A.indices[A.indptr[r] : A.indptr[r + 1]], np.int64)

    def repeated(r: int) -> bool:
        """Every cell of it is also a margin of another equation: summing the sums at its parts gives it again."""
        mine = cells(r)
        return margin[r] >= 0 and bool((margins[mine] - (mine == margin[r]) >= 1).all())

    while len(full := np.flatnonzero(count > 2)):
        sure: int | None = None
        votes: dict[int, int] = {}
        for cell in full.tolist():
            options = [
                r for r in columns.indices[columns.indptr[cell] : columns.indptr[cell + 1]].tolist()
                if kept[r] and repeated(r)
            ]  # fmt: skip
            if not options:
                return None
            for r in options:
                votes[r] = votes.get(r, 0) + 1
            if len(options) == 1:
                sure = options[0]
                break
        drop = sure if sure is not None else max(votes, key=lambda r: (votes[r], -r))
        kept[drop] = False
        count[cells(drop)] -= 1
        margins[margin[drop]] -= 1
    return np.flatnonzero(kept)


def _signs(A: sparse.csr_array) -> Floats | None:
    """Signs of the rows that give every column at most one +1 and one -1; None if there are none."""
    m = A.shape[0]
    columns = A.tocsc()
    two = np.flatnonzero(np.diff(columns.indptr) == 2)
    start = columns.indptr[two]
    a, b = columns.indices[start], columns.indices[start + 1]
    same = columns.data[start] * columns.data[start + 1] > 0
    # node r: row r as it is, node m + r: row r turned round
    left = np.concatenate((a, a + m))
    right = np.concatenate((np.where(same, b + m, b), np.where(same, b, b + m)))
    label = connected(left, right, 2 * m)
    if (label[:m] == label[m:]).any():
        return None
    return np.where(label[:m] < label[m:], 1.0, -1.0)
