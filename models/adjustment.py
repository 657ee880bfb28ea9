"""Controlled tabular adjustment: the nearest table that adds up and whose sensitive cells are far enough off.

Dandekar and Cox (2002); Castro (2006), "Minimum-distance controlled perturbation methods for large-scale tabular data
protection", European Journal of Operational Research 171. With deviations z = z+ - z- from the true values a, so that
data with rounding residuals keep them:

    min   sum_i w_i (z+_i + z-_i)           L1
          sum_i w_i (z+_i + z-_i)^2         L2
          max_i w_i (z+_i + z-_i)           L-infinity
    s.t.  A z = 0                                                            (1)
          0 <= z+_i <= upper_i - a_i,  0 <= z-_i <= a_i - lower_i            (2)
          UPL_p s_p <= z+_p <= (upper_p - a_p) s_p                           (3)
          LPL_p (1 - s_p) <= z-_p <= (a_p - lower_p) (1 - s_p)               (4)
          s_p in {0, 1}: 1 up, 0 down, for every primary p

(3), (4) with infinite bounds take a capacity: no cell need move further than the whole cost of a known answer allows,
or, without one, than the bound that the caller gives as `largest`. A side of level 0 protects nothing and is not
allowed while the other side's level is positive. Fixed senses make it a linear (L2: convex quadratic) programme.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

from tabprotect.errors import SolverError
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import ModelAnswer, solve_model

__all__ = ["build", "solve"]


def build(
    problem: Problem,
    weights: npt.NDArray[np.float64],
    *,
    norm: Literal["l1", "l2", "linf"] = "l1",
    senses: Sequence[int] | npt.NDArray[np.int64] | None = None,
    fixed: Sequence[int] = (),
    step: float | None = None,
    largest: float = 1e7,
) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    problem : Problem
    weights : ndarray, shape (cells,)
    norm : {'l1', 'l2', 'linf'}
    senses : sequence of {+1, -1}, optional
        For every primary, in the order of ``problem.primaries``; free (binary) by default.
    fixed : sequence of int
        Cells that keep their value; cells that must be published and structural zeros always do.
    step : float, optional
        Deviations are whole multiples of this (1 for counts).
    largest : float
        Stands for infinite bounds of primaries in (3), (4).

    Returns
    -------
    pyomo.environ.ConcreteModel
        With ``z(i)`` as expressions, ``up[i]``, ``down[i]``, ``sense[p]`` and the objective ``distance``.
    """
    A, n, up, down = problem.system.A, problem.n_cells, problem.up, problem.down
    still = set(fixed) | set(
        np.flatnonzero((problem.status == Status.PROTECTED) | (problem.status == Status.ZERO)).tolist()
    )
    primaries = [int(p) for p in problem.primaries if problem.lpl[p] > 0 or problem.upl[p] > 0]
    chosen = {} if senses is None else dict(zip(problem.primaries.tolist(), senses, strict=True))

    m = pyo.ConcreteModel("adjustment")
    m.cells = pyo.RangeSet(0, n - 1)
    m.equations = pyo.RangeSet(0, problem.system.n_equations - 1)
    m.primaries = pyo.Set(initialize=primaries)

    def room(i: int, bound: float) -> float | None:
        if i in still:
            return 0.0
        return float(min(bound, largest)) if i in m.primaries else (float(bound) if np.isfinite(bound) else None)

    domain = pyo.NonNegativeReals if step is None else pyo.NonNegativeIntegers
    unit = 1.0 if step is None else float(step)
    m.steps_up = pyo.Var(m.cells, domain=domain)
    m.steps_down = pyo.Var(m.cells, domain=domain)
    m.up = pyo.Expression(m.cells, rule=lambda m, i: unit * m.steps_up[i])
    m.down = pyo.Expression(m.cells, rule=lambda m, i: unit * m.steps_down[i])
    m.z = pyo.Expression(m.cells, rule=lambda m, i: m.up[i] - m.down[i])
    m.sense = pyo.Var(m.primaries, domain=pyo.Binary)
    for p in primaries:
        both = problem.upl[p] > 0 and problem.lpl[p] > 0
        if chosen or not both:
            m.sense[p].fix(int(chosen[p] > 0) if both else int(problem.upl[p] > 0))

    def additive(m: Any, row: int) -> Any:  # (1)
        lo, hi = A.indptr[row], A.indptr[row + 1]
        terms = [(float(c), int(i)) for c, i in zip(A.data[lo:hi], A.indices[lo:hi], strict=True)]
        return pyo.quicksum(c * m.z[i] for c, i in terms) == 0 if terms else pyo.Constraint.Skip

    def at_most(side: Any, bounds: npt.NDArray[np.float64]) -> Any:  # (2)
        def rule(_m: Any, i: int) -> Any:
            bound = room(i, float(bounds[i]))
            return pyo.Constraint.Skip if bound is None else side[i] <= bound

        return rule

    m.additive = pyo.Constraint(m.equations, rule=additive)
    m.up_room = pyo.Constraint(m.cells, rule=at_most(m.up, up))
    m.down_room = pyo.Constraint(m.cells, rule=at_most(m.down, down))
    m.up_enough = pyo.Constraint(m.primaries, rule=lambda m, p: m.up[p] >= float(problem.upl[p]) * m.sense[p])  # (3)
    m.up_only = pyo.Constraint(m.primaries, rule=lambda m, p: m.up[p] <= room(p, float(up[p])) * m.sense[p])
    m.down_enough = pyo.Constraint(  # (4)
        m.primaries, rule=lambda m, p: m.down[p] >= float(problem.lpl[p]) * (1 - m.sense[p])
    )
    m.down_only = pyo.Constraint(m.primaries, rule=lambda m, p: m.down[p] <= room(p, float(down[p])) * (1 - m.sense[p]))

    size = {i: m.up[i] + m.down[i] for i in m.cells}
    if norm == "linf":
        m.farthest = pyo.Var(domain=pyo.NonNegativeReals)
        m.no_farther = pyo.Constraint(m.cells, rule=lambda m, i: float(weights[i]) * size[i] <= m.farthest)
        m.distance = pyo.Objective(expr=m.farthest)
    else:
        power = 1 if norm == "l1" else 2
        m.distance = pyo.Objective(expr=pyo.quicksum(float(weights[i]) * size[i] ** power for i in m.cells))
    return m


def solve(
    problem: Problem,
    weights: npt.NDArray[np.float64],
    *,
    norm: Literal["l1", "l2", "linf"] = "l1",
    senses: Sequence[int] | npt.NDArray[np.int64] | None = None,
    fixed: Sequence[int] = (),
    step: float | None = None,
    largest: float = 1e7,
    solver: str | None = None,
    limits: Limits | None = None,
) -> tuple[npt.NDArray[np.float64] | None, ModelAnswer]:
    """Solve the model; returns the adjusted values (None without an answer) and the solver's claim.

    By default HiGHS, for L2 SCIP (``'scip_direct'``).

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> values, answer = solve(p, np.ones(3))
    >>> answer.status, answer.objective, values[0] == values[1] + values[2]
    ('optimal', 2.0, np.True_)
    """
    model = build(problem, weights, norm=norm, senses=senses, fixed=fixed, step=step, largest=largest)
    answer = solve_model(model, solver or ("scip_direct" if norm == "l2" else "appsi_highs"), limits)
    if answer.status == "unbounded":
        raise SolverError("the adjustment model cannot be unbounded; the solver's answer is wrong")
    if answer.objective is None:
        return None, answer
    return problem.values + np.array([pyo.value(model.z[i]) for i in model.cells]), answer
