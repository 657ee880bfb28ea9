"""Columns of numbers in a frame of text: how all of them are written, and their values."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, Problems, collect
from tabprotect.table.digits import EXACT, inexact_numbers
from tabprotect.table.read import need_columns
from tabprotect.table.reading.numbers import (
    SIGNS,
    Notation,
    find_notation,
    lost_in,
    plain_numbers,
    to_numbers,
)
from tabprotect.table.reading.recognised import Recognised

__all__ = ["need_commas", "numbered", "with_notation"]

_CODE = re.compile(r"\s*[+-]?0\d")


def need_commas(frame: pd.DataFrame, numbers: Sequence[str]) -> bool:
    """Whether a column of numbers can be read with a decimal comma only."""
    texts = [frame[name].dropna().astype(str).unique().tolist() for name in numbers if name in frame]
    return any(
        find_notation(words, decimal=".") is None and find_notation(words, decimal=",") is not None for words in texts
    )


def with_notation(
    frame: pd.DataFrame, found: Recognised, numbers: Sequence[str], decimal: str | None, thousands: str | None
) -> Recognised:
    """Find out how numbers are written: from the columns of numbers, or from all that can be such."""
    texts = {name: frame[name].dropna().astype(str).unique().tolist() for name in numbers or frame if name in frame}
    if not numbers:
        # codes such as 01.11 say nothing of numbers
        texts = {name: words for name, words in texts.items() if not any(map(_CODE.match, words))}
    ways = {name: find_notation(words, decimal=decimal, thousands=thousands) for name, words in texts.items() if words}
    telling = [name for name, way in ways.items() if way is not None and any(set(w) & set(SIGNS) for w in texts[name])]
    together = find_notation((w for name in telling for w in texts[name]), decimal=decimal, thousands=thousands)
    if not telling:
        return replace(found, decimal=decimal or "", thousands=thousands or "")
    if together is None:
        example = {name: texts[name][0] for name in telling[:3]}
        words = ", ".join(f"'{word}' in {name}" for name, word in example.items())
        return replace(found, several=words)
    shown = next((w for name in telling for w in texts[name] if set(w) & set(",.")), texts[telling[0]][0])
    return replace(
        found,
        decimal=together.decimal,
        thousands=together.thousands,
        doubt=together.doubt,
        reasons=(*found.reasons, f"numbers are written like '{shown}' in {telling[0]}"),
    )


def numbered(
    frame: pd.DataFrame,
    found: Recognised,
    numbers: Sequence[str],
    needed: Sequence[str],
    strict: bool,
    *,
    stated: bool = False,
) -> tuple[pd.DataFrame, Recognised]:
    """Turn the columns of numbers into floats; `stated` is whether it was given how they are written."""
    missing = Problems()
    need_columns(map(str, frame.columns), (*needed, *numbers), missing)
    if missing.found:
        raise InputError(*(f"{found.path}: {problem}" for problem in missing.found))
    columns = {}
    with collect() as problems:
        for name in numbers:
            columns[name] = _number_column(frame[name], found, name, problems, strict, stated)
    return frame.assign(**columns), found


def _number_column(
    column: pd.Series, found: Recognised, name: str, problems: Problems, strict: bool, stated: bool
) -> Any:
    if pd.api.types.is_bool_dtype(column) and not strict:
        return column
    if pd.api.types.is_bool_dtype(column):
        problems.add(f"{found.path}: column '{name}' must hold numbers, but holds true and false")
        return column
    if pd.api.types.is_numeric_dtype(column):
        if pd.api.types.is_integer_dtype(column):
            _check_digits((column.abs() > int(EXACT)).fillna(False).to_numpy(bool), name, found, problems)
        return column.astype(np.float64)
    texts = column.map(
        lambda value: value if isinstance(value, str) else "" if value is None or value != value else repr(value)
    )
    if found.doubt:
        problems.add(
            f"{found.path}: '{found.doubt}' in a column of numbers can be read in two ways, and nothing decides; pass "
            "decimal=',' or decimal='.'"
        )
        return column
    if found.several and found.kind != "excel":
        said = f"{found.path}: numbers are written in several ways ({found.several}); pass decimal="
        if said not in problems.found:
            problems.add(said)
        return column
    notation = Notation(found.decimal or ".", found.thousands)
    try:
        numbers = to_numbers(texts, notation, name)
        _check_digits(lost_in(texts, numbers, notation), name, found, problems)
        return numbers
    except InputError as error:
        cure = _other_signs(texts, notation) if stated and found.kind == "text" else ""
        if cure:
            problems.found += [f"{found.path}: {problem}; {cure}" for problem in error.problems]
            return column
        if not strict:
            plain = dict(zip(words := texts.unique().tolist(), plain_numbers(words, notation), strict=True))
            return texts.map(lambda word: word if plain[word] is None else plain[word] or None)
        problems.found += [f"{found.path}: {problem}" for problem in error.problems]
        return column


def _check_digits(lost: npt.NDArray[np.bool_], name: str, found: Recognised, problems: Problems) -> None:
    """Refuse numbers whose last digits would be others."""
    if lost.any():
        problems.add(f"{found.path}: {inexact_numbers(name, lost)}")


def _other_signs(texts: pd.Series, notation: Notation) -> str:
    """Return the cure where a column holds numbers that are written with other signs; '' where it holds none."""
    words = texts.unique().tolist()
    same = find_notation(words, decimal=notation.decimal)
    if same is not None:
        return f"pass thousands='{same.thousands}'"
    other = find_notation(words)
    if other is None:
        return ""
    return f"pass decimal='{other.decimal}'" + (f" and thousands='{other.thousands}'" if other.thousands else "")
