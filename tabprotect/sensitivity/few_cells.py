"""Determined sums of two to four cells, all of them: pairs of rows that add up to what another pair takes away.

Every row of the null space gets a random linear image modulo a prime. Sums of two images are sorted, and each is looked
up with the opposite sign: n cells cost about n^2 steps instead of n^4. What is found is added up exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.solver.exact.elimination import PRIME, signed

__all__ = ["FEW", "determined_sets", "pairs_of"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

FEW: Final = 4
"""Cells of the largest sums that are found."""

MATCHES: Final = 4_000_000
"""Pairs of pairs, at most, that are held at a time."""


def pairs_of(shut: Sequence[bool]) -> int:
    """Return how many pairs of cells a search sorts."""
    n = len(shut) - sum(shut)
    return n * (n - 1) // 2


def determined_sets(
    rows: Sequence[Mapping[int, int]], measure: Floats, anchors: Sequence[int], shut: Sequence[bool]
) -> Iterator[tuple[int, ...]]:
    """Yield all sets of two to four positions whose rows add up to zero and whose measures add up to more than 0.

    Parameters
    ----------
    rows : sequence of mapping of int to int
        Sparse, modulo `PRIME`.
    measure : ndarray of float
    anchors : sequence of int
        Of which every set holds one at least.
    shut : sequence of bool
        Positions that no set holds.

    Examples
    --------
    >>> rows = [{0: 1}, {0: -1, 1: 1}, {1: -1}, {2: 1}, {2: -1}]
    >>> list(determined_sets(rows, np.ones(5), [0, 3], [False] * 5))
    [(0, 1, 2), (3, 4)]
    """
    keys = _images(rows)
    there = np.flatnonzero(~np.asarray(shut, bool))
    first, second = np.triu_indices(len(there), 1)
    first, second = there[first], there[second]
    sums = (keys[first] + keys[second]) % PRIME
    order = np.argsort(sums, kind="stable")
    anchor = np.zeros(len(rows), bool)
    anchor[[a for a in anchors if not shut[a]]] = True
    opposite = (PRIME - keys) % PRIME
    found: set[tuple[int, ...]] = set()
    with_anchor = np.flatnonzero(anchor[first] | anchor[second])
    zero = with_anchor[sums[with_anchor] == 0]
    _take(found, np.column_stack([first[zero], second[zero]]), measure)
    single = np.flatnonzero(anchor)
    for part, match in _matched(sums, order, opposite[single]):
        _take(found, np.column_stack([single[part], first[match], second[match]]), measure)
    for part, match in _matched(sums, order, (PRIME - sums[with_anchor]) % PRIME):
        pair = with_anchor[part]
        _take(found, np.column_stack([first[pair], second[pair], first[match], second[match]]), measure)
    for one in sorted(found):
        if _is_zero(rows, one):
            yield one


def _images(rows: Sequence[Mapping[int, int]]) -> npt.NDArray[np.uint64]:
    """Return random linear images of the rows, the same in every run."""
    names = sorted({j for row in rows for j in row})
    rng = np.random.default_rng(0)
    factor = dict(zip(names, map(int, rng.integers(1, PRIME, len(names))), strict=True))
    return np.array([sum(v * factor[j] for j, v in row.items()) % PRIME for row in rows], np.uint64)


def _matched(sums: npt.NDArray[np.uint64], order: Ints, wanted: npt.NDArray[np.uint64]) -> Iterator[tuple[Ints, Ints]]:
    """Yield positions in `wanted` and the pairs whose sums are what is wanted there, a part at a time."""
    ranked = sums[order]
    low, high = (np.searchsorted(ranked, wanted, side) for side in ("left", "right"))
    count = high - low
    ends = np.cumsum(count)
    begin = 0
    while begin < len(wanted):
        before = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, before + MATCHES, "right")))
        some = count[begin:end]
        part = np.repeat(np.arange(begin, end), some)
        inside = np.arange(int(some.sum())) - np.repeat(np.cumsum(some) - some, some)
        yield part, order[low[part] + inside]
        begin = end


def _take(found: set[tuple[int, ...]], sets: Ints, measure: Floats) -> None:
    sets = np.sort(sets, axis=1)
    fine = np.all(np.diff(sets, axis=1) > 0, axis=1)
    sets = sets[fine & (np.where(fine, measure[sets].sum(axis=1), 0) > 0)]
    found.update(map(tuple, np.unique(sets, axis=0).tolist()))


def _is_zero(rows: Sequence[Mapping[int, int]], chosen: Sequence[int]) -> bool:
    total: dict[int, int] = {}
    for i in chosen:
        for j, v in rows[i].items():
            total[j] = signed(total.get(j, 0) + v)
    return not any(total.values())
