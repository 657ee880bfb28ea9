"""The cheapest deviation that answers one question, looked for near its cell only."""

from __future__ import annotations

from copy import copy

import numpy as np
import numpy.typing as npt

from tabprotect.attack.attackers import unit_of
from tabprotect.attack.witness import Deviation
from tabprotect.methods.suppression.large.surroundings import Block, Surroundings
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.options.nearby import NearbyOptions
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget
from tabprotect.solver.small import MOST_ITERATIONS, Columns, SmallProgrammes
from tabprotect.solver.tolerances import DEVIATION_NOISE, LARGEST_MOVE, LEAST_ROOM

__all__ = ["Nearby"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Nearby:
    """Minimise sum_i price_i |z_i| over the deviations around a cell that bring it to its level.

    As `tabprotect.methods.suppression.start.cheapest`, but all cells beyond a few equations stand still, so a programme
    takes a fraction of a millisecond however large the table is. A deviation found is one of the whole table.

    Parameters
    ----------
    problem : Problem
    near : Surroundings
    options : NearbyOptions

    Attributes
    ----------
    guide : ndarray of float or None
        Factors on the prices while a deviation is looked for, such as 1 - alpha x* of a relaxation.
    noise : float
        Standard deviation of the logarithm of random factors on them.
    rough : bool
        Whether a search that was to be quick gave up programmes; set to True only.
    """

    def __init__(self, problem: Problem, near: Surroundings, options: NearbyOptions = DEFAULTS.local.nearby) -> None:
        self._options = options
        self.problem = problem
        self.near = near
        self.down, self.up = problem.down, problem.up
        self.both = np.minimum(self.down, self.up)
        self.allowed = problem.may_hide & (problem.status != Status.ZERO) & ((self.down > 0) | (self.up > 0))
        self.mirrored = self.allowed & (self.both > 0)
        self.guide: Floats | None = None
        self.noise = 0.0
        self.rough = False
        self._thin: dict[int, Surroundings] = {}
        self._roomy: dict[int, Surroundings] = {}
        self._rng = np.random.default_rng(0)
        self._lp = SmallProgrammes()
        primaries = np.flatnonzero(problem.status == Status.PRIMARY)
        some = primaries[:: max(1, len(primaries) // self._options.sampled_primaries)].tolist()
        self._least = int(len(some) > 0 and not any(self._moves(cell) for cell in some))

    def _moves(self, cell: int) -> bool:
        cells = self.near.ball(np.array([cell]), self._options.equations[0], self.allowed)
        return len(self.near.closed(cells, cell).cells) > 1

    def twin(self) -> Nearby:
        """Return what finds the same in another thread."""
        other = copy(self)
        other.near, other._thin, other._lp = self.near.twin(), {}, SmallProgrammes()
        return other

    def find(
        self,
        cell: int,
        side: int,
        level: float,
        price: Floats,
        budget: Budget,
        *,
        hops: int = 0,
        widen: bool = True,
        far: bool = True,
        quick: bool = False,
        known: Ints | None = None,
        enough: float = np.inf,
        usual: float = 0.0,
        limit: float = np.inf,
    ) -> Deviation | None:
        """Return a cheap deviation; None when there is none (or the budget ended the search for one).

        A programme pays in proportion to how far a cell moves, a pattern pays in full. So where the programme is not
        too large it is solved a few times again, each time with cells charged by how far they moved before: what moved
        far gets cheap, what hardly moved dear (reweighted l1 minimisation; Candes, Wakin and Boyd 2008).

        Parameters
        ----------
        cell : int
        side : int
            +1 or -1; 0 for a deviation that can be turned round, and so answers both sides.
        level : float
        price : ndarray of float, shape (cells,)
            What hiding a cell costs; 0 for those hidden already.
        hops : int
            Start with this position in the `equations` of the options.
        widen : bool
            Look no further than that when False.
        far : bool
            When False nothing is looked for beyond the `near_equations` of the options, unless something was found
            within them.
        quick : bool
            Rather a dear deviation soon than a long search.
        known : ndarray of int, optional
            Cells that must not move.
        enough : float
            A deviation that costs no more ends the search; for others it is widened, among cells that cost less than
            the whole deviation found so far.
        usual : float
            What a deviation costs on average.
        limit : float
            A deviation that costs as much or more is of no use.
        """
        allowed = self.allowed if side else self.mirrored
        if known is not None and len(known):
            allowed = allowed.copy()
            allowed[known] = False
        options = self._options
        best, least, size, seen, idle = None, limit, -1, 0, 0
        worth = (options.cells[1] - options.cells[0]) / (options.dear * usual) if usual > 0 else 0.0
        hops = max(hops, self._least)
        for reach in options.equations[hops:] if widen else options.equations[hops : hops + 1]:
            if best is not None and reach in options.only_first:
                continue
            if best is None and not far and reach > options.near_equations:
                return None
            most = None if best is None else int(min(options.cells[1], options.cells[0] + worth * least))
            cells = self.near.ball(np.array([cell]), reach, allowed, price, least, most)
            if len(cells) == size:
                break
            size, before = len(cells), budget.work
            block = self.near.closed(self._roomiest(cells, cell, options.large_cells), cell)
            if best is not None and len(block.cells) <= seen / options.same_share:
                continue
            seen = len(block.cells)
            found = self._within(block, cell, side, level, price, budget, quick=quick)
            if found is None and quick and self._lp.unfinished:
                self.rough = True
                return best or self._roughly(cell, side, level, price, budget, allowed)
            if found is not None:
                cost = float(price[found.cells].sum())
                idle = idle + 1 if cost > options.gain * least else 0
                if cost < least:
                    least, best = cost, found
            dear = min(20.0, max(1.0, 10 * least / (options.dear * usual))) if usual > 0 else 1.0
            heavy = budget.work - before > options.patience * dear
            if budget.exhausted or (best is not None and (least <= enough or idle == 2 or heavy)):
                break
        if best is None and quick and size > options.large_cells:
            self.rough = True
            return self._roughly(cell, side, level, price, budget, allowed)
        if best is None and widen and size > options.large_cells:
            several = options.large_cells
            while best is None and several < size and not budget.exhausted:
                several *= 4
                block = self.near.closed(self._roomiest(cells, cell, several), cell)
                best = self._within(block, cell, side, level, price, budget)
            least = least if best is None else float(price[best.cells].sum())
        if best is not None and usual > 0 and least > max(enough, options.dear * usual) and not budget.exhausted:
            # far away through cells that are cheap beside what was found
            cells = self.near.ball(
                np.array([cell]), options.equations[-1], allowed, price, options.cheap_share * least, options.cells[1]
            )
            found = self._within(self.near.closed(cells, cell), cell, side, level, price, budget, quick=quick)
            if found is not None and float(price[found.cells].sum()) < least:
                best = found
        return best

    def _roughly(
        self, cell: int, side: int, level: float, price: Floats, budget: Budget, allowed: Bools
    ) -> Deviation | None:
        """Return a deviation through the cells of each equation that can move furthest: mostly totals."""
        for few, reach in self._options.thin:
            if few not in self._thin:
                if few not in self._roomy:
                    self._roomy[few] = Surroundings(self.problem.system, self.both, few)
                self._thin[few] = self._roomy[few].twin()
            cells = self._thin[few].ball(np.array([cell]), reach, allowed)
            found = self._within(self.near.closed(cells, cell), cell, side, level, price, budget, quick=True)
            if found is not None:
                return found
        return None

    def _roomiest(self, cells: Ints, keep: int, most: int) -> Ints:
        """The cells that can move furthest, if there are more than so many."""
        if len(cells) <= most:
            return cells
        room = np.where(cells == keep, np.inf, self.both[cells])
        return np.sort(cells[np.argpartition(-room, most)[:most]])

    def hidden(self, cells: Ints, price: Floats) -> Block:
        """Return the equations between the hidden cells (of price 0) around some cells."""
        near = self.near.ball(
            cells,
            self._options.hidden_equations,
            self.allowed,
            price,
            np.finfo(np.float64).tiny,
            self._options.hidden_cells,
        )
        return self.near.closed(near, -1)

    def inside(
        self, block: Block, cell: int, side: int, level: float, price: Floats, budget: Budget
    ) -> Deviation | None:
        """Return a deviation that moves cells of a block only, cheap ones rather than others."""
        own = int(np.searchsorted(block.cells, cell))
        if own == len(block.cells) or block.cells[own] != cell:
            return None
        return self._within(block, cell, side, level, price, budget, again=0)

    def _within(
        self,
        block: Block,
        cell: int,
        side: int,
        level: float,
        price: Floats,
        budget: Budget,
        *,
        again: int | None = None,
        quick: bool = False,
    ) -> Deviation | None:
        cells = block.cells
        again = self._options.resolved if again is None else again
        own = int(np.searchsorted(cells, cell))
        if block.A.indptr[own] == block.A.indptr[own + 1] and block.A.shape[1] > 1:
            own_cells = np.array([cell])
            room = (self.both if not side else self.up if side > 0 else self.down)[cell]
            return Deviation(own_cells, np.array([level if side >= 0 else -level])) if room >= level else None
        unit = unit_of(level)
        if side:
            up, down = self.up[cells], self.down[cells]
        else:
            up = down = self.both[cells]
        goal = level / unit
        up, down = np.minimum(up / unit, LARGEST_MOVE), np.minimum(down / unit, LARGEST_MOVE)
        if (up if side >= 0 else down)[own] < goal:
            return None
        cost = price[cells]
        paid = np.flatnonzero(cost > 0)
        scale = float(cost[paid].mean()) if len(paid) else 1.0
        cost = cost / scale
        n = len(cells)
        # free cells in one column, charged ones in two: what they rise by and what they fall by
        A = block.A
        length = np.diff(A.indptr)[paid]
        ends = np.cumsum(length)
        back = np.arange(ends[-1] if len(paid) else 0) + np.repeat(A.indptr[paid] - (ends - length), length)
        both = Columns(
            (A.shape[0], n + len(paid)),
            np.concatenate((A.indptr, A.indptr[-1] + ends)),
            np.concatenate((A.indices, A.indices[back])),
            np.concatenate((A.data, -A.data[back])),
        )
        lower, upper = np.concatenate((-down, np.zeros(len(paid)))), np.concatenate((up, down[paid]))
        lower[paid] = 0.0
        lower[own] = upper[own] = goal if side >= 0 else -goal
        # per unit what the cell costs when it moves as far as it can or needs to
        rise, fall = np.clip(up / goal, LEAST_ROOM, 1.0), np.clip(down[paid] / goal, LEAST_ROOM, 1.0)
        factor = np.ones(len(paid)) if self.guide is None else self.guide[cells[paid]]
        if self.noise > 0:
            factor = factor * np.exp(self.noise * self._rng.normal(size=len(paid)))
        charge = np.concatenate((cost / rise, factor * cost[paid] / fall))
        charge[paid] *= factor
        charge[own] = 0.0
        best, least, most = None, np.inf, 0
        for k in range(again + 1):
            if k == 0:
                allowed = self._options.quick_iterations if quick else MOST_ITERATIONS
                solution = self._lp.solve(both, charge, lower, upper, iterations=allowed, seconds=budget.seconds_left)
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
            moved = np.flatnonzero(np.abs(z) > DEVIATION_NOISE)
            total = float(cost[moved].sum())
            if total < least:
                least, best = total, Deviation(cells[moved], z[moved] * unit)
            if k == again or not total or (k and not solution.iterations):
                break
            share, small = np.abs(z[paid]) / goal, self._options.unmoved_share * 0.5**k
            charge[paid] = factor * cost[paid] / (share + small * rise[paid])
            charge[n:] = factor * cost[paid] / (share + small * fall)
            charge[own] = 0.0
        return best
