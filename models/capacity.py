"""Finite capacities for cells whose external bounds are infinite.

A deviation z with A z = 0 is a sum of elementary vectors (of minimal support) of the kernel of A, all of them with the
signs of z (Rockafellar 1969; Fulkerson 1968). A witness that moves cell p by T needs only those through p. So if
kappa bounds ``|c_i / c_p|`` over the elementary vectors c of the kernel, some witness of the same movement has
``|z_i| <= kappa T`` everywhere and still keeps every bound of the old one, and a capacity of kappa T loses nothing.

Each component of the system has its own kappa: 1 where it is a network (two-dimensional tables, one dimension of them
with a hierarchy), else the smaller of two Hadamard bounds on the minors of an integer row basis.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

__all__ = ["elementary_ratio"]


def elementary_ratio(A: sparse.csr_array) -> npt.NDArray[np.float64]:
    """Bound ``|c_i / c_j|`` over all elementary vectors c of the kernel of A, for every cell i and any j.

    Parameters
    ----------
    A : scipy.sparse.csr_array, shape (equations, cells)

    Returns
    -------
    ndarray, shape (cells,)
        At least 1.

    Examples
    --------
    >>> elementary_ratio(sparse.csr_array([[-1.0, 1.0, 1.0]])).tolist()
    [1.0, 1.0, 1.0]
    """
    A = sparse.csr_array(A)
    A = A[np.diff(A.indptr) > 0]
    n_rows, n = A.shape
    ratio = np.ones(n)
    if not n_rows:
        return ratio
    graph = sparse.vstack([sparse.hstack([sparse.csr_array((n_rows, n_rows)), A]), sparse.csr_array((n, n_rows + n))])
    _, label = csgraph.connected_components(graph, directed=False)
    of_row, of_cell = label[:n_rows], label[n_rows:]
    for component in np.unique(of_row):
        cells = np.flatnonzero(of_cell == component)
        rows = _basis(_integer_rows(A[np.flatnonzero(of_row == component)][:, cells]), len(cells))
        if not _is_network(rows, len(cells)):
            ratio[cells] = _hadamard(rows, len(cells))
    return ratio


def _integer_rows(A: sparse.csr_array) -> list[dict[int, int]]:
    """Scale every row to the smallest integers, each row once (the kernel stays the same)."""
    rows = []
    for row in range(A.shape[0]):
        lo, hi = A.indptr[row], A.indptr[row + 1]
        exact = {int(j): Fraction(repr(float(v))) for j, v in zip(A.indices[lo:hi], A.data[lo:hi], strict=True)}
        common = math.lcm(*(v.denominator for v in exact.values()))
        integers = {j: int(v * common) for j, v in exact.items()}
        divisor = math.gcd(*integers.values()) or 1
        first = min(integers)
        divisor *= 1 if integers[first] > 0 else -1
        rows.append({j: v // divisor for j, v in sorted(integers.items())})
    return [dict(row) for row in dict.fromkeys(tuple(row.items()) for row in rows)]


def _basis(rows: list[dict[int, int]], n: int) -> list[dict[int, int]]:
    """Choose independent rows, first those whose cells are in few equations: what is a network then shows as one."""
    crowd = np.bincount([j for row in rows for j in row], minlength=n)
    pivots: dict[int, dict[int, Fraction]] = {}
    chosen = []
    for row in sorted(rows, key=lambda row: (max(crowd[j] for j in row), len(row))):
        left = {j: Fraction(v) for j, v in row.items()}
        for pivot, other in pivots.items():
            if factor := left.get(pivot):
                for j, v in other.items():
                    left[j] = left.get(j, Fraction(0)) - factor * v
        left = {j: v for j, v in left.items() if v}
        if left:
            pivot = min(left)
            pivots[pivot] = {j: v / left[pivot] for j, v in left.items()}
            chosen.append(row)
    return chosen


def _is_network(rows: list[dict[int, int]], n: int) -> bool:
    """Tell whether row signs exist that give every cell at most one +1 and one -1: then all minors are 0 or +-1."""
    ends: list[list[tuple[int, int]]] = [[] for _ in range(n)]
    for r, row in enumerate(rows):
        for j, v in row.items():
            ends[j].append((r, v))
    if any(len(end) > 2 or any(abs(v) != 1 for _, v in end) for end in ends):
        return False
    sign: dict[int, int] = {}
    for start in range(len(rows)):
        todo = [] if start in sign else [start]
        sign.setdefault(start, 1)
        while todo:
            r = todo.pop()
            for j, v in rows[r].items():
                for other, w in ends[j]:
                    wanted = sign[r] if other == r else -sign[r] * v * w
                    if other not in sign:
                        todo.append(other)
                    if sign.setdefault(other, wanted) != wanted:
                        return False
    return True


def _hadamard(rows: list[dict[int, int]], n: int) -> float:
    """Bound the largest minor of a row basis: entries of elementary vectors are minors, nonzero ones at least 1."""
    squares = np.zeros(n)
    for row in rows:
        for j, v in row.items():
            squares[j] += v * v
    lengths = [sum(v * v for v in row.values()) for row in rows]
    columns = np.sort(np.maximum(squares, 1.0))[::-1][: len(rows)]
    return math.sqrt(min(math.prod(lengths), math.prod(columns)))
