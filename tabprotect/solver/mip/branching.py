"""Binary programmes so small that stating them to a MIP solver takes longer than branching on a warm linear one."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram, LpSolution
from tabprotect.solver.tolerances import INTEGRALITY, OPTIMAL

__all__ = ["branch"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def branch(
    lp: LinearProgram, root: LpSolution, cost: Floats, lower: Floats, upper: Floats, budget: Budget, step: float = 0.0
) -> Bools | None:
    """Return the cheapest binary solution of a minimisation; None if there is none or the budget ended before.

    Depth first, the most fractional variable up and then down; variables whose reduced cost at the root lifts the
    bound to that of the best solution are closed. The bounds of `lp` are as before in the end.

    Parameters
    ----------
    lp : LinearProgram
    root : LpSolution
        Its solution.
    cost : ndarray of float
        Of its variables; not negative.
    lower, upper : ndarray of float
        Their bounds, 0 or 1.
    budget : Budget
    step : float
        All costs are multiples of it (0: not known).

    Examples
    --------
    The cheapest set that meets all edges of a triangle; the relaxation takes half of every corner:

    >>> zero, one, cost = np.zeros(3), np.ones(3), np.array([3.0, 4.0, 5.0])
    >>> lp = LinearProgram([[1, 1, 0], [0, 1, 1], [1, 0, 1]], one, 2 * one, zero, one, cost)
    >>> branch(lp, lp.solve(), cost, zero, one, Budget()).tolist()
    [True, True, False]
    """
    best, enough = None, math.inf
    closed = np.zeros(len(cost), bool)
    applied: dict[int, float] = {}
    stack: list[dict[int, float]] = [{}]
    while stack:
        fixed = stack.pop()
        if any(value and closed[k] for k, value in fixed.items()):
            continue
        answer = root
        if fixed:
            _apply(lp, applied, fixed, lower, upper)
            applied = fixed
            answer = lp.solve()
            budget.spend(1 + answer.iterations)
            if budget.exhausted:
                best = None
                break
        if answer.status != "optimal" or answer.objective >= enough:
            continue
        distance = np.abs(answer.x - np.rint(answer.x))
        k = int(np.argmax(distance))
        if distance[k] > INTEGRALITY:
            stack += [{**fixed, k: 0.0}, {**fixed, k: 1.0}]
            continue
        best = answer.x > 0.5
        worth = float(cost[best].sum())
        enough = worth - max(step * (1 - INTEGRALITY), OPTIMAL * worth)
        closed = root.objective + root.reduced >= enough
    _apply(lp, applied, {}, lower, upper)
    return best


def _apply(lp: LinearProgram, before: dict[int, float], fixed: dict[int, float], lower: Floats, upper: Floats) -> None:
    """Fix some variables, and let those go that were fixed before."""
    changed = sorted(k for k in before.keys() | fixed.keys() if before.get(k) != fixed.get(k))
    lp.set_bounds(changed, [fixed.get(k, lower[k]) for k in changed], [fixed.get(k, upper[k]) for k in changed])
