"""Options of methods: checked by their types when given, read from text by the same types."""

from __future__ import annotations

import math
import types
from collections.abc import Mapping
from dataclasses import Field, fields
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from tabprotect.errors import InputError, Problems, collect, did_you_mean

__all__ = [
    "ABOVE_ZERO",
    "COLUMNS",
    "INNER",
    "check_options",
    "option_names",
    "option_words",
    "options_of",
    "read_options",
]

INNER: Mapping[str, bool] = {"inner": True}
"""Metadata of fields that are not given as text."""

COLUMNS: Mapping[str, bool] = {"columns": True}
"""Metadata of lists of columns, which a method reads and checks itself."""

ABOVE_ZERO: Mapping[str, bool] = {"above_zero": True}
"""Metadata of numbers that must be above 0; others must be at least 0."""


MOST_DECIMALS = 15
"""A float has no more digits that mean anything."""


def option_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the options of a method that may be given as text."""
    return tuple(f.name for f in fields(kind) if not f.metadata.get("inner"))


def option_words(hint: Any) -> str:
    """Say in words what an option of a type may be.

    Examples
    --------
    >>> from typing import Literal
    >>> option_words(int | Literal["least"]), option_words(float | None)
    ("a whole number or 'least'", 'a number')
    """
    return _named(_kinds(hint))


def options_of(method: Any) -> dict[str, Any]:
    """Return the options of a method that differ from their defaults."""
    return {
        f.name: value
        for f in fields(method)
        if not f.metadata.get("inner") and (value := getattr(method, f.name)) != f.default
    }


def check_options(method: Any) -> None:
    """Refuse values that an option cannot have, all in one error.

    Raises
    ------
    InputError
    """
    given = {f.name: getattr(method, f.name) for f in fields(method)}
    with collect() as problems:
        for name, what in _all_wrong(type(method), given):
            problems.add(f"{method.name}: {name} {what}")


def _all_wrong(kind: type[Any], given: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the options whose values cannot be, and why."""
    hints = get_type_hints(kind)
    own = {"inner", "columns"}
    asked = [f for f in fields(kind) if f.name in given and not own & set(f.metadata)]
    found = [(f.name, _wrong(f, _kinds(hints[f.name]), given[f.name])) for f in asked]
    return [(name, what) for name, what in found if what]


def read_options(kind: type[Any], given: Mapping[str, Any]) -> Any:
    """Make a method from options, given as text or as values.

    Parameters
    ----------
    kind : type
        Such as those of `tabprotect.methods.registry`.
    given : mapping of str to str or value

    Raises
    ------
    InputError
        Names every unknown option and every value that it cannot have.

    Examples
    --------
    >>> from tabprotect.methods.rounding.method import Round
    >>> read_options(Round, {"base": "5", "levels": "no"})
    Round(base=5.0, steps='least', norm='l1', weights='unit', levels=False, rise=False, search='auto')
    >>> read_options(Round, {"base": "five", "nrm": "l1"})
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: 2 problems:
      - round: base must be a number, not 'five'
      - 'nrm' is no option of round; did you mean 'norm'?
    """
    hints = get_type_hints(kind)
    names = option_names(kind)
    problems, found = Problems(), {}
    for name, value in given.items():
        if name not in names:
            problems.add(f"'{name}' is no option of {kind.name}{did_you_mean(name, names)}")
            continue
        found[name] = _read(_kinds(hints[name]), value)
    if problems.found:
        wrong = _all_wrong(kind, found)
        raise InputError(*(f"{kind.name}: {name} {what}" for name, what in wrong), *problems.found)
    return kind(**found)


def _kinds(hint: Any) -> tuple[Any, ...]:
    """Return the types of a union, Literals as their words."""
    if get_origin(hint) in (Union, types.UnionType):
        return tuple(kind for part in get_args(hint) for kind in _kinds(part))
    return get_args(hint) if get_origin(hint) is Literal else (hint,)


def _read(kinds: tuple[Any, ...], value: Any) -> Any:
    """Turn text into the first type that it can be; what it cannot be stays as it is, for the check."""
    if not isinstance(value, str) or value in kinds:
        return value
    if bool in kinds and value in ("yes", "no"):
        return value == "yes"
    for kind in (int, float):
        if kind in kinds:
            try:
                return kind(value)
            except ValueError:
                continue
    return value


def _wrong(field: Field[Any], kinds: tuple[Any, ...], value: Any) -> str:
    """Say what is wrong with a value; nothing if it is right."""
    words = [kind for kind in kinds if isinstance(kind, str)]
    if value is None and type(None) in kinds:
        return ""
    if isinstance(value, str):
        if value in words or str in kinds:
            return ""
        numbers = [_NAMES[kind] for kind in kinds if kind in _NAMES]
        if not words:
            return f"must be {' or '.join(numbers)}, not '{value}'"
        allowed = [*numbers, *(f"'{word}'" for word in words)]
        return f"must be {' or '.join(allowed)}, not '{value}'{_near(value, words)}"
    if isinstance(value, bool):
        return "" if bool in kinds else f"must be {_named(kinds)}, not {value}"
    if isinstance(value, int | float) and (int in kinds or float in kinds) and not math.isfinite(value):
        return f"must be a finite number, not {value}"
    if isinstance(value, int | float) and (float in kinds or (int in kinds and value == int(value))):
        if field.name == "decimals" and value > MOST_DECIMALS:
            return f"must be at most {MOST_DECIMALS}, not {value}"
        if field.metadata.get("above_zero") and value <= 0:
            return f"must be above 0, not {value:g}"
        return "" if value >= 0 else f"must be at least 0, not {value:g}"
    return f"must be {_named(kinds)}, not {value!r}"


def _near(value: str, words: list[str]) -> str:
    hint = did_you_mean(value, words)
    return hint if "did you mean" in hint else ""


_NAMES: Mapping[Any, str] = {int: "a whole number", float: "a number", bool: "yes or no", str: "a text"}


def _named(kinds: tuple[Any, ...]) -> str:
    return " or ".join([_NAMES[k] for k in kinds if k in _NAMES] + [f"'{k}'" for k in kinds if isinstance(k, str)])
