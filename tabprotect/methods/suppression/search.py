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
from tabprotect.methods.suppression.cleanup import Cleaner, clean
from tabprotect.methods.suppression.construct import Constructor
from tabprotect.methods.suppression.costs import next_cost, unit_of_costs
from tabprotect.methods.suppression.incumbents import Improver
from tabprotect.methods.suppression.one_tree import CELLS, one_tree
from tabprotect.methods.suppression.parts import Part
from tabprotect.methods.suppression.pools import Pools, violated_rows
from tabprotect.methods.suppression.presolve import Core
from tabprotect.methods.suppression.root import Relaxation
from tabprotect.methods.suppression.separation import Found
from tabprotect.methods.suppression.snapshot import Rows, Snapshot
from tabprotect.methods.suppression.ways import Ways
from tabprotect.solver.limits import Budget
from tabprotect.solver.pool_milp import PoolSolver
from tabprotect.solver.sides import meter, meter_left
from tabprotect.solver.tolerances import OPTIMAL

__all__ = ["Search"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

POOL_SHARE = 0.8
"""Share of these for the integer programme; the rest is for attacks at what it found."""

BUILD_SHARE = 0.05
"""Share of the limit for a first choice made of cheapest witnesses where hiding everything is safe."""

FIRST_SHARE, FIRST = (0.02, 0.1), 4.0
"""A first pool gets so many times of what was spent before it, within these shares of the limit."""

LEARN_SHARE = 0.25
"""Share of the limit for completing the solutions of a first pool that is of use, and for rows at them."""

USELESS = 0.5
"""A pool is of no use when its solution leaves more than this share of the primaries exposed that nothing protected."""

BULK_SHARE = 0.7
"""Share of the limit for taking out in bulk where that took too long."""

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
        """Find a first safe choice, containing `hint` but for what is hidden in vain, and what cannot be protected."""
        bare = self.exposed(self.core.hidden, budget)
        if not bare:
            self.best = self.core.hidden.copy()
            return
        everything = np.ones(self.core.n, dtype=bool)
        if not self.core.attackers and not self.judge.check(everything, budget):
            self.best = everything
        if self.best is not None and hint is None and not self._endless(budget):
            self._first(bare, budget)
        if self.best is None or (self.best is everything and not _cancelled(budget)):
            self._build(budget, hint)
        if self.best is None or _cancelled(budget):
            return
        if self.relaxation is None:
            self._first(bare, budget)
        self.cleaner = Cleaner(self.judge, self.best, ignore=self._ignore)
        self.improver = Improver(
            self.part.problem, self.judge, self._seed, constructor=self.constructor, best=self.best, easy_first=True
        )

    def _first(self, bare: tuple[Exposure, ...], budget: Budget) -> None:
        """Complete the solutions of a first pool to safe choices.

        Where they leave most of what is `bare` exposed, pools without many more rows are of no use.
        """
        self._relax(bare, budget)
        relaxation, before, left = self.relaxation, meter(budget), meter_left(budget)
        assert relaxation is not None
        share = 1.0 if math.isinf(left) else float(np.clip(FIRST * before / max(left, 1e-9), *FIRST_SHARE))
        with budget.part(share) as part:
            relaxation.use(part)
            relaxation.run(self.core.hidden.astype(np.float64), known=True)
            self._lift(relaxation.bound)
            root, begun = self.bound, meter(part)
            with part.part(POOL_SHARE) as solving:
                choices = self._pool(solving)
                whole = not solving.exhausted
            exposed = self.exposed(choices[0], part) if choices else ()
            self.ways.useful = bool(choices) and len(exposed) <= USELESS * len(bare)
            spent = meter(part) - begun
            if not self.ways.useful:
                self.ways.wait(math.inf if choices else spent)
        if self.ways.useful:
            with budget.part(LEARN_SHARE) as part:
                relaxation.use(part)
                if not all(e.decided for e in exposed):
                    exposed = self.exposed(choices[0], part)
                self._learn(choices, whole, part, meter(part) - spent, exposed)
        self.ways.first((self.bound - root) / max(1.0, self.bound), meter(budget) - before)

    def _build(self, budget: Budget, hint: Bools | None) -> None:
        """Make a choice of cheapest witnesses; if that takes too long, of everything, taking out in bulk.

        In bulk first where there is no limit: who stops such a search shall not be left with everything.
        """
        endless = self._endless(budget)
        if endless:
            self._bulk(budget)
        with budget.part(BUILD_SHARE if self.best is not None else 1.0) as part:
            choice = self.constructor.build(self.core.weight, part, start=hint)
        self.hopeless = frozenset(self.constructor.hopeless)
        if choice is not None:
            self._offer(choice, budget)
        elif not endless:
            self._bulk(budget)

    def _endless(self, budget: Budget) -> bool:
        """Whether a large core is searched without a limit, so that nothing may take long before there is a choice."""
        return math.isinf(meter_left(budget)) and self.core.n > CELLS

    def _bulk(self, budget: Budget) -> None:
        """Take out of the best choice in bulk."""
        if self.best is not None:
            cleaner = Cleaner(self.judge, self.best)
            with budget.part(BULK_SHARE) as part:
                cleaner.bulk(part)
            self.best = cleaner.pattern.copy()

    def _relax(self, bare: tuple[Exposure, ...], budget: Budget) -> None:
        """State the relaxation for what is exposed where only cells hidden anyway are hidden."""
        asked = {(e.key.cell, e.key.side) for e in bare}
        targets = [t for key, t in self._target.items() if (key.cell, key.side) in asked and not self._is_hopeless(key)]
        if len(targets) > MANY:  # attackers take part when one of them finds something
            targets = [t for t in targets if self.core.targets.attacker[t] < 0]
        self.relaxation = Relaxation(self.core, np.array(targets, dtype=np.int64), budget)

    def snapshot(self) -> Snapshot:
        """What is known so far, to go on from in another process or at another time."""
        rows = None
        if self.relaxation is not None:
            r = self.relaxation
            rows = Rows(r.pool, r.x, r.targets, r.bound, r.finished)
        cleaned = self.cleaner is not None and self.cleaner.finished
        return Snapshot(
            self.best,
            self.bound,
            self.hopeless,
            rows,
            cleaned,
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
        self.cleaner = Cleaner(self.judge, known.best, ignore=self._ignore)
        self.cleaner.finished = known.cleaned
        self.relaxation = Relaxation(self.core, known.rows.targets, budget)
        self.relaxation.pool.join(known.rows.pool)
        self.relaxation.settle()
        if known.rows.finished:
            self.relaxation.finished = True
        self.improver = Improver(
            self.part.problem, self.judge, self._seed, constructor=self.constructor, best=self.best, easy_first=True
        )

    def improve(self, budget: Budget) -> None:
        """Look for a cheaper safe choice: inside the first one, then near the relaxed solution."""
        if self.improver is None or self.relaxation is None or self.cleaner is None or self.done:
            return
        if not self.cleaner.finished:
            before = self.cleaner.tried
            self.take(self.cleaner.run(budget))
            if self.cleaner.tried == before and budget.exhausted:
                self.ways.patience["choice"] *= 2
            return
        guide = self.relaxation.x if self.relaxation.bound > 0 else None
        self.take(self.improver.step(budget, guide))

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
        self._lift(relaxation.bound)
        if budget.exhausted:
            return
        way = self._way()
        before, spent = (self.bound if way == "pool" else relaxation.bound), meter(budget)
        if way == "pool":
            whole = self.step(budget)
            now = self.bound
        else:
            whole = True
            relaxation.run(center, self.cost)
            self._lift(relaxation.bound)
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

    def slices(self, turn: str) -> float:
        """Return how many slices the next step towards a better 'bound' or 'choice' should get."""
        return self.ways.patience[self._way() if turn == "bound" else turn]

    def tidy(self, budget: Budget, told: Callable[[], None]) -> None:
        """Take out of the first choice of a small core what it hides in vain, and look around while that helps."""
        if self.improver is None or self.core.n > CELLS or self.ways.useful:
            return
        idle = 0
        while idle < IDLE_TRIALS and not budget.exhausted and not self.done:
            before = self.cost
            self.improve(budget)
            idle = 0 if self.cost < before else idle + 1
            told()

    def tree(self, budget: Budget, told: Callable[[], None]) -> None:
        """Search a small core in one tree, `told` of every cheaper choice, where a first pool was of no use."""
        if self.relaxation is None or self.done or self.core.n > CELLS or self.ways.useful:
            return
        result = one_tree(self, budget, self._seed, told)
        if result.bound is not None:
            self._lift(self.cost if result.status == "optimal" else result.bound)
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
            choices = self._pool(part)
            whole = not part.exhausted or (self.ways.useful and self._pools.solved)
        if whole:
            self._pools.narrow()
        self._learn(choices, whole, budget, begun)
        return whole

    def _learn(
        self,
        choices: tuple[Bools, ...],
        whole: bool,
        budget: Budget,
        begun: float,
        first: tuple[Exposure, ...] | None = None,
    ) -> None:
        """Play the intruder at solutions of a pool, and bring the relaxation up to what that teaches.

        Solutions after the cheapest one have their turn until this took as long as solving the pool, which was `begun`
        then; a safe cheapest one is the last. What is exposed in the cheapest may be known as `first`.
        """
        relaxation = self.relaxation
        after = 2 * meter(budget) - begun
        assert relaxation is not None
        for k, choice in enumerate(choices):
            if budget.exhausted or (k and meter(budget) > after):
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
            early = k == 0 and first is not None  # there is no good choice yet
            if early:
                self._repair(choice, budget)
            relaxation.add(self.rows(choice, exposed))
            if not early and k < 2 and self.core.cost(choice) < self.cost:
                self._repair(choice, budget)
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
        self._lift(relaxation.bound)

    def _pool(self, budget: Budget) -> tuple[Bools, ...]:
        """Solve one pool; return its choices, cheapest first."""
        assert self.relaxation is not None
        cutoff = self.cost - self._unit / 2 if self._unit else self.cost
        bound, choices = self._pools.solve(self.relaxation, cutoff, budget)
        self._lift(min(bound, self.cost))
        return choices

    def rows(self, choice: Bools, exposed: tuple[Exposure, ...]) -> list[Found]:
        """Rows that an unsafe choice violates: several for every exposure, and never none."""
        assert self.relaxation is not None
        return violated_rows(self.relaxation, choice, [self._target[e.key] for e in exposed])

    def _repair(self, choice: Bools, budget: Budget) -> None:
        """Complete an unsafe choice to a safe one, cheaply."""
        price = np.where(choice, 0.0, self.core.weight)
        repaired = self.constructor.build(price, budget, start=choice)
        if repaired is not None and self.core.cost(repaired) < 1.2 * self.cost:
            self._offer(clean(self.judge, repaired, budget, ignore=self._ignore), budget)

    def _offer(self, choice: Bools, budget: Budget) -> None:
        """Keep a choice that is cheaper than the best, if the intruder finds nothing in it."""
        if self.core.cost(choice) < self.cost and not self.exposed(choice, budget):
            self.take(choice)

    def take(self, choice: Bools | None) -> None:
        """Keep a safe choice if it is cheaper than the best."""
        if choice is not None and self.core.cost(choice) < self.cost:
            self.best = choice.copy()
            if self.improver is not None:
                self.improver.learn(choice)

    def _lift(self, bound: float) -> None:
        """Raise the bound; where all weights are multiples of a unit, so is every cost."""
        self.bound = max(self.bound, min(next_cost(bound, self._unit), self.cost))

    def exposed(self, choice: Bools, budget: Budget) -> tuple[Exposure, ...]:
        """What a choice leaves exposed, apart from what nothing protects."""
        return tuple(e for e in self.judge.check(choice, budget) if not self._is_hopeless(e.key))

    @property
    def _ignore(self) -> Callable[[Key], bool] | None:
        return self._is_hopeless if self.hopeless else None

    def _is_hopeless(self, key: Key) -> bool:
        return key in self.hopeless or Key(-1, key.cell, key.side) in self.hopeless


def _cancelled(budget: Budget) -> bool:
    return budget.exhausted and budget.cancelled
