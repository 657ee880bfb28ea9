"""Zero-half cuts: add up inequalities with integer coefficients, halve, and round up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.mip.rows import Row

__all__ = ["ZeroHalf", "half", "zero_half"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


DENSE = 20_000_000
"""Entries of a table of rows up to which sums are made from a dense one."""


class ZeroHalf(NamedTuple):
    """A zero-half cut and the rows behind it.

    Attributes
    ----------
    row : Row
    parents : ndarray of int
        Rows that were added up; ``x_j >= 0`` or ``x_j <= 1`` was added for every odd coefficient.
    violation : float
    """

    row: Row
    parents: Ints
    violation: float


def half(matrix: sparse.csr_array, rhs: Floats, parents: Ints, low: Bools) -> Row | None:
    """Add up integer rows, make coefficients even by x_j >= 0 (where `low`) or x_j <= 1, halve and round up.

    Valid for integer x in [0, 1]: the sum is valid, so is its half; the left-hand side of the half is an integer, so
    that the right-hand side may be rounded up (Caprara and Fischetti 1996).

    Returns
    -------
    Row or None
        None when the right-hand side of the sum is even, so that rounding gains nothing.

    Examples
    --------
    The three edges of a triangle, of which every corner sees at least one, are at least two:

    >>> A = sparse.csr_array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> half(A, np.ones(3), np.arange(3), np.ones(3, bool)).rhs
    2.0
    """
    return _halve(np.asarray(matrix[parents].sum(axis=0), np.float64).ravel(), float(rhs[parents].sum()), low)


def _halve(total: Floats, beta: float, low: Bools) -> Row | None:
    odd = np.mod(total, 2) == 1
    total[odd & low] += 1
    lowered = odd & ~low
    total[lowered] -= 1
    beta -= int(lowered.sum())
    if beta % 2 != 1:
        return None
    index = np.flatnonzero(total)
    return Row(index, total[index] / 2, (beta + 1) / 2)


def zero_half(
    matrix: sparse.csr_array,
    rhs: Floats,
    x: Floats,
    *,
    width: int = 2,
    depth: int = 6,
    most: int = 300,
    min_violation: float = 0.02,
    max_rows: int = 1500,
) -> list[ZeroHalf]:
    """Search violated zero-half cuts over rows ``matrix @ x >= rhs`` with integer entries.

    A search from every row at once: each sum of k rows is extended by the `width` rows that suit it best, and sums with
    equal parities are kept once. All extensions of one depth are one matrix product.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array, shape (m, n)
    rhs : ndarray, shape (m,)
    x : ndarray, shape (n,)
        The point to cut off, in [0, 1].
    width, depth, most, max_rows : int
        Extensions of a sum, rows in a sum, cuts returned, and rows looked at (the tightest).
    min_violation : float

    Examples
    --------
    >>> A = sparse.csr_array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]])
    >>> [cut] = zero_half(A, np.ones(3), np.full(3, 0.5))
    >>> cut.row.values.tolist(), cut.row.rhs, cut.violation
    ([1.0, 1.0, 1.0], 2.0, 0.5)
    """
    table = _Parities(matrix, rhs, x, 1.0 - 2.0 * min_violation, max_rows)
    if not len(table.rows):
        return []
    found: dict[bytes, ZeroHalf | None] = {}
    part = matrix[table.rows]
    dense = part.toarray() if part.shape[0] * part.shape[1] <= DENSE else None
    sums = _Sums(table.bits, table.parity, np.arange(len(table.rows))[:, None], table.slack)
    for _ in range(depth - 1):
        score = table.extend(sums)
        hits = np.argwhere((sums.parity[:, None] != table.parity[None, :]) & (score < 1.0 - 2.0 * min_violation))
        hits = hits[np.argsort(score[hits[:, 0], hits[:, 1]], kind="stable")[: 6 * most]]
        for a, b in hits:
            members = np.sort(np.append(sums.used[a], b))
            name = members.tobytes()
            if name not in found:
                parents = table.rows[members]
                total = np.asarray((part[members] if dense is None else dense[members]).sum(axis=0)).ravel()
                row = _halve(total, float(rhs[parents].sum()), table.low)
                found[name] = None if row is None else ZeroHalf(row, parents, -row.slack(x))
        sums = table.next(sums, score, width)
        if not len(sums.parity):
            break
    cuts = [cut for cut in found.values() if cut is not None and cut.violation >= min_violation]
    return sorted(cuts, key=lambda cut: -cut.violation)[:most]


class _Sums(NamedTuple):
    """Sums of rows modulo 2: coefficients, right-hand sides, the rows added up, and their total slack."""

    bits: npt.NDArray[np.float32]
    parity: Bools
    used: Ints
    spent: npt.NDArray[np.float32]


class _Parities:
    """The rows that may take part, modulo 2, on the columns where x is fractional."""

    def __init__(self, matrix: sparse.csr_array, rhs: Floats, x: Floats, limit: float, max_rows: int) -> None:
        slack = np.maximum(matrix @ x - rhs, 0.0)
        rows = np.flatnonzero(slack < limit)
        self.low = x <= 0.5
        distance = np.minimum(x, 1.0 - x)
        columns = np.flatnonzero(distance > 1e-6)
        part = matrix[rows]
        odd = sparse.csr_array((np.mod(part.data, 2), part.indices, part.indptr), shape=part.shape)
        parity = np.mod(rhs[rows] - odd @ (~self.low).astype(np.float64), 2) == 1
        bits = np.asarray(odd[:, columns].toarray(), dtype=np.float32)
        # rows with the same parities are interchangeable: the tightest stands for all of them
        order = np.argsort(slack[rows], kind="stable")
        keep = order[_first(bits[order], parity[order])][:max_rows]
        keep = keep[bits[keep].any(axis=1) | parity[keep]]
        self.rows, self.bits, self.parity = rows[keep], bits[keep], parity[keep]
        self.slack = slack[self.rows].astype(np.float32)
        self._distance = distance[columns].astype(np.float32)
        self._alone = self.slack + self.bits @ self._distance

    def extend(self, sums: _Sums) -> npt.NDArray[np.float32]:
        """How far every extension by one row is from an integer point; a cut's violation is (1 - this) / 2."""
        total = sums.spent + sums.bits @ self._distance
        score = (total[:, None] + self._alone[None, :]) - 2.0 * ((sums.bits * self._distance) @ self.bits.T)
        np.put_along_axis(score, sums.used, np.inf, axis=1)
        return np.asarray(score)

    def next(self, sums: _Sums, score: npt.NDArray[np.float32], width: int) -> _Sums:
        """Extend every sum by the rows that suit it best."""
        width = min(width, len(self.rows))
        first = np.repeat(np.arange(len(score)), width)
        second = np.argpartition(score, width - 1, axis=1)[:, :width].ravel()
        value = score[first, second]
        order = np.argsort(value, kind="stable")
        order = order[value[order] < 1.3]
        first, second = first[order], second[order]
        bits = np.abs(sums.bits[first] - self.bits[second])
        parity = sums.parity[first] != self.parity[second]
        keep = _first(bits, parity)[: max(len(self.rows), min(2 * len(self.rows), 3000))]
        first, second = first[keep], second[keep]
        used = np.column_stack([sums.used[first], second])
        return _Sums(bits[keep], parity[keep], used, sums.spent[first] + self.slack[second])


def _first(bits: npt.NDArray[np.float32], parity: Bools) -> Ints:
    """Positions of the first of all rows with equal parities, ascending."""
    packed = np.packbits(np.column_stack([bits > 0, parity]), axis=1)
    return np.sort(np.unique(packed, axis=0, return_index=True)[1])
