"""The least roll-up of hierarchies that leaves none of the given cells in a table.

Hundepool et al., Handbook on Statistical Disclosure Control, call it table redesign; stated here as a programme. For
every code v that has parts, in whatever dimension, k_v = 1 if its parts are given up; w_c is the loss of cell c, P the
cells that must go, and pa(c) the parents of the codes of cell c, one for every dimension in which it is no total:

    min   sum_c w_c z_c
    s.t.  k_u >= k_v               for every u with parts that is a part of v             (1)
          z_c >= k_v               for every v in pa(c)                                   (2)
          sum_{v in pa(c)} k_v >= 1  for every cell c in P                                (3)
          k_v = 0                  for every v whose parts must stay                      (4)
          k_v in {0, 1}, 0 <= z_c <= 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyomo.environ as pyo

from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import DEFAULT_SOLVER, ModelAnswer, solve_model

__all__ = ["build", "solve"]


def build(
    parents: Sequence[Sequence[str]],
    above: Mapping[str, str],
    weights: Sequence[float],
    primaries: Sequence[int],
    stay: Sequence[str] = (),
) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    parents : sequence of sequence of str
        pa(c) for every cell c.
    above : mapping of str to str
        For every code u with parts that is itself a part: the code v above it.
    weights : sequence of float
    primaries : sequence of int
        Positions of the cells that must go.
    stay : sequence of str
        Codes whose parts must stay.
    """
    m = pyo.ConcreteModel("recoding")
    codes = sorted({v for pa in parents for v in pa} | set(above) | set(above.values()))
    m.codes = pyo.Set(initialize=codes)
    m.cells = pyo.RangeSet(0, len(parents) - 1)
    m.k = pyo.Var(m.codes, domain=pyo.Binary)
    m.z = pyo.Var(m.cells, bounds=(0, 1))
    m.below = pyo.Constraint(list(above), rule=lambda m, u: m.k[u] >= m.k[above[u]])
    m.lost = pyo.ConstraintList()
    for c in m.cells:
        for v in parents[c]:
            m.lost.add(m.z[c] >= m.k[v])
    m.gone = pyo.ConstraintList()
    for c in primaries:
        m.gone.add(sum(m.k[v] for v in parents[c]) >= 1 if parents[c] else pyo.Constraint.Infeasible)
    for v in stay:
        m.k[v].fix(0)
    m.loss = pyo.Objective(expr=sum(float(weights[c]) * m.z[c] for c in m.cells))
    return m


def solve(model: pyo.ConcreteModel, *, solver: str | None = None, limits: Limits | None = None) -> ModelAnswer:
    """Solve with any solver that Pyomo knows."""
    return solve_model(model, solver or DEFAULT_SOLVER, limits)
