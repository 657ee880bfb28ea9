"""What each holder contributes to each cell, as columns that are sorted by holder and added up by cell."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = ["LONGEST", "Entries", "by_number", "starts_of"]

Ints = npt.NDArray[np.int64]

LONGEST: Final = 16
"""Entries of a holder that are compared with each other one by one; beyond, sorting is faster."""


@dataclass(frozen=True, eq=False)
class Entries:
    """What each holder contributes to each leaf cell, sorted by holder.

    Parameters
    ----------
    cell, holder : ndarray of int, shape (entries,)
    columns : mapping of str to ndarray
        ``shadow``: the sum, in limbs, shape (entries, limbs). With weights, ``absolute`` and ``weighted``: the sums of
        the absolute shadow without and with weights, and ``light`` and ``heavy``: the extremes of the weights. If there
        are negative values, whether there are numbers ``below`` and ``above`` zero. ``waived``, ``requested``. What is
        the same for all entries is left out.
    """

    cell: npt.NDArray[np.int32]
    holder: Ints
    columns: Mapping[str, npt.NDArray[Any]]

    @classmethod
    def of(
        cls, cells: npt.NDArray[Any], holder: Ints, columns: Mapping[str, npt.NDArray[Any]], *, compacted: bool = False
    ) -> Entries:
        """Sort by holder; add up the records of one holder in one cell unless that is done already."""
        cell = cells.astype(np.int32)
        if (holder[1:] < holder[:-1]).any():
            order = np.argsort(holder, kind="stable")
            entries = cls(cell, holder, columns).at(order)
        else:
            entries = cls(cell, holder, columns)
        if compacted:
            return entries
        again = entries.grouped(entries.cell, int(cell.max(initial=-1)) + 1)
        return cls.of(again.cell, again.holder, again.columns, compacted=True)

    def at(self, which: npt.NDArray[Any]) -> Entries:
        """Return some of the entries."""
        columns = {name: np.take(column, which, axis=0) for name, column in self.columns.items()}
        return Entries(self.cell[which], self.holder[which], columns)

    @cached_property
    def earlier(self) -> tuple[tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]], ...]:
        """For distances 1, 2, ...: entries, and the entries of the same holder so far before; ends after `LONGEST`."""
        steps = []
        at = np.arange(1, len(self.holder), dtype=np.int32)
        distance = 1
        while distance <= LONGEST + 1 and len(at := at[self.holder[at] == self.holder[at - distance]]):
            steps.append((at, at - np.int32(distance)))
            distance += 1
            at = at[at >= distance]
        return tuple(steps)

    def by_length(self) -> Iterator[Entries]:
        """Yield the entries of holders with at most `LONGEST`, and those of the others."""
        starts = starts_of(self.holder)
        lengths = np.diff(np.append(starts, len(self.holder)))
        short = np.repeat(lengths <= LONGEST, lengths)
        if short.all() or not short.any():
            yield self
            return
        yield self.at(np.flatnonzero(short))
        yield self.at(np.flatnonzero(~short))

    def grouped(self, cell: npt.NDArray[np.int32], n: int) -> Entries:
        """Add up the entries of one holder in one cell; sorted by cell, then holder.

        Parameters
        ----------
        cell : ndarray of int, shape (entries,)
            The cell that every entry goes to; those of cells from `n` on are left out.
        """
        order = by_number(cell, n)
        sorted_ = Entries(cell, self.holder, self.columns).at(order)
        starts = starts_of(sorted_.cell, sorted_.holder)
        if len(starts) == len(order):
            return sorted_
        columns = {name: _REDUCE[name].reduceat(column, starts, axis=0) for name, column in sorted_.columns.items()}
        return Entries(sorted_.cell[starts], sorted_.holder[starts], columns)


_REDUCE: Final[Mapping[str, np.ufunc]] = {
    "shadow": np.add,
    "absolute": np.add,
    "weighted": np.add,
    "light": np.minimum,
    "heavy": np.maximum,
    "below": np.logical_or,
    "above": np.logical_or,
    "waived": np.logical_and,
    "requested": np.minimum,
}


def by_number(number: npt.NDArray[Any], n: int) -> npt.NDArray[np.int32]:
    """Return the order that sorts by numbers 0..n-1; stable, larger numbers are left out.

    A transposition counts instead of comparing, which is ten times faster.
    """
    rows = np.arange(len(number) + 1, dtype=np.int32)
    ones = np.ones(len(number), dtype=np.int8)
    columns = sparse.csr_array((ones, number.astype(np.int32), rows), shape=(len(number), n + 1)).tocsc()
    return np.asarray(columns.indices[: columns.indptr[n]], dtype=np.int32)


def starts_of(*keys: npt.NDArray[Any]) -> Ints:
    """Return where a new group starts in sorted keys."""
    if not len(keys[0]):
        return np.zeros(0, dtype=np.int64)
    new = np.zeros(len(keys[0]), dtype=bool)
    new[0] = True
    for key in keys:
        new[1:] |= key[1:] != key[:-1]
    return np.flatnonzero(new)
