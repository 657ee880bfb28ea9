"""Orders of records with several variables (Eustat notebook, single-axis sorting; nearest point next)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masking.microaggregation.pool import make_pool

__all__ = ["nearest_point_next", "principal_component", "sum_of_scores"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def principal_component(points: Floats) -> Ints:
    """Return the records in the order of the first principal component; its largest loading is positive.

    Examples
    --------
    >>> principal_component(np.array([[3.0, 6.0], [1.0, 2.0], [2.0, 4.0]])).tolist()
    [1, 2, 0]
    """
    apart = points - points.mean(axis=0)
    loading = np.linalg.eigh(apart.T @ apart)[1][:, -1]
    loading = loading * np.sign(loading[np.argmax(np.abs(loading))])
    return np.argsort(apart @ loading, kind="stable")


def sum_of_scores(points: Floats) -> Ints:
    """Return the records in the order of the sums of their z-scores.

    Examples
    --------
    >>> sum_of_scores(np.array([[3.0, 6.0], [1.0, 2.0], [2.0, 4.0]])).tolist()
    [1, 2, 0]
    """
    spread = points.std(axis=0)
    scores = (points - points.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.argsort(scores.sum(axis=1), kind="stable")


def nearest_point_next(points: Floats) -> Ints:
    """Return the records from the one farthest from the centre on, each the nearest to the one before.

    Examples
    --------
    >>> nearest_point_next(np.array([[5.0], [0.0], [1.0], [2.0]])).tolist()
    [0, 3, 2, 1]
    """
    pool = make_pool(points)
    order = np.empty(len(points), dtype=np.int64)
    now = pool.farthest(pool.centre())
    for i in range(len(points)):
        order[i] = now
        pool.remove(np.array([now]))
        if pool.left:
            now = int(pool.nearest(points[now], 1)[0])
    return order
