"""The confidential table as files: a list in every form, and in Excel also in rows and columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from tabprotect.formats.crosstab import Marks, encode_list
from tabprotect.formats.dialect import STANDARD, Dialect
from tabprotect.formats.frames import encode_frame
from tabprotect.formats.published import Published
from tabprotect.report.judged import ChangedTable, SuppressedTable
from tabprotect.report.parts import labels_of, parts_of
from tabprotect.report.public import free_name
from tabprotect.table.decimals import decimals_of

__all__ = ["table_files"]


def table_files(
    release: SuppressedTable | ChangedTable,
    frame: pd.DataFrame,
    keys: Mapping[str, Sequence[str]],
    formats: Sequence[str],
    dialect: Dialect = STANDARD,
) -> dict[str, bytes]:
    """Return the confidential table in every form, by the name of the file.

    Parameters
    ----------
    release : SuppressedTable or ChangedTable
    frame : DataFrame
        The list.
    keys : mapping of str to sequence of str
        By status what it means, first, and the sign behind a value, last.
    formats : sequence of str
        An Excel file has the tables in rows and columns besides the list, with the true values: those of hidden cells
        in the colour of their status.
    dialect : Dialect
        Of text files.
    """
    return {
        f"table.{kind}": _workbook(release, frame, keys)
        if kind == "xlsx"
        else encode_frame(frame, kind, title="confidential", confidential=True, dialect=dialect)
        for kind in dict.fromkeys(formats)
    }


def _workbook(release: SuppressedTable | ChangedTable, frame: pd.DataFrame, keys: Mapping[str, Sequence[str]]) -> bytes:
    table, parts = release.table, parts_of(release.table)
    signs = {word: key[-1] for word, key in keys.items() if key[-1]}
    meanings = {word: key[0] for word, key in keys.items()}
    labels, tables, marks = labels_of(parts), {}, {}
    for part in parts:
        cell, codes = table.row_cell[part.rows], [axis.name for axis in part.axes]
        value, name = free_name(table.value_name, codes), part.name or "crosstab"
        rows = table.rows[codes].iloc[part.rows].reset_index(drop=True).astype(str)
        tables[name] = Published(
            rows.assign(**{value: table.values[cell]}),
            value,
            title=release.title,
            unit=release.unit,
            labels={code: labels[code] for code in codes if code in labels},
            source=release.source,
            places=decimals_of(table.values),
        )
        marks[name] = Marks(release.words[cell].tolist(), signs, meanings)
    return encode_list(frame, tables, marks)
