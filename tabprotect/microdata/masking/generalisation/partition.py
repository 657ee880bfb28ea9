"""Mondrian: partitions of the records into classes, each with labels of its own (LeFevre et al. 2006)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.anonymity import value_counts
from tabprotect.microdata.masking.generalisation.constraints import Judge
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["Axis", "OrderedAxis", "TreeAxis", "partition"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Axis:
    """One key of a partition.

    Attributes
    ----------
    index : ndarray of int, shape (records,)
        Values in their order; a missing one comes first (-1).
    """

    index: Ints

    def width(self, rows: Ints) -> float:
        """Return how far the values of some records are apart, as a share of the whole."""
        raise NotImplementedError

    def splits(self, rows: Ints, strict: bool) -> Iterator[list[Ints]]:
        """Return ways to split some records, the best first."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class OrderedAxis(Axis):
    """Numbers, or categories in an order: split at the median.

    Attributes
    ----------
    position : ndarray of float, shape (values,)
        Where each value lies, between 0 and 1.
    """

    position: Floats

    def width(self, rows: Ints) -> float:
        """Return the range; a missing value is as far off as any."""
        index = self.index[rows]
        low, high = int(index.min()), int(index.max())
        if low < 0:
            return 1.0 if high >= 0 else 0.0
        return float(self.position[high] - self.position[low])

    def splits(self, rows: Ints, strict: bool) -> Iterator[list[Ints]]:
        """Split at the median: strictly (equal values stay together), or by halves."""
        index = self.index[rows]
        if int(index.min()) == int(index.max()):
            return
        half = len(rows) // 2
        if not strict:
            order = np.argsort(index, kind="stable")
            yield [rows[order[:half]], rows[order[half:]]]
            return
        # the two borders nearest to the median, the more even one first
        middle = int(np.partition(index, half)[half])
        below, upto = index < middle, index <= middle
        borders = [flags for flags in (below, upto) if flags.any() and not flags.all()]
        for flags in sorted(borders, key=lambda flags: abs(int(flags.sum()) - half)):
            yield [rows[flags], rows[~flags]]


@dataclass(frozen=True, eq=False)
class TreeAxis(Axis):
    """Codes of a value tree: split into the parts of their common ancestor.

    Attributes
    ----------
    paths : ndarray of int, shape (levels, values)
        The ancestor of every value at each level, the root first and the values last.
    """

    paths: Ints

    def _level(self, index: Ints) -> int:
        """Return the deepest level at which all have one ancestor, -1 where a value is missing."""
        if index.min() < 0:
            return -1
        here = self.paths[:, np.unique(index)]
        return int((here == here[:, :1]).all(axis=1).sum()) - 1

    def width(self, rows: Ints) -> float:
        """Return the values under the common ancestor, as a share of all."""
        index = self.index[rows]
        if index.max() < 0:
            return 0.0
        level = self._level(index)
        if level < 0:
            return 1.0
        if level == len(self.paths) - 1:
            return 0.0
        node = self.paths[level, index[0]]
        return float((self.paths[level] == node).sum() / self.paths.shape[1])

    def splits(self, rows: Ints, strict: bool) -> Iterator[list[Ints]]:
        """Split into the parts of the common ancestor; missing values first."""
        index = self.index[rows]
        level = self._level(index)
        if index.max() < 0 or level == len(self.paths) - 1:
            return
        parts = np.where(index < 0, -1, self.paths[level + 1][index] if level >= 0 else 0)
        yield [rows[parts == part] for part in np.unique(parts)]


def tree_paths(values: Sequence[Any], tree: Hierarchy) -> Ints:
    """Return the ancestors of values from the root on, as positions of codes, shape (levels, values)."""
    codes = np.array([tree.position[str(value)] for value in values], dtype=np.int64)
    rows = [codes]
    for level in range(int(tree.levels[codes].max(initial=0)) - 1, -1, -1):
        deep = tree.levels[codes] > level
        codes = np.where(deep, tree.parents[codes], codes)
        rows.append(codes)
    return np.array(rows[::-1], dtype=np.int64)


def partition(axes: Sequence[Axis], start: Sequence[Ints], judge: Judge, strict: bool) -> list[Ints]:
    """Split sets of records as long as every part is large and diverse enough, along the widest key that allows it.

    Parameters
    ----------
    axes : sequence of Axis
    start : sequence of ndarray of int
        Sets of records to begin with.
    judge : Judge
    strict : bool

    Returns
    -------
    list of ndarray of int
        The records of every class.
    """
    done, todo = [], list(start)[::-1]
    while todo:
        rows = todo.pop()
        parts = _split(axes, rows, judge, strict) if len(rows) >= 2 * judge.k else None
        if parts is None:
            done.append(rows)
        else:
            todo += parts[::-1]
    return done


def _split(axes: Sequence[Axis], rows: Ints, judge: Judge, strict: bool) -> list[Ints] | None:
    widths = [axis.width(rows) for axis in axes]
    for j in sorted(range(len(axes)), key=lambda j: -widths[j]):
        if widths[j] <= 0:
            return None
        for parts in axes[j].splits(rows, strict):
            if good(judge, parts):
                return parts
    return None


def good(judge: Judge, parts: Sequence[Ints]) -> bool:
    """Return whether sets of records are all large and diverse enough."""
    sizes = np.array([len(part) for part in parts], dtype=np.float64)
    if (sizes < judge.k).any():
        return False
    if not judge.constraints:
        return True
    rows = np.concatenate(parts)
    number = np.repeat(np.arange(len(parts)), sizes.astype(np.int64))
    counts = [value_counts(number, v[rows], len(parts), n) for v, n in zip(judge.values, judge.sizes, strict=True)]
    return not judge.bad(sizes, counts, leave_out=False).any()
