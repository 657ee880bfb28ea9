"""Conditions of a query: on public columns they choose records, on confidential ones they depend on the vector."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import collect, did_you_mean

__all__ = ["Condition", "met", "public_rows", "split", "surely_and_possibly"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Condition = tuple[str, str, Any]
"""Column, operator (``== != < <= > >= in``), value; a query takes the records that meet all of its conditions."""

_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "in": lambda column, values: np.isin(column, list(values)),
}  # fmt: skip
_ORDER = ("<", "<=", ">", ">=")


def split(
    where: Sequence[Condition], public: Sequence[str], fields: Sequence[str]
) -> tuple[list[Condition], list[Condition]]:
    """Return conditions on public and on confidential columns, or say everything that is wrong with them."""
    with collect() as problems:
        if not isinstance(where, list | tuple) or (where and isinstance(where[0], str)):
            problems.add("where is a list of conditions (column, operator, value), such as [('region', '==', 'north')]")
            where = ()
        for condition in where:
            if not isinstance(condition, tuple | list) or len(condition) != 3:
                problems.add(f"a condition is (column, operator, value), not {condition!r}")
                continue
            column, sign, value = condition
            if column not in public and column not in fields:
                problems.add(f"there is no column '{column}'{did_you_mean(column, [*public, *fields])}")
            if sign not in _COMPARE:
                problems.add(f"there is no operator '{sign}'{did_you_mean(sign, _COMPARE)}")
            elif column in fields and sign not in _ORDER:
                problems.add(f"confidential column '{column}' takes {', '.join(_ORDER)} only, not '{sign}'")
            elif column in fields and not _is_number(value):
                problems.add(f"confidential column '{column}' is compared with a number, not {value!r}")
            elif sign == "in" and not isinstance(value, list | tuple | set | frozenset):
                problems.add(f"'in' takes a list of values, not {value!r}")
    return [(c, s, v) for c, s, v in where if c not in fields], [(c, s, v) for c, s, v in where if c in fields]


def public_rows(where: Sequence[Condition], public: Mapping[str, npt.NDArray[Any]], n: int) -> npt.NDArray[np.int64]:
    """Return the records that meet conditions on public columns; a missing value meets none."""
    keep = np.ones(n, bool)
    with collect() as problems:
        for column, sign, value in where:
            found = public[column]
            present = np.array([x is not None and x == x for x in found]) if found.dtype == object else found == found
            result = np.zeros(n, bool)
            try:
                result[present] = _COMPARE[sign](found[present], value)
            except (TypeError, ValueError):
                problems.add(f"column '{column}' cannot be compared with {value!r} by '{sign}'")
            keep &= result
    return np.flatnonzero(keep)


def met(where: Sequence[Condition], values: Mapping[str, Floats], n: int) -> Bools:
    """Say which of n records meet conditions on confidential columns, for one vector."""
    found = np.ones(n, bool)
    for column, sign, value in where:
        found &= _COMPARE[sign](values[column], value)
    return found


def surely_and_possibly(
    where: Sequence[Condition], low: Mapping[str, Floats], high: Mapping[str, Floats], n: int
) -> tuple[Bools, Bools]:
    """Say which records meet conditions wherever in [low, high] they are, and which may meet them."""
    sure, possible = np.ones(n, bool), np.ones(n, bool)
    inside: dict[str, tuple[float, float]] = {}
    for column, sign, value in where:
        above = sign in (">", ">=")
        worst, best = (low, high) if above else (high, low)
        sure &= _COMPARE[sign](worst[column], value)
        possible &= _COMPARE[sign](best[column], value)
        start, end = inside.get(column, (-np.inf, np.inf))
        inside[column] = (max(start, value), end) if above else (start, min(end, value))
    for column, (start, end) in inside.items():
        possible &= (low[column] <= end) & (high[column] >= start) & (start <= end)
    return sure & possible, possible


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool) and bool(value == value)
