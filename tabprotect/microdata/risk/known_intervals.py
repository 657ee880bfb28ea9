"""Which original values an intruder who knows the method can state for a masked one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masked import Masked
from tabprotect.microdata.risk.base import Pair
from tabprotect.microdata.risk.knowledge import Knowledge
from tabprotect.microdata.risk.limits import joint_strata
from tabprotect.microdata.risk.steps import known_steps

__all__ = ["KnownIntervals", "known_intervals", "possible_values"]

Floats = npt.NDArray[np.float64]

HALVINGS = 90
"""Halvings that find the end of an interval to within rounding."""

FAR = 1000.0
"""Ends so many times the range (or the size) of the masked values away count as infinite."""


@dataclass(frozen=True, eq=False)
class KnownIntervals:
    """The original values that may be behind each masked one, by column.

    Attributes
    ----------
    low, high : mapping of str to ndarray of float, shape (masked records,)
        For the columns whose method is known; infinite where nothing is known of a value, or it is missing.
    known : mapping of str to str
        What limits the masked values of these columns.
    unknown : tuple of str
        Steps whose method and parameters limit nothing here.
    """

    low: dict[str, Floats]
    high: dict[str, Floats]
    known: dict[str, str]
    unknown: tuple[str, ...]


def known_intervals(both: Pair, masked: Masked, names: Sequence[str]) -> KnownIntervals:
    """Return the interval of every masked value of some columns, by what the steps of the `Masked` say.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> from tabprotect.microdata.risk.base import pair
    >>> firms = pd.DataFrame({"x": [1.0, 2.0, 5.0, 6.0, 11.0, 12.0]})
    >>> masked = md.mask(firms, None, md.Microaggregation("x", k=2, method="individual"))
    >>> found = known_intervals(pair(firms, masked), masked, ["x"])
    >>> found.low["x"].round(6).tolist(), found.high["x"].round(6).tolist()
    ([-inf, -inf, 1.5, 1.5, 5.5, 5.5], [5.5, 5.5, 11.5, 11.5, inf, inf])
    """
    steps = known_steps(masked)
    stratum = joint_strata(both.original, both.masked, steps.strata)[1]
    low, high = {}, {}
    for name in names:
        if name not in steps.about:
            continue
        column = both.masked.numbers(name)
        low[name], high[name] = np.full(len(column), -np.inf), np.full(len(column), np.inf)
        for one in np.unique(stratum):
            rows = np.flatnonzero((stratum == one) & ~np.isnan(column))
            if len(rows):
                low[name][rows], high[name][rows] = possible_values(steps.about[name], column[rows])
    return KnownIntervals(low, high, {name: str(steps.about[name]) for name in low}, steps.unknown)


def possible_values(known: Knowledge, masked: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest original value behind each masked one.

    What the method can make of x lies between limits that do not fall with x: the values x for which y is possible are
    those with ``lower(x) <= y <= upper(x)``, an interval, whose ends are found by halving. Where the masked column
    holds the original values, the ends are the first and the last of these that fit.

    Parameters
    ----------
    known : Knowledge
    masked : ndarray of float, shape (records,)
        A masked column without missing values.

    Examples
    --------
    >>> from tabprotect.microdata.risk.knowledge import RankWindow
    >>> from tabprotect.microdata.risk.known_noise import MultipliedNoise
    >>> low, high = possible_values(MultipliedNoise(0.1, most=0.5), np.array([0.3, 7.5]))
    >>> low.round(6).tolist(), high.round(6).tolist()
    ([0.2, 5.0], [0.6, 15.0])
    >>> low, high = possible_values(RankWindow(25), np.array([4.0, 3.0, 1.0, 9.0]))
    >>> low.tolist(), high.tolist()
    ([3.0, 1.0, 1.0, 4.0], [9.0, 4.0, 3.0, 9.0])
    """
    column = np.sort(masked)
    y, back = np.unique(masked, return_inverse=True)
    if getattr(known, "same_values", False):
        least, most = known.limits(y, column)
        first = np.minimum(np.searchsorted(most, y, side="left"), len(y) - 1)
        last = np.maximum(np.searchsorted(least, y, side="right") - 1, 0)
        return y[first][back.ravel()], y[last][back.ravel()]
    spread = float(column[-1] - column[0])
    far = FAR * (max(spread, float(np.abs(column).max())) or 1.0)
    ends = []
    for side in (0, 1):
        # the end is between `out`, whose masked value y cannot be, and `into`, whose it can be
        out = np.full(len(y), column[0] - far if side == 0 else column[-1] + far)
        into = y.copy()
        limits = known.limits(out, column)
        free = limits[1] >= y if side == 0 else limits[0] <= y
        for _ in range(HALVINGS):
            middle = (out + into) / 2
            limits = known.limits(middle, column)
            possible = limits[1] >= y if side == 0 else limits[0] <= y
            into, out = np.where(possible, middle, into), np.where(possible, out, middle)
        ends.append(np.where(free, -np.inf if side == 0 else np.inf, into))
    return ends[0][back.ravel()], ends[1][back.ravel()]
