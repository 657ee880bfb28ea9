"""Results as frames: the codes of every cell, its value, its status, and what is published of it; confidential."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.problem import Problem, Status

__all__ = ["frame_of", "status_words"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def status_words(status: npt.NDArray[np.int8], pattern: Bools | None = None) -> npt.NDArray[np.object_]:
    """Return what every cell is in words: safe, primary, forced, protected or zero, and secondary where it is hidden.

    Examples
    --------
    >>> status_words(np.array([0, 1, 0], np.int8), np.array([False, True, True])).tolist()
    ['safe', 'primary', 'secondary']
    """
    names = np.array([one.name.lower() for one in Status], dtype=object)
    words = np.asarray(names[status])
    if pattern is not None:
        words[pattern & (status != Status.PRIMARY) & (status != Status.FORCED)] = "secondary"
    return words


def frame_of(problem: Problem, published: Floats | None, pattern: Bools | None = None) -> pd.DataFrame:
    """Return one row a cell: its codes, ``value``, ``status`` and ``published``; confidential.

    It is the frame of a release, but for the columns that only the table has. Sums that are protected as cells, too,
    are left out.

    Parameters
    ----------
    problem : Problem
    published : ndarray of float, or None
        Of every cell, in the place of its value; None where there are no values.
    pattern : ndarray of bool, optional
        Hidden cells, of which nothing is published.

    Raises
    ------
    InputError
        If the cells of the problem have no codes, but positions only.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> system = LinearSystem.from_equations([("t", ["a", "b"])])
    >>> problem = Problem.from_arrays(system.A, [7, 3, 4], [1], lpl=1, upl=1, cells=pd.Index(["t", "a", "b"], name="r"))
    >>> frame_of(problem, problem.values, np.array([False, True, True]))
       r  value     status  published
    0  t    7.0       safe        7.0
    1  a    3.0    primary       <NA>
    2  b    4.0  secondary       <NA>
    """
    cells, n = problem.system.cells, problem.n_cells - problem.sums
    if isinstance(cells, pd.RangeIndex) and cells.name is None:
        raise InputError(
            "the cells of this problem have no codes, so they make no frame: make the problem from a table "
            "(tabprotect.make_problem), or name them with Problem.from_arrays(cells=...)"
        )
    names = [str(name) if name is not None else f"dimension {k + 1}" for k, name in enumerate(cells.names)]
    names = ["cell"] if cells.nlevels == 1 and cells.names[0] is None else names
    frame = pd.DataFrame({name: cells.get_level_values(k)[:n] for k, name in enumerate(names)})
    shown = np.full(n, np.nan) if published is None else published[:n].astype(np.float64)
    if pattern is not None:
        shown = np.where(pattern[:n], np.nan, shown)
    words = status_words(problem.status[:n], None if pattern is None else pattern[:n])
    columns: dict[str, Any] = {
        "value": problem.values[:n], "status": words, "published": pd.array(shown, dtype="Float64")
    }  # fmt: skip
    for name, column in columns.items():
        while name in frame:
            name += "_"
        frame[name] = column
    return frame
