"""Which suppression method suits a problem, and why."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.counted import counted
from tabprotect.methods.suppression.large.stages import local_in_stages
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.merge import joined
from tabprotect.methods.suppression.postsolve.finish import finish
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.start.root_solve import root_solve
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits, Progress, cancel_on_interrupt
from tabprotect.solver.mip.pool import pool_solver
from tabprotect.solver.tasks.pieces import Means

__all__ = [
    "EXACT_CELLS",
    "SMALL_CELLS",
    "automatic",
    "because",
    "begins",
    "by_root_solve",
    "choose",
    "ended",
    "nearness",
]

Bools = npt.NDArray[np.bool_]

SMALL_CELLS = 1_000
"""Up to this many cells the exact engine finds its own start."""

TRIED_CELLS = 300
"""Up to this many cells the exact engine's own first pool is as good a start as any."""

LOCAL_CELLS = 3_000
"""Beyond this many cells tables of three and more dimensions whose equations reach few cells are worked on locally."""

PROBED_CELLS = 5_000
"""Up to this many cells the exact engine takes tables of two dimensions with attackers who know cells."""

EXACT_CELLS = 30_000
"""Beyond this many cells all tables are worked on locally."""

HOPS, SAMPLE, FAR = 4, 30, 0.3
"""A table has near equations where so many hops from a primary lead to at most this share of the cells."""

TWO_WAY = 2.75
"""Cells in at most so many equations on average are those of tables of two dimensions, whose relaxations are tight."""

MANY = 400
"""With more primaries than this the relaxation of such a table takes longer than local programmes."""

TIGHT = 1.6
"""Up to 30,000 cells the exact engine goes on from local programmes once their cost is at most so many times their
bound, if nobody knows cells: then relaxations are tight."""

LINKED = 4.5
"""Cells in more equations than this on average are linked so strongly that local programmes find no way through."""

DENSE = 0.2
"""Where more than this share of the cells is primary, solutions of the first pool protect nearly all: they are the
better start."""

PROBE_SHARE, PROBE_WORK = 0.4, 500_000
"""Share of the limits, and work, that a first pattern to start from may take at most; it mostly takes much less."""

PROBE_CLEANUP, PROBE_PATIENCE = 0.5, 2.0
"""Share of what is left of that for cleaning up a pattern of cheapest witnesses, and how many times longer than that
share it may seem to take before it is given up."""


def nearness(problem: Problem) -> float:
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
    some = primaries[np.unique(np.linspace(0, len(primaries) - 1, SAMPLE).astype(np.int64))]
    near = Surroundings(problem.system)
    sizes = [len(near.ball(np.array([p]), HOPS, problem.may_hide)) for p in some.tolist()]
    return float(np.median(sizes)) / problem.n_cells


def choose(problem: Problem) -> tuple[str, str]:
    """Return the method that suits a problem, and why.

    Examples
    --------
    >>> choose(Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2))
    ('exact', '4 cells are at most 3,000')
    """
    n = problem.n_cells
    if n <= LOCAL_CELLS:
        return "exact", f"{counted(n, 'cell is', 'cells are')} at most {LOCAL_CELLS:,}"
    if n > EXACT_CELLS:
        return "local", f"{counted(n, 'cell is', 'cells are')} more than {EXACT_CELLS:,}"
    links = problem.system.A.nnz / n
    if links > LINKED:
        return "exact", f"each of {n:,} cells is in {links:.1f} equations on average"
    watched = problem.attackers and n > PROBED_CELLS
    if links <= TWO_WAY and not watched and (len(problem.primaries) <= MANY or _is_dense(problem)):
        return "exact", f"each of {n:,} cells is in only {links:.1f} equations on average"
    share = nearness(problem)
    why = f"{HOPS} equations lead from a primary to {100 * share:.0f} % of {n:,} cells"
    return "local" if share <= FAR else "exact", why


def automatic(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
    engine: str,
    start: Bools | None,
    deviations: Sequence[Deviation] = (),
    means: Means | None = None,
) -> SuppressionResult:
    """Choose by size, dimensions and how far equations reach; the `method` of the result says what and why.

    Where cost and local bound come close to each other, relaxations are tight, and the exact engine goes on from there.

    Parameters
    ----------
    As in `tabprotect.methods.suppression.suppress`.
    """
    budget = Budget.of(limits, progress)
    method, why = choose(problem)
    shared: dict[str, Any] = {"seed": seed, "engine": engine, "means": means or Means()}
    if method == "exact" and begins(problem) == "exact":
        return because(exact(problem, limits=budget, start=start, **shared), why)
    if start is None and means is None and problem.n_cells <= EXACT_CELLS:
        first = by_root_solve(problem, budget, engine)
        if first.safe:
            with budget.run() as rest:
                result = joined(first, exact(problem, limits=rest, start=first.pattern, **shared))
            return because(result, "its relaxation leaves little open")
    if method == "exact" and begins(problem) == "greedy":
        with budget.run(PROBE_SHARE, work=PROBE_WORK) as part:
            first = greedy(problem, limits=part, seed=seed, restarts=0, cleanup=PROBE_CLEANUP,
                           patience=PROBE_PATIENCE, start=start, means=means)  # fmt: skip
        if ended(first):
            return because(first, why)
        with budget.run() as rest:
            result = exact(problem, limits=rest, start=first.pattern if first.safe else start, **shared)
        return because(joined(first, result), why)
    alone = method == "local" and (problem.n_cells > EXACT_CELLS or bool(problem.attackers))
    how: dict[str, Any] = {}
    if method == "exact":
        # enough for a first pattern where local programmes are small; where they are not, time is for the exact engine
        how = {"share": PROBE_SHARE, "work": PROBE_WORK}
    elif not alone:
        how = {"gap": max(budget.limits.gap, 1 - 1 / TIGHT)}
    with budget.run(**how) as part:
        passes = 0 if method == "exact" else None
        first = local_in_stages(problem, start=start, deviations=deviations, limits=part, passes=passes, **shared)
    done = first.gap is not None and first.gap <= budget.limits.gap
    loose = method == "local" and (first.gap is None or first.gap > part.limits.gap)
    if alone or done or loose or ended(first) or first.status == "optimal":
        return because(first, why)
    with budget.run() as rest:
        result = exact(problem, limits=rest, start=first.pattern if first.safe else start, **shared)
    return because(joined(first, result), why)


def by_root_solve(problem: Problem, budget: Budget, engine: str) -> SuppressionResult:
    """Return the pattern of the root solve alone, without a bound; unknown where that takes more than a moment."""
    judge = Witnesses(problem)
    with budget.run() as part, cancel_on_interrupt(part):
        pattern = root_solve(problem, judge, pool_solver(engine), part)
        return finish(problem, judge, pattern, part, "root solve")


def begins(problem: Problem) -> str:
    """Return the method whose first pattern is a better start for the exact engine than that of its own first pool."""
    n = problem.n_cells
    if n <= TRIED_CELLS or _is_dense(problem):
        return "exact"
    return "greedy" if problem.system.A.nnz > LINKED * n else "local"


def _is_dense(problem: Problem) -> bool:
    return len(problem.primaries) > DENSE * problem.n_cells


def ended(result: SuppressionResult) -> bool:
    """Whether nothing more should be begun."""
    return result.stopped in ("cancelled", "memory")


def because(result: SuppressionResult, why: str) -> SuppressionResult:
    """Return a result that says why its method was chosen."""
    return replace(result, method=f"auto: {result.method}, since {why}")
