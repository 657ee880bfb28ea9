"""The databases that a guard can stand in front of: DuckDB and PostgreSQL, read and never written."""

from __future__ import annotations

import contextlib
import io
import secrets
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.query.guard.unavailable import UnavailableError
from tabprotect.table.duck import quoted
from tabprotect.table.reading import Recognised, read_typed

__all__ = ["Database", "connect", "wrap"]

Column = npt.NDArray[Any]


class Database(Protocol):
    """What the guard needs of a database.

    Attributes
    ----------
    dialect : str
        Of its SQL, as sqlglot calls it.
    """

    dialect: str

    def columns(self, sql: str) -> list[Column]:
        """Run a query that the guard has written and return its columns; missing values are None or nan."""
        ...

    def check_read_only(self, tables: list[str]) -> None:
        """Refuse a connection that could write."""
        ...


class Duck:
    """DuckDB."""

    dialect = "duckdb"

    def __init__(self, connection: Any) -> None:
        self._c = connection

    def columns(self, sql: str) -> list[Column]:
        """Run a query."""
        import duckdb

        try:
            result = self._c.execute(sql)
            kinds = [str(column[1]) for column in result.description]
            if any(map(_is_wide, kinds)):
                return _columns(result.fetchall(), len(kinds))
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


class Postgres:
    """PostgreSQL by pg8000."""

    dialect = "postgres"

    def __init__(self, connection: Any) -> None:
        self._c = connection

    def columns(self, sql: str) -> list[Column]:
        """Run a query in a read-only transaction of its own.

        Columns of whole numbers, text and double precision come as one file (COPY), which takes a tenth of the time
        of rows one by one.
        """
        import pg8000.exceptions as failures

        try:
            cursor = self._c.cursor()
            self._c.rollback()
            cursor.execute("SET TRANSACTION READ ONLY")
            # the driver takes % as the beginning of a parameter only where parameters are given
            cursor.execute(f"SELECT * FROM ({sql}) AS q LIMIT 0")
            names, kinds = zip(*((column[0], column[1]) for column in cursor.description), strict=True)
            if set(kinds) <= set(_FILED) and len(set(names)) == len(names):
                return _filed(cursor, sql, kinds)
            cursor.execute(sql)
            return _columns(cursor.fetchall(), len(kinds))
        except failures.DatabaseError as error:
            detail = error.args[0].get("M", "") if error.args and isinstance(error.args[0], dict) else error
            raise InputError(f"the database refused: {detail}") from None
        except (failures.InterfaceError, OSError) as error:
            raise UnavailableError(f"the database is gone: {error}") from None
        finally:
            with contextlib.suppress(failures.Error, OSError):
                self._c.rollback()

    def check_read_only(self, tables: list[str]) -> None:
        """Refuse a role that may write to one of the tables or their columns, or may do anything.

        Roles count that it is a member of, too, whether it inherits what they may or has to change over to them.
        """
        names = ", ".join("'" + name.replace("'", "''") + "'" for name in tables)
        mine = "FROM pg_roles WHERE pg_has_role(current_user, oid, 'MEMBER')"
        (powers,) = self.columns(f"SELECT rolname::text {mine} AND (rolsuper OR rolcreaterole OR rolcreatedb)")
        (may,) = self.columns(
            f"SELECT DISTINCT t FROM (SELECT oid {mine}) AS r, unnest(ARRAY[{names}]) AS t WHERE "
            "has_table_privilege(r.oid, quote_ident(t), 'INSERT, UPDATE, DELETE, TRUNCATE') OR "
            "has_any_column_privilege(r.oid, quote_ident(t), 'INSERT, UPDATE')"
        )
        if len(powers) or len(may):
            what = "may create databases or roles" if len(powers) else f"may change {', '.join(map(str, may))}"
            raise InputError(
                f"the guard only reads, but its database role {what}; tabprotect.query.guard.read_only_role(policy, "
                "'postgres') prints the SQL that creates a role for it"
            )


