"""Large-neighbourhood search on a partition: the groups of one neighbourhood after the other are formed anew."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.microdata.masking.microaggregation.improve import improve
from tabprotect.microdata.masking.microaggregation.partition import renumber, sum_of_squares
from tabprotect.microdata.masking.microaggregation.pool import squared_distances
from tabprotect.microdata.masking.microaggregation.segments import best_segments

__all__ = ["renew"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

GROUPS = (2, 7)
"""Least and most groups of a neighbourhood."""

ROUNDS = 50
"""Rounds of local search in a neighbourhood."""


def renew(points: Floats, group: Ints, k: int, trials: int, rng: np.random.Generator) -> Ints:
    """Form the groups around random records anew, and keep what has a lower sum of squares.

    A neighbourhood is the groups of the records nearest to a random one. Its records are put in an order, each next to
    the one before from a random one on, the best segments of it are improved by moves and swaps.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
    group : ndarray of int, shape (records,)
        Groups of k to 2k - 1 records.
    k, trials : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (records,)
    """
    group = renumber(group)
    tree = cKDTree(points)
    wide = min(len(points), GROUPS[1] * (2 * k - 1))
    members = [np.flatnonzero(group == g) for g in range(int(group.max()) + 1)] if trials else []
    for _ in range(trials):
        near = np.atleast_1d(tree.query(points[rng.integers(len(points))], k=wide)[1])
        wanted = int(rng.integers(*GROUPS))
        here = list(dict.fromkeys(group[near].tolist()))[:wanted]
        if len(here) < 2:
            break
        records = np.concatenate([members[g] for g in here])
        inside = points[records]
        order = _chain(inside, int(rng.integers(len(records))))
        fresh = np.empty(len(records), dtype=np.int64)
        fresh[order] = best_segments(inside[order], k)
        fresh = improve(inside, fresh, k, ROUNDS).group
        if sum_of_squares(inside, fresh) < sum_of_squares(inside, group[records]) * (1 - 1e-12):
            count = int(fresh.max()) + 1
            names = [*here, *range(len(members), len(members) + count)][:count]
            members += [np.empty(0, dtype=np.int64)] * (max(names) + 1 - len(members))
            for old in here:
                members[old] = np.empty(0, dtype=np.int64)
            for part, name in enumerate(names):
                members[name] = records[fresh == part]
                group[members[name]] = name
    return renumber(group)


def _chain(points: Floats, start: int) -> Ints:
    """Return an order in which every record is the nearest to the one before of those left."""
    left = np.ones(len(points), dtype=bool)
    order = np.empty(len(points), dtype=np.int64)
    now = start
    for i in range(len(points)):
        order[i] = now
        left[now] = False
        if i < len(points) - 1:
            now = int(np.argmin(np.where(left, squared_distances(points, points[now]), np.inf)))
    return order
