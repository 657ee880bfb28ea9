"""Which records lie in a box, for many boxes: sets of records as bits, one for every block of ranks of a column."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.compiled import compiled

__all__ = ["BITS", "SIZES", "Boxes", "Sizes", "boxes"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BITS = 62
"""Records in a word: non-negative numbers of 64 bits, whose arithmetic is the same compiled and in Python."""


@dataclass(frozen=True)
class Sizes:
    """How much is looked at together.

    Attributes
    ----------
    block : int
        Least number of ranks from one set of bits to the next; also the longest window that is looked through value by
        value.
    table : int
        Most words in the sets of bits of a column; longer blocks keep to it.
    batch : int
        Words that are handed on at a time.
    """

    block: int = 256
    table: int = 1 << 23
    batch: int = 1 << 21


SIZES = Sizes()


@dataclass(frozen=True, eq=False)
class Boxes:
    """The records in some boxes.

    Attributes
    ----------
    rows : ndarray of int, shape (boxes,)
        Which boxes.
    bits : ndarray of int, shape (boxes, words)
        Bit b of word w is set if record ``order[w * BITS + b]`` is in the box; without meaning outside of the span.
    first, last : ndarray of int, shape (boxes,)
        The span: words that can have bits, ``last`` included.
    order : ndarray of int, shape (records,)
    """

    rows: Ints
    bits: Ints
    first: Ints
    last: Ints
    order: Ints


@dataclass(frozen=True, eq=False)
class _Column:
    """Records in ascending order of a column: first those without a value, which are in every box."""

    order: Ints
    absent: int
    begin: Ints
    end: Ints


def boxes(low: Floats, high: Floats, y: Floats, rows: Ints, sizes: Sizes = SIZES) -> Iterator[Boxes]:
    """Yield which records are in the boxes of `rows`, in an order of its own.

    A box is an interval of ranks in each column. Of the narrowest one, all words are taken that have a record in it;
    a prefix set of another column is exclusive-or of two sets of bits, mended by the records between a limit and the
    next end of a block. Windows that are short are looked through one record at a time instead.

    Parameters
    ----------
    low, high : ndarray of float, shape (boxes, p)
    y : ndarray of float, shape (records, p)
        nan is in every box.
    rows : ndarray of int
    sizes : Sizes
        They change the time and the memory that it takes, not what is found.

    Examples
    --------
    >>> low, high = np.array([[1.0, 0.0]]), np.array([[2.0, 5.0]])
    >>> y = np.array([[1.0, 5.0], [2.0, 6.0], [np.nan, 0.0], [3.0, 1.0]])
    >>> found = next(boxes(low, high, y, np.array([0])))
    >>> inside = [int(found.bits[0, 0]) >> b & 1 for b in range(4)]
    >>> sorted(found.order[np.flatnonzero(inside)].tolist())
    [0, 2]
    """
    n = len(y)
    if not len(rows) or not n:
        return
    columns = [_column(low[rows, j], high[rows, j], y[:, j]) for j in range(y.shape[1])]
    begin, end = (np.column_stack([getattr(c, side) for c in columns]) for side in ("begin", "end"))
    absent = np.array([c.absent for c in columns], dtype=np.int64)
    narrowest = (end - begin + absent).argmin(axis=1)
    words = -(-n // BITS)
    block = max(sizes.block, -(-n * words // sizes.table))
    step = max(1, sizes.batch // words)
    for j in np.unique(narrowest).tolist():
        order = columns[j].order
        place = np.empty(n, dtype=np.int64)
        place[order] = np.arange(n)
        mine = np.flatnonzero(narrowest == j)
        mine = mine[np.argsort(begin[mine, j], kind="stable")]
        places = np.array([place[c.order] for c in columns])
        wide = bool((end[mine, j] - begin[mine, j] + absent[j] > sizes.block).any())
        tables, gone = _tables(places, absent, words, block) if wide else _tables(places[:, :0], absent, 1, block)
        laid = np.ascontiguousarray(y[order])
        for at in range(0, len(mine), step):
            part = mine[at : at + step]
            mask = np.empty((len(part), words), dtype=np.int64)
            first, last = _mark(
                low[rows[part]], high[rows[part]], laid, j, begin[part], end[part], absent, places, tables, gone,
                block, sizes.block, BITS, mask,
            )  # fmt: skip
            yield Boxes(rows[part], mask, first, last, order)


def _column(low: Floats, high: Floats, values: Floats) -> _Column:
    gone = np.isnan(values)
    order = np.argsort(np.where(gone, -np.inf, values), kind="stable")
    absent = int(gone.sum())
    if absent:
        # of the smallest value of all, those without a value come first
        order = np.concatenate([np.flatnonzero(gone), order[~gone[order]]])
    present = values[order[absent:]]
    begin, end = np.searchsorted(present, low, side="left"), np.searchsorted(present, high, side="right")
    return _Column(order, absent, begin, np.maximum(begin, end))


def _tables(places: Ints, absent: Ints, words: int, block: int) -> tuple[Ints, Ints]:
    """Return the sets of the first 0, block, 2 block, ... records with a value by column, and of those without one."""
    p, n = places.shape
    gone = np.zeros((p, words), dtype=np.int64)
    tables = np.zeros((p, n // block + 2, words), dtype=np.int64)
    for c, skip in enumerate(absent.tolist()):
        missing, there = places[c, :skip], places[c, skip:]
        np.add.at(gone[c], missing // BITS, np.int64(1) << (missing % BITS))
        np.add.at(tables[c], (np.arange(len(there)) // block + 1, there // BITS), np.int64(1) << (there % BITS))
        np.add.accumulate(tables[c], axis=0, out=tables[c])
    return tables, gone


@compiled
def _mark(
    low: Floats, high: Floats, laid: Floats, j: int, begin: Ints, end: Ints, absent: Ints, places: Ints,
    tables: Ints, gone: Ints, block: int, short: int, size: int, mask: Ints,
) -> tuple[Ints, Ints]:  # fmt: skip
    """Mark in `mask` which records are in each box; `laid` has them in the order of column j."""
    n, p = low.shape
    skip = absent[j]
    first, last = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    for i in range(n):
        start, stop = skip + begin[i, j], skip + end[i, j]
        if skip == 0:
            first[i] = min(start, len(laid) - 1) // size
        last[i] = max(max(stop, skip) - 1, first[i] * size) // size
        mask[i, first[i] : last[i] + 1] = 0
        if skip + stop - start <= short:
            for at in range(skip + stop - start):
                place = at if at < skip else start + at - skip
                fits = True
                for c in range(p):
                    if laid[place, c] < low[i, c] or laid[place, c] > high[i, c]:
                        fits = False
                        break
                if fits:
                    mask[i, place // size] |= 1 << (place % size)
            continue
        for w in range(first[i], last[i] + 1):
            # records without a value, then the window
            for a, b in ((0, skip), (start, stop)):
                least, most = min(max(a - w * size, 0), size), min(max(b - w * size, 0), size)
                if least < most:
                    mask[i, w] |= (1 << most) - (1 << least)
        for c in range(p):
            a, b = begin[i, c], end[i, c]
            if c == j or b - a + absent[c] == len(laid):
                continue
            s, e = (a + block // 2) // block, (b + block // 2) // block
            own = np.empty(last[i] - first[i] + 1, dtype=np.int64)
            for w in range(len(own)):
                own[w] = (tables[c, e, first[i] + w] ^ tables[c, s, first[i] + w]) | gone[c, first[i] + w]
            # ranks from the ends of the blocks to the limits: too many are taken away, too few are added
            for side in range(4):
                if side == 0:
                    start, stop = s * block, a
                elif side == 1:
                    start, stop = b, min(e * block, len(laid) - absent[c])
                elif side == 2:
                    start, stop = a, min(s * block, b)
                else:
                    start, stop = max(e * block, a), b
                for rank in range(start, stop):
                    place = places[c, absent[c] + rank]
                    w = place // size - first[i]
                    if 0 <= w < len(own):
                        if side < 2:
                            own[w] &= ~(1 << (place % size))
                        else:
                            own[w] |= 1 << (place % size)
            for w in range(len(own)):
                mask[i, first[i] + w] &= own[w]
    return first, last
