"""Wide tables: codes in the rows and in the columns, as crosstabs and pivot tables have them, and back again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.table.codes import some
from tabprotect.table.read import backend_of, open_frame

__all__ = ["Unfolded", "Wide", "is_wide", "unfold"]

Ints = npt.NDArray[np.int64]

TOTALS: Final = ("all", "total")
"""Codes that are taken for the margin, in any case, where nothing else is said; pandas writes 'All'."""


@dataclass(frozen=True, eq=False)
class Wide:
    """How a wide table is laid out.

    Attributes
    ----------
    backend : str
        Data frame library.
    index, columns : pandas.Index
        Labels of rows and columns.
    row, column : ndarray of int
        Place of every long row that there is.
    series : bool
        There is one column, and it is no frame.
    """

    backend: str
    index: pd.Index
    columns: pd.Index
    row: Ints
    column: Ints
    series: bool = False

    def lay_out(self, values: pd.Series[Any]) -> pd.DataFrame | pd.Series[Any]:
        """Put values, one for every long row, in their places; all other places are missing.

        Examples
        --------
        >>> wide = Wide("pandas", pd.Index(["N"]), pd.Index(["a", "b"]), np.array([0, 0]), np.array([0, 1]))
        >>> wide.lay_out(pd.Series([1, None], dtype="Int64")).to_numpy().tolist()
        [[1, <NA>]]
        """
        place = np.full((len(self.index), len(self.columns)), -1, dtype=np.int64)
        place[self.row, self.column] = np.arange(len(self.row))
        full: Any = values.array
        made = {j: pd.Series(full.take(place[:, j], allow_fill=True), index=self.index) for j in range(place.shape[1])}
        if self.series:
            return made[0].rename(str(self.columns[0]))
        frame = pd.DataFrame(made, index=self.index).set_axis(self.columns, axis=1)
        return frame if self.backend == "pandas" else frame.reset_index()


@dataclass(frozen=True, eq=False)
class Unfolded:
    """A wide table with one row a cell.

    Attributes
    ----------
    frame : pandas.DataFrame
        A column of codes, as text, for every dimension, then the values.
    dimensions : tuple of str
    totals : mapping of str to str
        Code of the margin of the dimensions that have one.
    wide : Wide
    """

    frame: pd.DataFrame
    dimensions: tuple[str, ...]
    totals: Mapping[str, str]
    wide: Wide


def is_wide(data: Any) -> bool:
    """Return whether data are a pandas series, or a pandas frame with names on its index or columns.

    Examples
    --------
    >>> is_wide(pd.DataFrame({"a": [1]})), is_wide(pd.DataFrame({"a": [1]}).set_index("a"))
    (False, True)
    """
    if isinstance(data, pd.Series):
        return True
    return isinstance(data, pd.DataFrame) and any(name is not None for name in (*data.index.names, *data.columns.names))


def unfold(
    data: Any,
    *,
    rows: Sequence[str] | str | None = None,
    columns: Sequence[str] | str | None = None,
    value: str | None = None,
    total: str | Mapping[str, str] | None = None,
) -> Unfolded:
    """Return a wide table with one row a cell. Cells without a value are left out.

    Parameters
    ----------
    data : pandas series or frame, polars or pyarrow table
        The levels of a pandas index are dimensions, and so are the named levels of its columns. Columns without a name
        are values; where one level of several has no name, its labels name the values.
    rows : sequence of str, optional
        Columns that hold codes (needed where there is no index), or names for the levels of the index.
    columns : sequence of str, optional
        Names for the levels of the columns, which are then dimensions.
    value : str, optional
        Name of the values, where they have none.
    total : str or mapping of dimension to str, optional
        Code of the margin; by default 'All' or 'Total'. Where a label has several levels, '' stands for it.

    Raises
    ------
    InputError
        If rows or columns have no names, there are no values, or it is not clear what is the margin.

    Examples
    --------
    >>> frame = pd.DataFrame({"region": ["N", "S", "S"], "size": ["a", "a", "b"]})
    >>> made = unfold(pd.crosstab(frame["region"], frame["size"], margins=True), value="n")
    >>> made.dimensions, made.totals["size"], made.frame["n"].tolist()
    (('region', 'size'), 'All', [1, 1, 2, 0, 1, 1, 1, 2, 3])
    """
    backend, frame, series = _opened(data, value)
    frame = _with_rows(frame, _names(rows), indexed=backend == "pandas")
    across, level = _with_columns(frame, _names(columns))
    down = [str(name) for name in frame.index.names]
    with collect() as problems:
        for name in dict.fromkeys(name for name in (*down, *across) if [*down, *across].count(name) > 1):
            problems.add(f"two dimensions are called '{name}'; name the levels with rows=[...], columns=[...]")
        given = {} if total is None or isinstance(total, str) else dict(total)
        for name in given:
            if name not in (*down, *across):
                problems.add(f"total names '{name}', which is no dimension{did_you_mean(name, [*down, *across])}")
    labels = frame.columns
    if not len(labels):
        raise InputError("the table holds codes, but no values")
    if level is None:
        blocks = {value or "value": np.arange(frame.shape[1])} if across else None
    else:
        kinds = labels.get_level_values(level)
        blocks = {str(kind): np.flatnonzero(kinds == kind) for kind in kinds.unique()}
        labels = _without(labels, level)
    if blocks is None:
        long = {str(name): frame.iloc[:, j].reset_index(drop=True) for j, name in enumerate(labels)}
        keys = labels[:0]
        row, column = np.arange(len(frame)), np.zeros(len(frame), dtype=np.int64)
    else:
        keys = labels.unique()
        row, column = np.tile(np.arange(len(frame)), len(keys)), np.repeat(np.arange(len(keys)), len(frame))
        long = {name: _stacked(frame, labels, keys, place, name) for name, place in blocks.items()}
    codes = {name: _codes(frame.index, k)[row] for k, name in enumerate(down)}
    codes |= {name: _codes(keys, k)[column] for k, name in enumerate(across)}
    totals = _totals(codes, total)
    for names in (down, across):
        _fill(codes, names, totals)
    made = pd.DataFrame({**codes, **long})
    there = made[list(long)].notna().any(axis=1).to_numpy()
    shown = keys if blocks is not None else pd.Index([value or str(labels[0])])
    if backend != "pandas":
        shown = pd.Index([str(label) for label in shown])
    wide = Wide(backend, frame.index, shown, row[there], column[there], series)
    return Unfolded(made[there].reset_index(drop=True), (*down, *across), totals, wide)


def _names(given: Sequence[str] | str | None) -> list[str] | None:
    return None if given is None else [given] if isinstance(given, str) else [str(name) for name in given]


def _opened(data: Any, value: str | None) -> tuple[str, pd.DataFrame, bool]:
    if isinstance(data, pd.Series):
        name = value or ("value" if data.name is None else str(data.name))
        return "pandas", data.to_frame(name), True
    if isinstance(data, pd.DataFrame):
        return "pandas", data, False
    opened = open_frame(data)
    collected = opened.collect() if isinstance(opened, nw.LazyFrame) else opened
    return backend_of(opened), collected.to_pandas(), False


def _with_rows(frame: pd.DataFrame, rows: list[str] | None, *, indexed: bool) -> pd.DataFrame:
    """Give the frame an index with names."""
    index = frame.index
    if rows is None:
        if not indexed:
            raise InputError(f"which columns hold the codes of the rows? Name them with rows=[...]: {_some(frame)}")
        if any(name is None for name in index.names):
            which = "the index has" if index.nlevels == 1 else f"of {index.nlevels} levels of the index some have"
            raise InputError(f"{which} no name: name the levels with rows=[...], or the columns that hold the codes")
        return frame
    if frame.columns.nlevels == 1 and set(rows) <= set(frame.columns):
        return frame.set_index(rows)
    if len(rows) == index.nlevels and indexed and not isinstance(index, pd.RangeIndex):
        return frame.rename_axis(index=rows)
    with collect() as problems:
        for name in rows:
            if name not in frame.columns:
                problems.add(f"rows: no column '{name}'{did_you_mean(name, map(str, frame.columns))}")
    raise InputError(f"rows names {len(rows)} levels, but the index has {index.nlevels}")


def _with_columns(frame: pd.DataFrame, columns: list[str] | None) -> tuple[list[str], int | None]:
    """Return the names of the levels of the columns that are dimensions, and the level that names values."""
    levels = frame.columns.nlevels
    unnamed = [k for k, name in enumerate(frame.columns.names) if name is None]
    if columns is None:
        found = [str(name) for name in frame.columns.names if name is not None]
    elif levels - len(columns) not in (0, 1) or (levels > len(columns) and len(unnamed) != 1):
        raise InputError(f"columns names {len(columns)} levels, but the columns have {levels}")
    else:
        found = columns
    if not found:
        if levels > 1:
            raise InputError(f"the {levels} levels of the columns have no names: name them with columns=[...]")
        return [], None
    if levels - len(found) > 1:
        raise InputError(f"{len(unnamed)} levels of the columns have no names: name them with columns=[...]")
    return found, unnamed[0] if levels > len(found) else None


def _some(frame: pd.DataFrame) -> str:
    return some([str(name) for name in frame.columns])


def _stacked(frame: pd.DataFrame, labels: pd.Index, keys: pd.Index, place: Ints, name: str) -> pd.Series[Any]:
    """Return the columns of one kind of value below each other, in the order of the keys."""
    here = labels[place]
    if not here.is_unique:
        raise InputError(f"columns are there more than once: {some([str(label) for label in here[here.duplicated()]])}")
    at = here.get_indexer(keys)
    empty = pd.Series(np.full(len(frame), np.nan))
    parts = [frame.iloc[:, place[j]].reset_index(drop=True) if j >= 0 else empty for j in at]
    stacked: pd.Series[Any] = pd.concat(parts, ignore_index=True)
    return stacked.rename(name)


def _without(labels: Any, level: int) -> pd.Index:
    left: pd.Index = labels.droplevel(level)
    return left


def _codes(labels: pd.Index, level: int) -> npt.NDArray[np.object_]:
    """Return the codes of one level as text; missing ones as None."""
    found = labels.get_level_values(level)
    return np.array([_code(label) for label in found.to_list()], dtype=object)


def _code(label: Any) -> str | None:
    if label is None or label is pd.NA or label is pd.NaT or (isinstance(label, float) and np.isnan(label)):
        return None
    if isinstance(label, float) and label.is_integer():
        return str(int(label))
    if isinstance(label, pd.Timestamp) and label == label.normalize():
        return str(label.date())
    return str(label)


def _totals(codes: Mapping[str, npt.NDArray[np.object_]], total: str | Mapping[str, str] | None) -> dict[str, str]:
    found: dict[str, str] = {}
    with collect() as problems:
        for name, given in codes.items():
            known = {code for code in given if code is not None}
            wanted = total if total is None or isinstance(total, str) else total.get(name)
            if wanted is not None:
                if wanted in known:
                    found[name] = wanted
                elif not isinstance(total, str):
                    problems.add(f"total: '{wanted}' is no code of '{name}'{did_you_mean(wanted, sorted(known))}")
                continue
            likely = sorted(code for code in known if code.strip().casefold() in TOTALS)
            if len(likely) > 1:
                problems.add(f"'{name}' holds {some(likely)}: say which is the margin with total={{'{name}': ...}}")
            found |= dict.fromkeys([name], likely[0]) if len(likely) == 1 else {}
        if isinstance(total, str) and not found:
            everything = sorted({str(code) for given in codes.values() for code in given})
            problems.add(f"total: no dimension holds the code '{total}'{did_you_mean(total, everything)}")
    return found


def _fill(codes: dict[str, npt.NDArray[np.object_]], names: Sequence[str], totals: dict[str, str]) -> None:
    """Put the code of the margin where a label of several levels has '': pandas writes ('All', '')."""
    margin = next((totals[name] for name in names if name in totals), None)
    if len(names) < 2 or margin is None:
        return
    for name in names:
        blank = codes[name] == ""
        if blank.any():
            codes[name] = np.where(blank, totals.setdefault(name, margin), codes[name])
