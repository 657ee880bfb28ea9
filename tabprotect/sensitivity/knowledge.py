"""What every intruder knows of a hidden cell because of what the publication shows.

This is the one place that says so. `make_problem` writes it into the bounds of the problem, and the audit, the
certificate and the verifier read them there; docs/concepts.md says the same line by line.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.problem import Status
from tabprotect.table.table import Table

__all__ = ["ONE", "empty_cells_are_shown", "least_hidden", "whole_numbers"]

ONE: Final = 1.0
"""The least count of a cell that is not empty."""

SHOWN: Final = (Status.PROTECTED, Status.ZERO)
"""Statuses of cells that no pattern hides."""


def whole_numbers(table: Table) -> bool:
    """Return whether everybody knows that all values are whole numbers: counts without fractional weights."""
    return table.kind == "frequency" and bool(np.all(table.values == np.rint(table.values)))


def empty_cells_are_shown(table: Table, status: npt.NDArray[np.int8]) -> bool:
    """Return whether an empty cell would be recognised, so that whatever is hidden is not empty.

    That is so where no cell of value 0 may be hidden, and the publication shows that this is the rule: empty cells are
    left out or structural zeros (``empty="drop"`` or ``"structural"``), or there are zeros, all of them published
    (status 'z' or 'p'). In a table that merely happens to have no zeros, and in which one could have been hidden
    (``empty="zero"``), nobody knows.

    Parameters
    ----------
    table : Table
    status : ndarray of int8, shape (cells,)
        A `tabprotect.problem.Status` for every cell.
    """
    shown = np.isin(status, SHOWN)
    empty = table.values == 0
    return bool(not np.any(empty & ~shown) and (table.empty_shown or np.any(empty & shown)))


def least_hidden(table: Table, status: npt.NDArray[np.int8]) -> npt.NDArray[np.float64]:
    """Return the least value that everybody knows a hidden cell to have; -inf where the publication shows nothing.

    A count is at least 1 where empty cells are shown. Weighted counts too, unless weights below 1 show (a value below
    1 in a cell that may be hidden). A magnitude is not: the contributors of a hidden cell may all have 0. What is not
    negative, and what users say of single cells, is the business of `tabprotect.sensitivity.bounds`.

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
    hideable = ~np.isin(status, SHOWN)
    least = np.full(table.n_cells, -np.inf)
    counted = table.kind == "frequency" and bool(np.all(table.values[hideable] >= ONE))
    if counted and empty_cells_are_shown(table, status):
        least[hideable] = ONE
    return least
