"""A sparse matrix that grows by rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = ["GrowingRows"]


class GrowingRows:
    """Rows over `width` columns; its arrays have room to grow, so that a few rows more do not copy all of them.

    Examples
    --------
    >>> rows = GrowingRows(3, np.float64)
    >>> rows.extend([np.array([0, 2])], [np.array([1.0, 2.0])])
    >>> rows.extend([np.array([1])], [np.array([5.0])])
    >>> rows.matrix.toarray().tolist()
    [[1.0, 0.0, 2.0], [0.0, 5.0, 0.0]]
    """

    def __init__(self, width: int, dtype: npt.DTypeLike) -> None:
        self._width = width
        self._rows = self.entries = 0
        self._starts = np.zeros(1, np.int32)
        self._columns = np.zeros(0, np.int32)
        self._values: npt.NDArray[Any] = np.zeros(0, dtype)
        self._matrix: sparse.csr_array | None = None

    def extend(self, columns: Sequence[npt.NDArray[np.int64]], values: Sequence[npt.NDArray[Any]]) -> None:
        """Add rows: the columns and the values of each."""
        if columns:
            self.append(np.array([len(row) for row in columns]), np.concatenate(columns), np.concatenate(values))

    def append(self, sizes: npt.NDArray[Any], columns: npt.NDArray[Any], values: npt.NDArray[Any]) -> None:
        """Add rows one after the other in arrays: how many entries each has, their columns and values."""
        rows, entries = self._rows + len(sizes), self.entries + len(columns)
        self._starts = _roomy(self._starts, rows + 1)
        self._columns, self._values = _roomy(self._columns, entries), _roomy(self._values, entries)
        self._starts[self._rows + 1 : rows + 1] = self.entries + np.cumsum(sizes)
        self._columns[self.entries : entries], self._values[self.entries : entries] = columns, values
        self._rows, self.entries, self._matrix = rows, entries, None

    @property
    def matrix(self) -> sparse.csr_array:
        """All rows, in the memory of this object; it stays as it is when more come."""
        if self._matrix is None:
            arrays = self._values[: self.entries], self._columns[: self.entries], self._starts[: self._rows + 1]
            self._matrix = sparse.csr_array(arrays, shape=(self._rows, self._width))
        return self._matrix


def _roomy(array: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """Return the array with room for `size` entries, and as much again where it had to grow."""
    if size <= len(array):
        return array
    return np.concatenate([array, np.zeros(2 * size - len(array), array.dtype)])
