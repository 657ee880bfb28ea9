"""Attack programmes: how far a deviation can move one hidden cell, or many at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.region import Region
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram, LpSolution
from tabprotect.solver.tolerances import LP_FEASIBILITY

__all__ = ["PATIENCE", "AttackProgramme", "Patience", "unit_of"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Patience:
    """How long a programme goes on from the last basis before it is solved anew, for good.

    In strongly linked tables and tables of three dimensions the last basis is worse than none (ninenew: 4 s, and 0.3 s
    by interior point). Few equations take few milliseconds a thousand.

    Attributes
    ----------
    iterations : float
        Of the simplex method, per equation.
    least : int
        Iterations at least.
    small : int
        Programmes of at most so many columns go on, however long that takes; they are not presolved either.
    """

    iterations: float = 0.3
    least: int = 2000
    small: int = 500


PATIENCE = Patience()


def unit_of(level: float) -> float:
    """Return the largest power of two not above a level: dividing by it is exact.

    Examples
    --------
    >>> unit_of(100.0), unit_of(0.3)
    (64.0, 0.25)
    """
    return math.ldexp(1.0, math.frexp(level)[1] - 1)


class AttackProgramme:
    """Deviations of some columns of a region, A z = 0 and -down <= z <= up, in units of a power of two.

    Parameters
    ----------
    region : Region
    columns : ndarray of int
        Whole components of the region.
    down, up : ndarray of float
        Bounds of these columns, in the unit of the values; may be infinite.
    unit : float
        Power of two near the smallest level of interest.
    cap : float
        No cell moves further than this, in the unit of the values. Keeps the numbers of one programme within the
        reach of floating point; inf leaves the bounds as they are.
    presolve : bool
        Presolve before the first solution, if the programme is large; later ones begin with its basis.
    patience : Patience

    Attributes
    ----------
    fixed : ndarray of int
        Positions in `columns` of the cells that do not move.
    """

    def __init__(
        self,
        region: Region,
        columns: Ints,
        down: Floats,
        up: Floats,
        unit: float,
        cap: float,
        *,
        presolve: bool = False,
        patience: Patience = PATIENCE,
    ) -> None:
        block = region.A[:, columns] if len(columns) < len(region.cells) else region.A
        rows = np.arange(region.A.shape[0])
        if block is not region.A:  # every equation of a region has cells
            rows = np.unique(block.indices)
            place = np.zeros(region.A.shape[0], np.int64)
            place[rows] = np.arange(len(rows))
            block = sparse.csc_array((block.data, place[block.indices], block.indptr), shape=(len(rows), len(columns)))
        self.columns = columns
        self.rows = region.rows[rows]
        self.unit = unit
        self.cap = cap
        self._bounds = down, up
        self._down = np.minimum(down, cap) / unit
        self._up = np.minimum(up, cap) / unit
        zeros = np.zeros(len(rows))
        self._lp = LinearProgram(
            block,
            zeros,
            zeros,
            -self._down,
            self._up,
            np.zeros(len(columns)),
            maximise=True,
            presolve=presolve and len(columns) > patience.small,
            tolerance=LP_FEASIBILITY,
        )
        # interior point is at a loss with numbers of all sizes in one programme
        self._patient = len(columns) <= patience.small or math.isinf(cap)
        self._patience = math.inf if self._patient else max(patience.iterations * len(rows), patience.least)
        self._others: list[Literal["ipm", "simplex"]] = [] if self._patient else ["ipm", "simplex"]
        self._targets = self.fixed = np.zeros(0, np.int64)

    @property
    def slow(self) -> bool:
        """Whether a solution took too long from the last basis, so that all later ones may take as long as they do."""
        return math.isinf(self._patience) and not self._patient

    def restate(self, fixed: Ints, unit: float, cap: float) -> None:
        """Go over to another intruder, and to other units; the next solution begins with the last basis.

        Parameters
        ----------
        fixed : ndarray of int
            Positions in `columns` of the cells that he knows, which do not move.
        unit, cap : float
            As before; a finite cap stays finite.
        """
        same = (unit, cap) == (self.unit, self.cap)
        if same and np.array_equal(fixed, self.fixed):
            return
        self._lp.set_costs(self._targets, np.zeros(len(self._targets)))
        changed = np.arange(len(self.columns))
        if same:
            changed = np.concatenate((self._targets, self.fixed, fixed))
        down, up = (bound[changed] for bound in self._bounds)
        self._down[changed], self._up[changed] = np.minimum(down, cap) / unit, np.minimum(up, cap) / unit
        self._down[fixed] = self._up[fixed] = 0.0
        changed = np.unique(changed)
        self._lp.set_bounds(changed, -self._down[changed], self._up[changed])
        self.unit, self.cap = unit, cap
        self._targets, self.fixed = np.zeros(0, np.int64), fixed

    def solve(self, targets: Ints, sides: Ints, levels: Floats, budget: Budget, *, both: bool = False) -> LpSolution:
        """Maximise sum of side * z / level over the targets, no target moving further to its side than its level.

        Parameters
        ----------
        targets : ndarray of int
            Distinct positions in `columns`.
        sides : ndarray of int
            +1 or -1.
        levels : ndarray of float
            In the unit of the values.
        both : bool
            Keep the targets within their levels on the other side too.
        """
        old = self._targets
        self._lp.set_costs(old, np.zeros(len(old)))
        self._lp.set_bounds(old, -self._down[old], self._up[old])
        scaled = levels / self.unit
        down, up = self._down[targets], self._up[targets]
        self._lp.set_bounds(
            targets,
            -np.where((sides < 0) | both, np.minimum(down, scaled), down),
            np.where((sides > 0) | both, np.minimum(up, scaled), up),
        )
        self._lp.set_costs(targets, sides / scaled)
        self._targets = np.array(targets)
        solution = self._run(budget)
        while solution.status == "limit" and self._others and not budget.exhausted:
            self._patience = math.inf
            self._lp.start_anew(self._others.pop(0))
            solution = self._run(budget)
        return solution

    def _run(self, budget: Budget) -> LpSolution:
        most, seconds = min(budget.work_left, self._patience), budget.seconds_left
        solution = self._lp.solve(
            max_iterations=None if math.isinf(most) else int(most), max_seconds=None if math.isinf(seconds) else seconds
        )
        budget.spend(max(1, solution.iterations))
        return solution
