"""Determined sums of two to four cells, all of them: pairs of rows that add up to what another pair takes away.

Sums of the images of two rows are sorted, and each is looked up with the opposite sign: n cells cost about n^2 steps
instead of n^4. What is found is added up exactly. The sorted sums of what everybody sees serve for whoever knows cells,
too: only sums with a row that his knowledge changes are his own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.sensitivity.null_space import Part, SortedPairs
from tabprotect.solver.exact.elimination import PRIME, signed

__all__ = ["FEW", "determined_sets"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

FEW: Final = 4
"""Cells of the largest sums that are found."""


def determined_sets(
    part: Part, measure: Floats, anchors: Sequence[int], shut: Sequence[bool]
) -> Iterator[tuple[int, ...]]:
    """Yield all sets of two to four positions whose rows add up to zero and whose measures add up to more than 0.

    Parameters
    ----------
    part : Part
    measure : ndarray of float, shape (cells of the part,)
    anchors : sequence of int
        Of which every set holds one at least; for somebody who knows cells, all open rows that are others for him.
    shut : sequence of bool
        Positions that no set holds.

    Examples
    --------
    >>> part = Part.of(np.arange(5), [{0: 1}, {0: -1, 1: 1}, {1: -1}, {2: 1}, {2: -1}])
    >>> list(determined_sets(part, np.ones(5), [0, 3], [False] * 5))
    [(0, 1, 2), (3, 4)]
    """
    rows, image, pairs, open_ = part.rows, part.image, part.pairs, ~np.asarray(shut, bool)
    anchor = np.isin(np.arange(len(rows)), anchors) & open_
    lists = [(pairs, open_)]
    if part.everybody is None:
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
            for at, match in others.matching((PRIME - sums) % PRIME):
                fine = allowed[others.first[match]] & allowed[others.second[match]]
                at, match = at[fine], match[fine]
                _take(found, np.column_stack([begun[at], others.first[match], others.second[match]]), measure)
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


def _is_zero(rows: Sequence[Mapping[int, int]], chosen: Sequence[int]) -> bool:
    total: dict[int, int] = {}
    for i in chosen:
        for j, v in rows[i].items():
            total[j] = signed(total.get(j, 0) + v)
    return not any(total.values())
