"""Finished tables: cells that somebody else has tabulated, checked before anything is built on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.sums import Limbs
from tabprotect.table.additivity import Tolerance, check_additivity
from tabprotect.table.codes import explain_unknown, read_codes, rows_of, some
from tabprotect.table.contributors import check_counts, largest_contributions
from tabprotect.table.crosstab import unfolded_cells
from tabprotect.table.dimension import Dimension, dimensions_of, finest
from tabprotect.table.duck import read_file
from tabprotect.table.grid import Grid
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.kinds import check_kind, missing_cells
from tabprotect.table.levels import add_up, levels_of
from tabprotect.table.read import backend_of, check_names, need_columns, open_frame, read_ids, read_numbers
from tabprotect.table.reading import File, Recognised, is_file, open_data
from tabprotect.table.status import EMPTY, read_status
from tabprotect.table.system import LinearSystem

__all__ = ["Columns", "table_of_cells"]

T = TypeVar("T")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Columns:
    """The columns of a finished table and what they are for; see `Table.from_cells`."""

    value: str
    count: str | None
    weighted_count: str | None
    maxima: tuple[str, ...]
    holders: tuple[str, ...]
    shadow: str | None
    status: str | None
    cost: str | None
    lpl: str | None
    upl: str | None
    spl: str | None
    lower: str | None
    upper: str | None

    def __post_init__(self) -> None:
        names = ("value", "count", "weighted_count", "shadow", "status", "cost", "lpl", "upl", "spl", "lower", "upper")
        check_names({name: getattr(self, name) for name in names})

    @property
    def sums(self) -> tuple[str, ...]:
        """Columns of numbers that every row must have."""
        return _given(self.value, self.count, self.weighted_count, self.shadow, self.cost)

    @property
    def options(self) -> tuple[str, ...]:
        """Columns of numbers that may be missing in a row."""
        return _given(*self.maxima, self.lpl, self.upl, self.spl, self.lower, self.upper)

    @property
    def numbers(self) -> tuple[str, ...]:
        """Every column of numbers."""
        return (*self.sums, *self.options)

    @property
    def codes(self) -> tuple[str, ...]:
        """Columns of ids and statuses."""
        return _given(*self.holders, self.status)

    @property
    def all(self) -> tuple[str, ...]:
        """Every column."""
        return _given(*self.sums, *self.options, *self.holders, self.status)


def _given(*names: str | None) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for name in names if name is not None))


def table_of_cells(
    make: Callable[..., T],
    data: Any,
    by: Any,
    columns: Columns,
    hierarchies: Mapping[str, Hierarchy] | None,
    kind: str | None,
    tolerance: float | None,
    empty: str,
    margins: str,
    decimal: str | None,
) -> T:
    """Build a table, by calling `make` with its parts, from finished cells; see `Table.from_cells`."""
    data, by, wide = unfolded_cells(data, by, columns.value, columns.all, hierarchies)
    with collect() as problems:
        wanted = dimensions_of(by, hierarchies, problems)
        check_kind(kind, problems.add)
        _check_options(columns, tolerance, empty, margins, kind, problems)
    recognised: tuple[Recognised, ...] = ()
    if is_file(data):
        names = [column for d in wanted for column in d.columns]
        opened = open_data(File.of(data, decimal), [*names, *columns.codes], list(dict.fromkeys(columns.numbers)))
        recognised, decimal = (opened.recognised,), opened.decimal
        data = read_file(opened.source) if is_file(opened.source) else opened.source
    given = open_frame(data)
    backend = "file" if recognised else backend_of(given)
    frame = given.collect() if isinstance(given, nw.LazyFrame) else given
    decimal = decimal or "."
    with collect() as problems:
        need_columns(frame.columns, [c for d in wanted for c in d.columns], problems)
        need_columns(frame.columns, columns.all, problems)
        if not len(frame):
            problems.add("the table holds no rows")
    with collect() as problems:
        dimensions, codes = _dimensions(frame, wanted, margins, problems)
        numbers = {name: read_numbers(frame, name, problems, decimal=decimal) for name in columns.sums}
        for name in columns.options:
            numbers[name] = read_numbers(frame, name, problems, decimal=decimal, missing=True)
        letters = None if columns.status is None else read_status(frame, columns.status, problems)
        ids = [read_ids(frame, name) for name in columns.holders]
        if letters is not None:
            wrong = (letters == EMPTY) & (numbers[columns.value] != 0)
            if wrong.any():
                problems.add(f"column '{columns.status}' says empty, but the value is not zero, in {rows_of(wrong)}")
            letters[letters == EMPTY] = "z"
    grid = Grid(tuple(d.known for d in dimensions), tuple(d.name for d in dimensions))
    with collect() as problems:
        _check_rows(frame, grid, codes, dimensions, problems)
        key = grid.key(codes)
        present, first, row_cell = np.unique(key, return_index=True, return_inverse=True)
        _check_aliases(grid, present, first, row_cell, numbers, columns, letters, problems)
    values = numbers[columns.value]
    extra_keys, extra_values = _add_margins(grid, present, values[first]) if margins == "add" else _nothing()
    known = np.concatenate([present, extra_keys])
    keys: Ints | None = np.sort(known)
    if empty in ("zero", "structural"):
        grid.check_size()
        keys = None
    elif empty == "refuse":
        _refuse_absent(grid, known, margins)
        keys = None
    n = grid.size if keys is None else len(keys)
    position = known if keys is None else np.searchsorted(keys, known)
    at = position[: len(present)]

    def fill(array: npt.NDArray[Any], padding: Any = 0) -> npt.NDArray[Any]:
        full = np.full((n, *array.shape[1:]), padding, dtype=array.dtype)
        full[at] = array[first]
        return full

    cell_values = fill(values)
    cell_values[position[len(present) :]] = extra_values
    system = LinearSystem.from_grid(grid, keys)
    residual = check_additivity(system, cell_values, Tolerance(tolerance, cell_values), columns.value)
    status = fill(letters, "") if letters is not None else np.full(n, "", dtype=object)
    if empty == "structural" and len(known) < n:
        there = np.zeros(n, dtype=bool)
        there[position] = True
        status = np.where(there, status, "z")
    kept: dict[str, npt.NDArray[Any]] = {
        role: fill(numbers[name], np.nan if role in ("lpl", "upl", "spl", "lower", "upper") else 0)
        for role in ("cost", "lpl", "upl", "spl", "lower", "upper")
        if (name := getattr(columns, role)) is not None
    }
    if (status != "").any():
        kept["status"] = status
    if (cell_values < 0).any():
        kept["negative"] = cell_values < 0
    count = None if columns.count is None else fill(numbers[columns.count])
    if count is None and kind == "frequency":
        count = cell_values.copy()
    weighted = None if columns.weighted_count is None else fill(numbers[columns.weighted_count])
    contributions = None
    with collect() as problems:
        check_counts(system, cell_values, count, weighted, tolerance, problems)
        if columns.maxima:
            top = np.nan_to_num(fill(np.column_stack([numbers[name] for name in columns.maxima])))
            holders = [(found, fill(index, -1)) for found, index in ids]
            shadow = None
            if columns.shadow is not None and columns.shadow != columns.value:
                shadow = (columns.shadow, fill(numbers[columns.shadow]))
            contributions = largest_contributions(system, cell_values, top, count, holders, shadow, tolerance, problems)
    rows, row_cell = _rows(frame, grid, codes, columns, values, position[row_cell], keys, n, cell_values)
    return make(
        system=system,
        values=cell_values,
        dimensions=dimensions,
        counts=count,
        weighted_counts=weighted,
        contributions=contributions,
        missing=missing_cells(dimensions, grid, keys),
        columns=kept,
        rows=rows,
        row_cell=row_cell,
        kind=kind or "magnitude",
        value_name=columns.value,
        residual=residual,
        backend=backend,
        recognised=recognised,
        empty_shown=empty in ("structural", "drop"),
        wide=wide,
    )


def _nothing() -> tuple[Ints, Floats]:
    return np.zeros(0, dtype=np.int64), np.zeros(0)


def _check_options(
    columns: Columns, tolerance: float | None, empty: str, margins: str, kind: str | None, problems: Problems
) -> None:
    if empty not in ("refuse", "zero", "structural", "drop"):
        problems.add(f"empty must be 'refuse', 'zero', 'structural' or 'drop', not {empty!r}")
    if margins not in ("check", "add"):
        problems.add(f"margins must be 'check' or 'add', not {margins!r}")
    if tolerance is not None and not (np.isfinite(tolerance) and tolerance >= 0):
        problems.add(f"tolerance must be a number, 0 or more, not {tolerance!r}")
    if columns.holders and len(columns.holders) != len(columns.maxima):
        problems.add(
            f"holders names {counted(len(columns.holders), 'column')} for "
            f"{counted(len(columns.maxima), 'maximum', 'maxima')}; give one each"
        )
    if margins == "add":
        for role in ("count", "weighted_count", "shadow", "cost", "maxima"):
            if getattr(columns, role) and not (role == "count" and kind == "frequency"):
                problems.add(
                    f"margins='add' computes values only: {role} of a margin is not the sum over its parts, since one "
                    f"contributor may be in several of them; tabulate the margins with the table, or leave {role} out"
                )


def _dimensions(
    frame: nw.DataFrame[Any], wanted: Sequence[Dimension], margins: str, problems: Problems
) -> tuple[tuple[Dimension, ...], list[Ints]]:
    """Find the hierarchy of every dimension, and the code of every row."""
    dimensions, positions = [], []
    for dimension in wanted:
        coded = [read_codes(frame[column], column) for column in dimension.columns]
        column, codes = dimension.columns[-1], finest(coded)
        for problem in (problem for one in coded for problem in one.problems):
            problems.add(problem)
        if (codes.index < 0).any():
            problems.add(
                f"column '{column}' has no code in {rows_of(codes.index < 0)}; a row of a total needs the total's code"
            )
        total = dimension.hierarchy.total if dimension.hierarchy is not None else dimension.total or "Total"
        if margins == "check" and total not in codes.values:
            problems.add(
                f"column '{column}' holds no code '{total}'{_likely_total(total, codes.values)}; name the code of the "
                f"total with Dimension('{column}', total=...), or let margins be computed: margins='add'"
            )
        found = dimension.with_data(coded, codes, problems, np.arange(len(codes.index)))
        place = np.full(len(codes.values) + 1, -1, dtype=np.int64)
        unknown = []
        if found.hierarchy is not None:
            for i, code in enumerate(codes.values):
                place[i] = found.hierarchy.position.get(code, -1)
                if place[i] < 0:
                    reason = explain_unknown(code, found.hierarchy.codes, codes.numeric)
                    unknown.append(f"'{code}' ({rows_of(codes.index == i)}{reason})")
        if unknown:
            problems.add(f"column '{column}' holds codes that its hierarchy has not: {some(unknown)}")
        dimensions.append(found)
        positions.append(place[codes.index])
    return tuple(dimensions), positions


def _likely_total(total: str, codes: Sequence[str]) -> str:
    for code in codes:
        if code.strip().casefold() in (total.casefold(), "total", "all", "_t", "ensemble", "t", "tot"):
            return f", but '{code}'"
    return did_you_mean(total, codes) if len(codes) > 12 else ""


def _check_rows(
    frame: nw.DataFrame[Any], grid: Grid, codes: Sequence[Ints], dimensions: Sequence[Dimension], problems: Problems
) -> None:
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


def _refuse_absent(grid: Grid, known: Ints, margins: str) -> None:
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
    with collect() as problems:
        for part, what, cure in (
            (absent[~inner], "margins", "add them, or let them be computed with margins='add'"),
            (absent[inner], "inner cells", meaning),
        ):
            if len(part):
                names = [" x ".join(map(str, label)) for label in grid.index(part[:3])]
                more = f" and {len(part) - 3} more" if len(part) > 3 else ""
                problems.add(f"{len(part)} {what} are not in the table: {', '.join(names)}{more}; {cure}")


def _rows(
    frame: nw.DataFrame[Any],
    grid: Grid,
    codes: Sequence[Ints],
    columns: Columns,
    values: Floats,
    row_cell: Ints,
    keys: Ints | None,
    n: int,
    cell_values: Floats,
) -> tuple[pd.DataFrame, Ints]:
    """Return the rows of the user, and below them one for every cell that has none yet."""
    if columns.value in grid.names:
        raise InputError(
            f"dimension '{columns.value}' is called like the value column; rename it with Dimension(..., name=...)"
        )
    lacking = np.setdiff1d(np.arange(n), row_cell)
    more = grid.codes_of(lacking if keys is None else keys[lacking])
    rows: dict[str, Any] = {
        name: pd.array(list(h.codes), dtype="str").take(np.concatenate([code, other]))
        for name, h, code, other in zip(grid.names, grid.hierarchies, codes, more, strict=True)
    }
    rows[columns.value] = np.concatenate([values, cell_values[lacking]])
    own = [name for name in frame.columns if name not in rows]
    given = frame.select(own).to_pandas().reset_index(drop=True).reindex(range(len(values) + len(lacking)))
    return pd.concat([pd.DataFrame(rows), given], axis=1), np.concatenate([row_cell, lacking])
