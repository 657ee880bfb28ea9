"""What adjusting a table returns, and the judge of adjusted values."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.deviations import Deviations
from tabprotect.methods.distance import Norm
from tabprotect.problem import Problem
from tabprotect.solver.exact import integer_rows, scaled_integers
from tabprotect.solver.tolerances import ADJUSTED_ERROR

__all__ = ["AdjustmentResult", "Verdict", "judge", "residual"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """What exact arithmetic says of adjusted values, read as the decimals that they are written as.

    Attributes
    ----------
    additive : float
        Largest ``|A (y - a)|``: how much less (or more) the adjusted table adds up than the table before.
    outside : float
        Largest distance from the external bounds, or of a fixed cell from its value.
    short : float
        Largest part of a protection level that a sensitive cell did not move.
    ok : bool
        All three are 0, or floating-point errors below `ADJUSTED_ERROR`.
    """

    additive: float
    outside: float
    short: float
    ok: bool

    @property
    def exact(self) -> bool:
        """Nothing is off, not even by a rounding error."""
        return self.additive == self.outside == self.short == 0


@dataclass(frozen=True, eq=False)
class AdjustmentResult(Deviations):
    """Adjusted values, what they cost, how far that can be from the optimum.

    Attributes
    ----------
    problem : Problem
    values : ndarray or None
        Adjusted values of all cells; None when there are none.
    senses : ndarray of int
        +1 or -1 for every primary (in the order of ``problem.primaries``): up or down; 0 without levels.
    cost : float or None
        The objective: sum w|z| ('l1'), sum w z^2 ('l2') or max w|z| ('linf').
    bound : float or None
        No adjustment costs less.
    status : {'optimal', 'feasible', 'infeasible', 'unknown'}
    verdict : Verdict or None
        Judged by exact arithmetic, not by the method.
    norm : {'l1', 'l2', 'linf'}
    weights : ndarray
    method : str
    seconds, work :
        What was spent.
    message : str
        Limits reached, residuals carried, anything that the user must know.
    stopped_by : {'', 'time', 'work', 'user'}
    """

    problem: Problem = field(repr=False)
    values: Floats | None = field(repr=False)
    senses: npt.NDArray[np.int64] = field(repr=False)
    cost: float | None
    bound: float | None
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    verdict: Verdict | None
    norm: Norm
    weights: Floats = field(repr=False)
    method: str = ""
    seconds: float = 0.0
    work: int = 0
    message: str = ""
    stopped_by: Literal["", "time", "work", "user"] = ""

    @property
    def bounded_by(self) -> str:
        """Whose word the bound is: 'the solver', or 'multipliers' that our own arithmetic makes it from."""
        return "multipliers" if "bounded by multipliers" in self.method else "the solver"


def judge(problem: Problem, values: Floats, fixed: npt.NDArray[np.bool_]) -> Verdict:
    """Check adjusted values in integers, as decimals: sums, bounds, fixed cells, protection levels.

    Parameters
    ----------
    problem : Problem
    values : ndarray
        Adjusted values.
    fixed : ndarray of bool
        Cells that must keep their value.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [0.9, 0.4, 0.5], primary=[1], lpl=0.1, upl=0.1)
    >>> judge(p, np.array([0.8, 0.3, 0.5]), np.zeros(3, bool)).exact
    True
    >>> judge(p, np.array([0.9, 0.35, 0.55]), np.zeros(3, bool)).short
    0.05
    """
    p = problem
    scale, (y, a, low, high, lpl, upl) = scaled_integers(values, p.values, p.lower, p.upper, p.lpl, p.upl)
    z = y.astype(object) - a
    A = integer_rows(p.system.A)
    sums = _row_sums(A, A.data.astype(object) * z[A.indices])
    sizes = _row_sums(A, np.abs(A.data.astype(object)) * (np.abs(a) + np.abs(z))[A.indices])
    below = np.where(np.isfinite(p.lower), low - y, 0)
    above = np.where(np.isfinite(p.upper), y - high, 0)
    outside = np.maximum(np.maximum(below, above), np.where(fixed, np.abs(z), 0))
    primary = p.primaries[(p.lpl[p.primaries] > 0) | (p.upl[p.primaries] > 0)]
    up = np.where(p.upl[primary] > 0, upl[primary] - z[primary], _NEVER)
    down = np.where(p.lpl[primary] > 0, lpl[primary] + z[primary], _NEVER)
    short = np.maximum(np.minimum(up, down), 0)
    level = np.maximum(upl[primary], lpl[primary])
    ok = bool(
        np.all(np.abs(sums) <= ADJUSTED_ERROR * np.maximum(sizes, np.abs(z).max(initial=0)))
        and np.all(outside <= ADJUSTED_ERROR * np.abs(a))
        and np.all(short <= ADJUSTED_ERROR * np.maximum(level, np.abs(a[primary])))
    )

    def largest(numbers: npt.NDArray[np.object_]) -> float:
        return float(max((abs(int(v)) for v in numbers), default=0) / scale)

    return Verdict(largest(sums), largest(np.maximum(outside, 0)), largest(short), ok)


def residual(problem: Problem) -> float:
    """Return the largest |A a - b| of the values as decimals (0 for a table that adds up).

    Examples
    --------
    >>> residual(Problem.from_arrays([[-1, 1, 1]], [0.3, 0.1, 0.2], primary=[1], lpl=0, upl=0))
    0.0
    """
    scale, (a, b) = scaled_integers(problem.values, problem.system.b)
    A = problem.system.A
    if not np.array_equal(A.data, np.rint(A.data)):
        return float(np.abs(problem.system.residuals(problem.values)).max(initial=0.0))
    sums = _row_sums(A, A.data.astype(np.int64).astype(object) * a.astype(object)[A.indices]) - b
    return float(max((abs(int(v)) for v in sums), default=0) / scale)


def _row_sums(A: sparse.csr_array, terms: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    """Add up terms (one a nonzero of A) by rows, in Python integers."""
    if not A.shape[0]:
        return np.zeros(0, object)
    sums = np.add.reduceat(np.append(terms, 0), A.indptr[:-1])
    sums[np.diff(A.indptr) == 0] = 0
    return np.asarray(sums, object)


#: larger than any scaled number: a side that does not protect
_NEVER = 10**400
