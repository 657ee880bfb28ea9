"""What small count rounding returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.methods.deviations import Deviations
from tabprotect.methods.distance import Norm
from tabprotect.problem import Problem

__all__ = ["SmallCountResult"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SmallCountResult(Deviations):
    """Rounded counts that add up.

    Attributes
    ----------
    problem : Problem
    values : ndarray or None
        Of all cells; None when there are none.
    published : ndarray of bool
        The cells that are published, over which the distance is measured.
    rounded : ndarray of int
        Positions of the inner cells that are now 0 or the base.
    base : int
    cost, bound : float or None
        Distance of the published values from the true ones, and what no other choice can fall below.
    norm : {'l1', 'l2', 'linf'}
    status : {'optimal', 'feasible', 'infeasible', 'unknown'}
    seconds, work :
        What was spent.
    message : str
    stopped_by : {'', 'time', 'work', 'user'}
    """

    problem: Problem = field(repr=False)
    values: Floats | None = field(repr=False)
    published: Bools = field(repr=False)
    rounded: Ints = field(repr=False)
    base: int
    cost: float | None
    bound: float | None
    norm: Norm
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    seconds: float = 0.0
    work: int = 0
    message: str = ""
    stopped_by: Literal["", "time", "work", "user"] = ""
