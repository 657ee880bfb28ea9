"""PostgreSQL by pg8000, read and never written."""

from __future__ import annotations

import contextlib
import io
import secrets
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.query.guard.columns import Column, columns_of, typed
from tabprotect.query.guard.unavailable import ConnectionLostError, UnavailableError

__all__ = ["Postgres", "open_postgres"]

_WHOLE: Final = (20, 21, 23)
_DOUBLE: Final = 701
_TEXTS: Final = (25, 1043)

_FILED: Final = {20: "Int64", 21: "Int64", 23: "Int64", _DOUBLE: "str", 25: "str", 1043: "str"}
"""Object identifiers of bigint, smallint, integer, double precision, text and varchar, and how they are read."""

_ENDING: Final = ("FATAL", "PANIC")
"""Severities of errors after which the server has ended the session."""

_TOO_LONG: Final = ("54000", "53200", "XX000")
"""Codes of the errors for a text of more than a gigabyte, for one that the memory of the server does not hold, and for
bytes of which no text can be made."""


class Postgres:
    """PostgreSQL.

    Parameters
    ----------
    connection : pg8000 connection
    open_ : callable, optional
        Opens another one like it.
    """

    dialect = "postgres"

    def __init__(self, connection: Any, open_: Callable[[], Any] | None = None) -> None:
        self._c = connection
        self._open = open_

    def columns(self, sql: str, coded: int | None = None) -> list[Any]:
        """Run a query in a read-only transaction of its own.

        Columns of whole numbers, text and double precision come as one file (COPY), which takes a tenth of the time
        of rows one by one; where their order does not matter, as one row, which takes less than half of that.
        """
        import pg8000.exceptions as failures

        if self._c is None:
            raise ConnectionLostError("the database is gone")
        try:
            read = self._read(sql, coded)
        except failures.DatabaseError as error:
            said = error.args[0] if error.args and isinstance(error.args[0], dict) else {"M": str(error)}
            if said.get("V") in _ENDING:
                self.drop()
                raise ConnectionLostError(f"the database is gone: {said.get('M', '')}") from None
            raise InputError(f"the database refused: {said.get('M', '')}") from None
        except (failures.InterfaceError, OSError) as error:
            self.drop()
            raise ConnectionLostError(f"the database is gone: {error}") from None
        except BaseException:
            # what was not read of an answer would be taken for the answer to the next query
            self.drop()
            raise
        finally:
            self._end()
        return read()

    def _read(self, sql: str, coded: int | None) -> Callable[[], list[Any]]:
        """Talk to the server; return what makes columns of what it sent."""
        cursor = self._c.cursor()
        self._c.rollback()
        cursor.execute("SET TRANSACTION READ ONLY")
        # the driver takes % as the beginning of a parameter only where parameters are given
        cursor.execute(f"SELECT * FROM ({sql}) AS q LIMIT 0")
        names, kinds = zip(*((column[0], column[1]) for column in cursor.description), strict=True)
        if set(kinds) <= set(_FILED) and len(set(names)) == len(names):
            # no value of the data is the mark of a missing one, since nobody knows it beforehand
            missing = secrets.token_hex(16)
            if coded is not None and (read := self._at_once(cursor, sql, kinds, coded, missing)) is not None:
                return read
            file = io.BytesIO()
            cursor.execute(f"COPY ({sql}) TO STDOUT (FORMAT csv, NULL '{missing}')", stream=file)
            file.seek(0)
            return lambda: _filed(file, missing, kinds, coded or 0)
        cursor.execute(sql)
        rows = cursor.fetchall()
        return lambda: columns_of(rows, len(kinds))

    def _at_once(
        self, cursor: Any, sql: str, kinds: Sequence[int], coded: int, missing: str
    ) -> Callable[[], list[Any]] | None:
        """Ask for all rows in one: numbers that label no groups as their bytes, the rest as lines of one text.

        Where only labels are left, the server puts the rows of every group together, and there is one line a group.
        With COPY the driver handles every row by itself. None where the server cannot make so long a text, or where a
        number is missing.
        """
        import pg8000.exceptions as failures

        columns = [f"c{k}" for k in range(len(kinds))]
        packed = [k for k in range(len(kinds) - coded) if kinds[k] not in _TEXTS]
        others = [k for k in range(len(kinds)) if k not in packed]
        rows = f"({sql}) AS q ({', '.join(columns)})"
        sent = [f"string_agg({_sent(columns[k], kinds[k])}, '')" for k in packed]
        # GROUP BY takes 0.0 and -0.0 for the same
        by_groups = bool(packed) and 0 < coded == len(others) and all(kinds[k] != _DOUBLE for k in others)
        if by_groups:
            # labels once a group, and its rows one after another
            labels = [columns[k] for k in others]
            inner = [*(f"{text} AS {columns[k]}" for k, text in zip(packed, sent, strict=True)), *labels]
            rows = f"(SELECT count(*) AS n, {', '.join(inner)} FROM {rows} GROUP BY {', '.join(labels)}) AS g"
            sent = ["string_agg(int8send(n), '')", *(f"string_agg({columns[k]}, '')" for k in packed)]
        line = " || ',' || ".join(f"coalesce({_written(columns[k], kinds[k])}, '{missing}')" for k in others)
        wanted = ["sum(n)" if by_groups else "count(*)", *sent, *([f"string_agg({line}, chr(10))"] if others else [])]
        try:
            cursor.execute(f"SELECT {', '.join(wanted)} FROM {rows}")
        except failures.DatabaseError as error:
            if not isinstance(error.args[0], dict) or error.args[0].get("C") not in _TOO_LONG:
                raise
            self._c.rollback()
            cursor.execute("SET TRANSACTION READ ONLY")
            return None
        ((n, *found),) = cursor.fetchall()
        n = int(n or 0)
        sizes = _unpacked(found.pop(0), 20) if by_groups and n else None
        if n and any(data is None or len(data) != 8 * n for data in found[: len(packed)]):
            return None

        def read() -> list[Any]:
            if not n:
                return [typed([]) for _ in kinds]
            made: dict[int, Any] = {k: _unpacked(data, kinds[k]) for k, data in zip(packed, found, strict=False)}
            if others:
                text = io.StringIO(found[-1], newline="")
                each = _filed(text, missing, [kinds[k] for k in others], coded)
                if sizes is not None:
                    of = np.repeat(np.arange(len(sizes)), sizes)
                    each = [column.take(of) for column in each]
                made |= zip(others, each, strict=True)
            return [made[k] for k in range(len(kinds))]

        return read

    def _end(self) -> None:
        """End the transaction; a connection on which that fails is not used again."""
        if self._c is None:
            return
        try:
            self._c.rollback()
        except BaseException as error:
            self.drop()
            if not isinstance(error, Exception):
                raise

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

    def open_again(self) -> None:
        """Open another connection in place of one that was lost.

        Raises
        ------
        UnavailableError
            If it cannot be opened, or nobody has said how.
        """
        self.drop()
        if self._open is None:
            raise UnavailableError(
                "the database is gone, and the guard was given no function that opens another connection; start it "
                "again, as Guard(lambda: connect(...), policy, log) if it is to do that by itself"
            )
        import pg8000.exceptions as failures

        try:
            self._c = self._open()
        except (failures.Error, OSError, InputError) as error:
            raise UnavailableError(f"the database is gone, and cannot be reached again: {error}") from None

    def drop(self) -> None:
        """Use the connection no more."""
        connection, self._c = self._c, None
        with contextlib.suppress(Exception):
            connection.close()

    def close(self) -> None:
        """Close a connection that was opened for this guard."""
        if self._open is not None:
            self.drop()


