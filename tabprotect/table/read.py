"""Columns of a data frame as arrays, every value checked; all that is wrong is noted at once."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any, Final

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.counted import counted
from tabprotect.errors import InputError, Problems, collect, did_you_mean
from tabprotect.table.codes import factorise, rows_of, some
from tabprotect.table.digits import EXACT, inexact_numbers, lost_digits

__all__ = [
    "SEPARATORS",
    "as_flag",
    "backend_of",
    "check_names",
    "id_text",
    "need_columns",
    "number_problem",
    "open_frame",
    "read_flags",
    "read_ids",
    "read_numbers",
]

SEPARATORS: Final = (";", "\t", ",", "|")
"""Signs between the fields of text files."""

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_FLAGS = {"0": 0, "1": 1, "2": 2, "false": 0, "true": 1, "f": 0, "t": 1, "no": 0, "yes": 1, "n": 0, "y": 1}

_COMMA = "numbers with a decimal comma"
_THOUSANDS = "numbers with signs between thousands"
_WRITTEN = (
    (r"[+-]?\d{1,3}(?:,\d{3})+\.\d+$|[+-]?\d{1,3}(?:,\d{3}){2,}$", _THOUSANDS, ((",", ""),)),
    (r"[+-]?\d{1,3}(?:\.\d{3}){2,}$", _THOUSANDS, ((".", ""),)),
    (r"[+-]?[1-9]\d{0,2},\d{3}$", "numbers with a comma; where it is the decimal sign", ((",", "."),)),
    (r"[+-]?\d*,\d+$|[+-]?\d+,$", _COMMA, ((",", "."),)),
    (
        r"[+-]?\d{1,3}(?:\.\d{3})*(?:,\d*)?$|[+-]?\d*,\d+$",
        f"{_COMMA} and signs between thousands",
        ((".", ""), (",", ".")),
    ),
)
"""How numbers are written that are no numbers for Python: a pattern, words, and what has to be replaced."""


def open_frame(data: Any) -> nw.DataFrame[Any] | nw.LazyFrame[Any]:
    """Take any data frame that narwhals knows.

    Raises
    ------
    InputError
        If it is none.
    """
    try:
        frame: nw.DataFrame[Any] | nw.LazyFrame[Any] = nw.from_native(data)
        if isinstance(frame, nw.LazyFrame):
            frame.columns  # noqa: B018 (a relation is looked at here, not later)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"{_twice(data)}; rename all but one") from error
    except TypeError as error:
        raise InputError(
            f"data of type {type(data).__name__} cannot be read: give a pandas, polars or pyarrow table, "
            "a DuckDB relation, or the path of a CSV or Parquet file"
        ) from error
    return frame


def _twice(data: Any) -> str:
    names = [str(name) for name in getattr(data, "column_names", data.columns)]
    return f"several columns are called {', '.join(sorted({name for name in names if names.count(name) > 1}))}"


def backend_of(frame: nw.DataFrame[Any] | nw.LazyFrame[Any]) -> str:
    """Return the library of a frame: 'pandas', 'polars', 'pyarrow', 'duckdb', ..."""
    return str(frame.implementation.value).lower()


def need_columns(available: Iterable[str], wanted: Iterable[str], problems: Problems) -> None:
    """Note every wanted column that is not there."""
    names, wanted = list(available), list(wanted)
    if len(names) == 1 and wanted and not set(names) & set(wanted):
        signs = [sign for sign in SEPARATORS if sign in str(names[0])]
        if len(signs) == 1:
            problem = f"there is only one column, {str(names[0])!r}; read it with separator={signs[0]!r}"
            problems.found += [problem] if problem not in problems.found else []
            return
    for name in dict.fromkeys(wanted):
        if name in names:
            continue
        if not isinstance(name, str):
            problems.add(f"a column is meant by its name, and {name!r} is none{did_you_mean(name, names)}")
        else:
            several = [part.strip() for part in name.split(",")]
            wrong = {part: did_you_mean(part, names) for part in several if part not in names}
            cure = did_you_mean(name, names)
            if len(several) > 1 and all(wrong.values()):
                missing = "".join(f"; there is no '{part}'{instead}" for part, instead in wrong.items())
                cure = f"; these are several columns: name each on its own{missing}"
            problems.add(f"no column '{name}'{cure}")


def check_names(given: Mapping[str, object]) -> None:
    """Refuse what cannot be the name of a column, by what the column is for.

    Raises
    ------
    InputError
    """
    with collect() as problems:
        for role, name in given.items():
            if not isinstance(name, Hashable):
                problems.add(f"{role} must be the name of a column, not {name!r}")


def number_problem(name: str, examples: Sequence[str], where: str, library: str = "") -> str:
    """Say that a column of numbers holds text, and what helps.

    Parameters
    ----------
    library : str
        That of the frame, as `backend_of` calls it: the cure is code for it. '' for files, of which can be said how
        they are written.

    Examples
    --------
    >>> number_problem("v", ["1,5"], "row 1")
    "column 'v' must hold numbers, but holds '1,5' in row 1; numbers with a decimal comma: pass decimal=','"
    >>> number_problem("v", ["1,170.78"], "row 1", "pandas").partition("; ")[2]
    "numbers with signs between thousands: data['v'] = data['v'].str.replace(',', '', regex=False).astype(float)"
    """
    cure, text = "", [example.strip() for example in examples]
    for pattern, what, changes in _WRITTEN:
        if text and all(map(re.compile(pattern).match, text)):
            code = _code(name, changes, library)
            cure = f"; {what}: {code}" if code else ""
            break
    return f"column '{name}' must hold numbers, but holds {some([repr(e) for e in examples], 3)} in {where}{cure}"


def _code(name: str, changes: Sequence[tuple[str, str]], library: str) -> str:
    """Return the code that makes numbers of a column of text."""
    if library == "pandas":
        steps = "".join(f".str.replace({old!r}, {new!r}, regex=False)" for old, new in changes)
        return f"data[{name!r}] = data[{name!r}]{steps}.astype(float)"
    if library == "polars":
        steps = "".join(f".str.replace_all({old!r}, {new!r}, literal=True)" for old, new in changes)
        return f"data = data.with_columns(pl.col({name!r}){steps}.cast(pl.Float64))"
    if library == "duckdb":
        sql = f'"{name}"'
        for old, new in changes:
            sql = f"replace({sql}, '{old}', '{new}')"
        return f"""data = data.project('* REPLACE ({sql.replace("'", chr(92) + "'")}::DOUBLE AS "{name}")')"""
    if library:
        return "make them a column of numbers first"
    return "pass decimal=','" if (",", ".") in changes else ""


def read_numbers(
    frame: nw.DataFrame[Any], name: str, problems: Problems, *, decimal: str = ".", missing: bool = False
) -> Floats:
    """Return a column of numbers.

    Parameters
    ----------
    decimal : str
        Decimal sign of numbers that come as text.
    missing : bool
        Missing values are allowed (nan).
    """
    series = frame[name]
    dtype = series.dtype
    if dtype == nw.Boolean or dtype.is_temporal():
        problems.add(f"column '{name}' must hold numbers, but holds values of type {dtype}")
        return np.full(len(series), np.nan)
    if dtype.is_numeric():
        numbers = np.asarray(series.to_numpy(), dtype=np.float64)
        inexact = np.abs(numbers) > EXACT if dtype.is_integer() else np.zeros(len(numbers), bool)
        # the next whole number reads as this one
        for i in np.flatnonzero(np.abs(numbers) == EXACT).tolist() if dtype.is_integer() else ():
            inexact[i] = abs(int(series[i])) != int(EXACT)
        if np.any(inexact):
            problems.add(inexact_numbers(name, inexact))
    else:
        raw = pd.Series(series.to_list(), dtype=object)
        absent = raw.isna().to_numpy(bool)
        text = raw.astype(str).str.strip()
        if decimal != ".":
            text = text.str.replace(".", "x", regex=False).str.replace(decimal, ".", regex=False)
        numbers = pd.to_numeric(text.where(~absent), errors="coerce").to_numpy(np.float64, copy=True, na_value=np.nan)
        bad = np.isnan(numbers) & ~absent & (text.str.lower() != "nan").to_numpy(bool)
        if bad.any():
            problems.add(
                number_problem(name, [str(value) for value in raw[bad].head(3)], rows_of(bad), backend_of(frame))
            )
            numbers[bad] = 0.0
        if (lost := lost_digits(text.where(~absent, "").tolist(), numbers)).any():
            problems.add(inexact_numbers(name, lost))
    infinite = np.isinf(numbers)
    if infinite.any():
        problems.add(f"column '{name}' is infinite in {rows_of(infinite)}")
    absent = np.isnan(numbers)
    if absent.any() and not missing:
        problems.add(
            f"column '{name}' has no value in {counted(int(absent.sum()), 'row')} ({rows_of(absent)}); fill "
            "or drop them"
        )
    return numbers


def as_flag(value: Any, most: int) -> int | None:
    """Return a yes/no value (or a code up to `most`) as a number; None if it is neither.

    Examples
    --------
    >>> as_flag(True, 1), as_flag("no", 1), as_flag(2.0, 2), as_flag(2, 1), as_flag("maybe", 1)
    (1, 0, 2, None, None)
    """
    if value is None or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return 0
    text = str(value).strip().lower()
    flag = _FLAGS.get(text.removesuffix(".0"), 0 if not text else None)
    return flag if flag is not None and flag <= most else None


def read_flags(frame: nw.DataFrame[Any], name: str, problems: Problems, most: int = 1) -> npt.NDArray[np.int8]:
    """Return a column of yes/no values, or of codes 0 to `most`; nothing means 0."""
    values, index = factorise(frame[name])
    flags = np.zeros(len(values) + 1, dtype=np.int8)
    for i, value in enumerate(values):
        flag = as_flag(value, most)
        if flag is None:
            words = "true or false" if most == 1 else f"0 to {most}"
            problems.add(f"column '{name}' must be {words}, but is {value!r} in {rows_of(index == i)}")
        flags[i] = flag or 0
    return flags[index]


def read_ids(frame: nw.DataFrame[Any], name: str) -> tuple[list[str], Ints]:
    """Return the ids of a column as text, and the position of every row's id (-1 for none or a blank one)."""
    values, index = factorise(frame[name])
    ids = [id_text(value) for value in values]
    blank = np.array([*(not text.strip() for text in ids), False])
    return ids, np.where(blank[index], -1, index)


def id_text(value: Any) -> str:
    """Return an id as text; whole numbers without a decimal point."""
    return str(int(value)) if isinstance(value, float) and value == int(value) else str(value)
