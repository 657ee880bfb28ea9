"""Lower bounds of the sum of squares of any partition into groups of at least k."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.microdata.masking.microaggregation.partition import sum_of_squares
from tabprotect.microdata.masking.microaggregation.segments import best_segments

__all__ = ["lower_bound", "nearest_shares"]

Floats = npt.NDArray[np.float64]


def nearest_shares(points: Floats, k: int) -> Floats:
    """Return for every record what it adds to the sum of squares at least.

    A group of s records has SSE = sum over its records i of (1 / 2s) sum_j d(i, j)^2; with s >= k the share of i is
    no less than the sum of the squared distances to its k - 1 nearest records, divided by 2k, since the mean over the
    nearest ones (itself among them) rises with their number.

    Examples
    --------
    >>> nearest_shares(np.array([[0.0], [1.0], [3.0]]), 2).tolist()
    [0.25, 0.25, 1.0]
    """
    if len(points) < k or k < 2:
        return np.zeros(len(points))
    distance = np.asarray(cKDTree(points).query(points, k=k)[0])
    shares: Floats = (distance**2).sum(axis=1) / (2 * k)
    return shares


def lower_bound(points: Floats, k: int) -> float:
    """Return a number that no partition into groups of at least k falls below.

    The larger of two: the sum of `nearest_shares`, and the sum over the coordinates of the best partition of each
    alone (shortest paths).

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
        At least k records.
    k : int

    Examples
    --------
    >>> lower_bound(np.array([[0.0], [2.0], [10.0], [12.0]]), 2)
    4.0
    """
    alone = 0.0
    for d in range(points.shape[1]):
        column = np.sort(points[:, [d]], axis=0)
        alone += sum_of_squares(column, best_segments(column, k))
    return max(alone, float(nearest_shares(points, k).sum()))
