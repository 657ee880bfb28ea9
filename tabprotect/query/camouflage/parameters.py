"""What a camouflage is made with: bounds, number of vectors, steps and units of every field, read and checked."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tabprotect.errors import InputError, collect, did_you_mean
from tabprotect.query.camouflage.bounds import Absolute, Bounds, Covering, Relative
from tabprotect.query.camouflage.build import unit_of
from tabprotect.query.camouflage.data import Table

__all__ = ["number_of_vectors", "rules_of", "steps_of", "units_of"]

MOST_STEPS = 2**20
"""More would cost digits of the values without need."""


def rules_of(fields: list[str], bounds: Bounds | float | Mapping[str, Bounds | float]) -> dict[str, Bounds]:
    """Return the bounds of every field; a number is a relative width."""
    with collect() as problems:
        if not fields:
            problems.add("there is no confidential field")
        if len(set(fields)) < len(fields):
            problems.add("a confidential field is named twice")
        given = dict(bounds) if isinstance(bounds, Mapping) else dict.fromkeys(fields, bounds)
        for name in fields:
            if name not in given:
                problems.add(f"there are no bounds for field '{name}'")
        for name, b in given.items():
            if name not in fields:
                problems.add(f"bounds are given for '{name}', which is not confidential{did_you_mean(name, fields)}")
            if isinstance(b, bool) or not isinstance(b, Relative | Absolute | Covering | float | int):
                problems.add(f"bounds of '{name}' are Relative, Absolute, Covering or a relative width, not {b!r}")
    return {f: b if isinstance(b, Relative | Absolute | Covering) else Relative(float(b)) for f, b in given.items()}


def number_of_vectors(k: int | None, known: int) -> int:
    """Return how many vectors there are where somebody may know some confidential values.

    Examples
    --------
    >>> number_of_vectors(None, 0), number_of_vectors(None, 2), number_of_vectors(4, 2)
    (3, 7, 4)
    """
    with collect() as problems:
        if isinstance(known, bool) or not isinstance(known, int | np.integer) or known < 0:
            problems.add(f"known must be a whole number of at least 0, not {known!r}")
            known = 0
        least = max(3, known + 2)
        if k is not None and (isinstance(k, bool) or not isinstance(k, int | np.integer) or k < least):
            problems.add(f"k must be a whole number of at least {least}, not {k!r}: known + 2, and 3 in any case")
    return max(3, 2 * known + 3) if k is None else int(k)


def steps_of(steps: int, k: int) -> int:
    """Return the common denominator of the weights of k vectors."""
    if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or not 4 * k <= steps <= MOST_STEPS:
        raise InputError(f"steps must be a whole number from {4 * k} (4 k) to {MOST_STEPS}, not {steps!r}")
    return int(steps)


def units_of(fields: list[str], unit: float | Mapping[str, float] | None, table: Table) -> dict[str, float]:
    """Return what the values of every field are multiples of, by default the last decimal that occurs."""
    given = dict(unit) if isinstance(unit, Mapping) else {} if unit is None else dict.fromkeys(fields, unit)
    with collect() as problems:
        for name, x in given.items():
            if name not in fields:
                problems.add(f"a unit is given for '{name}', which is not confidential{did_you_mean(name, fields)}")
            elif isinstance(x, bool) or not isinstance(x, int | float | np.number) or not 0 < x < math.inf:
                problems.add(f"the unit of '{name}' must be a number above 0, not {x!r}")
    return {f: float(given[f]) if f in given else unit_of(table.values[f]) for f in fields}
