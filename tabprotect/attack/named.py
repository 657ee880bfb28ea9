"""Which cell of a judged problem is meant, or which sum behind its cells."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.table.naming import cell_of_system, cell_of_table
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table

__all__ = ["cell_or_sum", "without_sums"]


def without_sums(system: LinearSystem, n: int) -> LinearSystem:
    """Return the first cells of a system, without the sums of them that are behind."""
    if n == system.n_cells:
        return system
    cells = system.cells[:n]
    cells = cells.remove_unused_levels() if isinstance(cells, pd.MultiIndex) else cells
    return LinearSystem(system.A[:, :n], system.b, cells)


def cell_or_sum(system: LinearSystem, own: LinearSystem, table: Table | None, cell: Any) -> int:
    """Return the position of the cell that is meant, or of the sum.

    Parameters
    ----------
    system : LinearSystem
        Cells, and sums behind them.
    own : LinearSystem
        The cells.
    table : Table, optional
        Names the cells, if there is one.
    cell : tuple, str, mapping or int
        As `tabprotect.table.naming.cell_of_system` takes it.

    Raises
    ------
    InputError
        If there is neither.
    """
    try:
        return cell_of_system(own, cell) if table is None else cell_of_table(table, cell)
    except InputError:
        n = own.n_cells
        found = [i for i in range(n, system.n_cells) if system.label(i) == cell]
        if not found and isinstance(cell, int | np.integer):
            with suppress(InputError):
                found = [i for i in (cell_of_system(system, cell),) if i >= n]
        if not found:
            raise
        return found[0]
