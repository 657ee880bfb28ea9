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

from tabprotect.formats.frames import encode_frame
from tabprotect.report.pages import Cube, StatusKey, public_page
from tabprotect.report.parts import Part, code_columns, parts_of
from tabprotect.table.table import Table

__all__ = ["PUBLISHED", "SUPPRESSED", "PublicTable", "free_name", "public_files", "public_table"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PUBLISHED, SUPPRESSED = "published", "suppressed"
"""The words that the public sees; why a cell is hidden is said only on request."""

MOST_DECIMALS = 6
"""Published values are rounded to the decimals that they have, up to this many; values with more stay as they are."""


_SYMBOLS = {PUBLISHED: "123", "primary": "× p", "secondary": "× s"}


@dataclass(frozen=True, eq=False)
class PublicTable:
    """Codes, published values and statuses in the order of the codes, and nothing else.

    Attributes
    ----------
    title : str
    frame : pandas.DataFrame
        Code columns, the value column (hidden cells missing), the status column.
    value, status : str
        Names of the last two columns.
    parts : tuple of Part
        Their rows are consecutive in the frame; ``rows`` of a part are those of the frame.
    decimals : int, optional
        Decimals of the published values; None for more than six.
    """

    title: str
    frame: pd.DataFrame
    value: str
    status: str
    parts: tuple[Part, ...]
    decimals: int | None

    def counts(self) -> dict[str, int]:
        """Return the number of rows of every status."""
        return {str(word): int(n) for word, n in self.frame[self.status].value_counts(sort=False).sort_index().items()}


def public_table(
    table: Table, words: npt.NDArray[np.object_], hidden: Bools, *, title: str, decimals: int | None = None
) -> PublicTable:
    """Drop everything that is not public.

    Parameters
    ----------
    table : Table
    words : ndarray of str, shape (cells,)
        Public status of every cell.
    hidden : ndarray of bool, shape (cells,)
    title : str
    decimals : int, optional
        Round published values to this; by default to the decimals that they have.
    """
    names = code_columns(table)
    found = parts_of(table)
    order = np.concatenate([part.rows for part in found])
    cell = table.row_cell[order]
    shown = np.where(hidden, np.nan, table.values)
    places = decimals_of(shown) if decimals is None else decimals
    if places is not None:
        shown = np.round(shown, places) + 0.0
    frame = pd.DataFrame({name: table.rows[name].to_numpy()[order] for name in names})
    value = free_name(table.value_name, frame.columns)
    column = pd.array(shown[cell], dtype="Float64")
    frame[value] = column.astype("Int64") if places == 0 and np.nanmax(np.abs(shown), initial=0.0) < 2**53 else column
    status = free_name("status", frame.columns)
    frame[status] = words[cell]
    ends = np.cumsum([0, *(len(part.rows) for part in found)])
    parts = tuple(replace(part, rows=np.arange(lo, hi)) for part, (lo, hi) in zip(found, pairwise(ends), strict=True))
    return PublicTable(title, frame, value, status, parts, places)


def decimals_of(values: npt.NDArray[np.float64]) -> int | None:
    """Return how many decimals numbers have when the noise of floating-point sums is left out; None above six.

    Examples
    --------
    >>> decimals_of(np.array([0.1 + 0.2, 5, np.nan])), decimals_of(np.array([1 / 3]))
    (1, None)
    """
    values = values[np.isfinite(values)]
    for places in range(MOST_DECIMALS + 1):
        scaled = np.abs(values) * 10.0**places
        noise = np.clip(1e-14 * scaled, 1e-9, 1e-2)
        if np.all(np.abs(scaled - np.rint(scaled)) <= noise):
            return places
    return None


def free_name(name: str, taken: Any) -> str:
    """Return the name, with an underscore after it where a column is called so already."""
    while name in taken:
        name += "_"
    return name


def public_files(public: PublicTable, formats: Sequence[str]) -> Mapping[str, bytes]:
    """Return the files of the public folder by name."""
    files = {f"table.{kind}": encode_frame(public.frame, kind, title="table") for kind in formats}
    files["index.html"] = page(public).encode()
    return files


def page(public: PublicTable) -> str:
    """Return the public page."""
    counts = public.counts()
    place = {word: i for i, word in enumerate(counts)}
    shown = public.frame[public.value]
    keys = [StatusKey(word, word, _SYMBOLS.get(word, "×"), count) for word, count in counts.items()]
    values = shown.to_numpy(np.float64, na_value=np.nan)
    status = np.array([place[word] for word in public.frame[public.status]], dtype=np.int64)
    cubes = [Cube(part.name, part.axes, part.at, values[part.rows], status[part.rows]) for part in public.parts]
    decimals = MOST_DECIMALS if public.decimals is None else public.decimals
    return public_page(public.title, public.value, cubes, keys, decimals)
