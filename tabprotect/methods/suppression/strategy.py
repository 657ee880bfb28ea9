"""What `auto` does: the method that suits a problem, others beside it where limits allow, and the best of them all."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.choice import begins, choose
from tabprotect.methods.suppression.merge import joined
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.portfolio import Portfolio, ended
from tabprotect.methods.suppression.postsolve.finish import finish
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.known import NOTHING, Known
from tabprotect.methods.suppression.start.root_solve import root_solve
from tabprotect.problem import Problem
from tabprotect.solver.credit import meter_left
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.mip.pool import pool_solver
from tabprotect.solver.tasks.pieces import Means

__all__ = ["automatic", "because", "by_root_solve"]

Bools = npt.NDArray[np.bool_]


def automatic(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
    engine: str,
    known: Known = NOTHING,
    means: Means | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Choose by size, dimensions and how far equations reach; the `method` of the result says what and why.

    Where cost and local bound come close to each other, relaxations are tight, and the exact engine goes on from there.
    Under a limit it takes tables that it is chosen for from there, too. Where cost and bound stay far from each other,
    it first looks among the cells of that pattern, and of one by another method where there is time for it. Where
    attackers know cells, local programmes make their pattern cheaper for as long as they gain enough before that.

    Parameters
    ----------
    As in `tabprotect.methods.suppression.suppress`.
    """
    budget, start = Budget.of(limits, progress), known.start
    run = Portfolio(problem, budget, seed, engine, means, options)
    method, why = choose(problem, options)
    if method == "exact" and begins(problem, options) == "exact":
        return because(run.exact(known), why)
    if start is None and means is None and problem.n_cells <= options.choice.never_exact_cells:
        first = by_root_solve(problem, budget, engine, options)
        if first.safe:
            return because(
                joined(first, run.exact(Known(first.pattern, rows=known.rows))), "its relaxation leaves little open"
            )
    limited = start is None and not math.isinf(meter_left(budget)) and _may_search_inside(problem, method, options)
    gap = budget.limits.gap
    if method == "exact" and begins(problem, options) == "greedy":
        first, other = run.by_witnesses(1.0, start, run.patience, in_bulk=True), ""
    else:
        alone = method == "local" and (problem.n_cells > options.choice.never_exact_cells or bool(problem.attackers))
        if limited or (method == "local" and not alone):
            gap = max(gap, 1 - 1 / options.choice.tight_ratio)
        first, other = run.first(method, start, known.deviations, gap, limited)
        loose = first.gap is None or first.gap > gap
        inside = limited and first.safe and run.has_time()
        near = first.gap is not None and first.gap <= budget.limits.gap
        spent = limited and first.safe and bool(problem.attackers) and not inside
        if alone or near or spent or first.status == "optimal" or (method == "local" and loose and not inside):
            return because(first, why)
    # a search among the cells of the pattern has no bound: what is left may be needed for one
    limited = limited and (first.bound is not None or run.has_time(2 * options.schedule.bound_limit_share))
    if limited and first.safe and not ended(first) and (first.gap is None or first.gap > gap):
        first = run.recombined(first, other)
    if ended(first):
        return because(first, why)
    if not first.safe:
        return because(joined(first, run.exact(known)), why)
    rest = run.exact(Known.of(first, known.rows))
    return because(joined(first, rest), why)


def by_root_solve(problem: Problem, budget: Budget, engine: str, options: Options = DEFAULTS) -> SuppressionResult:
    """Return the pattern of the root solve alone, without a bound; unknown where that takes more than a moment."""
    judge = Witnesses(problem)
    with budget.run() as part, cancel_on_interrupt(part):
        pattern = root_solve(problem, judge, pool_solver(engine), part, options.root_solve)
        return finish(problem, judge, pattern, part, "root solve", options)


def _may_search_inside(problem: Problem, method: str, options: Options) -> bool:
    """Whether the exact engine may search among the cells of a pattern; audits of what it finds take longer."""
    return method == "exact" or (not problem.attackers and problem.n_cells <= options.choice.inside_cells)


def because(result: SuppressionResult, why: str) -> SuppressionResult:
    """Return a result that says why its method was chosen."""
    return replace(result, method=f"auto: {result.method}, since {why}")
