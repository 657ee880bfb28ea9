"""Suppression at least cost, with a bound: reduction, branch and cut on every core, judgement of the whole."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.proof_rows import BoundProof
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.bound.inequalities import inequalities_of, rows_of_cores
from tabprotect.methods.suppression.bound.proof import bound_proof
from tabprotect.methods.suppression.merge import with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options, ScheduleOptions
from tabprotect.methods.suppression.postsolve.finish import finish, stopped
from tabprotect.methods.suppression.presolve.core import Reduction
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.branch_and_cut import Search
from tabprotect.methods.suppression.search.known import NOTHING, Known
from tabprotect.methods.suppression.search.rounds import search_in_rounds
from tabprotect.methods.suppression.search.schedule import go_on, reporter
from tabprotect.methods.suppression.start.cleanup import cuts_of, inequalities
from tabprotect.methods.suppression.start.root_solve import root_solve
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.mip.pool import pool_solver
from tabprotect.solver.mip.rows import RowPool
from tabprotect.solver.tasks.pieces import Means

__all__ = ["exact"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


def exact(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    engine: str = "scip",
    known: Known = NOTHING,
    means: Means | None = None,
    prove: bool = True,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Find the cheapest pattern that protects all primaries, or the best one within the limits, and a lower bound.

    Fischetti and Salazar-Gonzalez (2000), with pools of cuts solved by a MIP solver. Any-time: limits, ``limits.stop``
    and Ctrl-C end the search with the best safe pattern and the best bound so far.

    Parameters
    ----------
    problem : Problem
    limits : Limits or Budget, optional
    seed : int
        Of the heuristics.
    progress : callable, optional
    engine : {'scip', 'highs'}
        What solves the integer programmes; attacks are always on HiGHS.
    known : Known
        From other searches. With `means` rows, cuts and whether a pattern is cleaned up are not used.
    means : Means, optional
        Then independent cores are searched side by side, in rounds whose outcome is kept.
    prove : bool
        Prove the bound of the relaxation in exact arithmetic at the end, for a certificate.
    options : Options
        Of all stages of the search.

    Returns
    -------
    SuppressionResult
        Status 'optimal', 'feasible' (with a gap), 'infeasible' (the cells named; all others are protected), or
        'unknown' (no safe pattern within the limits).

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> result = exact(p)
    >>> result.status, result.cost, result.bound, result.suppressed.tolist()
    ('optimal', 17.0, 17.0, [4, 5, 7, 8])
    """
    solver = pool_solver(engine)
    budget = Budget.of(limits, progress)
    prove = prove and problem.n_cells <= options.proof.most_cells
    with cancel_on_interrupt(budget):
        judge = Witnesses(problem)
        judge.offer_many(known.deviations)
        judge.offer_scaled(problem.may_hide | problem.must_hide)
        pattern = (
            root_solve(problem, judge, solver, budget, options.root_solve)
            if known.start is None and not means
            else None
        )
        known = known if pattern is None else replace(known, start=pattern)
        begun = budget.seconds
        reduction = reduce_problem(problem)
        rng = np.random.default_rng(seed)
        seeds = [int(rng.integers(2**31)) for _ in reduction.cores]
        searches = [Search(core, solver, seed, options) for core, seed in zip(reduction.cores, seeds, strict=True)]
        proof_seconds = options.proof.reduction_multiple * (budget.seconds - begun) if prove else 0.0
        reserved = proof_seconds / max(budget.seconds_left, 1e-9)
        with budget.part(1.0 - (reserved if reserved <= options.proof.limit_share else 0.0)) as part:
            if means:
                found = search_in_rounds(reduction, seeds, part, known.start, engine, means, options)
                for s, its in zip(searches, found, strict=True):
                    s.best, s.bound = its.best, its.bound
            else:
                _search(searches, reduction, part, known, judge, options.schedule)
                found = [s.snapshot() for s in searches]
            ended = stopped(part)
        if all(s.best is not None for s in searches):
            pattern = reduction.pattern([s.best for s in searches if s.best is not None])
            for s in searches:
                assert s.best is not None
                judge.offer_all(s.part.lift(s.judge.deviations(s.best, few=not problem.attackers)))
        result = finish(problem, judge, pattern, budget, f"exact ({engine})", options)
        result = replace(result, stopped=result.stopped or ended, deviations=judge.known_about(result.pattern))
        pools = {k: (its.rows.pool, its.rows.x) for k, its in enumerate(found) if its.rows is not None}
        if result.safe and not result.stopped and any(k not in pools and not s.done for k, s in enumerate(searches)):
            result = replace(result, message="levels are reached to floating-point accuracy only: there is no bound")
        if prove and result.safe:
            cuts = _time_for_cuts(budget, result.stopped == "cancelled", proof_seconds, options.proof.cuts_share)
            result = _proven(result, reduction, pools, cuts, options)
    learned = inequalities_of(reduction, ((reduction.cores[k], pool) for k, (pool, _) in pools.items()))
    bound = reduction.constant + sum(s.bound for s in searches)
    if isinstance(result.cuts, BoundProof):
        bound = max(bound, float(result.cuts.bound))
    # searches in rounds keep theirs to themselves
    met = None if means else inequalities_of(reduction, ((s.core, inequalities(s.cuts, s.core.n)) for s in searches))
    cleaned = not means and all(s.cleaned or s.done for s in searches)
    return with_bound(replace(result, rows=learned, attacker_cuts=met, cleaned=cleaned), bound)


