"""Fast safe patterns: the cheapest witness of every question in turn, then what is hidden without need taken back."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.bound.inequalities import inequalities_of
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import finish, stopped
from tabprotect.methods.suppression.presolve.core import Core, Reduction
from tabprotect.methods.suppression.presolve.parts import Part
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.improvement import Improver
from tabprotect.methods.suppression.start.bulk import from_everything
from tabprotect.methods.suppression.start.cleanup import Cut, clean, inequalities
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.mip.rows import Inequalities
from tabprotect.solver.tasks.pieces import GRACE, Means
from tabprotect.solver.tasks.store import digest

__all__ = ["CorePattern", "Task", "greedy", "protect_core"]

Bools = npt.NDArray[np.bool_]


def greedy(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    restarts: int = 10,
    cleanup: float = 1.0,
    patience: float = 2.0,
    within: float = 1.0,
    speedup: float = 1.0,
    in_bulk: bool = True,
    start: Bools | None = None,
    means: Means | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Protect by cheapest witnesses, clean up, and try again from other sides while the limits allow.

    Parameters
    ----------
    problem : Problem
    limits : Limits or Budget, optional
        Any-time: the best safe pattern so far is returned; status 'unknown' when there is none yet.
    seed : int
        Of the restarts.
    progress : callable, optional
    restarts : int
        How often each independent part is tried again (guided restarts, ruin and recreate) after its first pattern.
    cleanup : float
        Share of what is left of the limits that may go into the clean-up of the first pattern of a part.
    patience : float
        Cheapest witnesses end where the first pattern of a part would take so many times what the limits have.
    within : float
        Share of the limits that the first patterns of all parts may take; `patience` and what follows are shares of
        that.
    speedup : float
        Factor by which what completes an unfinished pattern is faster, see `Constructor.build`.
    in_bulk : bool
        Where they end without a pattern of a part, everything is hidden in it, and taken out in bulk; without it the
        search ends as at a limit.
    start : ndarray of bool, shape (cells,), optional
        Cells hidden to begin with.
    means : Means, optional
        Then independent parts are worked on side by side, and their patterns kept. A limit is shared out by size.
    options : Options
        Of construction, clean-up and improvement.

    Returns
    -------
    SuppressionResult
        Without a bound. Status 'infeasible' with the cells named when some cannot be protected; the pattern then
        protects all others. Status 'unknown' where a limit came first; the pattern is what was hidden until then.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> result = greedy(p)
    >>> result.suppressed.tolist(), result.cost, result.safe
    ([4, 5, 7, 8], 17.0, True)
    """
    budget = Budget.of(limits, progress)
    with cancel_on_interrupt(budget):
        reduction = reduce_problem(problem, insiders=False)
        judge = Witnesses(problem)
        rng = np.random.default_rng(seed)
        patterns: list[Bools] = []
        hints = reduction.patterns(start) if start is not None else [None] * len(reduction.cores)
        everything = problem.may_hide | problem.must_hide
        judge.offer_scaled(everything)
        known = judge.known_about(everything)
        shown = [Part(core).restrict(known) if in_bulk else None for core in reduction.cores]
        # what several parts may take together is kept to by all of them, clean-up included
        alone, together = (within, 1.0) if len(reduction.cores) == 1 else (1.0, within)
        settings = (restarts, cleanup, patience, alone, speedup)
        tasks = [
            Task(core, hint, int(rng.integers(2**31)), *settings, rows, options, Limits())
            for core, hint, rows in zip(reduction.cores, hints, shown, strict=True)
        ]
        met: list[tuple[Core, Inequalities]] = []
        complete = True
        with budget.part(together) as part:
            for task, answer in zip(tasks, _answers(tasks, reduction, part, means, options), strict=True):
                if answer is not None:
                    judge.offer_all(Part(task.core).lift(answer.deviations))
                    met += [] if answer.cuts is None else [(task.core, answer.cuts)]
                patterns.append(_hidden_before(task) if answer is None else answer.pattern)
                complete = complete and answer is not None and answer.complete
                if not complete and not means:
                    break
        patterns += [_hidden_before(task) for task in tasks[len(patterns) :]]
        pattern = reduction.pattern(patterns)
        result = finish(problem, judge, pattern if complete else None, budget, "greedy", options)
        if not complete:
            result = replace(result, pattern=pattern | problem.must_hide)
        deviations, cuts = judge.known_about(result.pattern), inequalities_of(reduction, met)
        return replace(result, deviations=deviations, attacker_cuts=cuts)