_WHOLE, _DOUBLE = (20, 21, 23), 701

_FILED = {20: "Int64", 21: "Int64", 23: "Int64", _DOUBLE: "str", 25: "str", 1043: "str"}
"""Object identifiers of bigint, smallint, integer, double precision, text and varchar, and how they are read."""


def _filed(cursor: Any, sql: str, kinds: Sequence[int]) -> list[Column]:
    # no value of the data is the mark of a missing one, since nobody knows it beforehand
    missing, file = secrets.token_hex(16), io.BytesIO()
    cursor.execute(f"COPY ({sql}) TO STDOUT (FORMAT csv, NULL '{missing}')", stream=file)
    file.seek(0)
    if not file.getbuffer().nbytes:
        return [_typed([]) for _ in kinds]
    frame = pd.read_csv(
        file,
        header=None,
        dtype={k: _FILED[kind] for k, kind in enumerate(kinds)},
        keep_default_na=False,
        na_values=[missing],
        encoding="utf-8",
        skip_blank_lines=False,
    )
    found = []
    for k, kind in enumerate(kinds):
        column = frame[k]
        if kind in _WHOLE and not column.isna().any():
            found.append(column.to_numpy(np.int64))
        elif kind == _DOUBLE:  # as text first, since numpy rounds decimals correctly
            absent = column.isna().to_numpy()
            numbers = np.where(absent, "nan", column.astype(object)).astype(np.float64)
            if absent.any():
                numbers = numbers.astype(object)
                numbers[absent] = None
            found.append(numbers)
        else:
            found.append(np.array(column.astype(object).where(column.notna(), None), object))
    return found


def wrap(connection: Any) -> Database:
    """Return the database behind a connection.

    Raises
    ------
    InputError
        If it is neither of DuckDB nor of pg8000.
    """
    module = type(connection).__module__.split(".")[0]
    if module in ("duckdb", "_duckdb"):
        return Duck(connection)
    if module == "pg8000":
        return Postgres(connection)
    raise InputError(f"connections of DuckDB and pg8000 (PostgreSQL) are understood, not {type(connection).__name__}")


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
        return _connect_postgres(place)
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


def _connect_postgres(place: str) -> Any:
    from urllib.parse import unquote, urlsplit

    try:
        import pg8000.dbapi as pg
    except ImportError as error:
        raise InputError("PostgreSQL needs pg8000: install tabprotect[query]") from error
    url = urlsplit(place)
    try:
        return pg.connect(
            user=unquote(url.username or "postgres"),
            password=unquote(url.password) if url.password else None,
            host=url.hostname or "localhost",
            port=url.port or 5432,
            database=url.path.lstrip("/") or None,
        )
    except (pg.DatabaseError, pg.InterfaceError, OSError) as error:
        raise InputError(f"database at {url.hostname}: {error}") from None


_WIDE: Final = ("HUGEINT", "UHUGEINT", "UBIGINT", "BIGNUM")

_EXACT: Final = 15
"""Decimal digits that a number of double precision always holds."""


def _is_wide(kind: str) -> bool:
    """Whether values of a DuckDB type need more digits than the arrays have that it returns."""
    if kind.startswith("DECIMAL("):
        return int(kind[len("DECIMAL(") :].partition(",")[0]) > _EXACT
    return kind in _WIDE


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


def _columns(rows: Sequence[Any], width: int) -> list[Column]:
    return [_typed([row[k] for row in rows]) for k in range(width)]


def _typed(values: list[Any]) -> Column:
    if values and all(isinstance(v, int) and not isinstance(v, bool) for v in values):
        limits = np.iinfo(np.int64)
        if limits.min <= min(values) and max(values) <= limits.max:
            return np.array(values, np.int64)
    array = np.empty(len(values), object)
    array[:] = values
    return array
