"""Which amounts the cost of a pattern can be."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tabprotect.solver.tolerances import INTEGRALITY, OPTIMAL

__all__ = ["next_cost", "unit_of_costs"]


def unit_of_costs(weights: npt.NDArray[np.float64]) -> float:
    """Return the greatest common divisor of whole weights; 0 when there are others (or they are too large to be exact).

    Examples
    --------
    >>> unit_of_costs(np.array([6.0, 0, 9])), unit_of_costs(np.array([6, 0.5]))
    (3.0, 0.0)
    """
    positive = weights[weights > 0]
    if not len(positive) or np.any(positive != np.rint(positive)) or positive.sum() > 2.0**50:
        return 0.0
    return float(np.gcd.reduce(positive.astype(np.int64)))


def next_cost(bound: float, unit: float) -> float:
    """Raise a lower bound to the next multiple of the unit, if there is one, but for what may be a rounding error.

    Examples
    --------
    >>> next_cost(6.1, 3.0), next_cost(6.0000000001, 3.0), next_cost(6.1, 0.0)
    (9.0, 6.0, 6.1)
    """
    if not unit or not math.isfinite(bound):
        return bound
    return math.ceil(bound / unit - INTEGRALITY - OPTIMAL * abs(bound) / unit) * unit
