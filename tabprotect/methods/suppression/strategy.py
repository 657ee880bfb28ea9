"""Which suppression method suits a problem, and why."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.counted import counted
from tabprotect.methods.suppression.large.method import charge_power
from tabprotect.methods.suppression.large.stages import local_in_stages
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.merge import joined
from tabprotect.methods.suppression.options import DEFAULTS, Options, changed
from tabprotect.methods.suppression.postsolve.finish import finish
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.start.root_solve import root_solve
from tabprotect.problem import Problem
from tabprotect.solver.credit import meter_left
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.mip.pool import pool_solver
from tabprotect.solver.mip.rows import Inequalities
from tabprotect.solver.tasks.pieces import Means

__all__ = [
    "automatic",
    "because",
    "begins",
    "by_root_solve",
    "choose",
    "ended",
    "nearness",
]

Bools = npt.NDArray[np.bool_]


def nearness(problem: Problem, options: Options = DEFAULTS) -> float:
    """Return the median share of cells within a few equations of a primary.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0], [0, 0, -1, 1, 1]]
    >>> nearness(Problem.from_arrays(A, [9, 4, 5, 2, 3], primary=[1], lpl=1, upl=1))
    1.0
    """
    primaries = problem.primaries
    if not len(primaries):
        return 0.0
    some = primaries[np.unique(np.linspace(0, len(primaries) - 1, options.choice.near_primaries).astype(np.int64))]
    near = Surroundings(problem.system)
    sizes = [len(near.ball(np.array([p]), options.choice.near_equations, problem.may_hide)) for p in some.tolist()]
    return float(np.median(sizes)) / problem.n_cells


def choose(problem: Problem, options: Options = DEFAULTS) -> tuple[str, str]:
    """Return the method that suits a problem, and why.

    Examples
    --------
    >>> choose(Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2))
    ('exact', '4 cells are at most 3,000')
    """
    n = problem.n_cells
    size = counted(n - problem.sums, "cell")
    if problem.sums:
        # later rounds may find more
        size += f" and {counted(problem.sums, 'sum')} found until then"
    if n <= options.choice.always_exact_cells:
        return "exact", f"{size} {'is' if n == 1 else 'are'} at most {options.choice.always_exact_cells:,}"
    if n > options.choice.never_exact_cells:
        return "local", f"{size} {'is' if n == 1 else 'are'} more than {options.choice.never_exact_cells:,}"
    links = problem.system.A.nnz / n
    if links > options.choice.linked_equations:
        return "exact", f"each of {size} is in {links:.1f} equations on average"
    watched = problem.attackers and n > options.choice.attacker_cells
    few = len(problem.primaries) <= options.choice.two_way_primaries
    if links <= options.choice.two_way_equations and not watched and (few or _is_dense(problem, options)):
        return "exact", f"each of {size} is in only {links:.1f} equations on average"
    share = nearness(problem, options)
    why = f"{options.choice.near_equations} equations lead from a primary to {100 * share:.0f} % of {size}"
    return "local" if share <= options.choice.near_share else "exact", why


def automatic(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
    engine: str,
    start: Bools | None,
    deviations: Sequence[Deviation] = (),
    rows: Inequalities | None = None,
    means: Means | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Choose by size, dimensions and how far equations reach; the `method` of the result says what and why.

    Where cost and local bound come close to each other, relaxations are tight, and the exact engine goes on from there.
    It takes tables that it is chosen for from their first pattern, but later where attackers know cells and the bound
    is far.

    Parameters
    ----------
    As in `tabprotect.methods.suppression.suppress`.
    """
    budget = Budget.of(limits, progress)
    method, why = choose(problem, options)
    shared: dict[str, Any] = {"seed": seed, "engine": engine, "means": means or Means(), "options": options}
    if method == "exact" and begins(problem, options) == "exact":
        return because(exact(problem, limits=budget, start=start, rows=rows, **shared), why)
    if start is None and means is None and problem.n_cells <= options.choice.never_exact_cells:
        first = by_root_solve(problem, budget, engine, options)
        if first.safe:
            with budget.run() as rest:
                result = joined(first, exact(problem, limits=rest, start=first.pattern, rows=rows, **shared))
            return because(result, "its relaxation leaves little open")
    if method == "exact" and begins(problem, options) == "greedy":
        share = options.choice.probe_patience * options.choice.probe_limit_share
        first = _by_witnesses(problem, budget, share, start, seed, means, options)
        if ended(first):
            return because(first, why)
        with budget.run() as rest:
            result = exact(problem, limits=rest, start=first.pattern if first.safe else start, rows=rows, **shared)
        return because(joined(first, result), why)
    alone = method == "local" and (problem.n_cells > options.choice.never_exact_cells or bool(problem.attackers))
    limited = method == "exact" and start is None and not math.isinf(meter_left(budget))
    watched = limited and bool(problem.attackers)
    how: dict[str, Any] = {}
    if method == "exact":
        # enough for a first pattern where local programmes are small; where they are not, time is for the exact engine
        share = options.choice.watched_limit_share if watched else options.choice.probe_limit_share
        how = {"share": share, "work": options.choice.probe_work}
    if watched or not (method == "exact" or alone):
        how["gap"] = max(budget.limits.gap, 1 - 1 / options.choice.tight_ratio)
    tried, powers = None, options.local.rebuild.charge_powers
    if limited and not problem.attackers:
        tried, powers = _by_trial(problem, budget, seed, means, options)
    if tried is not None:
        first = tried
    else:
        near = shared | {"options": changed(options, "local.rebuild.charge_powers", powers)}
        with budget.run(**how) as part:
            passes = 0 if method == "exact" and not watched else None
            first = local_in_stages(problem, start=start, deviations=deviations, limits=part, passes=passes, **near)
        if limited and not first.safe and not ended(first):
            first = _completed(first, problem, budget, seed, means, options)
    done = first.gap is not None and first.gap <= budget.limits.gap
    loose = method == "local" and (first.gap is None or first.gap > how.get("gap", budget.limits.gap))
    if alone or done or loose or ended(first) or first.status == "optimal":
        return because(first, why)
    with budget.run() as rest:
        result = exact(problem, limits=rest, start=first.pattern if first.safe else start, rows=rows, **shared)
    return because(joined(first, result), why)


