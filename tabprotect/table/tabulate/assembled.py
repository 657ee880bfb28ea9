"""The table of what was tabulated: cells, rows and contributions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.table.grid import Grid
from tabprotect.table.kinds import missing_cells
from tabprotect.table.reading import Recognised
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Contributions, Table
from tabprotect.table.tabulate.ranking import NO_REQUEST
from tabprotect.table.tabulate.roles import Roles, Tabulated
from tabprotect.table.totals import refuse_totals

__all__ = ["table_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def table_of(
    found: Tabulated, roles: Roles, frequency: bool, empty: str | None, backend: str, recognised: tuple[Recognised, ...]
) -> Table:
    """Return the table of what was tabulated.

    Parameters
    ----------
    found : Tabulated
    roles : Roles
    frequency : bool
    empty : str, optional
        What cells without records are; see `tabprotect.tabulate`.
    backend : str
        The library of the data.
    recognised : tuple of Recognised

    Raises
    ------
    InputError
        If codes are totals of others, or a dimension has the name of the value.
    """
    grid, s, measures = found.grid, found.summary, found.measures
    empty = empty or ("zero" if frequency else "structural")
    keys = s.key if empty == "drop" else None
    if keys is None:
        grid.check_size()
    n = grid.size if keys is None else len(keys)
    at = s.key if keys is None else np.arange(n)

    def fill(there: npt.NDArray[Any]) -> npt.NDArray[Any]:
        full = np.zeros((n, *there.shape[1:]), dtype=there.dtype)
        full[at] = there
        return full

    values = fill(measures.value.join(s.value))
    counts = values.copy() if roles.counts else fill(s.count.astype(np.float64))
    counted = roles.value is None
    given = s.count.astype(np.float64) if counted else measures.value.join(s.value)
    refuse_totals(roles.by, grid, s.key, given, _twice, counted)
    columns: dict[str, npt.NDArray[Any]] = {}
    if roles.cost is not None:
        columns["cost"] = fill(measures.cost.join(s.cost))
    if s.negative.any():
        columns["negative"] = fill(s.negative)
    if empty == "structural" and len(at) < n:
        status = np.full(n, "z", dtype=object)
        status[at] = ""
        columns["status"] = status
    system = LinearSystem.from_grid(grid, keys)
    name = roles.value or "count"
    rows, row_cell = _rows(grid, keys, name, values)
    return Table(
        system=system,
        values=values,
        dimensions=found.dimensions,
        counts=counts,
        weighted_counts=fill(measures.weight.join(s.weight)) if measures.weighted else None,
        contributions=_contributions(found, roles, at, fill) if roles.top else None,
        missing=missing_cells(found.dimensions, grid, keys),
        columns=columns,
        rows=rows,
        row_cell=row_cell,
        kind="frequency" if frequency else "magnitude",
        value_name=name,
        residual=float(np.abs(system.residuals(values)).max(initial=0.0)),
        backend=backend,
        recognised=recognised,
        empty_shown=empty != "zero",
        roles=roles.named,
    )


def _twice(column: str, code: str, below: Sequence[str]) -> str:
    how = (
        f"a hierarchy of '{column}' that has these below '{code}'"
        if below
        else f"Dimension('{column}', total='{code}')"
    )
    return (
        "rows of totals would be counted twice; take them out, or, if these are cells of a finished table, give "
        f"them to Table.from_cells with {how}"
    )


def _rows(grid: Grid, keys: Ints | None, name: str, values: Floats) -> tuple[pd.DataFrame, Ints]:
    if name in grid.names:
        raise InputError(f"dimension '{name}' is called like the value column; rename it with Dimension(..., name=...)")
    codes, row_cell = grid.rows(keys)
    columns: dict[str, Any] = {
        dimension: pd.array(list(h.codes), dtype="str").take(code)
        for dimension, h, code in zip(grid.names, grid.hierarchies, codes, strict=True)
    }
    return pd.DataFrame({**columns, name: values[row_cell]}), row_cell


def _contributions(found: Tabulated, roles: Roles, at: Ints, fill: Any) -> Contributions:
    s, best = found.summary, found.summary.best
    names, who = np.unique(best.holder, return_inverse=True)
    rank = np.arange(len(best.cell)) - np.searchsorted(best.cell, best.cell)
    kept = rank < roles.top
    place = at[best.cell[kept]], rank[kept]
    n = len(fill(s.count))

    def spread(array: npt.NDArray[Any], padding: Any = 0) -> npt.NDArray[Any]:
        wide = np.full((n, roles.top), padding, dtype=array.dtype)
        wide[place] = array[kept]
        return wide

    # the first candidate without waiver; candidates are sorted by cell, then size
    free = np.flatnonzero(~best.waived)
    cell, first = np.unique(best.cell[free], return_index=True)
    unwaived, unwaived_holder = np.zeros(n), np.full(n, -1, dtype=np.int64)
    unwaived[at[cell]] = best.size[free[first]]
    unwaived_holder[at[cell]] = who[free[first]]
    return Contributions(
        total=fill(found.measures.total.join(s.total)),
        values=spread(best.size),
        weights=spread(best.weight),
        holders=spread(who, -1),
        waived=spread(best.waived),
        requested=spread(np.where(best.requested == NO_REQUEST, 0, best.requested).astype(np.int8)),
        unwaived=unwaived,
        unwaived_holder=unwaived_holder,
        names=np.array(found.name_holders(names), dtype=object),
        shadow=roles.shadow if roles.shadow != roles.value else None,
        lightest=found.measures.lightest,
    )
