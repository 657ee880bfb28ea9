"""The cheapest deviation that answers one question, looked for near its cell only."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation
from tabprotect.methods.suppression.large.programme import BlockProgramme, Move
from tabprotect.methods.suppression.large.surroundings import Block, Surroundings
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.options.nearby import NearbyOptions
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget

__all__ = ["Nearby", "Search"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Search(NamedTuple):
    """How hard to look for a deviation.

    Attributes
    ----------
    hops : int
        Start with this position in the `equations` of the options.
    enough : float
        A deviation that costs no more ends the search; for others it is widened, among cells that cost less than the
        whole deviation found so far.
    usual : float
        What a deviation costs on average.
    limit : float
        A deviation that costs as much or more is of no use.
    widen : bool
        Look no further than the first position when False.
    far : bool
        When False nothing is looked for beyond the `near_equations` of the options, unless something was found within
        them.
    quick : bool
        Rather a dear deviation soon than a long search.
    rough : bool
        Take the first deviation through the few cells of each equation that can move furthest; search as usual only
        where there is none.
    """

    hops: int = 0
    enough: float = np.inf
    usual: float = 0.0
    limit: float = np.inf
    widen: bool = True
    far: bool = True
    quick: bool = False
    rough: bool = False


ANY = Search()
"""Look until there is one."""


@dataclass(eq=False)
class _Found:
    """The cheapest deviation so far, and the cells it was looked for among; `final` when that is the answer."""

    best: Deviation | None
    least: float
    cells: Ints
    final: bool = False

    def offer(self, found: Deviation | None, price: Floats) -> float:
        """Keep a deviation that is cheaper; return what it costs, infinity for none."""
        cost = np.inf if found is None else float(price[found.cells].sum())
        if cost < self.least:
            self.best, self.least = found, cost
        return cost


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
    programme : BlockProgramme
        What is solved within the equations looked at.
    rough : bool
        Whether a search that was to be quick gave up programmes, or one was rough; set to True only.
    """

    def __init__(self, problem: Problem, near: Surroundings, options: NearbyOptions = DEFAULTS.local.nearby) -> None:
        self._options = options
        self.problem = problem
        self.near = near
        self.programme = BlockProgramme(problem, options)
        self.down, self.up, self.both = problem.down, problem.up, self.programme.both
        self.allowed = problem.may_hide & (problem.status != Status.ZERO) & ((self.down > 0) | (self.up > 0))
        self.mirrored = self.allowed & (self.both > 0)
        self.rough = False
        self._thin: dict[int, Surroundings] = {}
        self._roomy: dict[int, Surroundings] = {}
        primaries = np.flatnonzero(problem.status == Status.PRIMARY)
        some = primaries[:: max(1, len(primaries) // self._options.sampled_primaries)].tolist()
        self._least = int(len(some) > 0 and not any(self._moves(cell) for cell in some))

    def _moves(self, cell: int) -> bool:
        cells = self.near.ball(np.array([cell]), self._options.equations[0], self.allowed)
        return len(self.near.closed(cells, cell).cells) > 1

    def twin(self) -> Nearby:
        """Return what finds the same in another thread."""
        other = copy(self)
        other.near, other._thin, other.programme = self.near.twin(), {}, self.programme.twin()
        return other

    def find(
        self, move: Move, price: Floats, budget: Budget, search: Search = ANY, known: Ints | None = None
    ) -> Deviation | None:
        """Return a cheap deviation; None when there is none (or the budget ended the search for one).

        Parameters
        ----------
        move : Move
        price : ndarray of float, shape (cells,)
            What hiding a cell costs; 0 for those hidden already.
        budget : Budget
        search : Search
        known : ndarray of int, optional
            Cells that must not move.
        """
        options = self._options
        allowed = self.allowed if move.side else self.mirrored
        if known is not None and len(known):
            allowed = allowed.copy()
            allowed[known] = False
        if search.rough and (soon := self._roughly(move, price, budget, allowed)) is not None:
            self.rough = True
            return soon
        found = self._widened(move, price, budget, search, allowed)
        if found.final:
            return found.best
        if found.best is None and len(found.cells) > options.large_cells and search.quick:
            self.rough = True
            return self._roughly(move, price, budget, allowed)
        if found.best is None and len(found.cells) > options.large_cells and search.widen:
            self._among_more(found, move, price, budget)
        dear = found.least > max(search.enough, options.dear * search.usual)
        if found.best is not None and search.usual > 0 and dear and not budget.exhausted:
            # far away through cells that are cheap beside what was found
            cells = self.near.ball(
                np.array([move.cell]),
                options.equations[-1],
                allowed,
                price,
                options.cheap_share * found.least,
                options.cells[1],
            )
            block = self.near.closed(cells, move.cell)
            found.offer(self.programme.solve(block, move, price, budget, quick=search.quick), price)
        return found.best

    def _widened(self, move: Move, price: Floats, budget: Budget, search: Search, allowed: Bools) -> _Found:
        """Look within more and more equations, as long as that pays."""
        options, usual, cell = self._options, search.usual, move.cell
        found = _Found(None, search.limit, np.zeros(0, np.int64))
        size, seen, idle = -1, 0, 0
        worth = (options.cells[1] - options.cells[0]) / (options.dear * usual) if usual > 0 else 0.0
        hops = max(search.hops, self._least)
        for reach in options.equations[hops:] if search.widen else options.equations[hops : hops + 1]:
            if found.best is not None and reach in options.only_first:
                continue
            if found.best is None and not search.far and reach > options.near_equations:
                found.final = True
                break
            most = None if found.best is None else int(min(options.cells[1], options.cells[0] + worth * found.least))
            found.cells = cells = self.near.ball(np.array([cell]), reach, allowed, price, found.least, most)
            if len(cells) == size:
                break
            size, before = len(cells), budget.work
            block = self.near.closed(self._roomiest(cells, cell, options.large_cells), cell)
            if found.best is not None and len(block.cells) <= seen / options.same_share:
                continue
            seen = len(block.cells)
            new = self.programme.solve(block, move, price, budget, quick=search.quick)
            if new is None and search.quick and self.programme.unfinished:
                self.rough = True
                return _Found(found.best or self._roughly(move, price, budget, allowed), found.least, cells, final=True)
            least = found.least
            cost = found.offer(new, price)
            if new is not None:
                idle = idle + 1 if cost > options.gain * least else 0
            dear = min(20.0, max(1.0, 10 * found.least / (options.dear * usual))) if usual > 0 else 1.0
            heavy = budget.work - before > options.patience * dear
            if budget.exhausted or (found.best is not None and (found.least <= search.enough or idle == 2 or heavy)):
                break
        return found

    def _among_more(self, found: _Found, move: Move, price: Floats, budget: Budget) -> None:
        """Look among more and more of the cells that can move furthest, until there is a deviation or all are in."""
        several = self._options.large_cells
        while found.best is None and several < len(found.cells) and not budget.exhausted:
            several *= 4
            block = self.near.closed(self._roomiest(found.cells, move.cell, several), move.cell)
            found.best = self.programme.solve(block, move, price, budget)
        if found.best is not None:
            found.least = float(price[found.best.cells].sum())

    def _roughly(self, move: Move, price: Floats, budget: Budget, allowed: Bools) -> Deviation | None:
        """Return a deviation through the cells of each equation that can move furthest: mostly totals."""
        for few, reach in self._options.thin:
            if few not in self._thin:
                if few not in self._roomy:
                    self._roomy[few] = Surroundings(self.problem.system, self.both, few)
                self._thin[few] = self._roomy[few].twin()
            cells = self._thin[few].ball(np.array([move.cell]), reach, allowed)
            found = self.programme.solve(self.near.closed(cells, move.cell), move, price, budget, quick=True)
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

    def inside(self, block: Block, move: Move, price: Floats, budget: Budget) -> Deviation | None:
        """Return a deviation that moves cells of a block only, cheap ones rather than others."""
        own = int(np.searchsorted(block.cells, move.cell))
        if own == len(block.cells) or block.cells[own] != move.cell:
            return None
        return self.programme.solve(block, move, price, budget, again=0)
