"""What every intruder knows of a hidden cell because of what the publication shows.

This is the one place that says so. `make_problem` writes it into the bounds of the problem, and the audit, the
certificate and the verifier read them there; docs/concepts.md says the same line by line.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.problem import Status
from tabprotect.table.link.clusters import cells_by_table
from tabprotect.table.table import Table

__all__ = ["ONE", "least_hidden", "whole_numbers"]

ONE: Final = 1.0
"""The least count of a cell that is not empty."""

SHOWN: Final = (Status.PROTECTED, Status.ZERO)
"""Statuses of cells that no pattern hides."""


def whole_numbers(table: Table) -> bool:
    """Return whether everybody knows that all values are whole numbers: counts without fractional weights."""
    return table.kind == "frequency" and bool(np.all(table.values == np.rint(table.values)))


def least_hidden(table: Table, status: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """Return the least value that everybody knows a hidden cell to have; -inf where the publication shows nothing.

    A count is at least 1 where an empty cell would be recognised: where no cell of value 0 may be hidden, and
    the publication shows that this is the rule: empty cells are left out or structural zeros (``empty="drop"`` or
    ``"structural"``), or there are zeros, all of them published (status 'z' or 'p'). In a table that merely happens to
    have no zeros, and in which one could have been hidden (``empty="zero"``), nobody knows. Each of linked tables shows
    it by itself, and what one of them shows of a cell is known.

    Weighted counts are at least 1, too, unless weights below 1 show (a value below 1 in a cell that may be hidden). A
    magnitude is not: the contributors of a hidden cell may all have 0. What is not negative, and what users say of
    single cells, is the business of `tabprotect.sensitivity.bounds`.

    Parameters
    ----------
    table : Table
    status : ndarray of int8, shape (cells,)
        A `tabprotect.problem.Status` for every cell.

    Examples
    --------
    >>> import pandas as pd
    >>> from tabprotect.table.tabulate import tabulate
    >>> people = pd.DataFrame({"town": list("aabb"), "age": ["old", "old", "old", "young"]})
    >>> safe = np.zeros(9, np.int8)
    >>> float(least_hidden(tabulate(people, ["town", "age"], empty="zero"), safe).max())
    -inf
    >>> least_hidden(tabulate(people, ["town", "age"], empty="drop"), safe[:8]).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """
    least = np.full(table.n_cells, -np.inf)
    if table.kind != "frequency":
        return least
    hideable = ~np.isin(status, SHOWN)
    for cells, left_out in _parts(table):
        empty, hidden = table.values[cells] == 0, hideable[cells]
        recognised = not np.any(empty & hidden) and (left_out or np.any(empty & ~hidden))
        if recognised and np.all(table.values[cells][hidden] >= ONE):
            least[cells[hidden]] = ONE
    return least


def _parts(table: Table) -> Iterator[tuple[npt.NDArray[np.int64], bool]]:
    """Yield the cells of every table that was linked, and whether its empty cells are left out or marked."""
    if not table.parts:
        yield np.arange(table.n_cells), table.empty_shown
        return
    for name, cells in cells_by_table(table).items():
        yield cells, name in table.empty_shown_in
