"""What can be checked before a table is made: the roles of columns, options, and whether the columns are there."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real
from os import PathLike
from typing import Any

import duckdb

from tabprotect.errors import Problems, among, as_bool, collect
from tabprotect.table.dimension import Dimension, dimensions_of
from tabprotect.table.duck import DuckSource, TextFile
from tabprotect.table.kinds import check_kind
from tabprotect.table.read import need_columns, open_frame
from tabprotect.table.reading import File, is_file, open_data

__all__ = ["check_roles", "cost_said"]


def check_roles(
    data: Any,
    by: Any,
    value: Any = None,
    *,
    look: bool = True,
    shadow: Any = None,
    cost: Any = None,
    contributor: Any = None,
    holding: Any = None,
    weight: Any = None,
    request: Any = None,
    waiver: Any = None,
    top: Any = 3,
    kind: Any = None,
    empty: Any = None,
    hierarchies: Any = None,
    decimal: Any = None,
    memory_limit: Any = None,
    both_levels: Any = False,
) -> tuple[Dimension, ...]:
    """Return the dimensions of a table, or raise one error for all that is wrong with its roles; nothing is tabulated.

    Parameters are those of `tabulate`.

    Parameters
    ----------
    look : bool
        Look for the columns in any case; else only where something else is wrong.

    Raises
    ------
    InputError

    Examples
    --------
    >>> import pandas as pd
    >>> check_roles(pd.DataFrame({"region": ["N"]}), "regon", kind="counts")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: 2 problems:
      - kind must be 'magnitude' or 'frequency', not 'counts'
      - no column 'regon'; did you mean 'region'?
    """
    counted = among(kind, ("frequency",)) and value is not None
    with collect() as problems:
        dimensions = dimensions_of(by, hierarchies, problems)
        _check_options(kind, empty, top, decimal, memory_limit, problems)
        if value is None and among(kind, ("magnitude",)):
            problems.add("a magnitude table needs a value column")
        for name, column in (("contributor", contributor), ("holding", holding), ("weight", weight)):
            if counted and column is not None:
                problems.add(f"value='{value}' counts units already, so {name}='{column}' has nothing to refer to")
        if as_bool(both_levels, "both_levels") and holding is None:
            problems.add("rules at the level of holdings need holding=, the column of the group of a contributor")
        if value is None and shadow is not None:
            problems.add(f"shadow='{shadow}' needs a value column: a table of counts has no other variable to look at")
        if look or problems.found:
            codes = [column for dimension in dimensions for column in dimension.columns]
            numbers = value, shadow, cost, weight
            problems.attempt(_check_columns, data, [*codes, contributor, holding, request, waiver], numbers, decimal)
            problems.found = [cost_said(problem, cost) for problem in problems.found]
    return dimensions


def cost_said(problem: str, cost: Any) -> str:
    """Say where a word for the cost of hiding belongs that was given as the column of the cost."""
    if isinstance(cost, str) and cost in ("value", "unit", "count") and f"no column '{cost}'" in problem:
        return f"{problem}; cost= names a column; what hiding costs is said by method=Suppress(cost='{cost}')"
    return problem


def _check_options(kind: Any, empty: Any, top: Any, decimal: Any, memory_limit: Any, problems: Problems) -> None:
    """Note options that are none of those there are."""
    check_kind(kind, problems.add)
    if not among(empty, (None, "zero", "structural", "drop")):
        problems.add(f"empty must be 'zero', 'structural' or 'drop', not {empty!r}")
    if isinstance(top, bool) or not isinstance(top, Real) or top < 0 or top != top // 1:
        problems.add(f"top must be a whole number, 0 or more, not {top!r}")
    if decimal is not None and not isinstance(decimal, str):
        problems.add(f"decimal must be '.' or ',', not {decimal!r}")
    if memory_limit is not None and not isinstance(memory_limit, str):
        problems.add(f"memory_limit must be such as '4GB', not {memory_limit!r}")


def _check_columns(data: Any, codes: Sequence[Any], numbers: Sequence[Any], decimal: Any) -> None:
    """Refuse data without the columns that are named."""
    named, figures = ([name for name in names if isinstance(name, str)] for names in (codes, numbers))
    if is_file(data) and not isinstance(data, TextFile):
        open_data(File.of(data, decimal), named, figures)
        return
    with collect() as problems:
        if isinstance(data, (str, PathLike, duckdb.DuckDBPyRelation)):
            with DuckSource(data) as source:
                need_columns(source.columns, [*named, *figures], problems)
        else:
            need_columns(open_frame(data).collect_schema().names(), [*named, *figures], problems)
