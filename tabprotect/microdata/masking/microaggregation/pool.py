"""Records that are taken away group by group, asked for the nearest and the farthest of those left.

Two pools give the same answers to the last bit: one in numpy and scipy, and one compiled by numba for many records
(extra 'microdata'). Squared distances are summed over the coordinates in order; among equals the lowest record comes
first.
"""

from __future__ import annotations

import importlib.util
import math
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

__all__ = ["Pool", "make_pool"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

COMPILED_FROM = 4_000
"""Records from which the compiled pool pays."""

BLOCK = 2048
SLACK = 1 + 1e-9
REBUILD = 0.6
"""The structures are made again when this share of their points is left."""


class Pool(Protocol):
    """Records that have no group yet."""

    @property
    def left(self) -> int:
        """How many there are."""

    def ids(self) -> Ints:
        """Return them, in order."""

    def centre(self) -> Floats:
        """Return their mean."""

    def farthest(self, query: Floats) -> int:
        """Return the one farthest from a point."""

    def nearest(self, query: Floats, count: int) -> Ints:
        """Return the nearest ones to a point, the nearest first."""

    def remove(self, gone: Ints) -> None:
        """Take some away."""


def make_pool(points: Floats, *, compiled: bool | None = None) -> Pool:
    """Return a pool of all records.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
    compiled : bool, optional
        By numba or not; by default where it is installed and there are many records.

    Examples
    --------
    >>> pool = make_pool(np.array([[0.0], [1.0], [5.0]]))
    >>> pool.farthest(np.zeros(1)), pool.nearest(np.zeros(1), 2).tolist()
    (2, [0, 1])
    """
    if compiled is None:
        compiled = len(points) >= COMPILED_FROM and importlib.util.find_spec("numba") is not None
    return CompiledPool(points) if compiled else PlainPool(points)


def squared_distances(points: Floats, query: Floats) -> Floats:
    """Return squared distances, summed over the coordinates from the first to the last."""
    total = np.zeros(len(points))
    for d in range(points.shape[1]):
        apart = points[:, d] - query[d]
        total += apart * apart
    return total


class _Base:
    """What both pools keep: who is left, their sum, and an order by distance from a fixed centre."""

    def __init__(self, points: Floats) -> None:
        self.points = np.ascontiguousarray(points, dtype=np.float64)
        self.there = np.ones(len(points), dtype=bool)
        self.left = len(points)
        self.total = self.points.sum(axis=0)
        self._make()

    def ids(self) -> Ints:
        return np.flatnonzero(self.there)

    def centre(self) -> Floats:
        mean: Floats = self.total / self.left
        return mean

    def _make(self) -> None:
        self.made_of = self.left
        ids = self.ids()
        self.middle = self.points[ids].mean(axis=0) if len(ids) else np.zeros(self.points.shape[1])
        radius = np.sqrt(squared_distances(self.points[ids], self.middle))
        order = np.argsort(-radius, kind="stable")
        self.outer, self.radius = ids[order], radius[order]
        self._index(ids)

    def _index(self, ids: Ints) -> None:
        raise NotImplementedError

    def _away(self, query: Floats) -> float:
        # part of a bound with slack, so that the order of the sum does not matter
        return math.dist(query.tolist(), self.middle.tolist())

    def _gone(self, gone: Ints) -> None:
        self.there[gone] = False
        self.left -= len(gone)
        for name in gone:
            self.total -= self.points[name]

    def _worn(self) -> bool:
        return 0 < self.left < REBUILD * self.made_of


class PlainPool(_Base):
    """A pool in numpy, with scipy's k-d tree."""

    def _index(self, ids: Ints) -> None:
        self.held = ids
        self.tree = cKDTree(self.points[ids]) if len(ids) else None

    def farthest(self, query: Floats) -> int:
        away, best, who = self._away(query), -1.0, -1
        for at in range(0, len(self.outer), BLOCK):
            if (self.radius[at] + away) ** 2 * SLACK < best:
                break
            names = self.outer[at : at + BLOCK]
            names = names[self.there[names]]
            if not len(names):
                continue
            found = squared_distances(self.points[names], query)
            most = found.max()
            if most >= best:
                name = int(names[found == most].min())
                who = name if most > best else min(name, who)
                best = float(most)
        return who

    def nearest(self, query: Floats, count: int) -> Ints:
        count = min(count, self.left)
        wanted = 2 * count + 2
        assert self.tree is not None
        while True:
            answer = self.tree.query(query, k=min(wanted, len(self.held)))
            distance, at = np.atleast_1d(answer[0]), np.atleast_1d(answer[1])
            names = self.held[at]
            names = names[self.there[names]]
            # whoever is as near as the last one wanted must be among those found
            if wanted >= len(self.held):
                break
            if len(names) >= count:
                needed = np.partition(squared_distances(self.points[names], query), count - 1)[count - 1]
                if distance[-1] ** 2 > needed * SLACK:
                    break
            wanted *= 3
        found = squared_distances(self.points[names], query)
        chosen: Ints = names[np.lexsort((names, found))[:count]]
        return chosen

    def remove(self, gone: Ints) -> None:
        self._gone(gone)
        if self._worn():
            self._make()


class CompiledPool(_Base):
    """A pool compiled by numba."""

    def _index(self, ids: Ints) -> None:
        from tabprotect.microdata.masking.microaggregation import kernels

        self.kernels = kernels
        places = len(self.points)
        self.ring = np.ascontiguousarray(self.points[self.outer].T)
        self.seat = np.full(places, -1, dtype=np.int64)
        self.seat[self.outer] = np.arange(len(self.outer))
        self.of_block = np.bincount(np.arange(len(self.outer)) // kernels.BLOCK)
        nodes = _Nodes(self.points[ids], kernels.LEAF)
        self.data = np.ascontiguousarray(self.points[ids[nodes.order]].T)
        self.names = ids[nodes.order]
        self.place = np.full(places, -1, dtype=np.int64)
        self.place[self.names] = np.arange(len(ids))
        self.nodes = nodes

    def farthest(self, query: Floats) -> int:
        found = self.kernels.farthest(query, self._away(query), self.ring, self.outer, self.radius, self.of_block)
        return int(found)

    def nearest(self, query: Floats, count: int) -> Ints:
        n = self.nodes
        found: Ints = self.kernels.nearest(
            query, min(count, self.left), self.data, self.names, n.start, n.alive, n.low, n.high, n.child
        )
        return found

    def remove(self, gone: Ints) -> None:
        n = self.nodes
        self._gone(gone)
        if self._worn():
            self._make()
        else:
            self.kernels.remove(
                gone, self.data, self.names, self.place, n.start, n.alive, n.parent, n.leaf, self.ring, self.seat,
                self.of_block,
            )  # fmt: skip


class _Nodes:
    """A k-d tree in arrays: medians of the widest coordinate, every node with the smallest box of its points.

    Attributes
    ----------
    order : ndarray of int, shape (points,)
        Points in the order of the leaves.
    start, alive : ndarray of int, shape (nodes,)
        First position of a node's points, and how many of them are left.
    low, high : ndarray of float, shape (nodes, coordinates)
    child, parent : ndarray of int, shape (nodes,)
        The left child (the right one follows it), -1 for leaves; -1 above the root.
    leaf : ndarray of int, shape (points,)
        Leaf of every position.
    """

    def __init__(self, points: Floats, most: int) -> None:
        order = np.arange(len(points))
        start, size, parent, child = [0], [len(points)], [-1], [-1]
        low, high = [points.min(axis=0)], [points.max(axis=0)]
        node = 0
        while node < len(start):
            at, n = start[node], size[node]
            if n > most:
                rows = order[at : at + n]
                rows = rows[np.argpartition(points[rows, int(np.argmax(high[node] - low[node]))], n // 2)]
                order[at : at + n] = rows
                child[node] = len(start)
                for part, first in ((rows[: n // 2], at), (rows[n // 2 :], at + n // 2)):
                    inside = points[part]
                    start.append(first)
                    size.append(len(part))
                    parent.append(node)
                    child.append(-1)
                    low.append(inside.min(axis=0))
                    high.append(inside.max(axis=0))
            node += 1
        self.order: Any = order
        self.start, self.alive = np.array(start), np.array(size)
        self.child, self.parent = np.array(child), np.array(parent)
        self.low, self.high = np.array(low), np.array(high)
        self.leaf = np.zeros(len(points), dtype=np.int64)
        for end in np.flatnonzero(self.child < 0).tolist():
            self.leaf[start[end] : start[end] + size[end]] = end
