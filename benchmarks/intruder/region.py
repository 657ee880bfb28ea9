"""What is possible: the tables that fit everything an intruder knows, as movements away from the true one.

The true table fits, so movements z have A z = 0 and lie between (lower - a) and (upper - a); the origin is the truth,
which keeps rounding errors of large sums out of the programmes and changes no interval.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import highspy
import numpy as np
import numpy.typing as npt
from scipy import sparse

__all__ = ["Region"]

Floats = npt.NDArray[np.float64]

FAR = 1e7
"""Movements of other cells, in units of the level asked for, are taken to be no larger."""


class Region:
    """Movements that a linear system and bounds leave possible."""

    def __init__(
        self, equations: sparse.csr_array, down: Floats, up: Floats, whole: bool, seconds: float = 5.0
    ) -> None:
        self.down, self.up, self.whole = down, up, whole
        self.undecided = 0
        used = equations[np.diff(equations.indptr) > 0]
        columns = sparse.csc_array(used)
        n, m = len(down), used.shape[0]
        programme = highspy.HighsLp()
        programme.num_col_, programme.num_row_ = n, m
        programme.col_cost_ = np.zeros(n)
        programme.col_lower_, programme.col_upper_ = np.zeros(n), np.zeros(n)
        programme.row_lower_, programme.row_upper_ = np.zeros(m), np.zeros(m)
        programme.a_matrix_.start_ = columns.indptr.astype(np.int32)
        programme.a_matrix_.index_ = columns.indices.astype(np.int32)
        programme.a_matrix_.value_ = columns.data
        if whole:
            programme.integrality_ = [highspy.HighsVarType.kInteger] * n
        self._solver = highspy.Highs()
        for name, value in (("output_flag", False), ("threads", 1), ("time_limit", seconds), ("mip_rel_gap", 0.0)):
            self._solver.setOptionValue(name, value)
        self._solver.passModel(programme)
        self._n = n
        self._seen: list[Floats] = []

    def reach(self, cell: int, side: int, level: float, known: Collection[int] = ()) -> float:
        """Return how far a cell can move to one side (+1 or -1), up to `level`.

        Movements that were found before answer first.

        Parameters
        ----------
        known : cells that do not move

        Returns
        -------
        float
            At most the level; the level where the programme cannot be decided, which is counted.
        """
        for movement in self._seen:
            if side * movement[cell] >= level and not movement[list(known)].any():
                return level
        scale = 1.0 if self.whole else level
        down, up = np.maximum(self.down / scale, -FAR), np.minimum(self.up / scale, FAR)
        fixed = list(known)
        down[fixed] = up[fixed] = 0.0
        if side > 0:
            up[cell] = min(up[cell], level / scale)
        else:
            down[cell] = max(down[cell], -level / scale)
        cost = np.zeros(self._n)
        cost[cell] = -side
        every = np.arange(self._n, dtype=np.int32)
        self._solver.changeColsBounds(self._n, every, down, up)
        self._solver.changeColsCost(self._n, every, cost)
        self._solver.run()
        if self._solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
            self.undecided += 1
            return level
        point = np.array(self._solver.getSolution().col_value) * scale
        self._seen.append(np.rint(point) if self.whole else point)
        return max(0.0, float(side * point[cell]))  # the true value is possible, whatever rounding errors say

    def reach_of_sum(self, cells: Sequence[int], side: int, level: float, known: Collection[int] = ()) -> float:
        """Return how far a sum of cells can move to one side, up to `level`; as `reach`, which bounds one cell."""
        chosen = list(cells)
        for movement in self._seen:
            if side * movement[chosen].sum() >= level and not movement[list(known)].any():
                return level
        scale = 1.0 if self.whole else level
        down, up = np.maximum(self.down / scale, -FAR), np.minimum(self.up / scale, FAR)
        fixed = list(known)
        down[fixed] = up[fixed] = 0.0
        cost = np.zeros(self._n)
        cost[chosen] = -side
        every, sum_ = np.arange(self._n, dtype=np.int32), np.array(chosen, np.int32)
        self._solver.changeColsBounds(self._n, every, down, up)
        self._solver.changeColsCost(self._n, every, cost)
        # no farther than asked: the sum has a row for as long as it is asked about
        most = level / scale
        self._solver.addRow(-most, most, len(sum_), sum_, np.ones(len(sum_)))
        self._solver.run()
        status, point = self._solver.getModelStatus(), np.array(self._solver.getSolution().col_value)
        self._solver.deleteRows(1, np.array([self._solver.getNumRow() - 1], np.int32))
        if status != highspy.HighsModelStatus.kOptimal:
            self.undecided += 1
            return level
        point = np.rint(point) if self.whole else point * scale
        self._seen.append(point)
        return max(0.0, float(side * point[chosen].sum()))
