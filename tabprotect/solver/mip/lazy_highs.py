"""Branch and cut on HiGHS alone, which calls nobody back with a solution: one integer programme after the other."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.lazy import Oracle, Programme
from tabprotect.solver.mip.milp import MilpAnswer, solve_milp
from tabprotect.solver.mip.rows import Row

__all__ = ["solve"]

Floats = npt.NDArray[np.float64]
Answer = tuple[Floats | None, float | None, bool]

STALLED = 5
"""Rounds of the relaxation without progress after which integer programmes take over."""

PROGRESS = 1e-4
"""Share by which the bound of the relaxation must rise to count as progress."""


def solve(
    programme: Programme,
    oracle: Oracle,
    budget: Budget,
    seed: int,
    heuristic: Callable[[Floats], Floats | None] | None,
) -> Answer:
    """Return the best solution, the bound, and whether the search came to its end."""
    rounds = _Rounds(programme, oracle, budget, seed, heuristic)
    rounds.relax()
    return rounds.integer()


class _Rounds:
    def __init__(
        self,
        programme: Programme,
        oracle: Oracle,
        budget: Budget,
        seed: int,
        heuristic: Callable[[Floats], Floats | None] | None,
    ) -> None:
        self.programme, self.oracle, self.budget = programme, oracle, budget
        self.seed, self.heuristic = seed, heuristic
        self.best: Floats | None = None
        self.bound: float | None = None

    @property
    def cost(self) -> float:
        return math.inf if self.best is None else float(self.programme.cost @ self.best)

    @property
    def close(self) -> bool:
        """True when the gap that was asked for is reached."""
        if self.best is None or self.bound is None:
            return False
        return self.cost - self.bound <= max(self.budget.limits.gap, 1e-9) * abs(self.cost)

    def relax(self) -> None:
        """Cut off points of the linear relaxation until that stalls."""
        stalled = 0
        nothing = np.zeros(self.programme.n, bool)
        while stalled < STALLED and not self._ended:
            answer = self._solve(nothing)
            if answer.status != "optimal" or answer.x is None or answer.objective is None:
                return
            if self.bound is None or answer.objective > self.bound + PROGRESS * abs(answer.objective):
                stalled = 0
            else:
                stalled += 1
            self._lift(answer.objective)
            self._try(answer.x)
            if not self._new(self.oracle.cuts(answer.x, False), answer.x):
                return

    def integer(self) -> Answer:
        """Solve integer programmes until the separator finds nothing in the optimum."""
        while not self._ended:
            answer = self._solve(self.programme.integer)
            if answer.status == "infeasible":
                if self.best is not None:
                    raise SolverError("rows of the separator cut off a solution that it passes; its rows are wrong")
                return None, None, True
            if answer.bound is not None:
                self._lift(answer.bound)
            if answer.x is None:
                break
            x = self.programme.rounded(answer.x)
            if x is None or not self.programme.satisfied(x):
                break
            if self.oracle.passes(x):
                self._take(x)
                if answer.status == "optimal":
                    return self.best, self.bound, self.budget.limits.gap == 0
            elif answer.status != "optimal":
                break
            self._try(answer.x)
            if self.close:
                return self.best, self.bound, self.budget.limits.gap == 0
        return self.best, self.bound, False

    @property
    def _ended(self) -> bool:
        return self.budget.exhausted or self.oracle.error is not None

    def _solve(self, integer: npt.NDArray[np.bool_]) -> MilpAnswer:
        p, rows = self.programme, list(self.oracle.rows.values())
        A, low = _stacked(p, rows)
        high = np.concatenate([p.row_upper, np.full(len(rows), np.inf)])
        return solve_milp(
            A,
            low,
            high,
            p.lower,
            p.upper,
            p.cost,
            integer,
            start=self.best,
            budget=self.budget,
            gap=self.budget.limits.gap,
            seed=self.seed,
        )

    def _new(self, rows: list[Row], x: Floats) -> bool:
        """Tell whether any row cuts the point off (all are stored already)."""
        return any(row.slack(x) < 0 for row in rows)

    def _try(self, x: Floats) -> None:
        found = None if self.heuristic is None else self.heuristic(x.copy())
        if found is not None:
            self._take(np.asarray(found, np.float64))

    def _take(self, x: Floats) -> None:
        whole = self.programme.rounded(x)
        if whole is None or float(self.programme.cost @ whole) >= self.cost:
            return
        if self.programme.satisfied(whole) and self.oracle.passes(whole):
            self.best = whole
            self.budget.report("tree", self.cost, self.bound)

    def _lift(self, bound: float) -> None:
        if math.isfinite(bound) and (self.bound is None or bound > self.bound):
            self.bound = bound
            self.budget.report("tree", None if self.best is None else self.cost, bound)


def _stacked(p: Programme, rows: list[Row]) -> tuple[sparse.csr_array, Floats]:
    if not rows:
        return p.A, p.row_lower
    index = np.concatenate([row.index for row in rows])
    values = np.concatenate([row.values for row in rows])
    indptr = np.concatenate([[0], np.cumsum([len(row.index) for row in rows])])
    more = sparse.csr_array((values, index, indptr), shape=(len(rows), p.n))
    return sparse.csr_array(sparse.vstack([p.A, more])), np.concatenate([p.row_lower, [row.rhs for row in rows]])
