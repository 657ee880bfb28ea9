"""The judge of rounded values: it trusts no solver and no floating-point arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.problem import Problem, Status
from tabprotect.solver.exact import exact, integer_rows, scaled_integers

__all__ = ["Verdict", "judge"]

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[Any]


@dataclass(frozen=True)
class Verdict:
    """What exact arithmetic says of rounded values, read as the decimals that they are written as.

    Attributes
    ----------
    additive : float
        Largest ``|A v - b|`` (rows scaled to whole coefficients).
    off_grid : int
        Cells whose value is no multiple of the base.
    far : int
        Cells that are a whole base or more (`steps` bases further) from their true value.
    unfixed : int
        Structural zeros that are no longer 0.
    jump : float
        Largest ``|v - a|``.
    """

    additive: float
    off_grid: int
    far: int
    unfixed: int
    jump: float

    @property
    def ok(self) -> bool:
        """True when nothing is wrong."""
        return self.additive == self.off_grid == self.far == self.unfixed == 0


def judge(problem: Problem, values: Floats, base: float, steps: int = 0, rise: bool = False) -> Verdict:
    """Check rounded values against what rounding promises.

    Parameters
    ----------
    problem : Problem
    values : ndarray, shape (cells,)
    base : float
    steps : int
        Further bases allowed: every value is nearer than ``base (steps + 1)`` to the true one.
    rise : bool
        Multiples may go up by a base more, so a value may be above the true one by that distance exactly.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [0.9, 0.4, 0.5], primary=[], lpl=0, upl=0)
    >>> judge(p, np.array([0.9, 0.3, 0.6]), 0.3).ok
    True
    >>> judge(p, np.array([0.9, 0.3, 0.5]), 0.3)
    Verdict(additive=0.1, off_grid=1, far=0, unfixed=0, jump=0.1)
    """
    scale, (v, a, unit, b) = scaled_integers(values, problem.values, [base], problem.system.b)
    v, a = (np.asarray(x, dtype=object) for x in (v, a))
    whole = int(unit[0])
    jumps = np.abs(v - a)
    far = whole * (steps + 1)
    still = (problem.status == Status.ZERO) & (problem.values == 0)
    return Verdict(
        _off(problem.system.A, v, b) / scale,
        int(np.sum(v % whole != 0)),
        int(np.sum((jumps > far) | ((jumps == far) & ((v < a) | (not rise))))),
        int(np.sum(still & (v != 0))),
        float(Fraction(int(max(jumps, default=0)), scale)),
    )


def _off(A: sparse.csr_array, v: Integers, b: Integers) -> float:
    """Largest |A v - b|, of rows with decimal coefficients scaled up to whole ones."""
    if not A.shape[0]:
        return 0.0
    rows = integer_rows(A)
    filled = np.diff(A.indptr) > 0
    first = A.indptr[:-1][filled]
    times = np.array([Fraction(int(rows.data[k])) / exact(float(A.data[k])) for k in first], dtype=object)
    sums = np.zeros(A.shape[0], dtype=object)
    if len(first):
        sums[filled] = np.add.reduceat(rows.data.astype(object) * v[rows.indices], first)
    off = sums - np.asarray(b, dtype=object)
    off[filled] = sums[filled] - times * np.asarray(b, dtype=object)[filled]
    return float(max(abs(x) for x in off))
