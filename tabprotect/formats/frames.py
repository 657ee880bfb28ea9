"""Data frames as CSV, Parquet and Excel: no clock and no path in the bytes, so equal frames give equal files."""

from __future__ import annotations

import io
import math
import re
import zipfile
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tabprotect.errors import InputError, did_you_mean
from tabprotect.formats.dialect import STANDARD, Dialect

__all__ = [
    "EXCEL_ROWS",
    "FRAME_FORMATS",
    "add_list",
    "as_formulas",
    "as_labels",
    "beyond",
    "encode_frame",
    "mark_confidential",
    "number_cell",
    "packed",
    "text_cell",
    "without_clock",
    "workbook",
]

EXCEL_ROWS = 1_048_576
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip archive can name


_EXPONENT = 1e16
"""From here on Python writes floats with an exponent."""


def encode_frame(
    frame: pd.DataFrame,
    kind: str,
    *,
    title: str = "table",
    confidential: bool = False,
    dialect: Dialect = STANDARD,
    decimals: int | None = None,
) -> bytes:
    r"""Return the bytes of a file that holds the columns of a frame, and nothing else.

    Parameters
    ----------
    frame : pandas.DataFrame
        The index is left out; missing values become empty cells.
    kind : {'csv', 'text.csv', 'parquet', 'xlsx'}
        'text.csv': a CSV file in which a ``'`` stands before every text that a spreadsheet would take for a formula
        (see `as_formulas`) or that begins with one itself; `as_labels` takes it away again.
    title : str
        Name of the Excel sheet.
    confidential : bool
        Mark every printed page of an Excel sheet as confidential.
    dialect : Dialect
        How text is written.
    decimals : int, optional
        With how many decimals text has numbers that are not whole by their type; by default as many as each has.

    Raises
    ------
    InputError
        If the kind is unknown, its library is not installed, or the form cannot hold so many rows.

    Examples
    --------
    >>> print(encode_frame(pd.DataFrame({"region": ["A", "B"], "value": [1.5, None]}), "csv").decode())
    region,value
    A,1.5
    B,
    <BLANKLINE>
    """
    if kind not in FRAME_FORMATS:
        raise InputError(f"tables are not written as '{kind}'{did_you_mean(kind, FRAME_FORMATS)}")
    text = kind in ("csv", "text.csv")
    fixed = {"float_format": f"%.{decimals}f"} if text and decimals is not None else {}
    data = FRAME_FORMATS[kind](frame, title, confidential, **fixed)
    if not text or dialect == STANDARD:
        return data
    numbers = [str(name) for name in frame.columns if pd.api.types.is_numeric_dtype(frame[name])]
    return dialect.encode(data, numbers)


def _csv(frame: pd.DataFrame, _title: str, _confidential: bool, float_format: str | None = None) -> bytes:
    written = frame if float_format else _in_full(frame)
    return written.to_csv(index=False, lineterminator="\n", float_format=float_format).encode()


