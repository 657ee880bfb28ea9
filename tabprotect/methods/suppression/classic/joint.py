"""One linear programme for many sensitive cells at once: quick, safe, and dearer than the other methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.attackers import unit_of
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.options.classic import JointOptions
from tabprotect.methods.suppression.postsolve.completion import complete
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.tolerances import LP_FEASIBILITY, MULTIPLIER

__all__ = ["extend", "joint"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def joint(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    start: Bools | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Protect all cells by few linear programmes, each of which moves as many of them as it can at the least cost.

    Parameters
    ----------
    problem : Problem
    limits : Limits or Budget, optional
    seed : int
        Of the directions in which the cells are moved together after the first two programmes (all up, all down).
    progress : callable, optional
    start : ndarray of bool, shape (cells,), optional
        Cells hidden to begin with; they cost nothing.
    options : Options

    Returns
    -------
    SuppressionResult
        Judged on the whole problem; without a bound.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> result = joint(p)
    >>> result.suppressed.tolist(), result.cost, result.safe
    ([1, 3], 5.0, True)
    """
    budget = Budget.of(limits, progress)
    with cancel_on_interrupt(budget):
        judge = Witnesses(problem)
        pattern = problem.must_hide if start is None else problem.must_hide | start
        pattern = extend(judge, pattern, budget, np.random.default_rng(seed), options.classic.joint)
        return complete(problem, pattern, budget, "joint", witnesses=judge.deviations(pattern), options=options)


def extend(
    judge: Witnesses,
    pattern: Bools,
    budget: Budget,
    rng: np.random.Generator,
    options: JointOptions = DEFAULTS.classic.joint,
) -> Bools:
    """Hide more cells until the programmes answer what they can of the public's one-sided questions.

    min sum_i c_i |z_i| + M sum_q u_q  subject to  A z = 0,  -LB <= z <= UB,  s_q z_q + u_q >= L_q  for all questions q
    that are open, each cell on one side (s_q) at a time. What has u_q = 0 is answered.
    """
    problem, q = judge.problem, judge.questions
    pattern = pattern.copy()
    programme = _Programme(judge, options)
    idle = 0
    for number in range(options.rounds):
        answered = judge.sweep(pattern, budget)
        open_ = np.flatnonzero(~answered & (q.side != 0))
        if not len(open_) or idle == 2 or budget.exhausted:
            break
        wanted = np.full(problem.n_cells, 1 - 2 * number) if number < 2 else rng.choice([1, -1], problem.n_cells)
        first = np.argsort(q.side[open_] != wanted[q.cell[open_]], kind="stable")
        targets = open_[first][np.unique(q.cell[open_[first]], return_index=True)[1]]
        deviation = programme.solve(targets, np.where(pattern, 0.0, problem.weights), budget)
        if deviation is None:
            break
        new = judge.offer(deviation)
        opposite = judge.offer(Deviation(deviation.cells, -deviation.z))
        idle = 0 if len(new) or len(opposite) else idle + 1
        if len(new) or len(opposite):
            pattern[deviation.cells] = True
        budget.report("joint", message=f"{len(open_)} levels were open")
    return pattern


class _Programme:
    """Columns z+ and z- of every cell, and u of every question."""

    def __init__(self, judge: Witnesses, options: JointOptions) -> None:
        self._options = options
        problem, q = judge.problem, judge.questions
        self._judge, self._n, self._k = judge, problem.n_cells, len(q.cell)
        n, k = self._n, self._k
        self._unit = unit_of(float(np.median(q.need))) if k else 1.0
        up = np.where(problem.may_hide, problem.up, 0.0) / self._unit
        down = np.where(problem.may_hide, problem.down, 0.0) / self._unit
        A = problem.system.A
        side = np.where(q.side == 0, 1, q.side).astype(np.float64)
        rows = np.arange(k)
        S = sparse.csr_array((side, (rows, q.cell)), shape=(k, n))
        none = sparse.csr_array((A.shape[0], k))
        matrix = sparse.vstack((sparse.hstack((A, -A, none)), sparse.hstack((S, -S, sparse.eye_array(k)))))
        self._rows = A.shape[0]
        self._lp = LinearProgram(
            matrix,
            np.concatenate((np.zeros(A.shape[0]), np.full(k, -np.inf))),
            np.concatenate((np.zeros(A.shape[0]), np.full(k, np.inf))),
            np.zeros(2 * n + k),
            np.concatenate((up, down, np.full(k, np.inf))),
            np.zeros(2 * n + k),
            method="ipm" if n > self._options.interior_point_cells else "dual",
            presolve=n > self._options.interior_point_cells,
            tolerance=LP_FEASIBILITY,
        )

    def solve(self, targets: Ints, cost: Floats, budget: Budget) -> Deviation | None:
        """Return the deviation that answers as many of the targets as one can, or None at a limit."""
        q, n, k = self._judge.questions, self._n, self._k
        lower = np.full(k, -np.inf)
        need = q.need[targets] / self._unit
        lower[targets] = need
        self._lp.set_row_bounds(self._rows + np.arange(k), lower, np.full(k, np.inf))
        mean = float(cost[cost > 0].mean()) if (cost > 0).any() else 1.0
        price = cost / mean
        missed = np.zeros(k)
        missed[targets] = self._options.missed_price
        z = np.zeros(n)
        for _ in range(1 + self._options.reweighted):
            self._lp.set_costs(np.arange(2 * n + k), np.concatenate((price, price, missed)))
            seconds = budget.seconds_left
            solution = self._lp.solve(
                max_iterations=None if np.isinf(budget.work_left) else int(budget.work_left),
                max_seconds=None if np.isinf(seconds) else seconds,
            )
            budget.spend(max(1, solution.iterations))
            if solution.status != "optimal":
                break
            z = solution.x[:n] - solution.x[n : 2 * n]
            moved = np.abs(z) > MULTIPLIER
            if not moved.any():
                break
            typical = float(np.median(np.abs(z[moved])))
            price = cost / mean * typical / (np.abs(z) + 0.1 * typical)
        cells = np.flatnonzero(np.abs(z) > MULTIPLIER)
        return Deviation(cells, z[cells] * self._unit) if len(cells) else None
