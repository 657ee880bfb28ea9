"""Finished tables of tau-ARGUS (.tab): a line a cell, in the order of the variables of the metadata."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import numpy as np
import pandas as pd

from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.formats.argus.microdata import column_numbers, rows_of_text
from tabprotect.formats.argus.rda import Metadata, Variable
from tabprotect.formats.argus.text import read_lines
from tabprotect.formats.files import write_text
from tabprotect.kinds import of_kinds

__all__ = ["STATUSES", "read_tab", "write_tab"]

STATUSES = {"safe": "s", "unsafe": "u", "protect": "p"}
"""Letters of the status column that `read_tab` returns, by the name of the code in the metadata."""

_NUMBERS = ("", "shadow", "cost", "lpl", "upl", "count", "top")


@of_kinds("metadata")
def read_tab(path: str | Path, metadata: Metadata) -> pd.DataFrame:
    """Read a finished table as its metadata describe it.

    Any separator of one character, quotes, and a decimal point or comma; blanks around codes are not part of them.

    Returns
    -------
    DataFrame
        A column for every variable. The status column holds 's', 'u', 'p', 'm' or 'e' (empty).

    Raises
    ------
    InputError
        Lines with another number of fields than there are variables; numbers and statuses that cannot be read.
    """
    if metadata.kind != "table":
        raise InputError(f"{path}: the metadata describe microdata; read_asc reads those")
    text = read_lines(path)
    rows, numbers = rows_of_text(text, metadata.separator)
    wanted = len(metadata.variables)
    with collect() as problems:
        # a separator may end a line
        rows = [row[:-1] if len(row) == wanted + 1 and not row[-1] else row for row in rows]
        for row, number in zip(rows, numbers, strict=True):
            if len(row) != wanted and len(problems.found) < 10:
                problems.add(
                    f"{text.name}, line {number}: {len(row)} fields; the metadata name {wanted} variables "
                    f"({', '.join(metadata.names)})"
                )
        if not rows:
            problems.add(f"{text.name}: the table has no cells")
    columns = {v.name: pd.Series([row[i] for row in rows], dtype=object) for i, v in enumerate(metadata.variables)}
    with collect() as problems:
        for v in metadata.variables:
            if _is_number(v):
                columns[v.name] = column_numbers(columns[v.name], v, metadata.separator, text.name, problems)
            elif v.part == "status":
                columns[v.name] = _statuses(columns[v.name], metadata, numbers, text.name, problems)
    return pd.DataFrame(columns)


def _is_number(variable: Variable) -> bool:
    return variable.numeric and variable.part in _NUMBERS


def _statuses(column: pd.Series, metadata: Metadata, numbers: list[int], name: str, problems: Problems) -> pd.Series:
    letters = {getattr(metadata, long).casefold(): short for long, short in STATUSES.items()}
    letters |= {"m": letters.get("m", "m"), "e": letters.get("e", "e"), "": ""}
    found = pd.Series([letters.get(word.casefold()) for word in column], dtype=object)
    for row in np.flatnonzero(found.isna())[:5]:
        known = [metadata.safe, metadata.unsafe, metadata.protect, "M", "E"]
        problems.add(
            f"{name}, line {numbers[row]}: status '{column.iloc[row]}' means nothing"
            f"{did_you_mean(column.iloc[row], known)}"
        )
    return found


def write_tab(frame: pd.DataFrame, metadata: Metadata, path: str | Path, *, decimal: str = ".") -> None:
    """Write a finished table, codes in quotes; `read_tab` gives the same frame back.

    Raises
    ------
    InputError
        Columns that are missing, codes that cannot be written, a decimal sign that is the separator.
    """
    if decimal == metadata.separator:
        raise InputError(f"'{decimal}' cannot be both the decimal sign and the separator")
    with collect() as problems:
        for name in metadata.names:
            if name not in frame:
                problems.add(f"no column '{name}'{did_you_mean(name, frame.columns)}")
    letters = {short: getattr(metadata, long) for long, short in STATUSES.items()} | {"m": "M", "e": "E", "": ""}
    columns: list[list[str]] = []
    for v in metadata.variables:
        if _is_number(v):
            columns.append([_number(float(value)).replace(".", decimal) for value in frame[v.name]])
        elif v.part == "status":
            columns.append([letters[str(word)] for word in frame[v.name]])
        else:
            codes = [str(code) for code in frame[v.name]]
            bad = [code for code in codes if len(code.splitlines()) != 1 or code != code.strip()]
            if bad:
                raise InputError(f"column '{v.name}': code {bad[0]!r} has a line end, or blanks around it")
            columns.append(codes)
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=metadata.separator, lineterminator="\n", quoting=csv.QUOTE_MINIMAL)
    writer.writerows(zip(*columns, strict=True))
    write_text(path, stream.getvalue())


def _number(value: float) -> str:
    if value != value:
        return ""
    return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
