"""The part of a table that is left over fewer codes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.errors import InputError
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table

__all__ = ["codes_of_cells", "without_cells"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


def codes_of_cells(table: Table, dimension: Dimension, d: int) -> Ints:
    """Return the canonical position of the code of every cell."""
    hierarchy = dimension.hierarchy
    assert hierarchy is not None
    cells = table.system.cells
    if not isinstance(cells, pd.MultiIndex) or cells.nlevels != len(table.dimensions):
        raise InputError("recoding needs the cells of one table, known by a code for every dimension")
    labels, codes = pd.factorize(cells.get_level_values(d))
    return hierarchy.canonical[np.array([hierarchy.position[str(code)] for code in codes], np.int64)][labels]


def without_cells(table: Table, removed: Bools, hierarchies: Mapping[str, Hierarchy]) -> Table:
    """Return the part of a table that is left."""
    kept = ~removed
    inside = np.asarray(abs(table.system.A) @ removed.astype(np.float64)) == 0
    A = sparse.csr_array(table.system.A.tocsc()[:, kept].tocsr()[inside])
    cells = table.system.cells[kept]
    system = LinearSystem(
        A, table.system.b[inside], cells.remove_unused_levels() if isinstance(cells, pd.MultiIndex) else cells
    )
    place = np.cumsum(kept) - 1
    rows = kept[table.row_cell]

    def part(array: Any) -> Any:
        return None if array is None else array[kept]

    c = table.contributions
    if c is not None:
        per_cell = ("total", "values", "weights", "holders", "waived", "requested", "unwaived", "unwaived_holder")
        c = replace(c, **{name: getattr(c, name)[kept] for name in per_cell})
    return replace(
        table,
        system=system,
        values=table.values[kept],
        dimensions=tuple(replace(d, hierarchy=hierarchies[d.name], total=None) for d in table.dimensions),
        counts=part(table.counts),
        weighted_counts=part(table.weighted_counts),
        contributions=c,
        missing=part(table.missing),
        columns={name: column[kept] for name, column in table.columns.items()},
        rows=table.rows[rows].reset_index(drop=True),
        row_cell=place[table.row_cell[rows]],
        holdings=None if table.holdings is None else without_cells(table.holdings, removed, hierarchies),
        unpublished=None if table.unpublished is None else table.unpublished[rows],
    )
