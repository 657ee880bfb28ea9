"""What small count rounding returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.methods.distance import Norm
from tabprotect.problem import Problem
from tabprotect.solver.limits import relative_gap

__all__ = ["SmallCountResult"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class SmallCountResult:
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

    @property
    def gap(self) -> float | None:
        """(cost - bound) / cost as a fraction; None without both numbers."""
        return relative_gap(self.cost, self.bound)

    @property
    def deviations(self) -> Floats | None:
        """Rounded minus true values."""
        return None if self.values is None else self.values - self.problem.values

    @property
    def changed(self) -> Ints:
        """Positions of the cells whose value is another one."""
        return np.zeros(0, np.int64) if self.values is None else np.flatnonzero(self.values != self.problem.values)
