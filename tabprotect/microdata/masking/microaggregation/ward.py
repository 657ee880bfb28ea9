"""Modified Ward: the cheapest unions of groups, never of two that are large enough (Eustat notebook, MWA).

Domingo-Ferrer and Mateo-Sanz (2002), IEEE Transactions on Knowledge and Data Engineering 14.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masking.microaggregation.partition import renumber

__all__ = ["LARGEST", "modified_ward"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LARGEST = 6_000
"""Most records; a matrix of all distances is kept."""


def modified_ward(points: Floats, k: int, order: Ints | None = None) -> Ints:
    """Form groups of k to 2k - 1 records by unions that raise the sum of squares least.

    Step 1: the first k and the last k records become groups. Step 2: Ward's unions until every record is in a group of
    k or more, never of two such groups. Step 3: groups of 2k or more are divided by the same algorithm.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
    k : int
    order : ndarray of int, optional
        What first and last mean. Without it the two records farthest apart are the extremes (maximum-distance
        criterion): each gathers the records nearest to the centre of its group, the lower record number first.

    Returns
    -------
    ndarray of int, shape (records,)

    Examples
    --------
    >>> modified_ward(np.array([[1.0], [2.0], [3.0], [7.0], [8.0], [9.0], [10.0]]), 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    n = len(points)
    rank = None if order is None else np.argsort(order)
    group = np.zeros(n, dtype=np.int64)
    waiting = [np.arange(n)]
    count = 0
    while waiting:
        records = waiting.pop()
        if len(records) < 2 * k:
            group[records] = count
            count += 1
            continue
        inside = None if rank is None else np.argsort(rank[records])
        parts = _unions(points[records], k, inside)
        waiting += [records[parts == part] for part in range(int(parts.max()) + 1)]
    return renumber(group)


def _unions(points: Floats, k: int, order: Ints | None) -> Ints:
    """Steps 1 and 2."""
    n = len(points)
    squares = (points * points).sum(axis=1)
    apart = np.maximum(squares[:, None] + squares - 2 * points @ points.T, 0.0)
    first, last = (order[:k], order[-k:]) if order is not None else _extremes(points, apart, k)
    label = np.arange(n)
    label[first], label[last] = first[0], last[0]
    sizes = np.ones(n)
    centres = points.copy()
    live = np.ones(n, dtype=bool)
    for members in (first, last):
        live[members[1:]] = False
        sizes[members[0]] = k
        centres[members[0]] = points[members].mean(axis=0)
    cost = apart / 2
    for one in (first[0], last[0]):
        row = _rise(centres, sizes, one)
        cost[one, :], cost[:, one] = row, row
    cost[~live, :], cost[:, ~live] = np.inf, np.inf
    np.fill_diagonal(cost, np.inf)
    cost[np.ix_([first[0], last[0]], [first[0], last[0]])] = np.inf
    partner = cost.argmin(axis=1)
    least = cost[np.arange(n), partner]
    while (live & (sizes < k)).any():
        a = int(least.argmin())
        b = int(partner[a])
        _unite(a, b, centres, sizes, live, label)
        row = np.where(live & ~((sizes >= k) & (sizes[a] >= k)), _rise(centres, sizes, a), np.inf)
        row[a] = np.inf
        cost[a, :], cost[:, a] = row, row
        cost[b, :], cost[:, b] = np.inf, np.inf
        least[b] = np.inf
        closer = row < least
        partner[closer], least[closer] = a, row[closer]
        stale = np.flatnonzero(live & ((partner == a) | (partner == b)) & ~closer)
        stale = np.append(stale, a)
        partner[stale] = cost[stale].argmin(axis=1)
        least[stale] = cost[stale, partner[stale]]
    return renumber(label)


def _unite(a: int, b: int, centres: Floats, sizes: Floats, live: npt.NDArray[np.bool_], label: Ints) -> None:
    """Join group b to group a."""
    total = sizes[a] + sizes[b]
    centres[a] = (sizes[a] * centres[a] + sizes[b] * centres[b]) / total
    sizes[a] = total
    live[b] = False
    label[label == b] = a


def _rise(centres: Floats, sizes: Floats, one: int) -> Floats:
    """Return by how much the sum of squares rises when a group is united with each other one."""
    apart = ((centres - centres[one]) ** 2).sum(axis=1)
    rise: Floats = sizes * sizes[one] / (sizes + sizes[one]) * apart
    return rise


def _extremes(points: Floats, apart: Floats, k: int) -> tuple[Ints, Ints]:
    """Return the groups around the two records that are farthest apart."""
    one, other = (int(i) for i in np.unravel_index(int(apart.argmax()), apart.shape))
    if one == other:
        other = (one + 1) % len(points)
    taken = np.zeros(len(points), dtype=bool)
    taken[[one, other]] = True
    groups = []
    for start in (min(one, other), max(one, other)):
        members = [start]
        while len(members) < k:
            away = ((points - points[members].mean(axis=0)) ** 2).sum(axis=1)
            members.append(int(np.argmin(np.where(taken, np.inf, away))))
            taken[members[-1]] = True
        groups.append(np.array(members))
    return groups[0], groups[1]
