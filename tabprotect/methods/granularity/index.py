"""The index of granularity of hyper-rows, and what kind of granularity it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, collect, did_you_mean

__all__ = ["GranularityReport", "HyperRow", "Kind", "granularity", "granularity_index", "kind_of", "unit_cells"]

Floats = npt.NDArray[np.float64]
Kind = Literal["normal", "proportional", "odd", "dispersed"]

LEVEL: Final = 50.0
"""Per cent of unit cells from which a hyper-row is unsafe (Eustat)."""

HIGH: Final = 5
"""From this count on, a neighbour of a unit cell is a high frequency."""

SIGNIFICANCE: Final = 0.01
"""A unit cell is odd if a count of at most 1 has a smaller probability than this under the expected distribution."""


def granularity_index(counts: npt.ArrayLike) -> float:
    """Return the index of granularity: unit cells, as a percentage of the cells with a value.

    Parameters
    ----------
    counts : array of int
        The cells of a hyper-row; zeros are no cells with a value.

    Examples
    --------
    The four examples of the Eustat notebook:

    >>> rows = [1, 30, 18, 9, 2], [1, 3, 4, 1, 1], [0, 1, 1, 21, 1], [1, 30, 1, 9, 1]
    >>> [granularity_index(row) for row in rows]
    [20.0, 60.0, 75.0, 60.0]
    """
    array = np.asarray(counts)
    filled = int(np.sum(array > 0))
    return 100 * int(np.sum(array == 1)) / filled if filled else 0.0


def kind_of(
    counts: npt.ArrayLike,
    expected: npt.ArrayLike | None = None,
    *,
    level: float = LEVEL,
    high: int = HIGH,
    significance: float = SIGNIFICANCE,
) -> Kind:
    """Return the kind of granularity of a row along one variable.

    - dispersed: a unit cell lies between two high frequencies (neighbours in the order of the categories, each at
    least `high`);
    - odd: a unit cell is where the population would have more: under the expected distribution a count of at most 1
      has a probability below `significance` (binomial);
    - proportional: the index reaches `level`;
    - normal: none of these.

    The notebook gives examples, not thresholds for odd and dispersed rows; those here tell its four examples apart.
    A row that is several of these is named by the first.

    Parameters
    ----------
    counts : array of int
        In the order of the categories.
    expected : array of float, optional
        Proportions (or counts) of the population in these categories; without it no row is odd.

    Examples
    --------
    >>> population = [1, 30, 18, 9, 2]
    >>> rows = [1, 30, 18, 9, 2], [1, 3, 4, 1, 1], [0, 1, 1, 21, 1], [1, 30, 1, 9, 1]
    >>> [kind_of(row, population) for row in rows]
    ['normal', 'proportional', 'odd', 'dispersed']
    """
    array = np.asarray(counts, dtype=np.int64)
    unit = array == 1
    if np.any(unit[1:-1] & (array[:-2] >= high) & (array[2:] >= high)):
        return "dispersed"
    if expected is not None and unit.any():
        share = np.asarray(expected, np.float64)
        share = share / share.sum() if share.sum() > 0 else share
        there, other, n = share[unit], 1 - share[unit], int(array.sum())
        if np.any(other**n + n * there * other ** (n - 1) < significance):
            return "odd"
    return "proportional" if granularity_index(array) >= level else "normal"


@dataclass(frozen=True)
class HyperRow:
    """The cells of a table with some variables held.

    Attributes
    ----------
    table : tuple of str
        All variables of the table.
    fixed : tuple of (str, str)
        The held variables with their categories.
    index : float
        Per cent.
    cells, units : int
        Cells with a value; those with one record.
    kind : str
        'proportional' for hyper-rows over several variables that reach the level; see `kind_of` for rows along one.
    """

    table: tuple[str, ...]
    fixed: tuple[tuple[str, Any], ...]
    index: float
    cells: int
    units: int
    kind: Kind

    def __str__(self) -> str:
        held = ", ".join(f"{name} = {code}" for name, code in self.fixed)
        return (
            f"{' x '.join(self.table)} at {held}: {self.units} of {self.cells} cells ({self.index:.0f} %), {self.kind}"
        )


@dataclass(frozen=True)
class GranularityReport:
    """The granularity of all tables over some variables. Internal: it tells where single respondents are.

    Attributes
    ----------
    keys : tuple of str
    level : float
    rows : tuple of HyperRow
        Those that are not normal.
    looked_at : int
        Number of hyper-rows in all.
    """

    keys: tuple[str, ...]
    level: float
    rows: tuple[HyperRow, ...]
    looked_at: int

    @property
    def unsafe(self) -> tuple[HyperRow, ...]:
        """Hyper-rows whose index reaches the level."""
        return tuple(row for row in self.rows if row.index >= self.level)

    @property
    def safe(self) -> bool:
        """No hyper-row reaches the level."""
        return not self.unsafe

    @property
    def unsafe_tables(self) -> tuple[tuple[str, ...], ...]:
        """Tables with such a hyper-row."""
        return tuple(dict.fromkeys(row.table for row in self.unsafe))

    @property
    def frame(self) -> pd.DataFrame:
        """Return one row a hyper-row that is not normal."""
        columns = ["table", "fixed", "index", "cells", "units", "kind"]
        words = [
            (" x ".join(r.table), ", ".join(f"{n} = {c}" for n, c in r.fixed), r.index, r.cells, r.units, r.kind)
            for r in self.rows
        ]
        return pd.DataFrame(words, columns=columns)


def granularity(
    data: pd.DataFrame,
    keys: Sequence[str],
    *,
    count: str | None = None,
    dimensions: Sequence[int] = (2, 3),
    level: float = LEVEL,
    high: int = HIGH,
    significance: float = SIGNIFICANCE,
    order: Mapping[str, Sequence[Any]] | None = None,
) -> GranularityReport:
    """Look for granularity in all tables over the identifying variables.

    Parameters
    ----------
    data : pandas.DataFrame
        Records, or the cells of an electronic micro-table with their counts. Records with a missing key are in no
        table over that key.
    keys : sequence of str
        Identifying variables.
    count : str, optional
        Column of counts; without it every row is one record.
    dimensions : sequence of int
        Sizes of the tables that are looked at: two and three variables, as in the notebook.
    level, high, significance
        See `kind_of`.
    order : mapping, optional
        Categories of a variable in their order; by default sorted. Only dispersed rows depend on it.

    Returns
    -------
    GranularityReport

    Notes
    -----
    A hyper-row holds one or more variables of a table at a category each. Rows along a single variable are compared
    with the distribution of that variable in all records.

    References
    ----------
    Mas (Eustat), Statistical data protection, chapter on tabular data, after Horn and Morton (1998).

    Examples
    --------
    >>> data = pd.DataFrame({"job": list("aaaaaab"), "sex": list("mmmfffm"), "age": list("1112233")})
    >>> report = granularity(data, ["job", "sex", "age"], dimensions=(2,))
    >>> [str(row) for row in report.unsafe][:2]
    ['job x sex at job = b: 1 of 1 cells (100 %), proportional', 'job x sex at sex = m: 1 of 2 cells (50 %),
    proportional']
    """
    _check(data, keys, count, dimensions)
    weights = np.ones(len(data)) if count is None else data[count].to_numpy(np.float64)
    population = {}
    for name in keys:
        here = pd.Series(weights).groupby(data[name].to_numpy()).sum()
        population[name] = here.reindex((order or {}).get(name, sorted(here.index)), fill_value=0.0)
    rows: list[HyperRow] = []
    looked_at = 0
    for table, cells in _tables(data, keys, weights, dimensions):
        unit = cells["count"] == 1
        for size in range(1, len(table)):
            for fixed in combinations(table, size):
                along = [name for name in table if name not in fixed]
                groups = cells.groupby(list(fixed), sort=True, observed=True)
                filled, units = groups.size(), unit.groupby([cells[name] for name in fixed], observed=True).sum()
                looked_at += len(filled)
                for held in units.index[units > 0]:
                    codes = held if isinstance(held, tuple) else (held,)
                    index = 100 * int(units[held]) / int(filled[held])
                    kind: Kind = "proportional" if index >= level else "normal"
                    if len(along) == 1:
                        expected = population[along[0]]
                        counts = groups.get_group(codes).set_index(along[0])["count"]
                        row = counts.reindex(expected.index, fill_value=0)
                        kind = kind_of(row, expected, level=level, high=high, significance=significance)
                    if kind != "normal":
                        held_codes = tuple(zip(fixed, codes, strict=True))
                        rows.append(HyperRow(table, held_codes, index, int(filled[held]), int(units[held]), kind))
    return GranularityReport(tuple(keys), level, tuple(rows), looked_at)


def unit_cells(
    data: pd.DataFrame, keys: Sequence[str], weights: Floats, dimensions: Sequence[int], level: float
) -> list[tuple[tuple[str, ...], pd.DataFrame]]:
    """Return for every unsafe table its unit cells in hyper-rows that reach the level."""
    found = []
    for table, cells in _tables(data, keys, weights, dimensions):
        unit = cells["count"] == 1
        bad = pd.Series(False, index=cells.index)
        for size in range(1, len(table)):
            for fixed in combinations(table, size):
                groups = unit.groupby([cells[name] for name in fixed], observed=True)
                bad |= unit & (100 * groups.transform("sum") >= level * groups.transform("size"))
        if bad.any():
            found.append((table, cells.loc[bad, list(table)]))
    return found


def _tables(
    data: pd.DataFrame, keys: Sequence[str], weights: Floats, dimensions: Sequence[int]
) -> Iterator[tuple[tuple[str, ...], pd.DataFrame]]:
    """Yield every table over the keys as its cells with a value."""
    counted = data[list(keys)].assign(count=weights)
    for size in dimensions:
        for table in combinations(keys, size):
            cells = counted.groupby(list(table), sort=True, observed=True, dropna=True)["count"].sum().reset_index()
            yield table, cells[cells["count"] > 0].reset_index(drop=True)


def _check(data: pd.DataFrame, keys: Sequence[str], count: str | None, dimensions: Sequence[int]) -> None:
    with collect() as problems:
        for name in [*keys, *([] if count is None else [count])]:
            if name not in data.columns:
                problems.add(f"there is no column '{name}'{did_you_mean(name, data.columns)}")
        if len(set(keys)) < len(keys):
            problems.add(f"keys name a column twice: {list(keys)}")
        if "count" in keys:
            problems.add("a key must not be called 'count'; rename the column")
        for size in dimensions:
            if size != int(size) or not 2 <= size <= len(keys):
                problems.add(
                    f"tables over {size} of {len(keys)} keys cannot be made; dimensions are from 2 to {len(keys)}"
                )
    if count is not None:
        counts = pd.to_numeric(data[count], errors="coerce").to_numpy(np.float64)
        if not np.all((counts >= 0) & (counts == np.rint(counts))):
            raise InputError(f"column '{count}' must hold counts, whole numbers from 0")
