"""Hypercubes of hidden cells (Repsilber 1994; Giessing and Repsilber 2002, GHMITER): cheap, vectorised, hides more."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.methods.suppression.classic.subtables import Subtable, subtables
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.completion import complete
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem, Status
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress

__all__ = ["hypercube"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def hypercube(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    progress: Callable[[Progress], None] | None = None,
    start: Bools | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Hide, for every sensitive cell and in every subtable that has it, the corners of the cheapest hypercube.

    In a plain table with d directions two cells that differ in all of them span 2^d corners. Let the cell rise by t and
    every corner follow with its sign: inner parts fall as often as they differ from it, margins rise with it. All sums
    of the subtable stay, so the cell may move as far as the corner with the least room. A corner hidden for one cell
    has to be protected in the other subtables that it belongs to, at the same level, and so on until nothing is open.
    What no hypercube protects (too little room everywhere) is left to the repair, as is everything that the subtables
    do to each other.

    Parameters
    ----------
    problem : Problem
        Its equations must be sums.
    limits : Limits or Budget, optional
    progress : callable, optional
    start : ndarray of bool, shape (cells,), optional
        Cells hidden to begin with.
    options : Options

    Returns
    -------
    SuppressionResult
        Judged on the whole problem; without a bound. There is no chance in this method.

    Raises
    ------
    InputError
        If an equation is no sum of parts.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> hypercube(p).suppressed.tolist()
    [4, 5, 7, 8]
    """
    budget = Budget.of(limits, progress)
    with cancel_on_interrupt(budget):
        faces = [_Face(problem, face) for table in subtables(problem.system) for face in table.faces()]
        pattern = problem.must_hide if start is None else problem.must_hide | start
        return complete(problem, _protect(problem, faces, pattern, budget), budget, "hypercube", options=options)


def _protect(problem: Problem, faces: list[_Face], pattern: Bools, budget: Budget) -> Bools:
    """Work through cells and subtables, largest level first, until every hidden cell has its hypercubes."""
    pattern = pattern.copy()
    primary = problem.status == Status.PRIMARY
    up = np.where(primary, np.maximum(problem.upl, problem.spl / 2), 0.0)
    down = np.where(primary, np.maximum(problem.lpl, problem.spl / 2), 0.0)
    up, down = np.minimum(up, problem.up), np.minimum(down, problem.down)
    users: list[list[int]] = [[] for _ in range(problem.n_cells)]
    for k, face in enumerate(faces):
        for cell in face.cells.tolist():
            users[cell].append(k)
    changed = np.flatnonzero((up > 0) | (down > 0))
    while len(changed) and not budget.exhausted:
        touched: set[int] = set()
        for cell in changed[np.argsort(-np.maximum(up, down)[changed], kind="stable")].tolist():
            for k in users[cell]:
                corners, sign = faces[k].cheapest(cell, up[cell], down[cell], pattern)
                budget.spend(1)
                if not len(corners):
                    continue
                pattern[corners] = True
                higher = np.maximum(up[corners], np.where(sign > 0, up[cell], down[cell]))
                lower = np.maximum(down[corners], np.where(sign > 0, down[cell], up[cell]))
                touched.update(corners[(higher > up[corners]) | (lower > down[corners])].tolist())
                up[corners], down[corners] = higher, lower
        changed = np.array(sorted(touched), np.int64)
        budget.report("hypercube", message=f"{counted(len(changed), 'cell')} to go")
    return pattern


class _Face:
    """One subtable as an array, and how far its cells are protected in it."""

    def __init__(self, problem: Problem, table: Subtable) -> None:
        self.cells = table.cells
        self._grid = table.grid()
        self._place = {int(cell): tuple(code) for cell, code in zip(table.cells, table.codes.tolist(), strict=True)}
        self._problem = problem
        self._may = problem.may_hide
        self._up, self._down = problem.up, problem.down
        self._done: dict[int, tuple[float, float]] = {}

    def cheapest(self, cell: int, up: float, down: float, pattern: Bools) -> tuple[Ints, Ints]:
        """Return the corners of the cheapest hypercube of a cell and their signs; none if it needs none or has none."""
        nothing = np.zeros(0, np.int64)
        had = self._done.get(cell, (0.0, 0.0))
        if up <= had[0] and down <= had[1]:
            return nothing, nothing
        here = self._place[cell]
        axes = [np.delete(np.arange(size), at) for size, at in zip(self._grid.shape, here, strict=True)]
        total = np.zeros([len(axis) for axis in axes])
        possible = np.ones(total.shape, bool)
        price = np.where(pattern, 0.0, self._problem.weights)
        for corner, sign in self._corners(here, axes):
            rise, fall = self._up[corner], self._down[corner]
            positive = sign > 0
            room = np.where(positive, (rise >= up) & (fall >= down), (rise >= down) & (fall >= up))
            possible &= room & (corner >= 0) & self._may[corner]
            total += price[corner]
        if not possible.any():
            return nothing, nothing
        best = np.unravel_index(int(np.argmin(np.where(possible, total, np.inf))), total.shape)
        opposite = [axis[[at]] for axis, at in zip(axes, best, strict=True)]
        chosen = [(int(c.item()), int(s.item())) for c, s in self._corners(here, opposite)]
        for c, s in chosen:
            mine = self._done.get(c, (0.0, 0.0))
            self._done[c] = (max(mine[0], up if s > 0 else down), max(mine[1], down if s > 0 else up))
        return np.array([c for c, _ in chosen]), np.array([s for _, s in chosen])

    def _corners(self, here: tuple[int, ...], axes: list[Ints]) -> Iterator[tuple[Ints, Ints]]:
        """Yield each corner of all hypercubes of a cell, and its sign, turned by each step from part to part."""
        for moved in product((False, True), repeat=len(here)):
            index = [axis if yes else np.array([at]) for yes, axis, at in zip(moved, axes, here, strict=True)]
            sign = np.ones([1] * len(here), np.int64)
            for k, (yes, at) in enumerate(zip(moved, here, strict=True)):
                if yes and at > 0:
                    shape = [-1 if i == k else 1 for i in range(len(here))]
                    sign = sign * np.where(axes[k] > 0, -1, 1).reshape(shape)
            yield self._grid[np.ix_(*index)], sign
