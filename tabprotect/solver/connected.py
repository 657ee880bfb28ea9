"""Connected components, also where they are asked for thousands of small graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

__all__ = ["connected"]

Ints = npt.NDArray[np.int64]

SMALL = 500
"""Up to so many edges a loop takes less time than to make a matrix of them."""


def connected(left: npt.NDArray[Any], right: npt.NDArray[Any], nodes: int) -> Ints:
    """Return the component of every node of a graph; components are numbered by their first nodes.

    Parameters
    ----------
    left, right : ndarray of int, shape (edges,)
        The ends of every edge.
    nodes : int

    Examples
    --------
    >>> connected(np.array([0, 3, 2]), np.array([4, 1, 4]), 5).tolist()
    [0, 1, 0, 1, 0]
    """
    if len(left) + nodes > 2 * SMALL:
        graph = sparse.coo_array((np.ones(len(left)), (left, right)), shape=(nodes, nodes))
        return np.asarray(csgraph.connected_components(graph, directed=False)[1], np.int64)
    above = list(range(nodes))  # a node of the same component, never a later one
    for i, j in zip(left.tolist(), right.tolist(), strict=True):
        while above[i] != i:
            i = above[i]
        while above[j] != j:
            j = above[j]
        above[max(i, j)] = min(i, j)
    number, found = [0] * nodes, 0
    for k in range(nodes):
        if above[k] == k:
            number[k], found = found, found + 1
        else:
            number[k] = number[above[k]]
    return np.array(number, np.int64)
