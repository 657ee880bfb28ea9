"""Data frames as CSV, Parquet and Excel: no clock and no path in the bytes, so equal frames give equal files."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from tabprotect.errors import InputError, did_you_mean

__all__ = ["FRAME_FORMATS", "encode_frame", "without_clock"]

_EXCEL_ROWS = 1_048_576
_EPOCH = (1980, 1, 1, 0, 0, 0)  # the first moment that a zip archive can name


def encode_frame(frame: pd.DataFrame, kind: str, *, title: str = "table", confidential: bool = False) -> bytes:
    r"""Return the bytes of a file that holds the columns of a frame, and nothing else.

    Parameters
    ----------
    frame : pandas.DataFrame
        The index is left out; missing values become empty cells.
    kind : {'csv', 'parquet', 'xlsx'}
    title : str
        Name of the Excel sheet.
    confidential : bool
        Mark every printed page of an Excel sheet as confidential.

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
    return FRAME_FORMATS[kind](frame, title, confidential)


def _csv(frame: pd.DataFrame, _title: str, _confidential: bool) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n").encode()


def _parquet(frame: pd.DataFrame, _title: str, _confidential: bool) -> bytes:
    table = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(None)
    stream = io.BytesIO()
    pq.write_table(table, stream, compression="zstd")
    return stream.getvalue()


def _xlsx(frame: pd.DataFrame, title: str, confidential: bool) -> bytes:
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
        from openpyxl.styles import Font
    except ImportError as error:
        raise InputError("Excel files need openpyxl: install tabprotect[excel]") from error
    if len(frame) >= _EXCEL_ROWS:
        raise InputError(f"an Excel sheet holds {_EXCEL_ROWS - 1:,} rows, not {len(frame):,}; write csv or parquet")
    for name in frame.columns:
        for word in frame[name].unique():
            if isinstance(word, str) and ILLEGAL_CHARACTERS_RE.search(word):
                raise InputError(f"Excel cannot hold the control characters in {word!r}; write csv or parquet")
    book = Workbook(write_only=True)
    sheet = book.create_sheet(title[:31])
    sheet.freeze_panes = "A2"
    if confidential:
        sheet.oddHeader.center.text = sheet.oddFooter.center.text = "CONFIDENTIAL - internal use only"

    def cell(value: Any, bold: bool = False) -> Any:
        if value is None or value is pd.NA or value != value:
            return None
        if isinstance(value, str):
            made = WriteOnlyCell(sheet, value)
            made.data_type = "s"  # a code such as '=A1' is text, not a formula
            if bold:
                made.font = Font(bold=True)
            return made
        return value

    sheet.append([cell(str(name), bold=True) for name in frame.columns])
    for row in zip(*(frame[name].astype(object).tolist() for name in frame.columns), strict=True):
        sheet.append([cell(value) for value in row])
    stream = io.BytesIO()
    book.save(stream)
    return without_clock(stream.getvalue())


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


FRAME_FORMATS: dict[str, Callable[[pd.DataFrame, str, bool], bytes]] = {"csv": _csv, "parquet": _parquet, "xlsx": _xlsx}
"""Endings of table files and what makes their bytes."""
