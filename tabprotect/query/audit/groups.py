"""Disjoint query sets, as those of the groups of a table: one label a record in place of one mask a group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.records import Records

__all__ = ["Groups", "chosen", "distinct", "largest", "sizes", "totals", "units"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

TABLE = 20_000_000
"""Codes up to which distinct ones are found by marking them in a table; beyond, they are sorted."""


@dataclass(frozen=True, eq=False)
class Groups(Sequence[Bools]):
    """Query sets without common records; read as a sequence, one mask a group, made when it is asked for.

    Attributes
    ----------
    label : ndarray of int, shape (records,)
        The group of every record, -1 for none.
    n : int
        Number of groups; they may be empty.

    Examples
    --------
    >>> groups = Groups(np.array([1, -1, 0, 1]), 2)
    >>> groups[1].tolist(), groups.sizes.tolist(), groups.sums(np.array([5, 6, 7, 8])).tolist()
    ([True, False, False, True], [1, 2], [7, 13])
    """

    label: npt.NDArray[np.signedinteger]
    n: int

    @classmethod
    def of(cls, sets: Sequence[Bools]) -> Groups | None:
        """Read masks; None where two of them overlap.

        Examples
        --------
        >>> Groups.of([np.array([True, False]), np.array([True, True])]) is None
        True
        """
        if isinstance(sets, Groups):
            return sets
        if not len(sets):
            return None
        label = np.full(len(sets[0]), -1, np.int32)
        for k, members in enumerate(sets):
            if np.any(label[members] >= 0):
                return None
            label[members] = k
        return cls(label, len(sets))

    def __len__(self) -> int:
        return self.n

    @overload
    def __getitem__(self, k: int) -> Bools: ...
    @overload
    def __getitem__(self, k: slice) -> Groups: ...
    def __getitem__(self, k: int | slice) -> Bools | Groups:
        if isinstance(k, slice):
            return self.only(range(self.n)[k])
        return np.asarray(self.label == range(self.n)[k])

    def __iter__(self) -> Iterator[Bools]:
        return (self[k] for k in range(self.n))

    def only(self, some: Sequence[int]) -> Groups:
        """Return some of the groups, in the order given.

        Examples
        --------
        >>> Groups(np.array([1, -1, 0, 2]), 3).only([2, 1]).label.tolist()
        [1, -1, -1, 0]
        """
        if list(some) == list(range(self.n)):
            return self
        number = np.full(self.n + 1, -1, np.int32)  # the last is that of the label -1
        number[list(some)] = np.arange(len(some))
        return Groups(number[self.label], len(some))

    @cached_property
    def sizes(self) -> Ints:
        """Number of records of every group."""
        return np.bincount(self.label + 1, minlength=self.n + 1)[1:]

    def sums(self, values: Ints) -> Ints:
        """Return the sum of every group; exact, since sums of a field are below 2^53."""
        return np.bincount(self.label + 1, weights=values, minlength=self.n + 1)[1:].astype(np.int64)

    def contributions(self, records: Records) -> tuple[Ints, Ints]:
        """Return what every unit contributes to every group.

        Returns
        -------
        sums : ndarray of int
            Group by group, and there by ascending unit.
        starts : ndarray of int, shape (groups + 1,)
            Where every group begins in `sums`, and the end.

        Examples
        --------
        >>> records = Records.of([1, 2, 4, 8], units=["a", "b", "a", "a"])
        >>> sums, starts = Groups(np.array([1, 1, 0, 1]), 2).contributions(records)
        >>> sums.tolist(), starts.tolist()
        ([4, 9, 2], [0, 1, 3])
        """
        if self._last.get("values") is not records.values:
            self._last.update(values=records.values, sums=self._sums_by_units(records))
        return self._last["sums"], self._by_units(records)[2]

    def _sums_by_units(self, records: Records) -> Ints:
        order, first, _ = self._by_units(records)
        return np.asarray(np.add.reduceat(records.values[order], first)) if len(order) else np.zeros(0, np.int64)

    @cached_property
    def _last(self) -> dict[str, Any]:
        return {}

    def _by_units(self, records: Records) -> tuple[Ints, Ints, Ints]:
        """Return the records by groups and units, and where every unit and every group begins.

        Kept for the last units: the fields of a table have them in common.
        """
        if self._last.get("units") is not records.units:
            self._last.update(units=records.units, found=self._sorted_by_units(records))
        order, first, starts = self._last["found"]
        return order, first, starts

    def _sorted_by_units(self, records: Records) -> tuple[Ints, Ints, Ints]:
        if records.spread:
            by_unit = records.by_unit
            order = by_unit[_sorted(self.label[by_unit], self.n)]
        else:
            order = _sorted(self.label, self.n)
        if not len(order):
            return order, order, np.zeros(self.n + 1, np.int64)
        label, units = self.label[order], records.units[order]
        first = np.flatnonzero(np.r_[True, (label[1:] != label[:-1]) | (units[1:] != units[:-1])])
        return order, first, np.r_[0, np.cumsum(np.bincount(label[first], minlength=self.n))]

    def units(self, records: Records) -> Ints:
        """Return the number of units behind every group."""
        return np.diff(self._by_units(records)[2])


def largest(amounts: Ints, starts: Ints, top: int) -> Ints:
    """Return the largest entries of every part of an array, descending, 0 where there are fewer.

    Parameters
    ----------
    amounts : ndarray of int (>= 0)
    starts : ndarray of int, shape (parts + 1,)
    top : int

    Examples
    --------
    >>> largest(np.array([3, 9, 9, 1]), np.array([0, 3, 3, 4]), 2).tolist()
    [[9, 9], [0, 0], [1, 0]]
    """
    parts = len(starts) - 1
    kept = np.zeros((parts, top), np.int64)
    full = np.flatnonzero(np.diff(starts))
    if not len(full) or not top:
        return kept
    left, of = amounts.copy(), np.repeat(np.arange(len(full)), np.diff(starts)[full])
    for r in range(top):
        most = np.maximum.reduceat(left, starts[full])
        kept[full, r] = np.maximum(most, 0)
        where = np.flatnonzero(left == most[of])
        _, first = np.unique(of[where], return_index=True)
        left[where[first]] = -1
    return kept


def distinct(codes: Ints, n: int) -> tuple[Ints, Ints]:
    """Number the distinct codes in 0..n-1 in ascending order.

    Returns
    -------
    number, first : ndarray of int
        The number of every code, and the first position of every distinct code.

    Examples
    --------
    >>> number, first = distinct(np.array([7, 2, 7]), 8)
    >>> number.tolist(), first.tolist()
    ([1, 0, 1], [1, 0])
    """
    if n > TABLE:
        _, first, number = np.unique(codes, return_index=True, return_inverse=True)
        return np.asarray(number, np.int64), np.asarray(first, np.int64)
    there = np.zeros(n, bool)
    there[codes] = True
    each = np.flatnonzero(there)
    place = np.empty(n, np.int32)
    place[each] = np.arange(len(each))
    number = place[codes].astype(np.int64)
    first = np.empty(len(each), np.int64)
    # of several assignments to one place the last counts
    first[number[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return number, first


def chosen(sets: Sequence[Bools], some: Sequence[int]) -> Sequence[Bools]:
    """Return some of several query sets, as groups where they are groups."""
    return sets.only(some) if isinstance(sets, Groups) else [sets[k] for k in some]


def sizes(sets: Sequence[Bools]) -> list[int]:
    """Return the number of records in every query set."""
    if isinstance(sets, Groups):
        return [int(size) for size in sets.sizes]
    return [int(np.count_nonzero(members)) for members in sets]


def totals(records: Records, sets: Sequence[Bools]) -> tuple[Fraction, ...]:
    """Return the exact sum over every query set.

    Examples
    --------
    >>> totals(Records.of([0.5, 2, 4]), Groups(np.array([0, 0, 1]), 2))
    (Fraction(5, 2), Fraction(4, 1))
    """
    if isinstance(sets, Groups):
        return tuple(Fraction(int(total), records.scale) for total in sets.sums(records.values))
    return tuple(records.total(members) for members in sets)


def units(records: Records, sets: Sequence[Bools]) -> list[int]:
    """Return the number of units behind every query set."""
    if isinstance(sets, Groups):
        return [int(count) for count in sets.units(records)]
    return [len(records.units_of(members)) for members in sets]


def _sorted(label: npt.NDArray[np.signedinteger], n: int) -> Ints:
    """Return the records that have a label, in the order of their labels."""
    some = np.flatnonzero(label >= 0)
    # a stable sort of 16 bits is a radix sort
    codes = label[some].astype(np.uint16 if n <= 65536 else np.int64)
    return np.asarray(some[np.argsort(codes, kind="stable")], np.int64)
