"""A cheaper pattern among the cells that one of several safe patterns hides, by the exact engine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import finish, stopped
from tabprotect.methods.suppression.result import SolveStatus, SuppressionResult
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.known import NOTHING, Known
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget, Progress

__all__ = ["recombined"]

Bools = npt.NDArray[np.bool_]


def recombined(
    problem: Problem,
    patterns: Sequence[Bools],
    budget: Budget,
    *,
    seed: int = 0,
    engine: str = "scip",
    known: Known = NOTHING,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Search among the cells that one of several safe patterns hides; all other secondaries are published.

    What several methods hide in common is mostly right, and what they differ in is few cells: of these the exact engine
    finds the best choice, or a good one, where it does not come to an end on the whole table.

    Parameters
    ----------
    problem : Problem
    patterns : sequence of ndarray of bool, shape (cells,)
        Safe; the search begins with the cheapest.
    budget : Budget
    seed, engine, options
        As for `exact`.
    known : Known
        As for `exact`, but for the pattern to start from.

    Returns
    -------
    SuppressionResult
        Of the whole problem, without a bound: other cells may be cheaper.

    References
    ----------
    Aggarwal, Orlin and Tai (1997), Optimized crossover for the independent set problem; Blum, Pinacho, Lopez-Ibanez and
    Lozano (2016), Construct, merge, solve and adapt.
    """
    among = replace(problem, status=_among(problem, np.logical_or.reduce(patterns)))
    best = min(patterns, key=problem.cost)

    def without_bound(progress: Progress) -> None:
        assert budget.progress is not None
        budget.progress(replace(progress, stage="recombination", bound=None))

    with budget.run() as part:
        part.progress = budget.progress and without_bound
        found = exact(
            among,
            limits=part,
            known=replace(known, start=best),
            seed=seed,
            engine=engine,
            prove=False,
            options=options,
        )
        if not found.safe:
            # the cheapest pattern is a safe one: what the search says against that is a matter of accuracy, or of time
            judge = Witnesses(problem)
            judge.offer_many(known.deviations)
            found = finish(problem, judge, best, part, "recombination", options)
    status: SolveStatus = "feasible" if found.status == "optimal" else found.status
    found = replace(found, problem=problem, status=status, bound=None, rows=None, attacker_cuts=None)
    return replace(found, method="recombination", stopped=stopped(budget))


def _among(problem: Problem, cells: Bools) -> npt.NDArray[np.int8]:
    """Return what each cell is when only some may be hidden besides the primaries."""
    return np.where((problem.status == Status.SAFE) & ~cells, Status.PROTECTED, problem.status).astype(np.int8)
