"""Groups of consecutive records in an order: of fixed size, or the best ones by a shortest path.

Hansen and Mukherjee (2003), IEEE Transactions on Knowledge and Data Engineering 15: the best groups of k to 2k - 1
consecutive records are a shortest path through the positions between them; on one variable in its order that is the
best partition there is. In an order of records with several variables it is the MHM of Domingo-Ferrer et al. (2006).
"""

from __future__ import annotations

import importlib.util

import numpy as np
import numpy.typing as npt

__all__ = ["best_segments", "fixed_segments", "segment_costs"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

COMPILED_FROM = 20_000
"""Records from which compiling pays."""


def fixed_segments(n: int, k: int) -> Ints:
    """Return groups of k positions each, the last one of k to 2k - 1.

    Examples
    --------
    >>> fixed_segments(7, 3).tolist()
    [0, 0, 0, 1, 1, 1, 1]
    """
    return np.minimum(np.arange(n) // k, max(n // k - 1, 0))


def segment_costs(points: Floats, k: int) -> Floats:
    """Return the sum of squares around the mean of every k to 2k - 1 consecutive records.

    Means are updated record by record, so that small sums do not drown in large ones.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
        In order.
    k : int

    Returns
    -------
    ndarray of float, shape (k, records)
        ``[s - k, i]`` for the records i to i + s - 1, infinite where there are not so many.
    """
    n = len(points)
    costs = np.full((k, n), np.inf)
    mean = points.copy()
    total = np.zeros(n)
    for size in range(1, 2 * k):
        if size > 1:
            last = n - size + 1
            if last <= 0:
                break
            apart = points[size - 1 :] - mean[:last]
            mean = mean[:last] + apart / size
            total = total[:last] + (apart * apart).sum(axis=1) * ((size - 1) / size)
        if size >= k:
            costs[size - k, : len(total)] = total
    return costs


def best_segments(points: Floats, k: int) -> Ints:
    """Return the groups of k to 2k - 1 consecutive records with the least sum of squares.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
        In order; at least k records.
    k : int

    Returns
    -------
    ndarray of int, shape (records,)

    Examples
    --------
    >>> best_segments(np.array([[1.0], [2.0], [3.0], [9.0], [10.0]]), 2).tolist()
    [0, 0, 0, 1, 1]
    """
    costs = segment_costs(points, k)
    if len(points) >= COMPILED_FROM and importlib.util.find_spec("numba") is not None:
        from tabprotect.microdata.masking.microaggregation.kernels import shortest_path

        before = shortest_path(costs)
    else:
        before = _shortest_path(costs)
    at, cuts = len(points), []
    while at > 0:
        at = int(before[at])
        cuts.append(at)
    group = np.zeros(len(points), dtype=np.int64)
    group[np.array(cuts[:-1], dtype=np.int64)] = 1
    return np.cumsum(group)


def _shortest_path(costs: Floats) -> list[int]:
    """Return, for every position, where the last segment of the shortest path to it begins."""
    k, n = costs.shape
    rows = costs.tolist()
    infinite = float("inf")
    least = [0.0] + [infinite] * n
    before = [-1] * (n + 1)
    for end in range(k, n + 1):
        best, which = infinite, -1
        for size in range(k, min(2 * k - 1, end) + 1):
            begin = end - size
            length = least[begin] + rows[size - k][begin]
            if length < best:
                best, which = length, begin
        least[end], before[end] = best, which
    return before
