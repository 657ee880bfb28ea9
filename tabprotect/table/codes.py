"""Codes of classifications as text: read from any column, compared as text, leading zeros kept."""

from __future__ import annotations

import datetime
import decimal
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa

from tabprotect.errors import did_you_mean

__all__ = [
    "Codes",
    "as_code",
    "explain_unknown",
    "factorise",
    "finest",
    "likely_misspelt",
    "read_codes",
    "rows_of",
    "some",
    "sort_codes",
]

Ints = npt.NDArray[np.int64]

_WORD = 4
"""Shorter codes are like others by their nature."""

_ALIKE = 0.75
"""How alike (`difflib`) two words have to be for one to be the other, misspelt."""

_INTEGER = re.compile(r"-?\d+")


@dataclass(frozen=True, eq=False)
class Codes:
    """One column of codes, factorised.

    Parameters
    ----------
    values : tuple of str
        The different codes, in order of first appearance.
    index : ndarray of int, shape (rows,)
        Position in `values`; -1 where the code is missing.
    numeric : bool
        The column held numbers, so leading zeros may have been lost before it came here.
    problems : tuple of str
        Values that cannot be codes, and codes that look alike.
    """

    values: tuple[str, ...]
    index: Ints
    numeric: bool = False
    problems: tuple[str, ...] = ()


def as_code(value: Any) -> str | None:
    """Return one raw value as a code: text as it is, whole numbers without a decimal point, None for missing.

    Raises
    ------
    ValueError
        If the value cannot be a code, such as 0.5 or an empty text.

    Examples
    --------
    >>> as_code(" 01"), as_code(43.0), as_code(None)
    (' 01', '43', None)
    """
    if value is None or value is pd.NaT or (isinstance(value, float) and np.isnan(value)) or value is pd.NA:
        return None
    if isinstance(value, str):
        if not value.strip():
            raise ValueError("an empty text")
        return value
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating, decimal.Decimal)):
        if value != int(value):
            raise ValueError(f"the fraction {value}")
        return str(int(value))
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    raise ValueError(f"{value!r} of type {type(value).__name__}")


def factorise(series: nw.Series[Any]) -> tuple[list[Any], Ints]:
    """Return the different raw values in order of first appearance, and their positions (-1 missing)."""
    try:
        array = series.to_arrow()
        if isinstance(array, pa.ChunkedArray):
            array = array.combine_chunks()
        coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
        index = coded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        values = coded.dictionary.to_pylist()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        raw = np.empty(len(series), dtype=object)
        raw[:] = series.to_list()
        try:
            index, uniques = pd.factorize(raw)
        except TypeError:  # lists and the like have no hash: each stands for itself
            return list(raw), np.arange(len(raw))
        return list(uniques), index.astype(np.int64)
    # a dictionary that came with the data may hold unused codes in any order
    present = pd.unique(index[index >= 0])
    place = np.full(len(values) + 1, -1, dtype=np.int64)
    place[present] = np.arange(len(present))
    return [values[i] for i in present], place[index]


def read_codes(series: nw.Series[Any], name: str) -> Codes:
    """Factorise a column of codes.

    Examples
    --------
    >>> column = nw.from_native(pd.Series(["b", "a", None, "b"]), series_only=True)
    >>> codes = read_codes(column, "region")
    >>> codes.values, codes.index.tolist()
    (('b', 'a'), [0, 1, -1, 0])
    """
    raw, index = factorise(series)
    values: list[str] = []
    position: dict[str, int] = {}
    place = np.full(len(raw) + 1, -1, dtype=np.int64)
    bad: list[str] = []
    for i, value in enumerate(raw):
        try:
            code = as_code(value)
        except (ValueError, OverflowError) as error:
            bad.append(str(error))
            continue
        if code is not None:
            place[i] = position.setdefault(code, len(position))
            if place[i] == len(values):
                values.append(code)
    numeric = bool(raw) and not any(isinstance(value, (str, bool)) for value in raw)
    problems = [f"column '{name}' cannot be a dimension: it holds {some(bad, 3)}"] if bad else []
    if alike := _alike(values):
        problems.append(f"column '{name}' holds {alike}; write them alike")
    return Codes(tuple(values), place[index], numeric, tuple(problems))


def _alike(codes: Iterable[str]) -> str:
    """Say which codes look alike: they differ by the blanks around them, or by how Unicode has their letters, only.

    Examples
    --------
    >>> _alike(["a", " a"]), _alike(["\u00e4", "b"])
    ("'a' and ' a': codes that differ by blanks only", '')
    >>> _alike(["\u00e4", "a\u0308"]).partition(": ")[2]
    'codes that differ by their form in Unicode (NFC, NFD) only'
    """
    first: dict[str, str] = {}
    for code in codes:
        other = first.setdefault(_seen(code), code)
        if other != code:
            return f"{other!r} and {code!r}: codes that differ by {_difference(other, code)} only"
    return ""


