"""Free senses with squares or cones: integer linear programmes whose tangents close in (Duran and Grossmann 1986)."""

from __future__ import annotations

import numpy as np

from tabprotect.methods.adjustment.programme import Programme
from tabprotect.methods.adjustment.search import Search
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import PROVEN, ROW_FEASIBILITY

__all__ = ["outer_approximation"]

_ROUNDS = 500


def outer_approximation(
    programme: Programme, search: Search, budget: Budget, gap: float, seed: int
) -> tuple[float, bool]:
    """Solve the programme with tangents for senses, solve exactly for these senses, add tangents there, and again.

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
    for _ in range(_ROUNDS):
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
