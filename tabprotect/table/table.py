"""The cell frame: what is known of every cell of one table, or of several linked tables, before any rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import collect, need
from tabprotect.table.contributions import Contributions
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.reading import Recognised
from tabprotect.table.system import LinearSystem
from tabprotect.table.wide import Wide
from tabprotect.views import many, view

__all__ = ["Contributions", "Table"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Table:
    """Cells, their values and the equations between them.

    Parameters
    ----------
    system : LinearSystem
        One column a cell. A code with one child is the same cell as the child.
    values : ndarray, shape (cells,)
    dimensions : tuple
        The `Dimension` objects behind the cells (empty for linked tables and for tables given by explicit equations).
    counts : ndarray, optional
        Unweighted number of contributors (holdings, where given).
    weighted_counts : ndarray, optional
        Sum of sampling weights.
    contributions : Contributions, optional
        Needed by rules that look at the largest contributors.
    missing : ndarray of bool, optional
        The cell belongs to a missing ("unknown") code.
    columns : mapping of str to ndarray
        Everything else that came with the cells. ``cost``; ``status``: 's' safe, 'u' sensitive, 'm' suppressed already,
        'p' must be published, 'z' zero or fixed and known to everybody, '' nothing said; ``lpl``, ``upl``, ``spl``,
        ``lower``, ``upper``: levels and external bounds, nan where none is given; ``negative``: there are values below
        zero in the cell, so that y >= 0 is no bound to start from.
    rows : pandas.DataFrame
        The rows as the user gave them or would expect them: the code columns, then the user's own columns.
    row_cell : ndarray of int, shape (rows,)
        The cell of every row; several rows may be one cell (linked tables, codes with one child).
    kind : {'magnitude', 'frequency'}
    value_name : str
        Name of the value column in `rows` and in the release.
    residual : float
        Largest absolute rounding residual |A y - b| that was accepted and is carried along.
    backend : str
        Data frame library of the input, and so of the release: 'pandas', 'polars', 'pyarrow', 'duckdb' or 'file'.
    parts : mapping of str to tuple
        The dimensions of every table in linked tables, by the name that is in the column ``table`` of `rows`.
    empty_shown : bool
        The publication shows which cells nobody contributes to: they are left out of the table, or published with
        status 'z'. A cell that is hidden then has a contributor, and everybody knows it. Of linked tables: all of them.
    empty_shown_in : frozenset of str
        The linked tables of which that is so.
    roles : mapping of str to str
        The columns of the records that it was made from, by role: 'value', 'shadow', 'cost', 'contributor',
        'holding', 'weight', 'request', 'waiver', as far as there were any. Confidential.
    wide : Wide, optional
        How the cells were laid out, where they came as a crosstab: the place of each of the first rows.
    recognised : tuple of Recognised
        How the files were read that the cells come from: separator, decimal sign, encoding, ....
    holdings : Table, optional
        The same cells with the counts and contributions of holdings, where those of the table itself are of individual
        contributors; for rules at both levels.
    unpublished : ndarray of bool, shape (rows,), optional
        Rows that no publication has: those of codes below all groups (`tabprotect.link`).
    """

    system: LinearSystem
    values: Floats
    dimensions: tuple[Any, ...] = ()
    counts: Floats | None = None
    weighted_counts: Floats | None = None
    contributions: Contributions | None = None
    missing: Bools | None = None
    columns: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    rows: pd.DataFrame = field(default_factory=pd.DataFrame)
    row_cell: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    kind: str = "magnitude"
    value_name: str = "value"
    residual: float = 0.0
    backend: str = "pandas"
    parts: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)
    empty_shown: bool = False
    empty_shown_in: frozenset[str] = frozenset()
    wide: Wide | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    recognised: tuple[Recognised, ...] = ()
    holdings: Table | None = None
    unpublished: Bools | None = None

    def __post_init__(self) -> None:
        n = self.system.n_cells

        def entries(array: Any) -> str:
            return counted(len(array), "entry", "entries")

        with collect() as problems:
            for name in ("values", "counts", "weighted_counts", "missing"):
                array = getattr(self, name)
                if array is not None and np.shape(array) != (n,):
                    problems.add(f"{name} has shape {np.shape(array)}; {n} cells need ({n},)")
            for name, array in self.columns.items():
                if len(array) != n:
                    problems.add(f"column '{name}' has {entries(array)} for {counted(n, 'cell')}")
            if len(self.rows) != len(self.row_cell):
                problems.add(f"{counted(len(self.rows), 'row')} but row_cell has {entries(self.row_cell)}")
            if self.unpublished is not None and len(self.unpublished) != len(self.rows):
                problems.add(f"unpublished has {entries(self.unpublished)} for {counted(len(self.rows), 'row')}")
            if self.holdings is not None and self.holdings.n_cells != n:
                problems.add(f"holdings has {counted(self.holdings.n_cells, 'cell')}; the table has {n:,}")
            if self.kind not in ("magnitude", "frequency"):
                problems.add(f"kind must be 'magnitude' or 'frequency', not '{self.kind}'")

    def __repr__(self) -> str:
        return f"Table({self.value_name!r}, {self.kind}: {', '.join(self._facts())})"

    def _repr_html_(self) -> str:
        return view(self)

    def __len__(self) -> int:
        return self.n_cells

    def _facts(self) -> list[str]:
        """What may be said of any table: its size and shape."""
        size = [many(self.n_cells, "cell"), many(self.system.n_equations, "equation")]
        if self.parts:
            return [*size, f"{len(self.parts):,} linked tables"]
        codes = [f"{d.name} ({counted(len(d.codes), 'code')})" for d in self.dimensions]
        return [*size, " x ".join(codes)] if codes else size

    @classmethod
    def from_cells(
        cls,
        data: Any,
        by: Sequence[Any] | Any,
        value: str,
        *,
        count: str | None = None,
        weighted_count: str | None = None,
        maxima: Sequence[str] | str = (),
        holders: Sequence[str] | str = (),
        shadow: str | None = None,
        status: str | None = None,
        cost: str | None = None,
        lpl: str | None = None,
        upl: str | None = None,
        spl: str | None = None,
        lower: str | None = None,
        upper: str | None = None,
        hierarchies: Mapping[str, Any] | None = None,
        kind: str | None = None,
        tolerance: float | None = None,
        empty: str = "refuse",
        margins: str = "check",
        decimal: str | None = None,
    ) -> Table:
        """Build a table from cells that are tabulated already, one row a cell, margins included.

        Parameters
        ----------
        data : data frame, path or File
            pandas, polars, pyarrow; or a file of any usual kind, as `tabprotect.tabulate` takes it (codes in text are
            text). A pandas frame or series with a named index, or a crosstab, is brought into this form (see
            `from_crosstab`).
        by : sequence of str or Dimension, or mapping of str to hierarchy
            The dimensions, as in `tabprotect.tabulate`. Without a hierarchy, a column is a total over its other codes.
        value : str
            The cell values. They must add up; averages and percentages do not and are refused.
        count, weighted_count : str, optional
            Number of contributors, and the sum of their sampling weights.
        maxima : sequence of str
            Largest contributions of every cell, the largest first (absolute sizes). Missing means none.
        holders : sequence of str
            Who they are, one column for each of the maxima; who is alone in several cells is then known to be the same.
        shadow : str, optional
            Sum of absolute contributions, where the maxima are of another variable, or of values of both signs.
        status : str, optional
            s, u, m, p, z, e as in tau-ARGUS, or words such as 'safe' and 'primary', or true for sensitive.
        cost : str, optional
            Cost of suppression.
        lpl, upl, spl : str, optional
            Protection levels, in the unit of the values.
        lower, upper : str, optional
            External bounds that every intruder knows, as values (not distances).
        hierarchies : mapping of str to Hierarchy, path or sequence of str, optional
            Hierarchies by name of the dimension, for entries of `by` that are only names.
        kind : {'magnitude', 'frequency'}, optional
            In a frequency table the value is the count.
        tolerance : float, optional
            How far an equation may be off because the values are rounded, in their unit. The largest residual is
            kept in `Table.residual`; methods work on deviations, which add up exactly. By default only noise of
            floating-point arithmetic is accepted.
        empty : {'refuse', 'zero', 'structural', 'drop'}
            What cells mean that are not among the rows. 'structural': everybody knows that they are zero; 'zero': an
            intruder does not know; 'drop': known to be zero and left out of the table.
        margins : {'check', 'add'}
            'add' computes margins that are not among the rows. This is for tables with values only: the number of
            contributors of a margin, say, is not the sum over its parts. A code whose values are the sums over all
            others is refused, unless it is named as the total, or listed in a hierarchy as an ordinary code.
        decimal : str, optional
            Decimal sign of numbers that come as text; recognised in files, else '.'.

        Raises
        ------
        InputError
            One error with everything that is wrong: equations that do not add up and by how much, missing cells,
            cells given twice, unknown codes or statuses, text in numbers, and so on.

        Examples
        --------
        >>> frame = pd.DataFrame({"region": ["Total", "N", "S"], "size": ["Total"] * 3, "turnover": [9.0, 5.0, 4.0]})
        >>> table = Table.from_cells(frame, ["region"], "turnover")
        >>> table.values.tolist(), table.system.equation(0)
        ([9.0, 5.0, 4.0], 'Total = N + S')
        """
        from tabprotect.table.finished import Columns, table_of_cells

        largest, who = ((one,) if isinstance(one, str) else tuple(one) for one in (maxima, holders))
        columns = Columns(
            value, count, weighted_count, largest, who, shadow, status, cost, lpl, upl, spl, lower, upper,
        )  # fmt: skip
        return table_of_cells(cls, data, by, columns, hierarchies, kind, tolerance, empty, margins, decimal)

    @classmethod
    def from_crosstab(
        cls,
        data: Any,
        value: str | None = None,
        *,
        rows: Sequence[str] | str | None = None,
        columns: Sequence[str] | str | None = None,
        total: str | Mapping[str, str] | None = None,
        hierarchies: Mapping[str, Hierarchy] | None = None,
        margins: str = "add",
        **options: Any,
    ) -> Table:
        """Build a table from a crosstab, a pivot table, or grouped sums.

        `Release.crosstab` gives the published values in the same layout.

        Parameters
        ----------
        data : pandas series or frame, polars or pyarrow table
            The levels of a pandas index and the named levels of its columns are dimensions. Cells without a value are
            not in the table; `empty` says what that means.
        value : str, optional
            Name of the values; needed where there are several kinds.
        rows : sequence of str, optional
            Columns that hold codes (always for polars and pyarrow), or names for the levels of the index.
        columns : sequence of str, optional
            Names for the levels of the columns (for polars and pyarrow: the dimension that the other columns are codes
            of).
        total : str or mapping of dimension to str, optional
            Code of the margin; by default 'All' or 'Total', and margins that are not there are added as 'Total'.
        hierarchies : mapping of str to Hierarchy, optional
        margins : {'add', 'check'}
            pandas gives no subtotals where rows or columns have several levels: by default they are added.
        **options
            As `from_cells` takes them: ``kind``, ``count``, ``status``, ``cost``, ``empty``, ``tolerance``, ...

        Raises
        ------
        InputError
            If rows or columns have no names, it is not clear what is the margin, or as `from_cells` raises it.

        Examples
        --------
        >>> frame = pd.DataFrame({"region": ["N", "S", "S"], "size": ["a", "a", "b"]})
        >>> table = Table.from_crosstab(pd.crosstab(frame["region"], frame["size"], margins=True), kind="frequency")
        >>> table.system.cells.names, table.values.tolist()
        (FrozenList(['region', 'size']), [3.0, 2.0, 1.0, 1.0, 1.0, 0.0, 2.0, 1.0, 1.0])
        """
        from tabprotect.table.crosstab import table_of_crosstab

        given = {"margins": margins, **options}
        table: Table = table_of_crosstab(cls, data, value, rows, columns, total, hierarchies, given)
        return table

    @property
    def n_cells(self) -> int:
        """Number of cells."""
        return self.system.n_cells

    @property
    def decimal(self) -> str:
        """The decimal sign of the text that the table was made of; a point where it came in another form."""
        texts = [one for one in self.recognised if one.kind == "text" and one.separator]
        return texts[0].sign if texts else "."

    @property
    def published_rows(self) -> Bools:
        """Which rows a publication has: all but those of codes that are not published."""
        return np.ones(len(self.rows), bool) if self.unpublished is None else ~self.unpublished

    @property
    def sole(self) -> Ints:
        """Who is the only contributor of a cell (a position in ``contributions.names``); -1 for none or unknown."""
        if self.contributions is None or self.counts is None or not self.contributions.holders.shape[1]:
            return np.full(self.n_cells, -1, dtype=np.int64)
        return np.where(self.counts == 1, self.contributions.holders[:, 0], -1)


def need_table(given: object, who: str) -> None:
    """Refuse what is no table.

    Raises
    ------
    InputError
    """
    need(given, Table, who, "as tabprotect.tabulate and Table.from_cells make it")
