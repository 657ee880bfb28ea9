"""What must stay possible for a confidential value, and the rows of vectors that are admitted for it.

A row has entries L + unit * steps * s_j with whole numbers 0 = min s_j <= ... <= max s_j = S. With weights r_j / steps,
r_j whole and positive, every value L + unit * sum_j r_j s_j of the hull is a whole number of units away from L, as the
true one is: that values have few decimals tells nothing about the weights (see `construction`).

A rule lists the rows that are admitted for a value. It looks at the row, not at where in it the value is: so

    a row that is admitted for one value of the hull is admitted for all others, with their weights.       (*)

Whoever knows the row and the rule, but not the weights, can exclude no value in it. A rule such as "the value +- 10 %"
does not have this property: the value would be the middle of the row.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, did_you_mean
from tabprotect.kinds import check_fields

__all__ = ["Absolute", "Bounds", "Covering", "Lattice", "Relative", "Row", "Rule", "required"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Lattice:
    """Where entries of rows lie.

    Attributes
    ----------
    unit : float
        Of the field: the last decimal, or what values are commonly rounded to.
    steps : int
        Common denominator of the weights.
    k : int
        Number of vectors.
    """

    unit: float
    steps: int
    k: int

    @property
    def cell(self) -> float:
        """Width of a row with S = 1."""
        return self.unit * self.steps

    @property
    def sure(self) -> float:
        """What the values that any weights give reach over at least, for S = 1: no weight is below 1 / steps."""
        return self.unit * (self.steps - 2 * (self.k - 1))

    def row(self, a: float, pattern: Sequence[float], weights: Sequence[int], size: int) -> Row:
        """Return L and entries above it, ascending, for S = size, such that the weights give the value a."""
        if not size:
            return a, [0.0] * self.k
        steps = [0, *(int(q * (size + 1)) for q in pattern[1:-1]), size]
        return a - self.unit * sum(map(mul, weights, steps)), [self.cell * s for s in steps]


Row = tuple[float, list[float]]
"""Lower end, and entries above it in ascending order."""


class Rule(Protocol):
    """Lists admitted rows of value a, record i, by a pattern in [0, 1] and weights in the order of its entries."""

    def __call__(self, i: int, a: float, pattern: Sequence[float], weights: Sequence[int]) -> list[Row]:
        """Return at least one row."""
        ...


@dataclass(frozen=True)
class Relative:
    """A range of at least a share of its own middle: U - L >= width * max(abs((L + U) / 2), least).

    Parameters
    ----------
    width : float
        Above 0 and below 1; 0.2 is "10 % to either side of the middle of the range" (not of the value, which lies
        anywhere in it).
    least : float
        Values in [-least, least] are protected as one of this size, in units of the field.

    Notes
    -----
    Admitted are rows whose width is above what is required by less than two cells (2 unit steps); one of them is taken
    at random. Rows of small positive values may reach below 0: who knows that no value is negative excludes weights.

    Examples
    --------
    >>> rows = Relative(0.2).rows(np.array([100.0]), {}, "turnover", Lattice(0.1, 20, 3))
    >>> [(round(low, 6), [round(x, 6) for x in entries]) for low, entries in rows(0, 100.0, [0, 0.5, 1], [6, 5, 9])]
    [(84.8, [0.0, 14.0, 26.0]), (83.9, [0.0, 14.0, 28.0])]
    """

    width: float
    least: float = 0.0

    def __post_init__(self) -> None:
        check_fields(self)

    def rows(self, values: Floats, columns: Mapping[str, Any], field: str, lattice: Lattice) -> Rule:
        """Return the rule for the values of a field."""
        if not 0 < self.width < 1:
            raise InputError(f"field '{field}': a relative width is above 0 and below 1, not {self.width!r}")
        if not (math.isfinite(self.least) and self.least >= 0):
            raise InputError(f"field '{field}': least must be a number of at least 0, not {self.least!r}")
        width, least, sure, cell = float(self.width), float(self.least), lattice.sure, lattice.cell

        def admitted(i: int, a: float, pattern: Sequence[float], weights: Sequence[int]) -> list[Row]:
            share = width * cell / sure
            lean = (sum(map(mul, weights, pattern)) / lattice.steps - 0.5) * share
            middle = a / (1 + lean) if a > 0 else a / (1 - lean)
            about = math.ceil(width * max(abs(middle), least) / sure)
            found = []
            for size in range(max(1, about - 4), about + 6):
                low, entries = row = lattice.row(a, pattern, weights, size)
                need = width * max(abs(low + entries[-1] / 2), least)
                if need <= sure * size < need + 2 * cell:
                    found.append(row)
            if not found:
                raise InputError(f"field '{field}': no row of the required width for record {i} (counted from 0)")
            return found

        return admitted


@dataclass(frozen=True)
class Absolute:
    """A range of at least a given width, in units of the field.

    Parameters
    ----------
    width : float or str
        One number, or the name of a public column.
    """

    width: float | str

    def __post_init__(self) -> None:
        check_fields(self)

    def rows(self, values: Floats, columns: Mapping[str, Any], field: str, lattice: Lattice) -> Rule:
        """Return the rule for the values of a field."""
        widths = (
            _column(self.width, columns, field)
            if isinstance(self.width, str)
            else np.full(len(values), float(self.width))
        )
        bad = np.flatnonzero(~(np.isfinite(widths) & (widths > 0)))
        if bad.size:
            raise InputError(
                f"field '{field}': {bad.size} widths are not above 0, the first in record {bad[0]} (counted from 0)"
            )
        sizes = np.ceil(widths / lattice.sure).astype(np.int64).tolist()
        return lambda i, a, pattern, weights: [lattice.row(a, pattern, weights, sizes[i])]


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

    def __post_init__(self) -> None:
        check_fields(self)

    def rows(self, values: Floats, columns: Mapping[str, Any], field: str, lattice: Lattice) -> Rule:
        """Return the rule for the values of a field."""
        low, high = (_column(name, columns, field) for name in (self.lower, self.upper))
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
        below, above, l, u = (values - low).tolist(), (high - values).tolist(), low.tolist(), high.tolist()

        def admitted(i: int, a: float, pattern: Sequence[float], weights: Sequence[int]) -> list[Row]:
            if below[i] == above[i] == math.inf:
                return [lattice.row(a, pattern, weights, 0)]
            t = sum(map(mul, weights, pattern)) / lattice.steps
            down = below[i] / t if below[i] < math.inf else 0.0
            up = above[i] / (1 - t) if above[i] < math.inf else 0.0
            size = max(1, math.floor(max(down, up) / lattice.cell) - 2)
            while True:
                low, entries = row = lattice.row(a, pattern, weights, size)
                if (l[i] == -math.inf or low <= l[i]) and (u[i] == math.inf or low + entries[-1] >= u[i]):
                    return [row]
                size += 1

        return admitted


Bounds = Relative | Absolute | Covering

SAME_PLACE = 1e-6
"""Positions of values between their bounds that differ by less than this are taken to be one and the same."""


def required(bounds: Bounds, columns: Mapping[str, Any], vectors: Floats) -> tuple[Floats, Floats]:
    """Return l and u that rows must reach: given ones, or the width that is required of the row's own range.

    Where there is no requirement, l is inf and u is -inf, which every row reaches.
    """
    low, high = vectors.min(axis=1), vectors.max(axis=1)
    if isinstance(bounds, Covering):
        l, u = _column(bounds.lower, columns, ""), _column(bounds.upper, columns, "")
        return np.where(np.isneginf(l), np.inf, l), np.where(np.isposinf(u), -np.inf, u)
    middle = (low + high) / 2
    if isinstance(bounds, Relative):
        whole = bounds.width * np.maximum(np.abs(middle), bounds.least)
    elif isinstance(bounds.width, str):
        whole = _column(bounds.width, columns, "")
    else:
        whole = np.full(len(vectors), float(bounds.width))
    return middle - whole / 2, middle + whole / 2


def _column(name: str, columns: Mapping[str, Any], field: str) -> Floats:
    if name not in columns:
        raise InputError(f"field '{field}': there is no column '{name}' with bounds{did_you_mean(name, columns)}")
    try:
        found = np.asarray(columns[name], np.float64)
    except (TypeError, ValueError):
        raise InputError(f"field '{field}': column '{name}' must hold numbers") from None
    if np.isnan(found).any():
        raise InputError(f"field '{field}': column '{name}' has missing values in record {np.isnan(found).argmax()}")
    return found
