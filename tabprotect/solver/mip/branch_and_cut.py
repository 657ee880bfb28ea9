"""Branch and cut over a separator: the rows that are not written down are added where they are violated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, SolverError, did_you_mean
from tabprotect.seeds import Seed, as_seed
from tabprotect.solver.gap import is_optimal
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.mip.lazy import LazyResult, Oracle, Programme, Separator
from tabprotect.solver.tolerances import ROW_FEASIBILITY

__all__ = ["branch_and_cut"]

Floats = npt.NDArray[np.float64]

ENGINES = ("scip", "highs")


def branch_and_cut(
    programme: Programme,
    separator: Separator,
    *,
    engine: str = "scip",
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
    seed: Seed = 0,
    heuristic: Callable[[Floats], Floats | None] | None = None,
) -> LazyResult:
    """Minimise over all points that satisfy the written rows and in which the separator finds nothing.

    Limits, ``limits.stop`` and Ctrl-C end the search with the best solution and bound so far.

    Parameters
    ----------
    programme : Programme
    separator : Separator
    engine : {'scip', 'highs'}
        One tree on SCIP, rows added in its nodes; or complete integer programmes on HiGHS, one after the other (no
        solution is known before the last, unless the heuristic finds one).
    limits : Limits, optional
    progress : callable, optional
    seed : int or numpy.random.Generator
        Of the solvers' own random numbers.
    heuristic : callable, optional
        Is handed points of the relaxation and may return a solution, which is checked like any other.

    Returns
    -------
    LazyResult

    Raises
    ------
    InputError
        If there is no such engine, or a row of the separator cannot be.
    SolverError
        If the solver fails or returns what is no solution, or a row of the separator cuts off a solution.

    Examples
    --------
    At least one of every three neighbours on a ring of five, without writing that down:

    >>> from tabprotect.solver.mip.lazy import at_least
    >>> class Ring:
    ...     def cuts(self, x, integral):
    ...         triples = [(k, (k + 1) % 5, (k + 2) % 5) for k in range(5)]
    ...         return [at_least(t, 1.0, 1) for t in triples if sum(x[i] for i in t) < 1 - 1e-6]
    >>> result = branch_and_cut(Programme([3, 1, 1, 1, 1]), Ring())
    >>> result.status, result.objective, result.bound
    ('optimal', 2.0, 2.0)
    """
    if engine not in ENGINES:
        raise InputError(f"no engine '{engine}'{did_you_mean(engine, ENGINES)}")
    budget, seed = Budget(limits or Limits(), progress), as_seed(seed)
    oracle = Oracle(programme, separator)
    if engine == "scip":
        from tabprotect.solver.mip.lazy_scip import solve
    else:
        from tabprotect.solver.mip.lazy_highs import solve
    with cancel_on_interrupt(budget):
        best, bound, ended = solve(programme, oracle, budget, seed, heuristic)
    oracle.raise_if_any()
    cost = None if best is None else float(programme.cost @ best)
    if best is not None:
        if not (programme.satisfied(best) and oracle.passes(best)):
            oracle.raise_if_any()
            raise SolverError(f"{engine} returned a point that violates rows")
        if any(row.slack(best) < -10 * ROW_FEASIBILITY for row in oracle.rows.values()):
            raise SolverError("a row of the separator cuts off a solution that it passes; its rows are wrong")
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    if ended or is_optimal(cost, bound):
        ended = True
        status, bound = "infeasible" if cost is None else "optimal", cost
    else:
        status = "unknown" if cost is None else "feasible"
    if cost is not None and bound is not None:
        bound = min(bound, cost)
    stopped = "" if ended else budget.stopped
    return LazyResult(status, best, cost, bound, tuple(oracle.rows.values()), budget.seconds, budget.work, stopped)
