"""Granularity: unit cells in hyper-rows that are mostly unit cells."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.sensitivity.concentration import counts
from tabprotect.sensitivity.rule import Needs, Spoken, Verdict, percentage, ranged
from tabprotect.table.decimals import written
from tabprotect.table.table import Table

__all__ = ["Granularity"]

SIZES: Final = (2, 3)
"""Variables of the tables that are looked at, as in the notebook."""

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Granularity(Spoken):
    """A cell of one contributor is sensitive where a hyper-row that it is in consists of such cells for the most part.

    A hyper-row is what is left of a table of two or three dimensions when one or more of them are held at a code; of a
    dimension with levels the finest codes are taken. Its index of granularity is the percentage of its cells with
    contributors that have one only. Sums of hidden cells are no cells of a hyper-row, and are left alone.

    Parameters
    ----------
    level : float
        Per cent of unit cells from which a hyper-row is unsafe.
    range : float
        Protection levels in per cent of the cell value.

    References
    ----------
    Mas (Eustat), Statistical data protection, chapter on tabular data, after Horn and Morton (1998).

    Examples
    --------
    >>> from tabprotect.sensitivity.assess import assess
    >>> from tabprotect.table.tabulate import tabulate
    >>> data = pd.DataFrame({"job": list("aaaaaab"), "sex": list("mmmfffm")})
    >>> found = assess(tabulate(data, ["job", "sex"]), "granularity=50")
    >>> [found.table.system.label(i) for i in found.primaries]
    ['b x m']
    >>> print(found.explain("b x m"))
    b x m: 1, primary
      granularity: sensitive; where job = b, 1 of 1 cell with contributors has one only (100 % >= 50 %)
      an intruder must find it able to move down by 1, up by 1
    """

    level: float = 50.0
    range: float = 10.0
    keywords: ClassVar[tuple[str, ...]] = ("granularity",)
    among_respondents: ClassVar[bool] = True

    def __post_init__(self) -> None:
        percentage(self, "level", self.level, most=100.0)
        percentage(self, "range", self.range, zero=True)

    def needs(self) -> Needs:
        """Return what the table must carry."""
        return Needs(counts=True)

    def judge(self, table: Table) -> Verdict:
        """Return the sensitive cells and their levels."""
        sensitive = np.zeros(table.n_cells, bool)
        for row in _hyper_rows(table):
            sensitive[row.cells[row.unit & (row.index >= self.level)]] = True
        return ranged(table, np.flatnonzero(sensitive), self.range)

    def explain(self, table: Table, cell: int) -> str:
        """Say in which hyper-row the cell is, of the highest index."""
        best: tuple[float, str] | None = None
        for row in _hyper_rows(table):
            here = np.flatnonzero(row.cells == cell)
            if len(here) and row.unit[here[0]] and (best is None or row.index[here[0]] > best[0]):
                best = float(row.index[here[0]]), row.words(int(here[0]))
        if best is None:
            return "it is no cell of one contributor in a table of two or three dimensions at their finest codes"
        sign = ">=" if best[0] >= self.level else "<"
        return f"{best[1]} ({best[0]:.0f} % {sign} {written(self.level, table.decimal)} %)"


@dataclass(frozen=True, eq=False)
class _Rows:
    """The hyper-rows of one table with some dimensions held: its cells with contributors, and of each that row's index.

    Attributes
    ----------
    cells : ndarray of int
    unit : ndarray of bool
    filled, units : ndarray of int
        Cells with contributors, and with one, in the row of each cell.
    held : DataFrame
        The codes of the dimensions that are held.
    """

    cells: Ints
    unit: Bools
    filled: Ints
    units: Ints
    held: pd.DataFrame

    @property
    def index(self) -> npt.NDArray[np.float64]:
        return 100 * self.units / self.filled

    def words(self, place: int) -> str:
        held = ", ".join(f"{name} = {code}" for name, code in self.held.iloc[place].items())
        units, cells = int(self.units[place]), counted(int(self.filled[place]), "cell")
        return f"where {held}, {units} of {cells} with contributors {'has' if units == 1 else 'have'} one only"


def _hyper_rows(table: Table) -> Iterator[_Rows]:
    """Yield the hyper-rows of all tables of two and three of the dimensions, also of linked tables."""
    parts = table.parts or ({"": table.dimensions} if table.dimensions else {})
    count = counts(table) if parts else np.zeros(0)
    for name, dimensions in parts.items():
        inside = (table.rows["table"] == name).to_numpy() if table.parts else np.ones(len(table.rows), bool)
        rows, cell = table.rows[inside].reset_index(drop=True), table.row_cell[inside]
        finest = {d.name: rows[d.name].astype(str).isin(d.known.leaves).to_numpy() for d in dimensions}
        total = {d.name: (rows[d.name].astype(str) == d.known.total).to_numpy() for d in dimensions}
        for size in SIZES:
            for spanned in combinations(finest, size):
                there = count[cell] > 0
                for one in finest:
                    there &= finest[one] if one in spanned else total[one]
                if there.any():
                    yield from _held(rows.loc[there, list(spanned)], cell[there], count[cell[there]])


def _held(codes: pd.DataFrame, cells: Ints, count: npt.NDArray[np.float64]) -> Iterator[_Rows]:
    unit = pd.Series(count == 1, index=codes.index)
    names: list[Any] = list(codes.columns)
    for size in range(1, len(names)):
        for fixed in combinations(names, size):
            groups = unit.groupby([codes[name] for name in fixed], observed=True)
            filled, units = (np.asarray(groups.transform(how), np.int64) for how in ("size", "sum"))
            yield _Rows(cells, unit.to_numpy(), filled, units, codes[list(fixed)])
