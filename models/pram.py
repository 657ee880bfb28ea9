"""PRAM: the invariant Markov matrix that changes least, between a floor and a ceiling of staying the same.

Kooiman, Willenborg, Gouweleeuw (1998), "PRAM: a method for disclosure limitation of microdata". With t the counts of
m categories and d_ij the distance from category i to j:

    min   sum_i t_i sum_j d_ij p_ij
    s.t.  sum_j p_ij = 1                    for all i      (Markov)
          sum_i t_i p_ij = t_j              for all j      (invariant: counts are kept in expectation)
          floor <= p_ii <= ceiling          for all i
          p_ij >= 0
"""

from __future__ import annotations

from collections.abc import Sequence

import pyomo.environ as pyo

from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import ModelAnswer, solve_model

__all__ = ["build", "solve"]


def build(
    counts: Sequence[float], distance: Sequence[Sequence[float]], floor: float, ceiling: float
) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    counts : sequence of float, length m
        All above 0.
    distance : nested sequence of float, m x m
    floor, ceiling : float
    """
    m = pyo.ConcreteModel("invariant Markov matrix")
    m.I = pyo.RangeSet(0, len(counts) - 1)
    m.p = pyo.Var(m.I, m.I, bounds=lambda _, i, j: (floor, ceiling) if i == j else (0, 1))
    m.loss = pyo.Objective(expr=sum(counts[i] * distance[i][j] * m.p[i, j] for i in m.I for j in m.I))
    m.markov = pyo.Constraint(m.I, rule=lambda m, i: sum(m.p[i, j] for j in m.I) == 1)
    m.invariant = pyo.Constraint(m.I, rule=lambda m, j: sum(counts[i] * m.p[i, j] for i in m.I) == counts[j])
    return m


def solve(
    counts: Sequence[float],
    distance: Sequence[Sequence[float]],
    floor: float,
    ceiling: float,
    solver: str = "appsi_highs",
    limits: Limits | None = None,
) -> ModelAnswer:
    """State the problem and hand it to a solver that Pyomo knows."""
    return solve_model(build(counts, distance, floor, ceiling), solver, limits)
