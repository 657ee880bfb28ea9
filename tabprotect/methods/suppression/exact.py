"""Suppression at least cost, with a bound: reduction, branch and cut on every core, judgement of the whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.finish import finish, stopped
from tabprotect.methods.suppression.glance import glance
from tabprotect.methods.suppression.presolve import Reduction, reduce_problem
from tabprotect.methods.suppression.proofs import bound_proof
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.rounds import search_in_rounds
from tabprotect.methods.suppression.search import Search
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits, Progress, cancel_on_interrupt
from tabprotect.solver.pieces import Means
from tabprotect.solver.pool_milp import pool_solver
from tabprotect.solver.sides import Side, is_first, meter, meter_left
from tabprotect.solver.tolerances import OPTIMAL

__all__ = ["exact", "go_on"]

Bools = npt.NDArray[np.bool_]

FIRST_SHARE = 0.05
"""Share of the limit for making the first choices of small cores cheaper before their trees."""

TREE_SHARE = 0.25
"""Share of the limit for one tree on small cores, before pools."""

SLICE = 0.04
"""Largest share of the limit after which it is decided anew whether to look for cheaper choices or for a better
bound."""

GROWTH = 0.15
"""Slices are this share of what was spent so far, if that is less: easy problems do not wait for a long limit."""

LEAST = 0.02
"""But they are no smaller than this share of the largest ones."""

FAIR = 0.25
"""Each of the two gets at least this share."""

FLOW_SHARE = 0.2
"""Pools that are of use go on for this share of the limit before anything else has its turn."""

FLOW_GROWTH = 2.0
"""Such a pool may take so many times of what was spent so far, since one that is cut short has to start again."""

PROOF_TIME = 20.0
"""Proving the bound takes at most about so many times as long as the reduction of the problem; that is set aside."""

PROOF_SHARE = 0.2
"""The largest share of a limit in seconds that is set aside for it."""

PROOF_CELLS = 20_000
"""Up to this many cells the bound of the relaxation is proven in exact arithmetic."""


def exact(
    problem: Problem,
    *,
    limits: Limits | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    engine: str = "scip",
    start: Bools | None = None,
    means: Means | None = None,
    prove: bool = True,
) -> SuppressionResult:
    """Find the cheapest pattern that protects all primaries, or the best one within the limits, and a lower bound.

    Fischetti and Salazar-Gonzalez (2000), with pools of cuts solved by a MIP solver. Any-time: limits, ``limits.stop``
    and Ctrl-C end the search with the best safe pattern and the best bound so far.

    Parameters
    ----------
    problem : Problem
    limits : Limits, optional
    seed : int
        Of the heuristics.
    progress : callable, optional
    engine : {'scip', 'highs'}
        What solves the integer programmes; attacks are always on HiGHS.
    start : ndarray of bool, shape (cells,), optional
        A pattern to start from.
    means : Means, optional
        Then independent cores are searched side by side, in rounds whose outcome is kept.
    prove : bool
        Prove the bound of the relaxation in exact arithmetic at the end, for a certificate.

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
    budget = Budget(limits or Limits(), progress)
    with cancel_on_interrupt(budget):
        judge = Witnesses(problem)
        pattern = glance(problem, judge, solver, budget) if start is None and not means else None
        start = pattern if start is None else start
        begun = budget.seconds
        reduction = reduce_problem(problem)
        rng = np.random.default_rng(seed)
        seeds = [int(rng.integers(2**31)) for _ in reduction.cores]
        searches = [Search(core, solver, seed) for core, seed in zip(reduction.cores, seeds, strict=True)]
        proof_seconds = PROOF_TIME * (budget.seconds - begun) if prove and problem.n_cells <= PROOF_CELLS else 0.0
        with budget.part(1.0 - min(PROOF_SHARE, proof_seconds / max(budget.seconds_left, 1e-9))) as part:
            if means:
                found = search_in_rounds(reduction, seeds, part, start, engine, means)
                for s, known in zip(searches, found, strict=True):
                    s.best, s.bound = known.best, known.bound
            else:
                _search(searches, reduction, part, start, judge, engine)
                found = [s.snapshot() for s in searches]
            ended = stopped(part)
        if all(s.best is not None for s in searches):
            pattern = reduction.pattern([s.best for s in searches if s.best is not None])
            for s in searches:
                assert s.best is not None
                judge.offer_all(s.part.lift(s.judge.deviations(s.best, few=not problem.attackers)))
        result = finish(problem, judge, pattern, budget, f"exact ({engine})")
        result = replace(result, stopped=result.stopped or ended)
        pools = {k: (known.rows.pool, known.rows.x) for k, known in enumerate(found) if known.rows is not None}
        if result.safe and not result.stopped and any(k not in pools and not s.done for k, s in enumerate(searches)):
            result = replace(result, message="levels are reached to floating-point accuracy only: there is no bound")
        proof = None
        if prove and result.safe and problem.n_cells <= PROOF_CELLS:
            left = 0.0 if result.stopped == "cancelled" else budget.seconds_left
            if proof_seconds <= left + 1.0:
                proof = bound_proof(reduction, pools)
            else:
                late = "no time was left to prove the bound in exact arithmetic"
                result = replace(result, message="; ".join(filter(None, (result.message, late))))
    return _with_bound(replace(result, cuts=proof), reduction.constant + sum(s.bound for s in searches))


