"""What single units contribute to the classes of a partition, ranked, and how much slack the others leave."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

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

    def sums(self, array: Ints) -> Ints:
        """Return sums over every class, in integers."""
        result = np.zeros(self.n, np.int64)
        np.add.at(result, self.owner, array)
        return result


@dataclass(frozen=True, eq=False)
class Ranked:
    """Slack of every unit on one side, the largest first in every class: what it can give or take.

    Attributes
    ----------
    total : ndarray of int, shape (classes,)
        Sum of the finite slacks.
    free : ndarray of int, shape (classes,)
        Number of units with infinite slack.
    rank : ndarray of int, shape (pieces,)
        0 for the largest of the class.
    """

    total: Ints
    free: Ints
    rank: Ints
    _finite: Ints
    _owner: Ints
    _sorted: Ints
    _start: Ints
    _count: Ints

    @classmethod
    def of(cls, p: Pieces, slack: Ints) -> Ranked:
        """Rank the pieces by a slack; infinite ones come first."""
        infinite = slack >= FREE
        finite = np.where(infinite, 0, slack)
        order = np.lexsort((-finite, ~infinite, p.owner))
        count = p.count
        start = np.r_[0, np.cumsum(count)]
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order)) - start[p.owner[order]]
        cumulated = np.r_[0, np.cumsum(finite[order])]
        return cls(
            p.sums(finite), p.sums(infinite.astype(np.int64)), rank, finite, p.owner, cumulated, start[:-1], count
        )

    def _top(self, k: int) -> Ints:
        end = self._start + np.minimum(self._count, k)
        return self._sorted[end] - self._sorted[self._start]

    def beyond(self, k: int) -> Ints:
        """Return what is left of every class without its k largest slacks."""
        left = self.total - self._top(k)
        return np.where(self.free > k, FREE, left)

    def without(self, k: int) -> Ints:
        """Return, for every piece, what is left of its class without it and the k - 1 largest others."""
        inside = self.rank < k
        taken = np.where(inside, self._top(k)[self._owner], self._top(k - 1)[self._owner] + self._finite)
        # infinite slacks rank first; more of them than are taken means that one is left
        left = self.total[self._owner] - taken
        return np.where(self.free[self._owner] > np.where(inside, k, k - 1), FREE, left)


def pieces(records: Records, class_of: npt.NDArray[np.int32], classes: Ints, hidden: Bools | None) -> Pieces:
    """Collect the pieces of some classes.

    Parameters
    ----------
    records : Records
    class_of : ndarray of int, shape (records,)
    classes : ndarray of int
        Ascending.
    hidden : ndarray of bool, shape (records,), optional
        The records that the intruder does not know; all of them by default.
    """
    position = np.full(int(class_of.max(initial=0)) + 1, -1, np.int64)
    position[classes[classes < len(position)]] = np.flatnonzero(classes < len(position))
    owner = position[class_of]
    wanted = owner >= 0
    if hidden is not None:
        wanted &= hidden
    where = np.flatnonzero(wanted)
    owner, unit = owner[where], records.units[where]
    value, below, above = records.values[where], records.below[where], records.above[where]
    if not records.spread:
        order = np.argsort(owner, kind="stable")
        return Pieces(owner[order], unit[order], value[order], below[order], above[order], len(classes))
    order = np.lexsort((unit, owner))
    owner, unit, value, below, above = (a[order] for a in (owner, unit, value, below, above))
    first = np.flatnonzero(np.r_[len(owner) > 0, (np.diff(owner) != 0) | (np.diff(unit) != 0)])

    def grouped(slack: Ints) -> Ints:
        finite = np.add.reduceat(np.where(slack >= FREE, 0, slack), first)
        return np.where(np.maximum.reduceat(slack, first) >= FREE, FREE, finite)

    if not len(first):
        return Pieces(owner, unit, value, below, above, len(classes))
    total = np.add.reduceat(value, first)
    return Pieces(owner[first], unit[first], total, grouped(below), grouped(above), len(classes))
