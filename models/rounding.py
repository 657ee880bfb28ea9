"""Controlled rounding: the nearest table of multiples of a base that adds up, and that protects if it has to.

Cox and Ernst (1982), "Controlled rounding", INFOR 20; Salazar-Gonzalez (2006), "Controlled rounding and cell
perturbation: statistical disclosure limitation methods for tabular data", Mathematical Programming 105. With a the
values, b the base, r the right-hand sides, s the further steps allowed and D = b (s + 1) (one less for integers):

    min   sum_i w_i t_i                                    L1
          sum_i w_i t_i^2                                  L2
          max_i w_i t_i                                    L-infinity
    s.t.  A v = r,  v = b m,  m integer                                              (1)
          floor(a_i / b) - s <= m_i <= ceil(a_i / b) + s                             (2)
          floor(a_i / b) - s <= m_i <= floor(a_i / b) + 1 + s    where multiples rise  (2')
          floor(lower_i / b) <= m_i <= ceil(upper_i / b),  m_i = 0 for known zeros   (3)
          t_i >= v_i - a_i,  t_i >= a_i - v_i                                        (4)

(2') is definition 1 of rounding in Eustat's notebook on data protection: the neighbours of a multiple are itself and
the following one. Then v_i - a_i may be b (s + 1), and below v_i the intruder's D in (5) is that for integers, too.

And, where protection levels are respected, for every intruder k and every sensitive cell p that k does not know tables
y that he cannot tell from the true one (y-up for UPL, y-down for LPL, both for SPL):

          A y = A a,  lower <= y <= upper,  |y_i - v_i| <= D,  y_i = a_i for cells that k knows   (5)
          y-up_p >= a_p + UPL_p,  y-down_p <= a_p - LPL_p,  y-up_p - y-down_p >= SPL_p            (6)
"""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

from tabprotect.problem import Problem, Status
from tabprotect.solver.exact import exact
from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import ModelAnswer, solve_model

__all__ = ["build", "solve"]


