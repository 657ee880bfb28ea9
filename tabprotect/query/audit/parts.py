"""The records in parts that no query set in question tells apart, so that many decisions need not read them all."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.records import Records

__all__ = ["Parts"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Parts:
    """The classes of a partition, cut by groups.

    Attributes
    ----------
    records : Records
    part_of : ndarray of int, shape (records,)
    first : ndarray of int, shape (parts,)
        One record of every part.
    label : ndarray of int, shape (parts,)
        The group of every part, -1 for none.

    Examples
    --------
    >>> records = Records.of([1, 2, 4, 8])
    >>> parts = Parts.of(Partition.whole(4), Groups(np.array([0, 1, 1, -1]), 2), records)
    >>> parts.label.tolist(), parts.totals(None).tolist(), parts.records_of(parts.label == 1).tolist()
    ([-1, 0, 1], [8, 1, 6], [1, 2])
    """

    records: Records
    part_of: Ints
    first: Ints
    label: npt.NDArray[np.signedinteger]

    @classmethod
    def of(cls, partition: Partition, groups: Groups, records: Records) -> Parts:
        """Cut the classes of a partition by groups."""
        part_of, first = partition.atoms(groups)
        return cls(records, part_of, first, groups.label[first])

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        """The records by parts, those of one part in the order of their units; and where every part begins."""
        n = len(self.first)
        code = self.part_of.astype(np.uint16) if n <= 2**16 else self.part_of
        if self.records.spread:
            by_unit = self.records.by_unit
            order = by_unit[np.argsort(code[by_unit], kind="stable")]
        else:
            order = np.argsort(code, kind="stable")
        return order, np.r_[0, np.cumsum(np.bincount(self.part_of, minlength=n))]

    @cached_property
    def _rank(self) -> Ints:
        """The place of every record in the order of the units."""
        rank = np.empty(len(self.part_of), np.int64)
        rank[self.records.by_unit] = np.arange(len(rank))
        return rank

    @cached_property
    def _totals(self) -> dict[int, tuple[Bools | None, Ints]]:
        return {}

    def totals(self, hidden: Bools | None) -> Ints:
        """Return the total of every part, of all records or of those that an intruder does not know."""
        key = id(hidden)
        if key not in self._totals:
            values = self.records.values if hidden is None else np.where(hidden, self.records.values, 0)
            # floats are exact below 2^53
            sums = np.bincount(self.part_of, values, len(self.first)).astype(np.int64)
            self._totals[key] = hidden, sums
        return self._totals[key][1]

    def records_of(self, some: Bools) -> Ints:
        """Return the records of some parts, in the order of their units (ascending where each unit has one)."""
        order, starts = self._order
        found = [order[starts[k] : starts[k + 1]] for k in np.flatnonzero(some).tolist()]
        if not found:
            return np.zeros(0, np.int64)
        where = np.concatenate(found)
        if len(found) == 1:
            return where
        return np.asarray(where[np.argsort(self._rank[where])] if self.records.spread else np.sort(where), np.int64)