@dataclass(frozen=True, eq=False)
class Task:
    """One part to be protected.

    Deviations that may show that everything hidden is safe are `in_bulk`, one a row; None where removal in bulk is no
    way out.
    """

    core: Core
    hint: Bools | None
    seed: int
    restarts: int
    cleanup: float
    patience: float
    within: float
    speedup: float
    in_bulk: sparse.csr_array | None
    options: Options
    limits: Limits


@dataclass(frozen=True, eq=False)
class CorePattern:
    """The pattern of one part with its witnesses, incomplete when a limit came first; the piece of `Means`."""

    pattern: Bools
    complete: bool
    deviations: tuple[Deviation, ...]
    work: int
    stopped: str
    cuts: Inequalities | None = None


def protect_core(task: Task, budget: Budget | None = None, constant: float = 0.0) -> CorePattern:
    """Protect one part, within its own limits if no budget is given."""
    budget = budget or Budget(task.limits)
    before = budget.work
    problem = Part(task.core).problem
    judge = Witnesses(problem)
    constructor = Constructor(judge, dismiss=True, options=task.options.construction)
    cuts: deque[Cut] = deque(maxlen=task.options.improvement.kept_cuts)
    bulk = task.options.start.before_bulk_limit_share if task.in_bulk is not None else 1.0
    with budget.part(min(task.within, bulk)) as part:
        x = constructor.build(problem.weights, part, start=task.hint, patience=task.patience, speedup=task.speedup)
    if x is None and task.in_bulk is not None and not constructor.unattainable:
        judge.offer_all(task.in_bulk)
        share, construction = task.options.start.bulk_limit_share, task.options.construction

        def report(cost: float) -> None:
            budget.report("greedy", constant + cost)

        x = from_everything(judge, budget, share, construction, report, cuts)
    if x is None:
        reached = constructor.reached
        assert reached is not None
        # how far it got depends on the clock, whatever ended it
        why = stopped(budget) if budget.limits.seconds is None else stopped(budget) or "time"
        return CorePattern(reached, False, judge.known_about(reached), budget.work - before, why)
    if budget.exhausted:
        return CorePattern(x, True, tuple(judge.deviations(x)), budget.work - before, stopped(budget))
    with budget.part(task.cleanup) as part:
        ignore = constructor.is_unattainable if constructor.unattainable else None
        x = clean(judge, x, part, ignore=ignore, options=task.options.construction, cuts=cuts)
    improver = Improver(problem, judge, task.seed, constructor=constructor, best=x, cuts=cuts, options=task.options)
    for _ in range(task.restarts):
        if budget.exhausted:
            break
        improver.step(budget)
        budget.report("greedy", constant + improver.cost)
    x = improver.best if improver.best is not None else x
    known = () if constructor.unattainable else cuts
    met, deviations = inequalities(known, task.core.n), tuple(judge.deviations(x))
    return CorePattern(x, True, deviations, budget.work - before, stopped(budget), met)


def _answers(
    tasks: Sequence[Task], reduction: Reduction, budget: Budget, means: Means | None, options: Options
) -> Iterator[CorePattern | None]:
    """Yield the patterns for all parts."""
    if not means:
        # what is reported is the cost of the whole, with parts that have no pattern yet hidden
        costs = [task.core.cost(np.ones(task.core.n, bool)) for task in tasks]
        for k, task in enumerate(tasks):
            found = protect_core(task, budget, reduction.constant + sum(costs[:k] + costs[k + 1 :]))
            if found.complete:
                costs[k] = task.core.cost(found.pattern)
            yield found
        return
    cells = sum(task.core.n for task in tasks)
    work, seconds = budget.work_left, budget.seconds_left

    def limited(task: Task) -> Task:
        share = task.core.n / cells
        limits = Limits(
            None if math.isinf(seconds) else seconds * min(1.0, share * means.width),
            None if math.isinf(work) else max(1, int(work * share)),
            memory=budget.limits.memory,
        )
        return replace(task, limits=limits)

    def here(task: Task) -> CorePattern:
        return protect_core(replace(task, limits=replace(task.limits, stop=lambda: _ended(budget))))

    pieces = [limited(task) for task in tasks]
    names = [
        digest(
            "greedy",
            t.core,
            t.hint,
            t.seed,
            t.restarts,
            t.limits.work and (t.cleanup, t.patience, t.within, t.speedup, t.in_bulk is None),
            t.limits.work,
            options,
        )
        for t in pieces
    ]
    for answer in means.answers(protect_core, pieces, names, budget, here=here, grace=GRACE):
        if answer is not None:
            budget.spend(answer.work)
        yield answer


def _hidden_before(task: Task) -> Bools:
    return np.zeros(task.core.n, bool) if task.hint is None else task.hint


def _ended(budget: Budget) -> bool:
    return budget.exhausted and budget.stopped in ("cancelled", "memory")
