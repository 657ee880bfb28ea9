"""The programme of a cheapest deviation within a block of equations."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.attack.attackers import unit_of
from tabprotect.attack.witness import Deviation
from tabprotect.methods.suppression.large.surroundings import Block
from tabprotect.methods.suppression.options.nearby import NearbyOptions
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.small import MOST_ITERATIONS, Columns, SmallProgrammes
from tabprotect.solver.tolerances import DEVIATION_NOISE, LARGEST_MOVE, LEAST_ROOM

__all__ = ["BlockProgramme", "Move"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Move(NamedTuple):
    """What a deviation has to do.

    Attributes
    ----------
    cell : int
    side : int
        +1 or -1; 0 for a deviation that can be turned round, and so answers both sides.
    level : float
        How far the cell has to move.
    """

    cell: int
    side: int
    level: float


class BlockProgramme:
    """Minimise sum_i price_i |z_i| over the deviations within a block that bring a cell to its level.

    A programme pays in proportion to how far a cell moves, a pattern pays in full. So where the programme is not too
    large it is solved a few times again, each time with cells charged by how far they moved before: what moved far gets
    cheap, what hardly moved dear (reweighted l1 minimisation; Candes, Wakin and Boyd 2008).

    Parameters
    ----------
    problem : Problem
    options : NearbyOptions

    Attributes
    ----------
    guide : ndarray of float or None
        Factors on the prices, such as 1 - alpha x* of a relaxation.
    power : float
        Of how far a cell can move, by which what it costs is divided for its first charge.
    """

    def __init__(self, problem: Problem, options: NearbyOptions) -> None:
        self.down, self.up = problem.down, problem.up
        self.both = np.minimum(self.down, self.up)
        self.guide: Floats | None = None
        self.power = 1.0
        self._options = options
        self._lp = SmallProgrammes()

    def twin(self) -> BlockProgramme:
        """Return what solves the same in another thread."""
        other = copy(self)
        other._lp = SmallProgrammes()
        return other

    @property
    def unfinished(self) -> bool:
        """Whether the last programme was given up."""
        return self._lp.unfinished

    def solve(
        self,
        block: Block,
        move: Move,
        price: Floats,
        budget: Budget,
        *,
        again: int | None = None,
        quick: bool = False,
    ) -> Deviation | None:
        """Return a cheap deviation; None when there is none, or when the search for one was given up.

        Parameters
        ----------
        block : Block
            Holds the cell.
        move : Move
        price : ndarray of float, shape (cells,)
            What hiding a cell costs; 0 for those hidden already.
        budget : Budget
        again : int, optional
            How often to solve at other charges; as in the options by default.
        quick : bool
            Give up after the `quick_iterations` of the options.
        """
        cells, A, side = block.cells, block.A, move.side
        own = int(np.searchsorted(cells, move.cell))
        if A.indptr[own] == A.indptr[own + 1] and A.shape[1] > 1:
            return self._alone(move)
        unit = unit_of(move.level)
        goal = move.level / unit
        up, down = (self.up[cells], self.down[cells]) if side else (self.both[cells],) * 2
        up, down = np.minimum(up / unit, LARGEST_MOVE), np.minimum(down / unit, LARGEST_MOVE)
        if (up if side >= 0 else down)[own] < goal:
            return None
        charges = self._charges(cells, own, price[cells], up / goal, down / goal)
        paid = charges.paid
        lower, upper = np.concatenate((-down, np.zeros(len(paid)))), np.concatenate((up, down[paid]))
        lower[paid] = 0.0
        lower[own] = upper[own] = goal if side >= 0 else -goal
        again = self._options.resolved if again is None else again
        z = self._cheapest(_split(block, paid), lower, upper, goal, charges, budget, again, quick)
        if z is None:
            return None
        moved = np.flatnonzero(np.abs(z) > DEVIATION_NOISE)
        return Deviation(cells[moved], z[moved] * unit)

    def _alone(self, move: Move) -> Deviation | None:
        """The deviation of a cell that is in no equation of its block."""
        cell, side, level = move
        room = (self.both if not side else self.up if side > 0 else self.down)[cell]
        return Deviation(np.array([cell]), np.array([level if side >= 0 else -level])) if room >= level else None

    def _charges(self, cells: Ints, own: int, cost: Floats, up: Floats, down: Floats) -> _Charges:
        """Return what cells are charged, from what they cost and how far they can move as multiples of the level."""
        paid = np.flatnonzero(cost > 0)
        cost = cost / (float(cost[paid].mean()) if len(paid) else 1.0)
        factor = np.ones(len(paid)) if self.guide is None else self.guide[cells[paid]]
        return _Charges(own, cost, paid, factor, np.clip(up, LEAST_ROOM, 1.0), np.clip(down[paid], LEAST_ROOM, 1.0))

    def _cheapest(
        self,
        columns: Columns,
        lower: Floats,
        upper: Floats,
        goal: float,
        charges: _Charges,
        budget: Budget,
        again: int,
        quick: bool,
    ) -> Floats | None:
        """Return the cheapest of the solutions at changing charges."""
        n, paid, charge = len(charges.cost), charges.paid, charges.first(self.power)
        best, least, most = None, np.inf, 0
        for k in range(again + 1):
            if k == 0:
                allowed = self._options.quick_iterations if quick else MOST_ITERATIONS
                solution = self._lp.solve(
                    columns, charge, lower, upper, iterations=allowed, seconds=budget.seconds_left
                )
            else:
                solution = self._lp.again(charge, iterations=most, seconds=budget.seconds_left)
            budget.spend(1 if solution is None else 1 + solution.iterations)
            if solution is None:
                break
            if not k:
                most = max(100, solution.iterations)
                again = again if solution.iterations <= self._options.resolved_iterations else 0
            z = solution.x[:n].copy()
            z[paid] -= solution.x[n:]
            total = float(charges.cost[np.abs(z) > DEVIATION_NOISE].sum())
            if total < least:
                least, best = total, z
            if k == again or not total or (k and not solution.iterations):
                break
            charges.renew(charge, np.abs(z[paid]) / goal, self._options.unmoved_share * 0.5**k)
        return best


class _Charges(NamedTuple):
    """What a programme pays by the unit: for a free cell nothing, for others by two columns, of a rise and a fall.

    Attributes
    ----------
    own : int
        The cell that has to move, which is not charged.
    cost : ndarray, shape (cells,)
    paid : ndarray of int
        The cells that cost something.
    factor : ndarray
        On what these cost.
    rise : ndarray, shape (cells,)
    fall : ndarray, shape (paid,)
        How far a cell can move, or needs to, as a share of the level.
    """

    own: int
    cost: Floats
    paid: Ints
    factor: Floats
    rise: Floats
    fall: Floats

    def first(self, power: float) -> Floats:
        """Per unit what a cell costs when it moves as far as it can or needs to; with a power of 0 what it costs."""
        rise, fall = self.rise**power, self.fall**power
        charge = np.concatenate((self.cost / rise, self.factor * self.cost[self.paid] / fall))
        charge[self.paid] *= self.factor
        charge[self.own] = 0.0
        return charge

    def renew(self, charge: Floats, moved: Floats, unmoved: float) -> None:
        """Charge cells by the share of the level that they moved, and a share of their range for not moving."""
        paid = self.paid
        charge[paid] = self.factor * self.cost[paid] / (moved + unmoved * self.rise[paid])
        charge[len(self.cost) :] = self.factor * self.cost[paid] / (moved + unmoved * self.fall)
        charge[self.own] = 0.0


def _split(block: Block, paid: Ints) -> Columns:
    """Free cells in one column, charged ones in two: what they rise by and what they fall by."""
    A, n = block.A, len(block.cells)
    length = np.diff(A.indptr)[paid]
    ends = np.cumsum(length)
    back = np.arange(ends[-1] if len(paid) else 0) + np.repeat(A.indptr[paid] - (ends - length), length)
    return Columns(
        (A.shape[0], n + len(paid)),
        np.concatenate((A.indptr, A.indptr[-1] + ends)),
        np.concatenate((A.indices, A.indices[back])),
        np.concatenate((A.data, -A.data[back])),
    )
