"""Cells of an a-priori file, where an empty code is the total, and the level of each cell's code."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table

__all__ = ["CellFinder", "code_levels"]

Ints = npt.NDArray[np.int64]


class CellFinder:
    """Cells by a code for every dimension; an empty code is the total.

    Parameters
    ----------
    table : Table
    """

    def __init__(self, table: Table) -> None:
        cells = table.system.cells
        self.names: list[str] = [str(d.name) for d in table.dimensions] or [str(n) for n in cells.names]
        totals = [getattr(getattr(d, "hierarchy", None), "total", None) for d in table.dimensions]
        self._totals = totals or [None] * len(self.names)
        if table.dimensions and set(self.names) <= set(table.rows.columns):
            frame, where = table.rows[self.names].astype(str), table.row_cell
        else:
            frame, where = cells.to_frame(index=False).astype(str), np.arange(table.n_cells)
        self._codes = [set(frame.iloc[:, k]) for k in range(frame.shape[1])]
        self._cell = dict(zip(frame.itertuples(index=False, name=None), where.tolist(), strict=True))

    @property
    def width(self) -> int:
        """Number of codes that name a cell."""
        return len(self._codes)

    def find(self, codes: list[str]) -> int | str:
        """Return the position of a cell, or what is wrong with its codes."""
        full = tuple(
            str(total) if code == "" and total is not None else code
            for code, total in zip(codes, self._totals, strict=True)
        )
        if full in self._cell:
            return int(self._cell[full])
        for code, known, name in zip(full, self._codes, self.names, strict=True):
            if code not in known:
                return f"code '{code}' is not in {name}{did_you_mean(code, sorted(known))}"
        return f"the table has no cell {' x '.join(full)}"


def code_levels(table: Table, name: str) -> Ints:
    """Return the level of every cell's code in one dimension: 0 for the total, 1 for its parts, ...

    In linked tables levels are those of each table, and a table without the dimension has its total. A code that
    tables have at different levels counts as at the lowest one, which is the largest number.

    Raises
    ------
    InputError
        If there is no such dimension, or it has no hierarchy.
    """
    if table.parts:
        return _levels_in_tables(table, name)
    dimension = next((d for d in table.dimensions if d.name == name), None)
    if dimension is None or dimension.hierarchy is None:
        names = [d.name for d in table.dimensions]
        raise InputError(f"preferences: the table has no dimension '{name}'{did_you_mean(name, names)}")
    hierarchy = dimension.hierarchy
    cells = table.system.cells
    if isinstance(cells, pd.MultiIndex) and name in cells.names:
        codes = cells.get_level_values(name)
    else:
        first = np.full(table.n_cells, -1, np.int64)
        first[table.row_cell[::-1]] = np.arange(len(table.row_cell))[::-1]
        codes = pd.Index(table.rows[name].to_numpy()[first])
    return _levels_of(codes, hierarchy)


def _levels_in_tables(table: Table, name: str) -> Ints:
    found = {
        which: dimension.hierarchy
        for which, dimensions in table.parts.items()
        for dimension in dimensions
        if dimension.name == name and dimension.hierarchy is not None
    }
    if not found:
        names = list(dict.fromkeys(str(d.name) for dimensions in table.parts.values() for d in dimensions))
        raise InputError(f"preferences: no linked table has a dimension '{name}'{did_you_mean(name, names)}")
    level, tables = np.zeros(table.n_cells, np.int64), table.rows["table"].to_numpy()
    for which, hierarchy in found.items():
        mine = np.flatnonzero(tables == which)
        codes = pd.Index(table.rows[name].to_numpy()[mine])
        np.maximum.at(level, table.row_cell[mine], _levels_of(codes, hierarchy))
    return level


def _levels_of(codes: pd.Index, hierarchy: Hierarchy) -> Ints:
    known, labels = pd.factorize(codes)
    level = np.array([hierarchy.levels[hierarchy.position[str(code)]] for code in labels], dtype=np.int64)
    return np.asarray(level[known])
