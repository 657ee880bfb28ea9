"""Tables from crosstabs, pivot tables and grouped sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.table.codes import some
from tabprotect.table.dimension import Dimension
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.wide import Wide, is_wide, unfold

__all__ = ["table_of_crosstab", "unfolded_cells"]


def unfolded_cells(
    data: Any, by: Any, value: str, wanted: Sequence[str], hierarchies: Mapping[str, Hierarchy] | None
) -> tuple[Any, Any, Wide | None]:
    """Bring a pandas frame with codes in its index or columns into the form of one row a cell; all else stays.

    Parameters
    ----------
    data : Any
    by : dimensions
    value : str
    wanted : sequence of str
        Columns that are needed besides those of the dimensions; where all are there, the index means nothing.
    hierarchies : mapping of str to Hierarchy, optional

    Returns
    -------
    data, by : Any
    wide : Wide or None
        None where nothing was to be done.
    """
    if not is_wide(data):
        return data, by, None
    names = [by] if isinstance(by, str | Dimension) else list(by)
    columns = {str(name) for one in names for name in (one.columns if isinstance(one, Dimension) else [one])}
    if isinstance(data, pd.DataFrame) and data.columns.nlevels == 1:
        if columns | set(wanted) <= set(map(str, data.columns)):
            return data, by, None
        inside = [name for name in data.columns if str(name) in columns]
        if inside and data.columns.names == [None]:
            # some codes are in the index, some in columns
            data = data.set_index(inside, append=not isinstance(data.index, pd.RangeIndex))
    unfolded = unfold(data, value=value)
    return unfolded.frame, _with_totals(by, unfolded.totals, hierarchies), unfolded.wide


def table_of_crosstab(
    make: Any,
    data: Any,
    value: str | None,
    rows: Sequence[str] | str | None,
    columns: Sequence[str] | str | None,
    total: str | Mapping[str, str] | None,
    hierarchies: Mapping[str, Hierarchy] | None,
    options: Mapping[str, Any],
) -> Any:
    """Build a table from a wide one; see `Table.from_crosstab`."""
    unfolded = unfold(data, rows=rows, columns=columns, value=value, total=total)
    kinds = [str(name) for name in unfolded.frame.columns if name not in unfolded.dimensions]
    if value is not None and value not in kinds:
        raise InputError(f"no values are called '{value}'{did_you_mean(value, kinds)}")
    if value is None and len(kinds) > 1:
        raise InputError(f"which are the values: {some(kinds)}? Name them with value=...")
    by = _with_totals(unfolded.dimensions, unfolded.totals, hierarchies)
    frame = unfolded.frame.copy(deep=False)
    for name, code in unfolded.totals.items():
        tree = (hierarchies or {}).get(name)
        if tree is not None and code not in tree.position:
            frame[name] = frame[name].where(frame[name] != code, tree.total)
    table = make.from_cells(frame, by, value or kinds[0], hierarchies=hierarchies, **options)
    return replace(table, wide=unfolded.wide, backend=unfolded.wide.backend)


def _with_totals(by: Any, totals: Mapping[str, str], hierarchies: Mapping[str, Hierarchy] | None) -> list[Any]:
    """Give dimensions that are only names the code of their margin."""
    names = [by] if isinstance(by, str | Dimension) else list(by)
    known = set(hierarchies or {})
    return [
        Dimension(one, total=totals[one]) if isinstance(one, str) and one in totals and one not in known else one
        for one in names
    ]
