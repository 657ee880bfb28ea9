"""What an intruder concludes who has found all protecting vectors and knows some values besides.

From answers nobody learns more than the vectors. The true vector is P w with w in the simplex, and each known value is
one equation p_i w = a_i. What remains is a polytope in k - 1 dimensions; its corners have at most as many positive
weights as there are equations, so they are found by solving small systems.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError

__all__ = ["corners", "ranges_given"]

Floats = npt.NDArray[np.float64]

FEASIBLE = 1e-9
"""Weights above minus this are taken to be non-negative, and equations with less than this left over to hold."""


def corners(equations: Floats) -> Floats:
    """Return the corners of {w >= 0, sum w = 1, equations w = 0}.

    Parameters
    ----------
    equations : ndarray, shape (known, k)
        Known values: row minus value, in units of the width of the row.

    Returns
    -------
    ndarray, shape (corners, k)

    Raises
    ------
    InputError
        There is none: the values known are not those of the hull.

    Examples
    --------
    >>> corners(np.array([[-0.5, 0.5, 0.25]])).round(6).tolist()
    [[0.5, 0.5, 0.0], [0.333333, 0.0, 0.666667]]
    """
    k = equations.shape[1]
    system = np.vstack([np.ones(k), equations])
    right = np.append(1.0, np.zeros(len(equations)))
    rank = int(np.linalg.matrix_rank(system, tol=FEASIBLE))
    found = []
    for support in combinations(range(k), rank):
        chosen = system[:, support]
        if np.linalg.matrix_rank(chosen, tol=FEASIBLE) < rank:
            continue
        part = np.linalg.lstsq(chosen, right)[0]
        if part.min() >= -FEASIBLE and np.abs(chosen @ part - right).max() <= FEASIBLE:
            w = np.zeros(k)
            w[list(support)] = np.maximum(part, 0)
            found.append(w / w.sum())
    if not found:
        raise InputError("no vector of the hull has the values that are said to be known")
    return np.array(found)


def ranges_given(rows: Floats, known: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Return the least and the largest value of every row for somebody who knows the values of some rows.

    Parameters
    ----------
    rows : ndarray, shape (values, k)
    known : ndarray, shape (known, k)
    values : ndarray, shape (known,)
    """
    width = np.ptp(known, axis=1)
    tells = width > 0  # a row without width is known to everybody
    equations = (known[tells] - values[tells][:, None]) / width[tells][:, None]
    reached = rows @ corners(equations.reshape(-1, rows.shape[1])).T
    return reached.min(axis=1), reached.max(axis=1)
