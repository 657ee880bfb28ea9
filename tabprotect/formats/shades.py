"""Shades of published values: the larger, the darker, by orders of magnitude."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["COLOURS", "shades"]

COLOURS: Final = ("F1F6FA", "E1EDF6", "CFE2F1", "B9D5EA", "9FC5E1", "83B3D6")
"""From the smallest to the largest values; as on the pages."""


def shades(values: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    """Return the shade of every value from 1 to 6; 0 where there is none: hidden (nan), zero, or all are one size.

    Examples
    --------
    >>> shades(np.array([1, 10, -1e6, 0, np.nan])).tolist()
    [1, 2, 6, 0, 0]
    """
    size = np.abs(np.where(np.isnan(values), 0.0, values))
    shown = size > 0
    low, high = size[shown].min(initial=np.inf), size[shown].max(initial=0.0)
    shade = np.zeros(len(size), np.int64)
    if low < high:
        order = np.log(size[shown] / low) / np.log(high / low)
        shade[shown] = np.minimum(len(COLOURS), 1 + np.floor(len(COLOURS) * order).astype(np.int64))
    return shade