def _written(column: str, kind: int) -> str:
    """Return SQL that writes a value as COPY does."""
    return f"""'"' || replace({column}, '"', '""') || '"'""" if kind in _TEXTS else f"{column}::text"


def _sent(column: str, kind: int) -> str:
    """Return SQL that gives a number as eight bytes, the first ones first."""
    return f"float8send({column})" if kind == _DOUBLE else f"int8send({column}::int8)"


def _unpacked(data: bytes, kind: int) -> Column:
    """Return the numbers that `_sent` gives the bytes of."""
    double = kind == _DOUBLE
    return np.frombuffer(data, ">f8" if double else ">i8").astype(np.float64 if double else np.int64)


def _filed(
    file: io.BytesIO | io.StringIO, missing: str, kinds: Sequence[int], coded: int
) -> list[Column | pd.Categorical]:
    """Read a file of COPY; the texts among the last `coded` columns as categoricals."""
    if not file.read(1):
        return [typed([]) for _ in kinds]
    file.seek(0)
    frame = pd.read_csv(
        file,
        header=None,
        dtype={
            k: "category" if kind in _TEXTS and k >= len(kinds) - coded else _FILED[kind]
            for k, kind in enumerate(kinds)
        },
        keep_default_na=False,
        na_values=[missing],
        encoding="utf-8",
        skip_blank_lines=False,
    )
    found: list[Column | pd.Categorical] = []
    for k, kind in enumerate(kinds):
        column = frame[k]
        if isinstance(column.dtype, pd.CategoricalDtype):
            found.append(column.array)
            continue
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


def open_postgres(place: str) -> Any:
    """Open postgresql://user:password@host:port/name.

    Raises
    ------
    InputError
        If it cannot be opened.
    """
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