def _in_full(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame whose whole numbers are text where Python would write them with an exponent."""
    large = {
        name: column.map(lambda x: f"{x:.0f}" if abs(x) >= _EXPONENT and x.is_integer() else x).astype(object)
        for name, column in frame.select_dtypes("float64").items()
        if (column.abs() >= _EXPONENT).any()
    }
    return frame.assign(**{str(name): column for name, column in large.items()}) if large else frame


_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def as_formulas(frame: pd.DataFrame) -> list[str]:
    """Return the labels and column names that a spreadsheet takes for formulas when it opens a CSV file.

    Those that begin with ``=``, ``+``, ``-``, ``@``, a tab or a new line. A formula can send what is in other cells
    elsewhere. Excel files are not concerned: they say of every cell what it is.

    Examples
    --------
    >>> as_formulas(pd.DataFrame({"size": ["=1+1", "a", "=1+1"], "value": [-1, 2, 3]}))
    ['=1+1']
    """
    return [word for word in _words(frame) if word.startswith(_FORMULA)]


def beyond(frame: pd.DataFrame, encoding: str) -> list[str]:
    """Return the labels and column names with characters that an encoding has not.

    Examples
    --------
    >>> beyond(pd.DataFrame({"size": ["groß", "klein"], "value": [1, 2]}), "ascii")
    ['groß']
    """
    return [word for word in _words(frame) if not _has(encoding, word)]


def _has(encoding: str, word: str) -> bool:
    try:
        word.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True


def _words(frame: pd.DataFrame) -> list[str]:
    """Return the different labels and column names of a frame."""
    words = [str(name) for name in frame.columns]
    words += [word for _, column in _texts(frame) for word in column.unique() if isinstance(word, str)]
    return list(dict.fromkeys(words))


def as_labels(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame as it was before it was written as 'text.csv'; all columns are text.

    Examples
    --------
    >>> as_labels(pd.DataFrame({"size": ["'=1", "a", "''b"]}))["size"].tolist()
    ['=1', 'a', "'b"]
    """
    bare = frame.map(lambda word: word[1:] if isinstance(word, str) and word.startswith("'") else word)
    return bare.set_axis([str(name).removeprefix("'") for name in frame.columns], axis=1)


def _texts(frame: pd.DataFrame) -> list[tuple[int, pd.Series[Any]]]:
    columns = ((k, frame.iloc[:, k]) for k in range(frame.shape[1]))
    return [(k, column) for k, column in columns if not pd.api.types.is_numeric_dtype(column)]


def _text_csv(frame: pd.DataFrame, _title: str, _confidential: bool, float_format: str | None = None) -> bytes:
    def quoted(word: Any) -> Any:
        return f"'{word}" if isinstance(word, str) and word.startswith((*_FORMULA, "'")) else word

    columns = {k: frame.iloc[:, k] for k in range(frame.shape[1])}
    for k, column in _texts(frame):
        columns[k] = column.astype(object).map(quoted)
    made = pd.concat(columns, axis=1).set_axis([quoted(str(name)) for name in frame.columns], axis=1)
    return _csv(made, "", False, float_format)


def _parquet(frame: pd.DataFrame, _title: str, _confidential: bool) -> bytes:
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def _xlsx(frame: pd.DataFrame, title: str, confidential: bool) -> bytes:
    book = workbook()
    add_list(book, frame, title, confidential=confidential)
    return packed(book)


def workbook() -> Any:
    """Return an empty Excel file, to which sheets are added row by row.

    Raises
    ------
    InputError
        If openpyxl is not installed.
    """
    try:
        from openpyxl import Workbook
    except ImportError as error:
        raise InputError("Excel files need openpyxl: install tabprotect[excel]") from error
    return Workbook(write_only=True)


def packed(book: Any) -> bytes:
    """Return the bytes of an Excel file."""
    stream = io.BytesIO()
    book.save(stream)
    return without_clock(stream.getvalue())


def add_list(book: Any, frame: pd.DataFrame, title: str, *, confidential: bool = False) -> None:
    """Add a sheet with the columns of a frame."""
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    if len(frame) >= EXCEL_ROWS:
        raise InputError(f"an Excel sheet holds {EXCEL_ROWS - 1:,} rows, not {len(frame):,}; write csv or parquet")
    for name in frame.columns:
        for word in (str(name), *frame[name].unique()):
            if isinstance(word, str) and ILLEGAL_CHARACTERS_RE.search(word):
                raise InputError(f"Excel cannot hold the control characters in {word!r}; write csv or parquet")
    sheet = book.create_sheet(title[:31])
    sheet.freeze_panes = "A2"
    if confidential:
        mark_confidential(sheet)
    sheet.append([text_cell(sheet, str(name), bold=True) for name in frame.columns])
    for row in zip(*(frame[name].astype(object).tolist() for name in frame.columns), strict=True):
        sheet.append([_cell(sheet, value) for value in row])


def mark_confidential(sheet: Any) -> None:
    """Let every printed page of a sheet say that it is confidential."""
    sheet.oddHeader.center.text = sheet.oddFooter.center.text = "CONFIDENTIAL - internal use only"


def _cell(sheet: Any, value: Any) -> Any:
    if value is None or value is pd.NA or value != value:
        return None
    if isinstance(value, str):
        return text_cell(sheet, value)
    return number_cell(sheet, value) if isinstance(value, float) and math.isfinite(value) else value


def text_cell(sheet: Any, word: str, **font: Any) -> Any:
    """Return a cell with a text, which is no formula even where it begins as one."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.styles import Font

    cell = WriteOnlyCell(sheet, word)
    cell.data_type = "s"
    if font:
        cell.font = Font(**font)
    return cell


def number_cell(sheet: Any, value: float) -> Any:
    """Return a cell with a number in the fewest digits that give it back; openpyxl writes 83887.1 with 16 digits."""
    from openpyxl.cell import WriteOnlyCell

    cell = WriteOnlyCell(sheet, repr(int(value) if float(value).is_integer() else float(value)))
    cell.data_type = "n"
    return cell


def without_clock(archive: bytes) -> bytes:
    """Pack an Excel file again, with fixed times in the archive and in its properties."""
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in sorted(old.namelist()):
            data = old.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"(<dcterms:(\w+)[^>]*>)[^<]*(</dcterms:\2>)", rb"\g<1>1980-01-01T00:00:00Z\g<3>", data)
            new.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED)
    return stream.getvalue()


FRAME_FORMATS: dict[str, Callable[..., bytes]] = {
    "csv": _csv,
    "text.csv": _text_csv,
    "parquet": _parquet,
    "xlsx": _xlsx,
}
"""Endings of table files and what makes their bytes."""
