"""Loops that numba compiles where it is there; without it the same function runs in Python, with the same answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

__all__ = ["compiled"]

P = ParamSpec("P")
R = TypeVar("R")


def compiled(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function of arrays and numbers when it is first called; for use as a decorator.

    What is compiled is kept beside the module, or in the user's cache, for the next process.

    Examples
    --------
    >>> @compiled
    ... def double(x):
    ...     return 2 * x
    >>> double(4)
    8
    """
    made: list[Callable[..., Any]] = []

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if not made:
            try:
                import numba
            except ImportError:
                made.append(function)
            else:
                try:
                    made.append(numba.njit(cache=True)(function))
                except RuntimeError:
                    # the function is of no file, or there is no place to write
                    made.append(numba.njit(function))
        return made[0](*args, **kwargs)  # type: ignore[no-any-return]

    return call
