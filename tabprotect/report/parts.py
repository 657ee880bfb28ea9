"""The rows of a table, part by part, in an order that shows nothing but the codes."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.report.axes import Axis
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table

__all__ = ["PART", "Part", "code_columns", "labels_of", "parts_of", "published_parts"]

Ints = npt.NDArray[np.int64]

PART = "table"
"""Column that names the table of every row, where several are linked."""


@dataclass(frozen=True, eq=False)
class Part:
    """One table; linked tables have several.

    Attributes
    ----------
    name : str
        Empty for the only one.
    axes : tuple of Axis
        One for every code column.
    rows : ndarray of int
        Positions in ``table.rows``, in the order of the codes, the first dimension slowest.
    at : tuple of ndarray of int
        For every axis the position of the code of each of these rows.
    """

    name: str
    axes: tuple[Axis, ...]
    rows: Ints
    at: tuple[Ints, ...]


def labels_of(parts: Sequence[Part]) -> dict[str, dict[str, str]]:
    """Return the labels of codes, by dimension; of a code with several the first."""
    labels: dict[str, dict[str, str]] = {}
    for axis in (axis for part in parts for axis in part.axes):
        found = {code: label for code, label in zip(axis.codes, axis.labels, strict=False) if label}
        if found:
            labels[axis.name] = {**found, **labels.get(axis.name, {})}
    return labels


def code_columns(table: Table) -> tuple[str, ...]:
    """Return the columns of ``table.rows`` that tell its rows apart."""
    if table.parts:
        return (PART, *dict.fromkeys(str(d.name) for dimensions in table.parts.values() for d in dimensions))
    named = [str(d.name) for d in table.dimensions] or [str(name) for name in table.system.cells.names]
    return tuple(name for name in dict.fromkeys(named) if name in table.rows.columns) or tuple(table.rows.columns[:1])


def published_parts(table: Table) -> tuple[Part, ...]:
    """Return the parts of a table with the rows that the public gets: none of codes that are not published."""
    return parts_of(table, table.published_rows)


def parts_of(table: Table, only: npt.NDArray[np.bool_] | None = None) -> tuple[Part, ...]:
    """Return the parts of a table, of all of its rows or of some.

    The order of codes is that of their hierarchy. Codes without one are sorted, so that no order of the input, which
    may follow the values, shows.
    """
    kept = np.ones(len(table.rows), bool) if only is None else only
    if not table.parts:
        hierarchies = {str(d.name): d.hierarchy for d in table.dimensions}
        return (_part(table, "", code_columns(table), hierarchies, np.flatnonzero(kept)),)
    which = table.rows[PART].to_numpy()
    return tuple(
        _part(
            table,
            name,
            [str(d.name) for d in dimensions],
            {str(d.name): d.hierarchy for d in dimensions},
            np.flatnonzero((which == name) & kept),
        )
        for name, dimensions in table.parts.items()
    )


def _part(
    table: Table, name: str, columns: Sequence[str], hierarchies: Mapping[str, Hierarchy | None], rows: npt.NDArray[Any]
) -> Part:
    found = [_axis(column, table.rows[column].iloc[rows], hierarchies.get(column)) for column in columns]
    order = np.lexsort([at for _, at in reversed(found)]).astype(np.int64)
    return Part(
        name, tuple(axis for axis, _ in found), rows[order].astype(np.int64), tuple(at[order] for _, at in found)
    )


def _axis(name: str, codes: pd.Series[Any], hierarchy: Hierarchy | None) -> tuple[Axis, Ints]:
    text = codes.astype(str)
    known: Sequence[str] = () if hierarchy is None else hierarchy.codes
    present = set(text.unique())
    order = [code for code in known if code in present] + sorted(present.difference(known))
    children: dict[Hashable, list[str]] = {}
    for parent, parts in () if hierarchy is None else hierarchy.splits:
        children.setdefault(parent, []).extend(parts)
    labels = {} if hierarchy is None else hierarchy.labels
    return Axis.of(name, order, children).labelled(labels), pd.Index(order).get_indexer(pd.Index(text)).astype(np.int64)
