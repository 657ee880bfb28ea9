"""DuckDB as the reader of files and relations: a connection of our own, and the columns that are needed."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from types import TracebackType
from typing import Any

import duckdb
import pyarrow as pa

from tabprotect.errors import InputError
from tabprotect.paths import possible

__all__ = [
    "PIECE",
    "Column",
    "DuckSource",
    "TextFile",
    "in_pieces",
    "literal",
    "quoted",
    "read_file",
    "scan_of",
    "set_memory",
    "share_of",
]

PIECE = 2_000_000
"""Entries that are taken from DuckDB at a time."""

LEAST = 128_000_000
"""DuckDB does not work with less memory."""

_CSV = (".csv", ".tsv", ".tab", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz", ".csv.zst", ".tsv.zst")
_PARQUET = (".parquet", ".pq")


def quoted(name: str) -> str:
    """Return a name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(text: str) -> str:
    """Return a text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def share_of(memory: int) -> str:
    """Return what DuckDB may take of the bytes that this process may hold; the rest is for arrays.

    Examples
    --------
    >>> share_of(8 * 10**9)
    '4000000000B'
    """
    return f"{max(memory // 2, LEAST)}B"


def in_pieces(relation: Any, piece: int = PIECE) -> pa.RecordBatchReader:
    """Return the rows of a relation as Arrow, so many at a time, in all versions of DuckDB."""
    read = getattr(relation, "to_arrow_reader", None) or relation.fetch_arrow_reader
    return read(piece)


@dataclass(frozen=True)
class TextFile(PathLike[str]):
    """A text file (UTF-8) whose separator is known.

    Parameters
    ----------
    path : str
    separator : str
    """

    path: str
    separator: str

    def __fspath__(self) -> str:
        return self.path

    @property
    def scan(self) -> str:
        """The SQL that reads it, every column as text."""
        return (
            f"read_csv({literal(self.path)}, all_varchar=true, header=true, auto_detect=true, "
            f"""delim={literal(self.separator)}, quote='"', escape='"')"""
        )


def set_memory(connection: duckdb.DuckDBPyConnection, memory_limit: str) -> None:
    """Say how much memory a connection may take.

    Raises
    ------
    InputError
        If DuckDB does not understand it.
    """
    try:
        connection.execute(f"SET memory_limit = {literal(memory_limit)}")
    except duckdb.Error as error:
        raise InputError(f"memory_limit '{memory_limit}' is not understood; write it as '4GB'") from error


class DuckSource:
    """A DuckDB connection of our own and the data to be tabulated; use it in a ``with`` block.

    Parameters
    ----------
    data : path or duckdb.DuckDBPyRelation
    memory_limit : str, optional
        As DuckDB understands it, such as '4GB'; what does not fit goes to a temporary folder.
    piece : int
        Entries that are taken from DuckDB at a time; fewer need less memory outside of it.
    """

    def __init__(self, data: Any, memory_limit: str | None = None, *, piece: int = PIECE) -> None:
        self.piece = piece
        self._folder = tempfile.TemporaryDirectory(prefix="tabprotect-")
        self.connection = duckdb.connect(
            ":memory:", config={"temp_directory": self._folder.name, "python_enable_replacements": False}
        )
        try:
            # standard output is for answers
            self.connection.execute("SET enable_progress_bar = false")
            self._memory = memory_limit or "80 % of the machine's"
            if memory_limit is not None:
                self._limit(memory_limit)
            self.scan = ""
            self._relation: Any = None
            if isinstance(data, duckdb.DuckDBPyRelation):
                self._relation = data
                self.columns = list(data.columns)
            else:
                self.scan = data.scan if isinstance(data, TextFile) else scan_of(fspath(data))
                self.columns = [row[0] for row in self.rows(f"DESCRIBE SELECT * FROM {self.scan}")]
        except BaseException:
            self.close()
            raise

    def _limit(self, memory_limit: str) -> None:
        set_memory(self.connection, memory_limit)

    def __enter__(self) -> DuckSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection and remove what it kept on disk."""
        self.connection.close()
        self._folder.cleanup()

    def query(self, sql: str) -> Any:
        """Return the result of a statement as a relation."""
        with self._reading():
            return self.connection.sql(sql)

    @contextmanager
    def _reading(self) -> Iterator[None]:
        """Errors of reading the data become an `InputError`, whenever DuckDB comes to read."""
        try:
            yield
        except (duckdb.IOException, duckdb.InvalidInputException, duckdb.ConversionException) as error:
            text = str(error)
            if "not utf-8" in text:
                raise InputError("the text is not UTF-8; save the file as UTF-8, or convert it") from error
            raise InputError(f"the data cannot be read: {text.splitlines()[0]}") from error
        except duckdb.OutOfMemoryException as error:
            raise InputError(
                f"tabulation needs more memory than it may take ({self._memory}); raise memory_limit (--memory-limit), "
                "or tabulate fewer dimensions"
            ) from error

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Return the rows of a result."""
        with self._reading():
            found: list[tuple[Any, ...]] = self.connection.sql(sql).fetchall()
        return found

    @contextmanager
    def lend(self, name: str, table: pa.Table) -> Iterator[None]:
        """Let SQL see an Arrow table under a name, within the block."""
        self.connection.register(name, table)
        try:
            yield
        finally:
            self.connection.unregister(name)

    def keep(self, columns: Sequence[str]) -> dict[str, Column]:
        """Copy the columns into the temporary table ``records`` (in order), as c0, c1, ..., and say where they are."""
        if self._relation is not None:
            chosen = ", ".join(map(quoted, columns))
            self.connection.register("relation", in_pieces(self._relation.project(chosen), self.piece))
            self.scan = "relation"
        named = ", ".join(f"{quoted(column)} AS c{i}" for i, column in enumerate(columns))
        self.query(f"CREATE TEMP TABLE records AS SELECT {named} FROM {self.scan}")
        types = [row[1] for row in self.rows("DESCRIBE records")]
        return {name: Column(name, f"r.c{i}", types[i]) for i, name in enumerate(columns)}


_NUMERIC = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "DECIMAL", "FLOAT", "DOUBLE", "BIGNUM")


@dataclass(frozen=True)
class Column:
    """A column of ``records r``: its name in the data, its SQL, its DuckDB type."""

    name: str
    sql: str
    type: str

    @property
    def text(self) -> bool:
        """Whether it holds text."""
        return self.type == "VARCHAR" or (self.type.startswith("ENUM") and not self.nested)

    @property
    def nested(self) -> bool:
        """Whether it holds lists, structures or maps."""
        return self.type.endswith("]") or self.type.startswith(("STRUCT", "MAP", "UNION", "VARIANT"))

    @property
    def numeric(self) -> bool:
        """Whether it holds numbers."""
        return not self.nested and self.type.lstrip("U").startswith(_NUMERIC)


def read_file(path: str | PathLike[str]) -> pa.Table:
    """Read a whole CSV (all columns as text) or Parquet file."""
    with DuckSource(path) as source:
        _check_names(source, fspath(path))
        return source.query(f"SELECT * FROM {source.scan}").to_arrow_table()


def _check_names(source: DuckSource, path: str) -> None:
    """Refuse a CSV file with several columns of a name: DuckDB would call the second one a_1."""
    lower = [name.lower() for name in source.columns]
    renamed = any((end := re.search(r"_\d+$", name)) and name[: end.start()] in lower for name in lower)
    if not renamed or "all_varchar" not in source.scan:
        return
    first = source.rows(f"SELECT * FROM {source.scan.replace('header=true', 'header=false')} LIMIT 1")[0]
    names = [str(name).strip().lower() for name in first if name is not None]
    twice = sorted({str(name) for name in first if names.count(str(name).strip().lower()) > 1})
    if twice:
        raise InputError(f"{path}: several columns are called {', '.join(twice)}; rename all but one")


def scan_of(path: str) -> str:
    """Return a CSV file (all columns as text) or Parquet file, or several by a pattern, as a table of DuckDB.

    Raises
    ------
    InputError
        If there is no such file, it is empty, or of another kind.
    """
    lower = path.lower()
    possible(path)
    if not any(sign in path for sign in "*?[") and not Path(path).is_file():
        raise InputError(f"{path}: no such file")
    if lower.endswith(_PARQUET):
        return f"read_parquet({literal(path)})"
    if lower.endswith(_CSV):
        if Path(path).is_file() and not Path(path).stat().st_size:
            raise InputError(f"{path}: the file is empty; a first line with the names of the columns is needed")
        return f"read_csv({literal(path)}, all_varchar=true, header=true)"
    raise InputError(f"{path}: give a CSV file ({', '.join(_CSV[:4])}, also .gz) or a Parquet file (.parquet)")
