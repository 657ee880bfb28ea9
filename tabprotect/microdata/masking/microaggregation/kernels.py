"""Queries on points that are taken away one after the other, compiled by numba.

Distances are sums over the coordinates from the first to the last. Boxes and distances from the centre bound them, so
the answers are those of a scan over all points: `tabprotect.microdata.masking.microaggregation.pool` has it in numpy.
"""

from __future__ import annotations

import numba
import numpy as np

__all__ = ["BLOCK", "LEAF", "SLACK", "farthest", "nearest", "remove", "shortest_path"]

LEAF = 32
"""Most points of a leaf."""

BLOCK = 512
"""Points that are looked at together when the farthest one is wanted."""

SLACK = 1 + 1e-9
"""What rounding may add to a squared distance that is a bound."""


@numba.njit(cache=True)
def farthest(query, away, data, names, radius, left):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the point farthest from a query, the lowest name among equals.

    Points are in order of their distance from a centre, the farthest first (`radius`); the query is `away` from it.
    Points that are gone are nan; `left` counts those that are not, by block.
    """
    p, n = data.shape
    found = np.empty(BLOCK)
    best, who = -1.0, -1
    for block in range(len(left)):
        at = block * BLOCK
        if left[block] == 0:
            continue
        if (radius[at] + away) ** 2 * SLACK < best:
            break
        size = min(BLOCK, n - at)
        found[:size] = 0.0
        for d in range(p):
            q = query[d]
            row = data[d, at : at + size]
            for i in range(size):
                apart = row[i] - q
                found[i] += apart * apart
        for i in range(size):
            if found[i] >= best and (found[i] > best or names[at + i] < who):
                best, who = found[i], names[at + i]
    return who


@numba.njit(cache=True)
def nearest(query, count, data, names, start, alive, low, high, child):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return the points nearest to a query, the nearest first, lower names first among equals."""
    p = len(query)
    stack = np.empty(128, dtype=np.int64)
    bound = np.empty(128)
    found = np.empty(LEAF)
    near = np.empty(2)
    stack[0], bound[0], top = 0, 0.0, 1
    best = np.full(count, np.inf)
    who = np.full(count, -1, dtype=np.int64)
    while top:
        top -= 1
        node = stack[top]
        if bound[top] > best[count - 1] or alive[node] == 0:
            continue
        first = child[node]
        if first >= 0:
            for side in range(2):
                near[side] = 0.0
                for d in range(p):
                    apart = max(low[first + side, d] - query[d], query[d] - high[first + side, d], 0.0)
                    near[side] += apart * apart
            last = 1 if near[0] > near[1] else 0
            for side in (1 - last, last):
                stack[top], bound[top] = first + side, near[side]
                top += 1
            continue
        n, at = alive[node], start[node]
        found[:n] = 0.0
        for d in range(p):
            q = query[d]
            row = data[d, at : at + n]
            for i in range(n):
                apart = row[i] - q
                found[i] += apart * apart
        for i in range(n):
            value, name = found[i], names[at + i]
            j = count - 1
            if value > best[j] or (value == best[j] and who[j] >= 0 and name > who[j]):
                continue
            while j > 0 and (value < best[j - 1] or (value == best[j - 1] and (who[j - 1] < 0 or name < who[j - 1]))):
                best[j], who[j] = best[j - 1], who[j - 1]
                j -= 1
            best[j], who[j] = value, name
    return who


@numba.njit(cache=True)
def remove(gone, data, names, place, start, alive, parent, leaf, ring, seat, left):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Take points away: to the end of their leaf, and out of the order by distance from the centre."""
    p = data.shape[0]
    for name in gone:
        at = place[name]
        node = leaf[at]
        last = start[node] + alive[node] - 1
        for d in range(p):
            data[d, at], data[d, last] = data[d, last], data[d, at]
            ring[d, seat[name]] = np.nan
        other = names[last]
        names[at], names[last] = other, name
        place[other], place[name] = at, last
        left[seat[name] // BLOCK] -= 1
        while node >= 0:
            alive[node] -= 1
            node = parent[node]


@numba.njit(cache=True)
def shortest_path(costs):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Return, for every position, where the last segment of the shortest path to it begins."""
    k, n = costs.shape
    least = np.full(n + 1, np.inf)
    before = np.full(n + 1, -1, dtype=np.int64)
    least[0] = 0.0
    for end in range(k, n + 1):
        for size in range(k, min(2 * k - 1, end) + 1):
            length = least[end - size] + costs[size - k, end - size]
            if length < least[end]:
                least[end], before[end] = length, end - size
    return before
