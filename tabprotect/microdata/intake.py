"""What cannot be a column of microdata: names that are no text, lists and bytes as values."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import narwhals as nw
import pandas as pd

from tabprotect.errors import Problems
from tabprotect.table.codes import rows_of
from tabprotect.table.read import number_problem

__all__ = ["check_columns", "why_no_numbers"]

_NESTED = (nw.List, nw.Array, nw.Struct, nw.Binary)


def check_columns(frame: nw.DataFrame[Any], problems: Problems) -> None:
    """Note names that are no text, and columns with values that are neither text, numbers nor dates."""
    wrong = [name for name in frame.columns if not isinstance(name, str)]
    if wrong:
        problems.add(f"names of columns must be text, and {wrong[0]!r} is none; rename the columns")
        return
    for name, dtype in frame.schema.items():
        if isinstance(dtype, _NESTED):
            problems.add(f"column '{name}' holds values of type {dtype}; {_CURE}")
        elif dtype in (nw.Object, nw.Unknown):
            _check_objects(name, frame[name].to_list(), problems)


_CURE = "give text, numbers or dates, or leave the column out"


def _check_objects(name: str, values: list[Any], problems: Problems) -> None:
    kinds = dict.fromkeys(map(type, values))
    wrong = next((kind for kind in kinds if not _is_value(kind)), None)
    if wrong is not None:
        row = next(i for i, value in enumerate(values) if type(value) is wrong) + 1
        problems.add(f"column '{name}' holds a value of type {wrong.__name__} in row {row}; {_CURE}")


def _is_value(kind: type) -> bool:
    """Return whether values of a type are single, and equal where they say the same."""
    if issubclass(kind, str) or kind in (type(None), type(pd.NA), type(pd.NaT)):
        return True
    return not issubclass(kind, Collection | complex) and kind.__eq__ is not object.__eq__


def why_no_numbers(frame: nw.DataFrame[Any], name: str) -> str:
    """Say which text keeps a column from being one of numbers; nothing where most of its values are no numbers.

    Examples
    --------
    >>> frame = nw.from_native(pd.DataFrame({"pay": ["1200", "900", "much"], "zip": ["01", "02", "03"]}))
    >>> why_no_numbers(frame, "pay")
    "column 'pay' must hold numbers, but holds 'much' in row 3"
    >>> why_no_numbers(frame, "zip")
    "all values of 'zip' are numbers as text; say scales={'zip': 'continuous'} if they are no codes"
    """
    values = pd.Series(frame[name].to_list(), dtype=object)
    there = values.notna().to_numpy(bool)
    text = values.astype(str).str.strip()
    numbers = pd.to_numeric(text.where(there), errors="coerce").notna().to_numpy(bool)
    comma = pd.to_numeric(text.str.replace(",", ".", n=1, regex=False).where(there), errors="coerce").notna()
    if not there.any() or 2 * comma.to_numpy(bool).sum() < there.sum():
        return ""
    bad = there & ~numbers
    if not bad.any():
        return f"all values of '{name}' are numbers as text; say scales={{'{name}': 'continuous'}} if they are no codes"
    return number_problem(name, [str(value) for value in values[bad].head(3)], rows_of(bad))
