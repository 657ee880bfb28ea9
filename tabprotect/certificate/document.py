"""What a certificate looks like, and how its parts are read; the standard library only."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from tabprotect.certificate.limits import UNLIMITED, Limits, Malformed, fits, read_within, require

__all__ = [
    "FORMAT",
    "SECTIONS",
    "VALUES_FORMAT",
    "VERDICTS",
    "Malformed",
    "canonical",
    "counted",
    "digest",
    "fraction",
    "integers",
    "label_of",
    "list_of",
    "load",
    "mapping_of",
    "parse",
    "positions",
    "question",
    "require",
    "seal",
    "text_of",
    "words_of",
]

FORMAT = "tabprotect-certificate/1"
VALUES_FORMAT = "tabprotect-values/1"
SECTIONS = (
    "format",
    "notice",
    "verdict",
    "cost",
    "bound",
    "claimed_bound",
    "residual",
    "digest",
    "publication",
    "pattern",
    "exposed",
    "unproven",
    "witnesses",
    "proof",
    "problem",
)
COLUMNS = ("values", "status", "lpl", "upl", "spl", "weights", "lower", "upper")
PROBLEM = ("cells", *COLUMNS, "rhs", "start", "cell", "coefficient", "attackers", "integer")
SHOWN = ("shown",)
"""What the problem of a release states besides; see `tabprotect.certificate.shown`."""

SAFE, PRIMARY, FORCED, PROTECTED, ZERO = range(5)
EXPONENT = 400
"""No number needs a larger exponent; one of a billion would keep the reader busy for ever."""

DIGITS = 4300
"""Nor more digits than Python reads."""

_NUMBER = re.compile(r"-?[0-9]+(?:/[0-9]+|(?:\.[0-9]+)?(?:e[+-]?[0-9]{1,3})?)")

VERDICTS = ("safe", "LP-safe only", "not safe")


def digest(section: Any) -> str:
    """Return the SHA-256 of a JSON value in canonical form."""
    if not isinstance(section, Mapping):
        return hashlib.sha256(canonical(section).encode()).hexdigest()
    state = hashlib.sha256(b"{")
    for number, name in enumerate(sorted(section)):  # entry by entry: the whole text may be large
        state.update(f"{',' if number else ''}{canonical(name)}:{canonical(section[name])}".encode())
    state.update(b"}")
    return state.hexdigest()


def seal(sections: Iterable[tuple[str, str]]) -> str:
    """Return the SHA-256 over the digests of all sections of a certificate but the seal."""
    return hashlib.sha256("\n".join(f"{name} {value}" for name, value in sections).encode()).hexdigest()


def canonical(value: Any) -> str:
    """Return the JSON text of a value: sorted names, no spaces, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def list_of(value: Any, name: str) -> list[Any]:
    """Return a value that must be a list."""
    if not isinstance(value, list):
        raise Malformed(f"'{name}' must be a list")
    return value


def mapping_of(value: Any, name: str, entries: Iterable[str], optional: Iterable[str] = ()) -> Mapping[str, Any]:
    """Return a value that must be an object with exactly these entries, and perhaps optional ones."""
    wanted = set(entries)
    if not isinstance(value, Mapping) or set(value) - set(optional) != wanted:
        raise Malformed(f"'{name}' must be an object with exactly the entries {', '.join(sorted(wanted))}")
    return value


def text_of(value: Any, name: str) -> str:
    """Return a value that must be text."""
    if not isinstance(value, str):
        raise Malformed(f"'{name}' must be text")
    return value


def integers(value: Any, name: str) -> list[int]:
    """Return a value that must be a list of integers."""
    require(all(type(v) is int for v in list_of(value, name)), f"'{name}' must hold integers")
    return list(value)


def positions(value: Any, n: int, name: str) -> list[int]:
    """Return a value that must be a list of integers in 0..n-1."""
    found = integers(value, name)
    require(not found or (min(found) >= 0 and max(found) < n), f"'{name}' must lie in 0..{n - 1}")
    return found


def question(value: Any) -> tuple[int, int, int]:
    """Return a value that must be attacker, cell and side."""
    key = integers(value, "key")
    require(len(key) == 3, "a question is attacker, cell and side")
    return key[0], key[1], key[2]


def fraction(text: Any, name: str, digits: int = DIGITS) -> Fraction:
    """Return a number that must be written as text: a decimal or a fraction."""
    require(isinstance(text, str), f"'{name}' must hold numbers written as text, not {_short(text)}")
    number = _NUMBER.fullmatch(text) if len(text) <= 2 * digits + 1 else None
    require(number is not None, f"'{name}' holds {_short(text)}, which is not a number")
    exponent = text.partition("e")[2]
    require(
        abs(int(exponent or 0)) <= EXPONENT, f"'{name}' holds {_short(text)}, which no floating-point number can be"
    )
    try:
        return Fraction(text)
    except (ValueError, ZeroDivisionError):
        raise Malformed(f"'{name}' holds {_short(text)}, which is not a number") from None


def _short(value: Any) -> str:
    words = repr(value) if isinstance(value, (str, int, float, bool, type(None))) else type(value).__name__
    return words if len(words) <= 60 else words[:57] + "..."


def words_of(number: Fraction, digits: int = 15) -> str:
    """Return a number for people; those that no float can be as a power of ten.

    Examples
    --------
    >>> words_of(Fraction(1, 8)), words_of(Fraction(10) ** 400)
    ('0.125', 'about 10^400')
    """
    try:
        return f"{float(number):.{digits}g}"
    except OverflowError:
        return f"about {'-' if number < 0 else ''}10^{len(str(abs(int(number)))) - 1}"


def counted(number: int, one: str, several: str = "") -> str:
    """Return a number and what is counted, in the singular for one.

    Examples
    --------
    >>> counted(1, "cell"), counted(2000, "cell")
    ('1 cell', '2000 cells')
    """
    return f"{number} {one if number == 1 else several or one + 's'}"


def label_of(cell: Any) -> str:
    """Return the id of a cell as words; a sum of cells has one name, and no text in the place of further codes.

    Examples
    --------
    >>> label_of(("N", 3)), label_of(["sum of N x 3 + S x 3", ""])
    ('N x 3', 'sum of N x 3 + S x 3')
    """
    if not isinstance(cell, (list, tuple)):
        return str(cell)
    parts = [str(part) for part in cell]
    while len(parts) > 1 and not parts[-1]:
        parts.pop()
    return " x ".join(parts)


def load(source: Any, limits: Limits = UNLIMITED) -> Mapping[str, Any]:
    """Read a mapping, or a JSON file (plain or .gz) that holds one.

    Raises
    ------
    Malformed
        If it is no such file, or larger than the limits allow.
    OSError
        If it cannot be read.
    """
    if isinstance(source, Mapping):
        return source
    require(isinstance(source, str | PathLike), f"a certificate is a mapping or the path of a file, not {source!r}")
    path = Path(source)
    found = parse(read_within(path, limits), path.name, limits)
    require(isinstance(found, Mapping), "not a certificate: the outermost value must be an object")
    return dict(found)


def parse(data: bytes, name: str, limits: Limits = UNLIMITED) -> Any:
    """Read a JSON text."""
    fits(data, limits, name)
    try:
        return json.loads(data, object_pairs_hook=_no_duplicates)
    except RecursionError:
        raise Malformed(f"{name} cannot be read: it is nested too deeply") from None
    except (ValueError, EOFError) as error:
        raise Malformed(f"{name} cannot be read: {error}") from error


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an entry occurs twice")
    return found
