"""What an adjusted table shall keep besides its sums: means, covariances, correlations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InputError, did_you_mean
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.problem import Problem
from tabprotect.solver.qp import Cone

__all__ = [
    "Kept",
    "Linear",
    "Preserve",
    "excess",
    "keep",
    "keep_correlation",
    "keep_covariance",
    "keep_mean",
]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Linear:
    """``low <= coefficients @ z <= high`` for the deviations z, in the unit of the values.

    Parameters
    ----------
    coefficients : ndarray, shape (cells,)
    low, high : float
    """

    coefficients: Floats
    low: float = 0.0
    high: float = 0.0


#: A condition on the deviations z of all cells: linear, or a second-order cone.
Preserve = Linear | Cone


#: What a whole table can keep: see `keep`.
Kept = Literal["nothing", "means", "correlation"]

CORRELATION: Final = 0.99
"""The least correlation of old and new inner cells, where none is given."""


def keep(problem: Problem, what: Kept, correlation: float | None = None) -> tuple[Preserve, ...]:
    """Return what a whole table shall keep.

    Parameters
    ----------
    problem : Problem
    what : {'nothing', 'means', 'correlation'}
        'means': the mean of the inner cells (those that are no sums), and so their total. 'correlation': that mean, and
        a correlation between old and new inner cells.
    correlation : float, optional
        The least one; 0.99 by default.

    Raises
    ------
    InputError
        Unknown words, a correlation without the word for it, cells that are no sums of inner cells.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> [type(one).__name__ for one in keep(p, "correlation")]
    ['Linear', 'Cone']
    """
    if what not in get_args(Kept):
        raise InputError(f"preserve: unknown '{what}'{did_you_mean(what, get_args(Kept))}")
    if correlation is not None and what != "correlation":
        raise InputError(f"a least correlation ({correlation:g}) goes with preserve=correlation, not with '{what}'")
    if what == "nothing":
        return ()
    inner, _ = inner_cells(problem.system)
    if what == "means":
        return (keep_mean(problem, inner),)
    return keep_correlation(problem, inner, CORRELATION if correlation is None else correlation)


def excess(condition: Preserve, z: Floats) -> float:
    """Return by how much deviations break a condition, relative to its terms; at most 0 if they keep it."""
    if isinstance(condition, Cone):
        return condition.excess(z) / max(float(np.linalg.norm(condition.F @ z + condition.offset)), 1e-300)
    terms = condition.coefficients * z
    total = float(terms.sum())
    size = float(np.abs(terms).sum()) + abs(condition.low) + abs(condition.high)
    return max(condition.low - total, total - condition.high) / max(size, 1e-300)


def keep_mean(problem: Problem, cells: npt.ArrayLike, tolerance: float = 0.0) -> Linear:
    """Keep the mean of some cells, to within `tolerance` (the unit of the values).

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> keep_mean(p, [1, 2]).coefficients.tolist()
    [0.0, 0.5, 0.5]
    """
    chosen = _cells(problem, cells)
    coefficients = np.zeros(problem.n_cells)
    coefficients[chosen] = 1.0 / len(chosen)
    return Linear(coefficients, -tolerance, tolerance)


def keep_correlation(problem: Problem, cells: npt.ArrayLike, least: float = 0.99) -> tuple[Linear, Cone]:
    """Keep the mean of some cells, and a correlation of at least `least` between their old and new values.

    With d = a - mean(a) and a kept mean, the correlation of a and a + z is ``d (d + z) / (|d| |d + z|)``, so that
    "at least r" is the second-order cone ``|d + z| <= d (d + z) / (r |d|)``: exact, not an approximation.

    Raises
    ------
    InputError
        If the values are all equal (a correlation does not exist), or `least` is not in (0, 1].
    """
    if not 0 < least <= 1:
        raise InputError(f"the least correlation must be above 0 and at most 1, not {least}")
    chosen = _cells(problem, cells)
    centred = problem.values[chosen] - problem.values[chosen].mean()
    length = float(np.linalg.norm(centred))
    if length == 0:
        raise InputError("a correlation needs cells of different values")
    n, q = problem.n_cells, len(chosen)
    slope = np.zeros(n)
    slope[chosen] = centred / (least * length)
    F = sparse.csr_array((np.ones(q), (np.arange(q), chosen)), shape=(q, n))
    return keep_mean(problem, cells), Cone(F, centred, length / least, slope)


def keep_covariance(problem: Problem, first: npt.ArrayLike, second: npt.ArrayLike) -> tuple[Linear, ...]:
    """Keep the means of two variables and, to first order, their variances and their covariance.

    Parameters
    ----------
    problem : Problem
    first, second : array of int
        Cells of two variables, paired (such as one size class and another, over the regions).

    Notes
    -----
    The change of ``sum (u - mean)(v - mean)`` under u + s, v + t is ``sum (u - mean) t + (v - mean) s + s t``;
    the first two terms are kept at 0, the last is of second order in the changes.
    """
    one, two = _cells(problem, first), _cells(problem, second)
    if len(one) != len(two):
        raise InputError(f"a covariance needs pairs: there are {len(one)} and {len(two)} cells")

    def product(left: npt.NDArray[np.int64], right: npt.NDArray[np.int64]) -> Linear:
        coefficients = np.zeros(problem.n_cells)
        np.add.at(coefficients, right, problem.values[left] - problem.values[left].mean())
        np.add.at(coefficients, left, problem.values[right] - problem.values[right].mean())
        return Linear(coefficients / max(1.0, float(np.abs(coefficients).max())))

    return keep_mean(problem, one), keep_mean(problem, two), product(one, one), product(two, two), product(one, two)


def _cells(problem: Problem, cells: npt.ArrayLike) -> npt.NDArray[np.int64]:
    chosen = np.asarray(cells)
    chosen = np.flatnonzero(chosen) if chosen.dtype == bool else chosen.astype(np.int64)
    if not len(chosen) or chosen.min() < 0 or chosen.max() >= problem.n_cells:
        raise InputError(f"give at least one cell, by positions from 0 to {problem.n_cells - 1}")
    return chosen
