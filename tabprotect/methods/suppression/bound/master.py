"""Integer programmes over the rows found so far, and the rows that the intruder finds at their solutions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabprotect.methods.suppression.bound.cuts import Cover
from tabprotect.methods.suppression.bound.relaxation import Relaxation
from tabprotect.methods.suppression.bound.separation import Found
from tabprotect.methods.suppression.options import DEFAULTS, MasterOptions
from tabprotect.methods.suppression.presolve.core import Core
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.pool import PoolSolver
from tabprotect.solver.mip.pool_parts import InParts
from tabprotect.solver.mip.priced import Point, Priced
from tabprotect.solver.mip.rows import Row, RowPool
from tabprotect.solver.tolerances import CUT_VIOLATION, TIGHT_ROW

__all__ = ["Master", "violated_rows"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

BYTES = 4_000
"""What a MIP solver holds for every entry of a pool, about."""


class Master:
    """Integer programmes over rows of the pool of a relaxation, one after the other.

    Attributes
    ----------
    gap : float
        To which they are solved.
    solved : bool
        Whether the last one was, at least over the rows that it began with.
    needed : ndarray of int
        Rows that a solution of an earlier programme violated; they stay.
    """

    def __init__(self, core: Core, solver: PoolSolver, options: MasterOptions = DEFAULTS.master) -> None:
        self._core = core
        self._options = options
        self._solver = InParts(Priced(solver))
        self.gap = self._options.first_gap
        self.solved = False
        self.needed: Ints = np.zeros(0, np.int64)
        self._held: Ints = np.zeros(0, np.int64)  # rows that were tight there stay for the next one
        self._taught: tuple[Bools, ...] = ()  # patterns of the last programme: rows found at them are needed, too

    def narrow(self) -> None:
        """Solve the next one to half of the gap, down to the last one."""
        if self.gap:
            self.gap = max(self._options.least_gap, self.gap / 2)

    def solve(
        self, relaxation: Relaxation, cutoff: float, budget: Budget, *, whole: bool = False
    ) -> tuple[float, tuple[Bools, ...]]:
        """Return a lower bound on what a pattern costs, if that is below `cutoff`, and patterns, cheapest first.

        The cheapest one satisfies every row of the pool, unless the budget ended or nothing is below `cutoff`. Where it
        ended, they are those of the last programme solved, if there is one. With `whole` no row is left out at first
        unless there are too many.
        """
        core, pool, best = self._core, relaxation.pool, 0.0
        last: tuple[Bools, ...] = ()
        self.solved = False
        if self._taught:
            self.needed = np.union1d(self.needed, _violated(pool, self._taught)).astype(np.int64)
        if whole and pool.matrix.nnz <= self._options.whole_entries:
            chosen = np.arange(len(pool))
        else:
            near = _near(pool, relaxation.x, self._options.near_slack)
            chosen = np.unique(np.concatenate([near, self.needed, self._held, relaxation.binding]))
        point = Point(relaxation.x, relaxation.reduced)
        while True:
            if not budget.fits(BYTES * pool.matrix[chosen].nnz):
                return best, ()
            answer = self._solver(
                core.weight,
                core.hidden,
                pool.matrix[chosen],
                pool.rhs[chosen],
                names=chosen,
                cutoff=cutoff,
                gap=self.gap,
                most=self._options.solutions,
                budget=budget,
                point=point,
            )
            best = max(best, answer.bound)
            costs = [core.cost(pattern) for pattern in answer.solutions]
            most = self._options.solution_ratio * costs[0] if costs else 0.0
            patterns = tuple(c for c, cost in zip(answer.solutions, costs, strict=True) if cost <= most)
            if budget.exhausted:
                return best, last or patterns
            if not patterns or best >= cutoff:
                self.solved = True
                return best, patterns
            last, self.solved, self._taught = patterns, True, patterns
            first = patterns[0].astype(np.float64)
            self._held = chosen[pool.slack(first, chosen) < TIGHT_ROW]
            missing = np.setdiff1d(_violated(pool, patterns), chosen)
            self.needed = np.union1d(self.needed, missing).astype(np.int64)
            if not np.any(pool.slack(first, missing) < -CUT_VIOLATION):
                return best, patterns
            chosen = np.concatenate([chosen, missing])


def _violated(pool: RowPool, patterns: Sequence[Bools]) -> Ints:
    """Rows that one of some patterns violates."""
    return np.flatnonzero(
        np.min([pool.slack(pattern.astype(np.float64)) for pattern in patterns], axis=0) < -CUT_VIOLATION
    )


def _near(pool: RowPool, x: Floats, slack: float) -> Ints:
    """Rows with little slack at the relaxed solution, but for those that say nothing until some cell is hidden."""
    asked = pool.rhs > 0
    if len(pool):
        asked |= pool.matrix.minimum(0) @ x < -CUT_VIOLATION
    return np.flatnonzero(asked & (pool.slack(x) < slack))


def violated_rows(
    relaxation: Relaxation, pattern: Bools, targets: Sequence[int], options: MasterOptions = DEFAULTS.master
) -> list[Found]:
    """Rows that an unsafe pattern violates: several for every target that it leaves exposed, and never none.

    Both sides of a cell share the attacks on one of them where their turned multipliers cut, too.
    """
    x = pattern.astype(np.float64)
    floor = min(options.floor, options.floors / len(x))
    points = (np.maximum(x, floor), np.maximum(x, np.maximum(0.3 * relaxation.x, 1e-6)))
    found: list[Found] = []
    separation, left = relaxation.separation, dict.fromkeys(targets[: options.exposures])
    while left and not relaxation.budget.exhausted:
        t = next(iter(left))
        del left[t]
        relaxation.watch(t)
        mine: list[Found] = []
        for radius in separation.radii(t, options.near_equations):
            if not mine:
                cuts = [separation.cut(t, p, 1.0, 1, radius) for p in points]
                mine = [f for f in cuts if f is not None and f.row.slack(x) < -CUT_VIOLATION]
        if not mine:
            exact = separation.cut(t, x)
            mine = [exact] if exact is not None and exact.row.slack(x) < -CUT_VIOLATION else []
        found += mine
        if (other := separation.opposite[t]) in left:
            turned = [f for f in (separation.mirror(m, x) for m in mine) if f is not None and f.slack < -CUT_VIOLATION]
            if turned:
                found += turned
                relaxation.watch(other)
                del left[other]
    if not found:
        # whoever hides no more than an unsafe pattern is unsafe, too
        cells = np.flatnonzero(~pattern)
        found = [Found(Row(cells, np.ones(len(cells)), 1.0), Cover(None, cells[:0]), -1.0)]
    return found
