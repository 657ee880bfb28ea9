"""Checks of the parameters of methods, which note what cannot be."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tabprotect.errors import Problems, did_you_mean
from tabprotect.kinds import shown
from tabprotect.microdata.method import Method

__all__ = ["as_columns", "is_names", "need_choice", "need_number"]


def as_columns(method: Method, field_name: str, problems: Problems, least: int = 1) -> None:
    """Turn a parameter of one or several columns into a tuple; note what is none. For `check_parameters`."""
    given = getattr(method, field_name)
    names = (given,) if isinstance(given, str) else given
    if isinstance(names, Sequence) and all(isinstance(name, str) for name in names):
        found = tuple(dict.fromkeys(names))
        if len(found) < len(names):
            problems.add(f"{method.name}: {field_name} name a column twice")
        if len(found) < least:
            problems.add(f"{method.name}: {field_name} must name at least {least} column{'s' * (least > 1)}")
        object.__setattr__(method, field_name, found)
        return
    problems.add(f"{method.name}: {field_name} must be a list of columns, not {shown(given)}")
    object.__setattr__(method, field_name, ())


def is_names(given: Any) -> bool:
    """Return whether something is a list of texts."""
    return isinstance(given, list | tuple) and all(isinstance(name, str) for name in given)


def need_number(
    method: Method,
    field_name: str,
    problems: Problems,
    *,
    least: float = -math.inf,
    most: float = math.inf,
    above: float = -math.inf,
    below: float = math.inf,
    whole: bool = False,
    optional: bool = False,
) -> None:
    """Note a parameter that is no number in its range (``least <= x <= most``, ``above < x < below``)."""
    value = getattr(method, field_name)
    if value is None and optional:
        return
    what = "a whole number" if whole else "a number"
    number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not number or not math.isfinite(value) or (whole and value != int(value)):
        problems.add(f"{method.name}: {field_name} must be {what}, not {shown(value)}")
        return
    bounds = [
        (value < least, f"at least {least:g}"),
        (value > most, f"at most {most:g}"),
        (value <= above, f"above {above:g}"),
        (value >= below, f"below {below:g}"),
    ]
    wrong = [text for bad, text in bounds if bad]
    if wrong:
        problems.add(f"{method.name}: {field_name} must be {' and '.join(wrong)}, not {value:g}")


def need_choice(method: Method, field_name: str, problems: Problems, options: Sequence[str]) -> None:
    """Note a parameter that is none of some words."""
    value = getattr(method, field_name)
    if not isinstance(value, str) or value not in options:
        problems.add(f"{method.name}: {field_name} cannot be {shown(value)}{did_you_mean(value, options)}")
        if not isinstance(value, str):
            # later checks compare it with words
            object.__setattr__(method, field_name, next(iter(options)))
