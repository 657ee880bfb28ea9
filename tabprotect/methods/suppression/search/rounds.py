"""The exact engine in pieces: every core a round of work at a time, so that cores run side by side and runs resume.

A round of a core depends on the core, on what the round before left, and on its limit of work, and on nothing else. So
it may be done anywhere, and again after a kill, with the same outcome. Rounds grow, which bounds what a kill costs and
what it costs to set up every round anew.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.presolve.core import Core, Reduction
from tabprotect.methods.suppression.search.branch_and_cut import Search
from tabprotect.methods.suppression.search.schedule import go_on
from tabprotect.methods.suppression.search.snapshot import NOTHING, Snapshot
from tabprotect.solver.gap import is_optimal
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.mip.pool import pool_solver
from tabprotect.solver.tasks.pieces import GRACE, Means
from tabprotect.solver.tasks.store import digest

__all__ = ["Outcome", "search_in_rounds"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Task:
    """One round of one core: `work` for the search, after a start that may use all of the limits."""

    core: Core
    known: Snapshot
    hint: Bools | None
    seed: int
    engine: str
    options: Options
    work: int
    limits: Limits


@dataclass(frozen=True, eq=False)
class Outcome:
    """What a round leaves; the piece of `Means`."""

    known: Snapshot
    work: int
    stopped: str


def advance(task: Task) -> Outcome:
    """Do one round."""
    budget = Budget(task.limits)
    search = Search(task.core, pool_solver(task.engine), task.seed, task.options)
    if task.known.best is None:
        search.start(budget, task.hint)
    else:
        search.restore(task.known, budget)
    if search.best is not None:
        budget.limits = replace(task.limits, work=budget.work + min(task.work, _whole(budget.work_left)))
        go_on([search], 0.0, budget, task.options.schedule)
    stopped = budget.stopped if budget.exhausted else ""
    return Outcome(search.snapshot(), budget.work, stopped)


@dataclass
class _Line:
    """A core with the rounds done so far."""

    core: Core
    hint: Bools | None
    seed: int
    name: str
    known: Snapshot = NOTHING

    @property
    def cost(self) -> float:
        return np.inf if self.known.best is None else self.core.cost(self.known.best)

    @property
    def bound(self) -> float:
        return self.known.bound

    @property
    def done(self) -> bool:
        return is_optimal(self.cost, self.bound) or self.stuck

    @property
    def stuck(self) -> bool:
        """True where a safe pattern violates a row, if only by an error of floating point: there is no bound."""
        return self.known.best is not None and self.known.rows is None


def search_in_rounds(
    reduction: Reduction,
    seeds: Sequence[int],
    budget: Budget,
    start: Bools | None,
    engine: str,
    means: Means,
    options: Options = DEFAULTS,
) -> list[Snapshot]:
    """Return what is known of every core in the end.

    Parameters
    ----------
    reduction : Reduction
    seeds : sequence of int
        One a core.
    budget : Budget
        A limit of work is shared out by size among the cores that are open, so that the outcome depends neither on the
        number of workers nor on kills.
    start : ndarray of bool, optional
        A pattern of the problem to start from.
    engine : {'scip', 'highs'}
    means : Means
    options : Options
    """
    hints = reduction.patterns(start) if start is not None else [None] * len(reduction.cores)
    lines = [
        _Line(core, hint, seed, digest("exact", core, hint, seed, engine, budget.limits.gap, options))
        for core, hint, seed in zip(reduction.cores, hints, seeds, strict=True)
    ]
    work = options.schedule.round_work
    while (open_ := [line for line in lines if not line.done]) and not budget.exhausted:
        cost, bound = (reduction.constant + sum(getattr(line, side) for line in lines) for side in ("cost", "bound"))
        budget.report("rounds", cost if np.isfinite(cost) else None, bound, f"{len(open_)} of {len(lines)} parts open")
        if cost - bound <= budget.limits.gap * cost:
            break
        tasks = _tasks(open_, work, budget, engine, means.width, options)
        for line, task in zip(open_, tasks, strict=True):
            line.name = digest(line.name, task.work, task.limits.work)
        names = [line.name for line in open_]
        here = _watching(budget)
        for line, outcome in zip(
            open_, means.answers(advance, tasks, names, budget, here=here, grace=GRACE), strict=True
        ):
            if outcome is not None:
                line.known = outcome.known
                budget.spend(outcome.work)
        work *= options.schedule.round_growth
    return [line.known for line in lines]


def _tasks(lines: Sequence[_Line], work: int, budget: Budget, engine: str, width: int, options: Options) -> list[Task]:
    """State one round of every core; what is left of the limits is shared out by size."""
    cells = sum(line.core.n for line in lines)
    tasks = []
    for line in lines:
        share = line.core.n / cells
        limits = Limits(
            None if math.isinf(budget.seconds_left) else budget.seconds_left * min(1.0, share * width),
            None if math.isinf(budget.work_left) else max(1, int(budget.work_left * share)),
            budget.limits.gap,
            memory=budget.limits.memory,
        )
        tasks.append(Task(line.core, line.known, line.hint, line.seed, engine, options, work, limits))
    return tasks


def _whole(work: float) -> int:
    return sys.maxsize if math.isinf(work) else int(work)


def _watching(budget: Budget) -> Callable[[Task], Outcome]:
    """Return what does a round here: cancelled when the budget is."""

    def here(task: Task) -> Outcome:
        def stop() -> bool:
            return budget.exhausted and budget.stopped in ("cancelled", "memory")

        return advance(replace(task, limits=replace(task.limits, stop=stop)))

    return here
