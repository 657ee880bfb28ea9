"""Better patterns: guided restarts, ruin and recreate, and taking out again from patterns made larger."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.start.cleanup import Cut, clean
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget

__all__ = ["Improver"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Improver:
    """Looks for cheaper safe patterns, one attempt a step.

    Parameters
    ----------
    problem : Problem
    witnesses : Witnesses
        Of that problem; shared, so that everybody profits from what was learned.
    seed : int
    constructor : Constructor, optional
    best : ndarray of bool, optional
        A safe pattern to start from.
    easy_first : bool
        Begin with attempts that take little time, not with building a pattern anew.
    cuts : deque of Cut, optional
        Attacker cuts met before, in other patterns; gets those met now.
    options : Options

    Attributes
    ----------
    best : ndarray of bool or None
        The cheapest safe pattern so far.
    cost : float
        Its cost; inf without one.
    """

    def __init__(
        self,
        problem: Problem,
        witnesses: Witnesses,
        seed: int,
        *,
        constructor: Constructor | None = None,
        best: Bools | None = None,
        easy_first: bool = False,
        cuts: deque[Cut] | None = None,
        options: Options = DEFAULTS,
    ) -> None:
        self._options = options.improvement
        self._cleanup = options.construction
        self.problem = problem
        self.judge = witnesses
        self.constructor = constructor or Constructor(witnesses, options=options.construction)
        self._rng = np.random.default_rng(seed)
        self._steps = 1 if easy_first else 0
        self._primed = False  # whether cheapest witnesses at other prices are stored
        self._elite: list[Bools] = []
        self._cuts = deque(maxlen=options.improvement.kept_cuts) if cuts is None else cuts
        self._later = 0  # the step from which on patterns are built anew, after one that was cut short
        self._A = problem.system.A
        self._columns = sparse.csc_array(self._A)
        self.best: Bools | None = None
        self.cost = float("inf")
        self._current: Bools | None = None  # what steps start from: the best, or one that is little dearer
        if best is not None:
            self.learn(best)

    def learn(self, pattern: Bools) -> bool:
        """Take over a safe pattern found elsewhere; return whether it is the cheapest so far."""
        cost = self.problem.cost(pattern)
        if cost >= self.cost:
            return False
        self.best, self.cost = pattern.copy(), cost
        self._current = self.best
        self._keep(pattern)
        return True

    def _keep(self, pattern: Bools) -> None:
        if not any(np.array_equal(pattern, old) for old in self._elite):
            self._elite = [*self._elite, pattern.copy()][-self._options.elite :]

    def step(self, budget: Budget, guide: Floats | None = None, *, least: float = 0.0) -> Bools | None:
        """Make one attempt; return a pattern when it is cheaper than all before.

        The next attempt starts from it, too, if it is dearer by a small share only (record-to-record travel, Dueck
        1993).

        Parameters
        ----------
        budget : Budget
        guide : ndarray of float, shape (cells,), optional
            A point x* of a relaxation, in [0, 1]: cells that it hides are charged w (1 - alpha x*).
        least : float
            No safe pattern costs less.
        """
        problem = self.problem
        self._steps += 1
        if self._current is not None and (self._steps < self._later or self._steps % 3 != 1):
            pattern: Bools | None = self._widened(self._current, budget, guide, least)
        else:
            pattern = self._rebuilt(budget, guide, least)
            if pattern is None and budget.exhausted:
                self._later = 2 * self._steps
            if pattern is not None and self.best is not None:
                cheaper, other = sorted((pattern, self.best), key=problem.cost)
                pattern = min((cheaper, self._within(cheaper, other, budget, guide, least)), key=problem.cost)
        if pattern is None or self.learn(pattern):
            return pattern
        if problem.cost(pattern) <= self.cost * (1 + self._options.deviation * self._rng.random()):
            self._current = pattern
        return None

    def _rebuilt(self, budget: Budget, guide: Floats | None, least: float) -> Bools | None:
        """Build a pattern at other prices, from nothing or from a part of another, and clean it up if it may pay."""
        rng, problem, current = self._rng, self.problem, self._current
        cost = problem.weights * np.exp(rng.normal(0.0, rng.choice(self._options.noise), problem.n_cells))
        if current is None:
            cost = problem.weights
        if guide is not None:
            cost = cost * (1 - rng.choice(self._options.trust) * np.clip(guide, 0.0, 1.0))
        start = None
        stored = self._primed and rng.random() < self._options.stored_share
        self._primed = current is not None
        if current is not None and (stored or guide is None or rng.random() < 0.5):
            start = self._ruin(current)
        pattern = self.constructor.build(cost, budget, start=start, order=self._order(), stored=stored)
        if pattern is None:
            return None
        for _ in range(0 if stored else 2):
            smaller = self.constructor.build(problem.weights, budget, allowed=pattern)
            if smaller is None:
                return None
            if problem.cost(smaller) < problem.cost(pattern):
                pattern = smaller
        if problem.cost(pattern) > self._options.cleanup_ratio * self.cost:
            return None
        return self._cleaned(pattern, budget, least)

    def _widened(self, pattern: Bools, budget: Budget, guide: Floats | None, least: float) -> Bools:
        """Hide more than a safe pattern does, and take out again in another order."""
        rng, problem = self._rng, self.problem
        kind = rng.integers(3)
        if kind == 0 and len(self._elite) > 1:
            others = self._elite[int(rng.integers(len(self._elite)))]
        elif kind == 1 and guide is not None:
            others = problem.may_hide & (rng.random(problem.n_cells) < guide * rng.uniform(0.2, 1.0))
        else:
            others = problem.may_hide & self._around(np.flatnonzero(pattern))
        return self._within(pattern, others, budget, guide, least)

    def _within(self, pattern: Bools, others: Bools, budget: Budget, guide: Floats | None, least: float) -> Bools:
        """Return a safe pattern inside a safe one and other cells, not all of them where they are many."""
        rng, problem = self._rng, self.problem
        extra = np.flatnonzero(others & ~pattern)
        secondaries = int(np.sum(pattern & ~problem.must_hide))
        most = self._options.extra_cells + int(self._options.extra_share * secondaries)
        if not len(extra):
            return pattern
        if len(extra) > most:
            extra = rng.choice(extra, most, replace=False)
        more = pattern.copy()
        more[extra] = True
        order = problem.weights * np.exp(rng.normal(0.0, rng.choice(self._options.noise), problem.n_cells))
        if guide is not None:
            order = order * (1 - rng.choice((0.0, *self._options.trust)) * np.clip(guide, 0.0, 1.0))
        return self._cleaned(more, budget, least, order)

    def _cleaned(self, pattern: Bools, budget: Budget, least: float, order: Floats | None = None) -> Bools:
        """Return a safe pattern inside a safe one, which is kept among the elite; cuts go from one to the next."""
        pattern = clean(
            self.judge,
            pattern,
            budget,
            ignore=self._ignore,
            order=order,
            least=least,
            options=self._cleanup,
            cuts=self._cuts,
        )
        self._keep(pattern)
        return pattern

    def _around(self, centres: Ints) -> Bools:
        """Cells in the equations around one of some cells, drawn at random."""
        cell, most = int(self._rng.choice(centres)), int(self._rng.integers(*self._options.opened_equations))
        seen = np.zeros(self.problem.n_cells, bool)
        rows = np.zeros(0, np.int64)
        wave = np.array([cell])
        while len(wave) and len(rows) < most:
            seen[wave] = True
            rows = np.unique(self._columns[:, np.flatnonzero(seen)].indices)
            cells = np.unique(self._A[rows].indices)
            wave = cells[~seen[cells]]
        seen[wave] = True
        return seen

    @property
    def _ignore(self) -> Callable[[Key], bool] | None:
        return self.constructor.is_unattainable if self.constructor.unattainable else None

    def _order(self) -> Ints:
        """Questions by level, with some noise."""
        need = self.judge.questions.need
        return np.argsort(-need * np.exp(self._rng.normal(0.0, 0.5, len(need))), kind="stable")

    def _ruin(self, pattern: Bools) -> Bools:
        """Publish a random part of the secondaries, or those around one of them (Shaw 1998, related removal)."""
        rng, secondary = self._rng, np.flatnonzero(pattern & ~self.problem.must_hide)
        if len(secondary) and rng.random() < 0.5:
            gone = self._around(secondary)[secondary]
        else:
            gone = rng.random(len(secondary)) < rng.uniform(0.1, 0.6)
        kept = pattern.copy()
        kept[secondary[gone]] = False
        return kept
