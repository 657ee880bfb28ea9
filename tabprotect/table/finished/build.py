"""A table from finished cells."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, collect
from tabprotect.table.additivity import Tolerance, check_additivity
from tabprotect.table.contributors import check_counts, largest_contributions
from tabprotect.table.crosstab import unfolded_cells
from tabprotect.table.dimension import dimensions_of
from tabprotect.table.finished.columns import Columns, check_added, check_options, not_added
from tabprotect.table.finished.given import Given, read_given
from tabprotect.table.finished.placed import Placed, place
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.kinds import check_kind, missing_cells
from tabprotect.table.system import LinearSystem
from tabprotect.table.totals import refuse_totals

__all__ = ["table_of_cells"]

T = TypeVar("T")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEVELS = ("lpl", "upl", "spl", "lower", "upper")
"""Columns of numbers that a cell may lack."""


def table_of_cells(
    make: Callable[..., T],
    data: Any,
    by: Any,
    columns: Columns,
    hierarchies: Mapping[str, Hierarchy] | None,
    kind: str | None,
    tolerance: float | None,
    empty: str,
    margins: str,
    decimal: str | None,
) -> T:
    """Build a table, by calling `make` with its parts, from finished cells; see `Table.from_cells`."""
    data, by, wide = unfolded_cells(data, by, columns.value, columns.all, hierarchies)
    with collect() as problems:
        wanted = dimensions_of(by, hierarchies, problems)
        check_kind(kind, problems.add)
        check_options(columns, tolerance, empty, margins, problems)
    computable = margins == "check" and not not_added(columns, kind)
    given = read_given(data, wanted, columns, margins, decimal, computable)
    placed = place(given, columns, margins, empty, computable)
    if margins == "add":
        with collect() as problems:
            check_added(columns, kind, len(placed.extra), problems)
        cells = given.numbers[columns.value][placed.first]
        refuse_totals(wanted, placed.grid, placed.present, cells, _computed)
    values = placed.fill(given.numbers[columns.value])
    values[placed.extra] = placed.sums
    system = LinearSystem.from_grid(placed.grid, placed.keys)
    absent = computable and bool(placed.absent.any())
    residual = check_additivity(system, values, Tolerance(tolerance, values), columns.value, given.decimal, absent)
    count = None if columns.count is None else placed.fill(given.numbers[columns.count])
    if count is None and kind == "frequency":
        count = values.copy()
    weighted = None if columns.weighted_count is None else placed.fill(given.numbers[columns.weighted_count])
    contributions = None
    with collect() as problems:
        check_counts(system, values, count, weighted, tolerance, problems)
        if columns.maxima:
            top, holders, shadow = _largest(given, placed, columns)
            contributions = largest_contributions(system, values, top, count, holders, shadow, tolerance, problems)
    rows, row_cell = _rows(given, placed, columns.value, values)
    return make(
        system=system,
        values=values,
        dimensions=given.dimensions,
        counts=count,
        weighted_counts=weighted,
        contributions=contributions,
        missing=missing_cells(given.dimensions, placed.grid, placed.keys),
        columns=_kept(given, placed, columns, values, empty),
        rows=rows,
        row_cell=row_cell,
        kind=kind or "magnitude",
        value_name=columns.value,
        residual=residual,
        backend=given.backend,
        recognised=given.recognised,
        empty_shown=empty in ("structural", "drop"),
        wide=wide,
    )


def _largest(
    given: Given, placed: Placed, columns: Columns
) -> tuple[Floats, list[tuple[list[str], Ints]], tuple[str, Floats] | None]:
    """Return the largest contributions of every cell, whose they are, and what they are of if not of the values."""
    top = np.nan_to_num(placed.fill(np.column_stack([given.numbers[name] for name in columns.maxima])))
    holders = [(found, placed.fill(index, -1)) for found, index in given.ids]
    if columns.shadow is None or columns.shadow == columns.value:
        return top, holders, None
    return top, holders, (columns.shadow, placed.fill(given.numbers[columns.shadow]))


def _computed(column: str, code: str, below: Sequence[str]) -> str:
    if below:
        return f"computed margins would count them twice; give '{column}' a hierarchy that has these below '{code}'"
    cure = f"Dimension('{column}', total='{code}')"
    return f"computed margins would count everything twice; say that it is the total: {cure}"


def _kept(given: Given, placed: Placed, columns: Columns, values: Floats, empty: str) -> dict[str, npt.NDArray[Any]]:
    """Return the further columns of a table, by what they are for."""
    kept: dict[str, npt.NDArray[Any]] = {
        role: placed.fill(given.numbers[name], np.nan if role in LEVELS else 0)
        for role in ("cost", *LEVELS)
        if (name := getattr(columns, role)) is not None
    }
    status = np.full(placed.n, "", dtype=object) if given.letters is None else placed.fill(given.letters, "")
    if empty == "structural":
        status = np.where(placed.absent, "z", status)
    if (status != "").any():
        kept["status"] = status
    if (values < 0).any():
        kept["negative"] = values < 0
    return kept


def _rows(given: Given, placed: Placed, value: str, values: Floats) -> tuple[pd.DataFrame, Ints]:
    """Return the rows of the user, and below them one for every cell that has none yet."""
    grid, keys, row_cell = placed.grid, placed.keys, placed.row_cell
    if value in grid.names:
        raise InputError(
            f"dimension '{value}' is called like the value column; rename it with Dimension(..., name=...)"
        )
    lacking = np.setdiff1d(np.arange(placed.n), row_cell)
    more = grid.codes_of(lacking if keys is None else keys[lacking])
    rows: dict[str, Any] = {
        name: pd.array(list(h.codes), dtype="str").take(np.concatenate([code, other]))
        for name, h, code, other in zip(grid.names, grid.hierarchies, given.codes, more, strict=True)
    }
    rows[value] = np.concatenate([given.numbers[value], values[lacking]])
    own = [name for name in given.frame.columns if name not in rows]
    others = given.frame.select(own).to_pandas().reset_index(drop=True).reindex(range(len(row_cell) + len(lacking)))
    return pd.concat([pd.DataFrame(rows), others], axis=1), np.concatenate([row_cell, lacking])