def _seen(code: str) -> str:
    """Return a code as people see it: an accent on a letter is one sign, and blanks around it do not show."""
    return code.strip() if code.isascii() else unicodedata.normalize("NFC", code).strip()


def _difference(one: str, other: str) -> str:
    """Name what keeps two codes apart that look alike."""
    if one.strip() == other.strip():
        return "blanks"
    forms = (
        next((form for form in ("NFC", "NFD") if unicodedata.is_normalized(form, code)), "mixed")
        for code in (one, other)
    )
    return f"their form in Unicode ({', '.join(forms)})"


def sort_codes(codes: Iterable[str]) -> list[str]:
    """Sort codes: by number when all are whole numbers, else as text.

    Examples
    --------
    >>> sort_codes(["10", "9"]), sort_codes(["10", "9", "A"])
    (['9', '10'], ['10', '9', 'A'])
    """
    names = list(codes)
    if all(_INTEGER.fullmatch(name) for name in names):
        return sorted(names, key=lambda name: (int(name), name))
    return sorted(names)


def explain_unknown(code: str, known: Sequence[str], numeric: bool = False) -> str:
    """Return the likely reason why a code is unknown, as the tail of a sentence.

    Examples
    --------
    >>> explain_unknown("1", ["01", "02"], numeric=True)
    "; '01' is known: the column holds numbers, so leading zeros are lost; read it as text"
    >>> explain_unknown(" A", ["A", "B"])
    "; 'A' is known: they differ by blanks only"
    """
    for other in known:
        if other == code:
            continue
        if _seen(other) == _seen(code):
            return f"; '{other}' is known: they differ by {_difference(other, code)} only"
        if code.strip() and other.lstrip("0") == code.lstrip("0") and other.strip("0") != "":
            if numeric:
                return f"; '{other}' is known: the column holds numbers, so leading zeros are lost; read it as text"
            return f"; '{other}' is known: they differ by leading zeros only"
        if other.casefold() == code.casefold():
            return f"; '{other}' is known: they differ in upper and lower case only"
    return did_you_mean(code, known)


def likely_misspelt(code: str, known: Sequence[str]) -> bool:
    """Whether a code is likely meant to be one of those that are known.

    It is where they look the same, or are the same but for blanks, case or leading zeros; of words, where few letters
    differ. Numbers and short codes are like others by their nature.

    Examples
    --------
    >>> known = ["unknown", "X", "991", "01"]
    >>> [likely_misspelt(code, known) for code in ("unknwon", "x", "1", "999", "Y")]
    [True, True, True, False, False]
    """
    if " is known: " in explain_unknown(code, known):
        return True
    words = [other for other in known if other.isalpha()]
    return len(code) >= _WORD and code.isalpha() and bool(get_close_matches(code, words, n=1, cutoff=_ALIKE))


def some(words: Sequence[Any], most: int = 5) -> str:
    """Return at most `most` of the words, and how many more there are.

    Examples
    --------
    >>> some(["a", "b", "c"], 2)
    'a, b and 1 more'
    """
    text = ", ".join(str(word) for word in words[:most])
    return text + (f" and {len(words) - most} more" if len(words) > most else "")


def rows_of(bad: npt.NDArray[np.bool_], most: int = 3) -> str:
    """Name the rows where `bad` holds, counted from 1.

    Examples
    --------
    >>> rows_of(np.array([False, True, True]))
    'rows 2, 3'
    """
    rows = np.flatnonzero(bad) + 1
    if len(rows) == 1:
        return f"row {rows[0]}"
    return f"rows {some(rows.tolist(), most)}"


def finest(coded: Sequence[Codes]) -> Codes:
    """Return one column with the code of the finest column that has one.

    Examples
    --------
    >>> outer, inner = Codes(("A", "B"), np.array([0, 1])), Codes(("1",), np.array([0, -1]))
    >>> one = finest([outer, inner])
    >>> [one.values[i] for i in one.index]
    ['1', 'B']
    """
    if len(coded) == 1:
        return coded[0]
    values = tuple(dict.fromkeys(code for column in coded for code in column.values))
    position = {code: i for i, code in enumerate(values)}
    index = np.full(len(coded[0].index), -1, dtype=np.int64)
    for column in coded:
        place = np.array([*(position[code] for code in column.values), -1], dtype=np.int64)[column.index]
        index = np.where(place >= 0, place, index)
    used, index = np.unique(np.append(index, -1), return_inverse=True)
    return Codes(tuple(values[i] for i in used[1:]), index[:-1] - 1, any(column.numeric for column in coded))
