"""Better patterns: guided restarts, and ruin and recreate."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.cleanup import clean
from tabprotect.methods.suppression.construct import Constructor
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget

__all__ = ["Improver"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_NOISE = (0.0, 0.1, 0.2, 0.4)
_TRUST = (0.7, 0.9, 0.97)
_WORTH = 1.08
"""Clean up a new pattern only when it costs at most this much more than the best."""


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
    ) -> None:
        self.problem = problem
        self.judge = witnesses
        self.constructor = constructor or Constructor(witnesses)
        self._rng = np.random.default_rng(seed)
        self._steps = 0
        self.best: Bools | None = None
        self.cost = float("inf")
        if best is not None:
            self.learn(best)

    def learn(self, pattern: Bools) -> bool:
        """Take over a safe pattern found elsewhere; return whether it is the cheapest so far."""
        cost = self.problem.cost(pattern)
        if cost >= self.cost:
            return False
        self.best, self.cost = pattern.copy(), cost
        return True

    def step(self, budget: Budget, guide: Floats | None = None) -> Bools | None:
        """Make one attempt; return a pattern when it is cheaper than all before.

        Parameters
        ----------
        budget : Budget
        guide : ndarray of float, shape (cells,), optional
            A point x* of a relaxation, in [0, 1]: cells that it hides are charged w (1 - alpha x*).
        """
        rng, problem = self._rng, self.problem
        self._steps += 1
        cost = problem.weights * np.exp(rng.normal(0.0, rng.choice(_NOISE), problem.n_cells))
        if self.best is None:
            cost = problem.weights
        if guide is not None:
            cost = cost * (1 - rng.choice(_TRUST) * np.clip(guide, 0.0, 1.0))
        start = None
        if self.best is not None and (guide is None or self._steps % 2):
            start = self._ruin(self.best)
        pattern = self.constructor.build(cost, budget, start=start, order=self._order())
        if pattern is None:
            return None
        for _ in range(2):
            smaller = self.constructor.build(problem.weights, budget, allowed=pattern)
            if smaller is None:
                return None
            if problem.cost(smaller) < problem.cost(pattern):
                pattern = smaller
        if problem.cost(pattern) > _WORTH * self.cost:
            return None
        ignore = self.constructor.is_hopeless if self.constructor.hopeless else None
        pattern = clean(self.judge, pattern, budget, ignore=ignore)
        return pattern if self.learn(pattern) else None

    def _order(self) -> npt.NDArray[np.int64]:
        """Questions by level, with some noise."""
        need = self.judge.questions.need
        return np.argsort(-need * np.exp(self._rng.normal(0.0, 0.5, len(need))), kind="stable")

    def _ruin(self, pattern: Bools) -> Bools:
        """Publish a random part of the secondaries."""
        secondary = np.flatnonzero(pattern & ~self.problem.must_hide)
        gone = self._rng.random(len(secondary)) < self._rng.uniform(0.1, 0.6)
        kept = pattern.copy()
        kept[secondary[gone]] = False
        return kept
