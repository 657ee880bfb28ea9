"""Scales of measurement: what may be done with a column."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

import narwhals as nw
import pandas as pd

__all__ = ["ANY", "NOMINAL", "NUMERIC", "ORDINAL", "Scale", "scale_of"]


class Scale(StrEnum):
    """What the values of a column mean.

    Attributes
    ----------
    CONTINUOUS
        Numbers: differences and means make sense.
    ORDERED
        Categories in an order, such as size classes.
    TREE
        Categories below a value tree (partially ordered), such as regions.
    UNORDERED
        Categories and nothing else, such as sex.
    """

    CONTINUOUS = "continuous"
    ORDERED = "ordered"
    TREE = "partially ordered"
    UNORDERED = "unordered"


ANY = tuple(Scale)
"""Every scale."""

NUMERIC = (Scale.CONTINUOUS,)
"""Numbers only."""

ORDINAL = (Scale.CONTINUOUS, Scale.ORDERED)
"""Whatever can be ranked."""

NOMINAL = (Scale.ORDERED, Scale.TREE, Scale.UNORDERED)
"""Categories of any kind."""


def scale_of(series: nw.Series[Any]) -> Scale:
    """Return the scale that the type of a column suggests.

    Numbers are continuous, dates and ordered categories ordered, everything else unordered.

    Examples
    --------
    >>> scale_of(nw.from_native(pd.Series([1, 2]), series_only=True)).value
    'continuous'
    >>> scale_of(nw.from_native(pd.Series(["b", "a"]), series_only=True)).value
    'unordered'
    """
    dtype = series.dtype
    if dtype.is_numeric():
        return Scale.CONTINUOUS
    if dtype.is_temporal():
        return Scale.ORDERED
    native = series.to_native()
    if isinstance(native, pd.Series) and isinstance(native.dtype, pd.CategoricalDtype) and native.dtype.ordered:
        return Scale.ORDERED
    if isinstance(dtype, nw.Enum):
        return Scale.ORDERED
    return Scale.UNORDERED
