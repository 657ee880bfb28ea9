"""Branch and cut on one core: the best safe choice and the best bound, at every moment.

The integer programme over the rows found so far is solved by a MIP solver (its own cuts and heuristics at work), the
intruder is played at its solutions, what he finds becomes new rows, and again: a multi-tree search. Every optimum of a
pool is a lower bound, since the rows hold for every protected pattern of minimal cost.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import deepcopy

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Exposure, Witnesses
from tabprotect.methods.suppression.beginning import begin
from tabprotect.methods.suppression.cleanup import Cleaner, clean
from tabprotect.methods.suppression.construct import Constructor
from tabprotect.methods.suppression.costs import next_cost, unit_of_costs
from tabprotect.methods.suppression.incumbents import Improver
from tabprotect.methods.suppression.one_tree import CELLS, one_tree
from tabprotect.methods.suppression.parts import Part
from tabprotect.methods.suppression.pools import POOL_SHARE, Pools, violated_rows
from tabprotect.methods.suppression.presolve import Core
from tabprotect.methods.suppression.root import Relaxation
from tabprotect.methods.suppression.separation import Found
from tabprotect.methods.suppression.snapshot import Rows, Snapshot
from tabprotect.methods.suppression.ways import Ways
from tabprotect.solver.limits import Budget
from tabprotect.solver.pool_milp import PoolSolver
from tabprotect.solver.sides import meter
from tabprotect.solver.tolerances import OPTIMAL

__all__ = ["Search"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

VAIN = 0.3
"""Choices of pools are completed as long as no more than this share of what was spent went into it in vain."""

IDLE_TRIALS = 3
"""So many trials in vain around the first choice of a small core, and its tree begins."""

MANY = 3000
"""With more targets than this, those of attackers with known cells are separated only after an exposure."""


class Search:
    """One core of a reduced problem.

    Attributes
    ----------
    best : ndarray of bool or None
        The cheapest choice known that protects every target which can be protected.
    bound : float
        No such choice costs less.
    hopeless : frozenset of Key
        Questions that no choice answers, in cells of the core.
    ways : Ways
        What was spent on the bound, and what that brought.
    told : callable
        Called with the name of a stage after every better choice.
    """

    def __init__(self, core: Core, solver: PoolSolver, seed: int) -> None:
        self.core = core
        self.part = Part(core)
        self.judge = Witnesses(self.part.problem)
        self.constructor = Constructor(self.judge, dismiss=True)
        self.best: Bools | None = None
        self.bound = 0.0
        self.hopeless: frozenset[Key] = frozenset()
        self.relaxation: Relaxation | None = None
        self.improver: Improver | None = None
        self.cleaner: Cleaner | None = None
        self._cleaned = False
        self._bare: int | None = 0  # how much is exposed without any secondary, None if that was not asked
        self._pooled = 0  # rows known when the last pool was solved
        self._in_vain = 0.0  # spent on completing choices since that last helped
        self.told: Callable[[str], None] = lambda stage: None
        self._solver = solver
        self._pools = Pools(core, solver)
        self._seed = seed
        self.ways = Ways()
        self._unit = unit_of_costs(core.weight[~core.hidden])
        self._target = {
            Key(int(a), int(c), int(s)): t
            for t, (a, c, s) in enumerate(zip(core.targets.attacker, core.targets.cell, core.targets.side, strict=True))
        }

    @property
    def cost(self) -> float:
        """Weight of the best choice (inf without one)."""
        return math.inf if self.best is None else self.core.cost(self.best)

    @property
    def done(self) -> bool:
        """True when the best choice is proven to be optimal."""
        return self.bound >= self.cost - OPTIMAL * abs(self.cost)

    def start(self, budget: Budget, hint: Bools | None = None) -> None:
        """Find a first safe choice if there is none yet, and what cannot be protected.

        It contains `hint` but for what that hides in vain.
        """
        begin(self, budget, hint)
        if self.relaxation is not None and self.best is not None:
            self._equip(self.best)

    def _equip(self, best: Bools) -> None:
        """Make ready to look for choices cheaper than a safe one."""
        self.improver = Improver(
            self.part.problem, self.judge, self._seed, constructor=self.constructor, best=best, easy_first=True
        )

    def relax(self, bare: tuple[Exposure, ...] | None, budget: Budget) -> None:
        """State the relaxation for what is exposed where only cells hidden anyway are hidden; for all while unknown."""
        self._bare = None if bare is None else len(bare)
        self.relaxation = Relaxation(self.core, self._targets(bare), budget, self._tell)

    def _targets(self, bare: tuple[Exposure, ...] | None) -> Ints:
        asked = None if bare is None else {(e.key.cell, e.key.side) for e in bare}
        open_ = ((key, t) for key, t in self._target.items() if not self._is_hopeless(key))
        targets = [t for key, t in open_ if asked is None or (key.cell, key.side) in asked]
        if len(targets) > MANY:  # attackers take part when one of them finds something
            targets = [t for t in targets if self.core.targets.attacker[t] < 0]
        return np.array(targets, dtype=np.int64)

    def bare(self, budget: Budget) -> int:
        """Return how much is exposed where only cells hidden anyway are hidden; the relaxation keeps to that."""
        if self._bare is None and self.relaxation is not None:
            exposed = self.exposed(self.core.hidden, budget)
            self.relaxation.keep(self._targets(exposed))
            self._bare = len(exposed) if all(e.decided for e in exposed) else None
            return len(exposed)
        return self._bare or 0

    def forget(self) -> None:
        """Forget bound and rows: they were found before it was known that some questions have no answer."""
        self.bound, self.relaxation = 0.0, None
        self.ways, self._pools = Ways(), Pools(self.core, self._solver)

    def snapshot(self) -> Snapshot:
        """What is known so far, to go on from in another process or at another time."""
        rows = None
        if self.relaxation is not None:
            r = self.relaxation
            rows = Rows(r.pool, r.x, r.targets, r.bound, r.finished)
        return Snapshot(
            self.best,
            self.bound,
            self.hopeless,
            rows,
            self._cleaned,
            self._pools.gap,
            self._pools.needed,
            deepcopy(self.ways),
        )

    def restore(self, known: Snapshot, budget: Budget) -> None:
        """Go on from what is known, instead of `start`."""
        self.best, self.bound, self.hopeless = known.best, known.bound, known.hopeless
        self._pools.gap, self._pools.needed = known.gap, known.needed
        self.ways = deepcopy(known.ways)
        for key in sorted(known.hopeless):
            self.constructor.hopeless.add(key)
            self.judge.dismiss(key)
        if known.best is None or known.rows is None:
            return
        self.relaxation = Relaxation(self.core, known.rows.targets, budget, self._tell)
        self.relaxation.pool.join(known.rows.pool)
        self.relaxation.settle()
        if known.rows.finished:
            self.relaxation.finished = True
        self._cleaned = known.cleaned
        self._equip(known.best)

    def improve(self, budget: Budget) -> None:
        """Look for a cheaper safe choice: inside the first one, then near the relaxed solution."""
        if self.improver is None or self.relaxation is None or self.best is None or self.done:
            return
        if not self._cleaned:
            self.cleaner = cleaner = self.cleaner or Cleaner(self.judge, self.best, ignore=self.ignore)
            cleaner.least, before = self.bound, cleaner.tried
            self.take(cleaner.run(budget))
            self._cleaned = cleaner.finished
            if cleaner.tried == before and budget.exhausted:
                self.ways.patience["choice"] *= 2
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
        way = self._way()
        before, spent = (self.bound if way == "pool" else relaxation.bound), meter(budget)
        if way == "pool":
            whole = self.step(budget)
            now = self.bound
        else:
            whole = True
            self.bare(budget)
            relaxation.run(center, self.cost)
            self.raise_to(relaxation.bound)
            now = relaxation.bound
        # each way by its own bound: that of the relaxation may be behind for long, and still be the one that grows
        self.ways.record(way, (now - before) / max(1.0, self.bound), meter(budget) - spent, whole)

    def _way(self) -> str:
        """What is next to raise the bound: the 'root' or a 'pool'."""
        relaxation = self.relaxation
        return self.ways.next(self.bound, None if relaxation is None or relaxation.finished else relaxation.bound)

    @property
    def flows(self) -> bool:
        """True as long as pools are of use and none was cut short: their solutions are the best choices, too."""
        return self.ways.useful and self.ways.again == 0.0 and self._way() == "pool"

    @property
    def primed(self) -> bool:
        """True when rows came in since the last pool: what they bring shows in the next one."""
        return self.relaxation is not None and len(self.relaxation.pool) > self._pooled

    def slices(self, turn: str) -> float:
        """Return how many slices the next step towards a better 'bound' or 'choice' should get."""
        return self.ways.patience[self._way() if turn == "bound" else turn]

    def tidy(self, budget: Budget) -> None:
        """Take out of the first choice of a small core what it hides in vain, and look around while that helps."""
        if self.improver is None or self.core.n > CELLS or self.ways.useful:
            return
        idle = 0
        while idle < IDLE_TRIALS and not budget.exhausted and not self.done:
            before = self.cost
            self.improve(budget)
            idle = 0 if self.cost < before else idle + 1

    def tree(self, budget: Budget) -> None:
        """Search a small core in one tree, where a first pool was of no use."""
        if self.relaxation is None or self.done or self.core.n > CELLS or self.ways.useful:
            return
        result = one_tree(self, budget, self._seed)
        if result.bound is not None:
            self.raise_to(self.cost if result.status == "optimal" else result.bound)
        self.relaxation.settle()

    def step(self, budget: Budget) -> bool:
        """Solve one pool and learn from its solutions; False when it was cut short."""
        relaxation = self.relaxation
        if relaxation is None or self.done or budget.exhausted:
            return False
        relaxation.use(budget)
        if not relaxation.solve():
            return False
        begun = meter(budget)
        with budget.part(POOL_SHARE) as part:
            choices = self.pool(part)
            whole = not part.exhausted or (self.ways.useful and self._pools.solved)
        if whole:
            self._pools.narrow()
        if not self.done:
            self.learn(choices, whole, budget, 2 * meter(budget) - begun)
        return whole

    def learn(
        self,
        choices: tuple[Bools, ...],
        whole: bool,
        budget: Budget,
        until: float,
        first: tuple[Exposure, ...] | None = None,
    ) -> None:
        """Play the intruder at solutions of a pool, and bring the relaxation up to what that teaches.

        Solutions after the cheapest one have their turn `until` then; a safe cheapest one is the last. The cheapest may
        be completed already: `first` is what is exposed in it.
        """
        relaxation = self.relaxation
        assert relaxation is not None
        for k, choice in enumerate(choices):
            if budget.exhausted or (k and meter(budget) > until):
                break
            exposed = self.exposed(choice, budget) if k or first is None else first
            if not exposed:
                self.take(choice)
                if k == 0 and whole:
                    self._pools.gap = 0.0
                    break
                continue
            if budget.exhausted:  # a question that the limit left open would cut off what may be safe
                exposed = tuple(e for e in exposed if e.decided)
                if not exposed:
                    break
            relaxation.add(self.rows(choice, exposed))
            if k < 2 and (k or first is None) and self.core.cost(choice) < self.cost:
                self._try_repair(choice, budget)
        for _ in range(3):
            if budget.exhausted:
                break
            rows = relaxation.violated()
            if relaxation.finished or not self.ways.useful:
                rows += relaxation.halves()
            if relaxation.finished:
                rows += relaxation.separate(np.maximum(relaxation.x, 1e-3))
            if not rows:
                break
            relaxation.activate(list(dict.fromkeys(rows)))
            if not relaxation.solve():
                break
            relaxation.purge()
        self.raise_to(relaxation.bound)

    def pool(self, budget: Budget) -> tuple[Bools, ...]:
        """Solve one pool; return its choices, cheapest first."""
        assert self.relaxation is not None
        cutoff = self.cost - self._unit / 2 if self._unit else self.cost
        whole = self.ways.useful or not self.ways.pool.spent
        self._pooled = len(self.relaxation.pool)
        bound, choices = self._pools.solve(self.relaxation, cutoff, budget, whole=whole)
        self.raise_to(min(bound, self.cost))
        return choices

    def rows(self, choice: Bools, exposed: tuple[Exposure, ...]) -> list[Found]:
        """Rows that an unsafe choice violates: several for every exposure, and never none."""
        assert self.relaxation is not None
        return violated_rows(self.relaxation, choice, [self._target[e.key] for e in exposed])

    def repair(self, choice: Bools, budget: Budget) -> None:
        """Complete an unsafe choice to a safe one, cheaply."""
        price = np.where(choice, 0.0, self.core.weight)
        repaired = self.constructor.build(price, budget, start=choice)
        if repaired is not None and self.core.cost(repaired) < 1.2 * self.cost:
            self.offer(clean(self.judge, repaired, budget, ignore=self.ignore, least=self.bound), budget)

    def _try_repair(self, choice: Bools, budget: Budget) -> None:
        """Complete a choice unless too much was spent on that in vain."""
        if self._in_vain > VAIN * meter(budget):
            return
        before, cost = meter(budget), self.cost
        self.repair(choice, budget)
        self._in_vain = 0.0 if self.cost < cost else self._in_vain + meter(budget) - before

    def offer(self, choice: Bools, budget: Budget) -> None:
        """Keep a choice that is cheaper than the best, if the intruder finds nothing in it."""
        if self.core.cost(choice) < self.cost and not self.exposed(choice, budget):
            self.take(choice)

    def take(self, choice: Bools | None) -> None:
        """Keep a safe choice if it is cheaper than the best."""
        if choice is not None and self.core.cost(choice) < self.cost:
            self.best = choice.copy()
            if self.improver is not None:
                self.improver.learn(choice)
            self.told("better")

    def _tell(self, stage: str) -> None:
        """Tell the bound of the relaxation while it grows."""
        if self.relaxation is not None:
            self.raise_to(self.relaxation.bound)
        self.told(stage)

    def raise_to(self, bound: float) -> None:
        """Raise the bound; where all weights are multiples of a unit, so is every cost."""
        self.bound = max(self.bound, min(next_cost(bound, self._unit), self.cost))

    def exposed(self, choice: Bools, budget: Budget) -> tuple[Exposure, ...]:
        """What a choice leaves exposed, apart from what nothing protects."""
        return tuple(e for e in self.judge.check(choice, budget) if not self._is_hopeless(e.key))

    @property
    def ignore(self) -> Callable[[Key], bool] | None:
        """Tells which questions need no answer; None where all do."""
        return self._is_hopeless if self.hopeless else None

    def _is_hopeless(self, key: Key) -> bool:
        return key in self.hopeless or Key(-1, key.cell, key.side) in self.hopeless
