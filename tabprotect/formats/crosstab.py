"""A published table as an Excel sheet of rows and columns, hidden cells in colour."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any, Final

from tabprotect.errors import InputError
from tabprotect.formats.frames import without_clock
from tabprotect.formats.published import Published

__all__ = ["COLOURS", "encode_crosstab"]

COLOURS: Final = {"suppressed": "F4B183", "primary": "E06666", "secondary": "F6CF9B"}
"""Fill of hidden cells, by their public status."""

MARK: Final = "×"

_HEAD: Final = 3
"""Row of the codes of the columns: below title and unit."""


def encode_crosstab(table: Published, *, columns: str | None = None) -> bytes:
    """Return a published table as an Excel file (.xlsx): one dimension in the columns, the others in the rows.

    Hidden cells hold a cross, in the colour of their public status, which a legend explains; they hold no number. The
    unit is below the title, the source below the table. Excel writes the signs of numbers in the manner of its reader.

    Parameters
    ----------
    table : Published
    columns : str, optional
        Dimension in the columns; by default the last one of several.

    Raises
    ------
    InputError
        If openpyxl is not installed, there is no such dimension, or a text holds control characters.
    """
    try:
        from openpyxl import Workbook
        from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE
        from openpyxl.styles import PatternFill
    except ImportError as error:
        raise InputError("Excel files need openpyxl: install tabprotect[excel]") from error
    names = list(table.dimensions)
    across = columns or (names[-1] if len(names) > 1 else None)
    if across is not None and across not in names:
        raise InputError(f"no dimension '{across}'; there are {', '.join(names)}")
    words = [table.title, table.unit, table.source, table.value, *names]
    words += [table.shown(name, code) for name in names for code in table.codes(name)]
    if bad := [word for word in words if ILLEGAL_CHARACTERS_RE.search(word)]:
        raise InputError(f"Excel cannot hold the control characters in {bad[0]!r}; take another form")
    book = Workbook()
    sheet = book.active
    sheet.title = "table"
    down = [name for name in names if name != across]
    last = _fill(sheet, table, down, across)
    _text(sheet, 1, 1, table.title, bold=True, size=13)
    if table.unit:
        _text(sheet, 2, 1, f"Unit: {table.unit}", italic=True)
    statuses = sorted(set(map(str, table.words[table.hidden])))
    for i, word in enumerate(statuses):
        _text(sheet, last + 2 + i, 1, f"{MARK} {word}").fill = PatternFill("solid", fgColor=COLOURS[word])
    if table.source:
        _text(sheet, last + 3 + len(statuses), 1, f"Source: {table.source}", italic=True)
    sheet.freeze_panes = sheet.cell(_HEAD + 1, len(down) + 1)
    stream = io.BytesIO()
    book.save(stream)
    return without_clock(stream.getvalue())


def _fill(sheet: Any, table: Published, down: Sequence[str], across: str | None) -> int:
    """Write codes and cells below the heading, and return the last row."""
    from openpyxl.styles import PatternFill

    top = [table.value] if across is None else table.codes(across)
    head = [*down, *(top if across is None else [table.shown(across, code) for code in top])]
    for column, word in enumerate(head, 1):
        _text(sheet, _HEAD, column, word, bold=True)
    keys = list(dict.fromkeys(table.frame[down].astype(str).itertuples(index=False, name=None)))
    place = {key: row for row, key in enumerate(keys, _HEAD + 1)}
    for key, row in place.items():
        for column, (name, code) in enumerate(zip(down, key, strict=True), 1):
            _text(sheet, row, column, table.shown(name, code))
    number = "#,##0" if not table.decimals else "#,##0." + "0" * table.decimals
    left = {code: column for column, code in enumerate(top, len(down) + 1)}
    across_codes = [table.value] * len(table.frame) if across is None else table.frame[across].astype(str).tolist()
    rows = table.frame[down].astype(str).itertuples(index=False, name=None)
    for key, code, value, word, gone in zip(rows, across_codes, table.values, table.words, table.hidden, strict=True):
        cell = sheet.cell(place[key], left[code])
        if gone:
            cell.value = MARK
            cell.fill = PatternFill("solid", fgColor=COLOURS[str(word)])
        else:
            cell.value = int(value) if float(value).is_integer() else float(value)
            cell.number_format = number
    return _HEAD + len(place)


def _text(sheet: Any, row: int, column: int, word: str, **font: Any) -> Any:
    """Write a text, which is no formula even where it begins as one."""
    from openpyxl.styles import Font

    cell = sheet.cell(row, column, word)
    cell.data_type = "s"
    cell.font = Font(**font)
    return cell
