"""Inequalities of a large problem that every safe pattern satisfies, found near the cell in question."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Questions
from tabprotect.methods.suppression.large.surroundings import Block, Surroundings
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.small import Columns, SmallProgrammes
from tabprotect.solver.tolerances import LEVEL, LOCAL_CUT_VIOLATION, MULTIPLIER, REACHED

__all__ = ["Attack", "Attacks", "LocalRows", "Multipliers", "Sparse", "attack"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Sparse(NamedTuple):
    """sum values x[cells] >= 1, over cells that are not hidden anyway; where it comes from is in `origin`.

    Attributes
    ----------
    cells : ndarray of int
    values : ndarray of float
        In (0, 1].
    question : int
    rows : ndarray of int
        Equations with multipliers that are not 0.
    multipliers : ndarray of float
    """

    cells: Ints
    values: Floats
    question: int
    rows: Ints
    multipliers: Floats


@dataclass(frozen=True, eq=False)
class Attack:
    """How far one cell moves towards its level in the equations near it.

    Attributes
    ----------
    A : Columns
    own : int
        Position of the cell.
    side : int
        +1 or -1.
    down, up : ndarray of float
        How far each cell may move, in levels.
    """

    A: Columns
    own: int
    side: int
    down: Floats
    up: Floats


@dataclass(frozen=True, eq=False)
class Attacks:
    """Attacks that are solved in one go, wherever that is.

    Attributes
    ----------
    attacks : tuple of Attack
    seconds : float
        Time that is left.
    """

    attacks: tuple[Attack, ...]
    seconds: float


class Multipliers(NamedTuple):
    """Equations of an attack, by position, and multipliers other than 0, which prove that the level is out of reach."""

    rows: Ints
    values: Floats


def attack(piece: Attacks) -> tuple[list[Multipliers | None], int]:
    """Return what shows that each level is out of reach, None where it is not (or was not decided), and the work spent.

    Examples
    --------
    >>> A = Columns((1, 2), np.array([0, 1, 2]), np.array([0, 0]), np.ones(2))  # two cells with a fixed total
    >>> whole, half = (Attack(A, 0, 1, np.array([0.0, down]), np.ones(2)) for down in (1.0, 0.5))
    >>> found, _ = attack(Attacks((whole, half), 9.0))
    >>> [one and one.values.tolist() for one in found]
    [None, [1.0]]
    """
    programmes, found, work = SmallProgrammes(), list[Multipliers | None](), 0
    end = time.monotonic() + piece.seconds
    for one in piece.attacks:
        cost = np.zeros(len(one.up))
        cost[one.own] = -one.side
        left = max(0.0, end - time.monotonic())
        solution = programmes.solve(one.A, cost, -one.down, one.up, primal=True, seconds=left)
        work += 1 if solution is None else 1 + solution.iterations
        if solution is None or one.side * solution.x[one.own] >= 1 - REACHED:
            found.append(None)
            continue
        rows = np.flatnonzero(np.abs(solution.duals) > MULTIPLIER)
        found.append(Multipliers(rows, -solution.duals[rows]))
    return found, work


class LocalRows:
    """Capacity cuts from attacks that see the equations near a cell only.

    An intruder who ignores equations is stronger than one who does not, so what is needed against him is a lower
    bound on what is needed: weak duality gives the cut for multipliers that are 0 far away (Fischetti and Salazar
    2000; see `tabprotect.methods.suppression.bound.cuts.capacity`).

    Parameters
    ----------
    problem : Problem
    near : Surroundings
    """

    def __init__(self, problem: Problem, near: Surroundings) -> None:
        self.problem = problem
        self.near = near
        self.questions = Questions.of(problem)
        self._fixed = ~problem.may_hide
        self._must = problem.must_hide | (problem.may_hide & (problem.weights == 0))
        self._down = np.where(self._fixed, 0.0, problem.down)
        self._up = np.where(self._fixed, 0.0, problem.up)
        self._all = np.ones(problem.n_cells, bool)
        self._blocks: dict[tuple[int, int], Block] = {}
        self._entries = 0

    def own(self) -> list[Sparse]:
        """For every question and every equation of its cell: the cut of that equation alone."""
        q, found = self.questions, []
        for k in np.flatnonzero(q.side != 0).tolist():
            cell = int(q.cell[k])
            block = self._block(cell, 1)
            own = int(np.searchsorted(block.cells, cell))
            if own == len(block.cells) or block.cells[own] != cell:
                continue  # nothing around it moves, nor does it
            lo, hi = block.A.indptr[own], block.A.indptr[own + 1]
            for row, value in zip(block.A.indices[lo:hi].tolist(), block.A.data[lo:hi].tolist(), strict=True):
                made = self._cut(k, block, np.array([row]), np.array([q.side[k] / value]))
                if made is not None:
                    found.append(made)
        return found

    def separate(self, question: int, x: Floats, budget: Budget, *, hops: int, cap: float = 1.0) -> Sparse | None:
        """Return a violated cut for a question, if the attack at x shows one.

        Parameters
        ----------
        question : int
        x : ndarray of float, shape (cells,)
            Between 0 and 1.
        budget : Budget
        hops : int
            The attack sees the equations of cells up to so many equations away, less one.
        cap : float
            No cell moves more than so many levels in the attack (this steers it; the cut is made from the true
            bounds).
        """
        (found,), work = attack(Attacks((self.stated(question, x, hops=hops, cap=cap),), budget.seconds_left))
        budget.spend(work)
        return None if found is None else self.cut(question, found, x, hops=hops)

    def stated(self, question: int, x: Floats, *, hops: int, cap: float = 1.0) -> Attack:
        """Return the attack on one question at a point, ready for whoever solves it."""
        q = self.questions
        cell, side, level = int(q.cell[question]), int(q.side[question]), float(q.need[question])
        block = self._block(cell, hops)
        cells = block.cells
        own = int(np.searchsorted(cells, cell))
        hide = np.maximum(x[cells], 0.0)
        hide[self._must[cells]] = 1.0
        down = np.minimum(self._down[cells] / level, cap) * hide
        up = np.minimum(self._up[cells] / level, cap) * hide
        if side > 0:
            down[own], up[own] = 2 * cap, 1.0
        else:
            down[own], up[own] = 1.0, 2 * cap
        return Attack(block.A, own, side, down, up)

    def cut(self, question: int, found: Multipliers, x: Floats, *, hops: int) -> Sparse | None:
        """Return the cut of what an attack found, if x violates it."""
        block = self._block(int(self.questions.cell[question]), hops)
        made = self._cut(question, block, found.rows, found.values)
        if made is None or float(made.values @ x[made.cells]) > 1 - LOCAL_CUT_VIOLATION:
            return None
        return made

    def _block(self, cell: int, hops: int) -> Block:
        if (cell, hops) not in self._blocks:
            cells = np.array([cell]) if hops <= 1 else self.near.ball(np.array([cell]), hops - 1, self._all)
            block = self.near.relaxed(self.near.equations(cells))
            if self._entries > 20_000_000:
                return block
            self._entries += len(block.A.data)
            self._blocks[cell, hops] = block
        return self._blocks[cell, hops]

    def _cut(self, question: int, block: Block, rows: Ints, multipliers: Floats) -> Sparse | None:
        """The capacity cut of multipliers of some rows of a block: sum c_i x_i >= level, tightened."""
        q = self.questions
        cell, side, level = int(q.cell[question]), int(q.side[question]), float(q.need[question])
        cells = block.cells
        multiplier = np.zeros(block.A.shape[0])
        multiplier[rows] = multipliers
        own = int(np.searchsorted(cells, cell))
        column = np.repeat(np.arange(len(cells)), np.diff(block.A.indptr))
        d = -np.bincount(column, block.A.data * multiplier[block.A.indices], len(cells))
        d[own] += side
        d[np.abs(d) < MULTIPLIER] = 0.0
        if d[own] != 0.0:
            return None
        moved = np.flatnonzero(d)
        cells, d = cells[moved], d[moved]
        c = np.abs(d) * np.where(d > 0, self._up[cells], self._down[cells])
        must = self._must[cells]
        rest = level - float(c[must].sum())
        if not rest > LEVEL * level:
            return None
        charged = ~must & (c > 0)
        values = np.minimum(c[charged] / rest, 1.0)
        return Sparse(cells[charged], values, question, block.rows[rows], multipliers)
