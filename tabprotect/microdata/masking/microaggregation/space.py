"""Columns of any scale as coordinates, so that distances, means and sums of squares make sense of all of them.

Numbers are one coordinate. Ordered categories are their ranks, from 0 to 1. Unordered categories are indicators: two
different ones have squared distance 1. Categories below a value tree are indicators of the nodes above them (the total
left out), themselves included: the squared distance of two is the length of the path between them, as a share of the
longest one from leaf to leaf.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems, did_you_mean
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import Scale
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["Space", "check_trees", "make_space"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Space:
    """Coordinates of records.

    Attributes
    ----------
    columns : tuple of str
    points : ndarray of float, shape (records, coordinates)
        0 where a value is missing.
    of : ndarray of int, shape (coordinates,)
        Position of the column of every coordinate.
    missing : ndarray of bool, shape (records, columns)
    """

    columns: tuple[str, ...]
    points: Floats
    of: Ints
    missing: Flags

    def part(self, rows: Ints, columns: Sequence[int]) -> Floats:
        """Return the coordinates of some records on some columns."""
        found: Floats = self.points[np.ix_(rows, np.flatnonzero(np.isin(self.of, columns)))]
        return found

    def parts(self, strata: Sequence[Ints], columns: Sequence[int]) -> list[tuple[Ints, list[int]]]:
        """Return the records of each stratum that lack the same values, with the columns where they have one."""
        found = []
        for rows in strata:
            absent = self.missing[np.ix_(rows, np.asarray(columns))]
            if not absent.any():
                found.append((rows, list(columns)))
                continue
            patterns, index = np.unique(absent, axis=0, return_inverse=True)
            for i, pattern in enumerate(patterns):
                here = [c for c, gone in zip(columns, pattern, strict=True) if not gone]
                found.append((rows[index.ravel() == i], here))
        return found


def make_space(records: Records, columns: Sequence[str], standardise: bool) -> Space:
    """Return the coordinates of some columns.

    Parameters
    ----------
    records : Records
    columns : sequence of str
    standardise : bool
        Shift every column to mean 0 and scale it to a total variance (divisor n - 1) of 1 over its coordinates.
    """
    blocks, of = [], []
    missing = np.column_stack([records.missing(name) for name in columns])
    for j, name in enumerate(columns):
        block = _block(records, name)
        there = block[~missing[:, j]]
        if standardise and len(there) > 1:
            spread = float(np.sqrt(there.var(axis=0, ddof=1).sum()))
            block = (block - there.mean(axis=0)) / (spread if spread > 0 else 1.0)
        block[missing[:, j]] = 0.0
        blocks.append(block)
        of += [j] * block.shape[1]
    return Space(tuple(columns), np.column_stack(blocks), np.array(of, dtype=np.int64), missing)


def _block(records: Records, name: str) -> Floats:
    """Return the coordinates of one column."""
    scale = records.scale(name)
    if scale is Scale.CONTINUOUS:
        return np.nan_to_num(records.numbers(name)[:, None])
    categories = records.categories(name)
    count = len(categories.values)
    if scale is Scale.ORDERED:
        return categories.index[:, None] / max(count - 1, 1)
    table = np.eye(count) * np.sqrt(0.5)
    if scale is Scale.TREE:
        table = _above(records.schema.hierarchies[name], [str(value) for value in categories.values])
    return np.concatenate([table, np.zeros((1, table.shape[1]))])[categories.index]


def _above(tree: Hierarchy, values: Sequence[str]) -> Floats:
    """Return indicators of the nodes above each value, scaled so that the longest path has length 1."""
    parents: dict[str, list[str]] = {}
    for parent, parts in tree.splits:
        for part in parts:
            parents.setdefault(part, []).append(parent)
    nodes = {code: i for i, code in enumerate(tree.codes)}
    table = np.zeros((len(values), len(nodes)))
    for i, value in enumerate(values):
        waiting = [value]
        while waiting:
            code = waiting.pop()
            if code in parents:
                table[i, nodes[code]] = 1.0
                waiting += parents[code]
    table = table[:, table.any(axis=0)] if table.any() else np.zeros((len(values), 1))
    scaled: Floats = table / np.sqrt(2 * max(table.sum(axis=1).max(initial=1.0), 1.0))
    return scaled


def check_trees(records: Records, columns: Sequence[str], problems: Problems) -> None:
    """Note every value that the value tree of its column does not know."""
    for name in columns:
        if records.scale(name) is not Scale.TREE:
            continue
        if name not in records.schema.hierarchies:
            problems.add(f"column '{name}' is partially ordered but has no hierarchy in the schema")
            continue
        codes = set(records.schema.hierarchies[name].codes)
        unknown = [str(value) for value in records.categories(name).values if str(value) not in codes]
        if unknown:
            hint = did_you_mean(unknown[0], codes)
            problems.add(f"column '{name}' holds {', '.join(map(repr, unknown[:3]))}, not in its hierarchy{hint}")