def _by_trial(
    problem: Problem, budget: Budget, seed: int, means: Means | None, options: Options
) -> tuple[SuppressionResult | None, tuple[float, ...]]:
    """Return a pattern of cheapest witnesses where a trial finds that cells are best charged by what they cost alone.

    Local programmes would do the same there, and take longer. Where there is none, the power that they are to take: the
    first one where cheapest witnesses take too long.
    """
    with budget.run() as part:
        power, hidden = charge_power(problem, part, options)
    if power or hidden >= options.choice.trial_gain:
        return None, (power,)
    share = options.choice.probe_patience * options.choice.probe_limit_share
    first = _by_witnesses(problem, budget, share, None, seed, means, options)
    return first if first.safe or ended(first) else None, options.local.rebuild.charge_powers[:1]


def _completed(
    first: SuppressionResult, problem: Problem, budget: Budget, seed: int, means: Means | None, options: Options
) -> SuppressionResult:
    """Return a pattern in which cheapest witnesses answer what local programmes left open, as far as limits go."""
    share = options.choice.probe_patience * options.choice.probe_limit_share
    return joined(first, _by_witnesses(problem, budget, share, first.pattern, seed, means, options, math.inf))


def _by_witnesses(
    problem: Problem,
    budget: Budget,
    share: float,
    start: Bools | None,
    seed: int,
    means: Means | None,
    options: Options,
    patience: float = 1.0,
) -> SuppressionResult:
    """Return a pattern of cheapest witnesses; unknown where it takes longer than a share of the limits, or seems to."""
    cleanup = options.choice.probe_cleanup_share
    how: dict[str, Any] = {"restarts": 0, "cleanup": cleanup, "patience": patience}
    with budget.run(min(1.0, share), work=options.choice.probe_work) as part:
        return greedy(problem, limits=part, seed=seed, start=start, means=means, options=options, **how)


def by_root_solve(problem: Problem, budget: Budget, engine: str, options: Options = DEFAULTS) -> SuppressionResult:
    """Return the pattern of the root solve alone, without a bound; unknown where that takes more than a moment."""
    judge = Witnesses(problem)
    with budget.run() as part, cancel_on_interrupt(part):
        pattern = root_solve(problem, judge, pool_solver(engine), part, options.root_solve)
        return finish(problem, judge, pattern, part, "root solve", options)


def begins(problem: Problem, options: Options = DEFAULTS) -> str:
    """Return the method whose first pattern is a better start for the exact engine than that of its own first pool."""
    n = problem.n_cells
    if n <= options.choice.own_start_cells or _is_dense(problem, options):
        return "exact"
    return "greedy" if problem.system.A.nnz > options.choice.linked_equations * n else "local"


def _is_dense(problem: Problem, options: Options) -> bool:
    return len(problem.primaries) > options.choice.dense_primaries * problem.n_cells


def ended(result: SuppressionResult) -> bool:
    """Whether nothing more should be begun."""
    return result.stopped in ("cancelled", "memory")


def because(result: SuppressionResult, why: str) -> SuppressionResult:
    """Return a result that says why its method was chosen."""
    return replace(result, method=f"auto: {result.method}, since {why}")