def _search(
    searches: list[Search], reduction: Reduction, budget: Budget, start: Bools | None, judge: Witnesses, engine: str
) -> None:
    report = _reporter(searches, reduction.constant, budget)
    hints: list[Bools | None] = [None] * len(searches)
    if start is not None:
        known = judge.deviations(start)
        for k, (s, choice) in enumerate(zip(searches, reduction.choices(start), strict=True)):
            hints[k] = choice
            s.judge.offer_all(s.part.restrict(known))
            s.offer(choice, budget)
    for s, hint in zip(searches, hints, strict=True):
        s.told = report
        s.start(budget, hint)
    if all(s.best is not None for s in searches):
        go_on(searches, reduction.constant, budget, engine)


def _reporter(searches: list[Search], constant: float, budget: Budget) -> Callable[[str], None]:
    def report(stage: str) -> None:
        cost = constant + sum(s.cost for s in searches)
        bound = constant + sum(s.bound for s in searches)
        budget.report(stage, cost if np.isfinite(cost) else None, bound)

    return report


def go_on(searches: list[Search], constant: float, budget: Budget, engine: str) -> None:
    """Bring cost and bound of started searches together, as far as the budget goes; `constant` is paid in any case."""
    report = _reporter(searches, constant, budget)
    report("start")
    if engine == "scip":
        for k, s in enumerate(searches):
            with budget.part(FIRST_SHARE / max(1, len(searches) - k)) as part:
                s.tidy(part)
            with budget.part(TREE_SHARE / max(1, len(searches) - k)) as part:
                s.tree(part)
        report("tree")
    sides = {"bound": Side(), "choice": Side()}
    turn = "bound"
    while not budget.exhausted:
        open_ = [s for s in searches if not s.done and s.relaxation is not None]
        gap = sum(s.cost - s.bound for s in open_)
        cost = constant + sum(s.cost for s in searches)
        if not open_ or gap <= budget.limits.gap * cost:
            return
        worst = max(open_, key=lambda s: s.cost - s.bound)
        before = meter(budget)
        length = _slice(budget)
        while True:
            most = length * worst.slices(turn)
            if turn == "bound" and worst.flows:
                most = max(most, min(FLOW_GROWTH * meter(budget), FLOW_SHARE * meter_left(budget)))
            with budget.part(most / max(length, meter_left(budget)) if length else 1.0) as part:
                if turn == "bound":
                    worst.lift(part)
                else:
                    worst.improve(part)
            if budget.exhausted or worst.done or not meter(budget) < before + length:
                break
        report(turn)
        left = sum(s.cost - s.bound for s in open_)
        untold = turn == "bound" and not sides["bound"].spent and left >= gap and worst.primed
        sides[turn].record((gap - left) / gap, meter(budget) - before)
        flows = untold or (worst.flows and not meter(budget) > FLOW_SHARE * (meter(budget) + meter_left(budget)))
        turn = "bound" if flows else _next(sides)


def _next(sides: dict[str, Side]) -> str:
    """Time follows the gains; both sides keep a fair share."""
    return "choice" if is_first(sides["choice"], sides["bound"], FAIR) else "bound"


def _slice(budget: Budget) -> float:
    """Return the length of the next slice in the unit of the limit; 0 (no end) without a limit."""
    limit = budget.limits.work if budget.limits.seconds is None else budget.limits.seconds
    longest = SLICE * float(limit or 0.0)
    return max(LEAST * longest, min(longest, GROWTH * meter(budget)))


def _with_bound(result: SuppressionResult, bound: float) -> SuppressionResult:
    """Add the bound; optimal when it meets the cost."""
    if result.cost is None:
        return replace(result, bound=bound if result.status == "unknown" else None)
    optimal = bound >= result.cost - OPTIMAL * abs(result.cost)
    return replace(
        result,
        bound=result.cost if optimal else bound,
        status="optimal" if optimal else result.status,
        stopped="" if optimal else result.stopped,
    )
