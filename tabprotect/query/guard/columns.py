"""Columns of values: as they came row by row, and as the codes of groups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.query.audit.groups import distinct

__all__ = ["Column", "columns_of", "numbered", "typed", "values_at"]

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


def values_at(column: Column | pd.Categorical, rows: npt.NDArray[np.int64]) -> Column:
    """Return some values of a column, the missing ones of a categorical as None."""
    if not isinstance(column, pd.Categorical):
        return np.asarray(column[rows])
    # the last is that of the code -1
    names = np.array([*column.categories, None], object)
    return np.asarray(names[column.codes[rows]])


def numbered(columns: Sequence[Column | pd.Categorical]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Number the combinations of codes in their order; NaN is not what is missing.

    Returns
    -------
    number : ndarray of int, shape (rows,)
    first : ndarray of int, shape (combinations,)
        The first row of each.

    Raises
    ------
    TypeError
        Values that have no hash.

    Examples
    --------
    >>> number, first = numbered([np.array(["b", "a", "b"], object), np.array([1, 1, 1])])
    >>> number.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    code, size = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        for part, n in _codes(column):
            code, size = code * n + part, size * n
            if size > 2**31:
                code, first = distinct(code, size)
                size = len(first)
    number, first = distinct(code, size)
    # only one row of each is put into order
    order = pd.DataFrame(dict(enumerate(_with_nan_apart([values_at(column, first) for column in columns]))))
    rank = np.asarray(order.groupby(list(order.columns), dropna=False, sort=True).ngroup(), np.int64)
    sorted_ = np.empty(len(first), np.int64)
    sorted_[rank] = first
    return rank[number], sorted_


def _codes(column: Column | pd.Categorical) -> list[tuple[npt.NDArray[np.int64], int]]:
    """Return a number for every value of a column, with how many there are, and one more for NaN if it holds both."""
    if isinstance(column, pd.Categorical):
        return [(column.codes.astype(np.int64) + 1, len(column.categories) + 1)]
    found = []
    for part in _with_nan_apart([column]):
        number, names = pd.factorize(part)
        found.append((number.astype(np.int64) + 1, len(names) + 1))
    return found


def _with_nan_apart(codes: Sequence[Column]) -> list[Column]:
    """Return the columns of groups, and one more for each in which NaN stands beside missing values."""
    found = list(codes)
    for column in codes:
        if column.dtype == object and (unknown := pd.isna(column)).any():
            missing = np.array([value is None for value in column[unknown]], bool)
            if not missing.all():
                flags = np.zeros(len(column), bool)
                flags[unknown] = ~missing
                found.append(flags)
    return found
