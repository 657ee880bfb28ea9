"""What a finished table says of the contributors behind its cells, checked against the values."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabprotect.errors import Problems
from tabprotect.table.contributions import Contributions
from tabprotect.table.system import LinearSystem

__all__ = ["check_counts", "largest_contributions"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def check_counts(
    system: LinearSystem,
    values: Floats,
    counts: Floats | None,
    weighted: Floats | None,
    tolerance: float | None,
    problems: Problems,
) -> None:
    """Name the cells whose number of contributors cannot be: rules would take such cells for empty ones."""
    for what, count in (("count", counts), ("weighted count", weighted)):
        if count is None:
            continue
        _refuse(problems, system, count < 0, f"the {what} of contributors is below 0 in")
        nobody = (count == 0) & (np.abs(values) > (tolerance or 0.0))
        _refuse(problems, system, nobody, f"the {what} of contributors is 0, but the value is not, in")


def largest_contributions(
    system: LinearSystem,
    values: Floats,
    top: Floats,
    counts: Floats | None,
    holders: Sequence[tuple[list[str], Ints]],
    shadow: tuple[str, Floats] | None,
    tolerance: float | None,
    problems: Problems,
) -> Contributions:
    """Return the largest contributions as they were given, and name the cells in which they cannot be.

    Parameters
    ----------
    system : LinearSystem
    values : ndarray, shape (cells,)
    top : ndarray, shape (cells, k)
        The largest first; 0 where there are fewer.
    counts : ndarray, shape (cells,), optional
    holders : sequence of (names, ndarray of int, shape (cells,))
        Whose the contributions are, for each column of `top`; -1 where nothing is said.
    shadow : (str, ndarray), optional
        Name and sums of what the rules look at instead of the value.
    tolerance : float, optional
        Rounding of the values.
    problems : Problems
        Gets what is wrong.
    """
    total = np.abs(values) if shadow is None else shadow[1]
    slack = (tolerance or 0.0) + 1e-9 * total
    if shadow is None:
        _refuse(
            problems,
            system,
            values < 0,
            "values below zero come from contributions of both signs, so the maxima need the sum of absolute "
            "contributions beside them (shadow=...)",
        )
    rising = (top[:, 1:] > top[:, :-1]).any(axis=1)
    for bad, what in (
        ((top < 0).any(axis=1), "largest contributions must be absolute sizes, 0 or more; they are not in"),
        (rising, "the maxima must fall from the first to the last; they do not in"),
        (top.sum(axis=1) > total + slack, "the largest contributions add up to more than the whole cell in"),
    ):
        _refuse(problems, system, bad, what)
    there = top > 0
    if counts is not None:
        counted = np.arange(top.shape[1]) < counts[:, None]
        _refuse(
            problems,
            system,
            (there & ~counted).any(axis=1),
            "there are more largest contributions than contributors in",
        )
        there = there | counted
    names = list(dict.fromkeys(name for found, _ in holders for name in found))
    place = {name: i for i, name in enumerate(names)}
    who = np.full(top.shape, -1, dtype=np.int64)
    for j, (found, index) in enumerate(holders):
        of = np.array([*(place[name] for name in found), -1], dtype=np.int64)
        who[:, j] = of[index]
    who[~there] = -1
    return Contributions(
        total=total,
        values=top,
        weights=there.astype(np.float64),
        holders=who,
        waived=np.zeros(top.shape, dtype=bool),
        requested=np.zeros(top.shape, dtype=np.int8),
        unwaived=top[:, 0].copy(),
        unwaived_holder=who[:, 0].copy(),
        names=np.array(names, dtype=object),
        shadow=None if shadow is None else shadow[0],
    )


def _refuse(problems: Problems, system: LinearSystem, bad: npt.ArrayLike, what: str) -> None:
    cells = np.flatnonzero(bad)
    if len(cells):
        names = [system.label(int(i)) for i in cells[:5]]
        more = f" and {len(cells) - 5} more" if len(cells) > 5 else ""
        problems.add(f"{what}: {', '.join(names)}{more}")
