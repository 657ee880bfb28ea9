"""Suppression patterns as JSON: a list of cell ids, or the result that ``tabprotect solve --json`` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, did_you_mean, need
from tabprotect.formats.files import read_text
from tabprotect.table.system import LinearSystem

__all__ = ["cell_ids", "pattern_of", "read_pattern"]


def read_pattern(path: str | Path, system: LinearSystem) -> npt.NDArray[np.bool_]:
    """Read which cells a pattern hides.

    Parameters
    ----------
    path : path
        JSON: a list of ids (of codes, for cells of a table), or an object with such a list as ``suppressed``.
    system : LinearSystem
        Whose cells the ids name.

    Returns
    -------
    ndarray of bool, shape (cells,)

    Raises
    ------
    InputError
        If the file is not such JSON; names the ids that are no cells.
    """
    need(system, LinearSystem, "read_pattern", "such as problem.system")
    try:
        content = json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: not JSON ({error.msg})") from error
    except RecursionError as error:
        raise InputError(f"{path}: not a pattern: it is nested too deeply") from error
    except ValueError as error:
        raise InputError(f"{path}: not a pattern: {error}") from error
    ids = content.get("suppressed") if isinstance(content, dict) else content
    if not isinstance(ids, list):
        raise InputError(f"{path}: a pattern is a list of cell ids, or an object with such a list as 'suppressed'")
    try:
        return pattern_of(ids, system)
    except InputError as error:
        raise InputError(*(f"{path}: {problem}" for problem in error.problems)) from error


def pattern_of(ids: Iterable[Any], system: LinearSystem) -> npt.NDArray[np.bool_]:
    """Return the pattern that hides the cells with these ids.

    Examples
    --------
    >>> pattern_of(["b"], LinearSystem.from_equations([("t", ["a", "b"])])).tolist()
    [False, False, True]
    """
    ids = list(ids)
    if len(ids) == system.n_cells > 2 and all(isinstance(cell, int) and cell in (0, 1) for cell in ids):
        ones = cell_ids(system, np.flatnonzero(ids))
        such_as = ", ".join(repr(cell) for cell in ones[:3]) + (", ..." if ones[3:] else "")
        raise InputError(
            f"0 or 1 for each of {system.n_cells} cells is no pattern; write the ids of the hidden cells: [{such_as}]"
        )
    position = {_key(cell): i for i, cell in enumerate(system.cells)}
    pattern = np.zeros(system.n_cells, dtype=bool)
    unknown = []
    for cell in ids:
        at = position.get(_key(cell))
        if at is None:
            unknown.append(cell)
        else:
            pattern[at] = True
    if unknown:
        shown = ", ".join(repr(cell) for cell in unknown[:5]) + (f" and {len(unknown) - 5} more" if unknown[5:] else "")
        hint = did_you_mean(unknown[0], system.cells[:1000])
        raise InputError(f"no such cell: {shown}{hint}")
    return pattern


def _key(cell: Any) -> Any:
    """Codes are compared as text, so that 10 and "10" (JSON knows no integer keys of tables) are one id."""
    return tuple(map(str, cell)) if isinstance(cell, (list, tuple)) else str(cell)


def cell_ids(system: LinearSystem, where: Any) -> list[Any]:
    """Return the ids of cells as JSON can hold them: numbers, words, or lists of codes."""
    cells = system.cells[where]
    if isinstance(cells, pd.MultiIndex):
        return [[_plain(code) for code in cell] for cell in cells]
    return [_plain(cell) for cell in cells]


def _plain(code: Any) -> Any:
    value = code.item() if isinstance(code, np.generic) else code
    return value if isinstance(value, (int, float, str)) and not isinstance(value, bool) else str(value)
