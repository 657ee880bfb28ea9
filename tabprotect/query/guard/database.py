"""The databases that a guard can stand in front of: DuckDB and PostgreSQL, read and never written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.query.guard.columns import Column, columns_of
from tabprotect.query.guard.postgres import Postgres, open_postgres
from tabprotect.query.guard.unavailable import UnavailableError
from tabprotect.table.duck import quoted
from tabprotect.table.reading import Recognised, read_typed

__all__ = ["Database", "connect", "wrap"]


class Database(Protocol):
    """What the guard needs of a database.

    Attributes
    ----------
    dialect : str
        Of its SQL, as sqlglot calls it.
    """

    dialect: str

    def columns(self, sql: str, coded: int | None = None) -> list[Any]:
        """Run a query that the guard has written and return its columns; missing values are None or nan.

        With `coded` the rows may come in any order, and the texts of the last `coded` columns as categoricals, which is
        quicker.
        """
        ...

    def check_read_only(self, tables: list[str]) -> None:
        """Refuse a connection that could write."""
        ...

    def open_again(self) -> None:
        """Open another connection in place of one that was lost."""
        ...

    def drop(self) -> None:
        """Use the connection no more."""
        ...

    def close(self) -> None:
        """Close a connection that was opened for this guard."""
        ...


class Duck:
    """DuckDB, which is in this process: a connection that is gone was closed here.

    Parameters
    ----------
    connection : duckdb connection
    own : bool
        Whether it was opened for this guard.
    """

    dialect = "duckdb"

    def __init__(self, connection: Any, own: bool = False) -> None:
        self._c = connection
        self._own = own

    def columns(self, sql: str, coded: int | None = None) -> list[Any]:
        """Run a query."""
        import duckdb

        try:
            if coded:
                relation = self._c.sql(sql)
                kinds = [str(kind) for kind in relation.types]
                if set(kinds[:-coded]) <= _NUMBERS and set(kinds[-coded:]) <= _NUMBERS | {"VARCHAR"}:
                    return [_of_arrow(column) for column in relation.to_arrow_table().columns]
            result = self._c.execute(sql)
            kinds = [str(column[1]) for column in result.description]
            if any(map(_is_wide, kinds)):
                return columns_of(result.fetchall(), len(kinds))
            fetched = result.fetchnumpy()
        except duckdb.ConnectionException as error:
            raise UnavailableError(f"the database is gone: {str(error).splitlines()[0]}") from None
        except duckdb.Error as error:
            raise InputError(f"the database refused: {str(error).splitlines()[0]}") from None
        return [_plain(column, kind) for column, kind in zip(fetched.values(), kinds, strict=True)]

    def check_read_only(self, tables: list[str]) -> None:
        """Refuse a file that is open for writing; a database in memory is nobody else's."""
        row = self._c.execute("SELECT current_setting('access_mode')").fetchone()
        file = self._c.execute("SELECT path FROM duckdb_databases() WHERE NOT internal").fetchall()
        if str(row[0]).lower() != "read_only" and any(path for (path,) in file):
            raise InputError("the guard only reads: open the database with duckdb.connect(path, read_only=True)")

    def open_again(self) -> None:
        """Say that there is no way back."""
        raise UnavailableError("the database is gone")

    def drop(self) -> None:
        """Use the connection no more."""
        self._c.close()

    def close(self) -> None:
        """Close a connection that was opened for this guard."""
        if self._own:
            self._c.close()


def wrap(connection: Any) -> Database:
    """Return the database behind a connection, or behind a function that opens one.

    Raises
    ------
    InputError
        If it is neither of DuckDB nor of pg8000.
    """
    open_ = connection if callable(connection) else None
    opened = connection if open_ is None else open_()
    module = type(opened).__module__.split(".")[0]
    if module in ("duckdb", "_duckdb"):
        return Duck(opened, open_ is not None)
    if module == "pg8000":
        return Postgres(opened, open_)
    raise InputError(f"connections of DuckDB and pg8000 (PostgreSQL) are understood, not {type(opened).__name__}")


@of_kinds()
def connect(place: str, said: Callable[[Recognised], None] | None = None) -> Any:
    """Open a database read-only: a DuckDB file, postgresql://user:password@host:port/name, or a data file.

    Parameters
    ----------
    place : str
        A data file (text, Excel, Parquet) is one table, copied into memory, that is called as the file without its
        endings.
    said : callable, optional
        Is handed how a data file was read.

    Raises
    ------
    InputError
        If it cannot be opened.
    """
    if place.startswith(("postgresql://", "postgres://")):
        return open_postgres(place)
    import duckdb

    if _is_data(Path(place)):
        table, found = read_typed(place)
        if said is not None:
            said(found)
        connection = duckdb.connect(":memory:")
        connection.register("records", table)
        connection.execute(f"CREATE TABLE {quoted(Path(place).name.partition('.')[0])} AS SELECT * FROM records")
        connection.unregister("records")
        return connection
    try:
        return duckdb.connect(place, read_only=True)
    except duckdb.Error as error:
        raise InputError(f"database {place}: {str(error).splitlines()[0]}") from None


def _is_data(path: Path) -> bool:
    """Whether a file is there and is no database of DuckDB."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(12)[8:] != b"DUCK"


_NUMBERS: Final = {"BIGINT", "INTEGER", "SMALLINT", "TINYINT", "DOUBLE"}

_WIDE: Final = ("HUGEINT", "UHUGEINT", "UBIGINT", "BIGNUM")

_EXACT: Final = 15
"""Decimal digits that a number of double precision always holds."""


def _is_wide(kind: str) -> bool:
    """Whether values of a DuckDB type need more digits than the arrays have that it returns."""
    if kind.startswith("DECIMAL("):
        return int(kind[len("DECIMAL(") :].partition(",")[0]) > _EXACT
    return kind in _WIDE


def _of_arrow(column: Any) -> Any:
    """Return a column of Arrow: texts as a categorical, numbers with None for what is missing."""
    import pyarrow as pa

    if pa.types.is_string(column.type):
        encoded = column.dictionary_encode().unify_dictionaries()
        parts = [np.asarray(chunk.indices.fill_null(-1)) for chunk in encoded.chunks]
        names = encoded.chunk(0).dictionary.to_pylist() if parts else []
        codes = np.concatenate([np.zeros(0, np.int32), *parts])
        return pd.Categorical.from_codes(codes, pd.Index(names, dtype=object))
    if not column.null_count:
        return np.asarray(column.to_numpy())
    missing = np.asarray(column.is_null())
    data = column.fill_null(0).to_numpy().astype(object)
    data[missing] = None
    return data


def _plain(column: Any, kind: str) -> Column:
    """Return an array of DuckDB as an array with None for what is missing, dates as days and times with their zone."""
    missing = None
    if isinstance(column, np.ma.MaskedArray):
        missing, column = np.ma.getmaskarray(column), np.ma.getdata(column)
    elif hasattr(column, "codes"):  # a categorical
        column = np.asarray(column.astype(object))
    data = np.asarray(column)
    if kind == "DATE":
        data = data.astype("datetime64[D]")
    elif kind == "TIMESTAMP WITH TIME ZONE":
        data = np.asarray(pd.to_datetime(data, utc=True).astype(object))
    if missing is not None and missing.any():
        data = data.astype(object)
        data[missing] = None
    return data
