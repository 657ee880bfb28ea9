"""Files that say themselves what is in them: Excel, Parquet, DuckDB."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tabprotect.errors import InputError, did_you_mean
from tabprotect.table.duck import quoted
from tabprotect.table.reading.recognised import Recognised, check_header

__all__ = ["open_duckdb", "pandas_of", "read_excel", "read_parquet"]


def pandas_of(table: pa.Table) -> pd.DataFrame:
    """Return an Arrow table as a pandas frame in which whole numbers with gaps stay whole."""
    frame: pd.DataFrame = table.to_pandas()
    for name in table.column_names:
        if pa.types.is_integer(table.schema.field(name).type) and frame[name].dtype.kind == "f":
            frame[name] = pd.array(table.column(name).to_pylist(), dtype="Int64")
    return frame


def read_parquet(source: bytes | Sequence[Path], name: str) -> tuple[pd.DataFrame, Recognised]:
    """Read Parquet files of the same columns, or one in memory.

    Raises
    ------
    InputError
        If they cannot be read.
    """
    try:
        if isinstance(source, bytes):
            table = pq.read_table(io.BytesIO(source))
        else:
            with duckdb.connect() as connection:
                table = connection.read_parquet([str(path) for path in source], union_by_name=False).to_arrow_table()
    except (duckdb.Error, pa.ArrowException) as error:
        raise InputError(f"{name} cannot be read: {str(error).splitlines()[0]}") from error
    files = tuple(map(str, source)) if not isinstance(source, bytes) and len(source) > 1 else ()
    return pandas_of(table), Recognised(
        name, "parquet", files=files, rows=len(table), columns=tuple(table.column_names)
    )


def open_duckdb(path: Path, relation: str | None) -> tuple[Any, Recognised]:
    """Open a table or view of a DuckDB file, which nothing is written to, as a relation.

    Raises
    ------
    InputError
        If it cannot be read, or holds several tables and none is named.
    """
    try:
        connection = duckdb.connect(str(path), read_only=True)
        found = connection.execute(
            "SELECT table_schema, table_name FROM information_schema.tables "
            "WHERE table_catalog = current_database() ORDER BY ALL"
        ).fetchall()
        names = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}
        if relation is None and len(names) != 1:
            raise InputError(f"{path} holds {len(names)} tables; pass relation={did_you_mean('', names)}")
        if relation is not None and relation not in names:
            raise InputError(f"{path} holds no table '{relation}'{did_you_mean(relation, names)}")
        chosen = relation or next(iter(names))
        opened = connection.sql(f"SELECT * FROM {'.'.join(map(quoted, names[chosen]))}")
    except duckdb.Error as error:
        raise InputError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    return opened, Recognised(str(path), "duckdb", relation=chosen, columns=tuple(opened.columns))


def read_excel(path: Path, raw: bytes, sheet: str | None) -> tuple[pd.DataFrame, Recognised]:
    """Read a sheet of an Excel file: columns of numbers are numbers, whole ones where all are whole, the rest is text.

    Raises
    ------
    InputError
        If it cannot be read, or has several sheets and none is named.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise InputError("Excel files need openpyxl: install tabprotect[excel]") from error
    try:
        book = openpyxl.load_workbook(io.BytesIO(raw), read_only=True, data_only=True)
    except Exception as error:  # a damaged archive raises what it likes
        raise InputError(f"{path} is no Excel file that can be read ({error})") from error
    filled = [name for name in book.sheetnames if next(book[name].iter_rows(values_only=True), None) is not None]
    if sheet is not None and sheet not in book.sheetnames:
        raise InputError(f"{path}: no sheet '{sheet}'{did_you_mean(sheet, book.sheetnames)}")
    if sheet is None and len(filled) != 1:
        raise InputError(f"{path} has {len(filled)} sheets that hold something; pass sheet={did_you_mean('', filled)}")
    chosen = sheet or filled[0]
    rows = [list(row) for row in book[chosen].iter_rows(values_only=True)]
    rows = [row for row in rows if any(value is not None for value in row)]
    if not rows:
        raise InputError(f"{path}: sheet '{chosen}' is empty")
    width = max(i + 1 for row in rows for i, value in enumerate(row) if value is not None)
    names = ["" if value is None else str(value).strip() for value in rows[0][:width]]
    check_header(path, names)
    full = [[*row, *[None] * width][:width] for row in rows[1:]]
    frame = pd.DataFrame({name: pd.Series([row[i] for row in full], dtype=object) for i, name in enumerate(names)})
    numeric = [n for n in names if len(frame) and frame[n].map(lambda v: type(v) in (int, float) or v is None).all()]
    found = Recognised(str(path), "excel", sheet=chosen, rows=len(frame), columns=tuple(names))
    if numeric:
        reason = f"{', '.join(numeric)} hold numbers; codes that lost leading zeros there have to be stored as text"
        found = replace(found, reasons=(reason,))
    return frame.assign(**{name: _sheet_numbers(frame[name]) for name in numeric}), found


def _sheet_numbers(column: pd.Series) -> Any:
    numbers = pd.to_numeric(column, errors="coerce").astype("float64")
    whole = numbers.notna().any() and (numbers.dropna() % 1 == 0).all() and numbers.abs().max() < 2**53
    if whole:
        return numbers.astype("Int64") if numbers.isna().any() else numbers.astype("int64")
    return numbers if numbers.notna().any() else column
