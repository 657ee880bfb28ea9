"""Linear inequalities over the variables of a model, and a pool of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.growing import GrowingRows

__all__ = ["Row", "RowPool"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
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
        return _keys([self])[0]


class RowPool:
    """Rows without duplicates, with the origin of each, and their matrix.

    Examples
    --------
    >>> pool = RowPool(3)
    >>> pool.add([Row(np.array([0, 2]), np.array([1.0, 1.0]), 1.0)] * 2)
    [0]
    >>> pool.slack(np.array([0.25, 1.0, 0.25])).tolist()
    [-0.5]
    """

    def __init__(self, n: int) -> None:
        self.n = n
        self.rows: list[Row] = []
        self.origins: list[Any] = []
        self._known: dict[bytes, int] = {}
        self._matrix = GrowingRows(n, np.float64)
        self._rhs = np.zeros(0)

    def __len__(self) -> int:
        return len(self.rows)

    def add(self, rows: Iterable[Row], origins: Sequence[Any] | None = None) -> list[int]:
        """Add the rows that are new and return their positions."""
        added = []
        rows = list(rows)
        for k, (row, key) in enumerate(zip(rows, _keys(rows), strict=True)):
            if key not in self._known:
                self._known[key] = len(self.rows)
                added.append(len(self.rows))
                self.rows.append(row)
                self.origins.append(None if origins is None else origins[k])
        return added

    def find(self, row: Row) -> int | None:
        """Position of a row, None if it is not in the pool."""
        return self._known.get(row.key)

    @property
    def matrix(self) -> sparse.csr_array:
        """All rows as a sparse matrix, shape (rows, n)."""
        new = self.rows[len(self._rhs) :]
        if new:
            self._matrix.extend([row.index for row in new], [row.values for row in new])
            self._rhs = np.append(self._rhs, [row.rhs for row in new])
        return self._matrix.matrix

    @property
    def rhs(self) -> Floats:
        """Right-hand sides of all rows."""
        _ = self.matrix
        return self._rhs

    def slack(self, x: Floats) -> Floats:
        """Left-hand sides minus right-hand sides of all rows."""
        return np.asarray(self.matrix @ x - self.rhs)


def _keys(rows: Sequence[Row]) -> list[bytes]:
    """Return the key of every row, rounding all at once."""
    ends = np.cumsum([len(row.index) for row in rows]).tolist()
    values = np.round(np.concatenate([np.zeros(0), *(row.values for row in rows)]), 10)
    rhs = np.round([row.rhs for row in rows], 10).tolist()
    return [
        row.index.tobytes() + values[end - len(row.index) : end].tobytes() + struct.pack("d", right)
        for row, end, right in zip(rows, ends, rhs, strict=True)
    ]
