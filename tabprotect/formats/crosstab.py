"""A published table as an Excel sheet of rows and columns, hidden cells in colour."""

from __future__ import annotations

import io
from typing import Any, Final

from tabprotect.errors import InputError
from tabprotect.formats.frames import without_clock
from tabprotect.formats.published import Published

__all__ = ["COLOURS", "encode_crosstab"]

COLOURS: Final = {"suppressed": "F4B183", "primary": "E06666", "secondary": "F6CF9B"}
"""Fill of hidden cells, by their public status."""

MARK: Final = "×"


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
        from openpyxl.styles import Font, PatternFill
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
    down = [name for name in names if name != across]
    top = [table.value] if across is None else table.codes(across)
    book = Workbook()
    sheet = book.active
    sheet.title = "table"

    def text(row: int, word: str, **font: Any) -> None:
        cell = sheet.cell(row, 1, word)
        cell.data_type = "s"  # a text such as '=A1' is no formula
        cell.font = Font(**font)

    text(1, table.title, bold=True, size=13)
    if table.unit:
        text(2, f"Unit: {table.unit}", italic=True)
    head = [*down, *(top if across is None else [table.shown(across, code) for code in top])]
    for column, word in enumerate(head, 1):
        cell = sheet.cell(3, column, word)
        cell.data_type = "s"
        cell.font = Font(bold=True)
    keys = list(dict.fromkeys(table.frame[down].astype(str).itertuples(index=False, name=None)))
    place = {key: i for i, key in enumerate(keys)}
    number = "#,##0" if not table.decimals else "#,##0." + "0" * table.decimals
    for key, row in place.items():
        for column, (name, code) in enumerate(zip(down, key, strict=True), 1):
            cell = sheet.cell(row + 4, column, table.shown(name, code))
            cell.data_type = "s"
    left = {code: i for i, code in enumerate(top)}
    across_codes = [table.value] * len(table.frame) if across is None else table.frame[across].astype(str).tolist()
    rows = table.frame[down].astype(str).itertuples(index=False, name=None)
    for key, code, value, word, gone in zip(rows, across_codes, table.values, table.words, table.hidden, strict=True):
        cell = sheet.cell(place[key] + 4, len(down) + 1 + left[code])
        if gone:
            cell.value = MARK
            cell.fill = PatternFill("solid", fgColor=COLOURS[str(word)])
        else:
            cell.value = int(value) if float(value).is_integer() else float(value)
            cell.number_format = number
    statuses = sorted(set(map(str, table.words[table.hidden])))
    if table.source:
        text(len(place) + 6 + len(statuses), f"Source: {table.source}", italic=True)
    for i, word in enumerate(statuses):
        cell = sheet.cell(len(place) + 5 + i, 1, f"{MARK} {word}")
        cell.fill = PatternFill("solid", fgColor=COLOURS[word])
    sheet.freeze_panes = sheet.cell(4, len(down) + 1)
    stream = io.BytesIO()
    book.save(stream)
    return without_clock(stream.getvalue())
