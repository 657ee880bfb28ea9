"""Sums over few classes, one by one: what one programme for all coalitions together could not show.

For values that are known to be at least 0 and nothing else.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from math import comb

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.measures import Measure, ceiling
from tabprotect.query.audit.records import Records

__all__ = ["MOST", "plain", "unions_with"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST = 1000
"""Unions looked at for one class."""


def plain(records: Records) -> bool:
    """Whether values are known to be at least 0, nothing else is known, and every unit has one record."""
    return records.nonnegative and records.unbounded and not records.spread


def unions_with(
    owner: int, asked: Ints, values: list[Ints], measure: Measure, side: int
) -> Iterator[tuple[Ints, int]] | None:
    """Return all unions of at most `members` classes with a given one that must be able to move, and by how much.

    Parameters
    ----------
    owner : int
        The class.
    asked : ndarray of int
        All classes that lie in a query set.
    values : list of ndarray of int
        The unknown values in every class of `asked`, the largest first.
    measure : Measure
    side : {1, -1}

    Returns
    -------
    iterator of (classes, need), or None
        None if there are more than `MOST`.
    """
    others = [k for k, c in enumerate(asked.tolist()) if c != owner and len(values[k])]
    size = measure.members
    if sum(comb(len(others), k) for k in range(size)) > MOST:
        return None
    first = int(np.flatnonzero(asked == owner)[0])

    def each() -> Iterator[tuple[Ints, int]]:
        for k in range(size):
            for rest in itertools.combinations(others, k):
                chosen = [first, *rest]
                need = union_need([values[c] for c in chosen], measure, side)
                if need > 0:
                    yield asked[chosen], need

    return each()


def union_need(parts: list[Ints], measure: Measure, side: int) -> int:
    """Return how far the sum over a union of classes must be able to move on one side.

    Examples
    --------
    The management of EMP (85, 3, 2) under the dominance rule (2, 85 %): 88 / 0.85 - 90 upwards.

    >>> from tabprotect.query.audit.measures import measures
    >>> (_,), (rule,) = measures("nk=2,85")
    >>> union_need([np.array([85, 3, 2])], rule, 1)
    14
    """
    count, total = sum(len(part) for part in parts), sum(int(part.sum()) for part in parts)
    top = np.sort(np.concatenate([part[: measure.members] for part in parts]))[::-1][: measure.members]
    if measure.whole:
        if count > measure.members:
            return 0
        need = max(int(ceiling(measure.ratio, np.array(total))), 1)
        return need if side > 0 else min(need, total)
    size = int(top[0]) if measure.share is None else int(top.sum())
    level = int(ceiling(measure.ratio if measure.share is None else measure.share, np.array(size)))
    if side > 0:
        return level - (total - int(top.sum()))
    return min(level, size) if count <= measure.members else 0
