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

from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.worlds import Box, Programme, World

__all__ = ["Search"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FIRST: Final = 60
"""Classes around a target that are tried first."""

START: Final = 250
"""Classes around a target that the search by prices begins with."""

COLUMNS: Final = 1200
"""Most classes of one programme over some of them."""

NEAR: Final = 50
"""What the choice of classes counts as, in simplex iterations."""

BYTES: Final = 20_000
"""Bytes of membership compared that count as one simplex iteration."""

PRICED: Final = 8_000
"""Bytes of membership that count as one simplex iteration where classes are priced."""

NOTHING: Final = 1e-7
"""Prices up to this are zero."""


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
    options : Options
    spent : int
    blame : ndarray, shape (queries,)
        Where the last search by prices has shown that no classes at all can keep the answers: their duals. None
        otherwise.
    """

    partition: Partition
    box: Box
    work: int
    options: Options = DEFAULTS
    spent: int = 0
    blame: Floats | None = field(default=None, init=False, repr=False)
    _whole: Programme | None = field(default=None, init=False, repr=False)

    @property
    def small(self) -> bool:
        """Whether all classes are looked at together."""
        return self.partition.n_classes <= self.options.whole

    @property
    def left(self) -> int:
        """Work that is left."""
        return max(0, self.work - self.spent)

    def whole(self, box: Box, also: tuple[Ints, int] | None = None) -> World | None:
        """Look among all classes; see `Programme.find`."""
        if self._whole is None:
            self._whole = Programme(self.partition.rows(), self.box, self.options.exact)
        before = self._whole.iterations
        world = self._whole.find(box, self.left, also)
        self.spent += self._whole.iterations - before
        return world

    def near(self, box: Box, centres: Ints) -> World | None:
        """Look among the classes nearest to some classes, all others held at 0.

        Parameters
        ----------
        box : Box
            Bounds on the moves of all classes.
        centres : ndarray of int
            Classes that must move.
        """
        some = self._around(_moving(box, centres), FIRST)
        return self._among(some, box, _merged(self.partition.bits[some], self.partition.n_queries)[0])

    def priced(self, box: Box, centres: Ints) -> World | None:
        """Look among the classes near some classes, and add others by their prices as long as there are any.

        The duals of the answers that the classes so far cannot keep give every class a price (column generation); those
        with the largest are added, as many as there are. Where no class has one, no classes at all can keep the
        answers, as far as floating-point arithmetic tells.
        """
        self.blame = None
        partition, (open_, _) = self.partition, self._open
        some = self._around(_moving(box, centres), START)
        while self.left:
            rows, row_of = _merged(partition.bits[some], partition.n_queries)
            part = self._part(rows, some)
            duals = part.duals(Box(box.lower[some], box.upper[some]), self.left)
            self.spent += NEAR + part.iterations
            if duals is None:
                return None
            if not duals.any():
                return self._among(some, box, rows)
            # rows that are equal over these classes share their dual
            count = np.bincount(row_of[row_of >= 0], minlength=len(duals))
            shared = np.where(row_of >= 0, (duals / count)[row_of], 0.0)
            price = self._prices(shared, box)
            price[np.isin(open_, some)] = 0
            best = np.argsort(-price, kind="stable")[: len(some)]
            best = best[price[best] > NOTHING]
            if not len(best):
                self.blame = shared
                return None
            some = np.union1d(some, open_[best])
        return None

    def _prices(self, duals: Floats, box: Box) -> Floats:
        """Return by how much a move of every open class would lessen what the answers are missed by."""
        open_, _ = self._open
        price = self.partition.weighted(duals, open_)
        self.spent += 1 + len(open_) * len(np.unique(np.flatnonzero(duals) // 8)) // PRICED
        up, down = box.upper[open_] > 0, box.lower[open_] < 0
        return np.maximum(np.where(up, price, 0), np.where(down, -price, 0))

    def _among(self, some: Ints, box: Box, rows: sparse.csr_array) -> World | None:
        part = self._part(rows, some)
        found = part.find(Box(box.lower[some], box.upper[some]), self.left)
        self.spent += NEAR + part.iterations
        if found is None:
            return None
        moves = np.zeros(self.partition.n_classes, np.int64)
        moves[some] = found.moves
        return World(moves, found.denominator)

    def _part(self, rows: sparse.csr_array, some: Ints) -> Programme:
        return Programme(rows, Box(self.box.lower[some], self.box.upper[some]), self.options.exact)

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


def _merged(bits: npt.NDArray[np.uint8], n_queries: int) -> tuple[sparse.csr_array, Ints]:
    """Return the distinct rows of M over some classes, and which of them every query has (-1 for none of the classes).

    Examples
    --------
    >>> rows, row_of = _merged(np.array([[0b101], [0b111]], np.uint8), 4)
    >>> rows.toarray().tolist(), row_of.tolist()
    ([[0, 1], [1, 1]], [1, 0, 1, -1])
    """
    dense = np.unpackbits(bits, axis=1, count=n_queries, bitorder="little").T
    packed = np.packbits(dense, axis=1)
    _, n = packed.shape
    text = packed.tobytes()
    each = [text[k : k + n] for k in range(0, len(text), n)] if n else []
    number = {row: k for k, row in enumerate(sorted({row for row in each if any(row)}))}
    rows = np.unpackbits(np.frombuffer(b"".join(number), np.uint8).reshape(-1, n), axis=1, count=len(bits))
    row, column = np.nonzero(rows)
    starts = np.r_[0, np.cumsum(np.bincount(row, minlength=len(rows)))]
    M = sparse.csr_array((np.ones(len(row), np.int64), column, starts), shape=rows.shape)
    return M, np.array([number.get(row, -1) for row in each], np.int64)


def _moving(box: Box, centres: Ints) -> Ints:
    """Return some classes and those that a box does not let stay where they are."""
    return np.union1d(centres, np.flatnonzero((box.lower > 0) | (box.upper < 0)))
