"""Which of many tables are linked, and through what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, did_you_mean
from tabprotect.solver.connected import connected
from tabprotect.table.link.shared import SharedCells, named_tables
from tabprotect.table.table import Table

__all__ = ["Cluster", "cells_by_table", "find_clusters"]

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Cluster:
    """Tables that have to be protected together.

    Attributes
    ----------
    tables : tuple of str
        Their names, in the order given.
    measure : str
        What they all measure.
    dimensions : tuple of str
        All their dimensions.
    links : mapping of (str, str) to int
        Every pair of tables that have cells in common, and how many.
    """

    tables: tuple[str, ...]
    measure: str
    dimensions: tuple[str, ...]
    links: Mapping[tuple[str, str], int]


def find_clusters(
    tables: Sequence[Table] | Mapping[str, Table], *, measure: str | Mapping[str, str] | None = None
) -> tuple[Cluster, ...]:
    """Sort tables into clusters: two tables are linked when they measure the same and have a cell in common.

    What a cell is in common is said in `tabprotect.link`: equal codes in all dimensions, where a dimension that a table
    has not counts as its total. So two tables of one measure without any common dimension are linked by their grand
    total, if it is the same.

    Parameters
    ----------
    tables : sequence of Table, or mapping of str to Table
        Without names they are called 'table1', 'table2', ...
    measure : str or mapping of str to str, optional
        Name of the common value, where the tables call it differently; or the measure of every table whose column is
        called otherwise. Tables of different populations have different measures (turnover of all, of the east).

    Returns
    -------
    tuple of Cluster
        In the order of their first tables; a table without links is a cluster of its own.

    Raises
    ------
    InputError
        If `measure` names a table that is not there, a table has no dimensions, or the total of a dimension is unclear.

    Examples
    --------
    >>> def table(by, codes):
    ...     frame = pd.DataFrame({by: ["Total", *codes], "v": [9.0, 5.0, 4.0]})
    ...     return Table.from_cells(frame, by, "v")
    >>> found = find_clusters({"a": table("a", "12"), "b": table("b", "xy")})
    >>> [(c.tables, c.links) for c in found]
    [(('a', 'b'), {('a', 'b'): 1})]
    """
    named = named_tables(tables, "find_clusters")
    if measure is not None and not isinstance(measure, str | Mapping):
        raise InputError(f"measure must be a name, or one for every table, not {measure!r}")
    measures = {name: measure if isinstance(measure, str) else t.value_name for name, t in named.items()}
    if isinstance(measure, Mapping):
        for name in measure:
            if name not in named:
                raise InputError(f"measure names the table '{name}'{did_you_mean(name, named)}")
        measures |= dict(measure)
    for name, t in named.items():
        if not t.dimensions:
            raise InputError(f"table '{name}' has no dimensions (it is linked already, or built from equations)")
    links: dict[tuple[str, str], int] = {}
    for pair in combinations(named, 2):
        one, two = (named[name] for name in pair)
        if measures[pair[0]] == measures[pair[1]] and one.kind == two.kind:
            shared = SharedCells.of({name: named[name] for name in pair}, dict.fromkeys(pair, ""))
            if common := len(np.intersect1d(shared.cell[0], shared.cell[1])):
                links[pair] = common
    names = list(named)
    ends = np.array([(names.index(a), names.index(b)) for a, b in links], np.int64).reshape(-1, 2)
    label = connected(ends[:, 0], ends[:, 1], len(names))
    found = []
    for which in pd.unique(label):
        mine = tuple(name for name, mark in zip(names, label, strict=True) if mark == which)
        dimensions = dict.fromkeys(str(d.name) for name in mine for d in named[name].dimensions)
        inside = {pair: n for pair, n in links.items() if pair[0] in mine}
        found.append(Cluster(mine, measures[mine[0]], tuple(dimensions), inside))
    return tuple(found)


def cells_by_table(linked: Table) -> dict[str, Ints]:
    """Return the cells of every table in linked tables, ascending.

    Raises
    ------
    InputError
        If the table is not made by `tabprotect.link`.
    """
    if not linked.parts:
        raise InputError("this is one table; link tables first: tabprotect.link({...})")
    names = linked.rows["table"].to_numpy()
    return {name: np.unique(linked.row_cell[names == name]) for name in linked.parts}
