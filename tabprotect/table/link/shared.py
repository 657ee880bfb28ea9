"""Which cells of several tables are the same variable."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.errors import InputError, collect
from tabprotect.solver.connected import connected
from tabprotect.table.codes import some
from tabprotect.table.grid import Grid
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table, need_table

__all__ = ["Axis", "SharedCells", "named_tables"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Axis:
    """One dimension of linked tables.

    Parameters
    ----------
    name : str
    codes : tuple of str
        The codes of all tables. The first is the total that stands for the dimension in tables that have it not.
    position : mapping of str to int
        Position of every code; a total under another name has the position of the first.
    """

    name: str
    codes: tuple[str, ...]
    position: Mapping[str, int]

    @classmethod
    def of(cls, name: str, uses: Mapping[str, Hierarchy], without: Sequence[str]) -> Axis:
        """Merge the codes of one dimension.

        Parameters
        ----------
        name : str
        uses : mapping of str to Hierarchy
            The hierarchy in every table that has the dimension.
        without : sequence of str
            Tables that have it not.
        """
        hierarchies = list(uses.values())
        whole = next((h for h in hierarchies if all(_covers(h, g) is not None for g in hierarchies)), None)
        totals = list(dict.fromkeys(h.total for h in hierarchies))
        if whole is None:
            if without and len(totals) > 1:
                raise InputError(
                    f"dimension '{name}' has the totals {some([repr(t) for t in totals])}, and none covers the others, "
                    f"so which one holds for {some([repr(t) for t in without])} is unclear; add the dimension there"
                )
            whole = hierarchies[0]
        same = {h.total for h in hierarchies if _covers(whole, h)} - {whole.total}
        codes = tuple(c for c in dict.fromkeys(c for h in [whole, *hierarchies] for c in h.codes) if c not in same)
        position = {code: i for i, code in enumerate(codes)}
        return cls(name, codes, {**position, **dict.fromkeys(same, 0)})


def _covers(h: Hierarchy, other: Hierarchy) -> bool | None:
    """Return whether the leaves of another hierarchy are all of this one's, or a part; None if not its at all."""
    if h is other:
        return True
    if any(leaf not in h.position for leaf in other.leaves):
        return None
    return bool(h.members[[h.position[leaf] for leaf in other.leaves]].sum(axis=0).all())


@dataclass(frozen=True, eq=False)
class SharedCells:
    """The variables of linked tables.

    Parameters
    ----------
    axes : tuple of Axis
    names : tuple of str
        Names of the tables.
    key : ndarray of int, shape (cells,)
        Position of every variable in the crossing of all axes (of the first of its meanings), ascending.
    cell : tuple of ndarray of int
        For every table, the variable of every one of its cells.
    absent : tuple of ndarray of int
        For every table, the variables that it would show but does not have: it says that they are zero.
    """

    axes: tuple[Axis, ...]
    names: tuple[str, ...]
    key: Ints
    cell: tuple[Ints, ...]
    absent: tuple[Ints, ...]

    @classmethod
    def of(cls, tables: Mapping[str, Table], measures: Mapping[str, str]) -> SharedCells:
        """Find cells with equal meaning: connected through equal codes, or through being one cell of a table.

        Parameters
        ----------
        tables : mapping of str to Table
        measures : mapping of str to str
            What every table measures; cells of different measures are different, and the measure is one more axis.
        """
        different = tuple(dict.fromkeys(measures.values()))
        axes = _axes(tables)
        if len(different) > 1:
            axes = (Axis("measure", different, {name: i for i, name in enumerate(different)}), *axes)
        found = [_keys(t, axes, measures[name]) for name, t in tables.items()]
        keys, which = np.unique(np.concatenate([key for key, _ in found]), return_inverse=True)
        starts = np.cumsum([0, *(t.n_cells for t in tables.values())])
        total = int(starts[-1])
        nodes = np.concatenate([cell + start for (_, cell), start in zip(found, starts[:-1], strict=True)])
        component = connected(nodes, total + which, total + len(keys))
        # number the variables by the first of their keys
        components, first = np.unique(component[total:], return_index=True)
        order = np.argsort(first)
        number = np.empty(len(components), dtype=np.int64)
        number[order] = np.arange(len(components))
        variable = number[np.searchsorted(components, component)]
        cells = tuple(variable[a:b] for a, b in pairwise(starts))
        absent = tuple(
            np.unique(variable[total:][_expected(t, axes, keys, measures[name]) & ~np.isin(keys, key)])
            for (name, t), (key, _) in zip(tables.items(), found, strict=True)
        )
        return cls(axes, tuple(tables), keys[first[order]], cells, absent)

    @property
    def n(self) -> int:
        """Number of variables."""
        return len(self.key)

    def index(self) -> pd.MultiIndex:
        """Return the ids of the variables: codes of all dimensions."""
        codes: list[Any] = list(np.unravel_index(self.key, _shape(self.axes)))
        levels = [list(axis.codes) for axis in self.axes]
        return pd.MultiIndex(
            levels=levels, codes=codes, names=[axis.name for axis in self.axes], verify_integrity=False
        )

    def label(self, cell: int) -> str:
        """Return the codes of a variable in words."""
        numbers = np.unravel_index(self.key[cell], _shape(self.axes))
        return " x ".join(axis.codes[int(i)] for axis, i in zip(self.axes, numbers, strict=True))

    def system(self, systems: Sequence[LinearSystem]) -> LinearSystem:
        """Return all equations over the variables; an equation of several tables is there once."""
        blocks = []
        for system, cell in zip(systems, self.cell, strict=True):
            own = system.A.tocoo()
            shape = (system.n_equations, self.n)
            blocks.append(sparse.csr_array((own.data, (own.coords[0], cell[own.coords[1]])), shape=shape))
        A: sparse.csr_array = sparse.csr_array(sparse.vstack(blocks, format="csr"))
        A.sum_duplicates()
        A.eliminate_zeros()
        b = np.concatenate([system.b for system in systems])
        kept = _different_rows(A, b)
        return LinearSystem(A[kept], b[kept], self.index())


