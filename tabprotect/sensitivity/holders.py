"""Kept contributions added up by holder over sets of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.table.table import Contributions

__all__ = ["Kept", "Sets", "Slots", "by_holder", "sums_by"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_NO_REQUEST = 9
"""What stands for no request where the smallest one counts."""


@dataclass(frozen=True, eq=False)
class Sets:
    """The sets whose cells are added up: all members one after the other, and the set of each."""

    member: Ints
    owner: Ints
    n: int

    def sum(self, array: npt.NDArray[Any]) -> Floats:
        """Sum of every set."""
        return sums_by(self.owner, array[self.member], self.n)

    def largest(self, array: Floats) -> Floats:
        """Largest member of every set, 0 at least."""
        found = np.zeros(self.n)
        np.maximum.at(found, self.owner, array[self.member])
        return found


@dataclass(frozen=True, eq=False)
class Slots:
    """The kept contributions of every cell, and as one more the largest without waiver where it is not among them."""

    values: Floats
    weights: Floats
    holders: Ints
    waived: Bools
    requested: npt.NDArray[np.int8]

    @classmethod
    def of(cls, c: Contributions) -> Slots:
        """Return the slots of all cells."""
        inside = ((c.weights > 0) & ~c.waived).any(axis=1)
        extra = ~inside & (c.unwaived > 0)
        return cls(
            np.c_[c.values, np.where(extra, c.unwaived, 0.0)],
            np.c_[c.weights, extra.astype(np.float64)],
            np.c_[c.holders, np.where(extra, c.unwaived_holder, -1)],
            np.c_[c.waived, np.zeros(len(extra), bool)],
            np.c_[c.requested, np.zeros(len(extra), np.int8)],
        )


@dataclass(frozen=True, eq=False)
class Kept:
    """One entry for all that one holder has in the cells of one set, as far as it is kept.

    Attributes
    ----------
    group : ndarray of int
        The set.
    value : ndarray
        Sum of his contributions.
    columns : dict
        His ``weights``, ``holders``, ``waived`` and ``requested``.
    beyond : ndarray of float
        What somebody else can have at most in the cells where he is kept.
    """

    group: Ints
    value: npt.NDArray[Any]
    columns: dict[str, npt.NDArray[Any]]
    beyond: npt.NDArray[Any]


def by_holder(c: Contributions, slots: Slots, sets: Sets, beyond: Floats, plain: bool) -> Kept:
    """Add up, set by set, what is kept of every holder; the weight of his sum is the mean of his weights."""
    slot_cell, slot = np.nonzero(slots.weights[sets.member] > 0)
    union, cell = sets.owner[slot_cell], sets.member[slot_cell]
    who = slots.holders[cell, slot]
    alone = who < 0
    who = np.where(alone, len(c.names) + np.arange(len(who)), who)
    order = np.lexsort((who, union))
    start = np.flatnonzero(np.r_[True, (np.diff(union[order]) != 0) | (np.diff(who[order]) != 0)])
    start = start[: len(order)]

    def grouped(how: np.ufunc, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return how.reduceat(array[order], start) if len(start) else array[:0]

    parts, each = slots.weights[cell, slot], slots.values[cell, slot]
    value, weighty = grouped(np.add, each), grouped(np.add, parts * each)
    weight = parts[order][start]
    if not plain:
        weight = np.divide(weighty, value, out=weight, where=value > 0)
    request = slots.requested[cell, slot]
    columns = {
        "weights": weight,
        "holders": np.where(alone[order][start], slots.holders[cell, slot][order][start], who[order][start]),
        "waived": grouped(np.logical_and, slots.waived[cell, slot]),
        "requested": grouped(np.minimum, np.where(request == 0, _NO_REQUEST, request)) % _NO_REQUEST,
    }
    return Kept(union[order][start], value, columns, grouped(np.add, beyond[cell]))


def sums_by(owner: Ints, array: npt.NDArray[Any], m: int) -> Floats:
    """Sum of the entries of every owner."""
    return np.asarray(np.bincount(owner, weights=array, minlength=m), np.float64)
