"""Values that came row by row, as columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Column", "columns_of", "typed"]

Column = npt.NDArray[Any]


def columns_of(rows: Sequence[Any], width: int) -> list[Column]:
    """Return the columns of rows.

    Examples
    --------
    >>> [column.tolist() for column in columns_of([(1, "a"), (2, None)], 2)]
    [[1, 2], ['a', None]]
    """
    return [typed([row[k] for row in rows]) for k in range(width)]


def typed(values: list[Any]) -> Column:
    """Return values as whole numbers of 64 bits where all are, as objects otherwise."""
    if values and all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        limits = np.iinfo(np.int64)
        if limits.min <= min(values) and max(values) <= limits.max:
            return np.array(values, np.int64)
    array = np.empty(len(values), object)
    array[:] = values
    return array
