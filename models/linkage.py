"""One-to-one record linkage: the assignment of masked to original records with the least total distance.

Domingo-Ferrer and Torra link the files one to one; c_ij is the distance of original record i and masked record j, of n
and m records with n <= m (else the files change places):

    min   sum_ij c_ij x_ij
    s.t.  sum_j x_ij  = 1      for every i      (1)
          sum_i x_ij <= 1      for every j      (2)
          x_ij in {0, 1}

The matrix of (1) and (2) is totally unimodular, so the linear relaxation has an integral optimum, and dual values u_i,
v_j <= 0 with u_i + v_j <= c_ij prove it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import DEFAULT_SOLVER, ModelAnswer, solve_model

__all__ = ["build", "solve"]


def build(distances: npt.NDArray[np.float64]) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    distances : ndarray of float, shape (original records, masked records)
        Not more original records than masked ones.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With ``x[i, j]`` and the objective ``total``.
    """
    if distances.shape[0] > distances.shape[1]:
        raise ValueError("there are more original records than masked ones: transpose the distances")
    m = pyo.ConcreteModel("linkage")
    m.original, m.masked = (pyo.RangeSet(0, size - 1) for size in distances.shape)
    m.x = pyo.Var(m.original, m.masked, domain=pyo.Binary)

    def once(m: Any, i: int) -> Any:  # (1)
        return sum(m.x[i, j] for j in m.masked) == 1

    def at_most_once(m: Any, j: int) -> Any:  # (2)
        return sum(m.x[i, j] for i in m.original) <= 1

    m.once = pyo.Constraint(m.original, rule=once)
    m.at_most_once = pyo.Constraint(m.masked, rule=at_most_once)
    m.total = pyo.Objective(expr=sum(float(distances[i, j]) * m.x[i, j] for i in m.original for j in m.masked))
    return m


def solve(model: pyo.ConcreteModel, *, solver: str | None = None, limits: Limits | None = None) -> ModelAnswer:
    """Solve with any solver that Pyomo knows."""
    return solve_model(model, solver or DEFAULT_SOLVER, limits)
