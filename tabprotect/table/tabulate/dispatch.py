"""Tabulation: from microdata to the cells of a table."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import duckdb
import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, collect
from tabprotect.table.dimension import By
from tabprotect.table.duck import DuckSource, TextFile, set_memory
from tabprotect.table.grid import Grid
from tabprotect.table.hierarchy.given import Hierarchies
from tabprotect.table.kinds import missing_cells
from tabprotect.table.read import backend_of, need_columns, open_frame
from tabprotect.table.reading import File, Recognised, is_file, open_data
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Contributions, Table
from tabprotect.table.tabulate.checks import check_roles, cost_said
from tabprotect.table.tabulate.duck import tabulate_duckdb
from tabprotect.table.tabulate.lazy import tabulate_lazy
from tabprotect.table.tabulate.memory import tabulate_frame
from tabprotect.table.tabulate.ranking import NO_REQUEST
from tabprotect.table.tabulate.roles import Roles, Tabulated
from tabprotect.table.tabulate.spark import Spark
from tabprotect.table.totals import refuse_totals

__all__ = ["tabulate"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def tabulate(
    data: Any,
    by: By,
    value: str | None = None,
    *,
    shadow: str | None = None,
    cost: str | None = None,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    request: str | None = None,
    waiver: str | None = None,
    top: int = 3,
    kind: Literal["magnitude", "frequency"] | None = None,
    empty: Literal["zero", "structural", "drop"] | None = None,
    hierarchies: Hierarchies | None = None,
    decimal: str | None = None,
    memory_limit: str | None = None,
    both_levels: bool = False,
) -> Table:
    """Tabulate microdata: all cells over all codes, with what primary rules need to know of each.

    The same table comes out of every kind of data, bit for bit, whatever the order of the additions.

    Parameters
    ----------
    data : data frame, DuckDB relation, path or File
        pandas, polars (also lazy), pyarrow; or a file of any usual kind (``*`` reads several): separator, decimal sign,
        encoding and packing of text are recognised, and said in ``table.recognised``; a `tabprotect.File` says what is
        known. Relations, Parquet and large text files are tabulated by DuckDB, out of core. Codes in text files are
        text, as written. PySpark frames are tabulated in their cluster; only what is of the size of the table comes
        here.
    by : sequence of str, Dimension, or sequence of str; or mapping
        The dimensions: a column, a `Dimension` with its hierarchy, or nested columns such as
        ``("section", "division")``. Or columns with their hierarchies, ``{"region": "region.hrc", "size": None}``: each
        a `Hierarchy`, the path of an indented code list (.hrc), the codes below a total, or None for those in the data.
    value : str, optional
        The variable that is added up. Without it records are counted (a frequency table).
    shadow : str, optional
        The variable whose contributions rules look at, by default `value`.
    cost : str, optional
        The variable that suppression is charged in; its weighted sum becomes the column ``cost``.
    contributor : str, optional
        Who the record belongs to. Several records of one contributor in a cell are one contribution. Without it
        every record is a contributor of its own.
    holding : str, optional
        The group of a contributor. Contributions of all members in a cell are one contribution. Contributors
        without a holding stand for themselves.
    weight : str, optional
        Sampling weights (>= 0): a record of weight w counts as w contributors of its value. A holder whose records
        in a cell have different weights gets their mean, weighted by the contributions.
    request : str, optional
        Request codes: 0 or missing for none, 1 or 2. Of a holding with several, the smallest that is not 0.
    waiver : str, optional
        True where the contributor consents to publication. A holding has consented when all of its records say so.
    top : int
        How many of the largest contributions to keep per cell; 0 for none.
    kind : {'magnitude', 'frequency'}, optional
        'frequency' when `value` is left out. With a `value`, 'frequency' says that this column counts units (data that
        are counted already); then there are no contributions.
    empty : {'zero', 'structural', 'drop'}, optional
        What cells without any record are. 'structural': everybody knows that they are zero; they can be neither
        sensitive nor suppressed (status 'z'). This is what tau-ARGUS and sdcTable do, and the default for magnitude
        tables, where everybody can see that no enterprise is there. 'zero': a zero like any other, which an intruder
        does not know; the default for frequency tables. 'drop': as structural, and they are left out of the table,
        which keeps sparse tables small. Cells whose records add up to zero are ordinary cells in any case.
    hierarchies : mapping of str to Hierarchy, path or sequence of str, optional
        Hierarchies by name of the dimension, for entries of `by` that are only names; as in a mapping `by`.
    decimal : str, optional
        Decimal sign of numbers that come as text; recognised in files, else '.'.
    memory_limit : str, optional
        How much memory DuckDB may take, such as '4GB'.
    both_levels : bool
        Rules look at individual contributors and at holdings: counts and contributions of the table are those of
        contributors, and those of holdings are in `Table.holdings`. The data are read twice.

    Returns
    -------
    Table
        Cells over the distinct codes of all dimensions, the first dimension varying slowest, totals first. Its
        ``rows`` list every code, also those that are the same cell as another.

    Raises
    ------
    InputError
        One error with everything that is wrong with the data.

    Notes
    -----
    The largest contributions are sorted by absolute size; ties go to the holder who appears first in the data. The
    absolute value is taken after adding up the records of a holder in the cell.

    Examples
    --------
    >>> data = pd.DataFrame({"region": ["N", "N", "S"], "size": ["1", "2", "1"], "turnover": [20.0, 5.0, 7.0]})
    >>> table = tabulate(data, ["region", "size"], "turnover")
    >>> table.rows.head(4)
      region   size  turnover
    0  Total  Total      32.0
    1  Total      1      27.0
    2  Total      2       5.0
    3      N  Total      25.0
    >>> table.contributions.values[0].tolist()
    [20.0, 7.0, 5.0]
    """
    dimensions = check_roles(
        data, by, value, look=False, shadow=shadow, cost=cost, contributor=contributor, holding=holding, weight=weight,
        request=request, waiver=waiver, top=top, kind=kind, empty=empty, hierarchies=hierarchies, decimal=decimal,
        memory_limit=memory_limit, both_levels=both_levels,
    )  # fmt: skip
    counted = kind == "frequency" and value is not None
    if both_levels:
        given: dict[str, Any] = {
            "shadow": shadow, "cost": cost, "contributor": contributor, "weight": weight, "request": request,
            "waiver": waiver, "top": top, "kind": kind, "empty": empty, "decimal": decimal,
            "memory_limit": memory_limit,
        }  # fmt: skip
        table, held = (tabulate(data, dimensions, value, holding=one, **given) for one in (None, holding))
        return replace(table, holdings=held, roles=held.roles)
    frequency = value is None or kind == "frequency"
    roles = Roles(
        dimensions,
        value,
        shadow,
        cost,
        contributor,
        holding,
        weight,
        request,
        waiver,
        0 if counted else top,
        decimal or ".",
        counted,
    )
    if memory_limit is not None:
        with duckdb.connect() as connection:
            set_memory(connection, memory_limit)
    try:
        data, roles, recognised = _opened(data, roles, decimal)
        found, library = _tabulated(data, roles, memory_limit)
    except InputError as error:
        raise InputError(*(cost_said(problem, cost) for problem in error.problems)) from error
    return _table(found, roles, frequency, empty, "file" if recognised else library, recognised)


def _opened(data: Any, roles: Roles, decimal: str | None) -> tuple[Any, Roles, tuple[Recognised, ...]]:
    """Open data that are a file; return what was recognised in it, too."""
    if not is_file(data) or isinstance(data, TextFile):
        return data, roles, ()
    codes = [name for name in roles.columns if name not in roles.numbers]
    opened = open_data(File.of(data, decimal), codes, roles.numbers)
    return opened.source, replace(roles, decimal=opened.decimal), (opened.recognised,)


def _tabulated(data: Any, roles: Roles, memory_limit: str | None) -> tuple[Tabulated, str]:
    """Tabulate in the engine of the data, and name their library."""
    if isinstance(data, (str, PathLike, duckdb.DuckDBPyRelation)):
        with DuckSource(data, memory_limit) as source:
            with collect() as problems:
                need_columns(source.columns, roles.columns, problems)
            return tabulate_duckdb(source, roles), "duckdb" if isinstance(data, duckdb.DuckDBPyRelation) else "file"
    frame = open_frame(data)
    with collect() as problems:
        need_columns(frame.collect_schema().names(), roles.columns, problems)
    if frame.implementation.is_pyspark() or frame.implementation.is_pyspark_connect():
        with Spark(frame.lazy()) as place:
            return tabulate_lazy(frame.lazy(), roles, place), "spark"
    chosen = frame.select(*roles.columns)
    found = tabulate_frame(chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen, roles)
    return found, backend_of(frame)


def _table(
    found: Tabulated, roles: Roles, frequency: bool, empty: str | None, backend: str, recognised: tuple[Recognised, ...]
) -> Table:
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
    if roles.value is not None:
        refuse_totals(roles.by, grid, s.key, measures.value.join(s.value), _twice)
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


def _twice(column: str, code: str) -> str:
    return (
        "rows of totals would be counted twice; take them out, or, if these are cells of a finished table, give "
        f"them to Table.from_cells with Dimension('{column}', total='{code}')"
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
