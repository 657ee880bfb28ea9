"""Bounds on the cost of every adjustment: polygon rows at the root, and tangents where squares or cones meet senses."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.methods.adjustment.programme import Programme
from tabprotect.methods.adjustment.search import Search
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import PROVEN, QP_OBJECTIVE, ROW_FEASIBILITY

__all__ = ["outer_approximation", "root_bound"]

Floats = npt.NDArray[np.float64]

#: rounds of polygon rows, and the progress (relative) below which they end
_ROUNDS = 40
_TAIL = 5e-4

#: rounds of tangents
_TANGENT_ROUNDS = 500


def root_bound(programme: Programme, budget: Budget, seconds: float, known: float = 0.0) -> tuple[float, Floats | None]:
    """Solve the relaxation, add violated polygon rows, and again until it no longer pays or `seconds` are over.

    Parameters
    ----------
    programme : Programme
        Keeps the rows.
    budget : Budget
    seconds : float
        Share of the clock for this (inf without a clock).
    known : float
        A bound found before: no lower one is reported.

    Returns
    -------
    bound : float
        In the statement's unit; 0 when not even the first relaxation was solved.
    x : ndarray or None
        The last relaxed solution.
    """
    ends = budget.seconds + seconds
    safety = QP_OBJECTIVE if programme.rough else 0.0
    bound, x = 0.0, None
    for _ in range(_ROUNDS):
        left = ends - budget.seconds
        if budget.exhausted or left <= 0:
            break
        answer = programme.relaxed(budget, left if np.isfinite(left) else None)
        if answer.x is None or answer.bound is None:
            break
        before, bound, x = bound, max(bound, answer.bound - safety * abs(answer.bound)), answer.x
        budget.report("adjust: relaxation", bound=max(bound, known) * programme.statement.objective_unit)
        if not programme.add_polygons(x) or bound - before < _TAIL * abs(bound):
            break
    return bound, x


def outer_approximation(
    programme: Programme, search: Search, budget: Budget, gap: float, seed: int
) -> tuple[float, bool]:
    """Solve the programme with tangents for senses, solve exactly for these senses, add tangents there, and again.

    Outer approximation of Duran and Grossmann (1986).

    Returns
    -------
    bound : float
        In the statement's unit.
    infeasible : bool
        No senses at all are possible.
    """
    st = programme.statement
    bound = 0.0
    if search.z is not None:
        programme.add_tangents(search.z)
    for _ in range(_TANGENT_ROUNDS):
        if budget.exhausted:
            break
        start = None if search.z is None or search.senses is None else (search.z, search.senses)
        answer = programme.solve(budget, start=start, gap=gap, seed=seed)
        if answer.status == "infeasible":
            return bound, search.z is None
        if answer.bound is not None:
            bound = max(bound, answer.bound)
        if answer.x is None:
            break
        z, senses = programme.deviations(answer.x)
        programme.add_tangents(z)
        if st.step is not None and all(cone.excess(z) <= ROW_FEASIBILITY for cone in st.cones):
            search.offer(np.rint(z), senses)
        if search.try_senses(senses) and search.z is not None:
            programme.add_tangents(search.z)
        if np.isfinite(search.cost) and bound * st.objective_unit >= search.cost * (1 - max(gap, PROVEN)):
            break
    return bound, False
