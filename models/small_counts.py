"""Small count rounding: round the inner cells behind small published counts so that the published table is nearest.

Heldal (2017); Langsrud and Heldal (2018), "An algorithm for small count rounding of tabular data", Privacy in
Statistical Databases. With a the counts, b the base, J the inner cells that contribute to a published count from 1 to
b - 1, and D the sums of inner cells:

    min   sum_i w_i |e_i|                       L1
          sum_i w_i e_i^2                       L2
          max_i w_i |e_i|                       L-infinity
    s.t.  e_i = sum_j D_ij (b u_j - a_j)        for every published cell i       (1)
          a_i + e_i = 0 or a_i + e_i >= b       for every published cell i       (2)
          e_i = 0                               for every cell i that is fixed   (3)
          u_j in {0, 1}                         for every j in J: 1 up to b, 0 down to 0

(2) holds by itself but for cells with other, unrounded contributors of 1 to b - 1 in all: there one u_j must be 1.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo
from scipy import sparse

from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import DEFAULT_SOLVER, ModelAnswer, solve_model

__all__ = ["build", "solve"]


def build(
    counts: npt.NDArray[np.float64],
    D: sparse.csr_array,
    rounded: npt.NDArray[np.int64],
    base: int,
    published: npt.NDArray[np.bool_],
    fixed: npt.NDArray[np.bool_],
    weights: npt.NDArray[np.float64],
    *,
    norm: Literal["l1", "l2", "linf"] = "l1",
) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    counts : ndarray, shape (cells,)
    D : sparse array, shape (cells, len(rounded))
        How often each rounded inner cell is counted in each cell.
    rounded : ndarray of int
        The inner cells J.
    base : int
    published, fixed : ndarray of bool, shape (cells,)
    weights : ndarray, shape (cells,)
    norm : {'l1', 'l2', 'linf'}
    """
    m = pyo.ConcreteModel("small counts")
    a = counts[rounded]
    m.inner = pyo.RangeSet(0, len(rounded) - 1)
    m.u = pyo.Var(m.inner, domain=pyo.Binary)
    touched = np.flatnonzero(np.diff(D.indptr) > 0)
    m.cells = pyo.Set(initialize=[int(i) for i in touched if published[i] or fixed[i]])
    m.t = pyo.Var(m.cells, domain=pyo.NonNegativeReals)

    def moved(m: pyo.ConcreteModel, i: int) -> pyo.Expression:
        columns, times = D.indices[D.indptr[i] : D.indptr[i + 1]], D.data[D.indptr[i] : D.indptr[i + 1]]
        return sum(float(d) * (base * m.u[int(j)] - float(a[j])) for j, d in zip(columns, times, strict=True))

    m.e = pyo.Expression(m.cells, rule=moved)
    m.above = pyo.Constraint(m.cells, rule=lambda m, i: m.t[i] >= m.e[i])
    m.below = pyo.Constraint(m.cells, rule=lambda m, i: m.t[i] >= -m.e[i])

    def not_small(m: pyo.ConcreteModel, i: int) -> pyo.Expression:
        columns = D.indices[D.indptr[i] : D.indptr[i + 1]]
        left = counts[i] - float((D[[i]] @ a)[0])
        if not published[i] or not 0 < left < base:
            return pyo.Constraint.Skip
        return sum(m.u[int(j)] for j in columns) >= 1

    m.not_small = pyo.Constraint(m.cells, rule=not_small)
    m.stays = pyo.Constraint(m.cells, rule=lambda m, i: m.e[i] == 0 if fixed[i] else pyo.Constraint.Skip)
    weighted = [i for i in m.cells if published[i]]
    if norm == "linf":
        m.largest = pyo.Var(domain=pyo.NonNegativeReals)
        m.each = pyo.Constraint(weighted, rule=lambda m, i: m.largest >= float(weights[i]) * m.t[i])
        objective = m.largest
    elif norm == "l2":
        objective = sum(float(weights[i]) * m.t[i] ** 2 for i in weighted)
    else:
        objective = sum(float(weights[i]) * m.t[i] for i in weighted)
    m.distance = pyo.Objective(expr=objective)
    return m


def solve(
    model: pyo.ConcreteModel, *, solver: str | None = None, limits: Limits | None = None
) -> tuple[ModelAnswer, npt.NDArray[np.bool_] | None]:
    """Solve with any solver that Pyomo knows; return what it claims and the inner cells that go up."""
    answer = solve_model(model, solver or DEFAULT_SOLVER, limits)
    if answer.objective is None:
        return answer, None
    return answer, np.array([pyo.value(model.u[j]) > 0.5 for j in model.inner])
