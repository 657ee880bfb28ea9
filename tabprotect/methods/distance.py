"""How the distance between a table and its protected form is measured."""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, among, as_numbers, did_you_mean
from tabprotect.problem import Problem

__all__ = ["NORMS", "WEIGHTS", "Norm", "Weights", "distance", "distance_weights"]

Floats = npt.NDArray[np.float64]
Norm = Literal["l1", "l2", "linf"]
Weights = Literal["value", "reciprocal", "unit", "problem"]

NORMS: tuple[Norm, ...] = ("l1", "l2", "linf")
WEIGHTS: tuple[Weights, ...] = ("value", "reciprocal", "unit", "problem")


def distance_weights(problem: Problem, weights: Weights | npt.ArrayLike) -> Floats:
    """Return the weight of a change in every cell.

    Parameters
    ----------
    problem : Problem
    weights : {'value', 'reciprocal', 'unit', 'problem'} or array of float
        ``|a|``, ``1 / |a|``, 1, or the weights of the problem; cells of value 0 count as 1.

    Raises
    ------
    InputError
        Unknown name, wrong length, or a weight that is negative or no number.
    """
    size = np.abs(problem.values)
    size = np.where(size == 0, 1.0, size)
    if isinstance(weights, str):
        if weights not in WEIGHTS:
            raise InputError(f"unknown weights '{weights}'{did_you_mean(weights, WEIGHTS)}")
        return {"value": size, "reciprocal": 1 / size, "unit": np.ones_like(size), "problem": problem.weights}[weights]
    given = as_numbers(weights, "weights", "'value', 'reciprocal', 'unit', 'problem', or a number for every cell")
    if given.shape != size.shape:
        raise InputError(f"weights have shape {given.shape}; {len(size)} cells need ({len(size)},)")
    bad = np.flatnonzero(~(np.isfinite(given) & (given >= 0)))
    if len(bad):
        raise InputError(
            f"weights must be >= 0; they are not in {', '.join(map(problem.system.label, bad[:5].tolist()))}"
        )
    return given


def check_norm(norm: str) -> None:
    """Refuse an unknown norm."""
    if not among(norm, NORMS):
        raise InputError(f"unknown norm '{norm}'{did_you_mean(norm, NORMS)}")


def distance(deviations: Floats, weights: Floats, norm: Norm) -> float:
    """Return sum w|z| ('l1'), sum w z^2 ('l2') or max w|z| ('linf').

    Examples
    --------
    >>> z, w = np.array([1.0, -2.0]), np.array([1.0, 3.0])
    >>> [distance(z, w, norm) for norm in NORMS]
    [7.0, 13.0, 6.0]
    """
    if norm == "l2":
        return float(np.sum(weights * deviations**2))
    each = weights * np.abs(deviations)
    return float(np.sum(each)) if norm == "l1" else float(np.max(each, initial=0.0))
