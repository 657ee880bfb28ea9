"""Small count rounding: only the inner cells behind small published counts change, and everything still adds up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.errors import collect
from tabprotect.methods.distance import Norm, Weights, check_norm, distance_weights
from tabprotect.methods.small_counts.result import SmallCountResult
from tabprotect.methods.small_counts.search import guess, improved, neighbourhoods, rounded_relaxation
from tabprotect.methods.small_counts.statement import SIMPLEX, Statement
from tabprotect.problem import Problem
from tabprotect.seeds import Seed, as_seed
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress, as_limits
from tabprotect.solver.tolerances import OPTIMAL

__all__ = ["small_counts"]

Bools = npt.NDArray[np.bool_]

AT_ONCE: Final = 1000
"""So many cells are chosen at once, without a search by neighbourhoods before."""

RELAXATION: Final = 0.7
NEIGHBOURHOODS: Final = 0.5
"""Their shares of the limits that are left."""


def small_counts(
    problem: Problem,
    base: int = 3,
    *,
    publish: npt.ArrayLike | None = None,
    norm: Norm = "l1",
    weights: Weights | npt.ArrayLike = "unit",
    limits: Limits | float | None = None,
    seed: Seed = 0,
    progress: Callable[[Progress], None] | None = None,
) -> SmallCountResult:
    """Round small counts to 0 or a base so that no small count is published, changing as little as possible.

    Inner cells that contribute to a small published count become 0 or `base`; all other inner cells keep their
    value; margins are added up from them. So the result is the table of changed records: additive and consistent
    over all margins.

    Parameters
    ----------
    problem : Problem
        Of a frequency table. Cells that must be published (status p) keep their value, known zeros too.
    base : int
        At least 2.
    publish : array of bool, shape (cells,), optional
        Which cells are published; all by default. The fewer, the fewer inner cells need to be rounded.
    norm : {'l1', 'l2', 'linf'}
        Distance that is minimised over the published cells.
    weights : {'unit', 'value', 'reciprocal', 'problem'} or array
        Of a change in every cell.
    limits : Limits or float, optional
    seed : int or numpy.random.Generator
        Of the first guess.
    progress : callable, optional

    Returns
    -------
    SmallCountResult
        Exact (optimal) where the programme finishes within the limits, else the best found with its bound.

    Raises
    ------
    InputError
        Values that are no counts; tables that have no common inner cells.

    Notes
    -----
    The programme is `tabprotect.models.small_counts`: binaries u (1: up to the base) minimise the distance of D (b
    u - a), with D the sums of inner cells. Its relaxation u = a/b would be free of cost, so the distance of every
    published cell enters by its convex envelope over whole multiples of the base.

    References
    ----------
    Heldal (2017), The European Census Hub 2011 hypercubes: Norwegian SDC experiences; Langsrud & Heldal (2018), An
    algorithm for small count rounding of tabular data, who choose the cells by a heuristic.

    Examples
    --------
    >>> from tabprotect.table.system import LinearSystem
    >>> s = LinearSystem.from_equations([("t", ["a", "b", "c", "d"])])
    >>> p = Problem.from_arrays(s.A, [12, 2, 1, 1, 8], primary=[], lpl=0, upl=0, cells=s.cells)
    >>> r = small_counts(p, 3)
    >>> r.values.tolist(), r.cost, r.status
    ([11.0, 3.0, 0.0, 0.0, 8.0], 4.0, 'optimal')
    """
    budget = Budget(as_limits(limits), progress)
    check_norm(norm)
    first = as_seed(seed)
    published = np.ones(problem.n_cells, bool) if publish is None else np.asarray(publish)
    with collect() as problems:
        if isinstance(base, bool) or base != int(base) or base < 2:
            problems.add(f"base must be a whole number of at least 2, not {base!r}")
        if published.shape != (problem.n_cells,) or published.dtype != bool:
            problems.add(f"publish must be True or False for each of {problem.n_cells} cells")
        if np.any((problem.values < 0) | (problem.values != np.rint(problem.values))):
            problems.add("small counts are rounded in tables of counts, whole numbers from 0")
    statement = Statement(problem, int(base), published, norm, distance_weights(problem, weights))
    with cancel_on_interrupt(budget):
        return _solve(statement, budget, np.random.default_rng(first))


def _solve(statement: Statement, budget: Budget, rng: np.random.Generator) -> SmallCountResult:
    """Guess, improve, relax and round, choose neighbourhoods anew, prove."""
    if not len(statement.chosen):
        return _result(statement, np.zeros(0, bool), 0.0, budget, "no published count is small")
    bound = statement.nearest()
    # the whole programme of a large table keeps no time limit, so it is for those who set none
    whole = len(statement.a) <= SIMPLEX or (budget.limits.seconds is None and budget.limits.work is None)
    best = _better(statement, None, improved(statement, guess(statement, rng), budget))
    with budget.part(RELAXATION) as part:
        up, doubtful, relaxed = rounded_relaxation(statement, part)
    best, bound = _better(statement, best, up), max(bound, relaxed or 0.0)
    if best is not None:
        budget.report("small counts", statement.cost(best), bound)
    if best is not None and len(statement.a) > AT_ONCE:
        with budget.part(NEIGHBOURHOODS if whole else 1.0) as part:
            best = neighbourhoods(statement, best, doubtful, bound, part, rng)
    if best is None or (whole and statement.cost(best) > bound * (1 + OPTIMAL)):
        u, proven, possible = statement.programme(np.arange(len(statement.a)), best, budget)
        if not possible:
            return _infeasible(statement, budget)
        best, bound = _better(statement, best, None if u is None else u > 0.5), max(bound, proven or 0.0)
    message = "" if best is not None else "no rounding was found within the limits"
    return _result(statement, best, bound, budget, message)


def _better(statement: Statement, best: Bools | None, other: Bools | None) -> Bools | None:
    if other is None or not statement.allowed(other):
        return best
    return other if best is None or statement.cost(other) < statement.cost(best) else best


def _result(statement: Statement, up: Bools | None, bound: float, budget: Budget, message: str) -> SmallCountResult:
    cost = None if up is None else statement.cost(up)
    if cost is not None and cost - bound <= OPTIMAL * max(cost, 1.0):
        bound = cost
    status: Literal["optimal", "feasible", "unknown"] = "unknown" if cost is None else "feasible"
    if cost is not None and cost == bound:
        status = "optimal"
    return SmallCountResult(
        statement.problem,
        None if up is None else statement.values(up),
        statement.published,
        statement.rounded,
        statement.base,
        cost,
        bound,
        statement.norm,
        status,
        budget.seconds,
        budget.work,
        message,
        _stopped(budget, cost, bound),
    )


def _infeasible(statement: Statement, budget: Budget) -> SmallCountResult:
    parts = statement.sums[statement.fixed] @ statement.a
    odd = [statement.problem.system.label(int(c)) for c in statement.fixed[parts % statement.base != 0][:5]]
    why = f": what is rounded in {', '.join(odd)} is no multiple of {statement.base}" if odd else ""
    return SmallCountResult(
        statement.problem,
        None,
        statement.published,
        statement.rounded,
        statement.base,
        None,
        None,
        statement.norm,
        "infeasible",
        budget.seconds,
        budget.work,
        f"cells that must keep their value cannot{why}",
    )


def _stopped(budget: Budget, cost: float | None, bound: float) -> Literal["", "time", "work", "user"]:
    """Return which limit ended a run short of its gap (the solver may stop a little before it is used up)."""
    if cost is not None and cost - bound <= max(budget.limits.gap, OPTIMAL) * cost:
        return ""
    if budget.cancelled:
        return "user"
    if budget.seconds_left <= 0 or (budget.limits.work is None and budget.limits.seconds is not None):
        return "time"
    return "work" if budget.limits.work is not None else ""
