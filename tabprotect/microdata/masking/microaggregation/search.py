"""The state of a local search on a partition, and its moves and swaps."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.microdata.masking.microaggregation.partition import centres_of

__all__ = ["Search"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

CHUNK = 2_000_000
"""Entries of the largest array of a round."""


class Search:
    """The state of a search: members of every group in a table, centres, and who must be looked at again."""

    def __init__(self, points: Floats, group: Ints, k: int, neighbours: int) -> None:
        self.points, self.group, self.k = points, group.copy(), k
        n, count = len(points), int(group.max()) + 1
        self.sizes = np.bincount(group, minlength=count)
        self.members = np.full((count, 2 * k - 1), -1, dtype=np.int64)
        order = np.argsort(group, kind="stable")
        first = np.cumsum(self.sizes) - self.sizes
        self.members[group[order], np.arange(n) - first[group[order]]] = order
        self.centres = centres_of(points, group)
        width = min(neighbours + 1, n)
        near = cKDTree(points).query(points, k=width)[1].reshape(n, width)
        self.near = near.astype(np.int64)
        self.changed = np.ones(count, dtype=bool)
        scale = float((points * points).sum(axis=1).mean()) if n else 0.0
        self.least = -1e-12 * max(scale, 1e-300)

    def round(self) -> bool:
        """Make the best changes that do not interfere; return whether there were any."""
        own = self.group
        near_groups = own[self.near]
        look = np.flatnonzero(self.changed[near_groups].any(axis=1) | self.changed[own])
        step = max(1, CHUNK // (self.near.shape[1] * self.members.shape[1] * max(1, self.points.shape[1])))
        found = [self._best(look[at : at + step]) for at in range(0, len(look), step)]
        # a record that was not looked at keeps the change that it had not been allowed to make
        if not found:
            return False
        gain, record, to, partner = (np.concatenate(one) for one in zip(*found, strict=True))
        chosen = self._apart(gain, record, to)
        self.changed[:] = False
        if not len(chosen):
            return False
        self._apply(record[chosen], to[chosen], partner[chosen])
        # those whose change lost against a neighbour's are looked at again
        late = np.setdiff1d(np.flatnonzero(gain < self.least), chosen)
        self.changed[self.group[record[late]]] = True
        return True

    def _best(self, records: Ints) -> tuple[Floats, Ints, Ints, Ints]:
        """Return the best change of every record: gain (negative), where to, and who comes back (-1 for nobody)."""
        x = self.points[records]
        own = self.group[records]
        to = self.group[self.near[records]]
        a, b = self.sizes[own].astype(float), self.sizes[to].astype(float)
        d_own = _squares(x, self.centres[own])
        d_to = _squares(x[:, None, :], self.centres[to])
        moves = b / (b + 1) * d_to - (a / np.maximum(a - 1, 1) * d_own)[:, None]
        allowed = (a > self.k)[:, None] & (b < 2 * self.k - 1) & (to != own[:, None])
        moves = np.where(allowed, moves, np.inf)
        others = self.members[to]
        y = self.points[others]
        swaps = (
            _squares(y, self.centres[own][:, None, None, :])
            - _squares(y, self.centres[to][:, :, None, :])
            - _squares(y, x[:, None, None, :]) * (1 / a[:, None] + 1 / b)[:, :, None]
            + (d_to - d_own[:, None])[:, :, None]
        )
        swaps = np.where((others < 0) | (to == own[:, None])[:, :, None], np.inf, swaps)
        width = swaps.shape[2]
        flat = np.concatenate([moves, swaps.reshape(len(records), -1)], axis=1)
        best = flat.argmin(axis=1)
        rows = np.arange(len(records))
        is_move = best < to.shape[1]
        column = np.where(is_move, best, (best - to.shape[1]) // width)
        member = np.where(is_move, 0, (best - to.shape[1]) % width)
        partner = np.where(is_move, -1, others[rows, column, member])
        return flat[rows, best], records, to[rows, column], partner

    def _apart(self, gain: Floats, record: Ints, to: Ints) -> Ints:
        """Return changes that gain, each the best of both groups that it touches."""
        some = np.flatnonzero(gain < self.least)
        some = some[np.lexsort((record[some], gain[some]))]
        rank = np.arange(len(some))
        first = np.full(len(self.sizes), len(some))
        own = self.group[record[some]]
        np.minimum.at(first, own, rank)
        np.minimum.at(first, to[some], rank)
        chosen: Ints = some[(first[own] == rank) & (first[to[some]] == rank)]
        return chosen

    def _apply(self, record: Ints, to: Ints, partner: Ints) -> None:
        for i, into, back in zip(record.tolist(), to.tolist(), partner.tolist(), strict=True):
            home = int(self.group[i])
            if back < 0:
                self.place(home, [m for m in self.of(home) if m != i])
                self.place(into, [*self.of(into), i])
            else:
                self.place(home, [back if m == i else m for m in self.of(home)])
                self.place(into, [i if m == back else m for m in self.of(into)])

    def of(self, one: int) -> list[int]:
        """Return the members of a group."""
        members: list[int] = self.members[one, : self.sizes[one]].tolist()
        return members

    def place(self, one: int, members: list[int]) -> None:
        """Make records the members of a group; whoever takes its former members must do so, too."""
        size = len(members)
        self.members[one, :size] = members
        self.members[one, size:] = -1
        self.sizes[one] = size
        self.changed[one] = True
        if size:
            self.group[members] = one
            self.centres[one] = self.points[members].mean(axis=0)

    def empty(self) -> int:
        """Return a group without members, a new one where there is none."""
        free = np.flatnonzero(self.sizes == 0)
        if len(free):
            return int(free[0])
        self.members = np.vstack([self.members, np.full((1, self.members.shape[1]), -1)])
        self.centres = np.vstack([self.centres, np.zeros((1, self.centres.shape[1]))])
        self.sizes = np.append(self.sizes, 0)
        self.changed = np.append(self.changed, True)
        return len(self.sizes) - 1

    def loss(self, members: list[int]) -> float:
        """Return the sum of squares of some records around their mean."""
        points = self.points[members]
        apart = points - points.mean(axis=0)
        return float((apart * apart).sum())


def _squares(x: Floats, y: Floats) -> Floats:
    apart = x - y
    total: Floats = (apart * apart).sum(axis=-1)
    return total
