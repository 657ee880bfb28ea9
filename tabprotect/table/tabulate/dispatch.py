"""Tabulation: from microdata to the cells of a table."""

from __future__ import annotations

from dataclasses import replace
from os import PathLike
from typing import Any, Literal

import duckdb
import narwhals as nw

from tabprotect.errors import InputError, collect
from tabprotect.table.dimension import By
from tabprotect.table.duck import DuckSource, TextFile, set_memory
from tabprotect.table.hierarchy.given import Hierarchies
from tabprotect.table.read import backend_of, need_columns, open_frame
from tabprotect.table.reading import File, Recognised, is_file, open_data
from tabprotect.table.table import Table
from tabprotect.table.tabulate.assembled import table_of
from tabprotect.table.tabulate.checks import check_roles, cost_said
from tabprotect.table.tabulate.duck import tabulate_duckdb
from tabprotect.table.tabulate.lazy import tabulate_lazy
from tabprotect.table.tabulate.memory import tabulate_frame
from tabprotect.table.tabulate.roles import Roles, Tabulated
from tabprotect.table.tabulate.spark import Spark

__all__ = ["tabulate"]


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
    >>> import pandas as pd
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
    return table_of(found, roles, frequency, empty, "file" if recognised else library, recognised)


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
