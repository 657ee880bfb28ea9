"""The records that queries are about: confidential values in exact integers, what is known of them, whose they are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, collect
from tabprotect.kinds import check_fields, of_kinds
from tabprotect.solver.exact import scaled_integers

__all__ = ["FREE", "Intruder", "Records"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

FREE: Final = 2**61
"""Stands for an infinite distance among integers."""

LARGEST: Final = 2**53
"""Sums of absolute values (in units of the last decimal) stay below this, so that products with percentages fit."""


@dataclass(frozen=True)
class Intruder:
    """Somebody who knows the values of some records exactly, besides what is answered.

    Parameters
    ----------
    name : str
    known : tuple of int
        Positions of the records.
    """

    name: str
    known: tuple[int, ...]

    def __post_init__(self) -> None:
        check_fields(self)


class TooFineError(InputError):
    """Values with so many digits that their sums do not fit into exact arithmetic."""


@dataclass(frozen=True, eq=False)
class Records:
    """One confidential field of a database. Internal: it holds the confidential values.

    Attributes
    ----------
    values : ndarray of int, shape (records,)
        In units of 1/`scale`.
    below, above : ndarray of int, shape (records,)
        How far the value lies from its known lower and upper bound (>= 0); `FREE` where there is none.
    units : ndarray of int, shape (records,)
        Whose record it is: the privacy unit, 0, 1, ...
    scale : int
        Power of ten, or the least common denominator of the values.
    name : str
        Of the field.
    spread : bool
        Some unit has several records.

    Examples
    --------
    >>> r = Records.of([1.5, 2, 0], name="turnover")
    >>> r.scale, r.values.tolist(), r.total(np.array([True, True, False]))
    (10, [15, 20, 0], Fraction(7, 2))
    """

    values: Ints
    below: Ints
    above: Ints
    units: Ints
    scale: int
    name: str = "value"
    spread: bool = field(default=False)
    _shortfalls: dict[tuple[Fraction, int], Ints] = field(default_factory=dict, init=False, repr=False)

    @classmethod
    @of_kinds()
    def of(
        cls,
        values: Any,
        *,
        lower: Any = 0.0,
        upper: Any = np.inf,
        units: Sequence[Hashable] | npt.NDArray[Any] | None = None,
        name: str = "value",
    ) -> Records:
        """Read a field.

        Parameters
        ----------
        values : array_like of float, shape (records,)
            Decimals are taken as written.
        lower, upper : float or array_like
            Bounds that everybody knows before any answer; may be infinite.
        units : sequence, optional
            The person, enterprise or holding of every record; by default every record is one of its own.
        name : str
            Of the field, for messages.

        Raises
        ------
        InputError
            Missing or infinite values, values outside their bounds, lengths that differ, sums that are too large for
            exact arithmetic in 64 bits; everything at once.
        """
        try:
            x = np.asarray(values, np.float64)
            lo, hi = (np.asarray(bound, np.float64) for bound in (lower, upper))
        except (TypeError, ValueError) as error:
            raise InputError(f"field '{name}': values and bounds must be numbers: {error}") from None
        with collect() as problems:
            if x.ndim != 1:
                problems.add(f"field '{name}': values must be a list of numbers, not of shape {x.shape}")
            for what, array in (("lower", lo), ("upper", hi)):
                if array.shape not in ((), x.shape):
                    problems.add(f"field '{name}': {what} has shape {array.shape}; one number or {x.shape} is needed")
            if units is not None and len(units) != len(x):
                problems.add(f"field '{name}': {counted(len(units), 'unit')} for {counted(len(x), 'record')}")
        lo, hi = np.broadcast_to(lo, x.shape), np.broadcast_to(hi, x.shape)
        with collect() as problems:
            _refuse(problems.add, name, ~np.isfinite(x), "missing or infinite values in records")
            _refuse(problems.add, name, np.isnan(lo) | np.isnan(hi), "bounds that are no numbers in records")
            _refuse(problems.add, name, (x < lo) | (x > hi), "values outside their known bounds in records")
        scale, (exact, low, high) = scaled_integers(x, lo, hi)
        if any(array.dtype == object for array in (exact, low, high)) or _too_large(exact, low, high):
            raise TooFineError(
                f"field '{name}': the sum of the values in units of 1/{scale} is beyond 2^53; "
                "give them in a larger unit or with fewer decimals"
            )
        codes = np.arange(len(x)) if units is None else pd.factorize(np.asarray(units), use_na_sentinel=False)[0]
        return cls(
            exact,
            np.where(np.isfinite(lo), exact - low, FREE),
            np.where(np.isfinite(hi), high - exact, FREE),
            np.asarray(codes, np.int64),
            scale,
            name,
            bool(len(codes) and codes.max() + 1 < len(codes)),
        )

    def __len__(self) -> int:
        return len(self.values)

    @cached_property
    def by_unit(self) -> Ints:
        """The records in the order of their units."""
        return np.argsort(self.units, kind="stable") if self.spread else np.arange(len(self.values))

    @cached_property
    def unit_starts(self) -> Ints:
        """Where every unit begins in `by_unit`, and the end."""
        return np.r_[0, np.cumsum(np.bincount(self.units))] if len(self.units) else np.zeros(1, np.int64)

    def of_unit(self, unit: int) -> Ints:
        """Return the records of a unit."""
        return self.by_unit[self.unit_starts[unit] : self.unit_starts[unit + 1]]

    @cached_property
    def nonnegative(self) -> bool:
        """Whether all values are known to be at least 0, and nothing more about their lower bounds."""
        return bool(np.array_equal(self.below, self.values))

    @cached_property
    def unbounded(self) -> bool:
        """Whether no upper bound is known."""
        return bool(np.all(self.above >= FREE))

    @cached_property
    def sizes(self) -> Ints:
        """Sum of absolute values of every unit, ascending."""
        return np.sort(np.bincount(self.units, weights=np.abs(self.values)).astype(np.int64))

    def shortfalls(self, ratio: Fraction, side: int) -> Ints:
        """Return for every unit by how much known bounds keep its records from moving by a ratio of their values.

        Summed over its records, in units of 1/`scale`, towards one side; 0 where every unit has one record.
        """
        if (ratio, side) not in self._shortfalls:
            short = np.zeros(int(self.units.max(initial=-1)) + 1, np.int64)
            if self.spread:
                cap = self.above if side > 0 else self.below
                level = -((-ratio.numerator * np.abs(self.values)) // ratio.denominator)
                np.add.at(short, self.units, np.maximum(level - cap, 0))
            self._shortfalls[ratio, side] = short
        return self._shortfalls[ratio, side]

    def units_of(self, members: Bools) -> Ints:
        """Return the units behind some records."""
        return np.flatnonzero(np.bincount(self.units[members]))

    def by_units(self, members: Bools) -> Ints:
        """Return the sums of all units behind some records."""
        if not self.spread:
            return self.values[members]
        units = self.units[members]
        # floats are exact below 2^53, which `of` has made sure of
        sums = np.bincount(units, weights=self.values[members])
        return sums[np.bincount(units) > 0].astype(np.int64)

    def total(self, members: Bools) -> Fraction:
        """Return the exact sum over some records."""
        return Fraction(int(self.values[members].sum()), self.scale)

    def number(self, amount: int) -> float:
        """Return an amount in the unit of the field."""
        return amount / self.scale


def _refuse(add: Any, name: str, bad: Bools, what: str) -> None:
    where = np.flatnonzero(bad)
    if len(where):
        more = f" and {len(where) - 5} more" if len(where) > 5 else ""
        add(f"field '{name}': {what} {', '.join(str(i) for i in where[:5])}{more} (counted from 0)")


def _too_large(*arrays: Ints) -> bool:
    return any(float(np.abs(array.astype(np.float64)).sum()) >= LARGEST for array in arrays)
