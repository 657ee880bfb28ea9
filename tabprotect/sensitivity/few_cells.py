"""Determined sums of two to four cells, all of them: pairs of rows that add up to what another pair takes away.

Every row of the null space gets a random linear image modulo a prime. Sums of two images are sorted, and each is looked
up with the opposite sign: n cells cost about n^2 steps instead of n^4. What is found is added up exactly.

The sorted sums of what everybody sees serve for whoever knows cells, too: only rows that his knowledge changes get
other images, and only sums with one of these cells are his own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.solver.exact.elimination import PRIME, signed

__all__ = ["FEW", "SortedPairs", "determined_sets", "factors_of", "images_of"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Images = npt.NDArray[np.uint64]
Row = Mapping[int, int]

FEW: Final = 4
"""Cells of the largest sums that are found."""

MATCHES: Final = 4_000_000
"""Pairs of pairs, at most, that are held at a time."""


def factors_of(rows: Sequence[Row]) -> dict[int, int]:
    """Return a random factor, the same in every run, for every free cell of sparse rows."""
    names = sorted({j for row in rows for j in row})
    rng = np.random.default_rng(0)
    return dict(zip(names, map(int, rng.integers(1, PRIME, len(names))), strict=True))


def images_of(rows: Iterable[Row], factor: Mapping[int, int]) -> Images:
    """Return linear images of rows modulo `PRIME`: where rows add up to nothing, so do their images."""
    return np.array([sum(v * factor[j] for j, v in row.items()) % PRIME for row in rows], np.uint64)


@dataclass(frozen=True, eq=False)
class SortedPairs:
    """Pairs of rows of a null space, with the sums of their images in ascending order.

    Attributes
    ----------
    first, second : ndarray of int
    sums : ndarray of uint64
    """

    first: Ints
    second: Ints
    sums: Images

    @classmethod
    def of(cls, first: Ints, second: Ints, image: Images) -> SortedPairs:
        """Sort the pairs of some positions."""
        sums = (image[first] + image[second]) % PRIME
        order = np.argsort(sums, kind="stable")
        return cls(first[order], second[order], sums[order])

    @classmethod
    def of_all(cls, rows: Sequence[Row], image: Images) -> SortedPairs:
        """Sort the pairs of all rows that are not empty."""
        there = np.flatnonzero([bool(row) for row in rows])
        first, second = np.triu_indices(len(there), 1)
        return cls.of(there[first], there[second], image)

    def matching(self, wanted: Images) -> Iterator[tuple[Ints, Ints]]:
        """Yield positions in `wanted` and the pairs whose sums are what is wanted there, a part at a time."""
        low, high = (np.searchsorted(self.sums, wanted, side) for side in ("left", "right"))
        count = high - low
        ends = np.cumsum(count)
        begin = 0
        while begin < len(wanted):
            before = int(ends[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(ends, before + MATCHES, "right")))
            some = count[begin:end]
            part = np.repeat(np.arange(begin, end), some)
            inside = np.arange(int(some.sum())) - np.repeat(np.cumsum(some) - some, some)
            yield part, low[part] + inside
            begin = end


def determined_sets(
    rows: Sequence[Row],
    image: Images,
    everybody: SortedPairs,
    measure: Floats,
    anchors: Sequence[int],
    shut: Sequence[bool],
    changed: Sequence[int] | None = None,
) -> Iterator[tuple[int, ...]]:
    """Yield all sets of two to four positions whose rows add up to zero and whose measures add up to more than 0.

    Parameters
    ----------
    rows : sequence of mapping of int to int
        Sparse, modulo `PRIME`.
    image : ndarray of uint64, shape (rows,)
        See `images_of`.
    everybody : SortedPairs
        Of the rows as everybody sees them.
    measure : ndarray of float
    anchors : sequence of int
        Of which every set holds one at least; for somebody who knows cells these are the changed rows.
    shut : sequence of bool
        Positions that no set holds.
    changed : sequence of int, optional
        The rows that are other ones than for everybody.

    Examples
    --------
    >>> rows = [{0: 1}, {0: -1, 1: 1}, {1: -1}, {2: 1}, {2: -1}]
    >>> image = images_of(rows, factors_of(rows))
    >>> pairs = SortedPairs.of_all(rows, image)
    >>> list(determined_sets(rows, image, pairs, np.ones(5), [0, 3], [False] * 5))
    [(0, 1, 2), (3, 4)]
    """
    open_ = ~np.asarray(shut, bool)
    anchor = np.isin(np.arange(len(rows)), anchors if changed is None else changed) & open_
    pairs, lists = everybody, [(everybody, open_)]
    if changed is None:
        some = np.flatnonzero((anchor[pairs.first] | anchor[pairs.second]) & open_[pairs.first] & open_[pairs.second])
        with_anchor = SortedPairs(pairs.first[some], pairs.second[some], pairs.sums[some])
    else:
        with_anchor = SortedPairs.of(*_pairs_with(np.flatnonzero(anchor), np.flatnonzero(open_)), image)
        lists = [(pairs, open_ & ~anchor), (with_anchor, open_)]
    found: set[tuple[int, ...]] = set()
    zero = with_anchor.sums == 0
    _take(found, np.column_stack([with_anchor.first[zero], with_anchor.second[zero]]), measure)
    single = np.flatnonzero(anchor)
    starts = [
        (np.column_stack([single]), image[single]),
        (np.column_stack([with_anchor.first, with_anchor.second]), with_anchor.sums),
    ]
    for begun, sums in starts:
        for others, allowed in lists:
            for part, match in others.matching((PRIME - sums) % PRIME):
                fine = allowed[others.first[match]] & allowed[others.second[match]]
                part, match = part[fine], match[fine]
                _take(found, np.column_stack([begun[part], others.first[match], others.second[match]]), measure)
    for one in sorted(found):
        if _is_zero(rows, one):
            yield one


def _pairs_with(some: Ints, every: Ints) -> tuple[Ints, Ints]:
    """Return all pairs of different positions of which one at least is among some, each once."""
    first, second = np.repeat(some, len(every)), np.tile(every, len(some))
    fine = np.where(np.isin(second, some), first < second, True)
    return first[fine], second[fine]


def _take(found: set[tuple[int, ...]], sets: Ints, measure: Floats) -> None:
    sets = np.sort(sets, axis=1)
    fine = np.all(np.diff(sets, axis=1) > 0, axis=1)
    sets = sets[fine & (np.where(fine, measure[sets].sum(axis=1), 0) > 0)]
    found.update(map(tuple, np.unique(sets, axis=0).tolist()))


def _is_zero(rows: Sequence[Row], chosen: Sequence[int]) -> bool:
    total: dict[int, int] = {}
    for i in chosen:
        for j, v in rows[i].items():
            total[j] = signed(total.get(j, 0) + v)
    return not any(total.values())