def build(
    problem: Problem,
    base: float,
    weights: npt.NDArray[np.float64],
    *,
    steps: int = 0,
    norm: Literal["l1", "l2", "linf"] = "l1",
    protect: bool = False,
    rise: bool = False,
) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    problem : Problem
    base : float
        Read as a decimal.
    weights : ndarray, shape (cells,)
    steps : int
    norm : {'l1', 'l2', 'linf'}
    protect : bool
        With (5) and (6).
    rise : bool
        (2') in place of (2).

    Returns
    -------
    pyomo.environ.ConcreteModel
        With ``m[i]`` (multiples), ``v(i)`` and the objective ``distance``.
    """
    A, b = problem.system.A, exact(base)
    m = pyo.ConcreteModel("rounding")
    m.cells = pyo.RangeSet(0, problem.n_cells - 1)
    m.equations = pyo.RangeSet(0, problem.system.n_equations - 1)

    def between(_m: Any, i: int) -> tuple[int, int]:  # (2), (3)
        a = exact(float(problem.values[i])) / b
        if problem.status[i] == Status.ZERO and a == 0:
            return 0, 0
        low, high = floor(a) - steps, (floor(a) + 1 if rise else ceil(a)) + steps
        if np.isfinite(problem.lower[i]):
            low = max(low, floor(exact(float(problem.lower[i])) / b))
        if np.isfinite(problem.upper[i]):
            high = min(high, ceil(exact(float(problem.upper[i])) / b))
        return low, high

    m.m = pyo.Var(m.cells, domain=pyo.Integers, bounds=between)
    m.v = pyo.Expression(m.cells, rule=lambda m, i: base * m.m[i])
    m.t = pyo.Var(m.cells, domain=pyo.NonNegativeReals)

    def terms(row: int) -> list[tuple[float, int]]:
        lo, hi = A.indptr[row], A.indptr[row + 1]
        return [(float(c), int(i)) for c, i in zip(A.data[lo:hi], A.indices[lo:hi], strict=True)]

    def additive(m: Any, row: int) -> Any:  # (1)
        here, right = terms(row), Fraction(exact(float(problem.system.b[row])), 1) / b
        if not here:
            return pyo.Constraint.Feasible if right == 0 else pyo.Constraint.Infeasible
        return pyo.quicksum(c * m.m[i] for c, i in here) == float(right)

    m.additive = pyo.Constraint(m.equations, rule=additive)
    m.above = pyo.Constraint(m.cells, rule=lambda m, i: m.t[i] >= m.v[i] - float(problem.values[i]))  # (4)
    m.below = pyo.Constraint(m.cells, rule=lambda m, i: m.t[i] >= float(problem.values[i]) - m.v[i])
    if norm == "linf":
        m.farthest = pyo.Var(domain=pyo.NonNegativeReals)
        m.no_farther = pyo.Constraint(m.cells, rule=lambda m, i: float(weights[i]) * m.t[i] <= m.farthest)
        m.distance = pyo.Objective(expr=m.farthest)
    else:
        power = 1 if norm == "l1" else 2
        m.distance = pyo.Objective(expr=pyo.quicksum(float(weights[i]) * m.t[i] ** power for i in m.cells))
    if protect:
        far = base * (steps + 1)
        less = far - (1.0 if problem.integer else 0.0)
        _protect(m, problem, far if rise else less, less, terms)
    return m


def _protect(m: pyo.ConcreteModel, problem: Problem, down: float, up: float, terms: Any) -> None:
    """Add the tables (5) that an intruder cannot rule out, and how far they reach (6)."""
    zeros = set(np.flatnonzero((problem.status == Status.ZERO) & (problem.values == 0)).tolist())
    intruders = [(), *(attacker.unasked for attacker in problem.attackers)]
    questions = [
        (k, int(p), side)
        for k, unasked in enumerate(intruders)
        for p in problem.primaries
        if p not in unasked
        for side in (1, -1)
    ]
    values = [float(a) for a in problem.values]
    m.questions = pyo.Set(initialize=questions, dimen=3)

    def room(_m: Any, k: int, _p: int, _side: int, i: int) -> tuple[float | None, float | None]:
        if i in zeros or i in intruders[k]:
            return 0.0, 0.0
        low, high = float(problem.lower[i]) - values[i], float(problem.upper[i]) - values[i]
        return (low if np.isfinite(low) else None), (high if np.isfinite(high) else None)

    def balanced(m: Any, k: int, p: int, side: int, row: int) -> Any:
        here = terms(row)
        return pyo.quicksum(c * m.z[k, p, side, i] for c, i in here) == 0 if here else pyo.Constraint.Feasible

    m.z = pyo.Var(m.questions, m.cells, bounds=room)  # y - a
    m.balanced = pyo.Constraint(m.questions, m.equations, rule=balanced)
    m.not_above = pyo.Constraint(
        m.questions, m.cells, rule=lambda m, k, p, side, i: m.z[k, p, side, i] + values[i] <= m.v[i] + up
    )
    m.not_below = pyo.Constraint(
        m.questions, m.cells, rule=lambda m, k, p, side, i: m.z[k, p, side, i] + values[i] >= m.v[i] - down
    )
    levels = {1: problem.upl, -1: problem.lpl}
    m.reached = pyo.Constraint(
        m.questions, rule=lambda m, k, p, side: side * m.z[k, p, side, p] >= float(levels[side][p])
    )

    def wide(m: Any, k: int, p: int, side: int) -> Any:
        if side < 0 or problem.spl[p] <= 0:
            return pyo.Constraint.Skip
        return m.z[k, p, 1, p] - m.z[k, p, -1, p] >= float(problem.spl[p])

    m.wide = pyo.Constraint(m.questions, rule=wide)


def solve(
    problem: Problem,
    base: float,
    weights: npt.NDArray[np.float64],
    *,
    steps: int = 0,
    norm: Literal["l1", "l2", "linf"] = "l1",
    protect: bool = False,
    rise: bool = False,
    solver: str | None = None,
    limits: Limits | None = None,
) -> tuple[npt.NDArray[np.int64] | None, ModelAnswer]:
    """Solve the model; returns the multiples of the base (None without an answer) and the solver's claim.

    By default HiGHS, for L2 SCIP (``'scip_direct'``).

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [9, 1, 1, 7], primary=[], lpl=0, upl=0)
    >>> multiples, answer = solve(p, 5, np.ones(4))
    >>> answer.status, answer.objective, multiples.tolist()
    ('optimal', 6.0, [2, 0, 0, 2])
    """
    model = build(problem, base, weights, steps=steps, norm=norm, protect=protect, rise=rise)
    answer = solve_model(model, solver or ("scip_direct" if norm == "l2" else "appsi_highs"), limits)
    if answer.objective is None:
        return None, answer
    return np.array([int(np.rint(pyo.value(model.m[i]))) for i in model.cells], np.int64), answer
