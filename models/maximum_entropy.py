"""The distribution of largest entropy under given tables and moments (survey of Ciriani et al., section 5.1).

With p_i the share of state i, and f_ki what a state adds to constraint k:

    max   - sum_i p_i log p_i
    s.t.  sum_i p_i = 1
          sum_i f_ki p_i = b_k              for all k      (tables and moments)
          0 <= p_i <= 1
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo

__all__ = ["build", "improvement"]


def build(rows: Sequence[Sequence[float]], wanted: Sequence[float]) -> Any:
    """Largest entropy: a concave objective over shares of states.

    Parameters
    ----------
    rows : sequence of sequences, shape (constraints, states)
        What a state adds to each constraint: 1 for a cell of a table that it lies in, or a number of it.
    wanted : sequence of float, shape (constraints,)
        Shares of the cells, expectations of the numbers.
    """
    m = pyo.ConcreteModel()
    m.k, m.i = pyo.RangeSet(0, len(wanted) - 1), pyo.RangeSet(0, len(rows[0]) - 1)
    m.p = pyo.Var(m.i, bounds=(0, 1), initialize=1 / len(rows[0]))
    m.whole = pyo.Constraint(expr=sum(m.p[i] for i in m.i) == 1)
    m.held = pyo.Constraint(m.k, rule=lambda m, k: sum(rows[k][i] * m.p[i] for i in m.i) == wanted[k])
    m.entropy = pyo.Objective(expr=-sum(m.p[i] * pyo.log(m.p[i]) for i in m.i), sense=pyo.maximize)
    return m


def improvement(rows: Sequence[Sequence[float]], wanted: Sequence[float], at: Sequence[float], off: float = 0.0) -> Any:
    """How much entropy another distribution could have at most, by the tangent at a given one: a linear programme.

    Entropy lies below its tangents, so that no distribution has more than that of `at` and the optimum of this
    programme; `at` is optimal where that is 0.

    Parameters
    ----------
    rows, wanted
        As in `build`.
    at : sequence of float, shape (states,)
        Shares above 0.
    off : float
        By how much constraints may be missed, as those of `at` are.
    """
    m = build(rows, wanted)
    m.del_component(m.entropy)
    m.del_component(m.held)
    m.held = pyo.Constraint(
        m.k, rule=lambda m, k: (wanted[k] - off, sum(rows[k][i] * m.p[i] for i in m.i), wanted[k] + off)
    )
    m.gain = pyo.Objective(expr=sum(-(float(pyo.log(at[i])) + 1) * (m.p[i] - at[i]) for i in m.i), sense=pyo.maximize)
    return m
