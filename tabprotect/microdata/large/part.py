"""Some of the records at a time, and what kernels need of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tabprotect.microdata.keys import row_numbers
from tabprotect.microdata.records import Records
from tabprotect.microdata.schema import Schema

__all__ = ["Codebook", "Part", "plain", "records_of", "replaced"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Part:
    """Consecutive records.

    Attributes
    ----------
    rows : ndarray of int, shape (records,)
        Position of each in the data that came in, growing.
    table : pyarrow.Table
    before : pyarrow.Table, optional
        The same records before a step.
    """

    rows: Ints
    table: pa.Table
    before: pa.Table | None = None

    def numbers(self, name: str) -> Floats:
        """Return a column as floats, nan where it is missing."""
        return _numbers(self.table.column(name))

    def matrix(self, names: Sequence[str]) -> Floats:
        """Return columns as floats, shape (records, columns)."""
        return np.column_stack([self.numbers(name) for name in names])


def _numbers(column: pa.ChunkedArray) -> Floats:
    cast = column.cast(pa.float64()) if column.type != pa.float64() else column
    found: Floats = np.array(pc.fill_null(cast, float("nan")), dtype=np.float64)
    return found


def plain(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array in which nan is missing, too."""
    array = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], type=array.type)
    if pa.types.is_floating(array.type):
        array = pc.if_else(pc.is_nan(array), pa.scalar(None, type=array.type), array)
    return array


def replaced(table: pa.Table, name: str, array: pa.Array) -> pa.Table:
    """Replace (or add) a column."""
    field = pa.field(name, array.type)
    at = table.column_names.index(name) if name in table.column_names else -1
    return table.append_column(field, array) if at < 0 else table.set_column(at, field, array)


def records_of(table: pa.Table, schema: Schema) -> Records:
    """Return a table as records."""
    return Records(nw.from_native(table, eager_only=True), schema, "duckdb")


@dataclass(frozen=True, eq=False)
class Codebook:
    """The combinations of some columns that occur, numbered.

    Attributes
    ----------
    names : tuple of str
    values : tuple of pyarrow.Array
        The different values of each column, missing ones left out.
    numbers : ndarray of int, shape (combinations,)
        Of every combination as `row_numbers` has them, growing.
    place : ndarray of int, shape (combinations,)
        What number the combination has in the order of first appearance.
    """

    names: tuple[str, ...]
    values: tuple[pa.Array, ...]
    numbers: Ints
    place: Ints

    @classmethod
    def of(cls, names: Sequence[str], combinations: pa.Table) -> Codebook:
        """Make it from all combinations in their order."""
        columns = [plain(combinations.column(name)) for name in names]
        values = tuple(pc.drop_null(pc.unique(column)) for column in columns)
        draft = cls(tuple(names), values, np.zeros(0, np.int64), np.zeros(0, np.int64))
        numbers = draft._numbers(combinations)
        order = np.argsort(numbers)
        return cls(tuple(names), values, numbers[order], order.astype(np.int64))

    def __len__(self) -> int:
        return len(self.numbers)

    def columns(self, table: pa.Table) -> Ints:
        """Return the position of every value in its column, -1 where it is missing, shape (records, columns)."""
        found = [_codes(table.column(n), v) for n, v in zip(self.names, self.values, strict=True)]
        return np.column_stack(found) if found else np.empty((len(table), 0), np.int64)

    def _numbers(self, table: pa.Table) -> Ints:
        return row_numbers(self.columns(table), [len(v) for v in self.values])[0]

    def codes(self, table: pa.Table) -> Ints:
        """Return the number of every record's combination, -1 for one that is not known."""
        if not self.names:
            return np.zeros(len(table), dtype=np.int64)
        numbers = self._numbers(table)
        at = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return np.where(self.numbers[at] == numbers, self.place[at], -1)


def _codes(column: Any, values: pa.Array) -> Ints:
    array = plain(column)
    if not len(values):
        return np.full(len(array), -1, dtype=np.int64)
    found = pc.index_in(array, value_set=values.cast(array.type))
    codes: Ints = np.array(pc.fill_null(found, -1), dtype=np.int64)
    return codes
