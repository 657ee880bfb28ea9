"""What single units contribute to the classes of a partition, ranked, and how much slack the others leave."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.parts import Parts
from tabprotect.query.audit.records import FREE, Records

__all__ = ["Pieces", "Ranked", "pieces"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Pieces:
    """One entry for every unit in every class; records that an intruder knows are left out.

    Attributes
    ----------
    owner : ndarray of int
        Class, as a position among the classes looked at; ascending.
    unit : ndarray of int
    value : ndarray of int
        What the unit contributes.
    below, above : ndarray of int
        Distances to its known bounds, `FREE` where infinite.
    n : int
        Number of classes looked at.
    """

    owner: Ints
    unit: Ints
    value: Ints
    below: Ints
    above: Ints
    n: int

    @property
    def count(self) -> Ints:
        """Units in every class."""
        return np.bincount(self.owner, minlength=self.n).astype(np.int64)

    @cached_property
    def starts(self) -> tuple[Ints, Ints]:
        """The classes that have pieces, and where each begins."""
        first = np.flatnonzero(np.r_[len(self.owner) > 0, np.diff(self.owner) != 0])
        return self.owner[first], first

    def sums(self, array: Ints) -> Ints:
        """Return sums over every class, in integers."""
        result = np.zeros(self.n, np.int64)
        classes, first = self.starts
        if len(first):
            result[classes] = np.add.reduceat(array, first)
        return result

    def largest(self, sizes: Ints, k: int) -> Iterator[Ints]:
        """Return the piece of the largest size (>= 0) in every class, then the second largest, up to k."""
        left, (classes, first) = sizes.copy(), self.starts
        for _ in range(k):
            if not len(first):
                return
            most = np.full(self.n, -1, np.int64)
            most[classes] = np.maximum.reduceat(left, first)
            ties = np.flatnonzero((left == most[self.owner]) & (left >= 0))
            where = ties[np.flatnonzero(np.r_[len(ties) > 0, np.diff(self.owner[ties]) != 0])]
            left[where] = -1
            yield where


@dataclass(frozen=True, eq=False)
class Ranked:
    """Slack of every unit on one side, and which are the largest of every class: what others can give or take.

    Attributes
    ----------
    pieces : Pieces
    largest : int
        How many were looked for.
    total : ndarray of int, shape (classes,)
        Sum of the finite slacks.
    free : ndarray of int, shape (classes,)
        Number of units with infinite slack.
    finite : ndarray of int, shape (pieces,)
        Slack, 0 where infinite.
    inside : ndarray of bool, shape (pieces,)
        Among the largest of its class; infinite ones come first.
    top : tuple of ndarray of int, shape (classes,)
        Sum of the finite slacks among the 0, 1, ... largest.
    """

    pieces: Pieces
    largest: int
    total: Ints
    free: Ints
    finite: Ints
    inside: Bools
    top: tuple[Ints, ...]

    @classmethod
    def of(cls, p: Pieces, slack: Ints, largest: int) -> Ranked:
        """Find the largest slacks."""
        infinite = slack >= FREE
        if infinite.all():
            # a class of more units than are taken keeps an infinite slack, one of fewer is taken as a whole
            nothing = np.zeros(p.n, np.int64)
            inside = np.ones(len(slack), bool)
            return cls(p, largest, nothing, p.count, np.zeros_like(slack), inside, (nothing,) * (largest + 1))
        finite = np.where(infinite, 0, slack)
        inside, top = np.zeros(len(slack), bool), [np.zeros(p.n, np.int64)]
        for where in p.largest(slack, largest):
            inside[where] = True
            more = np.zeros(p.n, np.int64)
            more[p.owner[where]] = finite[where]
            top.append(top[-1] + more)
        return cls(p, largest, p.sums(finite), p.sums(infinite.astype(np.int64)), finite, inside, tuple(top))

    def beyond(self, k: int) -> Ints:
        """Return what is left of every class without its k largest slacks (k <= `largest`)."""
        return np.where(self.free > k, FREE, self.total - self.top[k])

    def without(self) -> Ints:
        """Return, for every piece, what is left of its class without it and the `largest` - 1 largest others."""
        k, owner = self.largest, self.pieces.owner
        rest = self.total[owner] - np.where(self.inside, self.top[k][owner], self.top[k - 1][owner] + self.finite)
        return np.where(self.free[owner] > np.where(self.inside, k, k - 1), FREE, rest)


def pieces(
    records: Records,
    class_of: npt.NDArray[np.int32],
    classes: Ints,
    hidden: Bools | None,
    parts: Parts | None = None,
) -> Pieces:
    """Collect the pieces of some classes.

    Parameters
    ----------
    records : Records
    class_of : ndarray of int, shape (records,)
    classes : ndarray of int
        Ascending.
    hidden : ndarray of bool, shape (records,), optional
        The records that the intruder does not know; all of them by default.
    parts : Parts, optional
        Then `class_of` has one entry a part, and only the records of the classes looked at are read.
    """
    position = np.full(int(class_of.max(initial=0)) + 1, -1, np.int32)
    position[classes[classes < len(position)]] = np.flatnonzero(classes < len(position))
    owner = position[class_of]
    wanted = owner >= 0
    if parts is not None:
        where = parts.records_of(wanted)
        where = where if hidden is None else where[hidden[where]]
        owner = owner[parts.part_of[where]]
    else:
        if hidden is not None:
            wanted &= hidden
        where = records.by_unit[wanted[records.by_unit]] if records.spread else np.flatnonzero(wanted)
        owner = owner[where]
    # a stable sort of 16-bit numbers takes linear time; units stay ascending within every class
    short = owner.astype(np.uint16) if len(classes) < 2**16 else owner
    order = np.argsort(short, kind="stable")
    where, whose = where[order], owner[order].astype(np.int64)
    unit, value = records.units[where], records.values[where]
    if not records.spread:
        return Pieces(whose, unit, value, records.below[where], records.above[where], len(classes))
    first = np.flatnonzero(np.r_[len(whose) > 0, (np.diff(whose) != 0) | (np.diff(unit) != 0)])
    if not len(first):
        return Pieces(whose, unit, value, value, value, len(classes))
    total = np.add.reduceat(value, first)
    below = total if records.nonnegative else _together(records.below[where], first)
    above = np.full(len(first), FREE) if records.unbounded else _together(records.above[where], first)
    return Pieces(whose[first], unit[first], total, below, above, len(classes))


def _together(slack: Ints, first: Ints) -> Ints:
    finite = np.add.reduceat(np.where(slack >= FREE, 0, slack), first)
    return np.where(np.maximum.reduceat(slack, first) >= FREE, FREE, finite)
