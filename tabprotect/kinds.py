"""Arguments of the kinds that a signature announces: what is of another kind is refused once, at the door."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import fields
from functools import cache, wraps
from itertools import islice
from numbers import Integral, Real
from os import PathLike
from typing import Any, Literal, ParamSpec, TypeVar, Union

from tabprotect.errors import InputError, did_you_mean

__all__ = ["check_fields", "check_given", "of_kinds", "shown"]

P = ParamSpec("P")
R = TypeVar("R")

_PLAIN: Mapping[object, tuple[tuple[type, ...], str]] = {
    bool: ((bool,), "True or False"),
    int: ((Integral,), "a whole number"),
    float: ((Real,), "a number"),
    str: ((str,), "a text"),
}
"""Types whose values are of other types as well, and what they are called."""

_LOOKED_AT = 100
"""Members of a list that are looked at, so that columns of millions cost nothing; functions look at all they use."""

_SEVERAL = {Any: "values", str: "names", int: "whole numbers", float: "numbers"}


def of_kinds(*names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Refuse arguments of another kind than annotated: of these names, or of all where there is none.

    Words (`Literal`), numbers, texts, flags, lists, mappings and classes are looked at; what is annotated as ``Any`` or
    in a way that says no kind is left to the function. True is no number.

    Raises
    ------
    InputError
        By the function: names every argument that is of another kind.

    Examples
    --------
    >>> @of_kinds()
    ... def share(columns: Sequence[str] | str, most: int = 5, by: Literal["rank", "value"] = "rank") -> str:
    ...     return f"{most} {by}"
    >>> share(["pay"], by="value")
    '5 value'
    >>> share([1], "x", "rang")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: 3 problems:
      - columns must be a list of names or a text, not [1]
      - most must be a whole number, not 'x'
      - by must be 'rank' or 'value', not 'rang'; did you mean 'rank'?
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)

        @wraps(function)
        def checked(*args: P.args, **kwargs: P.kwargs) -> R:
            try:
                given = signature.bind(*args, **kwargs).arguments
            except TypeError:
                # Python says best what is missing, or too much
                return function(*args, **kwargs)
            hints = _hints(function)
            _refuse({name: one for name, one in given.items() if name in hints and (name in names or not names)}, hints)
            return function(*args, **kwargs)

        return checked

    return decorate


def check_given(function: Callable[..., Any], given: Mapping[str, Any]) -> None:
    """Refuse what a function would be given by name, where it is of another kind than annotated.

    Raises
    ------
    InputError
        Names every argument that is of another kind.
    """
    hints = _hints(function)
    _refuse({name: one for name, one in given.items() if name in hints}, hints)


def check_fields(given: Any, *names: str) -> None:
    """Refuse fields of a dataclass of another kind than annotated: these, or all; for ``__post_init__``.

    Raises
    ------
    InputError
        Names every field that is of another kind.
    """
    kind: Any = type(given)
    hints = _hints(kind)
    every = [f.name for f in fields(given)]
    _refuse({name: getattr(given, name) for name in names or every}, hints, f"{type(given).__name__}: ")


@cache
def _hints(of: Any) -> dict[str, Any]:
    return typing.get_type_hints(of)


def _refuse(given: Mapping[str, Any], hints: Mapping[str, Any], of: str = "") -> None:
    problems = [
        f"{of}{name} must be {_words(hints[name])}{_such_as(name, one, hints[name])}, not {shown(one)}"
        + _guess(one, hints[name])
        for name, one in given.items()
        if not _fits(one, hints[name])
    ]
    if problems:
        raise InputError(*problems)


def _parts(hint: Any) -> tuple[Any, ...]:
    """Return the kinds of a union, flat; a single kind alone."""
    if typing.get_origin(hint) in (Union, types.UnionType):
        return tuple(part for one in typing.get_args(hint) for part in _parts(one))
    return (hint,)


def _fits(given: Any, hint: Any) -> bool:
    """Whether something is of a kind, as far as the kind says anything."""
    return any(_is(given, part) for part in _parts(hint))


def _is(given: Any, part: Any) -> bool:
    origin, args = typing.get_origin(part), typing.get_args(part)
    if part is Any:
        return True
    if part in (None, type(None)):
        return given is None
    if origin is Literal:
        return any(type(given) is type(word) and given == word for word in args)
    if part in _PLAIN:
        kinds = _PLAIN[part][0]
        return _is_flag(given) if part is bool else isinstance(given, kinds) and not _is_flag(given)
    if origin is tuple and args and args[-1] is not ...:
        return _is_list(given, Any) and len(given) == len(args) and all(map(_fits, given, args))
    if origin in (Sequence, list, tuple) or part in (Sequence, list, tuple):
        return _is_list(given, args[0] if args and args[0] is not ... else Any)
    if origin in (Mapping, dict) or part in (Mapping, dict):
        return isinstance(given, Mapping) and all(
            _fits(key, args[0]) and _fits(one, args[1]) for key, one in (given.items() if args else ())
        )
    if origin is Callable or part is Callable:
        return callable(given)
    kind = origin or part
    if not inspect.isclass(kind) or (getattr(kind, "_is_protocol", False) and not _can_be_asked(kind)):
        return True
    return isinstance(given, kind)


def _can_be_asked(protocol: type) -> bool:
    return bool(getattr(protocol, "_is_runtime_protocol", False))


def _is_flag(given: Any) -> bool:
    return isinstance(given, bool) or type(given).__name__ in ("bool_", "bool")


def _is_list(given: Any, of: Any) -> bool:
    # a frame has a length and is walked through by its columns, and is no list
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Collection) or hasattr(given, "columns"):
        return False
    return of is Any or all(_fits(one, of) for one in islice(given, _LOOKED_AT))


def _words(hint: Any) -> str:
    """Say which kinds something may be of."""
    words = list(
        dict.fromkeys(word for part in _parts(hint) if part not in (None, type(None)) for word in _named(part))
    )
    return f"{', '.join(words[:-1])} or {words[-1]}" if len(words) > 1 else words[0] if words else "None"


def _named(part: Any) -> Iterator[str]:
    origin, args = typing.get_origin(part), typing.get_args(part)
    if origin is Literal:
        yield from map(repr, args)
    elif part in _PLAIN:
        yield _PLAIN[part][1]
    elif origin in (Sequence, list, tuple) or part in (Sequence, list, tuple):
        inner = _parts(args[0])[0] if args else Any
        within = "lists" if typing.get_origin(inner) in (Sequence, list, tuple) else _SEVERAL.get(inner)
        yield f"a list of {within or getattr(inner, '__name__', 'value') + ' objects'}"
    elif origin in (Mapping, dict) or part in (Mapping, dict):
        of = _SEVERAL.get(_parts(args[1])[0] if args else Any, "values")
        yield f"a mapping to {of}" if of != "values" else "a mapping"
    elif origin is Callable or part is Callable:
        yield "a function"
    elif isinstance(part, type) and issubclass(part, PathLike):
        yield "a path"
    else:
        yield f"a {getattr(part, '__name__', part)}"


def _such_as(name: str, given: Any, hint: Any) -> str:
    """Return a name as a list of one, where that is all that is wrong."""
    return f", such as {name}={[given]}" if isinstance(given, str) and _fits([given], hint) else ""


def _guess(given: Any, hint: Any) -> str:
    words = [word for part in _parts(hint) if typing.get_origin(part) is Literal for word in typing.get_args(part)]
    guess = did_you_mean(given, words) if isinstance(given, str) and words else ""
    return guess if "mean" in guess else ""


def shown(value: Any, most: int = 80) -> str:
    """Return what a message shows of a parameter: itself where that is short, else its type.

    Examples
    --------
    >>> shown("x"), shown([1, 2]), shown(object())
    ("'x'", '[1, 2]', 'a value of type object')
    """
    plain = value is None or isinstance(value, str | int | float | list | tuple | Mapping)
    text = repr(value) if plain else ""
    return text if plain and len(text) <= most and "\n" not in text else f"a value of type {type(value).__name__}"
