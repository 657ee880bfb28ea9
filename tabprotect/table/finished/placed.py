"""Where the rows of a finished table belong: cells of its grid, computed margins, cells that are absent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import Problems, collect
from tabprotect.sums import Limbs
from tabprotect.table.finished.columns import Columns
from tabprotect.table.finished.given import Given
from tabprotect.table.grid import Grid
from tabprotect.table.levels import add_up, levels_of

__all__ = ["Placed", "place"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Placed:
    """The cells of a table.

    Attributes
    ----------
    grid : Grid
    keys : ndarray of int, optional
        Of the cells in the grid; None for all.
    n : int
        Number of cells.
    first : ndarray of int
        The first row of every cell that has one.
    present : ndarray of int
        Keys of these cells.
    at : ndarray of int
        Their positions.
    extra : ndarray of int
        Cells of margins that were computed.
    sums : ndarray of float
        Their values.
    row_cell : ndarray of int, shape (rows,)
        The cell of every row.
    """

    grid: Grid
    keys: Ints | None
    n: int
    first: Ints
    present: Ints
    at: Ints
    extra: Ints
    sums: Floats
    row_cell: Ints

    def fill(self, array: npt.NDArray[Any], padding: Any = 0) -> npt.NDArray[Any]:
        """Return numbers of rows as numbers of cells."""
        full = np.full((self.n, *array.shape[1:]), padding, dtype=array.dtype)
        full[self.at] = array[self.first]
        return full

    @property
    def absent(self) -> npt.NDArray[np.bool_]:
        """Cells that have neither a row nor a computed value."""
        there = np.zeros(self.n, dtype=bool)
        there[self.at] = there[self.extra] = True
        return ~there


def place(given: Given, columns: Columns, margins: str, empty: str, computable: bool) -> Placed:
    """Find the cell of every row; `computable` says whether messages may propose that margins be computed.

    Raises
    ------
    InputError
        Cells that are there twice, or that are not there and have to be.
    """
    dimensions, codes = given.dimensions, given.codes
    grid = Grid(tuple(d.known for d in dimensions), tuple(d.name for d in dimensions))
    with collect() as problems:
        _check_rows(grid, codes, problems)
        present, first, row_cell = np.unique(grid.key(codes), return_index=True, return_inverse=True)
        _check_aliases(grid, present, first, row_cell, given.numbers, columns, given.letters, problems)
    extra_keys, sums = np.zeros(0, dtype=np.int64), np.zeros(0)
    if margins == "add":
        extra_keys, sums = _add_margins(grid, present, given.numbers[columns.value][first])
    known = np.concatenate([present, extra_keys])
    keys: Ints | None = np.sort(known)
    if empty in ("zero", "structural"):
        grid.check_size()
        keys = None
    elif empty == "refuse":
        _refuse_absent(grid, known, computable)
        keys = None
    n = grid.size if keys is None else len(keys)
    position = known if keys is None else np.searchsorted(keys, known)
    at, extra = position[: len(present)], position[len(present) :]
    return Placed(grid, keys, n, first, present, at, extra, sums, position[row_cell])


def _check_rows(grid: Grid, codes: Sequence[Ints], problems: Problems) -> None:
    """Note rows with the same codes."""
    index = pd.MultiIndex.from_arrays(list(codes))
    again = np.asarray(index.duplicated(keep=False))
    if again.any():
        which = pd.Series(np.arange(len(again)))[again].groupby([c[again] for c in codes], sort=False)
        words = [
            " x ".join(h.codes[c[rows[0]]] for h, c in zip(grid.hierarchies, codes, strict=True))
            + f" (rows {', '.join(str(row + 1) for row in rows[:4])})"
            for rows in [np.flatnonzero(again)[found] for found in list(which.indices.values())[:5]]
        ]
        more = which.ngroups - len(words)
        problems.add(
            f"{counted(which.ngroups, 'cell is', 'cells are')} in the table more than once: {', '.join(words)}"
            + (f" and {more} more" if more else "")
        )


def _check_aliases(
    grid: Grid,
    present: Ints,
    first: Ints,
    row_cell: Ints,
    numbers: Mapping[str, Floats],
    columns: Columns,
    letters: npt.NDArray[np.object_] | None,
    problems: Problems,
) -> None:
    """Note rows that are one cell (a code and its only child) but do not agree."""
    if len(first) == len(row_cell):
        return
    twin = first[row_cell]
    for name, array in [*numbers.items(), *([(str(columns.status), letters)] if letters is not None else [])]:
        same = array == array[twin]
        if array.dtype != object:
            same |= np.isclose(array, array[twin], rtol=1e-9, atol=0, equal_nan=True)
        if not same.all():
            row = int(np.flatnonzero(~same)[0])
            label = grid.index(present[[row_cell[row]]])[0]
            problems.add(
                f"rows {twin[row] + 1} and {row + 1} are the same cell, {' x '.join(map(str, label))} (a code with one "
                f"part is that part), but differ in column '{name}': {array[twin[row]]} and {array[row]}"
            )


def _add_margins(grid: Grid, present: Ints, values: Floats) -> tuple[Ints, Floats]:
    """Return the margins above the leaf cells that are not among the present cells, and their sums."""
    codes = grid.codes_of(present)
    leaves = [h.leaf_of[code] for h, code in zip(grid.hierarchies, codes, strict=True)]
    inner = np.logical_and.reduce([leaf >= 0 for leaf in leaves])
    limbs = Limbs.of(values[inner])
    parts = limbs.split(values[inner])
    keys, sums = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    for level in levels_of([leaf[inner] for leaf in leaves], grid):
        keys.append(level.keys)
        sums.append(limbs.join(add_up(level.of_leaf, parts, len(level.keys))))
    key, total = np.concatenate(keys), np.concatenate(sums)
    new = ~np.isin(key, present)
    return key[new], total[new]


def _refuse_absent(grid: Grid, known: Ints, computable: bool) -> None:
    """Refuse a table that lacks cells of the grid, margins apart from inner cells."""
    if len(known) == grid.size:
        return
    grid.check_size()
    absent = np.setdiff1d(np.arange(grid.size), known)
    codes = grid.codes_of(absent)
    inner = np.logical_and.reduce([h.leaf_of[code] >= 0 for h, code in zip(grid.hierarchies, codes, strict=True)])
    meaning = (
        "if they are empty, say what that means: empty='structural' (everybody knows that they are zero), "
        "'zero' (an intruder does not know) or 'drop' (known to be zero, and left out)"
    )
    add = "add them to the table" + (", or let them be computed with margins='add'" if computable else "")
    with collect() as problems:
        for part, what, cure in ((absent[~inner], "margin", add), (absent[inner], "inner cell", meaning)):
            if len(part):
                names = [" x ".join(map(str, label)) for label in grid.index(part[:3])]
                more = f" and {len(part) - 3} more" if len(part) > 3 else ""
                number = counted(len(part), f"{what} is", f"{what}s are")
                problems.add(f"{number} not in the table: {', '.join(names)}{more}; {cure}")
