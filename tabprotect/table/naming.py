"""How a cell is named: by its codes, by the codes of each dimension, by its label, or by its position."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table

__all__ = ["cell_of_system", "cell_of_table"]

Ints = npt.NDArray[np.int64]

_JOINED = " x "
_PART = "table"
_WHOLE = re.compile(r"\s*[-+]?\d+(\.0+)?\s*")


def cell_of_system(system: LinearSystem, cell: Any) -> int:
    """Return the position of the cell that is meant.

    Parameters
    ----------
    system : LinearSystem
    cell : tuple, str, mapping or int
        The key: a code for every dimension, in their order (or the code alone, with one dimension). Or a mapping of
        every dimension to its code. Or the label, codes joined by ' x '. An integer is a code where one dimension has
        codes that are numbers, and else a position.

    Raises
    ------
    InputError
        If there is no such cell, or the name leaves out a dimension or fits several cells.

    Examples
    --------
    >>> from tabprotect.table.hierarchy import Hierarchy
    >>> sizes, regions = Hierarchy.flat(["s", "b"]), Hierarchy.flat(["N", "S"])
    >>> system = LinearSystem.from_hierarchies([sizes, regions], names=["size", "region"])
    >>> names = ("s", "N"), {"region": "N", "size": "s"}, "s x N", 4
    >>> [cell_of_system(system, name) for name in names]
    [4, 4, 4, 4]
    >>> cell_of_system(system, "s")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: 's' names no cell: a cell has 2 codes, those of size, region, such as 'Total x Total'
    """
    if (found := _exact(system, cell)) is not None:
        return found
    if _whole(cell):
        return _by_number(system, cell)
    if isinstance(cell, Mapping):
        return _by_codes(system, _codes_of(system, cell), cell)
    if isinstance(cell, str):
        return _by_label(system, cell)
    if isinstance(cell, Sequence):
        return _by_codes(system, list(cell), cell)
    raise InputError(
        f"a cell is named by its codes, by a mapping of dimensions to codes, by its label or by its position, "
        f"not by {type(cell).__name__}"
    )


def cell_of_table(table: Table, cell: Any) -> int:
    """Return the position of the cell that is meant, codes that are the same cell as another included.

    Parameters
    ----------
    table : Table
    cell : tuple, str, mapping or int
        As `cell_of_system` takes it. In linked tables a mapping may also name the ``table``, and the codes of that
        table only.

    Raises
    ------
    InputError
        As `cell_of_system` raises it.

    Examples
    --------
    >>> system = LinearSystem.from_equations([("t", ["a", "b"])])
    >>> table = Table(system, np.array([3.0, 1, 2]))
    >>> cell_of_table(table, "b"), cell_of_table(table, 2)
    (2, 2)
    """
    if isinstance(cell, Mapping) and _PART in cell and table.parts:
        return _of_part(table, cell)
    try:
        return cell_of_system(table.system, cell)
    except InputError:
        rows = _rows_named(table, cell)
        if rows is None or not len(rows):
            raise
        return int(table.row_cell[rows[0]])


def _exact(system: LinearSystem, cell: Any) -> int | None:
    """Return the cell with this very id."""
    cells = system.cells
    if isinstance(cells, pd.MultiIndex) and not (isinstance(cell, tuple) and len(cell) == cells.nlevels):
        return None
    found = _indexed(cells, cell)
    return found if found is not None and found >= 0 else None


def _whole(cell: Any) -> bool:
    return isinstance(cell, int | np.integer) and not isinstance(cell, bool)


def _by_number(system: LinearSystem, number: int) -> int:
    """Return the cell with this code where codes are numbers, so that a number is never both; else this position."""
    cells = system.cells
    if cells.nlevels == 1 and any(_WHOLE.fullmatch(str(code)) for code in cells.get_level_values(0)):
        return _by_codes(system, [number], number)
    if 0 <= number < system.n_cells:
        return int(number)
    raise InputError(f"there is no cell {number}: positions go from 0 to {system.n_cells - 1}")


def _indexed(cells: pd.Index, cell: Any) -> int | None:
    try:
        hash(cell)
        return int(cells.get_indexer(pd.Index([cell], tupleize_cols=isinstance(cells, pd.MultiIndex)))[0])
    except (TypeError, ValueError):
        return None


def _names(system: LinearSystem) -> list[str]:
    return [f"dimension {k + 1}" if name is None else str(name) for k, name in enumerate(system.cells.names)]


def _codes_of(system: LinearSystem, cell: Mapping[Any, Any]) -> list[Any]:
    names = _names(system)
    with collect() as problems:
        for name in cell:
            if str(name) not in names:
                problems.add(f"{dict(cell)} names '{name}', which is no dimension{did_you_mean(name, names)}")
        given = {str(name): code for name, code in cell.items()}
        if left := [name for name in names if name not in given]:
            problems.add(f"{dict(cell)} names no cell: the code of {', '.join(left)} is missing")
    return [given[name] for name in names]


def _by_label(system: LinearSystem, label: str) -> int:
    """Return the cell whose codes, joined, are the label; codes may hold the joining sign, too."""
    width = system.cells.nlevels
    pieces = label.split(_JOINED)
    if not isinstance(system.cells, pd.MultiIndex):
        return _by_codes(system, [label], label)
    found: set[int] = set()
    for cuts in combinations(range(1, len(pieces)), width - 1):
        ends = [0, *cuts, len(pieces)]
        found.update(_matching(system, [_JOINED.join(pieces[a:b]) for a, b in pairwise(ends)]).tolist())
    if len(found) == 1:
        return found.pop()
    if found:
        raise InputError(f"'{label}' may be {len(found)} cells; give the codes as a tuple")
    return _by_codes(system, pieces if width > 1 else [label], label)


def _by_codes(system: LinearSystem, codes: list[Any], cell: Any) -> int:
    """Return the cell with these codes, or say which of them there is not."""
    names = _names(system)
    if len(codes) != len(names):
        wanted = (
            f"{len(names)} codes, those of {', '.join(names)}" if len(names) > 1 else f"one code, that of {names[0]}"
        )
        raise InputError(f"{cell!r} names no cell: a cell has {wanted}, such as '{system.label(0)}'")
    found = _matching(system, codes)
    if len(found) == 1:
        return int(found[0])
    words = _JOINED.join(map(str, codes))
    if len(found):
        raise InputError(f"{words} may be {len(found)} cells; give the codes as they are in the table")
    if not isinstance(system.cells, pd.MultiIndex):
        raise InputError(f"there is no cell {words}{did_you_mean(words, _some(system.cells))}")
    with collect() as problems:
        for k, (code, name) in enumerate(zip(codes, names, strict=True)):
            known = system.cells.levels[k]
            if str(code) not in set(known.astype(str)):
                problems.add(
                    f"there is no cell {words}: '{code}' is no code of {name}{did_you_mean(code, _some(known))}"
                )
    raise InputError(f"there is no cell {words}, though each of its codes is in the table")


def _some(known: pd.Index) -> list[str]:
    return [str(code) for code in known[:2000]]


def _matching(system: LinearSystem, codes: Sequence[Any]) -> Ints:
    """Return the cells with these codes, compared as text."""
    cells = system.cells
    if not isinstance(cells, pd.MultiIndex):
        return np.flatnonzero(cells.astype(str) == str(codes[0])).astype(np.int64)
    same = np.ones(len(cells), dtype=bool)
    for level, place, code in zip(cells.levels, cells.codes, codes, strict=True):
        same &= np.isin(place, np.flatnonzero(level.astype(str) == str(code)))
    return np.flatnonzero(same).astype(np.int64)


def _rows_named(table: Table, cell: Any) -> Ints | None:
    """Return the rows with these codes, for codes that are the same cell as another."""
    names = [str(d.name) for d in table.dimensions]
    if not names or not set(names) <= set(table.rows.columns):
        return None
    codes: list[Any]
    if isinstance(cell, Mapping):
        codes = [cell.get(name) for name in names] if set(map(str, cell)) == set(names) else []
    elif isinstance(cell, str):
        codes = cell.split(_JOINED) if len(names) > 1 else [cell]
    else:
        codes = list(cell) if isinstance(cell, Sequence) else [cell]
    return _rows_with(table.rows, dict(zip(names, codes, strict=True))) if len(codes) == len(names) else None


def _rows_with(rows: pd.DataFrame, codes: Mapping[str, Any]) -> Ints:
    same = np.ones(len(rows), dtype=bool)
    for name, code in codes.items():
        same &= (rows[name].astype(str) == str(code)).to_numpy()
    return np.flatnonzero(same).astype(np.int64)


def _of_part(table: Table, cell: Mapping[Any, Any]) -> int:
    """Return a cell of one of several linked tables."""
    part = str(cell[_PART])
    if part not in table.parts:
        raise InputError(f"there is no table '{part}'{did_you_mean(part, table.parts)}")
    names = [str(d.name) for d in table.parts[part]]
    if {str(name) for name in cell} != {_PART, *names}:
        raise InputError(f"{dict(cell)} names no cell: table '{part}' wants the codes of {', '.join(names)}")
    rows = _rows_with(table.rows, cell)
    if not len(rows):
        raise InputError(f"table '{part}' has no cell {_JOINED.join(str(cell[name]) for name in names)}")
    return int(table.row_cell[rows[0]])