def _shape(axes: Sequence[Axis]) -> tuple[int, ...]:
    return tuple(len(axis.codes) for axis in axes)


def _axes(tables: Mapping[str, Table]) -> tuple[Axis, ...]:
    uses: dict[str, dict[str, Hierarchy]] = {}
    for name, t in tables.items():
        for dimension in t.dimensions:
            uses.setdefault(dimension.name, {})[name] = dimension.known
    axes = []
    with collect() as problems:
        for name, found in uses.items():
            try:
                axes.append(Axis.of(name, found, [table for table in tables if table not in found]))
            except InputError as error:
                problems.add(str(error))
        if prod(_shape(axes)) >= 2**62:
            problems.add("the tables have too many dimensions and codes together to number their cells")
    return tuple(axes)


def _keys(t: Table, axes: Sequence[Axis], measure: str) -> tuple[Ints, Ints]:
    """Return the keys of every cell of a table under all names of its codes, and the cell."""
    cells = t.system.cells
    assert isinstance(cells, pd.MultiIndex)
    grid = Grid(tuple(d.known for d in t.dimensions), tuple(d.name for d in t.dimensions))
    own = grid.key(
        [
            np.array([d.known.position[str(level)] for level in levels], dtype=np.int64)[codes]
            for d, levels, codes in zip(t.dimensions, cells.levels, cells.codes, strict=True)
        ]
    )
    order = np.argsort(own, kind="stable")
    codes, cell = grid.rows(own[order])
    place = {d.name: k for k, d in enumerate(t.dimensions)}
    key = np.zeros(len(cell), dtype=np.int64)
    for axis in axes:
        key *= len(axis.codes)
        if axis.name in place:
            k = place[axis.name]
            key += np.array([axis.position[code] for code in grid.hierarchies[k].codes], dtype=np.int64)[codes[k]]
        elif axis.name == "measure":
            key += axis.position[measure]
    return key, order[cell]


def _expected(t: Table, axes: Sequence[Axis], keys: Ints, measure: str) -> npt.NDArray[np.bool_]:
    """Return which keys a table has, or would have if it were complete."""
    known = {d.name: d.known for d in t.dimensions}
    inside = np.ones(len(keys), dtype=bool)
    for axis, code in zip(axes, np.unravel_index(keys, _shape(axes)), strict=True):
        shown = np.zeros(len(axis.codes), dtype=bool)
        if axis.name in known:
            shown[[axis.position[c] for c in known[axis.name].codes]] = True
        else:
            shown[axis.position[measure] if axis.name == "measure" else 0] = True
        inside &= shown[code]
    return inside


def _different_rows(A: sparse.csr_array, b: Floats) -> Ints:
    """Return the first of every set of equal rows, in order, rows without any cell left out."""
    A.sort_indices()
    lengths = np.diff(A.indptr)
    weights = np.random.default_rng(0).integers(1, 2**62, size=A.shape[1], dtype=np.int64)
    with np.errstate(over="ignore"):
        terms = weights[A.indices] * np.round(A.data * 2**20).astype(np.int64)
    sums = np.zeros(A.shape[0], dtype=np.int64)
    some_cells = np.flatnonzero(lengths)
    sums[some_cells] = np.add.reduceat(terms, A.indptr[:-1][some_cells]) if len(some_cells) else 0
    order = np.lexsort((np.arange(len(sums)), b, lengths, sums))
    new = np.ones(len(order), dtype=bool)
    for values in (sums, lengths, b):
        new[1:] &= values[order][1:] == values[order][:-1]
    new[1:] = ~new[1:]
    new[:1] = True
    leader = np.empty(len(order), dtype=np.int64)
    leader[order] = order[np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))]
    # equal fingerprints are only a hint: a row is left out when it really equals its leader
    same = np.asarray(abs(A - A[leader]).sum(axis=1)).ravel() == 0
    return np.flatnonzero(((leader == np.arange(len(leader))) | ~same) & (lengths > 0))


def named_tables(tables: object, who: str) -> dict[str, Table]:
    """Return the tables by their names."""
    if isinstance(tables, Table) or not isinstance(tables, Iterable):
        kind = type(tables).__name__
        raise InputError(f"{who} needs several tables, a list of Table or a mapping of names to Table, not {kind}")
    named = tables if isinstance(tables, Mapping) else {f"table{i + 1}": t for i, t in enumerate(tables)}
    for table in named.values():
        need_table(table, who)
    return dict(named)
