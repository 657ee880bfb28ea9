"""What the public gets: made from codes, published values and statuses, once hidden values have been dropped.

`public_table` is the only door. Everything behind it sees a `PublicTable`, so nothing that is written to a public
folder can depend on a hidden value, a count, a rule, a level, a cost or the order of the input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.formats.crosstab import encode_list
from tabprotect.formats.dialect import STANDARD, Dialect
from tabprotect.formats.frames import encode_frame
from tabprotect.formats.published import TABLES, Published, tables_of
from tabprotect.report.numbers import STANDARD as COMMAS
from tabprotect.report.numbers import Numbers
from tabprotect.report.pages import Cube, Shown, StatusKey, public_page
from tabprotect.report.parts import Part, code_columns, labels_of, published_parts
from tabprotect.table.decimals import decimals_of
from tabprotect.table.table import Table

__all__ = [
    "PRIMARY",
    "PUBLISHED",
    "SECONDARY",
    "SUPPRESSED",
    "PublicTable",
    "assembled",
    "free_name",
    "public_files",
    "public_table",
    "public_values",
]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PUBLISHED, SUPPRESSED, PRIMARY, SECONDARY = "published", "suppressed", "primary", "secondary"
"""The words that the public sees; why a cell is hidden is said only on request."""

_SYMBOLS = {PUBLISHED: "123", PRIMARY: "× p", SECONDARY: "× s"}


@dataclass(frozen=True, eq=False)
class PublicTable:
    """Codes, published values and statuses in the order of the codes, and nothing else.

    Attributes
    ----------
    title, unit, source : str
        Heading; unit of the values, and who they are from, '' where nothing is said.
    frame : pandas.DataFrame
        Code columns, the value column (hidden cells missing), the status column.
    value : str
        Name of the value column.
    status : str or None
        Name of the status column, the last; None where no cell is hidden, so that nothing tells cells apart.
    note : str
        What the page says of the values.
    parts : tuple of Part
        Their rows are consecutive in the frame; ``rows`` of a part are those of the frame.
    decimals : int, optional
        Decimals of the published values; None for more than six.
    first : ndarray of bool
        True where a row is the first that shows its cell.
    fixed : bool
        Text files have every value with all its decimals, too, as the page has.
    """

    title: str
    frame: pd.DataFrame
    value: str
    status: str | None
    parts: tuple[Part, ...]
    decimals: int | None
    first: Bools
    note: str = "Cells marked × are suppressed to keep the information of respondents confidential."
    unit: str = ""
    source: str = ""
    fixed: bool = False

    def __repr__(self) -> str:
        counts = ", ".join(f"{n:,} {word}" for word, n in self.counts().items())
        return f"PublicTable({self.title!r}: {counts})"

    def beside(self) -> dict[str, Any]:
        """Return what other forms need beside frame and title: unit, source, labels, linked tables."""
        facts = {"unit": self.unit, "source": self.source, "labels": labels_of(self.parts), TABLES: self.linked()}
        return {name: what for name, what in facts.items() if what}

    def linked(self) -> dict[str, list[str]]:
        """Return the dimensions of every linked table by its name; nothing where there is one table."""
        return {part.name: [axis.name for axis in part.axes] for part in self.parts if part.name}

    def tables(self) -> dict[str, Published]:
        """Return the tables by name, each in its own rows and columns; the only one is called 'crosstab'."""
        words = {
            "title": self.title,
            "unit": self.unit,
            "source": self.source,
            "labels": labels_of(self.parts),
            "places": self.decimals,
        }
        found = tables_of((self.value, self.status), self.frame, self.linked(), words)
        return {name or "crosstab": one for name, one in found.items()}

    def counts(self) -> dict[str, int]:
        """Return the number of cells of every status; one that several rows show counts once."""
        if self.status is None:
            return {PUBLISHED: int(self.first.sum())}
        words = self.frame[self.status].to_numpy()
        return {str(word): int(np.sum(self.first & (words == word))) for word in sorted(set(words))}


def public_table(
    table: Table,
    words: npt.NDArray[np.object_],
    hidden: Bools,
    *,
    title: str,
    unit: str = "",
    source: str = "",
    decimals: int | None = None,
) -> PublicTable:
    """Drop everything that is not public.

    Parameters
    ----------
    table : Table
    words : ndarray of str, shape (cells,)
        Public status of every cell.
    hidden : ndarray of bool, shape (cells,)
    title, unit, source : str
        See `PublicTable`.
    decimals : int, optional
        Round published values to this, and write them so; by default each with the decimals that it has.
    """
    shown = np.where(hidden, np.nan, table.values)
    frame, value, parts, cell = _rows(table)
    made = assembled(frame, value, parts, shown, cell, words[cell], title, decimals)
    return replace(made, unit=unit, source=source, fixed=decimals is not None)


def public_values(
    table: Table, values: npt.NDArray[np.float64], *, title: str, note: str, unit: str = "", source: str = ""
) -> PublicTable:
    """Drop everything but codes and changed values.

    Parameters
    ----------
    table : Table
    values : ndarray, shape (cells,)
        What is published instead of the true values, as it was proven.
    title, note : str
        Heading of the page, and what it says of the values.
    unit, source : str
        See `PublicTable`.
    """
    frame, value, parts, cell = _rows(table)
    made = assembled(frame, value, parts, values, cell, None, title, None, note)
    return replace(made, unit=unit, source=source)


def assembled(
    frame: pd.DataFrame,
    value: str,
    parts: tuple[Part, ...],
    shown: npt.NDArray[np.float64],
    cell: Ints,
    words: npt.NDArray[np.object_] | None,
    title: str,
    decimals: int | None,
    note: str = "",
) -> PublicTable:
    """Put codes, values and statuses together.

    Parameters
    ----------
    frame : DataFrame
        The code columns; the others are added to it.
    value : str
        Name of the value column.
    parts : tuple of Part
    shown : ndarray
        Values by cell, nan where hidden.
    cell : ndarray of int
        The cell of every row.
    words : ndarray of str, or None
        Status of every row; None where values were changed, which are published as they are.
    title, decimals, note :
        As `public_table` and `public_values` take them.
    """
    here = shown[cell]
    places = decimals_of(here) if decimals is None else decimals
    if words is not None and places is not None:
        here = np.round(here, places)
    here = here + 0.0
    first = np.zeros(len(cell), bool)
    first[np.unique(cell, return_index=True)[1]] = True
    column = pd.array(here, dtype="Float64")
    frame[value] = column.astype("Int64") if places == 0 and np.nanmax(np.abs(here), initial=0.0) < 2**53 else column
    if words is None:
        return PublicTable(title, frame, value, None, parts, places, first, note)
    status = free_name("status", frame.columns)
    frame[status] = words
    return PublicTable(title, frame, value, status, parts, places, first)


def _rows(table: Table) -> tuple[pd.DataFrame, str, tuple[Part, ...], Ints]:
    """Codes in their order, the name of the value column, the parts, and the cell of every row."""
    names = code_columns(table)
    found = published_parts(table)
    order = np.concatenate([part.rows for part in found])
    cell = table.row_cell[order]
    frame = pd.DataFrame({name: table.rows[name].to_numpy()[order] for name in names})
    value = free_name(table.value_name, frame.columns)
    ends = np.cumsum([0, *(len(part.rows) for part in found)])
    parts = tuple(replace(part, rows=np.arange(lo, hi)) for part, (lo, hi) in zip(found, pairwise(ends), strict=True))
    return frame, value, parts, cell


def free_name(name: str, taken: Any) -> str:
    """Return the name, with an underscore after it where a column is called so already."""
    while name in taken:
        name += "_"
    return name


def public_files(public: PublicTable, formats: Sequence[str], dialect: Dialect = STANDARD) -> Mapping[str, bytes]:
    """Return the files of the public folder by name; text and the numbers of the page are written in a dialect."""
    files = {f"table.{kind}": _encoded(public, kind, dialect) for kind in formats}
    files["index.html"] = page(public, Numbers.of(dialect)).encode()
    return files


def _encoded(public: PublicTable, kind: str, dialect: Dialect) -> bytes:
    """Return one file; an Excel file has the list of all rows, and every table in rows and columns besides."""
    if kind == "xlsx":
        return encode_list(public.frame, public.tables())
    places = max(0, public.decimals or 0) if public.fixed else None
    return encode_frame(public.frame, kind, title="table", dialect=dialect, decimals=places)


def page(public: PublicTable, numbers: Numbers = COMMAS) -> str:
    """Return the public page."""
    counts = public.counts()
    place = {word: i for i, word in enumerate(counts)}
    column = public.frame[public.value]
    keys = [
        StatusKey(word, word, _SYMBOLS.get(word, "×"), count, hidden=word != PUBLISHED)
        for word, count in counts.items()
    ]
    values = column.to_numpy(np.float64, na_value=np.nan)
    words = [PUBLISHED] * len(values) if public.status is None else public.frame[public.status]
    status = np.array([place[word] for word in words], dtype=np.int64)
    cubes = [Cube(part.name, part.axes, part.at, values[part.rows], status[part.rows]) for part in public.parts]
    shown = Shown(public.title, public.value, cubes, keys, public.decimals, public.unit, public.source, numbers)
    return public_page(shown, public.note)
