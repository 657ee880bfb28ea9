"""One base error for everything that a user can mend, and the means to report all problems at once."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = [
    "InfeasibleError",
    "InputError",
    "Problems",
    "SolverError",
    "TabprotectError",
    "among",
    "as_bool",
    "as_items",
    "as_number",
    "as_numbers",
    "collect",
    "did_you_mean",
    "need",
]

T = TypeVar("T")


class TabprotectError(Exception):
    """Base of every error that tabprotect raises on purpose."""


class InputError(TabprotectError):
    """The input is wrong; the message names each offending thing and the cure.

    Attributes
    ----------
    problems : tuple of str
        Every problem found, one sentence each.
    """

    def __init__(self, *problems: str) -> None:
        self.problems = problems
        super().__init__(
            problems[0]
            if len(problems) == 1
            else f"{len(problems)} problems:\n" + "\n".join(f"  - {p}" for p in problems)
        )


class InfeasibleError(TabprotectError):
    """No answer can satisfy what was asked for; the message names the cells and why."""


class SolverError(TabprotectError):
    """A solver failed or is not installed; no answer was made from its output."""


class Problems:
    """Collects problems so that the user sees all of them in one error."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def add(self, problem: str) -> None:
        """Note one problem."""
        self.found.append(problem)

    def attempt(self, call: Callable[..., T], *given: Any, **named: Any) -> T | None:
        """Return what a call returns; what it finds wrong is noted, and there is nothing to return then.

        Examples
        --------
        >>> problems = Problems()
        >>> problems.attempt(as_number, 5, "base"), problems.attempt(as_number, "5", "base"), problems.found
        (5.0, None, ["base must be a number, not '5'"])
        """
        try:
            return call(*given, **named)
        except InputError as error:
            self.found += error.problems
            return None

    def raise_if_any(self) -> None:
        """Raise one `InputError` with every problem noted so far."""
        if self.found:
            raise InputError(*self.found)


@contextmanager
def collect() -> Iterator[Problems]:
    """Collect problems in a ``with`` block and raise them together at its end.

    Examples
    --------
    >>> with collect() as problems:
    ...     problems.add("column 'a' is missing")
    ...     problems.add("column 'b' is missing")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: 2 problems:
      - column 'a' is missing
      - column 'b' is missing
    """
    problems = Problems()
    yield problems
    problems.raise_if_any()


def need(given: object, kind: type, who: str, such_as: str) -> None:
    """Refuse what is something else than a function works on.

    Examples
    --------
    >>> need([1], dict, "assess", "as nobody makes it")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: assess needs a dict, as nobody makes it, not list
    """
    if not isinstance(given, kind):
        raise InputError(f"{who} needs a {kind.__name__}, {such_as}, not {type(given).__name__}")


def as_bool(given: Any, name: str) -> bool:
    """Return what has to be True or False.

    Examples
    --------
    >>> as_bool("no", "singletons")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: singletons must be True or False, not 'no'
    """
    import numpy as np

    if not isinstance(given, bool | np.bool_):
        raise InputError(f"{name} must be True or False, not {given!r}")
    return bool(given)


def among(given: object, words: Iterable[object]) -> bool:
    """Whether something is one of some words, or of None beside them; what can be no word is not.

    Examples
    --------
    >>> among("l1", ("l1", "l2")), among(None, (None, "l1")), among(["l1"], ("l1", "l2"))
    (True, True, False)
    """
    return (given is None or isinstance(given, str)) and given in tuple(words)


def as_items(given: Any, kind: type | tuple[type, ...], name: str, such_as: str) -> tuple[Any, ...]:
    """Return what has to be several things of one kind.

    Examples
    --------
    >>> as_items(5, str, "cells", "labels of cells")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: cells must be a list of labels of cells, not 5
    """
    items = tuple(given) if isinstance(given, Iterable) and not isinstance(given, str | bytes | Mapping) else None
    if items is None or not all(isinstance(item, kind) for item in items):
        raise InputError(f"{name} must be a list of {such_as}, not {given!r}")
    return items


def as_number(given: Any, name: str) -> float:
    """Return what has to be a number, NaN and infinity included.

    Examples
    --------
    >>> as_number("5", "base")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: base must be a number, not '5'
    """
    if isinstance(given, bool) or not isinstance(given, Real):
        raise InputError(f"{name} must be a number, not {given!r}")
    return float(given)


def as_numbers(given: Any, name: str, such_as: str) -> npt.NDArray[np.float64]:
    """Return what has to be an array of numbers.

    Examples
    --------
    >>> as_numbers({}, "weights", "'unit' or a number for every cell")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: weights must be 'unit' or a number for every cell, not {}
    """
    import numpy as np

    try:
        return np.asarray(given, np.float64)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be {such_as}, not {given!r}") from None


def did_you_mean(word: object, options: Iterable[Any]) -> str:
    """Return ``"; did you mean 'x'?"``, or the options when they are few, or nothing.

    Examples
    --------
    >>> did_you_mean("turnovr", ["turnover", "region"])
    "; did you mean 'turnover'?"
    >>> did_you_mean("xyz", ["turnover", "region"])
    "; there are 'turnover', 'region'"
    """
    names = [str(option) for option in options]
    close = difflib.get_close_matches(str(word), names, n=1, cutoff=0.6)
    if close:
        return f"; did you mean '{close[0]}'?"
    if 0 < len(names) <= 12:
        return "; there are " + ", ".join(f"'{name}'" for name in names)
    return ""
