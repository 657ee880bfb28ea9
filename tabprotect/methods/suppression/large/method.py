"""Suppression in large tables: a safe pattern within minutes for a million cells, then better ones, with a bound."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.large.search import LocalSearch
from tabprotect.methods.suppression.merge import NOTHING_FOUND, with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import finish, stopped
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress

__all__ = ["charge_power", "local"]

Bools = npt.NDArray[np.bool_]


def local(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    start: Bools | None = None,
    passes: int | None = None,
    engine: str = "scip",
    deviations: Sequence[Deviation] = (),
    executor: Executor | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Protect by cheapest deviations within a few equations of each primary, and bound the cost by attacks as narrow.

    Whatever is done costs as much as its neighbourhood, not as the table. The pattern is the union of one deviation a
    question, so it is safe at every moment; better patterns come from taking a secondary away and answering anew the
    questions that relied on it (ruin and recreate). The bound is that of `LocalBound`, with its proof in `cuts`. In the
    end the whole pattern is judged on the whole system.

    Parameters
    ----------
    problem : Problem
    limits : Limits or Budget, optional
        Any-time. Without limits the search ends when a pass over all secondaries gained less than a thousandth.
    seed : int
    progress : callable, optional
    start : ndarray of bool, shape (cells,), optional
        Cells hidden to begin with; those that no question relies on are published again. A safe pattern is returned
        as it is when nothing cheaper is found.
    passes : int, optional
        How often every secondary is tried again after the first pattern (0: the first pattern, without a bound).
    engine : {'scip', 'highs'}
        What solves small windows of the pattern exactly.
    deviations : sequence of Deviation
        What is known of the pattern to start from (`SuppressionResult.deviations`), so that it need not be found again.
    executor : concurrent.futures.Executor, optional
        Solves attacks for the bound side by side; by default they are solved here, one after the other.
        Questions about the pattern are looked at in threads, which share the table: as many as it has workers, at most
        and by default one a processor. The answer depends on none of that, unless the limit is one of time.
    options : Options

    Returns
    -------
    SuppressionResult

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> result = local(p)
    >>> result.suppressed.tolist(), result.cost, round(result.bound, 6)
    ([4, 5, 7, 8], 17.0, 17.0)
    """
    budget = Budget.of(limits, progress)
    with cancel_on_interrupt(budget):
        search = LocalSearch(problem, seed, budget, engine, executor, options)
        if not search.first(start, deviations):
            found = _cheapest(search.judge, None, [start])
            result = finish(problem, search.judge, found, budget, "local", options)
            pattern = result.pattern if result.safe else search.cover.pattern
            ended = result.stopped or search.stopped
            return replace(result, pattern=pattern, deviations=search.known_about(pattern), stopped=ended)
        search.refine()
        if passes != 0 and search.to_clean_up:
            search.improve_at_first(passes)
            search.clean_up(further=passes is None)
        elif passes != 0:
            search.improve(passes)
        ended = stopped(budget)
        held = [start, search.judged]
        result = finish(problem, search.judge, _cheapest(search.judge, search.last(), held), budget, "local", options)
        if not result.safe and (before := _cheapest(search.judge, None, held)) is not None:
            # attackers find more in the last pattern than can be answered in time
            result = finish(problem, search.judge, before, budget, "local", options)
        result = replace(result, deviations=search.known_about(result.pattern))
        bound, proof = (None, None) if passes == 0 else (search.bound.bound, search.bound.proof())
    result = replace(result, stopped=result.stopped or ended)
    if result.cost is None or bound is None:
        return result
    if not bound and result.cost:
        result = result.with_message(NOTHING_FOUND)
    return with_bound(replace(result, cuts=proof), bound)


def charge_power(problem: Problem, budget: Budget, options: Options = DEFAULTS) -> tuple[float, float]:
    """Return how `local` would charge cells, chosen by trial, and what is hidden so, as a share of the first power.

    Parameters
    ----------
    problem : Problem
    budget : Budget
        Of which a trial takes a share (`RebuildOptions`).
    options : Options

    Returns
    -------
    power : float
        Of how far a cell can move, by which its charge is divided.
    share : float
    """
    search = LocalSearch(problem, 0, budget, "scip", None, options)
    search.known_before()
    share = search.rebuilder.choose_charges(budget)
    return search.rebuilder.nearby.programme.power, share


def _cheapest(judge: Witnesses, found: Bools | None, held: Sequence[Bools | None]) -> Bools | None:
    """Return what a search found, or the cheapest of the patterns held before where that is safe and costs less."""
    problem = judge.problem
    cost = math.inf if found is None else problem.cost(found | problem.must_hide)
    for pattern in sorted((p | problem.must_hide for p in held if p is not None), key=problem.cost):
        if problem.cost(pattern) < cost and not judge.check(pattern, stop_at_first=True):
            return pattern
    return found
