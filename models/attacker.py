"""The attack on one cell: how far an intruder must think that it may lie from its value.

What is published is ``A y = b``, the values ``y_i = a_i`` of the cells that are not hidden, and bounds
``a_i - LB_i <= y_i <= a_i + UB_i`` that every intruder knows. Every table that fits is ``y = a + z`` with

    A z = 0                                                            (1a)
    -LB_i x_i <= z_i <= UB_i x_i     for every cell i                  (1b)
    z_j = 0                          for every cell j that he knows    (1c)

where ``x_i = 1`` for hidden cells. The intruder's interval for cell p is ``[a_p + min z_p, a_p + max z_p]``. These are
the linear programmes (1) and (2) of the Eustat notebook on statistical data protection, "A Mixed Integer Linear
Programming Model for Secondary Cell Suppression", there written in y; Fischetti and Salazar (2001), "Solving the cell
suppression problem on tabular data with linear constraints", Management Science 47(7), call them the attacker
subproblems. (1c) is the attacker who contributes alone to a cell.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

from tabprotect.errors import SolverError
from tabprotect.problem import Problem
from tabprotect.solver.pyomo import DEFAULT_SOLVER, solve_model

__all__ = ["build", "solve"]


def build(
    problem: Problem,
    pattern: npt.NDArray[np.bool_],
    cell: int,
    *,
    side: int,
    attacker: int = -1,
    integral: bool = False,
) -> pyo.ConcreteModel:
    """State the attack on one cell.

    Parameters
    ----------
    problem : Problem
    pattern : ndarray of bool, shape (cells,)
        True where a cell is hidden (x above).
    cell : int
        The cell p under attack.
    side : {+1, -1, 0}
        +1: how far up (max z_p); -1: how far down (max -z_p); 0: how wide (max z'_p - z''_p over two tables).
    attacker : int
        Position in ``problem.attackers``; -1 for the intruder who knows only what is published.
    integral : bool
        The intruder knows that values are integers, so z is integer too.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With the deviations ``z[k, i]``, k = 0 (and 1 when side is 0), and the objective ``reach``.
    """
    A, known = problem.system.A, set(problem.attackers[attacker].known) if attacker >= 0 else set()
    x = np.asarray(pattern, bool)
    m = pyo.ConcreteModel("attack")
    m.cells = pyo.RangeSet(0, problem.n_cells - 1)
    m.equations = pyo.RangeSet(0, problem.system.n_equations - 1)
    m.tables = pyo.RangeSet(0, 1 if side == 0 else 0)

    def box(_m: Any, _k: int, i: int) -> tuple[float | None, float | None]:  # (1b), (1c)
        if not x[i] or i in known:
            return 0.0, 0.0
        return _bound(-problem.down[i]), _bound(problem.up[i])

    m.z = pyo.Var(m.tables, m.cells, bounds=box, domain=pyo.Integers if integral else pyo.Reals)

    def additive(m: Any, k: int, row: int) -> Any:  # (1a)
        lo, hi = A.indptr[row], A.indptr[row + 1]
        terms = [(float(c), int(i)) for c, i in zip(A.data[lo:hi], A.indices[lo:hi], strict=True)]
        return pyo.quicksum(c * m.z[k, i] for c, i in terms) == 0 if terms else pyo.Constraint.Skip

    m.additive = pyo.Constraint(m.tables, m.equations, rule=additive)
    reach = m.z[0, cell] - m.z[1, cell] if side == 0 else side * m.z[0, cell]
    m.reach = pyo.Objective(expr=reach, sense=pyo.maximize)
    return m


def solve(
    problem: Problem,
    pattern: npt.NDArray[np.bool_],
    cell: int,
    *,
    side: int,
    attacker: int = -1,
    integral: bool = False,
    solver: str = DEFAULT_SOLVER,
) -> float:
    """Return how far the cell can move: max z_p, max -z_p or their sum (see `build`); inf when nothing stops it.

    Raises
    ------
    SolverError
        The solver came to no answer.

    Examples
    --------
    Activity II in region C of the investment table (Willenborg and de Waal): 22 may be anything from 5 to 30.

    >>> from tabprotect.problem import Problem
    >>> A = [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]]  # the hidden cells only
    >>> p = Problem.from_arrays(A, [8, 22, 17, 12], primary=[1], lpl=0, upl=0, b=[30, 29, 25, 34])
    >>> everything = p.may_hide
    >>> 22 - solve(p, everything, 1, side=-1), 22 + solve(p, everything, 1, side=+1)
    (5.0, 30.0)
    """
    answer = solve_model(build(problem, pattern, cell, side=side, attacker=attacker, integral=integral), solver)
    if answer.status == "unbounded":
        return math.inf
    if answer.status != "optimal" or answer.objective is None:
        raise SolverError(f"the attack on {problem.system.label(cell)} ended with '{answer.message}'")
    return answer.objective


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
