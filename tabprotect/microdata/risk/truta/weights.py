"""Disclosure risk weight matrices (Truta et al. 2004, eq. 3.4): what they must satisfy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems

__all__ = ["check_weight_matrix"]

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-9
"""Relative to the number of records or to the largest weight."""


def check_weight_matrix(given: Any, released: int, originals: int) -> Floats:
    """Return a weight matrix, checked.

    ``w[i-1, j-1]`` is the weight of a record in a cluster of i released and j original records. Weights fall with the
    distance from the diagonal, in rows and columns, and along the diagonal and its parallels; their sum is the number
    of original records.

    Parameters
    ----------
    given : array_like, shape (at most `released`, at most `originals`)
        What lies beyond its edges is 0, so that large files need no large matrix.
    released, originals : int
        Records of the masked and of the original file.

    Raises
    ------
    InputError
        Names every property that fails, with the first place where it does.

    Examples
    --------
    >>> check_weight_matrix([[2, 0.5], [0.5, 1]], 4, 4)
    array([[2. , 0.5],
           [0.5, 1. ]])
    """
    try:
        weights = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"weights must be a matrix of numbers: {error}") from error
    if weights.ndim != 2 or not weights.size or weights.shape[0] > released or weights.shape[1] > originals:
        raise InputError(
            f"weights must be a matrix of at most {released} rows (released records) and {originals} columns "
            f"(original records), not of shape {weights.shape}"
        )
    if not np.isfinite(weights).all() or (weights < 0).any():
        raise InputError("weights must be finite numbers of at least 0")
    problems = Problems()
    if weights[0, 0] <= 0:
        problems.add("weight w[1,1] must be above 0: every measure is divided by it")
    wide = np.zeros((min(weights.shape[0] + 1, released), min(weights.shape[1] + 1, originals)))
    wide[: weights.shape[0], : weights.shape[1]] = weights
    _monotone(wide, problems)
    if abs(weights.sum() - originals) > TOLERANCE * max(originals, 1):
        problems.add(
            f"weights must add up to the number of original records, {originals}, not {weights.sum():.12g}; "
            f"multiply them by {originals / weights.sum():.12g}"
            if weights.sum() > 0
            else f"weights must add up to {originals}"
        )
    problems.raise_if_any()
    return weights


def _monotone(w: Floats, problems: Problems) -> None:
    """Note where weights rise away from the diagonal or along it."""
    slack = TOLERANCE * w.max()
    i, j = np.arange(w.shape[0])[:, None], np.arange(w.shape[1])[None, :]
    right, down, along = np.diff(w, axis=1), np.diff(w, axis=0), w[1:, 1:] - w[:-1, :-1]
    row, column = i, j[:, :-1]
    _note(w, (column >= row) & (right > slack), (0, 1), "rise along a row to the right of the diagonal", problems)
    _note(w, (column < row) & (right < -slack), (0, 1), "fall along a row up to the diagonal", problems)
    row, column = i[:-1], j
    _note(w, (row >= column) & (down > slack), (1, 0), "rise along a column below the diagonal", problems)
    _note(w, (row < column) & (down < -slack), (1, 0), "fall along a column down to the diagonal", problems)
    _note(w, along > slack, (1, 1), "rise along the diagonal or a parallel of it", problems)


def _note(w: Floats, wrong: npt.NDArray[np.bool_], step: tuple[int, int], what: str, problems: Problems) -> None:
    if wrong.any():
        a, b = np.argwhere(wrong)[0].tolist()
        c, d = a + step[0], b + step[1]
        problems.add(f"weights must not {what}; w[{c + 1},{d + 1}] = {w[c, d]:g} follows {w[a, b]:g}")
