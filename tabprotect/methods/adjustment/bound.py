"""A bound on the cost of every adjustment, from the relaxation and its polygon rows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.methods.adjustment.programme import Programme
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import QP_OBJECTIVE

__all__ = ["root_bound"]

Floats = npt.NDArray[np.float64]

#: rounds of polygon rows, and the progress (relative) below which they end
_ROUNDS = 40
_TAIL = 5e-4


def root_bound(programme: Programme, budget: Budget, seconds: float) -> tuple[float, Floats | None]:
    """Solve the relaxation, add violated polygon rows, and again until it no longer pays or `seconds` are over.

    Parameters
    ----------
    programme : Programme
        Keeps the rows.
    budget : Budget
    seconds : float
        Share of the clock for this (inf without a clock).

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
        budget.report("adjust: relaxation", bound=bound * programme.statement.objective_unit)
        if not programme.add_polygons(x) or bound - before < _TAIL * abs(bound):
            break
    return bound, x
