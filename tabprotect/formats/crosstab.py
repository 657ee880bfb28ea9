"""Published tables as Excel sheets of rows and columns: values shaded by size, hidden cells in colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final

import pandas as pd

from tabprotect.errors import InputError
from tabprotect.formats.frames import (
    EXCEL_ROWS,
    add_list,
    mark_confidential,
    number_cell,
    packed,
    text_cell,
    workbook,
)
from tabprotect.formats.published import Published
from tabprotect.formats.shades import COLOURS as HEAT
from tabprotect.formats.shades import shades
from tabprotect.visible import visible

__all__ = ["COLOURS", "Marks", "encode_crosstab", "encode_list"]

COLOURS: Final = {"suppressed": "F4B183", "primary": "E06666", "secondary": "F6CF9B", "forced": "D9B3E6"}
"""Fill of hidden cells, by their status; 'forced' is inside only."""


MARK: Final = "×"

CONFIDENTIAL: Final = "confidential"
"""Name of the sheet with the list of a confidential table."""

_HEAD: Final = 3
"""Row of the codes of the columns: below title and unit."""

_AROUND: Final = 12
"""Rows above and below the cells, at most."""

_EXCEL_COLUMNS: Final = 16_384
_NAME: Final = 31
_FORBIDDEN: Final = str.maketrans(dict.fromkeys("[]:*?/\\", "-"))


@dataclass(frozen=True)
class Marks:
    """How the cells of a confidential table are marked; all of them hold their value.

    Parameters
    ----------
    words : sequence of str
        Status of every row of the table.
    signs : mapping of str to str
        What stands behind the value, by status, such as 'P'.
    meanings : mapping of str to str
        What the legend says, by status.
    """

    words: Sequence[str]
    signs: Mapping[str, str]
    meanings: Mapping[str, str]


def encode_crosstab(table: Published | Mapping[str, Published], *, columns: str | None = None) -> bytes:
    """Return published tables as an Excel file (.xlsx): one dimension in the columns, the others in the rows.

    Published values are shaded by their size. Hidden cells hold a cross, in the colour of their public status, which a
    legend explains; they hold no number. The unit is below the title, the source below the table. Excel writes the
    signs of numbers in the manner of its reader.

    Parameters
    ----------
    table : Published, or mapping of name to Published
        Several tables become a sheet each.
    columns : str, optional
        Dimension in the columns; by default the last one of several.

    Raises
    ------
    InputError
        If openpyxl is not installed, there is no such dimension, a text holds control characters, or a sheet cannot
        hold so many rows or columns.
    """
    tables = {"table": table} if isinstance(table, Published) else table
    for name, one in tables.items():
        if not _fits(one, _across(one, columns)):
            raise InputError(f"an Excel sheet cannot hold the rows and columns of table '{name}'; take another form")
    book = workbook()
    _add_sheets(book, tables, columns, [])
    return packed(book)


def encode_list(
    frame: pd.DataFrame, tables: Mapping[str, Published], marks: Mapping[str, Marks] | None = None
) -> bytes:
    """Return an Excel file with a list of cells and, in sheets of their own, tables of rows and columns.

    A table that has more rows or columns than Excel is in the list only.

    Parameters
    ----------
    frame : DataFrame
        The list; its sheet is called 'table', or 'confidential'.
    tables : mapping of name to Published
    marks : mapping of name to Marks, optional
        Of confidential tables: every printed page says so, and all cells hold their value.
    """
    book, name = workbook(), "table" if marks is None else CONFIDENTIAL
    add_list(book, frame, name, confidential=marks is not None)
    fitting = {name: _cleaned(one) for name, one in tables.items() if _fits(one, _across(one, None))}
    _add_sheets(book, fitting, None, [name], marks or {})
    return packed(book)


def _cleaned(table: Published) -> Published:
    """Put signs for the control characters of headings and labels, which are not in the list."""
    labels = {name: {code: visible(label) for code, label in codes.items()} for name, codes in table.labels.items()}
    return replace(
        table,
        title=visible(table.title),
        unit=visible(table.unit),
        source=visible(table.source),
        labels=labels,
    )


def _across(table: Published, columns: str | None) -> str | None:
    """Return the dimension in the columns."""
    names = list(table.dimensions)
    across = columns or (names[-1] if len(names) > 1 else None)
    if across is not None and across not in names:
        raise InputError(f"no dimension '{across}'; there are {', '.join(names)}")
    return across


def _fits(table: Published, across: str | None) -> bool:
    down = [name for name in table.dimensions if name != across]
    rows = len(table.frame[down].drop_duplicates())
    wide = 1 if across is None else len(table.codes(across))
    return rows + _AROUND <= EXCEL_ROWS and len(down) + wide <= _EXCEL_COLUMNS


def _add_sheets(
    book: Any,
    tables: Mapping[str, Published],
    columns: str | None,
    taken: Sequence[str],
    marks: Mapping[str, Marks] = MappingProxyType({}),
) -> None:
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    for name, table in tables.items():
        words = [name, table.title, table.unit, table.source, table.value, *table.dimensions]
        words += [table.shown(one, code) for one in table.dimensions for code in table.codes(one)]
        if bad := [word for word in words if ILLEGAL_CHARACTERS_RE.search(word)]:
            raise InputError(f"Excel cannot hold the control characters in {bad[0]!r}; take another form")
    names = _sheet_names(list(tables), taken)
    for name, (called, table) in zip(names, tables.items(), strict=True):
        title = table.title if len(tables) == 1 else f"{table.title}: {called}"
        sheet = book.create_sheet(name)
        if called in marks:
            mark_confidential(sheet)
        _add_sheet(sheet, table, title, _across(table, columns), marks.get(called))


def _sheet_names(names: Sequence[str], taken: Sequence[str]) -> list[str]:
    """Return names that Excel takes for sheets, none twice.

    Examples
    --------
    >>> _sheet_names(["a/b", "A*B", "table"], ["table"])
    ['a-b', 'A-B 2', 'table 2']
    """
    found: list[str] = []
    for name in names:
        plain = name.translate(_FORBIDDEN).strip("'")[:_NAME] or "table"
        made, number = plain, 1
        while made.lower() in [one.lower() for one in (*taken, *found)]:
            number += 1
            made = f"{plain[: _NAME - len(str(number)) - 1]} {number}"
        found.append(made)
    return found


def _add_sheet(sheet: Any, table: Published, title: str, across: str | None, marks: Marks | None) -> None:
    """Write title and unit, the cells, the legend and the source."""
    down = [name for name in table.dimensions if name != across]
    sheet.freeze_panes = _corner(len(down))
    sheet.append([text_cell(sheet, title, bold=True, size=13)])
    sheet.append([text_cell(sheet, f"Unit: {table.unit}", italic=True)] if table.unit else [])
    _add_cells(sheet, table, down, across, marks)
    sheet.append([])
    for text, colour in _legend(table, marks):
        cell = text_cell(sheet, text)
        sheet.append([_filled(cell, colour) if colour else cell])
    if table.source:
        sheet.append([])
        sheet.append([text_cell(sheet, f"Source: {table.source}", italic=True)])


def _corner(left: int) -> str:
    from openpyxl.utils import get_column_letter

    return f"{get_column_letter(left + 1)}{_HEAD + 1}"


def _legend(table: Published, marks: Marks | None) -> list[tuple[str, str | None]]:
    """Return the lines of the legend, each with its fill."""
    if marks is None:
        return [(f"{MARK} {word}", COLOURS[word]) for word in sorted(set(map(str, table.words[table.hidden])))]
    there = set(marks.words)
    return [
        (f"{sign} {marks.meanings[word]}", COLOURS.get(word)) for word, sign in marks.signs.items() if word in there
    ]


def _add_cells(
    sheet: Any, table: Published, down: Sequence[str], across: str | None, marks: Marks | None = None
) -> None:
    """Write the codes of rows and columns, and the cells."""
    top = [table.value] if across is None else table.codes(across)
    head = [*down, *(top if across is None else [table.shown(across, code) for code in top])]
    sheet.append([text_cell(sheet, word, bold=True) for word in head])
    left = [table.value] * len(table.frame) if across is None else table.frame[across].astype(str).tolist()
    keys = list(table.frame[list(down)].astype(str).itertuples(index=False, name=None))
    place = {where: row for row, where in enumerate(zip(keys, left, strict=True))}
    values, words, hidden, shade = table.values, table.words, table.hidden, shades(table.values)
    form = "#,##0" if not table.decimals else "#,##0." + "0" * table.decimals

    def cell(row: int | None) -> Any:
        if row is None:
            return None
        if hidden[row]:
            return _filled(text_cell(sheet, MARK), COLOURS[str(words[row])])
        made = number_cell(sheet, float(values[row]))
        word = "" if marks is None else str(marks.words[row])
        sign = "" if marks is None else marks.signs.get(word, "")
        made.number_format = f'{form}" {sign}"' if sign else form
        if sign and word in COLOURS:
            return _filled(made, COLOURS[word])
        return _filled(made, HEAT[shade[row] - 1]) if shade[row] else made

    for key in dict.fromkeys(keys):
        codes = [text_cell(sheet, table.shown(name, code)) for name, code in zip(down, key, strict=True)]
        sheet.append([*codes, *(cell(place.get((key, code))) for code in top)])


def _filled(cell: Any, colour: str) -> Any:
    from openpyxl.styles import PatternFill

    cell.fill = PatternFill("solid", fgColor=colour)
    return cell
