"""What is known of one core: its incumbent, its bound, the rows found so far, and how all of these are learned."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from copy import deepcopy

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Exposure, Witnesses
from tabprotect.methods.suppression.bound.master import Master, violated_rows
from tabprotect.methods.suppression.bound.relaxation import Relaxation
from tabprotect.methods.suppression.bound.separation import Found
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.presolve.core import Core, next_cost, unit_of_costs
from tabprotect.methods.suppression.presolve.parts import Part
from tabprotect.methods.suppression.search.bound_credit import BoundCredit
from tabprotect.methods.suppression.search.improvement import Improver
from tabprotect.methods.suppression.search.snapshot import Rows, Snapshot
from tabprotect.methods.suppression.start.cleanup import Cleaner, Cut, clean
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.solver.credit import meter
from tabprotect.solver.gap import is_optimal
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.pool import PoolSolver

__all__ = ["State"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class State:
    """One core of a reduced problem.

    Attributes
    ----------
    options : Options
        Of all stages.
    best : ndarray of bool or None
        The cheapest pattern known that protects every target which can be protected.
    bound : float
        No such pattern costs less.
    unattainable : frozenset of Key
        Questions that no pattern answers, in cells of the core.
    cleaned : bool
        Whether it was tried to publish each secondary of a first pattern by itself.
    credit : BoundCredit
        What was spent on the bound, and what that brought.
    known : (csr_array, ndarray) or None
        Rows that hold, and their right-hand sides, found by an earlier search.
    report : callable
        Called with the name of a stage after every better pattern.
    """

    def __init__(self, core: Core, solver: PoolSolver, seed: int, options: Options = DEFAULTS) -> None:
        self.options = options
        self.core = core
        self.part = Part(core)
        self.judge = Witnesses(self.part.problem)
        self.constructor = Constructor(self.judge, dismiss=True, options=options.construction)
        self.best: Bools | None = None
        self.bound = 0.0
        self.unattainable: frozenset[Key] = frozenset()
        self.relaxation: Relaxation | None = None
        self.improver: Improver | None = None
        self.cleaner: Cleaner | None = None
        self.cuts: deque[Cut] = deque(maxlen=options.improvement.kept_cuts)
        self.cleaned = False
        self._bare: int | None = 0  # how much is exposed without any secondary, None if that was not asked
        self._pooled = 0  # rows known when the last pool was solved
        self._unrewarded = 0.0  # spent on completing patterns since that last helped
        self.report: Callable[[str], None] = lambda stage: None
        self._solver = solver
        self._master = Master(core, solver, options.master)
        self._seed = seed
        self.credit = BoundCredit(options.schedule)
        self.known: tuple[sparse.csr_array, Floats] | None = None
        self._unit = unit_of_costs(core.weight[~core.hidden])
        self._target = {
            Key(int(a), int(c), int(s)): t
            for t, (a, c, s) in enumerate(zip(core.targets.attacker, core.targets.cell, core.targets.side, strict=True))
        }

    @property
    def cost(self) -> float:
        """Weight of the best pattern (inf without one)."""
        return math.inf if self.best is None else self.core.cost(self.best)

    @property
    def done(self) -> bool:
        """True when the best pattern is proven to be optimal."""
        return is_optimal(self.cost, self.bound)

    def _equip(self, best: Bools) -> None:
        """Make ready to look for patterns cheaper than a safe one."""
        self.improver = Improver(
            self.part.problem,
            self.judge,
            self._seed,
            constructor=self.constructor,
            best=best,
            easy_first=True,
            cuts=self.cuts,
            options=self.options,
        )

    def relax(self, bare: tuple[Exposure, ...] | None, budget: Budget) -> None:
        """State the relaxation for what is exposed where only cells hidden anyway are hidden; for all while unknown."""
        self._bare = None if bare is None else len(bare)
        self.relaxation = Relaxation(self.core, self._targets(bare), budget, self._tell, self.options)
        if self.known is not None:
            self.relaxation.pool.extend(*self.known)

    def _targets(self, bare: tuple[Exposure, ...] | None) -> Ints:
        asked = None if bare is None else {(e.key.cell, e.key.side) for e in bare}
        open_ = ((key, t) for key, t in self._target.items() if not self._is_unattainable(key))
        targets = [t for key, t in open_ if asked is None or (key.cell, key.side) in asked]
        if len(targets) > self.options.start.attacker_targets:
            # attackers take part when one of them finds something
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
        """Forget bound, rows and cuts: they were found before it was known that some questions have no answer."""
        self.bound, self.relaxation, self.known = 0.0, None, None
        self.cuts.clear()
        self.credit = BoundCredit(self.options.schedule)
        self._master = Master(self.core, self._solver, self.options.master)

    def snapshot(self) -> Snapshot:
        """What is known so far, to go on from in another process or at another time."""
        rows = None
        if self.relaxation is not None:
            r = self.relaxation
            rows = Rows(r.pool, r.x, r.targets, r.bound, r.finished)
        return Snapshot(
            self.best,
            self.bound,
            self.unattainable,
            rows,
            self.cleaned,
            self._master.gap,
            self._master.needed,
            deepcopy(self.credit),
        )

    def restore(self, known: Snapshot, budget: Budget) -> None:
        """Go on from what is known, instead of `start`."""
        self.best, self.bound, self.unattainable = known.best, known.bound, known.unattainable
        self._master.gap, self._master.needed = known.gap, known.needed
        self.credit = deepcopy(known.credit)
        for key in sorted(known.unattainable):
            self.constructor.unattainable.add(key)
            self.judge.dismiss(key)
        if known.best is None or known.rows is None:
            return
        self.relaxation = Relaxation(self.core, known.rows.targets, budget, self._tell, self.options)
        self.relaxation.pool.join(known.rows.pool)
        self.relaxation.settle()
        if known.rows.finished:
            self.relaxation.finished = True
        self.cleaned = known.cleaned
        self._equip(known.best)

    def learn(
        self,
        patterns: tuple[Bools, ...],
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
        for k, pattern in enumerate(patterns):
            if budget.exhausted or (k and meter(budget) > until):
                break
            exposed = self.exposed(pattern, budget) if k or first is None else first
            if not exposed:
                self.take(pattern)
                if k == 0 and whole:
                    self._master.gap = 0.0
                    break
                continue
            if budget.exhausted:  # a question that the limit left open would cut off what may be safe
                exposed = tuple(e for e in exposed if e.decided)
                if not exposed:
                    break
            relaxation.add(self.rows(pattern, exposed))
            if k < 2 and (k or first is None) and self.core.cost(pattern) < self.cost:
                self._try_repair(pattern, budget)
        for _ in range(3):
            if budget.exhausted:
                break
            relaxation.covers()
            rows = relaxation.violated()
            if relaxation.finished or not self.credit.useful:
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
        """Solve one pool; return its patterns, cheapest first."""
        assert self.relaxation is not None
        cutoff = self.cost - self._unit / 2 if self._unit else self.cost
        whole = self.credit.useful or not self.credit.master.spent
        self._pooled = len(self.relaxation.pool)
        bound, patterns = self._master.solve(self.relaxation, cutoff, budget, whole=whole)
        self.raise_to(min(bound, self.cost))
        return patterns

    def rows(self, pattern: Bools, exposed: tuple[Exposure, ...]) -> list[Found]:
        """Rows that an unsafe pattern violates: several for every exposure, and never none."""
        assert self.relaxation is not None
        return violated_rows(self.relaxation, pattern, [self._target[e.key] for e in exposed], self.options.master)

    def repair(self, pattern: Bools, budget: Budget) -> None:
        """Complete an unsafe pattern to a safe one, cheaply."""
        price = np.where(pattern, 0.0, self.core.weight)
        repaired = self.constructor.build(price, budget, start=pattern)
        if repaired is not None and self.core.cost(repaired) < 1.2 * self.cost:
            repaired = clean(
                self.judge,
                repaired,
                budget,
                ignore=self.ignore,
                least=self.bound,
                options=self.options.construction,
                cuts=self.cuts,
            )
            self.offer(repaired, budget)

    def _try_repair(self, pattern: Bools, budget: Budget) -> None:
        """Complete a pattern unless too much was spent on that without effect."""
        if self._unrewarded > self.options.improvement.unrewarded_share * meter(budget):
            return
        before, cost = meter(budget), self.cost
        self.repair(pattern, budget)
        self._unrewarded = 0.0 if self.cost < cost else self._unrewarded + meter(budget) - before

    def offer(self, pattern: Bools, budget: Budget) -> None:
        """Keep a pattern that is cheaper than the best, if the intruder finds nothing in it."""
        if self.core.cost(pattern) < self.cost and not self.exposed(pattern, budget):
            self.take(pattern)

    def take(self, pattern: Bools | None) -> None:
        """Keep a safe pattern if it is cheaper than the best."""
        if pattern is not None and self.core.cost(pattern) < self.cost:
            self.best = pattern.copy()
            if self.improver is not None:
                self.improver.learn(pattern)
            self.report("better")

    def _tell(self, stage: str) -> None:
        """Tell the bound of the relaxation while it grows."""
        if self.relaxation is not None:
            self.raise_to(self.relaxation.bound)
        self.report(stage)

    def raise_to(self, bound: float) -> None:
        """Raise the bound; where all weights are multiples of a unit, so is every cost."""
        self.bound = max(self.bound, min(next_cost(bound, self._unit), self.cost))

    def exposed(self, pattern: Bools, budget: Budget) -> tuple[Exposure, ...]:
        """What a pattern leaves exposed, apart from what nothing protects."""
        return tuple(e for e in self.judge.check(pattern, budget) if not self._is_unattainable(e.key))

    @property
    def ignore(self) -> Callable[[Key], bool] | None:
        """Tells which questions need no answer; None where all do."""
        return self._is_unattainable if self.unattainable else None

    def _is_unattainable(self, key: Key) -> bool:
        return key in self.unattainable or Key(-1, key.cell, key.side) in self.unattainable
