"""Partitions of records into groups: sizes, centres, sums of squares, and groups of 2k records and more split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

__all__ = ["centres_of", "renumber", "split_large", "sum_of_squares", "total_squares"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def centres_of(points: Floats, group: Ints) -> Floats:
    """Return the mean of every group, shape (groups, coordinates)."""
    count = int(group.max()) + 1
    sizes = np.bincount(group, minlength=count)
    sums = np.column_stack([np.bincount(group, points[:, d], minlength=count) for d in range(points.shape[1])])
    means: Floats = sums / np.maximum(sizes, 1)[:, None]
    return means


def sum_of_squares(points: Floats, group: Ints) -> float:
    """Return SSE, the sum of squared distances to the group means.

    Examples
    --------
    >>> sum_of_squares(np.array([[0.0], [2.0], [5.0], [5.0]]), np.array([0, 0, 1, 1]))
    2.0
    """
    if not points.size:
        return 0.0
    apart = points - centres_of(points, group)[group]
    return float((apart * apart).sum())


def total_squares(points: Floats) -> float:
    """Return SST, the sum of squared distances to the mean of all."""
    return sum_of_squares(points, np.zeros(len(points), dtype=np.int64))


def renumber(group: Ints) -> Ints:
    """Number groups from 0 in order of their first records.

    Examples
    --------
    >>> renumber(np.array([7, 2, 7])).tolist()
    [0, 1, 0]
    """
    _, first, index = np.unique(group, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    return place[index.ravel()]


def split_large(points: Floats, group: Ints, k: int, divide: Callable[[Floats, int], Ints]) -> Ints:
    """Divide every group of 2k or more records further: a partition of groups of k to 2k - 1 is finer and no worse."""
    group = renumber(group)
    sizes = np.bincount(group)
    following = len(sizes)
    for large in np.flatnonzero(sizes >= 2 * k):
        members = np.flatnonzero(group == large)
        parts = divide(points[members], k)
        group[members] = following + parts
        following += int(parts.max()) + 1
    return renumber(group)
