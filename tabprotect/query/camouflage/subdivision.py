"""Safe outer bounds for functions that are neither linear nor convex, by cutting the hull into smaller ones.

The true vector is in one of the parts, and within a part every record is between its least and largest corner. A
function that has bounds for records between given ends therefore has bounds on the part; those of the hull are the
widest over all parts. The parts with the widest bounds are cut in two again, at the longest edge, until both ends are
attained at corners or a number of parts is reached. Records are read once: corners are combinations of the k vectors.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from tabprotect.query.camouflage.ranges import ROUNDING, Range

__all__ = ["PARTS", "outer_range"]

Floats = npt.NDArray[np.float64]
Between = Callable[[Mapping[str, Floats], Mapping[str, Floats]], tuple[float, float]]
"""Bounds of the function where every field of every record is between two ends; (inf, -inf) where it has no value."""

At = Callable[[Mapping[str, Floats]], float]
"""The function at one vector; nan where it has no value."""

PARTS = 64
"""Parts that are looked at for either end."""


def outer_range(rows: Mapping[str, Floats], between: Between, at: At, error: float, parts: int = PARTS) -> Range:
    """Return bounds of a function over the hull.

    Parameters
    ----------
    rows : Mapping of str to ndarray, shape (records, k)
        Of every field that the function reads.
    between, at : callable
    error : float
        What rounding may do to the values of the function.
    parts : int

    Returns
    -------
    Range
        `exact` if both ends are attained at corners of parts.
    """
    low, low_exact = _lower_end(rows, lambda a, b: between(a, b)[0], at, error, parts)
    high, high_exact = _lower_end(rows, lambda a, b: -between(a, b)[1], lambda x: -at(x), error, parts)
    return Range(low - error, -high + error, low_exact and high_exact)


def _lower_end(
    rows: Mapping[str, Floats], below: Callable[..., float], at: At, error: float, parts: int
) -> tuple[float, bool]:
    k = next(iter(rows.values())).shape[1]
    attained = math.inf
    number = itertools.count()
    heap: list[tuple[float, int, Floats, dict[str, Floats]]] = []

    def add(corners: Floats, entries: dict[str, Floats]) -> None:
        ends = {f: _ends(p) for f, p in entries.items()}
        bound = below({f: low for f, (low, _) in ends.items()}, {f: high for f, (_, high) in ends.items()})
        heapq.heappush(heap, (bound, next(number), corners, entries))

    def look(entries: Mapping[str, Floats], j: int) -> float:
        value = at({f: p[:, j] for f, p in entries.items()})
        return math.inf if math.isnan(value) else value

    whole = dict(rows)
    attained = min(look(whole, j) for j in range(k))
    add(np.eye(k), whole)
    for _ in range(parts):
        bound, _, corners, entries = heap[0]
        if bound >= attained - error:
            break
        i, j = _longest_edge(corners)
        heapq.heappop(heap)
        middle = {f: (p[:, i] + p[:, j]) / 2 for f, p in entries.items()}
        for side in (i, j):
            new = {f: p.copy() for f, p in entries.items()}
            for f, column in middle.items():
                new[f][:, side] = column
            part = corners.copy()
            part[:, side] = (corners[:, i] + corners[:, j]) / 2
            add(part, new)
        attained = min(attained, look(new, j))
    return heap[0][0], bool(heap[0][0] >= attained - error)


def _ends(p: Floats) -> tuple[Floats, Floats]:
    low, high = p.min(axis=1), p.max(axis=1)
    # true values are rounded otherwise than corners; values without protection are the same in all of them
    slack = np.where(low < high, ROUNDING * np.maximum(np.abs(low), np.abs(high)), 0.0)
    return low - slack, high + slack


def _longest_edge(corners: Floats) -> tuple[int, int]:
    distances = np.square(corners[:, :, None] - corners[:, None, :]).sum(axis=0)
    i, j = np.unravel_index(int(np.argmax(distances)), distances.shape)
    return int(min(i, j)), int(max(i, j))
