"""Cover cuts: where some terms of an inequality cannot reach its right-hand side, one of its other variables is 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.mip.rows import Row
from tabprotect.solver.tolerances import COEFFICIENT

__all__ = ["CoverCut", "cover_cuts"]

Floats = npt.NDArray[np.float64]


class CoverCut(NamedTuple):
    """A cover cut and the row that it comes from.

    Attributes
    ----------
    row : Row
        The sum of some variables of the parent is at least 1.
    parent : int
    others : ndarray of int
        The variables of the parent that cannot reach its right-hand side.
    """

    row: Row
    parent: int
    others: npt.NDArray[np.int64]


def cover_cuts(
    matrix: sparse.csr_array,
    rhs: Floats,
    x: Floats,
    *,
    most: int = 300,
    min_violation: float = 0.01,
    max_slack: float = 0.1,
    max_rows: int = 1500,
) -> list[CoverCut]:
    """Search violated cover cuts of single rows ``matrix @ x >= rhs`` with positive coefficients.

    Variables leave the sum greedily, the largest of x first, as long as all that have left it do not reach the
    right-hand side together.

    Parameters
    ----------
    matrix : scipy.sparse.csr_array, shape (m, n)
    rhs : ndarray, shape (m,)
        Rows with negative coefficients, or no positive right-hand side, are passed over.
    x : ndarray, shape (n,)
        The point to cut off, in [0, 1].
    most : int
        Cuts returned, the deepest ones.
    min_violation : float
    max_slack : float
        Slack of the rows that are looked at.
    max_rows : int
        Rows that are looked at, the tightest.

    Examples
    --------
    Neither half of x_0 nor x_1 alone makes up for the other two:

    >>> A = sparse.csr_array([[0.6, 0.3, 1.0, 0.5]])
    >>> (cut,) = cover_cuts(A, np.ones(1), np.array([1.0, 0.8, 0.0, 0.3]))
    >>> cut.row.index.tolist(), cut.row.rhs, cut.parent
    ([2, 3], 1.0, 0)
    """
    slack = matrix @ x - rhs
    looked = np.flatnonzero((rhs > 0) & (slack < max_slack))
    looked = looked[np.argsort(slack[looked], kind="stable")[:max_rows]]
    found: dict[bytes, tuple[float, CoverCut]] = {}
    for k in looked.tolist():
        mine = slice(matrix.indptr[k], matrix.indptr[k + 1])
        index, values = matrix.indices[mine], matrix.data[mine]
        if np.any(values <= 0):
            continue
        inside = _cover(values / rhs[k], x[index])
        left = float(x[index[inside]].sum())
        # where even all terms together are too small nothing is said
        if left < 1 - min_violation and inside.any():
            row = Row(index[inside].astype(np.int64), np.ones(int(inside.sum())), 1.0)
            cut = CoverCut(row, k, index[~inside].astype(np.int64))
            found.setdefault(row.key, ((1 - left) / np.sqrt(len(row.index)), cut))
    return [cut for _, cut in sorted(found.values(), key=lambda pair: -pair[0])[:most]]


def _cover(values: Floats, x: Floats) -> npt.NDArray[np.bool_]:
    """Return which variables stay: all others together are below 1."""
    inside, room = np.ones(len(values), bool), 1 - COEFFICIENT
    for j in np.argsort(-x, kind="stable").tolist():
        if values[j] < room:
            inside[j] = False
            room -= values[j]
    return inside
