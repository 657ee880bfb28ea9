"""Microdata of ARGUS: text of fixed width (.asc), or with separators."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.formats.argus.rda import Metadata, Variable
from tabprotect.formats.argus.text import Text, read_lines
from tabprotect.formats.files import write_text
from tabprotect.kinds import of_kinds
from tabprotect.table.digits import inexact_numbers
from tabprotect.table.reading.numbers import Notation, find_notation, lost_in, to_numbers

__all__ = ["column_numbers", "read_asc", "rows_of_text", "write_asc"]


@of_kinds("metadata")
def read_asc(path: str | Path, metadata: Metadata) -> pd.DataFrame:
    """Read microdata as their metadata describe them.

    Parameters
    ----------
    path : path
    metadata : Metadata
        Of kind 'fixed' or 'free'.

    Returns
    -------
    DataFrame
        A column for every variable: numbers for numeric ones and weights, else codes as text, without the blanks
        around them.

    Raises
    ------
    InputError
        Lines that are too short or have too few fields, and numbers that cannot be read.
    """
    text = read_lines(path)
    if metadata.kind == "table":
        raise InputError(f"{text.name}: the metadata describe a finished table; read_tab reads those")
    if metadata.kind == "fixed":
        columns = _fixed(text, metadata)
    else:
        columns = _separated(text, metadata)
    with collect() as problems:
        for variable in metadata.variables:
            if variable.numeric or variable.weight:
                columns[variable.name] = column_numbers(
                    columns[variable.name], variable, metadata.separator, text.name, problems
                )
    return pd.DataFrame(columns)


def _fixed(text: Text, metadata: Metadata) -> dict[str, pd.Series]:
    filled = [(number, line) for number, line in enumerate(text.lines, 1) if line.strip()]
    needed = max(v.start + (0 if v.numeric else v.width - 1) for v in metadata.variables)
    short = [number for number, line in filled if len(line) < needed]
    if short:
        more = f" and {len(short) - 5} more" if len(short) > 5 else ""
        raise InputError(
            f"{text.name}: lines {', '.join(map(str, short[:5]))}{more} end before character {needed}, which the "
            "metadata name"
        )
    lines = pd.Series([line for _, line in filled], dtype=object)
    return {v.name: lines.str.slice(v.start - 1, v.start - 1 + v.width).str.strip() for v in metadata.variables}


def _separated(text: Text, metadata: Metadata) -> dict[str, pd.Series]:
    rows, numbers = rows_of_text(text, metadata.separator)
    problems = Problems()
    names: Sequence[str] = metadata.names
    if metadata.names_first and rows:
        names, rows, numbers = rows[0], rows[1:], numbers[1:]
        for name in metadata.names:
            if name not in names:
                problems.add(f"{text.name}, line 1: no column '{name}'{did_you_mean(name, names)}")
    least = len(names)
    short = [number for row, number in zip(rows, numbers, strict=True) if len(row) < least]
    if short:
        more = f" and {len(short) - 5} more" if len(short) > 5 else ""
        problems.add(f"{text.name}: lines {', '.join(map(str, short[:5]))}{more} have fewer than {least} fields")
    problems.raise_if_any()
    place = {name: i for i, name in enumerate(names)}
    return {name: pd.Series([row[place[name]] for row in rows], dtype=object) for name in metadata.names}


def rows_of_text(text: Text, separator: str) -> tuple[list[list[str]], list[int]]:
    """Return the fields of every line that is not blank, without blanks around them, and the numbers of the lines."""
    if len(separator) != 1:
        raise InputError(f"{text.name}: the separator must be one character, not '{separator}'")
    reader = csv.reader(text.lines, delimiter=separator, skipinitialspace=separator not in " \t")
    rows, numbers = [], []
    try:
        for row in reader:
            if row and any(field.strip() for field in row):
                rows.append([field.strip() for field in row])
                numbers.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{text.name}, line {reader.line_num}: {error}; is a quote not closed?") from error
    return rows, numbers


def column_numbers(texts: pd.Series, variable: Variable, separator: str, name: str, problems: Problems) -> pd.Series:
    """Return a column as numbers, with a decimal point or comma as it comes; what is no number is noted."""
    notation = find_notation(texts, decimal="." if separator == "," else None, thousands="")
    try:
        numbers = to_numbers(texts, notation or Notation(), variable.name)
    except InputError as error:
        problems.found += [f"{name}: {problem}" for problem in error.problems]
        return pd.Series(np.zeros(len(texts)))
    if (lost := lost_in(texts, numbers, notation or Notation())).any():
        problems.add(f"{name}: {inexact_numbers(variable.name, lost)}")
    return pd.Series(numbers)


def write_asc(frame: pd.DataFrame, metadata: Metadata, path: str | Path) -> None:
    """Write microdata as metadata describe them; `read_asc` gives the same frame back.

    Numbers are written with a decimal point, in full; in files of fixed width they must fit.

    Raises
    ------
    InputError
        Columns that are missing, and values that do not fit into their width or cannot be written.
    """
    with collect() as problems:
        for name in metadata.names:
            if name not in frame:
                problems.add(f"no column '{name}'{did_you_mean(name, frame.columns)}")
    columns = [_texts(frame[v.name], v) for v in metadata.variables]
    if metadata.kind == "fixed":
        lines = _in_places(columns, metadata)
        write_text(path, "".join(f"{line}\n" for line in lines))
        return
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=metadata.separator, lineterminator="\n")
    if metadata.names_first:
        writer.writerow(metadata.names)
    writer.writerows(zip(*columns, strict=True))
    write_text(path, stream.getvalue())


def _texts(column: pd.Series, variable: Variable) -> list[str]:
    if variable.numeric or variable.weight:
        return [_number(value) for value in column.astype(np.float64)]
    texts = ["" if value is None or value != value else str(value) for value in column]
    bad = [text for text in texts if len(text.splitlines()) > 1 or text != text.strip()]
    if bad:
        raise InputError(f"column '{variable.name}': {bad[0]!r} has a line end, or blanks around it")
    return texts


def _number(value: float) -> str:
    if value != value:
        return ""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def _in_places(columns: list[list[str]], metadata: Metadata) -> list[str]:
    problems = Problems()
    end = max(v.start - 1 + v.width for v in metadata.variables)
    for variable, texts in zip(metadata.variables, columns, strict=True):
        long = [text for text in texts if len(text) > variable.width]
        if long:
            problems.add(f"column '{variable.name}': '{long[0]}' is longer than {variable.width} characters")
    problems.raise_if_any()
    lines = []
    for row in zip(*columns, strict=True):
        line = [" "] * end
        for variable, text in zip(metadata.variables, row, strict=True):
            line[variable.start - 1 : variable.start - 1 + variable.width] = text.rjust(variable.width)
        lines.append("".join(line))
    return lines
