"""Levels of a table: cells that do not overlap, and the sums over the records in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.sums import Limbs
from tabprotect.table.grid import Grid

__all__ = ["Level", "Measures", "Totals", "add_up", "levels_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Measures:
    """How the sums are made, the same for all pieces of one tabulation.

    Parameters
    ----------
    value, shadow, cost, weighted_shadow, weight, size : Limbs
        Grids of the sums of: the weighted value; the shadow variable; the weighted cost; the weighted absolute
        shadow; the weights; the weighted absolute contributions of holders.
    weighted : bool
        There are sampling weights.
    signed : bool
        Some values of the shadow variable are negative.
    top : int
        How many of the largest contributions to keep.
    lightest : float, optional
        The smallest sampling weight above 0.
    """

    value: Limbs
    shadow: Limbs
    cost: Limbs
    weighted_shadow: Limbs
    weight: Limbs
    size: Limbs
    weighted: bool
    signed: bool
    top: int
    lightest: float | None = None

    @property
    def total(self) -> Limbs:
        """Grid of the sums in `Summary.total`."""
        return self.size if self.signed else self.weighted_shadow if self.weighted else self.shadow


@dataclass(frozen=True, eq=False)
class Level:
    """Cells that do not overlap: one choice of a layer in every dimension.

    Parameters
    ----------
    keys : ndarray of int
        Keys in the grid, ascending.
    of_leaf : ndarray of int32
        Position in `keys` of the cell above every leaf cell; ``len(keys)`` where there is none.
    """

    keys: Ints
    of_leaf: npt.NDArray[np.int32]


def levels_of(leaf_cells: Sequence[Ints], grid: Grid) -> list[Level]:
    """Return all levels; every cell of the grid that holds records is in exactly one.

    Parameters
    ----------
    leaf_cells : sequence of ndarray
        For every dimension, the leaf of every leaf cell that holds records.
    grid : Grid
    """
    steps = [
        [(layer, place, int(stride)) for layer in hierarchy.layers]
        for hierarchy, place, stride in zip(grid.hierarchies, grid.cell_code, grid.strides, strict=True)
    ]
    found = []
    for choice in product(*steps):
        key = np.zeros(len(leaf_cells[0]), dtype=np.int64)
        inside = np.ones(len(key), dtype=bool)
        for leaves, (layer, place, stride) in zip(leaf_cells, choice, strict=True):
            code = layer[leaves]
            inside &= code >= 0
            key += place[code] * stride
        keys, position = np.unique(key[inside], return_inverse=True)
        of_leaf = np.full(len(key), len(keys), dtype=np.int32)
        of_leaf[inside] = position
        found.append(Level(keys, of_leaf))
    return found


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over all records of every leaf cell, in limbs: shape (leaf cells, limbs)."""

    value: Floats
    cost: Floats
    total: Floats
    negative: Bools

    def at(self, level: Level) -> Totals:
        """Return the sums of the cells above."""
        n = len(level.keys)
        hit = level.of_leaf[self.negative]
        negative = np.zeros(n + 1, dtype=bool)
        negative[hit] = True
        value, cost, total = (add_up(level.of_leaf, limbs, n) for limbs in (self.value, self.cost, self.total))
        return Totals(value, cost, total, negative[:n])


def add_up(cell: npt.NDArray[Any], limbs: Floats, n: int) -> Floats:
    """Return the sums of limbs over cells 0..n-1, shape (n, limbs); cells beyond are left out."""
    sums = [np.bincount(cell, limbs[:, i], minlength=n)[:n] for i in range(limbs.shape[1])]
    return np.column_stack(sums) if sums else np.zeros((n, 0))
