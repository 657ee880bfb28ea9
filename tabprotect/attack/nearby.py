"""The intruder who sees values that are not the true ones, but near them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.problem import Problem, Status

__all__ = ["seeing_near"]

Floats = npt.NDArray[np.float64]


def seeing_near(problem: Problem, values: Floats, far: float | Floats, below: float | Floats | None = None) -> Problem:
    """State the problem of an intruder who knows that every true value lies within `far` of the published one.

    He also knows the external bounds, the structural zeros, and that the true table adds up. Audit the result with
    every cell hidden.

    Parameters
    ----------
    problem : Problem
    values : ndarray, shape (cells,)
        What is published.
    far : float or ndarray
        Largest distance, in the unit of the values; infinite where nothing is known.
    below : float or ndarray, optional
        Largest distance of a true value below the published one, where that is another.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> seen = seeing_near(p, np.array([10.0, 5, 5]), 2)
    >>> seen.lower.tolist(), seen.upper.tolist()
    ([8.0, 3.0, 3.0], [12.0, 7.0, 7.0])
    """
    known = (problem.status == Status.ZERO) & (problem.values == 0)
    status = np.where(problem.status == Status.PRIMARY, Status.PRIMARY, Status.SAFE)
    return replace(
        problem,
        status=np.where(known, Status.ZERO, status).astype(np.int8),
        lower=np.minimum(np.maximum(problem.lower, values - (far if below is None else below)), problem.values),
        upper=np.maximum(np.minimum(problem.upper, values + far), problem.values),
    )
