"""Which columns of text are numbers, where nobody says it."""

from __future__ import annotations

import re
from typing import Any

import pyarrow as pa

from tabprotect.errors import InputError
from tabprotect.table.reading.numbers import Notation, plain_numbers
from tabprotect.table.reading.recognised import Recognised

__all__ = ["typed"]

_WHOLE = re.compile(r"-?(0|[1-9]\d*)")
_NUMBER = re.compile(r"-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?")


def typed(table: pa.Table, found: Recognised) -> pa.Table:
    """Turn columns of text into numbers where all of their values are such, without leading zeros.

    Parameters
    ----------
    table : pyarrow.Table
    found : Recognised
        How its numbers are written.

    Raises
    ------
    InputError
        Numbers that can be read in two ways, or are written in several ways, where nothing decides.

    Examples
    --------
    >>> table = pa.table({"code": ["01", "02"], "age": ["31", "47"], "income": ["1.200,5", None]})
    >>> typed(table, Recognised("a.csv", "text", decimal=",", thousands=".")).to_pylist()[0]
    {'code': '01', 'age': 31, 'income': 1200.5}
    """
    check_notation(found)
    notation = Notation(found.decimal or ".", found.thousands)
    return pa.table(
        [_typed(table.column(name), notation) for name in table.column_names], names=list(table.column_names)
    )


def check_notation(found: Recognised) -> None:
    """Refuse numbers that nothing decides how to read.

    Raises
    ------
    InputError
        With examples.
    """
    if found.doubt:
        raise InputError(
            f"{found.path}: '{found.doubt}' can be read in two ways, and nothing decides; pass decimal=',' or "
            "decimal='.'"
        )
    if found.several:
        raise InputError(f"{found.path}: numbers are written in several ways ({found.several}); pass decimal=")


def _typed(column: Any, notation: Notation) -> Any:
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        return column
    words = [word for word in column.unique().to_pylist() if word is not None]
    plain = dict(zip(words, plain_numbers(words, notation), strict=True))
    if not any(plain.values()) or not all(
        text is not None and _NUMBER.fullmatch(text or "0") for text in plain.values()
    ):
        return column
    whole = all(_WHOLE.fullmatch(text) and len(text) < 16 for text in plain.values() if text)
    to = {word: (int(text) if whole else float(text)) if text else None for word, text in plain.items()}
    kind = pa.int64() if whole else pa.float64()
    return pa.array([to[w] if w is not None else None for w in column.to_pylist()], type=kind)
