"""The linear relaxation of one core: capacity cuts, bridges, covers and zero-half cuts until the bound stands still."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.methods.suppression.bound.cuts import bridges, own_equations
from tabprotect.methods.suppression.bound.joint import add_covers, add_halves
from tabprotect.methods.suppression.bound.separation import Found, Separation
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.presolve.core import Core
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.mip.rows import RowPool
from tabprotect.solver.tolerances import CUT_VIOLATION, MULTIPLIER

__all__ = ["Relaxation"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Relaxation:
    """Bound one core from below.

    Parameters
    ----------
    core : Core
    targets : ndarray of int
        The targets that the cells hidden anyway do not protect.
    budget : Budget
    report : callable, optional
        Called with the name of a stage after every round.
    options : Options

    Attributes
    ----------
    bound : float
        The best bound proven by a solved programme.
    x, reduced : ndarray
        Solution and reduced costs of the last programme.
    certain : int
        How many of the targets single equations tell to be exposed.
    binding : ndarray of int
        Rows of the pool with a multiplier there.
    pool : RowPool
        Every row found, whether in the programme or not.
    """

    def __init__(
        self,
        core: Core,
        targets: Ints,
        budget: Budget,
        report: Callable[[str], None] = lambda stage: None,
        options: Options = DEFAULTS,
    ) -> None:
        self._options = options.relaxation
        # what is done one after the other, each until it stalls
        in_out = (("in-out", equations) for equations in options.separation.equations)
        self._stages = (("pool", 0), *in_out, ("exact", 0), ("zero-half", 0))
        self.core = core
        self.targets = targets
        self.report = report
        self._watched = set(targets.tolist())
        self.budget = budget
        self.separation = Separation(core, budget, options.separation)
        self.pool = RowPool(core.n)
        own, rhs, origins = own_equations(core, targets)
        self.certain = len(np.unique(origins.arrays[0]))
        for rows in ((own, rhs, origins), bridges(core)):
            self.pool.extend(*rows)
        self._lp = LinearProgram(
            sparse.csr_array((0, core.n)), [], [], core.hidden.astype(np.float64), np.ones(core.n), core.weight,
            method="dual",
        )  # fmt: skip
        self._active: list[int] = []
        self._unsolved = False  # rows came in that the present solution knows nothing of
        self._turn = 0
        self._stage = 0
        # rounds without effect; a round that a slice cut short counts for the targets that it looked at
        self._stalls = 0.0
        self._looked = 1.0
        self._rounds = 0
        self.finished = False
        self.bound = 0.0
        self.x: Floats = core.hidden.astype(np.float64)
        self.reduced: Floats = core.weight.copy()
        self.binding: Ints = np.zeros(0, np.int64)

    def use(self, budget: Budget) -> None:
        """Spend from this budget from now on."""
        self.budget = self.separation.budget = self.separation.attacks.budget = budget

    def watch(self, target: int) -> None:
        """Separate for one more target from now on."""
        if target not in self._watched:
            self._watched.add(target)
            self.targets = np.append(self.targets, target)

    def keep(self, targets: Ints) -> None:
        """Separate for these targets alone from now on."""
        self.targets = self.targets[np.isin(self.targets, targets)]
        self._watched = set(self.targets.tolist())

    def add(self, found: Sequence[Found]) -> None:
        """Put rows into the pool and the violated ones into the programme."""
        new = self.pool.add([f.row for f in found], [f.origin for f in found])
        self.activate(self._violated_of(new))

    def solve(self) -> bool:
        """Solve the present programme; False when a limit ended that."""
        left, seconds = self.budget.work_left, self.budget.seconds_left
        solution = self._lp.solve(
            max_iterations=None if math.isinf(left) else int(left), max_seconds=None if math.isinf(seconds) else seconds
        )
        self.budget.spend(solution.iterations + 1)
        if solution.status == "infeasible":
            raise SolverError("the rows of the relaxation contradict each other; this is a mistake in tabprotect")
        if solution.status != "optimal":
            return False
        self.x, self.reduced = np.clip(solution.x, 0.0, 1.0), solution.reduced
        self.binding = np.array(self._active, np.int64)[np.abs(solution.duals) > MULTIPLIER]
        self.bound = max(self.bound, solution.objective)
        self._unsolved = False
        return True

    def activate(self, rows: list[int]) -> None:
        """Put rows of the pool into the programme."""
        if rows:
            self._lp.add_rows(self.pool.matrix[rows], self.pool.rhs[rows], np.full(len(rows), np.inf))
            self._active += rows
            self._unsolved = True

    def settle(self) -> None:
        """Solve the programme over the rows of the pool, so that solution and bound are those of all rows known."""
        while rows := self.violated():
            self.activate(rows)
            if not self.solve():
                return
        if not self._active:
            self.solve()

    def purge(self) -> None:
        """Take loose rows out of the programme."""
        slack = self.pool.slack(self.x)[self._active] if self._active else np.zeros(0)
        loose = np.flatnonzero(slack > self._options.loose_slack)
        if len(loose):
            self._lp.delete_rows(loose)
            drop = set(loose.tolist())
            self._active = [row for k, row in enumerate(self._active) if k not in drop]

    def violated(self) -> list[int]:
        """Rows of the pool that the present solution violates, worst first."""
        slack = self.pool.slack(self.x)
        slack[self._active] = 0.0
        bad = np.flatnonzero(slack < -CUT_VIOLATION)
        return [int(k) for k in bad[np.argsort(slack[bad], kind="stable")][: self._options.round_cuts]]

    def _violated_of(self, rows: list[int]) -> list[int]:
        """Those of some rows of the pool that the present solution violates."""
        return [k for k, slack in zip(rows, self.pool.slack(self.x, rows), strict=True) if slack < -CUT_VIOLATION]

    def separate(self, point: Floats, *, radius: int = 0, rounds: int = 1) -> list[int]:
        """Add capacity cuts that a point violates to the pool; return those that the present solution violates."""
        rows, origins = [], []
        turn = np.roll(self.targets, -self._turn)
        seen: set[int] = set()
        self._looked = 1.0
        for done, t in enumerate(turn.tolist(), start=1):
            if t in seen:
                continue
            found = self.separation.cut(t, point, 1.0, rounds, radius)
            if found is not None:
                rows.append(found.row)
                origins.append(found.origin)
                other = self.separation.mirror(found, self.x)
                if other is not None and self.separation.opposite[t] in self._watched and other.slack < -CUT_VIOLATION:
                    rows.append(other.row)
                    origins.append(other.origin)
                    seen.add(self.separation.opposite[t])
            if len(rows) >= self._options.round_cuts or self.budget.exhausted:
                self._turn = (self._turn + done) % max(1, len(self.targets))
                self._looked = 1.0 if not self.budget.exhausted else done / len(turn)
                break
        return self._violated_of(self.pool.add(rows, origins))

    def covers(self) -> list[int]:
        """Add covers of single rows of the pool."""
        return add_covers(self.pool, self.x, self._options)

    def halves(self) -> list[int]:
        """Add zero-half cuts over the rows of the pool."""
        return add_halves(self.pool, self.x, self.budget, self._options)

    def run(self, center: Floats, goal: float = math.inf, *, known: bool = False) -> None:
        """Go on adding cuts until the bound stands still, reaches `goal`, or the budget ends.

        First what is in the pool; then attacks that see few equations and more and more of them, at points half-way to
        `center` (in-out separation); then at the solution itself, at last with zero-half cuts. All stages but the first
        add covers, too. With `known` only what is in the pool.
        """
        while not self.finished and self.bound < goal and not self.budget.exhausted:
            if known and self._stage:
                return
            kind, radius = self._stages[self._stage]
            if self._round(kind, radius, center):
                self._stage += 1
                self._stalls = 0.0
                self.finished = self._stage == len(self._stages)

    def _round(self, kind: str, radius: int, center: Floats) -> bool:
        """Make one round of a stage; return whether the stage is over."""
        last = self.bound
        if self._unsolved and not self.solve():
            return not self.budget.exhausted
        if kind != "pool":
            self.covers()
        rows = self.violated()
        self._looked = 1.0
        if not rows:
            if kind == "zero-half":
                rows += self.halves()
            point = self.x if kind != "in-out" else 0.5 * (self.x + center)
            rows += self.separate(np.maximum(point, 0.0), radius=radius) if kind != "pool" else []
            if not rows and kind != "in-out":
                self._stalls += self._options.stalls * self._looked
                return self._stalls >= self._options.stalls
        self.activate(list(dict.fromkeys(rows)))
        if not self.solve():
            return not self.budget.exhausted
        self._rounds += 1
        if self._rounds % 5 == 0 or kind in ("pool", "zero-half"):
            self.purge()
        self.report(f"root {kind} {radius}")
        if self.bound - last > self._options.progress * abs(last) and rows:
            self._stalls = 0.0
        else:
            self._stalls += self._looked
        return self._stalls >= self._options.stalls
