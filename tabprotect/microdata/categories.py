"""Columns as categories, in their order where they have one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.table.codes import factorise

__all__ = ["Categories", "categories_of"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Categories:
    """A column as categories.

    Attributes
    ----------
    values : tuple
        The different values; in their order where the column has one, else in order of first appearance.
    index : ndarray of int, shape (records,)
        Position of every record's value, -1 where it is missing.
    """

    values: tuple[Any, ...]
    index: Ints

    def counts(self) -> Ints:
        """Return how many records have each value; missing ones are not counted."""
        return np.bincount(self.index[self.index >= 0], minlength=len(self.values)).astype(np.int64)


def categories_of(series: nw.Series[Any], order: Sequence[Any] | None = None, *, ordered: bool = False) -> Categories:
    """Return a column as categories.

    Parameters
    ----------
    series : narwhals.Series
    order : sequence, optional
        All of its values, in their order.
    ordered : bool
        Its values are sorted, whatever their type.

    Raises
    ------
    InputError
        If a value is not in the order, or values of several types are to be sorted.
    """
    values, index = factorise(series)
    absent = np.array([v is None or v != v for v in values] + [True])
    found = _in_order(series, [v for v, gone in zip(values, absent, strict=False) if not gone], order, ordered)
    place = {value: i for i, value in enumerate(found)}
    to = np.array([-1 if gone else place[v] for v, gone in zip(values, absent, strict=False)] + [-1], dtype=np.int64)
    return Categories(tuple(found), to[index])


def _in_order(series: nw.Series[Any], values: list[Any], order: Sequence[Any] | None, ordered: bool) -> list[Any]:
    if order is not None:
        position = {value: i for i, value in enumerate(order)} | {str(value): i for i, value in enumerate(order)}
        unknown = [value for value in values if value not in position and str(value) not in position]
        if unknown:
            hint = did_you_mean(unknown[0], order)
            raise InputError(f"column '{series.name}' holds {unknown[0]!r}, which its order does not list{hint}")
        return sorted(values, key=lambda value: position.get(value, position.get(str(value), 0)))
    native, dtype = series.to_native(), series.dtype
    categories: Any = None
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.CategoricalDtype) and native.dtype.ordered:
        categories = native.dtype.categories
    elif isinstance(dtype, nw.Enum):
        categories = dtype.categories
    if categories is not None:
        rank = {value: i for i, value in enumerate(categories)}
        return sorted(values, key=rank.__getitem__)
    if not (dtype.is_numeric() or dtype.is_temporal() or ordered):
        return values
    try:
        return sorted(values)
    except TypeError as error:
        raise InputError(
            f"column '{series.name}' has no order: it holds values of several types, such as {values[0]!r} and "
            f"{next(v for v in values if type(v) is not type(values[0]))!r}; list them in "
            f"orders={{'{series.name}': [...]}}"
        ) from error
