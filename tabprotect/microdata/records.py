"""Microdata as methods see them: columns as numbers or as categories, whatever library they came in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.categories import Categories, categories_of
from tabprotect.microdata.columns import like_numbers, like_values
from tabprotect.microdata.intake import check_columns
from tabprotect.microdata.scales import Scale, scale_of
from tabprotect.microdata.schema import Schema
from tabprotect.table.read import backend_of, open_frame, read_numbers
from tabprotect.table.reading import File, Recognised, is_file, read_typed
from tabprotect.table.reading.stores import pandas_of

__all__ = ["Records", "read_records"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Records:
    """A microdata file in memory; nothing changes it, every change is a new one.

    Attributes
    ----------
    frame : narwhals.DataFrame
    schema : Schema
    kind : str
        What came in and goes out again: 'pandas', 'polars', 'polars-lazy', 'pyarrow', 'duckdb', 'file'.
    recognised : tuple of Recognised
        How the file was read that they come from.
    """

    frame: nw.DataFrame[Any]
    schema: Schema
    kind: str
    recognised: tuple[Recognised, ...] = ()

    def __len__(self) -> int:
        return len(self.frame)

    def __repr__(self) -> str:
        return f"Records({counted(len(self), 'record')}, {counted(len(self.columns), 'column')})"

    @property
    def columns(self) -> list[str]:
        """Names of all columns, in order."""
        return list(self.frame.columns)

    def scale(self, name: str) -> Scale:
        """Return the scale of a column: as the schema says, else as its type suggests."""
        self._need(name)
        given = self.schema.scales.get(name)
        if given is not None:
            return Scale(given)
        if name in self.schema.hierarchies:
            return Scale.TREE
        if name in self.schema.orders:
            return Scale.ORDERED
        return scale_of(self.frame[name])

    def missing(self, name: str) -> Flags:
        """Return where a column has no value (null or nan)."""
        self._need(name)
        series = self.frame[name]
        absent = np.asarray(series.is_null().to_numpy(), dtype=bool)
        if series.dtype.is_float():
            absent = absent | np.isnan(np.asarray(series.to_numpy(), dtype=np.float64))
        return absent

    def numbers(self, name: str) -> Floats:
        """Return a column as floats, nan where it is missing.

        Raises
        ------
        InputError
            If it holds anything but finite numbers.
        """
        self._need(name)
        problems = Problems()
        values = read_numbers(self.frame, name, problems, missing=True)
        problems.raise_if_any()
        return values.copy()

    def matrix(self, names: Sequence[str]) -> Floats:
        """Return several columns as floats, shape (records, columns)."""
        return np.column_stack([self.numbers(name) for name in names]) if names else np.empty((len(self), 0))

    def categories(self, name: str) -> Categories:
        """Return a column as categories, in their order where it has one."""
        self._need(name)
        ordered = self.schema.scales.get(name) == Scale.ORDERED
        return categories_of(self.frame[name], self.schema.orders.get(name), ordered=ordered)

    def codes(self, name: str) -> tuple[Ints, int]:
        """Number the values of a column in any order, -1 where it is missing, and say how many numbers there are."""
        self._need(name)
        index, values = pd.factorize(self.frame[name].to_pandas())
        return np.where(self.missing(name), -1, index).astype(np.int64), len(values)

    def weights(self) -> Floats:
        """Return the sampling weights, 1 without any.

        Raises
        ------
        InputError
            If one is missing or not above 0.
        """
        if self.schema.weight is None:
            return np.ones(len(self))
        problems = Problems()
        weights = read_numbers(self.frame, self.schema.weight, problems)
        if not problems.found and (weights <= 0).any():
            problems.add(f"weights in column '{self.schema.weight}' must be above 0; the smallest is {weights.min():g}")
        problems.raise_if_any()
        return weights

    def groups(self, names: Sequence[str]) -> tuple[Ints, int]:
        """Number the combinations of some columns in order of first appearance; a missing value is one of its own.

        Returns
        -------
        index : ndarray of int, shape (records,)
        count : int
        """
        index = np.zeros(len(self), dtype=np.int64)
        count = 1 if len(self) else 0
        for name in names:
            one, size = self.codes(name)
            index, found = pd.factorize(index * (size + 1) + one + 1)
            count = len(found)
        return index.astype(np.int64), count

    def strata(self, names: Sequence[str] | None = None) -> list[Ints]:
        """Return the records of every stratum, by default of the schema; all records without strata."""
        names = self.schema.strata if names is None else names
        if not names:
            return [np.arange(len(self))]
        index, count = self.groups(names)
        order = np.argsort(index, kind="stable")
        return np.split(order, np.searchsorted(index[order], np.arange(1, count)))

    def with_numbers(self, name: str, values: npt.NDArray[Any]) -> Records:
        """Replace (or add) a column of numbers, nan as missing; whole numbers stay whole where all of them are."""
        if name not in self.columns:
            return self._with(name, like_numbers(_float_column(self.frame), values))
        return self._with(name, like_numbers(self.frame[name], values))

    def with_values(self, name: str, values: Sequence[Any]) -> Records:
        """Replace (or add) a column of any values, None as missing; in its old type where they fit it."""
        there = name in self.columns
        old = self.frame[name if there else self.columns[0]]
        return self._with(name, like_values(old, values, same_type=there))

    def with_categories(self, name: str, categories: Categories) -> Records:
        """Replace (or add) a column by categories."""
        values = np.empty(len(categories.values) + 1, dtype=object)
        values[:-1] = categories.values
        return self.with_values(name, values[categories.index].tolist())

    def with_rows(self, names: Sequence[str], rows: Ints) -> Records:
        """Give every record the values that another one has in some columns."""
        moved = self.select(names).take(rows)
        changed = self
        for name in names:
            changed = changed.with_values_of(name, moved.frame[name])
        return changed

    def with_values_of(self, name: str, series: nw.Series[Any]) -> Records:
        """Replace (or add) a column by one of the same library, row by row."""
        native = series.to_native()
        if isinstance(native, pd.Series):
            native = native.set_axis(self.frame.to_native().index)
        wrapped: nw.Series[Any] = nw.from_native(native, series_only=True)
        return self._with(name, wrapped)

    def with_missing(self, name: str, where: Flags) -> Records:
        """Blank some values of a column."""
        if not where.any():
            return self
        if self.frame[name].dtype.is_numeric():
            return self.with_numbers(name, np.where(where, np.nan, self.numbers(name)))
        values = np.array(self.frame[name].to_list(), dtype=object)
        values[where] = None
        return self.with_values(name, values.tolist())

    def without(self, names: Iterable[str]) -> Records:
        """Leave columns out."""
        return replace(self, frame=self.frame.drop([name for name in names if name in self.columns]))

    def select(self, names: Sequence[str]) -> Records:
        """Keep some columns only."""
        return replace(self, frame=self.frame.select(list(names)))

    def blank(self, columns: Sequence[str], count: int) -> Records:
        """Return new records of some columns, to be filled: their values mean nothing yet."""
        rows = np.arange(count, dtype=np.int64) % max(len(self), 1)
        chosen = self.select(columns).take(rows)
        return replace(chosen, schema=self.schema.only(columns))

    def take(self, rows: Ints) -> Records:
        """Return some records, in the given order; a record may come more than once."""
        return replace(
            self, frame=self.frame[np.asarray(rows, dtype=np.int64).tolist(), :] if len(rows) else self.frame.head(0)
        )

    def renumbered(self) -> Records:
        """Return the records with row labels 0, 1, ... where the library has labels."""
        native = self.frame.to_native()
        if not isinstance(native, pd.DataFrame):
            return self
        return replace(self, frame=nw.from_native(native.reset_index(drop=True), eager_only=True))

    def native(self) -> Any:
        """Return the frame as it came in."""
        native = self.frame.to_native()
        if self.kind == "duckdb":
            import duckdb

            return duckdb.from_arrow(native)
        return native.lazy() if self.kind == "polars-lazy" else native

    def pandas(self) -> pd.DataFrame:
        """Return the records as a pandas frame."""
        return self.frame.to_pandas()

    def _with(self, name: str, series: nw.Series[Any]) -> Records:
        if len(series) != len(self):
            raise ValueError(f"{len(series)} values for {len(self)} records")
        return replace(self, frame=self.frame.with_columns(series.alias(name)))

    def _need(self, name: str) -> None:
        if name not in self.frame.columns:
            raise InputError(f"no column '{name}'{did_you_mean(name, self.frame.columns)}")


def _float_column(frame: nw.DataFrame[Any]) -> nw.Series[Any]:
    one = frame.with_columns(nw.lit(0.0).alias("_"))["_"]
    return one


@of_kinds()
def read_records(data: Any, schema: Schema, *, decimal: str | None = None) -> Records:
    """Take microdata in, and check that every column of the schema is there.

    Parameters
    ----------
    data : pandas, polars or pyarrow frame, DuckDB relation, path or File
        Files of any usual kind (`tabprotect.File`). Columns of text are numbers where all of their values are, without
        leading zeros.
    schema : Schema
    decimal : str, optional
        Decimal sign of numbers in text files; recognised.

    Raises
    ------
    InputError
        If it cannot be read, or names the columns that are not there.
    """
    recognised: tuple[Recognised, ...] = ()
    if isinstance(data, Records):
        frame, kind, recognised = data.frame, data.kind, data.recognised
    elif is_file(data):
        table, found = read_typed(File.of(data, decimal))
        frame, kind, recognised = nw.from_native(pandas_of(table), eager_only=True), "file", (found,)
    else:
        opened = open_frame(data)
        kind = backend_of(opened)
        if isinstance(opened, nw.LazyFrame):
            kind = "polars-lazy" if kind == "polars" else kind
            frame = opened.collect("pyarrow") if kind == "duckdb" else opened.collect()
        else:
            frame = opened
    problems = Problems()
    for name in schema.columns:
        if name not in frame.columns:
            problems.add(f"no column '{name}'{did_you_mean(name, frame.columns)}")
    if not isinstance(data, Records):
        check_columns(frame, problems)
    if not len(frame):
        problems.add("the data have no records")
    problems.raise_if_any()
    return Records(frame, schema, kind, recognised)
