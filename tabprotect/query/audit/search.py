"""Where other data sets are looked for: near the classes that must move first, everywhere last.

A linear programme over some classes, with all others held, has fewer solutions than the whole one, and each of them
is a solution of the whole one. Where two classes lie in almost the same query sets a move from one to the other
disturbs few answers, so that the classes that differ from a target in the fewest query sets are tried first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.worlds import Box, Programme, World

__all__ = ["Search"]

Ints = npt.NDArray[np.int64]

SMALL: Final = 400
"""Classes up to which there is one programme over all of them."""

SIZES: Final = (60, 250, 1000)
"""Numbers of classes tried around a target."""

COLUMNS: Final = 1200
"""Most classes of one programme over some of them."""

NEAR: Final = 50
"""What the choice of classes counts as, in simplex iterations."""

BYTES: Final = 20_000
"""Bytes of membership compared that count as one simplex iteration."""


@dataclass(eq=False)
class Search:
    """Looks for worlds within a limit of work.

    Attributes
    ----------
    partition : Partition
    box : Box
        Known bounds on moves; classes outside all query sets are held at 0.
    work : int
        What may be spent, in simplex iterations of a small programme.
    spent : int
    """

    partition: Partition
    box: Box
    work: int
    spent: int = 0
    _whole: Programme | None = field(default=None, init=False, repr=False)

    @property
    def small(self) -> bool:
        """Whether all classes are looked at together."""
        return self.partition.n_classes <= SMALL

    @property
    def left(self) -> int:
        """Work that is left."""
        return max(0, self.work - self.spent)

    def whole(self, box: Box, also: tuple[Ints, int] | None = None) -> World | None:
        """Look among all classes; see `Programme.find`."""
        if self._whole is None:
            self._whole = Programme(self.partition.rows(), self.box)
        before = self._whole.iterations
        world = self._whole.find(box, self.left, also)
        self.spent += self._whole.iterations - before
        return world

    def near(self, box: Box, centres: Ints, size: int) -> World | None:
        """Look among the classes nearest to some classes, all others held at 0.

        Parameters
        ----------
        box : Box
            Bounds on the moves of all classes.
        centres : ndarray of int
            Classes that must move.
        size : int
            Classes around each of them.
        """
        held = (box.lower > 0) | (box.upper < 0)
        held[centres] = False
        if held.any():
            return None
        some = self._around(centres, size)
        rows = _distinct(self.partition.bits[some], self.partition.n_queries)
        part = Programme(rows, Box(self.box.lower[some], self.box.upper[some]))
        found = part.find(Box(box.lower[some], box.upper[some]), self.left)
        self.spent += NEAR + part.iterations
        if found is None:
            return None
        moves = np.zeros(self.partition.n_classes, np.int64)
        moves[some] = found.moves
        return World(moves, found.denominator)

    def affords_whole(self) -> bool:
        """Whether a programme over all classes can be set up with less than half of the work that is left."""
        entries = int(np.bitwise_count(self.partition.bits).sum())
        return Programme.setting_up(entries) < self.left // 2

    @cached_property
    def _open(self) -> tuple[Ints, npt.NDArray[np.uint64]]:
        """The classes that may move, and the words of their query sets, one row a word."""
        open_ = np.flatnonzero(self.partition.asked & (self.box.lower < self.box.upper))
        return open_, np.ascontiguousarray(_words(self.partition.bits[open_]).T)

    def _around(self, centres: Ints, size: int) -> Ints:
        """Return the classes that lie in almost the same query sets as some classes, ascending."""
        bits, (open_, near) = self.partition.bits, self._open
        size = min(size, max(1, COLUMNS // len(centres)), len(open_))
        found = [centres]
        for word in _words(bits[centres]):
            # word by word over all classes: numpy is slow at sums over rows of few entries
            distance = np.zeros(len(open_), np.int64)
            for theirs, mine in zip(near, word, strict=True):
                distance += np.bitwise_count(theirs ^ mine)
            self.spent += 1 + len(open_) * bits.shape[1] // BYTES
            found.append(open_[np.argpartition(distance, size - 1)[:size]] if size else open_)
        return np.unique(np.concatenate(found))


def _words(bits: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """Return rows of bytes as rows of words of 64 bits, filled up with zeros.

    Examples
    --------
    >>> np.bitwise_count(_words(np.array([[1, 255, 0]], np.uint8))).tolist()
    [[9]]
    """
    words = np.zeros((len(bits), -(-bits.shape[1] // 8)), np.uint64)
    words.view(np.uint8)[:, : bits.shape[1]] = bits
    return words


def _distinct(bits: npt.NDArray[np.uint8], n_queries: int) -> sparse.csr_array:
    """Return the distinct rows of M over some classes, without those that are empty."""
    dense = np.unpackbits(bits, axis=1, count=n_queries, bitorder="little").T
    packed = np.packbits(dense, axis=1)
    packed = np.ascontiguousarray(packed[packed.any(axis=1)])
    _, n = packed.shape
    text = packed.tobytes()
    different = sorted({text[k : k + n] for k in range(0, len(text), n)}) if n else []
    rows = np.unpackbits(np.frombuffer(b"".join(different), np.uint8).reshape(-1, n), axis=1, count=len(bits))
    row, column = np.nonzero(rows)
    starts = np.r_[0, np.cumsum(np.bincount(row, minlength=len(rows)))]
    return sparse.csr_array((np.ones(len(row), np.int64), column, starts), shape=rows.shape)
