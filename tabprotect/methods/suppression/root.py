"""The linear relaxation of one core: capacity cuts, bridges and zero-half cuts, added until the bound stands still."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.suppression.cuts import bridges
from tabprotect.methods.suppression.presolve import Core
from tabprotect.methods.suppression.separation import Found, Separation
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.rows import RowPool
from tabprotect.solver.zerohalf import zero_half

__all__ = ["Relaxation"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

VIOLATION = 1e-4
"""A row is violated when its slack is below minus this (right-hand sides are 1)."""

PROGRESS = 3e-4
"""A round that lifts the bound by less than this share has stalled; after three stalls the phase ends."""

LOOSE = 0.3
"""Rows with more slack than this leave the linear programme (the pool keeps them)."""

ROUND_CUTS = 400
"""A round of separation ends after so many cuts, and the next one goes on where it ended."""

ZERO_HALF_COLUMNS = 6000
"""Beyond this many cells the dense tables of the zero-half search do not pay."""


class Relaxation:
    """Bound one core from below.

    Parameters
    ----------
    core : Core
    targets : ndarray of int
        The targets that the cells hidden anyway do not protect.
    budget : Budget

    Attributes
    ----------
    bound : float
        The best bound proven by a solved programme.
    x, reduced : ndarray
        Solution and reduced costs of the last programme.
    pool : RowPool
        Every row found, whether in the programme or not.
    """

    def __init__(self, core: Core, targets: Ints, budget: Budget) -> None:
        self.core = core
        self.targets = targets
        self.budget = budget
        self.separation = Separation(core, budget)
        self.pool = RowPool(core.n)
        found = bridges(core)
        self.pool.add([row for row, _ in found], [origin for _, origin in found])
        self._lp = LinearProgram(
            sparse.csr_array((0, core.n)), [], [], core.hidden.astype(np.float64), np.ones(core.n), core.weight,
            method="dual",
        )  # fmt: skip
        self._active: list[int] = []
        self._turn = 0
        self.bound = 0.0
        self.x: Floats = core.hidden.astype(np.float64)
        self.reduced: Floats = core.weight.copy()

    def use(self, budget: Budget) -> None:
        """Spend from this budget from now on."""
        self.budget = self.separation.budget = self.separation.attacks.budget = budget

    def add(self, found: Sequence[Found]) -> None:
        """Put rows into the pool and the violated ones into the programme."""
        new = self.pool.add([f.row for f in found], [f.origin for f in found])
        self.activate([k for k in new if self.pool.rows[k].slack(self.x) < -VIOLATION])

    def solve(self) -> bool:
        """Solve the present programme; False when a limit ended that."""
        left, seconds = self.budget.work_left, self.budget.seconds_left
        solution = self._lp.solve(
            max_iterations=None if math.isinf(left) else int(left), max_seconds=None if math.isinf(seconds) else seconds
        )
        self.budget.spend(solution.iterations + 1)
        if solution.status != "optimal":
            return False
        self.x, self.reduced = np.clip(solution.x, 0.0, 1.0), solution.reduced
        self.bound = max(self.bound, solution.objective)
        return True

    def activate(self, rows: list[int]) -> None:
        """Put rows of the pool into the programme."""
        if rows:
            self._lp.add_rows(self.pool.matrix[rows], self.pool.rhs[rows], np.full(len(rows), np.inf))
            self._active += rows

    def purge(self) -> None:
        """Take loose rows out of the programme."""
        slack = self.pool.slack(self.x)[self._active] if self._active else np.zeros(0)
        loose = np.flatnonzero(slack > LOOSE)
        if len(loose):
            self._lp.delete_rows(loose)
            drop = set(loose.tolist())
            self._active = [row for k, row in enumerate(self._active) if k not in drop]

    def violated(self) -> list[int]:
        """Rows of the pool that the present solution violates, worst first."""
        slack = self.pool.slack(self.x)
        slack[self._active] = 0.0
        bad = np.flatnonzero(slack < -VIOLATION)
        return [int(k) for k in bad[np.argsort(slack[bad], kind="stable")][:ROUND_CUTS]]

    def separate(self, point: Floats, *, rounds: int = 1) -> list[int]:
        """Add capacity cuts that a point violates to the pool; return those that the present solution violates."""
        rows, origins = [], []
        turn = np.roll(self.targets, -self._turn)
        for done, t in enumerate(turn.tolist(), start=1):
            found = self.separation.cut(t, point, 1.0, rounds)
            if found is not None:
                rows.append(found.row)
                origins.append(found.origin)
            if len(rows) >= ROUND_CUTS or self.budget.exhausted:
                self._turn = (self._turn + done) % max(1, len(self.targets))
                break
        new = self.pool.add(rows, origins)
        return [k for k in new if self.pool.rows[k].slack(self.x) < -VIOLATION]

    def halves(self) -> list[int]:
        """Add zero-half cuts over the integer rows of the pool."""
        if self.core.n > ZERO_HALF_COLUMNS:
            return []
        matrix = self.pool.matrix.copy()
        # rounding coefficients up keeps a row valid (x >= 0) and makes it integral
        matrix.data = np.ceil(matrix.data - 1e-9)
        cuts = zero_half(matrix, self.pool.rhs, self.x)
        return self.pool.add([cut.row for cut in cuts], cuts)

    def run(self, center: Floats, goal: float = math.inf) -> None:
        """Add cuts until the bound stands still, reaches `goal`, or the budget ends.

        First at points half-way to `center` (in-out separation), then at the solution itself, then with zero-half cuts.
        """
        for phase in ("in-out", "exact", "zero-half"):
            self._phase(phase, center, goal)
            if self.bound >= goal or self.budget.exhausted:
                return

    def _phase(self, phase: str, center: Floats, goal: float) -> None:
        stalls, rounds = 0, 0
        last = self.bound
        patience = 6 if phase == "zero-half" else 3
        while stalls < patience and not self.budget.exhausted:
            rows = self.violated()
            if phase == "zero-half":
                rows += self.halves()
            if phase == "in-out":
                rows += self.separate(np.maximum(0.5 * (self.x + center), 1e-3))
            else:
                rows += self.separate(np.maximum(self.x, 1e-3))
            rows = list(dict.fromkeys(rows))
            if not rows and phase != "in-out":
                return
            self.activate(rows)
            if not self.solve():
                return
            self.budget.report("root", bound=self.bound)
            rounds += 1
            if rounds % 5 == 0 or phase == "zero-half":
                self.purge()
            stalls = stalls + 1 if self.bound - last <= PROGRESS * abs(last) or not rows else 0
            last = self.bound
            if self.bound >= goal:
                return
