"""What results of methods that change values have in common."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.methods.frames import frame_of
from tabprotect.problem import Problem
from tabprotect.solver.gap import relative_gap

__all__ = ["Deviations"]


class Deviations:
    """Values beside the true ones of a problem.

    Attributes
    ----------
    problem : Problem
    values : ndarray or None
        Of all cells; None when there are none.
    cost, bound : float or None
        Distance from the true values, and what no other values of the kind can fall below.
    """

    problem: Problem
    values: npt.NDArray[np.float64] | None
    cost: float | None
    bound: float | None

    @property
    def frame(self) -> pd.DataFrame:
        """One row a cell: its codes, ``value``, ``status`` and ``published``; confidential.

        `InputError` where the cells of the problem have positions only, and no codes.
        """
        return frame_of(self.problem, self.values)

    @property
    def gap(self) -> float | None:
        """(cost - bound) / cost as a fraction; None without both numbers."""
        return relative_gap(self.cost, self.bound)

    @property
    def deviations(self) -> npt.NDArray[np.float64] | None:
        """Values minus true values."""
        return None if self.values is None else self.values - self.problem.values

    @property
    def changed(self) -> npt.NDArray[np.int64]:
        """Positions of the cells whose value is another one."""
        return np.zeros(0, np.int64) if self.values is None else np.flatnonzero(self.values != self.problem.values)
