"""One tree of SCIP for a small core: attacks in its nodes, every candidate judged to the end."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tabprotect.methods.suppression.search.state import State
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.mip.branch_and_cut import branch_and_cut
from tabprotect.solver.mip.lazy import LazyResult, Programme
from tabprotect.solver.mip.rows import Row
from tabprotect.solver.tolerances import CUT_VIOLATION, ROW_FEASIBILITY

__all__ = ["one_tree"]

Floats = npt.NDArray[np.float64]


def one_tree(search: State, budget: Budget, seed: int) -> LazyResult:
    """Search one core in one tree; what it finds is in the pool of the core's relaxation, too.

    Parameters
    ----------
    search : State
        With a relaxation and a best pattern.
    budget : Budget
    seed : int
    """
    relaxation, core = search.relaxation, search.core
    assert relaxation is not None
    relaxation.use(budget)
    pool = relaxation.pool
    programme = Programme(core.weight, pool.matrix, pool.rhs, np.inf, core.hidden.astype(np.float64), 1.0)
    result = branch_and_cut(
        programme,
        _Attacks(search, budget),
        limits=Limits(
            None if budget.limits.seconds is None else budget.seconds_left,
            None if budget.limits.work is None else int(budget.work_left),
            budget.limits.gap,
            lambda: budget.exhausted,
        ),
        seed=seed,
        heuristic=_Trials(search, budget),
    )
    budget.spend(result.work)
    return result


class _Attacks:
    """The rows of a core as a separator."""

    def __init__(self, search: State, budget: Budget) -> None:
        self._search = search
        self._budget = budget

    def cuts(self, x: Floats, integral: bool) -> Iterable[Row]:
        """Rows that x violates; at integral points the judge has the last word."""
        return self._integral(x > 0.5) if integral else self._fractional(x)

    def _integral(self, pattern: npt.NDArray[np.bool_]) -> list[Row]:
        search, relaxation = self._search, self._search.relaxation
        assert relaxation is not None
        free = Budget()  # a question that is left open would cut off what may be safe
        relaxation.use(free)
        exposed = search.exposed(pattern, free)
        rows = search.rows(pattern, exposed) if exposed else []
        relaxation.use(self._budget)
        self._budget.spend(free.work)
        if not exposed:
            search.take(pattern)
            return []
        relaxation.pool.add([f.row for f in rows], [f.origin for f in rows])
        return [f.row for f in rows if f.row.slack(pattern.astype(np.float64)) < -ROW_FEASIBILITY]

    def _fractional(self, x: Floats) -> list[Row]:
        relaxation = self._search.relaxation
        assert relaxation is not None
        slack = relaxation.pool.slack(x)
        stored = np.flatnonzero(slack < -CUT_VIOLATION)
        if len(stored):
            stored = stored[np.argsort(slack[stored], kind="stable")[: self._search.options.tree.rows]]
            return [relaxation.pool.row(k) for k in stored.tolist()]
        relaxation.x = x
        new = [*relaxation.separate(np.maximum(x, 0.0)), *relaxation.halves()]
        rows = [relaxation.pool.row(k) for k in dict.fromkeys(new)]
        return [row for row in rows if row.slack(x) < -ROW_FEASIBILITY]


class _Trials:
    """Hands the tree the best pattern known, and looks for a cheaper one now and then."""

    def __init__(self, search: State, budget: Budget) -> None:
        self._search = search
        self._budget = budget
        self._start = budget.work
        self._spent = 0
        self._sent = np.inf

    def __call__(self, x: Floats) -> Floats | None:
        search, budget = self._search, self._budget
        most = search.options.tree.trial_work_share * (budget.work - self._start)
        if search.improver is not None and self._spent <= most:
            before = budget.work
            search.take(search.improver.step(budget, np.clip(x, 0.0, 1.0)))
            self._spent += max(1, budget.work - before)
        if search.best is None or not search.cost < self._sent:
            return None
        self._sent = search.cost
        return search.best.astype(np.float64)
