"""The best node of a lattice of generalisations.

Every combination of levels is a node. Classes that are large enough (or distinct l-diverse; without suppression: that
satisfy any of the constraints) stay so when others are added. So where too many records are in classes that fail
these, the same holds of all nodes below: chains are searched by bisection, and each answer settles many nodes. Other
constraints are asked of every node that is left.
Nodes are taken in the order of a bound on their loss, which grows along the lattice: the search ends when no node
left can be better than the best one, which is then optimal.

References
----------
Samarati (2001), IEEE TKDE 13; LeFevre, DeWitt, Ramakrishnan (2005), "Incognito", SIGMOD (roll-up, tagging); El Emam et
al. (2009), "A globally optimal k-anonymity method" (OLA), JAMIA 16; Kohlmayer et al. (2012), "Flash", PASSAT.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.microdata.keys import DENSE
from tabprotect.microdata.masking.generalisation.constraints import Judge
from tabprotect.microdata.masking.generalisation.losses import Loss
from tabprotect.microdata.masking.generalisation.rungs import Rungs

__all__ = ["MOST_NODES", "Found", "Lattice"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

MOST_NODES = 5_000_000
"""Larger lattices are not searched."""

_KEPT_TABLES = 300
_TIE = 1e-12
_UNKNOWN, _GOOD, _BAD = 0, 1, 2


@dataclass(frozen=True, eq=False)
class Found:
    """The best node.

    Attributes
    ----------
    node : tuple of int
        Levels.
    loss : float
        No node within the budget loses less.
    suppressed : int
        Records in bad classes.
    nodes, looked_at : int
        Of the lattice, and of these whose classes were counted.
    """

    node: tuple[int, ...]
    loss: float
    suppressed: int
    nodes: int
    looked_at: int


@dataclass(frozen=True, eq=False)
class _Table:
    """Classes of a node: one row of the file's patterns for each, and the records it stands for."""

    node: Ints
    rows: Ints
    counts: Floats


