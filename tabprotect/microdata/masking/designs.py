"""Sizes of samples by stratum, and probabilities of selection."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["allocate", "inclusion"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def allocate(total: int, importance: Floats, most: Ints) -> Ints:
    """Share a sample out: in proportion to some numbers, rounded, at least one each and at most as many as there are.

    Examples
    --------
    >>> allocate(10, np.array([1.0, 1.0, 8.0]), np.array([50, 50, 5]))
    array([3, 2, 5])
    """
    found = np.ones(len(most), dtype=np.int64)
    total = min(total, int(most.sum()))
    importance = np.where(importance > 0, importance, 0.0)
    if not importance.any():
        importance = np.ones(len(most))
    while (left := total - int(found.sum())) > 0:
        room = np.where(found < most, importance, 0.0)
        if not room.any():
            room = (found < most).astype(np.float64)
        # the highest quotient of importance and units so far gets the next ones (Sainte-Lague)
        if left > len(most):
            more = np.minimum(np.floor(room / room.sum() * left).astype(np.int64), most - found)
            if more.any():
                found += more
                continue
        found[int(np.argmax(room / (2 * found + 1)))] += 1
    return found


def inclusion(sizes: Floats, n: int) -> Floats:
    """Return probabilities of selection in proportion to sizes that sum to n; none is above 1.

    Examples
    --------
    >>> inclusion(np.array([1.0, 1.0, 2.0, 12.0]), 2)
    array([0.25, 0.25, 0.5 , 1.  ])
    """
    chance = np.zeros(len(sizes))
    certain = np.zeros(len(sizes), dtype=bool)
    while True:
        left = n - int(certain.sum())
        chance[~certain] = left * sizes[~certain] / sizes[~certain].sum() if (~certain).any() else 0.0
        over = ~certain & (chance >= 1)
        chance[certain | over] = 1.0
        if not over.any():
            return chance
        certain |= over
