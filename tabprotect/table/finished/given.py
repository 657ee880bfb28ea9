"""What a finished table holds: codes, numbers and statuses of its rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems, collect, did_you_mean
from tabprotect.table.codes import explain_unknown, finest, read_codes, rows_of, some
from tabprotect.table.dimension import Dimension
from tabprotect.table.duck import read_file
from tabprotect.table.finished.columns import Columns
from tabprotect.table.read import backend_of, need_columns, open_frame, read_ids, read_numbers
from tabprotect.table.reading import File, Recognised, is_file, open_data
from tabprotect.table.status import EMPTY, read_status
from tabprotect.table.totals import called_total, summed_codes

__all__ = ["Given", "read_given"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Given:
    """The rows as they were given.

    Attributes
    ----------
    frame : narwhals DataFrame
    dimensions : tuple of Dimension
        With their hierarchies.
    codes : list of ndarray of int
        By dimension the code of every row.
    numbers : mapping of str to ndarray
        By column.
    letters : ndarray of str, optional
        Statuses; empty cells are 'z'.
    ids : list of (list of str, ndarray of int)
        Of every column of holders: the ids, and that of every row.
    backend : str
    recognised : tuple of Recognised
    decimal : str
        Decimal sign of the text that the numbers came from.
    """

    frame: nw.DataFrame[Any]
    dimensions: tuple[Dimension, ...]
    codes: list[Ints]
    numbers: Mapping[str, Floats]
    letters: npt.NDArray[np.object_] | None
    ids: list[Any]
    backend: str
    recognised: tuple[Recognised, ...]
    decimal: str


def read_given(
    data: Any, wanted: Sequence[Dimension], columns: Columns, margins: str, decimal: str | None, computable: bool
) -> Given:
    """Read the columns of a finished table; `computable` says whether messages may propose that margins be computed.

    Raises
    ------
    InputError
        Everything that is wrong with columns, codes, numbers and statuses.
    """
    recognised: tuple[Recognised, ...] = ()
    if is_file(data):
        names = [column for d in wanted for column in d.columns]
        opened = open_data(File.of(data, decimal), [*names, *columns.codes], list(dict.fromkeys(columns.numbers)))
        recognised, decimal = (opened.recognised,), opened.decimal
        data = read_file(opened.source) if is_file(opened.source) else opened.source
    given = open_frame(data)
    backend = "file" if recognised else backend_of(given)
    frame = given.collect() if isinstance(given, nw.LazyFrame) else given
    decimal = decimal or "."
    with collect() as problems:
        need_columns(frame.columns, [c for d in wanted for c in d.columns], problems)
        need_columns(frame.columns, columns.all, problems)
        if not len(frame):
            problems.add("the table holds no rows")
    with collect() as problems:
        dimensions, codes = _dimensions(frame, wanted, problems)
        numbers = {name: read_numbers(frame, name, problems, decimal=decimal) for name in columns.sums}
        for name in columns.options:
            numbers[name] = read_numbers(frame, name, problems, decimal=decimal, missing=True)
        if margins == "check":
            _need_totals(dimensions, codes, numbers[columns.value], computable, problems)
        letters = None if columns.status is None else read_status(frame, columns.status, problems)
        ids = [read_ids(frame, name) for name in columns.holders]
        if letters is not None:
            wrong = (letters == EMPTY) & (numbers[columns.value] != 0)
            if wrong.any():
                problems.add(f"column '{columns.status}' says empty, but the value is not zero, in {rows_of(wrong)}")
            letters[letters == EMPTY] = "z"
    sign = next((one.sign for one in recognised if one.kind == "text" and one.separator), decimal)
    return Given(frame, dimensions, codes, numbers, letters, ids, backend, recognised, sign)


def _dimensions(
    frame: nw.DataFrame[Any], wanted: Sequence[Dimension], problems: Problems
) -> tuple[tuple[Dimension, ...], list[Ints]]:
    """Find the hierarchy of every dimension, and the code of every row."""
    dimensions, positions = [], []
    for dimension in wanted:
        coded = [read_codes(frame[column], column) for column in dimension.columns]
        column, codes = dimension.columns[-1], finest(coded)
        for problem in (problem for one in coded for problem in one.problems):
            problems.add(problem)
        if (codes.index < 0).any():
            problems.add(
                f"column '{column}' has no code in {rows_of(codes.index < 0)}; a row of a total needs the total's code"
            )
        found = dimension.with_data(coded, codes, problems, np.arange(len(codes.index)))
        place = np.full(len(codes.values) + 1, -1, dtype=np.int64)
        unknown = []
        if found.hierarchy is not None:
            for i, code in enumerate(codes.values):
                place[i] = found.hierarchy.position.get(code, -1)
                if place[i] < 0:
                    reason = explain_unknown(code, found.hierarchy.codes, codes.numeric)
                    unknown.append(f"'{code}' ({rows_of(codes.index == i)}{reason})")
        if unknown:
            problems.add(f"column '{column}' holds codes that its hierarchy has not: {some(unknown)}")
        dimensions.append(found)
        positions.append(place[codes.index])
    return tuple(dimensions), positions


def _need_totals(
    dimensions: Sequence[Dimension], codes: Sequence[Ints], values: Floats, computable: bool, problems: Problems
) -> None:
    """Note dimensions without rows of their total, and the code that is likely to be it."""
    if any(dimension.hierarchy is None for dimension in dimensions):
        return
    known = np.logical_and.reduce([code >= 0 for code in codes]) & np.isfinite(values)
    names = [dimension.codes for dimension in dimensions]
    for k, dimension in enumerate(dimensions):
        total, column = dimension.known.total, dimension.columns[-1]
        there = [names[k][i] for i in np.unique(codes[k][codes[k] >= 0])]
        if total in there:
            continue
        summed = summed_codes([code[known] for code in codes], names, values[known], k)
        likely = [*summed, *(code for code in there if called_total(code) and code not in summed)]
        if likely:
            why = ", whose values are the sums over all other codes" if summed else ""
            problems.add(
                f"column '{column}' holds no code '{total}', but '{likely[0]}'{why}; name the code of the total with "
                f"Dimension('{column}', total='{likely[0]}')"
            )
        else:
            problems.add(
                f"column '{column}' holds no code '{total}'{did_you_mean(total, there) if len(there) > 12 else ''}; "
                f"name the code of the total with Dimension('{column}', total=...), or "
                + ("let margins be computed: margins='add'" if computable else "add the rows of the total to the table")
            )
