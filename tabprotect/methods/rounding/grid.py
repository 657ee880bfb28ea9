"""Values on the grid of a rounding base, in exact integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InfeasibleError, InputError, as_number
from tabprotect.problem import Problem, Status
from tabprotect.solver.exact import exact, scaled_integers

__all__ = ["Grid", "in_units", "on_grid"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Integers = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class Grid:
    """The multiples of the base that each cell may be rounded to.

    Attributes
    ----------
    base : float
        As given, read as a decimal.
    below : ndarray of int
        floor(a / base), exactly.
    part : ndarray of float
        a / base - floor(a / base), in [0, 1); exactly 0 for multiples.
    above : ndarray of int
        The larger of the two neighbouring multiples (in bases): ceil(a / base), or one more for those that may rise.
    low, high : ndarray of int
        Smallest and largest multiple allowed (in bases).
    total : ndarray of int
        Right-hand sides, in bases.
    """

    base: float
    below: Ints
    part: Floats
    above: Ints
    low: Ints
    high: Ints
    total: Ints

    def values(self, multiples: Ints) -> Floats:
        """Multiples of the base as the nearest floats to the exact decimals."""
        base = exact(self.base)
        return np.array([int(k) * base.numerator / base.denominator for k in multiples], np.float64)


def on_grid(problem: Problem, base: float, steps: int, rise: bool = False) -> Grid:
    """Put the values of a problem on the grid of a base.

    Parameters
    ----------
    problem : Problem
    base : float
        Positive; decimals such as 0.1 are meant as written.
    steps : int
        Whole bases by which a cell may go beyond its two neighbouring multiples (0: zero-restricted, multiples of
        the base keep their value). Structural zeros keep 0, and no cell leaves its external bounds by more than
        rounding a bound itself would.
    rise : bool
        A multiple of the base has itself and the following multiple as neighbours (Eustat notebook, definition 1 of
        rounding), so that it may rise even with 0 steps.

    Raises
    ------
    InputError
        If the base is not positive, or steps not 0 or more.
    InfeasibleError
        If a right-hand side is no multiple of the base: no rounded table can add up.
    """
    if steps < 0:
        raise InputError(f"steps must be 0 or more, not {steps}")
    whole, (a, low, high, b) = in_units(problem, base)
    below, rest = a // whole, a % whole
    total, left = b // whole, b % whole
    if np.any(left != 0):
        row = int(np.flatnonzero(left)[0])
        raise InfeasibleError(f"no multiples of {base:g} add up to the constant in {problem.system.equation(row)}")
    bottom = np.where(np.isfinite(problem.lower), low // whole, _FAR)
    top = np.where(np.isfinite(problem.upper), -(-high // whole), -_FAR)
    above = below + (1 if rise else (rest != 0))
    least, most = np.maximum(below - steps, bottom), np.minimum(above + steps, top)
    still = (problem.status == Status.ZERO) & (a == 0)
    least, most = np.where(still, 0, least), np.where(still, 0, most)
    return Grid(
        float(base),
        below.astype(np.int64),
        np.array([int(r) / whole for r in rest], np.float64),
        above.astype(np.int64),
        least.astype(np.int64),
        most.astype(np.int64),
        total.astype(np.int64),
    )


def in_units(problem: Problem, base: float) -> tuple[int, tuple[Integers, Integers, Integers, Integers]]:
    """Return the base, and values, bounds (0 where infinite) and right-hand sides, as integers of a common unit."""
    if not np.isfinite(as_number(base, "the rounding base")) or base <= 0:
        raise InputError(f"the rounding base must be a positive number, not {base}")
    _, (a, unit, low, high, b) = scaled_integers(problem.values, [base], problem.lower, problem.upper, problem.system.b)
    return int(unit[0]), (a, low, high, b)


#: stands for a bound that is not there
_FAR = -(2**60)
