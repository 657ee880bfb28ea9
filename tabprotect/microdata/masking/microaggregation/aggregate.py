"""What a group's values are replaced by: weighted mean, median or mode."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["group_means", "group_medians", "group_modes"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

HALF = 1e-12
"""Relative room for rounding in sums of weights."""


def group_means(values: Floats, group: Ints, weights: Floats) -> Floats:
    """Return the weighted mean of every group; never outside its values.

    Examples
    --------
    >>> group_means(np.array([1.0, 4.0, 5.0]), np.array([0, 0, 1]), np.array([2.0, 1.0, 1.0])).tolist()
    [2.0, 5.0]
    """
    count = int(group.max()) + 1
    # sums of differences from one member: a group of equal values keeps them to the last bit
    base = np.empty(count)
    base[group] = values
    means = base + np.bincount(group, weights * (values - base[group]), count) / np.bincount(group, weights, count)
    low, high = np.full(count, np.inf), np.full(count, -np.inf)
    np.minimum.at(low, group, values)
    np.maximum.at(high, group, values)
    return np.clip(means, low, high)


def group_medians(values: Floats, group: Ints, weights: Floats, between: bool) -> Floats:
    """Return the weighted median of every group.

    Parameters
    ----------
    values, group, weights : ndarray, shape (records,)
    between : bool
        Where exactly half of the weight is at or below a value: the middle between it and the next one (numbers), or
        the lower one (categories).

    Examples
    --------
    >>> values, group = np.array([1.0, 2.0, 4.0, 9.0]), np.zeros(4, int)
    >>> [group_medians(values, group, np.ones(4), between).tolist() for between in (True, False)]
    [[3.0], [2.0]]
    """
    order = np.lexsort((values, group))
    g, v, w = group[order], values[order], weights[order]
    first = np.flatnonzero(np.diff(g, prepend=-1))
    reached = np.cumsum(w)
    reached -= (reached[first] - w[first])[g]
    half = np.bincount(g, w)[g] / 2
    lower = np.maximum.reduceat(np.where(reached >= half * (1 - HALF), -np.arange(len(v)), -len(v)), first)
    medians = v[-lower]
    if between:
        upper = np.maximum.reduceat(np.where(reached > half * (1 + HALF), -np.arange(len(v)), -len(v)), first)
        medians = (medians + v[-upper]) / 2
    return medians


def group_modes(index: Ints, group: Ints, weights: Floats) -> Ints:
    """Return the category with the most weight in every group; among equals that with more in all groups together.

    Examples
    --------
    >>> group_modes(np.array([0, 1, 1, 0, 1]), np.array([0, 0, 0, 1, 1]), np.ones(5)).tolist()
    [1, 1]
    """
    categories = int(index.max()) + 1
    overall = np.bincount(index, weights, categories)
    pair, inverse = np.unique(group * categories + index, return_inverse=True)
    total = np.bincount(inverse.ravel(), weights)
    g, c = pair // categories, pair % categories
    # sums of the same weights in another order must not decide
    total = np.round(total / max(total.max(), 1e-300), 12)
    order = np.lexsort((c, -overall[c], -total, g))
    first = order[np.flatnonzero(np.diff(g[order], prepend=-1))]
    modes: Ints = c[first]
    return modes
