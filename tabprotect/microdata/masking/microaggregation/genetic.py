"""Genetic microaggregation: partitions of an order as binary strings (Eustat notebook, variable-sized methods)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masking.microaggregation.segments import fixed_segments, segment_costs

__all__ = ["genetic"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

ELITE = 2
"""Best strings that stay as they are."""


def genetic(points: Floats, k: int, population: int, generations: int, rng: np.random.Generator) -> Ints:
    """Search for good groups of k to 2k - 1 consecutive records by crossing and mutating binary strings.

    A one begins a group. Strings are read from the left: a group ends with the first one after k records, after
    2k - 1 at the latest, and earlier where the rest would be too few. Parents are the better of two (tournament), they
    cross at one point, every bit flips with a chance of 1 in the number of records. The first string is that of groups
    of k, so the outcome is never worse; `best_segments` finds the best one there is.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
        In order; at least k records.
    k, population, generations : int
    rng : numpy.random.Generator

    Returns
    -------
    ndarray of int, shape (records,)
    """
    n = len(points)
    costs = segment_costs(points, k)
    strings = rng.random((population, n)) < 1 / k
    first = fixed_segments(n, k)
    strings[0] = np.diff(first, prepend=-1) > 0
    cuts, loss = _read(strings, costs)
    for _ in range(generations):
        best = np.argsort(loss, kind="stable")[:ELITE]
        pairs = rng.integers(population, size=(2, population, 2))
        parents = np.where(loss[pairs[..., 0]] <= loss[pairs[..., 1]], pairs[..., 0], pairs[..., 1])
        at = rng.integers(1, max(n, 2), size=population)
        children = np.where(np.arange(n) < at[:, None], cuts[parents[0]], cuts[parents[1]])
        children ^= rng.random((population, n)) < 1 / n
        children[:ELITE] = cuts[best]
        cuts, loss = _read(children, costs)
    return np.cumsum(cuts[int(np.argmin(loss))]) - 1


def _read(strings: Bools, costs: Floats) -> tuple[Bools, Floats]:
    """Return the groups that strings mean, as strings in which every one begins a group, and their sums of squares."""
    k, n = costs.shape
    count = len(strings)
    rows = np.arange(count)
    cuts = np.zeros((count, n), dtype=bool)
    loss = np.zeros(count)
    begin = np.zeros(count, dtype=np.int64)
    padded = np.concatenate([strings, np.zeros((count, 2 * k), dtype=bool)], axis=1)
    open_ = begin < n
    while open_.any():
        r, at = rows[open_], begin[open_]
        left = n - at
        window = padded[r[:, None], at[:, None] + k + np.arange(k)]
        window[:, k - 1] = True
        size = k + window.argmax(axis=1)
        size = np.minimum(size, 2 * k - 1)
        # what is left must be nothing, or enough for a group
        size = np.where(left < 2 * k, left, np.minimum(size, left - k))
        cuts[r, at] = True
        loss[r] += costs[size - k, at]
        begin[open_] = at + size
        open_ = begin < n
    return cuts, loss
