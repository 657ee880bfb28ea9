"""Both files as numbers, and the limits that knowledge of a method sets to the masked values of every record."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.agreement import joint_codes
from tabprotect.microdata.risk.knowledge import Knowledge
from tabprotect.microdata.scales import Scale

__all__ = ["all_limits", "joint_strata", "matrices", "standardised"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def matrices(before: Records, after: Records, names: Sequence[str]) -> tuple[Floats, Floats]:
    """Return the columns of both files as numbers; ordered categories as their positions."""
    gone = [name for name in names if name not in after.columns]
    if gone:
        raise InputError(*(f"column '{name}' is not released" for name in gone))
    sides: list[tuple[Floats, Floats]] = []
    for name in names:
        if before.scale(name) is not Scale.ORDERED:
            sides.append((before.numbers(name), after.numbers(name)))
            continue
        order, found = before.categories(name), after.categories(name)
        place = {str(value): float(i) for i, value in enumerate(order.values)}
        to = np.array([*(place.get(str(value), np.nan) for value in found.values), np.nan])
        sides.append((np.where(order.index < 0, np.nan, order.index.astype(np.float64)), to[found.index]))
    return np.column_stack([one for one, _ in sides]), np.column_stack([one for _, one in sides])


def joint_strata(before: Records, after: Records, names: Sequence[str]) -> tuple[Ints, Ints]:
    """Number the strata of both files alike."""
    one, other = np.zeros(len(before), dtype=np.int64), np.zeros(len(after), dtype=np.int64)
    for name in names:
        first, second = joint_codes(before, after, name)
        width = max(first.max(initial=0), second.max(initial=0)) + 2
        both = np.unique(np.concatenate([one * width + first + 1, other * width + second + 1]), return_inverse=True)[1]
        one, other = both[: len(before)], both[len(before) :]
    return one, other


def all_limits(
    x: Floats, y: Floats, known: Sequence[Knowledge | None], strata: tuple[Ints, Ints]
) -> tuple[Floats, Floats, Floats]:
    """Return the limits of every record's masked values, infinite where nothing is known, and centres of guesses."""
    low, high, middle = np.full(x.shape, -np.inf), np.full(x.shape, np.inf), x.copy()
    orders = [np.argsort(side, kind="stable") for side in strata]
    count = int(max(side.max(initial=0) for side in strata)) + 1
    mine, theirs = (
        np.split(order, np.searchsorted(side[order], np.arange(1, count)))
        for side, order in zip(strata, orders, strict=True)
    )
    for j, one in enumerate(known):
        if one is None:
            continue
        for rows, others in zip(mine, theirs, strict=True):
            column = y[others, j]
            column = np.sort(column[~np.isnan(column)])
            there = rows[~np.isnan(x[rows, j])]
            if not len(column) or not len(there):
                continue
            low[there, j], high[there, j] = one.limits(x[there, j], column)
            centre = getattr(one, "centre", None)
            if centre is not None:
                middle[there, j] = centre(x[there, j], column)
    return low, high, middle


def standardised(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Scale columns by the masked ones, which everybody has; missing values stand at the mean."""
    middle, spread = np.zeros(x.shape[1]), np.ones(x.shape[1])
    for j in range(x.shape[1]):
        there = y[~np.isnan(y[:, j]), j]
        if len(there):
            middle[j] = there.mean()
            spread[j] = there.std() or 1.0
    return np.nan_to_num((x - middle) / spread), np.nan_to_num((y - middle) / spread)
