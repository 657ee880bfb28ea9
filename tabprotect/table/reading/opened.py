"""Data files, opened by one reader for all that takes data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import narwhals as nw
import pandas as pd
import pyarrow as pa

from tabprotect.errors import InputError
from tabprotect.kinds import check_fields
from tabprotect.paths import possible
from tabprotect.table.duck import DuckSource, TextFile, literal, quoted, read_file
from tabprotect.table.reading.numbers import SIGNS, one_blank
from tabprotect.table.reading.recognised import Recognised
from tabprotect.table.reading.stores import open_duckdb
from tabprotect.table.reading.tabular import DUCKDB, PARQUET, files_of, has_pattern, read_tabular, recognise
from tabprotect.table.reading.typed import typed
from tabprotect.table.reading.unused import check_used

__all__ = ["LARGE", "DataFile", "File", "is_file", "open_data", "read_frame", "read_typed"]

LARGE = 16_000_000
"""Bytes. Plain text beyond that is read by DuckDB, in pieces, as its beginning says."""

_SAMPLE = 1_000_000


@dataclass(frozen=True)
class File(PathLike[str]):
    """A data file, and what is known of how it is written; all else is recognised.

    It is taken wherever data are: by `tabprotect.protect`, `tabprotect.tabulate`, `tabprotect.Table.from_cells`,
    `tabprotect.microdata.mask` and the measures of risk. A path alone is a file of which nothing is known.

    Parameters
    ----------
    path : path
        Text (.csv, .tsv, .txt, packed or not), Excel, Parquet or DuckDB; or a pattern such as ``part-*.parquet``.
    decimal, thousands : str, optional
        Signs in numbers.
    separator : str, optional
        Sign between the fields of text.
    encoding : str, optional
        Of text, such as ``cp1252``.
    member : str, optional
        File in a zip archive that holds several.
    sheet : str, optional
        Of an Excel file with several.
    relation : str, optional
        Table or view of a DuckDB file with several.

    Raises
    ------
    InputError
        Signs that are none.

    Examples
    --------
    >>> File("firms.csv", decimal=",")
    File('firms.csv', decimal=',')
    """

    path: str | PathLike[str]
    decimal: str | None = None
    thousands: str | None = None
    separator: str | None = None
    encoding: str | None = None
    member: str | None = None
    sheet: str | None = None
    relation: str | None = None

    def __post_init__(self) -> None:
        check_fields(self, "path", "thousands", "encoding", "member", "sheet", "relation")
        object.__setattr__(self, "thousands", one_blank(self.thousands))
        sign = self.decimal
        if sign is not None and (not isinstance(sign, str) or len(sign) != 1 or sign.isalnum() or sign in "+- "):
            raise InputError(f"decimal must be one sign, such as '.' or ',', not {sign!r}")
        if sign is not None and sign == self.thousands:
            raise InputError(f"decimal and thousands are both {sign!r}; give different signs")
        if self.separator is not None and (not isinstance(self.separator, str) or len(self.separator) != 1):
            raise InputError(f"separator must be one sign, such as ';', not {self.separator!r}")

    @classmethod
    def of(cls, given: str | PathLike[str], decimal: str | None = None) -> File:
        """Return a path as a file, and the decimal sign where the file says nothing of it."""
        file = given if isinstance(given, File) else cls(given)
        return file if decimal is None or file.decimal is not None else replace(file, decimal=decimal)

    def __fspath__(self) -> str:
        return fspath(self.path)

    def __str__(self) -> str:
        return fspath(self.path)

    def __repr__(self) -> str:
        return f"File({', '.join([repr(fspath(self.path)), *(f'{k}={v!r}' for k, v in self.known().items())])})"

    def known(self) -> dict[str, Any]:
        """Return what is known of how the file is written."""
        given = ((one.name, getattr(self, one.name)) for one in fields(self)[1:])
        return {name: value for name, value in given if value is not None}


@dataclass(frozen=True, eq=False)
class DataFile:
    """A file that is ready to be read.

    Attributes
    ----------
    source : DataFrame, DuckDB relation, path or TextFile
        The last two are scanned by DuckDB.
    decimal : str
        Decimal sign of numbers that are still text.
    recognised : Recognised
    """

    source: Any
    decimal: str
    recognised: Recognised


def is_file(data: Any) -> bool:
    """Whether data are a path, or a file of which something is known."""
    return isinstance(data, str | PathLike)


def open_data(
    file: str | PathLike[str], needed: Sequence[str] = (), numbers: Sequence[str] = (), *, large: int = LARGE
) -> DataFile:
    """Open a data file of any usual kind.

    Parameters
    ----------
    file : path or File
    needed, numbers : sequence of str
        Columns that have to be there, and those of numbers. Without the latter all columns that can be numbers tell how
        numbers are written.
    large : int
        Bytes of plain text (UTF-8, no sign between thousands) beyond which DuckDB reads it; packed, a tenth.

    Raises
    ------
    InputError
        As `tabprotect.table.reading.tabular.read_tabular`.
    """
    given = File.of(file)
    name = fspath(given)
    path = possible(name)
    if path.suffix.lower() in PARQUET:
        several = files_of(name) if has_pattern(name) else [path]
        files = tuple(map(str, several)) if len(several) > 1 else ()
        found = check_used(Recognised(name, "parquet", files=files), given.known())
        return DataFile(name, given.decimal or ".", found)
    if path.suffix.lower() in DUCKDB and path.is_file():
        relation, found = open_duckdb(path, given.relation)
        return DataFile(relation, given.decimal or ".", check_used(found, given.known()))
    streamed = _streamed(name, numbers, given, large)
    if streamed is not None:
        return streamed
    frame, found = read_tabular(name, numbers=numbers, needed=needed, strict=False, **given.known())
    return DataFile(frame, "." if numbers else found.decimal or ".", found)


def read_frame(file: str | PathLike[str], numbers: Sequence[str] = ()) -> tuple[pd.DataFrame, Recognised]:
    """Read a whole file: of text, columns are text but for `numbers`.

    Raises
    ------
    InputError
        As `open_data`.
    """
    given = File.of(file)
    return read_tabular(fspath(given), numbers=numbers, **given.known())


def read_typed(file: str | PathLike[str]) -> tuple[pa.Table, Recognised]:
    """Read a whole file: columns of text are numbers where all of their values are, without leading zeros.

    Raises
    ------
    InputError
        As `open_data`; numbers that can be read in several ways where nothing decides.
    """
    opened = open_data(file)
    found = opened.recognised
    if isinstance(opened.source, pd.DataFrame):
        table = pa.Table.from_pandas(opened.source, preserve_index=False)
    elif is_file(opened.source):
        table = read_file(opened.source)
    else:
        table = nw.from_native(opened.source).collect("pyarrow").to_native()
    if found.kind == "text":
        table = typed(table, replace(found, decimal=opened.decimal))
    return table, replace(found, rows=len(table), columns=tuple(table.column_names))


def _streamed(name: str, numbers: Sequence[str], file: File, large: int) -> DataFile | None:
    """Return large plain text, which DuckDB reads; None for all else, and where the beginnings are unclear."""
    paths = files_of(name) if has_pattern(name) else [Path(name)]
    if not all(path.is_file() for path in paths):
        return None
    kinds = [_packing(path) for path in paths]
    sizes = [path.stat().st_size * (10 if kind else 1) for path, kind in zip(paths, kinds, strict=True)]
    if sum(sizes) <= large or any(kind is None for kind in kinds):
        return None
    found: list[Recognised] = []
    for path, kind in zip(paths, kinds, strict=True):
        try:
            found.append(_beginning(path, str(kind), numbers, file))
        except (InputError, OSError, EOFError):
            # the whole file may tell, or is what the error has to be about
            return None
    separators, decimals = {one.separator for one in found}, {one.decimal for one in found} - {""}
    for one in found:
        check_used(one, file.known())
    plain = all(one.encoding.lower() in ("utf-8", "utf-8-sig", "ascii") and not one.thousands for one in found)
    doubtful = any(one.doubt or one.several for one in found) or len({one.columns for one in found}) > 1
    if doubtful or not plain or len(separators) != 1 or len(decimals) > 1 or "" in separators:
        return None
    text = TextFile(name, separators.pop())
    if not decimals and not _whole(text, numbers or found[0].columns):
        return None
    decimal = decimals.pop() if decimals else "."
    files = tuple(map(str, paths)) if len(paths) > 1 else ()
    together = replace(found[0], path=name, packed=str(kinds[0]), rows=0, files=files, decimal=decimal)
    return DataFile(text, decimal, together)


def _whole(text: TextFile, columns: Sequence[str]) -> bool:
    """Whether no number in any of the columns has a sign between its digits."""
    signs = literal(rf"^\s*[+-]?\d*[{SIGNS}\s][\d{SIGNS}\s]*$")
    there = " OR ".join(f"regexp_full_match({quoted(name)}, {signs}) AND {quoted(name)} <> ''" for name in columns)
    with DuckSource(text) as source:
        return (
            all(name in source.columns for name in columns)
            and not source.rows(f"SELECT coalesce(bool_or({there}), false) FROM {source.scan}")[0][0]
        )


def _packing(path: Path) -> str | None:
    """Return how a file is packed, so that DuckDB knows it by its name, too; None where it would not."""
    with path.open("rb") as stream:
        mark = stream.read(4)
    for kind, begins in (("gz", b"\x1f\x8b"), ("zst", b"\x28\xb5\x2f\xfd")):
        if mark.startswith(begins):
            return kind if path.suffix.lower() == f".{kind}" else None
    return None if mark == b"PK\x03\x04" else ""


def _beginning(path: Path, kind: str, numbers: Sequence[str], file: File) -> Recognised:
    compression = {"gz": "gzip", "zst": "zstd"}.get(kind)
    with pa.input_stream(str(path), compression=compression) as stream:
        sample = stream.read(_SAMPLE)
    return recognise(
        path, sample[: sample.rfind(b"\n") + 1], numbers=numbers, separator=file.separator, decimal=file.decimal,
        thousands=file.thousands, encoding=file.encoding,
    )  # fmt: skip