def _time_for_cuts(budget: Budget, cancelled: bool, proof_seconds: float, share: float) -> Budget | None:
    """Return the budget of joint cuts in a proof, a share of the time left; None where the proof has no time itself."""
    left = 0.0 if cancelled else budget.seconds_left
    if proof_seconds > left + 1.0:
        return None
    return Budget(replace(budget.limits, seconds=None if math.isinf(left) else share * left, work=None))


def _proven(
    result: SuppressionResult,
    reduction: Reduction,
    pools: Mapping[int, tuple[RowPool, Floats]],
    cuts: Budget | None,
    options: Options,
) -> SuppressionResult:
    """Return a result with the proof of its bound, or with the remark that there was no time for one.

    Joint cuts are looked for within the budget `cuts`; None where no time is left at all.
    """
    if cuts is not None:
        return replace(result, cuts=bound_proof(reduction, pools, cuts, options.relaxation))
    return result.with_message("no time was left to prove the bound in exact arithmetic")


def _search(
    searches: list[Search],
    reduction: Reduction,
    budget: Budget,
    known: Known,
    judge: Witnesses,
    options: ScheduleOptions,
) -> None:
    if known.attacker_cuts is not None:
        for s, (matrix, need) in zip(searches, rows_of_cores(known.attacker_cuts, reduction), strict=True):
            s.cuts.extend(cuts_of(matrix, need))
    if known.rows is not None:
        for s, mine in zip(searches, rows_of_cores(known.rows, reduction), strict=True):
            s.known = mine
    report = reporter(searches, reduction.constant, budget)
    hints: list[Bools | None] = [None] * len(searches)
    everything = judge.problem.may_hide | judge.problem.must_hide
    deviations = judge.deviations(everything if known.start is None else known.start)
    for s in searches:
        s.judge.offer_all(s.part.restrict(deviations))
    if known.start is not None:
        for k, (s, pattern) in enumerate(zip(searches, reduction.patterns(known.start), strict=True)):
            hints[k] = pattern
            s.offer(pattern, budget)
    for s, hint in zip(searches, hints, strict=True):
        s.report = report
        s.start(budget, hint, cleaned=known.cleaned)
    if all(s.best is not None for s in searches):
        go_on(searches, reduction.constant, budget, options)
