"""Linear inequalities over the variables of a model, and a pool of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.growing import GrowingRows

__all__ = ["Inequalities", "Origins", "Row", "RowPool"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Row:
    """The inequality ``values @ x[index] >= rhs``.

    Attributes
    ----------
    index : ndarray of int
        Variables with a coefficient, ascending.
    values : ndarray of float
    rhs : float
    """

    index: Ints
    values: Floats
    rhs: float

    def slack(self, x: Floats) -> float:
        """Left-hand side minus right-hand side; negative where x violates the row."""
        return float(self.values @ x[self.index]) - self.rhs

    @property
    def key(self) -> bytes:
        """Equal for rows with the same coefficients to ten digits."""
        width = int(self.index[-1]) + 1 if len(self.index) else 1
        return _keys(_stack([self], width), np.array([self.rhs]))[0]


class Origins(Sequence[Any]):
    """Origins that are made from arrays when somebody asks: number k is ``make(*(array[k] for array in arrays))``.

    Examples
    --------
    >>> Origins(complex, np.array([1, 2]), np.array([3, 4]))[1]
    (2+4j)
    """

    def __init__(self, make: Callable[..., Any], *arrays: npt.NDArray[Any]) -> None:
        self._make = make
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays[0])

    def __getitem__(self, k: Any) -> Any:
        return self._make(*(array[k].item() for array in self.arrays))


class RowPool:
    """Rows without duplicates, with the origin of each, in one matrix: tens of thousands are no Python objects.

    Examples
    --------
    >>> pool = RowPool(3)
    >>> pool.add([Row(np.array([0, 2]), np.array([1.0, 1.0]), 1.0)] * 2, ["here", "there"])
    [0]
    >>> pool.slack(np.array([0.25, 1.0, 0.25])).tolist()
    [-0.5]
    >>> pool.extend(sparse.csr_array([[1.0, 0, 1], [0, 1, 1]]), np.ones(2), ["again", "new"])
    [1]
    >>> pool.row(1).index.tolist(), pool.origin(1)
    ([1, 2], 'new')
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self._known: dict[bytes, int] = {}
        self._matrix = GrowingRows(n, np.float64)
        self._rhs = np.zeros(0)
        self._origins: list[tuple[int, Sequence[Any] | None, Ints]] = []

    def __len__(self) -> int:
        return len(self._rhs)

    def add(self, rows: Sequence[Row], origins: Sequence[Any] | None = None) -> list[int]:
        """Add the rows that are new and return their positions."""
        return self.extend(_stack(rows, self.n), np.array([row.rhs for row in rows], np.float64), origins)

    def extend(self, matrix: sparse.csr_array, rhs: Floats, origins: Sequence[Any] | None = None) -> list[int]:
        """Add rows of a matrix, their columns ascending, as `add` does."""
        before = len(self)
        fresh: list[int] = []
        for k, key in enumerate(_keys(matrix, rhs)):
            if key not in self._known:
                self._known[key] = before + len(fresh)
                fresh.append(k)
        if fresh:
            new = matrix if len(fresh) == len(rhs) else matrix[fresh]
            self._matrix.append(np.diff(new.indptr), new.indices, new.data)
            self._rhs = np.append(self._rhs, rhs[fresh])
            self._origins.append((before, origins, np.array(fresh)))
        return list(range(before, len(self)))

    def join(self, other: RowPool) -> None:
        """Add all rows of another pool with their origins."""
        for start, origins, which in other._origins:
            rows = slice(start, start + len(which))
            mine = None if origins is None else [origins[k] for k in which.tolist()]
            self.extend(sparse.csr_array(other.matrix[rows]), other.rhs[rows], mine)

    def row(self, k: int) -> Row:
        """Return one row."""
        mine = slice(*self.matrix.indptr[k : k + 2].tolist())
        return Row(self.matrix.indices[mine].astype(np.int64), self.matrix.data[mine], float(self._rhs[k]))

    def origin(self, k: int) -> Any:
        """Return the origin of a row; None if it has none."""
        start, origins, which = self._origins[bisect_right(self._origins, k, key=lambda block: block[0]) - 1]
        return None if origins is None else origins[int(which[k - start])]

    def find(self, row: Row) -> int | None:
        """Position of a row, None if it is not in the pool."""
        return self._known.get(row.key)

    @property
    def matrix(self) -> sparse.csr_array:
        """All rows as a sparse matrix, shape (rows, n)."""
        return self._matrix.matrix

    @property
    def rhs(self) -> Floats:
        """Right-hand sides of all rows."""
        return self._rhs

    def slack(self, x: Floats, rows: Sequence[int] | Ints | None = None) -> Floats:
        """Left-hand sides minus right-hand sides of all rows, or of some."""
        if rows is not None:
            return np.asarray(self.matrix[rows] @ x - self._rhs[rows])
        return np.asarray(self.matrix @ x - self._rhs)


@dataclass(frozen=True, eq=False)
class Inequalities:
    """Linear inequalities matrix @ x >= rhs.

    Attributes
    ----------
    matrix : csr_array, shape (k, n)
    rhs : ndarray, shape (k,)

    Examples
    --------
    >>> rows = Inequalities(sparse.csr_array([[1.0, 0.5]]), np.ones(1))
    >>> rows.over(3).matrix.toarray()
    array([[1. , 0.5, 0. ]])
    """

    matrix: sparse.csr_array
    rhs: Floats

    def over(self, n: int) -> Inequalities:
        """Return the same over more variables, those behind the others."""
        whole = self.matrix
        return Inequalities(
            sparse.csr_array((whole.data, whole.indices, whole.indptr), shape=(whole.shape[0], n)), self.rhs
        )


def _stack(rows: Sequence[Row], n: int) -> sparse.csr_array:
    ends = np.cumsum([0, *(len(row.index) for row in rows)])
    index = np.concatenate([np.zeros(0, np.int64), *(row.index for row in rows)])
    values = np.concatenate([np.zeros(0), *(row.values for row in rows)])
    return sparse.csr_array((values, index, ends), shape=(len(rows), n))


def _keys(matrix: sparse.csr_array, rhs: Floats) -> list[bytes]:
    """Return the key of every row, rounding all at once."""
    index, values = matrix.indices.astype(np.int64).tobytes(), np.round(matrix.data, 10).tobytes()
    right = np.round(rhs, 10).tobytes()
    ends = (8 * matrix.indptr).tolist()
    return [index[lo:hi] + values[lo:hi] + right[8 * k : 8 * k + 8] for k, (lo, hi) in enumerate(pairwise(ends))]
