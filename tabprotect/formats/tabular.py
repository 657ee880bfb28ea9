"""Data files as they come: text of any kind, packed or not, Excel, Parquet, DuckDB."""

from __future__ import annotations

import csv
import glob
import io
from collections.abc import Sequence
from dataclasses import replace
from os import fspath
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.formats.numbers import Notation, find_notation, to_numbers
from tabprotect.formats.recognised import Recognised, check_header, decode, find_separator, unpack
from tabprotect.table.read import need_columns

__all__ = ["read_tabular", "recognise"]

_PARQUET = (".parquet", ".pq")
_DUCKDB = (".duckdb", ".ddb")
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
    table: str | None = None,
) -> tuple[pd.DataFrame, Recognised]:
    r"""Read a data file of any usual kind, and say how it was read.

    Whatever is not given is found out: gzip and zip by what is in the file, encoding, separator, decimal sign and the
    sign between thousands. What is given holds.

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
    table : str, optional
        Of a DuckDB file with several tables or views.

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
    place = Path(path)
    if glob.has_magic(fspath(path)) and not place.is_file():
        return _numbered(*_several(fspath(path)), numbers, needed)
    if not place.is_file():
        raise InputError(f"{place}: there is no such file{_neighbours(place)}")
    suffix = place.suffix.lower()
    if suffix in _DUCKDB:
        return _numbered(*_duckdb(place, table), numbers, needed)
    if suffix in _PARQUET:
        return _numbered(*_parquet([place], fspath(path)), numbers, needed)
    raw, packed, inside, why = unpack(place, place.read_bytes(), member)
    if raw[:4] == b"PAR1":
        frame, found = _parquet_bytes(raw, place)
    elif raw[:4] == _EXCEL:
        frame, found = _excel(place, raw, sheet)
    else:
        frame, found = _text(place, raw, numbers, (separator, decimal, thousands, encoding))
    found = replace(found, packed=packed, member=inside, reasons=(*why, *found.reasons))
    return _numbered(frame, found, numbers, needed)


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
    text, encoding, reasons = decode(path, raw, encoding)
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
            f"{path}: the first line names {len(names)} columns, other lines have more or fewer: {shown}{more}"
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
    )
    if decimal is None and separator == "," and thousands != ".":
        # a comma ends a field; numbers in quotes may hold one between thousands
        decimal = "."
    return frame, _with_notation(frame, found, numbers, decimal, thousands)


def _with_notation(
    frame: pd.DataFrame, found: Recognised, numbers: Sequence[str], decimal: str | None, thousands: str | None
) -> Recognised:
    """Find out how numbers are written: from the columns of numbers, or from all that can be such."""
    texts = {name: frame[name].dropna().astype(str).unique().tolist() for name in numbers or frame if name in frame}
    ways = {name: find_notation(words, decimal=decimal, thousands=thousands) for name, words in texts.items() if words}
    telling = [
        name for name, way in ways.items() if way is not None and any(set(w) & set(",. '’ ") for w in texts[name])
    ]
    together = find_notation((w for name in telling for w in texts[name]), decimal=decimal, thousands=thousands)
    if not telling:
        return replace(found, decimal=decimal or "", thousands=thousands or "")
    if together is None:
        example = {name: texts[name][0] for name in telling[:3]}
        words = ", ".join(f"'{word}' in {name}" for name, word in example.items())
        return replace(found, reasons=(*found.reasons, f"numbers are written in several ways ({words}); pass decimal="))
    shown = next((w for name in telling for w in texts[name] if set(w) & set(",.")), texts[telling[0]][0])
    return replace(
        found,
        decimal=together.decimal,
        thousands=together.thousands,
        doubt=together.doubt,
        reasons=(*found.reasons, f"numbers are written like '{shown}' in {telling[0]}"),
    )


def _numbered(
    frame: pd.DataFrame, found: Recognised, numbers: Sequence[str], needed: Sequence[str]
) -> tuple[pd.DataFrame, Recognised]:
    """Turn the columns of numbers into floats."""
    missing = Problems()
    need_columns(map(str, frame.columns), (*needed, *numbers), missing)
    if missing.found:
        raise InputError(*(f"{found.path}: {problem}" for problem in missing.found))
    columns = {}
    with collect() as problems:
        for name in numbers:
            columns[name] = _number_column(frame[name], found, name, problems)
    return frame.assign(**columns), found


def _number_column(column: pd.Series, found: Recognised, name: str, problems: Problems) -> Any:
    if pd.api.types.is_bool_dtype(column):
        problems.add(f"{found.path}: column '{name}' must hold numbers, but holds true and false")
        return column
    if pd.api.types.is_numeric_dtype(column):
        return column.astype(np.float64)
    texts = column.map(
        lambda value: value if isinstance(value, str) else "" if value is None or value != value else repr(value)
    )
    if found.doubt:
        problems.add(
            f"{found.path}: '{found.doubt}' in a column of numbers can be read in two ways, and nothing decides; pass "
            "decimal=',' or decimal='.'"
        )
        return column
    notation = Notation(found.decimal or ".", found.thousands)
    try:
        return to_numbers(texts, notation, name)
    except InputError as error:
        problems.found += [f"{found.path}: {problem}" for problem in error.problems]
        return column


def _excel(path: Path, raw: bytes, sheet: str | None) -> tuple[pd.DataFrame, Recognised]:
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
    frame = frame.astype({name: np.float64 for name in numeric if frame[name].notna().any()})
    words = [name for name in names if name not in numeric]
    return frame, _with_notation(frame[words].map(lambda v: v if isinstance(v, str) else None), found, (), None, None)


def _parquet_bytes(raw: bytes, path: Path) -> tuple[pd.DataFrame, Recognised]:
    frame = pd.read_parquet(io.BytesIO(raw))
    return frame, Recognised(str(path), "parquet", rows=len(frame), columns=tuple(map(str, frame.columns)))


def _parquet(paths: list[Path], name: str) -> tuple[pd.DataFrame, Recognised]:
    with duckdb.connect() as connection:
        try:
            frame = connection.read_parquet([str(path) for path in paths], union_by_name=False).df()
        except duckdb.Error as error:
            raise InputError(f"{name} cannot be read: {str(error).splitlines()[0]}") from error
    files = tuple(map(str, paths)) if len(paths) > 1 else ()
    return frame, Recognised(name, "parquet", files=files, rows=len(frame), columns=tuple(map(str, frame.columns)))


def _several(pattern: str) -> tuple[pd.DataFrame, Recognised]:
    paths = sorted(map(Path, glob.glob(pattern, recursive=True)))  # noqa: PTH207
    if not paths:
        raise InputError(f"{pattern}: no file has such a name")
    other = [path.name for path in paths if path.suffix.lower() not in _PARQUET]
    if other:
        raise InputError(
            f"{pattern} names files that are not Parquet: {', '.join(other[:5])}; read text files one by one"
        )
    return _parquet(paths, pattern)


def _duckdb(path: Path, table: str | None) -> tuple[pd.DataFrame, Recognised]:
    from tabprotect.table.duck import quoted

    try:
        with duckdb.connect(str(path), read_only=True) as connection:
            found = connection.execute(
                "SELECT table_schema, table_name FROM information_schema.tables "
                "WHERE table_catalog = current_database() ORDER BY ALL"
            ).fetchall()
            names = {name if schema == "main" else f"{schema}.{name}": (schema, name) for schema, name in found}
            if table is None and len(names) != 1:
                raise InputError(f"{path} holds {len(names)} tables; pass table={did_you_mean('', names)}")
            if table is not None and table not in names:
                raise InputError(f"{path} holds no table '{table}'{did_you_mean(table, names)}")
            chosen = table or next(iter(names))
            frame = connection.execute(f"SELECT * FROM {'.'.join(map(quoted, names[chosen]))}").df()
    except duckdb.Error as error:
        raise InputError(f"{path} cannot be read: {str(error).splitlines()[0]}") from error
    return frame, Recognised(str(path), "duckdb", table=chosen, rows=len(frame), columns=tuple(map(str, frame.columns)))


def _neighbours(path: Path) -> str:
    try:
        return did_you_mean(path.name, [entry.name for entry in path.absolute().parent.iterdir()])
    except OSError:
        return f"; the folder {path.absolute().parent} does not exist"
