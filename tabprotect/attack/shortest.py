"""Deviations of least total movement: they move few cells, so that few attackers know one of them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.attackers import unit_of
from tabprotect.attack.grouping import by_level
from tabprotect.attack.judge import Judge
from tabprotect.attack.pool import Deviation
from tabprotect.attack.region import Region
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.tolerances import LP_FEASIBILITY, MULTIPLIER

__all__ = ["Shortest", "offer_shortest"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

PATIENCE, LEAST_PATIENCE = 0.3, 1000
"""Simplex iterations, per equation and at least, after which a question is left to other programmes."""

KNOWN = 20.0
"""A cell that somebody knows counts as so many."""

CAP = 2.0**10
"""Bounds of movements, as multiples of the level."""


class Shortest:
    """Programmes min sum of price * |z|, A z = 0, -down <= z <= up, in which one cell moves by its level.

    A solution of an attack programme leaves most cells at one of their bounds; here they stay where they are. From one
    question to the next only bounds change, so that the last basis stays dual feasible.

    Parameters
    ----------
    region : Region
    columns : ndarray of int
        Whole components of the region.
    down, up : ndarray of float
        Bounds of these columns, in the unit of the values; finite.
    unit : float
        Power of two near the levels.
    price : ndarray of float
        Positive, of these columns.

    Examples
    --------
    >>> from tabprotect.attack.region import open_region
    >>> region = open_region(sparse.csc_array([[-1.0, 1, 1, 1]]), np.arange(4))
    >>> bound = np.array([20.0, 9, 6, 5])
    >>> programme = Shortest(region, np.arange(4), bound, bound, 1.0, np.array([9.0, 1, 1, 2]))
    >>> programme.find(1, 1, 2.0, Budget()).tolist()
    [0.0, 2.0, -2.0, 0.0]
    >>> programme.find(1, 1, 10.0, Budget()) is None
    True
    """

    def __init__(self, region: Region, columns: Ints, down: Floats, up: Floats, unit: float, price: Floats) -> None:
        block = region.A[:, columns]
        rows = np.unique(block.indices)
        block = sparse.csc_array(block.tocsr()[rows])
        zeros = np.zeros(len(rows))
        self._unit = unit
        self._most = np.concatenate((up, down)) / unit
        self._lp = LinearProgram(
            sparse.hstack([block, -block]), zeros, zeros, np.zeros(2 * len(columns)), self._most,
            np.concatenate((price, price)), method="dual", tolerance=LP_FEASIBILITY,
        )  # fmt: skip
        self._patience = max(PATIENCE * len(rows), LEAST_PATIENCE)

    def find(self, target: int, side: int, level: float, budget: Budget) -> Floats | None:
        """Return a deviation of the columns, in the unit of the values; None where none was found soon enough.

        Parameters
        ----------
        target : int
            Position in the columns.
        side : int
            +1 or -1.
        level : float
            In the unit of the values.
        """
        n = len(self._most) // 2
        mine, other = (target, n + target) if side > 0 else (n + target, target)
        if level / self._unit > self._most[mine]:
            return None
        pair = np.array([mine, other])
        self._lp.set_bounds(pair, [level / self._unit, 0.0], [level / self._unit, 0.0])
        most, seconds = int(min(budget.work_left, self._patience)), budget.seconds_left
        solution = self._lp.solve(max_iterations=most, max_seconds=None if np.isinf(seconds) else seconds)
        budget.spend(max(1, solution.iterations))
        self._lp.set_bounds(pair, np.zeros(2), self._most[pair])
        if solution.status != "optimal":
            return None
        return np.asarray((solution.x[:n] - solution.x[n:]) * self._unit)


def offer_shortest(judge: Judge, region: Region, asked: Ints, known: Ints, budget: Budget) -> bool:
    """Store a deviation of few cells for each of some one-sided questions; tell whether any was looked for.

    Parameters
    ----------
    judge : Judge
        Stores what it has checked.
    region : Region
        The hidden cells that can move.
    asked : ndarray of int
        Questions.
    known : ndarray of int
        Cells that somebody knows: others are preferred.
    budget : Budget
    """
    q = judge.questions
    asked = asked[q.side[asked] != 0]
    place, inside = region.places(q.cell[asked])
    asked, place = asked[inside], place[inside]
    columns = np.flatnonzero(np.isin(region.component, np.unique(region.component[place])))
    cells = region.cells[columns]
    price = np.where(np.isin(cells, known), KNOWN, 1.0)
    target = np.searchsorted(columns, place)
    for group in by_level(q.need[asked]):
        need = q.need[asked[group]]
        cap = CAP * float(need.max())
        down, up = np.minimum(judge._down[cells], cap), np.minimum(judge._up[cells], cap)
        programme = Shortest(region, columns, down, up, unit_of(float(need.min())), price)
        judge.programmes += 1
        for k in group.tolist():
            if budget.exhausted:
                return True
            z = programme.find(int(target[k]), int(q.side[asked[k]]), float(q.need[asked[k]]), budget)
            if z is None:
                continue
            moved = np.abs(z) > MULTIPLIER
            judge.offer(*(Deviation(cells[moved], each) for each in (z[moved], -z[moved])))
    return len(asked) > 0
