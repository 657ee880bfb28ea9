"""Arguments of another kind altogether, for every room: what is wrong, and what a call may make of it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp

NOTHING = object()

WRONG: tuple[Any, ...] = (
    "abc", 5, -1, [], {}, [1], None, pd.DataFrame(), NOTHING, float("nan"), True, b"abc", ("a", "b"), {"a": 1},
    np.zeros(3), 1j,
)  # fmt: skip

Case = tuple[Callable[..., Any], Mapping[str, Any]]


def refused(call: Callable[[Any], Any], wrong: Any) -> str:
    """Return what a call says of a wrong argument, nothing if it takes it; other errors go through."""
    try:
        call(wrong)
    except tp.TabprotectError as error:
        return str(error)
    return ""


def check(call: Callable[[Any], Any], wrong: Iterable[Any] = WRONG) -> None:
    """What is no value of any kind is refused, and whatever else is wrong is no other error."""
    said = {id(one): refused(call, one) for one in wrong}
    assert said[id(NOTHING)], "an object of no kind is taken"


def arguments(cases: Iterable[Case]) -> list[tuple[Callable[..., Any], Mapping[str, Any], str]]:
    """Every argument of every call, by its name."""
    return [
        (function, given, name)
        for function, given in cases
        for name, one in inspect.signature(function).parameters.items()
        if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ]


def named(value: Any) -> str | None:
    """Name of a test: of the function, or of the argument."""
    if isinstance(value, str):
        return value
    return getattr(value, "__qualname__", None) or ""
