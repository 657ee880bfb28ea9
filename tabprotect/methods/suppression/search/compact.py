"""The whole compact programme in Pyomo, on any solver that Pyomo knows: for small tables, and for other solvers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.merge import with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import finish
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits, Progress

__all__ = ["compact"]


def compact(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    solver: str | None = None,
    progress: Callable[[Progress], None] | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Solve `tabprotect.models.cell_suppression` and judge its answer.

    Parameters
    ----------
    problem : Problem
    limits : Limits or Budget, optional
        Seconds and gap; work is not counted inside a foreign solver.
    solver : str, optional
        A name that Pyomo knows.
    progress : callable, optional
    options : Options
        Of what repairs and judges its answer.
    """
    from tabprotect.models import cell_suppression

    budget = Budget.of(limits, progress)
    name = f"compact programme ({solver or 'default solver'})"
    budget.report("compact")
    answer = cell_suppression.solve(problem, solver=solver, limits=budget.left())
    if answer.status == "infeasible":
        # the programme cannot say which cells are to blame, nor protect the others
        rest = greedy(problem, limits=budget, options=options)
        return replace(rest, method=f"{name}, others by greedy", seconds=budget.seconds)
    result = finish(problem, Witnesses(problem), answer.pattern, budget, name, options)
    if answer.bound is None or (result.cost is None and result.status != "unknown"):
        return result
    return with_bound(result, answer.bound)
