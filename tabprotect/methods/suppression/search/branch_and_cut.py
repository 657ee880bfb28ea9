"""Branch and cut on one core: the best safe pattern and the best bound, at every moment.

The integer programme over the rows found so far is solved by a MIP solver (its own cuts and heuristics at work), the
intruder is played at its solutions, what he finds becomes new rows, and again: a multi-tree search. Every optimum of a
pool is a lower bound, since the rows hold for every protected pattern of minimal cost.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.methods.suppression.search.initial import begin
from tabprotect.methods.suppression.search.state import State
from tabprotect.methods.suppression.start.cleanup import Cleaner
from tabprotect.solver.credit import meter
from tabprotect.solver.limits import Budget

__all__ = ["Search"]

Bools = npt.NDArray[np.bool_]


class Search(State):
    """One core of a reduced problem, and the steps that bring its incumbent and its bound together."""

    def start(self, budget: Budget, hint: Bools | None = None, *, cleaned: bool = False) -> None:
        """Find a first safe pattern if there is none yet, and what cannot be protected.

        It contains `hint` but for what that hides without need. If the hint is safe, and `cleaned` up already, that is
        not done again.
        """
        begin(self, budget, hint)
        if self.relaxation is not None and self.best is not None:
            self._equip(self.best)
        unchanged = hint is not None and self.best is not None and np.array_equal(self.best, hint)
        self.cleaned = cleaned and unchanged

    def improve(self, budget: Budget) -> None:
        """Look for a cheaper safe pattern: inside the first one, then near the relaxed solution."""
        if self.improver is None or self.relaxation is None or self.best is None or self.done:
            return
        if not self.cleaned:
            self.cleaner = cleaner = self.cleaner or Cleaner(
                self.judge, self.best, ignore=self.ignore, options=self.options.construction, cuts=self.cuts
            )
            cleaner.least, before = self.bound, cleaner.tried
            self.take(cleaner.run(budget))
            self.cleaned = cleaner.finished
            if cleaner.tried == before and budget.exhausted:
                self.credit.patience["incumbent"] *= 2
            return
        guide = self.relaxation.x if self.relaxation.bound > 0 else None
        self.take(self.improver.step(budget, guide, least=self.bound))

    def lift(self, budget: Budget) -> None:
        """Raise the bound: by the linear relaxation with cuts or by pools of cuts, whichever gained more lately.

        Where a pool is solved in a second, as in flat tables of three dimensions, attacks at its solutions find in one
        round what attacks at fractional ones do not find in a hundred; where it is not, the relaxation goes first, as
        long as it is not so far behind the pools that to catch up takes more than all that was spent. A pool that was
        cut short comes again when much more was spent.
        """
        relaxation = self.relaxation
        if relaxation is None or self.done:
            return
        relaxation.use(budget)
        center = self.core.hidden.astype(np.float64) if self.best is None else self.best.astype(np.float64)
        relaxation.run(center, self.cost, known=True)
        self.raise_to(relaxation.bound)
        if budget.exhausted:
            return
        operator = self._operator()
        before, spent = (self.bound if operator == "master" else relaxation.bound), meter(budget)
        if operator == "master":
            whole = self.step(budget)
            now = self.bound
        else:
            whole = True
            self.bare(budget)
            relaxation.run(center, self.cost)
            self.raise_to(relaxation.bound)
            now = relaxation.bound
        # each operator by its own bound: that of the relaxation may be behind for long, and still be the one that grows
        self.credit.record(operator, (now - before) / max(1.0, self.bound), meter(budget) - spent, whole)

    def _operator(self) -> str:
        """What is next to raise the bound: the 'relaxation' or the 'master'."""
        relaxation = self.relaxation
        return self.credit.next(self.bound, None if relaxation is None or relaxation.finished else relaxation.bound)

    @property
    def stays_with_master(self) -> bool:
        """True as long as pools are of use and none was cut short: their solutions are the best patterns, too."""
        return self.credit.useful and self.credit.again == 0.0 and self._operator() == "master"

    @property
    def primed(self) -> bool:
        """True when rows came in since the last pool: what they bring shows in the next one."""
        return self.relaxation is not None and len(self.relaxation.pool) > self._pooled

    def slices(self, side: str) -> float:
        """Return how many slices the next step towards a better 'bound' or 'incumbent' should get."""
        return self.credit.patience[self._operator() if side == "bound" else side]

    def clean_up(self, budget: Budget) -> None:
        """Clean up the first pattern of a small core, and look around while that helps."""
        if self.improver is None or self.core.n > self.options.schedule.small_cells or self.credit.useful:
            return
        idle = 0
        while idle < self.options.schedule.idle_trials and not budget.exhausted and not self.done:
            before = self.cost
            self.improve(budget)
            idle = 0 if self.cost < before else idle + 1

    @property
    def is_clean(self) -> bool:
        """True unless there is a first pattern that is not cleaned up yet."""
        return self.improver is None or self.best is None or self.cleaned

    @property
    def to_clean_up(self) -> bool:
        """True while the first pattern is not cleaned up, and costs far more than the bound.

        No proof is near there, and what is hidden without need is most of the gap that can be closed soon.
        """
        return not self.is_clean and self.cost - self.bound > self.options.schedule.far_gap * self.cost

    def step(self, budget: Budget) -> bool:
        """Solve one pool and learn from its solutions; False when it was cut short."""
        relaxation = self.relaxation
        if relaxation is None or self.done or budget.exhausted:
            return False
        relaxation.use(budget)
        if not relaxation.solve():
            return False
        begun = meter(budget)
        with budget.part(self.options.master.step_share) as part:
            patterns = self.pool(part)
            whole = not part.exhausted or (self.credit.useful and self._master.solved)
        if whole:
            self._master.narrow()
        if not self.done:
            self.learn(patterns, whole, budget, 2 * meter(budget) - begun)
        return whole
