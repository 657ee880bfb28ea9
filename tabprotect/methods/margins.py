"""Cells that are sums of others."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.table.system import LinearSystem

__all__ = ["margins", "totals"]

Ints = npt.NDArray[np.int64]


def margins(system: LinearSystem) -> Ints:
    """Return the cells that are the sum of others: alone with their sign in an equation.

    Examples
    --------
    >>> system = LinearSystem.from_equations([("t", ["a", "b"]), ("a", ["c", "d"])])
    >>> system.cells[margins(system)].tolist(), system.cells[totals(system)].tolist()
    (['t', 'a'], ['t'])
    """
    return np.flatnonzero(_margins_and_parts(system)[0])


def totals(system: LinearSystem) -> Ints:
    """Return the margins that are part of no other cell."""
    margin, part = _margins_and_parts(system)
    return np.flatnonzero(margin & ~part)


def _margins_and_parts(system: LinearSystem) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    A = system.A
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    minus = np.bincount(row, weights=A.data < 0, minlength=A.shape[0])
    plus = np.bincount(row, weights=A.data > 0, minlength=A.shape[0])
    sign = np.where(minus == 1, -1.0, np.where(plus == 1, 1.0, 0.0))[row]
    alone = (np.sign(A.data) == sign) & (sign != 0)
    margin, part = np.zeros(system.n_cells, bool), np.zeros(system.n_cells, bool)
    margin[A.indices[alone]] = True
    part[A.indices[~alone]] = True
    return margin, part
