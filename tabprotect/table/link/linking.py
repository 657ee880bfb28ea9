"""Linked tables: tables that share cells become one system."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.table.additivity import beyond_noise
from tabprotect.table.codes import some
from tabprotect.table.link.agreement import Agreement
from tabprotect.table.link.groupings import without_codes
from tabprotect.table.link.shared import SharedCells, named_tables
from tabprotect.table.table import Table

__all__ = ["link"]


def link(
    tables: Sequence[Table] | Mapping[str, Table],
    *,
    measure: str | Mapping[str, str] | None = None,
    tolerance: float | None = None,
    unpublished: Mapping[str, Iterable[Any]] | None = None,
) -> Table:
    """Make one system of tables that share cells.

    Two cells are the same variable when they have the same codes in all dimensions. A dimension that a table has not
    counts as the total of that dimension, so a table by A and B shares with one by A and C the cells with B = total and
    C = total. Cells that are equal within one table (a code with one part) stay equal.

    Parameters
    ----------
    tables : sequence of Table, or mapping of str to Table
        Dimensions are matched by name, and codes as text. Without names the tables are called 'table1', 'table2', ...
    measure : str or mapping of str to str, optional
        Name of the common value, where the tables call it differently. Or the measure of every table, by the name of
        the table: those of different measures share no cells (the measure is then one more dimension).
    tolerance : float, optional
        How far numbers of one cell may differ between tables because they are rounded, in the unit of the values; by
        default only noise of floating-point arithmetic is accepted. The first table wins.
    unpublished : mapping of str to codes, optional
        Codes, by dimension, whose cells nobody publishes: they are hidden whatever it costs. Where tables group the
        same codes differently, these codes below all groups tie the tables together, so that what differences between
        the groups tell is audited, too.

    Returns
    -------
    Table
        Cells over all dimensions; ``rows`` are those of all tables, with their name in the column ``table``; the
        dimensions of each are in ``parts``.

    Raises
    ------
    InputError
        Names the cells in which tables disagree, and the differences.

    Examples
    --------
    >>> ab = pd.DataFrame({"a": ["Total", "1", "2"], "v": [9.0, 5.0, 4.0]})
    >>> ac = pd.DataFrame({"c": ["Total", "x", "y"], "v": [9.0, 2.0, 7.0]})
    >>> both = link({"by a": Table.from_cells(ab, "a", "v"), "by c": Table.from_cells(ac, "c", "v")})
    >>> both.system.cells.tolist()
    [('Total', 'Total'), ('Total', 'x'), ('Total', 'y'), ('1', 'Total'), ('2', 'Total')]
    >>> both.row_cell.tolist()
    [0, 3, 4, 0, 1, 2]
    """
    named = named_tables(tables, "link")
    with collect() as problems:
        measures = _measures(named, measure, problems)
        _check(named, measures, problems)
    names = {t.value_name for t in named.values()} if isinstance(measure, Mapping) else set(measures.values())
    name = names.pop() if len(names) == 1 else "value"
    shared = SharedCells.of(named, measures)
    given = list(named.values())
    with collect() as problems:
        merge = Agreement(shared, problems, tolerance)
        values = merge.numbers("value", [t.values for t in given])
        assert values is not None
        counts = merge.numbers("count", [t.counts for t in given])
        weighted = merge.numbers("weighted count", [t.weighted_counts for t in given])
        columns = {
            column: merge.column(column, [t.columns.get(column) for t in given])
            for column in dict.fromkeys(column for t in given for column in t.columns)
        }
        merge.mark_absent(values, columns)
        contributions = merge.contributions([t.contributions for t in given])
        missing = merge.column("missing", [t.missing for t in given])
    system = shared.system([t.system for t in given])
    held = {table: t.holdings for table, t in named.items() if t.holdings is not None}
    if held and len(held) < len(named):
        raise InputError(f"the contributions of holdings are in {some(list(held))} only; give them for all tables")
    linked = Table(
        system=system,
        values=values,
        counts=counts,
        weighted_counts=weighted,
        contributions=contributions,
        missing=missing if any(t.missing is not None for t in given) else None,
        columns=columns,
        rows=_rows(named, name),
        row_cell=np.concatenate([cell[t.row_cell] for t, cell in zip(given, shared.cell, strict=True)]),
        kind=given[0].kind,
        value_name=name,
        residual=beyond_noise(system, values, system.residuals(values)),
        backend=given[0].backend,
        parts={key: t.dimensions for key, t in named.items()},
        empty_shown=all(t.empty_shown for t in given),
        empty_shown_in=frozenset(key for key, t in named.items() if t.empty_shown),
        roles={role: name for role, name in given[0].roles.items() if all(t.roles.get(role) == name for t in given)},
        recognised=tuple(dict.fromkeys(one for t in given for one in t.recognised)),
        holdings=link(held, measure=measure, tolerance=tolerance) if held else None,
    )
    return linked if unpublished is None else without_codes(linked, unpublished)


def _measures(
    tables: Mapping[str, Table], measure: str | Mapping[str, str] | None, problems: Problems
) -> dict[str, str]:
    """Return what every table measures."""
    if not tables:
        raise InputError("nothing to link: give at least one table")
    if isinstance(measure, str):
        return dict.fromkeys(tables, measure)
    names = {table: t.value_name for table, t in tables.items()}
    if isinstance(measure, Mapping):
        for table in measure:
            if table not in tables:
                problems.add(f"measure names the table '{table}'{did_you_mean(table, tables)}")
        return {**names, **{table: name for table, name in measure.items() if table in tables}}
    if measure is not None:
        problems.add(f"measure must be a name, or one for every table, not {measure!r}")
    different = list(dict.fromkeys(names.values()))
    if len(different) > 1:
        problems.add(
            f"the tables have different measures: {some([repr(n) for n in different])}; pass measure='name' if they "
            "are one and the same, or say what each of them measures: measure={'table': 'name', ...}"
        )
    return names


def _check(tables: Mapping[str, Table], measures: Mapping[str, str], problems: Problems) -> None:
    for name, t in tables.items():
        if not t.dimensions:
            problems.add(f"table '{name}' has no dimensions (it is linked already, or built from equations)")
        if "table" in t.rows.columns:
            problems.add(f"table '{name}' has a column 'table', which linked tables need for the name of the table")
    if len({t.kind for t in tables.values()}) > 1:
        problems.add("magnitude and frequency tables cannot be linked: their cells mean different things")
    if len(set(measures.values())) > 1 and any(d.name == "measure" for t in tables.values() for d in t.dimensions):
        problems.add("a dimension is called 'measure', which linked tables of several measures need; rename it")


def _rows(tables: Mapping[str, Table], name: str) -> pd.DataFrame:
    """Return the rows of all tables: the columns of codes, the value, and whatever else they have."""
    parts = []
    for table, t in tables.items():
        rows = t.rows.rename(columns={t.value_name: name})
        rows.insert(0, "table", [table] * len(rows))
        parts.append(rows)
    rows = pd.concat(parts, ignore_index=True)
    codes = dict.fromkeys(str(dimension.name) for t in tables.values() for dimension in t.dimensions)
    first = [column for column in ("table", *codes, name) if column in rows]
    return rows[[*first, *(column for column in rows if column not in first)]]
