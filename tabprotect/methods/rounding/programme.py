"""Controlled rounding as an integer programme over the steps of each cell.

``v_i = base (low_i + sum_t x_it)``, x_it in {0, 1}: the price of step t is what it adds to the distance, and since the
distance is convex the prices of a cell's steps do not fall, so that an optimum takes them in order. Cells that are
equal in every table (ties by the equations) are one column; equations that follow from others are left out.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.distance import Norm
from tabprotect.methods.rounding.grid import Grid
from tabprotect.problem import Problem
from tabprotect.solver.exact.elimination import eliminate
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.milp import MilpAnswer, solve_milp

__all__ = ["Programme"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: more cells than this are not worth the elimination
_LARGEST = 60_000

#: linear relaxations of more columns are solved by an interior point method
_LARGE = 3000


class Programme:
    """The integer programme of one problem and grid.

    Parameters
    ----------
    problem : Problem
    grid : Grid
    weights : ndarray, shape (cells,)
    norm : {'l1', 'l2', 'linf', 'excess'}
        'excess' counts the steps beyond the two neighbouring multiples, to find out which cells need them.

    Attributes
    ----------
    own : ndarray of int, shape (cells,)
        The group (of equal cells) of every cell.
    low, high : ndarray of int, shape (groups,)
        Multiples allowed.
    constant : float
        Distance of the table in which all groups are at `low` (not for L-infinity).
    possible : bool
        False when equal cells have no multiple in common.
    """

    def __init__(self, problem: Problem, grid: Grid, weights: Floats, norm: Norm | Literal["excess"]) -> None:
        self.grid, self.norm = grid, norm
        A, n = problem.system.A, problem.n_cells
        self.own, rows = _groups(A, n)
        groups = int(self.own.max(initial=-1)) + 1
        self.low, self.high = np.full(groups, -(2**62)), np.full(groups, 2**62)
        np.maximum.at(self.low, self.own, grid.low)
        np.minimum.at(self.high, self.own, grid.high)
        self.possible = bool(np.all(self.low <= self.high))
        merge = sparse.csr_array((np.ones(n), (np.arange(n), self.own)), shape=(n, groups))
        self.A = sparse.csc_array(sparse.csr_array(A[rows]) @ merge)
        self.total = grid.total[rows].astype(np.float64)
        self._cell_weights, self._cuts = weights, list[tuple[Floats, float]]()
        self._lay_out()

    def _lay_out(self) -> None:
        width = np.maximum(self.high - self.low, 0)
        self.group = np.repeat(np.arange(len(width)), width)
        first = np.cumsum(width) - width
        self.step = np.arange(len(self.group)) - first[self.group]
        self.cost = np.zeros(len(self.group))
        self.constant = 0.0
        if self.norm != "linf" and self.possible:
            before = self._price(self.low)
            self.constant = float(before.sum())
            for t in range(int(width.max(initial=0))):
                after = self._price(self.low + t + 1)
                here = self.step == t
                self.cost[here] = (after - before)[self.group[here]]
                before = after

    def _price(self, multiples: Ints) -> Floats:
        """Weighted distance (or number of excess steps) of each group at a multiple, in the caller's unit."""
        every, grid = multiples[self.own], self.grid
        if self.norm == "excess":
            each = np.maximum(grid.below - every, 0) + np.maximum(every - grid.above, 0)
        else:
            off = np.abs(every - grid.below - grid.part) * grid.base
            each = self._cell_weights * (off if self.norm == "l1" else off**2)
        price = np.zeros(len(self.low))
        np.add.at(price, self.own, each)
        return price

    def add_cut(self, row: Floats, least: float) -> None:
        """Demand ``row @ v >= least`` of the rounded values of all cells, in the unit of the values."""
        grouped = np.zeros(len(self.low))
        np.add.at(grouped, self.own, row)
        self._cuts.append((grouped, least))

    def solve(
        self,
        budget: Budget,
        *,
        low: Ints | None = None,
        high: Ints | None = None,
        relax: bool = False,
        start: Ints | None = None,
        noise: Floats | None = None,
        seconds: float | None = None,
        nodes: int | None = None,
        gap: float = 0.0,
        seed: int = 0,
    ) -> tuple[MilpAnswer, Floats | None]:
        """Solve, between narrower multiples if given; returns the claim and the multiples of the groups.

        Parameters
        ----------
        budget : Budget
        low, high : ndarray of int, shape (groups,), optional
            Multiples allowed this time.
        relax : bool
            Multiples need not be whole.
        start : ndarray of int, optional
            Multiples to begin with.
        noise : ndarray, optional
            Factors of the prices, one a column.
        seconds, nodes, gap, seed :
            See `tabprotect.solver.mip.milp.solve_milp`.
        """
        least = np.zeros(len(self.group)) if low is None else (self.step < (low - self.low)[self.group]).astype(float)
        most = np.ones(len(self.group)) if high is None else (self.step < (high - self.low)[self.group]).astype(float)
        extra = int(self.norm == "linf")
        left = self.total - self.A @ self.low
        blocks, below, above = [self.A[:, self.group]], [left], [left]
        if self._cuts:
            cut = sparse.csc_array(np.array([row for row, _ in self._cuts]) * self.grid.base)
            blocks.append(cut[:, self.group])
            below.append(np.array([b for _, b in self._cuts]) - cut @ self.low)
            above.append(np.full(len(self._cuts), np.inf))
        if extra:
            blocks = [sparse.hstack([block, sparse.csc_array((block.shape[0], 1))]) for block in blocks]
            rows, limit = self._farthest_rows()
            blocks.append(rows)
            below.append(np.full(rows.shape[0], -np.inf))
            above.append(limit)
        cost = self.cost if noise is None else self.cost * noise
        steps = np.repeat([True, False], [len(self.group), extra])
        answer = solve_milp(
            sparse.vstack(blocks, format="csc"),
            np.concatenate(below),
            np.concatenate(above),
            np.concatenate((least, np.zeros(extra))),
            np.concatenate((most, np.full(extra, np.inf))),
            np.concatenate((cost, np.ones(extra))),
            None if relax else steps,
            start=None if start is None else self._point(start, extra),
            budget=budget,
            seconds=seconds,
            nodes=nodes,
            gap=gap,
            seed=seed,
            method="ipm" if relax and len(self.group) > _LARGE else "choose",
        )
        if answer.x is None:
            return answer, None
        multiples = self.low.astype(np.float64)
        np.add.at(multiples, self.group, answer.x[: len(self.group)])
        return answer, multiples if relax else np.rint(multiples)

    def _farthest_rows(self) -> tuple[sparse.csc_array, Floats]:
        """Rows w|v - a| <= t of every cell that can move."""
        cells = np.flatnonzero((self.low < self.high)[self.own] | (self.grid.part != 0))
        columns = sparse.csr_array(
            (np.ones(len(self.group)), (self.group, np.arange(len(self.group)))), shape=(len(self.low), len(self.group))
        )[self.own[cells]]
        weight = self._cell_weights[cells] * self.grid.base
        off = (self.low[self.own] - self.grid.below - self.grid.part)[cells] * weight
        scaled = sparse.diags_array(weight, format="csr") @ columns
        t = sparse.csr_array(-np.ones((len(cells), 1)))
        rows = sparse.vstack([sparse.hstack([scaled, t]), sparse.hstack([-scaled, t])], format="csc")
        return rows, np.concatenate((-off, off))

    def _point(self, multiples: Ints, extra: int) -> Floats:
        x = (self.step < (multiples - self.low)[self.group]).astype(np.float64)
        return np.append(x, self.distance(multiples)) if extra else x

    def target(self) -> tuple[Floats, Floats]:
        """The true value of every group in bases, and its weight."""
        groups = len(self.low)
        near, weight = np.zeros(groups), np.zeros(groups)
        near[self.own] = self.grid.below + self.grid.part
        np.add.at(weight, self.own, self._cell_weights)
        return near, np.maximum(weight, 1e-9 * max(float(weight.max(initial=0.0)), 1e-300))

    def meets_cuts(self, multiples: Ints) -> bool:
        """Whether multiples of the groups satisfy what was demanded by `add_cut`."""
        return all(float(row @ multiples) * self.grid.base >= least - 1e-9 * abs(least) for row, least in self._cuts)

    def distance(self, multiples: Ints) -> float:
        """The objective at multiples of the groups, in the caller's unit."""
        if self.norm != "linf":
            return float(self._price(multiples).sum())
        off = np.abs(multiples[self.own] - self.grid.below - self.grid.part) * self.grid.base
        return float(np.max(self._cell_weights * off, initial=0.0))


def _groups(A: sparse.csr_array, n: int) -> tuple[Ints, Ints]:
    """Return the group of every cell and independent rows."""
    if n > _LARGEST:
        return np.arange(n), np.arange(A.shape[0])
    elimination = eliminate(A)
    leader = np.arange(n)
    for j, i, ratio in elimination.ties(np.random.default_rng(0))[1]:
        if ratio == 1:
            leader[j] = i
    return np.unique(leader, return_inverse=True)[1].astype(np.int64), elimination.independent
