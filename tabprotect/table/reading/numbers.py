"""Numbers as text: which decimal sign, which sign between thousands, and what cannot be read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.table.digits import EXACT, lost_digits

__all__ = [
    "SIGNS",
    "SPACES",
    "Notation",
    "find_notation",
    "lost_in",
    "one_blank",
    "plain_numbers",
    "to_numbers",
]

SPACES = " \u00a0\u202f\u2009"
"""Blank, no-break space, narrow no-break space, thin space: each is a blank between thousands."""

SIGNS = f",.'\u2019{SPACES}"
"""Signs that numbers may have between their digits."""

_CANDIDATES = ((".", ""), (",", ""), (".", ","), (",", "."), (".", " "), (",", " "), (".", "'"), (",", "'"), (".", "’"))
_SEVERAL = re.compile(r"^[+-]?[1-9]\d{0,2}([.,]\d{3})$")


@dataclass(frozen=True)
class Notation:
    """How numbers are written.

    Parameters
    ----------
    decimal : str
        Decimal sign.
    thousands : str
        Sign between thousands; '' for none, ' ' for blanks of any kind.
    doubt : str
        An example that can be read in two ways where nothing else decides; '' for none.
    """

    decimal: str = "."
    thousands: str = ""
    doubt: str = ""


def _pattern(decimal: str, thousands: str) -> re.Pattern[str]:
    point = re.escape(decimal)
    fraction = rf"(?:{point}\d*)?(?:[eE][+-]?\d+)?"
    whole = r"\d+" if not thousands else rf"(?:\d{{1,3}}(?:{_sign(thousands)}\d{{3}})+|\d+)"
    return re.compile(rf"^[+-]?(?:{whole}{fraction}|{point}\d+(?:[eE][+-]?\d+)?)$")


def _sign(thousands: str) -> str:
    return f"[{SPACES}]" if one_blank(thousands) == " " else re.escape(thousands)


def one_blank(thousands: str | None) -> str | None:
    r"""Return the sign between thousands, any blank as the usual one.

    Examples
    --------
    >>> one_blank("\u202f"), one_blank("."), one_blank("")
    (' ', '.', '')
    """
    return " " if thousands and thousands in SPACES else thousands


def find_notation(texts: Iterable[str], *, decimal: str | None = None, thousands: str | None = None) -> Notation | None:
    """Find how numbers are written, from examples; None when they are no numbers in any notation.

    Parameters
    ----------
    texts : iterable of str
        Blank ones do not count.
    decimal, thousands : str, optional
        What is known already.

    Examples
    --------
    >>> find_notation(["1.234,5", "12"]), find_notation(["0,5"]), find_notation(["1 234", "5,1"])
    (Notation(decimal=',', thousands='.', doubt=''), Notation(decimal=',', thousands='', doubt=''),
     Notation(decimal=',', thousands=' ', doubt=''))
    >>> find_notation(["1,234"]).doubt, find_notation(["Nord"])
    ('1,234', None)
    """
    thousands = one_blank(thousands)
    words = list(dict.fromkeys(word for text in texts if (word := text.strip())))
    fitting = [
        (d, t)
        for d, t in _CANDIDATES
        if decimal in (None, d) and thousands in (None, t) and all(map(_pattern(d, t).match, words))
    ]
    if decimal is not None and thousands is not None and (decimal, thousands) not in _CANDIDATES:
        fitting = [(decimal, thousands)] if all(map(_pattern(decimal, thousands).match, words)) else []
    if not fitting:
        return None
    first = fitting[0]
    doubtful = next((word for word in words if _SEVERAL.match(word)), "")
    readings = {d for d, t in fitting if t in ("", ".", ",")}
    return Notation(*first, doubt=doubtful if doubtful and len(readings) > 1 else "")


def to_numbers(texts: Sequence[str] | pd.Series, notation: Notation, name: str) -> npt.NDArray[np.float64]:
    """Return numbers as floats; blank ones are nan.

    Raises
    ------
    InputError
        Names the rows (from 1) that hold no numbers in this notation.

    Examples
    --------
    >>> to_numbers(["1.234,5", ""], Notation(",", "."), "turnover").tolist()
    [1234.5, nan]
    """
    column = pd.Series(texts, dtype=object).fillna("").astype(str).str.strip()
    blank = (column == "").to_numpy()
    good = column.str.match(_pattern(notation.decimal, notation.thousands)).to_numpy(bool)
    bad = np.flatnonzero(~good & ~blank)
    if len(bad):
        words = ", ".join(f"'{column.iloc[i]}' (row {i + 1})" for i in bad[:3])
        more = f" and {len(bad) - 3} more" if len(bad) > 3 else ""
        how = f"decimal sign '{notation.decimal}'" + (
            f", thousands '{notation.thousands}'" if notation.thousands else ""
        )
        raise InputError(f"column '{name}' must hold numbers ({how}), but holds {words}{more}")
    if notation.thousands:
        column = column.str.replace(_sign(notation.thousands), "", regex=True)
    if notation.decimal != ".":
        column = column.str.replace(notation.decimal, ".", regex=False)
    return np.asarray(column.where(~blank, "nan").astype(np.float64), np.float64)


def lost_in(
    texts: Sequence[str] | pd.Series, numbers: npt.NDArray[np.float64], notation: Notation
) -> npt.NDArray[np.bool_]:
    """Return which numbers have other digits than their texts, as `tabprotect.table.digits.lost_digits` does."""
    large = np.flatnonzero(np.isfinite(numbers) & (np.abs(numbers) >= EXACT))
    words = plain_numbers([str(word) for word in pd.Series(texts, dtype=object).iloc[large]], notation)
    lost = np.zeros(len(numbers), dtype=bool)
    lost[large] = lost_digits(words, numbers[large])
    return lost


def plain_numbers(words: Sequence[str], notation: Notation) -> list[str | None]:
    """Return numbers as other programs write them, '' for blank ones and None for what is no number.

    Examples
    --------
    >>> plain_numbers(["1.234,5", " ", "north"], Notation(",", "."))
    ['1234.5', '', None]
    """
    pattern, found = _pattern(notation.decimal, notation.thousands), list[str | None]()
    for word in map(str.strip, words):
        if word and not pattern.match(word):
            found.append(None)
            continue
        bare = re.sub(_sign(notation.thousands), "", word) if notation.thousands else word
        found.append(bare.replace(notation.decimal, "."))
    return found
