"""The grid of cells over several hierarchies, and its equations by Kronecker products."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.errors import InputError
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["GRID_LIMIT", "Grid"]

Ints = npt.NDArray[np.int64]

GRID_LIMIT = 30_000_000
"""Most cells of a grid that is written out in full; larger ones have to be sparse."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells of a table: the distinct codes of every dimension, crossed.

    A cell is known by its key, the position in the crossing in row-major order (the first dimension varies slowest,
    codes in the order of `Hierarchy.codes`). Codes that are aliases have no cells of their own.

    Parameters
    ----------
    hierarchies : tuple of Hierarchy
    names : tuple of str
    """

    hierarchies: tuple[Hierarchy, ...]
    names: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.hierarchies:
            raise InputError("a table needs at least one dimension")
        if self.size >= 2**62:
            raise InputError(f"{len(self.hierarchies)} dimensions cross to {self.size:.0e} cells, too many to number")

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """Number of distinct codes of every dimension."""
        return tuple(len(h.distinct) for h in self.hierarchies)

    @cached_property
    def full_shape(self) -> tuple[int, ...]:
        """Number of codes of every dimension, aliases included."""
        return tuple(len(h.codes) for h in self.hierarchies)

    @property
    def size(self) -> int:
        """Number of cells of the full grid (a Python int, which cannot overflow)."""
        return prod(self.shape)

    @cached_property
    def strides(self) -> Ints:
        """What one step in every dimension adds to the key."""
        return np.array([prod(self.shape[k + 1 :]) for k in range(len(self.shape))], dtype=np.int64)

    @cached_property
    def cell_code(self) -> tuple[Ints, ...]:
        """For every dimension, the number among the distinct codes of every code (aliases: of their cell)."""
        return tuple(np.searchsorted(h.distinct, h.canonical) for h in self.hierarchies)

    def key(self, codes: Sequence[Ints]) -> Ints:
        """Return the keys of cells given by positions in `Hierarchy.codes`, one array a dimension.

        Examples
        --------
        >>> grid = Grid((Hierarchy.flat(["a", "b"]), Hierarchy.flat(["m", "f"])), ("x", "y"))
        >>> grid.key([np.array([0, 2]), np.array([0, 1])]).tolist()
        [0, 7]
        """
        key = np.zeros(np.broadcast_shapes(*(np.shape(c) for c in codes)), dtype=np.int64)
        for place, stride, code in zip(self.cell_code, self.strides, codes, strict=True):
            key = key + place[code] * stride
        return key

    def codes_of(self, keys: Ints) -> list[Ints]:
        """Return the positions in `Hierarchy.codes` of the cells with these keys, one array a dimension."""
        numbers = np.unravel_index(keys, self.shape)
        return [h.distinct[number] for h, number in zip(self.hierarchies, numbers, strict=True)]

    def index(self, keys: Ints | None = None) -> pd.MultiIndex:
        """Return the ids of cells (all, or those with these keys) as an index of codes."""
        if keys is None:
            self.check_size()
            keys = np.arange(self.size)
        levels = [[h.codes[i] for i in h.distinct] for h in self.hierarchies]
        codes: list[Any] = list(np.unravel_index(keys, self.shape))
        return pd.MultiIndex(levels=levels, codes=codes, names=list(self.names), verify_integrity=False)

    def rows(self, keys: Ints | None = None) -> tuple[list[Ints], Ints]:
        """Return every code combination, aliases included, and its cell.

        Parameters
        ----------
        keys : ndarray of int, optional
            Sorted keys of the cells that there are; all by default.

        Returns
        -------
        codes : list of ndarray
            Positions in `Hierarchy.codes`, one array a dimension.
        cell : ndarray of int
            Position in `keys` (the key itself when all cells are there).
        """
        if keys is None:
            self.check_size(prod(self.full_shape))
            codes = [a.astype(np.int64) for a in np.unravel_index(np.arange(prod(self.full_shape)), self.full_shape)]
            return codes, self.key(codes)
        cell = np.arange(len(keys))
        codes = self.codes_of(keys)
        for k, h in enumerate(self.hierarchies):
            # every cell once per code that is an alias of its code
            order = np.argsort(h.canonical, kind="stable")
            starts = np.searchsorted(h.canonical[order], codes[k])
            times = np.searchsorted(h.canonical[order], codes[k], side="right") - starts
            repeat = np.repeat(np.arange(len(cell)), times)
            within = np.arange(len(repeat)) - np.repeat(np.cumsum(times) - times, times)
            cell = cell[repeat]
            codes = [c[repeat] for c in codes]
            codes[k] = order[starts[repeat] + within]
        final = np.lexsort(codes[::-1])
        return [c[final] for c in codes], cell[final]

    def check_size(self, size: int | None = None) -> None:
        """Refuse to write out a grid beyond `GRID_LIMIT`."""
        size = self.size if size is None else size
        if size > GRID_LIMIT:
            raise InputError(
                f"the grid has {size:,} cells ({' x '.join(map(str, self.shape))}), more than {GRID_LIMIT:,}; "
                "keep only the cells that hold records (empty='drop')"
            )

    def equations(self, keys: Ints | None = None) -> sparse.csr_array:
        """Return A of A y = 0 over all cells, or over the cells that there are.

        For every dimension k the equations are I x ... x H_k x ... x I (Kronecker products), with H_k the equations
        of its hierarchy. Cells that are not there are constants, zero; equations without any cell are left out.
        """
        blocks = [self._block(k) if keys is None else self._sparse_block(k, keys) for k in range(len(self.shape))]
        return sparse.csr_array(sparse.vstack(blocks, format="csr"))

    def _equations_of(self, k: int) -> sparse.csr_array:
        hierarchy = self.hierarchies[k]
        return sparse.csr_array(hierarchy.equations.tocsc()[:, hierarchy.distinct].tocsr())

    def _block(self, k: int) -> sparse.csr_array:
        self.check_size()
        before, after = prod(self.shape[:k]), prod(self.shape[k + 1 :])
        inner = sparse.kron(self._equations_of(k), sparse.eye_array(after, format="csr"), format="csr")
        return sparse.csr_array(sparse.kron(sparse.eye_array(before, format="csr"), inner, format="csr"))

    def _sparse_block(self, k: int, keys: Ints) -> sparse.csr_array:
        H = self._equations_of(k).tocsc()
        stride, n = int(self.strides[k]), self.shape[k]
        code = (keys // stride) % n
        times = np.diff(H.indptr)[code]
        cell = np.repeat(np.arange(len(keys)), times)
        entry = np.repeat(H.indptr[code].astype(np.int64) - (np.cumsum(times) - times), times) + np.arange(len(cell))
        row = (keys[cell] // (stride * n) * H.shape[0] + H.indices[entry]) * stride + keys[cell] % stride
        rows, row = np.unique(row, return_inverse=True)
        return sparse.csr_array((H.data[entry], (row, cell)), shape=(len(rows), len(keys)))
