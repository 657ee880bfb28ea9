"""The intruder's interval of hidden cells: at most two linear programmes a cell, in chunks for any executor."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.attackers import unit_of
from tabprotect.attack.components import Component
from tabprotect.errors import SolverError
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram, LpSolution
from tabprotect.solver.tasks.pieces import run_pieces
from tabprotect.solver.tolerances import AT_BOUND, LP_FEASIBILITY, RAY, RESIDUAL

__all__ = ["Question", "reach"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_CHUNK = 64
"""Targets in a unit of work; fixed, so that results do not depend on the number of workers."""


@dataclass(frozen=True, eq=False)
class Question:
    """How far some cells of a component can go is to be found out.

    Attributes
    ----------
    component : Component
    down, up : ndarray of float
        How far its cells may go by their external bounds (may be infinite), in the unit of the values.
    targets : ndarray of int
        Positions within the component.
    low, high : ndarray of float
        Where each target stops at the latest: -down and up, or nearer where more is known.
    """

    component: Component
    down: Floats
    up: Floats
    targets: Ints
    low: Floats
    high: Floats


Reach = tuple[Floats, Floats]


def reach(questions: Sequence[Question], budget: Budget, executor: Executor | None = None) -> list[Reach]:
    """Return for every question the lowest (<= 0) and the highest (>= 0) deviation of its targets.

    Parameters
    ----------
    questions : sequence of Question
    budget : Budget
        What is not found when it is exhausted is NaN.
    executor : concurrent.futures.Executor, optional
        Runs units of work side by side; the results are the same as without, also where workers get lost.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> c = Component(np.array([0, 1]), sp.csr_array([[1.0, 1.0]]))
    >>> down, up = np.array([5.0, 9]), np.array([np.inf, 2])
    >>> ((low, high),) = reach([Question(c, down, up, np.array([0]), -down[:1], up[:1])], Budget())
    >>> low, high
    (array([-2.]), array([9.]))
    """
    low = [np.full(len(q.targets), np.nan) for q in questions]
    high = [np.full(len(q.targets), np.nan) for q in questions]
    units, found_of, total = list(_units(questions)), 0, sum(len(q.targets) for q in questions)
    pieces = [[part for _, _, part in unit] for unit in units]
    answers = run_pieces(_solve, pieces, budget, executor, here=lambda piece: _solve(piece, budget))
    for unit, found in zip(units, answers, strict=True):
        if found is None:
            break
        for (question, start, part), (most_down, most_up, work) in zip(unit, found, strict=True):
            low[question][start : start + len(part.targets)] = most_down
            high[question][start : start + len(part.targets)] = most_up
            budget.spend(work)
            found_of += len(part.targets)
        budget.report("intervals", message=f"{found_of:,} of {total:,}")
    return list(zip(low, high, strict=True))


def _units(questions: Sequence[Question]) -> Iterator[list[tuple[int, int, Question]]]:
    """Cut questions into chunks and collect small ones: (question, first target, chunk)."""
    unit: list[tuple[int, int, Question]] = []
    size = 0
    for number, question in enumerate(questions):
        for start in range(0, len(question.targets), _CHUNK):
            chunk = slice(start, start + _CHUNK)
            part = replace(
                question, targets=question.targets[chunk], low=question.low[chunk], high=question.high[chunk]
            )
            if unit and size + len(part.targets) > _CHUNK:
                yield unit
                unit, size = [], 0
            unit.append((number, start, part))
            size += len(part.targets)
    if unit:
        yield unit


def _solve(questions: list[Question], budget: Budget | None = None) -> list[tuple[Floats, Floats, int]]:
    """Run one unit of work."""
    return [_Explorer(question).run(budget or Budget()) for question in questions]


class _Explorer:
    """Moves the targets of one question as far as they go; every vertex met counts for all cells."""

    def __init__(self, question: Question) -> None:
        self.targets = question.targets
        finite = np.concatenate([b[np.isfinite(b) & (b > 0)] for b in (question.down, question.up)])
        self.unit = unit_of(float(np.median(finite))) if len(finite) else 1.0
        self.A = question.component.A
        self.down, self.up = question.down / self.unit, question.up / self.unit
        self.limit = {1: question.high / self.unit, -1: -question.low / self.unit}
        self.low = np.zeros(len(self.down))
        self.high = np.zeros(len(self.up))
        self.work = 0
        self._none = np.zeros(len(self.down))
        self._costed = np.zeros(0, np.int64)

    def run(self, budget: Budget) -> tuple[Floats, Floats, int]:
        """Return the lowest and highest deviation of the targets (NaN for those left out at a limit), and the work."""
        if self.A.shape[0] == 0:
            return -self.down[self.targets] * self.unit, self.up[self.targets] * self.unit, 1
        left_out = np.zeros(len(self.targets), bool)
        if not budget.exhausted:
            self._rays()
        zeros = np.zeros(self.A.shape[0])
        # a change of costs keeps a vertex primal feasible; yet where equations outnumber cells (strongly linked tables)
        # the dual simplex method was 15 times faster, elsewhere the primal one 2 to 8 times
        method: Literal["primal", "dual"] = "primal" if self.A.shape[0] < 0.9 * self.A.shape[1] else "dual"
        lp = LinearProgram(
            self.A,
            zeros,
            zeros,
            -self.down,
            self.up,
            self._none,
            maximise=True,
            method=method,
            tolerance=LP_FEASIBILITY,
        )
        for side in (1, -1):
            if not budget.exhausted:
                self._together(lp, side, budget)
            for k in self._open(side).tolist():
                if budget.exhausted:
                    left_out[k] = True
                elif self._open(side, k):
                    reached, target = self._reached(side), self.targets[k]
                    solution = self._maximise(lp, self.targets[[k]], np.array([float(side)]), budget)
                    left_out[k] |= solution is None
                    if solution is not None:
                        reached[target] = side * max(side * reached[target], solution.objective)
        low, high = (np.where(left_out, np.nan, found[self.targets]) for found in (self.low, self.high))
        return low * self.unit, high * self.unit, self.work

    def _reached(self, side: int) -> Floats:
        return self.high if side > 0 else self.low

    def _open(self, side: int, k: int | None = None) -> Any:
        """Targets (or whether target k) that may go further than was found."""
        which = slice(None) if k is None else [k]
        reached, limit = np.abs(self._reached(side)[self.targets[which]]), self.limit[side][which]
        more = reached < limit - AT_BOUND[0] * np.maximum(1.0, np.where(np.isinf(limit), 0.0, limit))
        return np.flatnonzero(more) if k is None else bool(more[0])

    def _together(self, lp: LinearProgram, side: int, budget: Budget) -> None:
        """Let one programme bring many targets to their limits at once, as long as that helps."""
        endless = np.isinf(self.limit[side])
        before = len(self.targets) + 1
        while len(open_ := np.setdiff1d(self._open(side), np.flatnonzero(endless))) > 4 and len(open_) < 0.7 * before:
            before = len(open_)
            if self._maximise(lp, self.targets[open_], side / self.limit[side][open_], budget) is None:
                return

    def _maximise(self, lp: LinearProgram, targets: Ints, weights: Floats, budget: Budget) -> LpSolution | None:
        """Solve one programme and note its vertex; None when time was up before its end."""
        lp.set_costs(self._costed, np.zeros(len(self._costed)))
        self._costed = targets
        lp.set_costs(targets, weights)
        solution = lp.solve(max_seconds=None if math.isinf(budget.seconds_left) else budget.seconds_left)
        self.work += max(1, solution.iterations)
        if solution.status == "limit":
            return None
        if solution.status != "optimal":
            raise SolverError(f"an interval programme with a bounded answer ended as '{solution.status}'")
        residual = float(np.abs(self.A @ solution.x).max(initial=0.0))
        if residual > RESIDUAL * max(1.0, float(np.abs(solution.x).max(initial=0.0))):
            raise SolverError(f"an interval programme was left with a residual of {residual * self.unit:g}")
        self._note(solution.x)
        return solution

    def _note(self, x: Floats) -> None:
        """Credit every cell with what a vertex does to it; nearly at a bound is at the bound."""
        near = AT_BOUND[0] * np.maximum(1.0, np.abs(x))
        x = np.where(np.abs(x - self.up) <= near, self.up, np.where(np.abs(x + self.down) <= near, -self.down, x))
        np.maximum(self.high, np.minimum(x, self.up), out=self.high)
        np.minimum(self.low, np.maximum(x, -self.down), out=self.low)

    def _rays(self) -> None:
        """Find the cells that go to infinity: directions d with A d = 0 that no finite bound stops."""
        endless = ~np.isfinite(self.up), ~np.isfinite(self.down)
        if not (endless[0].any() or endless[1].any()):
            return
        m, zeros = self.A.shape[0], np.zeros(self.A.shape[0])
        if not endless[1].any():
            # rays only go upwards, so they add up: one programme, max sum t with t <= d and t <= 1, finds all of them
            free = np.flatnonzero(endless[0])
            k = len(free)
            A = sparse.block_array(
                [[self.A[:, free], sparse.csr_array((m, k))], [sparse.eye_array(k), -sparse.eye_array(k)]], format="csr"
            )
            ends = np.concatenate((zeros, np.full(k, np.inf)))
            top = np.repeat([np.inf, 1.0], k)
            cost = np.repeat([0.0, 1.0], k)
            lp = LinearProgram(A, np.zeros(m + k), ends, np.zeros(2 * k), top, cost, maximise=True)
            solution = lp.solve()
            self.work += max(1, solution.iterations)
            self.high[free[solution.x[:k] > RAY]] = np.inf
            return
        lower, upper = np.where(endless[1], -1.0, 0.0), np.where(endless[0], 1.0, 0.0)
        lp = LinearProgram(self.A, zeros, zeros, lower, upper, self._none, maximise=True, tolerance=LP_FEASIBILITY)
        for side, reached in ((1, self.high), (-1, self.low)):
            for target in self.targets[endless[side < 0][self.targets]].tolist():
                if not np.isinf(reached[target]):
                    lp.set_costs([target], [float(side)])
                    d = lp.solve().x
                    lp.set_costs([target], [0.0])
                    self.high[d > RAY] = np.inf
                    self.low[d < -RAY] = -np.inf
