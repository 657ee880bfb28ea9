"""Data files as they come: text of any kind, packed or not, Excel, Parquet, DuckDB."""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path

import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, collect
from tabprotect.paths import possible
from tabprotect.table.reading.number_columns import need_commas, numbered, with_notation
from tabprotect.table.reading.plain import neighbours
from tabprotect.table.reading.recognised import Recognised, check_header, decode, find_separator, unpack
from tabprotect.table.reading.stores import open_duckdb, pandas_of, read_excel, read_parquet
from tabprotect.table.reading.unused import check_used

__all__ = ["DUCKDB", "PARQUET", "files_of", "has_pattern", "read_tabular", "recognise"]

PARQUET = (".parquet", ".pq")
DUCKDB = (".duckdb", ".ddb")
_EXCEL = b"PK\x03\x04"


def read_tabular(
    path: str | Path,
    *,
    numbers: Sequence[str] = (),
    needed: Sequence[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
    member: str | None = None,
    sheet: str | None = None,
    relation: str | None = None,
    strict: bool = True,
) -> tuple[pd.DataFrame, Recognised]:
    r"""Read a data file of any usual kind, and say how it was read.

    Whatever is not given is found out: gzip, zstd and zip by what is in the file, encoding, separator, decimal sign and
    the sign between thousands. What is given holds.

    Parameters
    ----------
    path : path
        Text, Excel (.xlsx), Parquet, DuckDB (.duckdb), or a pattern such as ``part-*.parquet``.
    numbers : sequence of str
        Columns of numbers. All others stay text as it is written (codes keep their leading zeros).
    needed : sequence of str
        Other columns that have to be there.
    separator, decimal, thousands, encoding : str, optional
        Of text.
    member : str, optional
        File in a zip archive that holds several.
    sheet : str, optional
        Of an Excel file with several.
    relation : str, optional
        Of a DuckDB file with several tables or views.
    strict : bool
        False leaves columns of numbers that hold other words as text, with a point as decimal sign, to whoever checks
        them together with all else.

    Returns
    -------
    frame : DataFrame
        Text columns hold str, or None for nothing; columns of numbers are floats.
    recognised : Recognised

    Raises
    ------
    InputError
        If the file cannot be read; lines with too many or too few fields; numbers that are none, or can be read in two
        ways where nothing decides ("1,234" alone).

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "firms.csv"
    >>> _ = path.write_bytes("région;turnover\r\n01;1.234,5\r\n02;7,25\r\n".encode("cp1252"))
    >>> frame, found = read_tabular(path, numbers=["turnover"])
    >>> frame["turnover"].tolist(), frame["région"].tolist()
    ([1234.5, 7.25], ['01', '02'])
    >>> found.encoding, found.separator, found.decimal, found.thousands
    ('cp1252', ';', ',', '.')
    """
    place = possible(path)
    given = {
        "separator": separator, "encoding": encoding, "member": member, "sheet": sheet, "relation": relation,
    }  # fmt: skip
    stated = decimal is not None or thousands is not None
    if has_pattern(fspath(path)):
        frame, found = _several(fspath(path), (separator, decimal, thousands, encoding), numbers)
        return numbered(frame, check_used(found, given), numbers, needed, strict, stated=stated)
    if place.is_dir():
        raise InputError(_folder(place))
    if not place.is_file():
        raise InputError(f"{place}: no such file{neighbours(place)}")
    suffix = place.suffix.lower()
    if suffix in DUCKDB:
        opened, found = open_duckdb(place, relation)
        frame = pandas_of(opened.to_arrow_table())
        return numbered(
            frame, check_used(replace(found, rows=len(frame)), given), numbers, needed, strict, stated=stated
        )
    if suffix in PARQUET:
        frame, found = read_parquet([place], fspath(path))
        return numbered(frame, check_used(found, given), numbers, needed, strict, stated=stated)
    raw, packed, inside, why = unpack(place, place.read_bytes(), member)
    if raw[:4] == b"PAR1":
        frame, found = read_parquet(raw, str(place))
    elif raw[:4] == _EXCEL:
        frame, found = read_excel(place, raw, sheet)
        words = frame.select_dtypes(object).map(lambda v: v if isinstance(v, str) else None)
        found = with_notation(words, found, (), None, None)
    else:
        frame, found = _text(place, raw, numbers, (separator, decimal, thousands, encoding))
    found = replace(found, packed=packed, member=inside, reasons=(*why, *found.reasons))
    return numbered(frame, check_used(found, given), numbers, needed, strict, stated=stated)


def recognise(
    path: str | Path,
    sample: bytes,
    *,
    numbers: Sequence[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    thousands: str | None = None,
    encoding: str | None = None,
) -> Recognised:
    r"""Find out how text is written from its beginning, whole lines of it; see `read_tabular`.

    Examples
    --------
    >>> found = recognise("firms.csv", b"region;turnover\nn;7,25\n", numbers=["turnover"])
    >>> found.separator, found.decimal
    (';', ',')
    """
    return _text(Path(path), sample, numbers, (separator, decimal, thousands, encoding))[1]


def _text(
    path: Path, raw: bytes, numbers: Sequence[str], given: tuple[str | None, str | None, str | None, str | None]
) -> tuple[pd.DataFrame, Recognised]:
    separator, decimal, thousands, encoding = given
    text, encoding, reasons, fits = decode(path, raw, encoding)
    if not text.strip():
        raise InputError(f"{path}: the file is empty; a first line with the names of the columns is needed")
    if separator is None:
        separator, why = find_separator(path, text)
        reasons = (*reasons, *why)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator or "\x1f")
    rows, lines = [], []
    try:
        for row in reader:
            if row:
                rows.append(row)
                lines.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: {error}; is a quote not closed?") from error
    names = [name.strip() for name in rows[0]]
    check_header(path, names)
    wrong = [(line, len(row)) for row, line in zip(rows[1:], lines[1:], strict=True) if len(row) != len(names)]
    if wrong:
        shown = ", ".join(f"{line} ({n} fields)" for line, n in wrong[:5])
        more = f" and {len(wrong) - 5} more" if len(wrong) > 5 else ""
        raise InputError(
            f"{path}: the first line names {counted(len(names), 'column')}, other lines have more or fewer: "
            f"{shown}{more}"
        )
    columns = list(zip(*rows[1:], strict=True)) or [()] * len(names)
    frame = pd.DataFrame(
        {name: pd.Series([word if word.strip() else None for word in column], dtype=object)
         for name, column in zip(names, columns, strict=True)}
    )  # fmt: skip
    found = Recognised(
        str(path),
        "text",
        encoding=encoding,
        separator=separator,
        rows=len(frame),
        columns=tuple(names),
        reasons=reasons,
        fits=fits,
    )
    if decimal is None and separator == "," and thousands != ".":
        # a comma ends a field; numbers in quotes may hold one between thousands, or a decimal comma where all do
        usual = with_notation(frame, found, numbers, ".", thousands)
        commas = with_notation(frame, found, numbers, ",", thousands) if need_commas(frame, numbers) else usual
        return frame, commas
    return frame, with_notation(frame, found, numbers, decimal, thousands)


def _several(
    pattern: str, given: tuple[str | None, str | None, str | None, str | None], numbers: Sequence[str]
) -> tuple[pd.DataFrame, Recognised]:
    """Read all files that a pattern names: Parquet, or text that is written in one way."""
    paths = files_of(pattern)
    if all(path.suffix.lower() in PARQUET for path in paths):
        return read_parquet(paths, pattern)
    frames: list[pd.DataFrame] = []
    found: list[Recognised] = []
    with collect() as problems:
        for path in paths:
            raw, _, _, _ = unpack(path, path.read_bytes(), None)
            if raw[:4] in (b"PAR1", _EXCEL) or path.suffix.lower() in (*PARQUET, *DUCKDB):
                problems.add(f"{pattern} names {path.name}, which is no text; read files of different kinds one by one")
                continue
            try:
                frame, one = _text(path, raw, numbers, given)
            except InputError as error:
                problems.found += error.problems
                continue
            if found and one.columns != found[0].columns:
                problems.add(f"{path} has other columns than {found[0].path}")
            frames.append(frame)
            found.append(one)
    whole = pd.concat(frames, ignore_index=True)
    encodings = {one.encoding for one in found} - {"utf-8", "utf-8-sig"}
    together = replace(
        found[0],
        path=pattern,
        files=tuple(map(str, paths)),
        rows=len(whole),
        encoding=", ".join(encodings) or "utf-8",
        fits=tuple(sorted({other for one in found for other in one.fits} - encodings)),
    )
    decimal = "." if given[1] is None and all(one.separator == "," for one in found) else given[1]
    return whole, with_notation(whole, together, numbers, decimal, given[2])


def has_pattern(path: str) -> bool:
    """Whether a path names files by a pattern; a file whose name has such signs is one file."""
    return glob.has_magic(path) and not Path(path).is_file()


def files_of(pattern: str) -> list[Path]:
    """Return the files that a pattern names, in order.

    Raises
    ------
    InputError
        If there is none.
    """
    paths = sorted(map(Path, glob.glob(pattern, recursive=True)))  # noqa: PTH207
    if not paths:
        raise InputError(f"{pattern}: no file has such a name")
    return paths


def _folder(path: Path) -> str:
    """Say of a folder what it is, and what is wanted instead."""
    if (path / "internal" / "release.json").is_file():
        return (
            f"{path}: the folder of a release, where a file of data is wanted; "
            f"'tabprotect audit {path}' and 'tabprotect verify {path}' check it"
        )
    return f"{path}: a folder, where a file of data is wanted"
