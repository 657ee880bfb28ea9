"""Data files and code lists of a request: how they are read, and what was recognised."""

from __future__ import annotations

import gzip
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from tabprotect.errors import InputError
from tabprotect.formats.codelists import is_code_list, read_code_list
from tabprotect.formats.files import read_bytes
from tabprotect.formats.recognised import Recognised
from tabprotect.formats.tabular import read_tabular, recognise
from tabprotect.table.duck import TextFile
from tabprotect.table.hierarchy import Hierarchy

__all__ = ["AS_IT_COMES", "LARGE", "DataFile", "Reading", "open_data", "read_hierarchy"]

LARGE = 16_000_000
"""Bytes. Plain text beyond that is read by DuckDB, in pieces, as its beginning says."""

_SAMPLE = 1_000_000
_STREAMED = (".parquet", ".pq")


@dataclass(frozen=True)
class Reading:
    """What is known of how a file is written; None is found out."""

    decimal: str | None = None
    thousands: str | None = None
    separator: str | None = None
    encoding: str | None = None
    member: str | None = None
    sheet: str | None = None
    relation: str | None = None


AS_IT_COMES: Final = Reading()


@dataclass(frozen=True, eq=False)
class DataFile:
    """A file that is ready to be tabulated.

    Attributes
    ----------
    source : DataFrame, path or TextFile
        What `tabprotect.tabulate` and `tabprotect.Table.from_cells` take.
    decimal : str
        Decimal sign of numbers that are still text.
    recognised : Recognised or None
        None where DuckDB reads a file that says itself what is in it (Parquet).
    """

    source: Any
    decimal: str
    recognised: Recognised | None


def open_data(
    path: Path, needed: Sequence[str], numbers: Sequence[str], reading: Reading, *, large: int = LARGE
) -> DataFile:
    """Open a data file of any usual kind.

    Parameters
    ----------
    path : Path
        Or a pattern that names Parquet files.
    needed, numbers : sequence of str
        Columns that have to be there, and those of numbers.
    reading : Reading
    large : int
        Bytes of plain text (UTF-8, no sign between thousands) beyond which DuckDB reads it; packed, a tenth.

    Raises
    ------
    InputError
        As `tabprotect.formats.tabular.read_tabular`.
    """
    if path.suffix.lower() in _STREAMED:
        return DataFile(str(path), reading.decimal or ".", None)
    streamed = _streamed(path, numbers, reading, large)
    if streamed is not None:
        return streamed
    given = asdict(reading)
    given["table"] = given.pop("relation")
    frame, found = read_tabular(path, numbers=numbers, needed=needed, **given)
    return DataFile(frame, found.decimal or ".", found)


def _streamed(path: Path, numbers: Sequence[str], reading: Reading, large: int) -> DataFile | None:
    """Return large plain text, which DuckDB reads; None for all else, and where the beginning is unclear."""
    if not path.is_file():
        return None
    with path.open("rb") as stream:
        packed = stream.read(2) == b"\x1f\x8b"
    if path.stat().st_size <= (large // 10 if packed else large) or (packed and path.suffix.lower() != ".gz"):
        return None
    try:
        with gzip.open(path) if packed else path.open("rb") as stream:
            sample = stream.read(_SAMPLE)
        sample = sample[: sample.rfind(b"\n") + 1]
        if sample.startswith(b"PK\x03\x04") or not sample:
            return None
        found = recognise(
            path, sample, numbers=numbers, separator=reading.separator, decimal=reading.decimal,
            thousands=reading.thousands, encoding=reading.encoding,
        )  # fmt: skip
    except (InputError, OSError, EOFError):
        # the whole file may tell, or is what the error has to be about
        return None
    plain = found.encoding.lower() in ("utf-8", "utf-8-sig", "ascii") and not found.thousands and found.separator
    if not plain or not found.decimal or found.doubt:
        return None
    return DataFile(TextFile(str(path), found.separator), found.decimal, found)


def read_hierarchy(path: Path, leader: str, total: str | None) -> Hierarchy:
    """Read a hierarchy by what is in the file: an indented code list, pairs of parent and child, or a labelled list.

    Raises
    ------
    InputError
        If it cannot be read.
    """
    if is_code_list(path, read_bytes(path)):
        return read_code_list(path, total=total).hierarchy
    return Hierarchy.read(path, leader, total)
