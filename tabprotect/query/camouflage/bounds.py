"""What must stay possible for a confidential value: where its range over the hull lies, given its position in it.

A *placement* takes the true value a and the position t (0 < t < 1) that weights and pattern give it, and returns the
range [L, U] with a = L + t (U - L). Every placement here has the property that the protection rests on:

    with [L, U] = place(a, t), place(L + t' (U - L), t') is [L, U] again, for every t' in (0, 1).       (*)

So whoever knows the range and the rule, but not t, can exclude no value in it. A rule such as "the value +- 10 %" does
not have it: the value would be the middle of the range.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean

__all__ = ["Absolute", "Bounds", "Covering", "Place", "Relative", "required"]

Floats = npt.NDArray[np.float64]


class Place(Protocol):
    """Returns lower end and width of the range of one value, from its number, the value and its position."""

    def __call__(self, i: int, a: float, t: float) -> tuple[float, float]:
        """Return L and U - L."""
        ...


@dataclass(frozen=True)
class Relative:
    """A range of a share of its own middle: U - L = width * max(abs((L + U) / 2), least).

    Parameters
    ----------
    width : float
        Above 0 and below 2; 0.2 is "10 % to either side of the middle of the range" (not of the value, which lies
        anywhere in it).
    least : float
        Values in [-least, least] are protected as one of this size, in units of the field. 0 leaves a value of 0
        without protection, and is refused where there is one.

    Examples
    --------
    >>> place = Relative(0.2).placement(np.array([90.0, 110.0]), {}, "turnover")
    >>> [round(x, 6) for t, a in ((0.1, 92.0), (0.7, 104.0)) for x in place(0, a, t)]
    [90.0, 20.0, 90.0, 20.0]
    """

    width: float
    least: float = 0.0

    def placement(self, values: Floats, columns: Mapping[str, Any], field: str) -> Place:
        """Return the placement for the values of a field."""
        if not 0 < self.width < 2:
            raise InputError(f"field '{field}': a relative width is above 0 and below 2, not {self.width!r}")
        if not (math.isfinite(self.least) and self.least >= 0):
            raise InputError(f"field '{field}': least must be a number of at least 0, not {self.least!r}")
        if self.least == 0 and (zeros := np.flatnonzero(values == 0)).size:
            raise InputError(
                f"field '{field}': {zeros.size} values of 0 have no relative range, the first in record {zeros[0]} "
                "(counted from 0); give Relative(width, least=...) with the size that they are to be protected as"
            )
        width, least = float(self.width), float(self.least)

        def place(i: int, a: float, t: float) -> tuple[float, float]:
            lean = (t - 0.5) * width
            middle = a / (1 + lean) if a > 0 else a / (1 - lean)
            if abs(middle) < least:
                middle = a - lean * least
            whole = width * max(abs(middle), least)
            return a - t * whole, whole

        return place


@dataclass(frozen=True)
class Absolute:
    """A range of a given width, in units of the field.

    Parameters
    ----------
    width : float or str
        One number, or the name of a public column.
    """

    width: float | str

    def placement(self, values: Floats, columns: Mapping[str, Any], field: str) -> Place:
        """Return the placement for the values of a field."""
        widths = (
            _column(self.width, columns, field, len(values))
            if isinstance(self.width, str)
            else np.full(len(values), float(self.width))
        )
        bad = np.flatnonzero(~(np.isfinite(widths) & (widths > 0)))
        if bad.size:
            raise InputError(
                f"field '{field}': {bad.size} widths are not above 0, the first in record {bad[0]} (counted from 0)"
            )
        each = widths.tolist()
        return lambda i, a, t: (a - t * each[i], each[i])


@dataclass(frozen=True)
class Covering:
    """The least range that contains given bounds [l, u]: L <= l and U >= u (eqs. 1 and 2 of the paper).

    Parameters
    ----------
    lower, upper : str
        Names of columns with l and u; -inf and inf where only one of them is required, or none.

    Notes
    -----
    The bounds are confidential, as they are about the value: who knows l or u besides the answers may exclude values in
    [L, l) and (u, U], and with them some weights. Where the value is at the same place between l and u in all records
    (the middle, say), the rule would give all values away, and is refused. `Relative` and `Absolute` have narrower
    ranges, too, since they need not stretch until both bounds are inside.
    """

    lower: str
    upper: str

    def placement(self, values: Floats, columns: Mapping[str, Any], field: str) -> Place:
        """Return the placement for the values of a field."""
        low, high = (_column(name, columns, field, len(values)) for name in (self.lower, self.upper))
        bad = np.flatnonzero(~((low <= values) & (values <= high)))
        if bad.size:
            raise InputError(
                f"field '{field}': {bad.size} values are outside of [{self.lower}, {self.upper}], "
                f"the first in record {bad[0]} (counted from 0)"
            )
        both = np.isfinite(low) & np.isfinite(high) & (high > low)
        share = (values[both] - low[both]) / (high[both] - low[both])
        if share.size > 2 and np.ptp(share) < SAME_PLACE:
            raise InputError(
                f"field '{field}': every value is at {100 * share[0]:.4g} % of the way from {self.lower} to "
                f"{self.upper}, so that bounds give values away; use Relative or Absolute, or draw positions at random"
            )
        below, above = (values - low).tolist(), (high - values).tolist()

        def place(i: int, a: float, t: float) -> tuple[float, float]:
            down = below[i] / t if below[i] < math.inf else 0.0
            up = above[i] / (1 - t) if above[i] < math.inf else 0.0
            whole = max(down, up)
            return a - t * whole, whole

        return place


Bounds = Relative | Absolute | Covering

SAME_PLACE = 1e-6
"""Positions of values between their bounds that differ by less than this are taken to be one and the same."""


def required(bounds: Bounds, columns: Mapping[str, Any], vectors: Floats) -> tuple[Floats, Floats]:
    """Return l and u that rows must reach: given ones, or the width that is required of the row's own range.

    Where there is no requirement, l is inf and u is -inf, which every row reaches.
    """
    low, high = vectors.min(axis=1), vectors.max(axis=1)
    if isinstance(bounds, Covering):
        n = len(vectors)
        l, u = _column(bounds.lower, columns, "", n), _column(bounds.upper, columns, "", n)
        return np.where(np.isneginf(l), np.inf, l), np.where(np.isposinf(u), -np.inf, u)
    middle = (low + high) / 2
    if isinstance(bounds, Relative):
        whole = bounds.width * np.maximum(np.abs(middle), bounds.least)
    elif isinstance(bounds.width, str):
        whole = _column(bounds.width, columns, "", len(vectors))
    else:
        whole = np.full(len(vectors), float(bounds.width))
    return middle - whole / 2, middle + whole / 2


def _column(name: str, columns: Mapping[str, Any], field: str, n: int) -> Floats:
    if name not in columns:
        raise InputError(f"field '{field}': there is no column '{name}' with bounds{did_you_mean(name, columns)}")
    try:
        found = np.asarray(columns[name], np.float64)
    except (TypeError, ValueError):
        raise InputError(f"field '{field}': column '{name}' must hold numbers") from None
    if np.isnan(found).any():
        raise InputError(f"field '{field}': column '{name}' has missing values in record {np.isnan(found).argmax()}")
    return found