class Lattice:
    """All combinations of levels over one file.

    Parameters
    ----------
    rungs : sequence of Rungs
        Of every key.
    codes : ndarray of int, shape (patterns, keys + further)
        Values of keys as the ladders number them, then columns that stay as they are: what else tells records apart
        (strata), and the confidential columns of the constraints.
    counts : ndarray of int, shape (patterns,)
    fixed : int
        How many of the further columns make classes, too.
    judge : Judge
        Its values are those of the further columns after the fixed ones.
    loss : Loss
    budget : int
        So many records may be suppressed.
    leave_out : bool
        Suppressed records are not released at all.
    """

    def __init__(
        self,
        rungs: Sequence[Rungs],
        codes: Ints,
        counts: Ints,
        fixed: int,
        judge: Judge,
        loss: Loss,
        budget: int,
        leave_out: bool,
    ) -> None:
        self.rungs, self.fixed, self.judge, self.loss = tuple(rungs), fixed, judge, loss
        self.codes = np.ascontiguousarray(codes.T)
        self.budget, self.leave_out = budget, leave_out
        self.shape = tuple(one.height + 1 for one in rungs)
        keys = len(rungs)
        self._tables = [_Table(np.zeros(keys, np.int64), np.arange(len(counts)), counts.astype(np.float64))]
        self.state = np.zeros(self.shape, dtype=np.int8)
        self.open = np.ones(self.shape, dtype=bool)
        self.bounds = np.zeros(self.shape)
        for j, costs in enumerate(loss.levels):
            self.bounds += costs.reshape([-1 if i == j else 1 for i in range(keys)])
        self.best: tuple[int, ...] | None = None
        self.best_loss, self.best_suppressed = np.inf, 0
        self.looked_at = 0

    def search(self) -> Found | None:
        """Return the best node; None where no node is within the budget."""
        order = np.argsort(self.bounds, axis=None, kind="stable") if self.loss.by_key else None
        place = 0
        while True:
            if order is not None:
                # bounds do not change: nodes come in their order
                while place < len(order) and not self.open.flat[order[place]]:
                    place += 1
                if place == len(order) or self.bounds.flat[order[place]] >= self._limit():
                    break
                at = int(order[place])
            else:
                values = np.where(self.open, self.bounds, np.inf)
                at = int(np.argmin(values))
                if not values.flat[at] < self._limit():
                    break
            node = tuple(int(i) for i in np.unravel_index(at, self.shape))
            if self.state[node] == _UNKNOWN:
                self._bisect(node)
            else:
                self._look(node)
        if self.best is None:
            return None
        return Found(self.best, self.best_loss, self.best_suppressed, self.state.size, self.looked_at)

    def minimal(self, node: Sequence[int]) -> bool:
        """Return whether no key can stay one level lower than at a node, which is within the budget, by itself.

        Without constraints no lower node at all is within the budget then: fewer levels never make classes larger. This
        is the k-minimal generalisation of Samarati (2001).
        """
        for j in range(len(node)):
            if not node[j]:
                continue
            sizes, _, counts = self.classes((*node[:j], node[j] - 1, *node[j + 1 :]))
            bad = self.judge.bad(sizes, counts, leave_out=self.leave_out)
            if sizes[bad].sum() <= self.budget:
                return False
        return True

    def _limit(self) -> float:
        return self.best_loss - _TIE * max(1.0, abs(self.best_loss)) if np.isfinite(self.best_loss) else np.inf

    def _bisect(self, node: tuple[int, ...]) -> None:
        """Look for the border of the budget on a chain from a node upwards, as far as something better may be there."""
        chain = [node]
        while True:
            here = chain[-1]
            above = [(*here[:j], here[j] + 1, *here[j + 1 :]) for j in range(len(here)) if here[j] + 1 < self.shape[j]]
            above = [one for one in above if self.bounds[one] < self._limit()]
            if not above or self.state[here] == _GOOD:
                break
            # those that nothing is known of settle the most
            chain.append(min(above, key=lambda one: (self.state[one] != _UNKNOWN, self.bounds[one], one)))
        low, high = 0, len(chain) - 1
        while low <= high:
            middle = (low + high) // 2
            one = chain[middle]
            if self.state[one] == _UNKNOWN:
                self._look(one)
            if self.state[one] == _GOOD:
                high = middle - 1
            else:
                low = middle + 1

    def _look(self, node: tuple[int, ...]) -> None:
        """Count the classes of a node, and note what follows."""
        self.looked_at += 1
        self.open[node] = False
        sizes, labels, counts = self.classes(node)
        bad = self.judge.bad(sizes, counts, leave_out=self.leave_out)
        surely = self.judge.surely_bad(sizes, counts) if self.budget else bad
        above = tuple(slice(level, None) for level in node)
        if not self.loss.by_key:
            self.bounds[above] = np.maximum(self.bounds[above], self.loss.of_classes(sizes))
        if sizes[surely].sum() > self.budget:
            below = tuple(slice(0, level + 1) for level in node)
            self.state[below] = _BAD
            self.open[below] = False
            return
        self.state[above] = _GOOD
        suppressed = int(sizes[bad].sum())
        if suppressed > self.budget:
            return
        value = self.loss.value(node, sizes, labels, bad)
        if value < self._limit():
            self.best, self.best_loss, self.best_suppressed = node, value, suppressed

    def classes(self, node: Sequence[int]) -> tuple[Floats, list[Ints], list[Floats]]:
        """Return the sizes of the classes of a node, their labels key by key, and the counts of confidential values."""
        table, labels, index, n = self._group(np.asarray(node))
        keys = len(self.rungs)
        sizes = np.bincount(index, weights=table.counts, minlength=n).astype(np.float64)
        first = _first(index, n)
        tables: list[Floats] = []
        # equal classes with equal confidential values are one row of the table that is kept
        rows, found = index, n
        for i, wide in enumerate(self.judge.sizes):
            values = self.codes[keys + self.fixed + i][table.rows]
            there = values >= 0
            flat = np.bincount(index[there] * wide + values[there], weights=table.counts[there], minlength=n * wide)
            tables.append(flat.reshape(n, wide).astype(np.float64))
            rows, uniques = pd.factorize(rows * (wide + 1) + values + 1)
            found = len(uniques)
        kept = np.bincount(rows, weights=table.counts, minlength=found).astype(np.float64)
        self._keep(np.asarray(node), table, table.rows[_first(rows, found)], kept)
        return sizes, [label[first] for label in labels[:keys]], tables

    def _group(self, node: Ints) -> tuple[_Table, list[Ints], Ints, int]:
        """Number the classes of a node, from the smallest table below it."""
        table = min((one for one in self._tables if (one.node <= node).all()), key=lambda one: len(one.rows))
        labels = [ladder.index[level][self.codes[j][table.rows]]
                  for j, (ladder, level) in enumerate(zip(self.rungs, node, strict=True))]  # fmt: skip
        labels += [self.codes[len(self.rungs) + i][table.rows] for i in range(self.fixed)]
        index = np.zeros(len(table.rows), dtype=np.int64)
        bound = 1
        for label in labels:
            width = int(label.max()) + 1
            if width == 1:
                continue
            if bound * width > 2**62:
                index, uniques = pd.factorize(index)
                bound = len(uniques)
            index = index * width + label
            bound *= width
        if bound > min(DENSE, len(index)):
            index, uniques = pd.factorize(index)
            return table, labels, index, len(uniques)
        place = np.zeros(bound, dtype=np.int64)
        place[index] = 1
        n = int(place.sum())
        place = np.cumsum(place) - 1
        return table, labels, place[index], n

    def _keep(self, node: Ints, source: _Table, rows: Ints, counts: Floats) -> None:
        """Keep a table for nodes above (roll-up) if it is much smaller than what it was made from."""
        if len(rows) > 0.7 * len(source.rows):
            return
        self._tables.append(_Table(node, rows, counts))
        if len(self._tables) > _KEPT_TABLES:
            # the first one serves every node
            del self._tables[1]


def _first(index: Ints, n: int) -> Ints:
    """Return the first row of every number."""
    first = np.empty(n, dtype=np.int64)
    first[index[::-1]] = np.arange(len(index))[::-1]
    return first
