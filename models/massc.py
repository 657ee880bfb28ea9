"""Selection probabilities of MASSC as convex programmes (Singh, Yu and Dunteman 2003, eq. 5.3 and 5.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyomo.environ as pyo

__all__ = ["subsampling", "substitution"]


def substitution(
    sums: Sequence[Sequence[float]],
    squares: Sequence[Sequence[float]],
    alpha: float,
    cost: Sequence[float],
    box: tuple[float, float],
) -> Any:
    """Least disclosure cost of substitution, S and Q relative to totals and their squares."""
    m = pyo.ConcreteModel()
    m.s, m.j = pyo.RangeSet(0, len(cost) - 1), pyo.RangeSet(0, len(sums[0]) - 1)
    m.psi = pyo.Var(m.s, bounds=box)
    m.bias = pyo.Constraint(
        m.j,
        rule=lambda m, j: (
            sum(m.psi[s] * sums[s][j] for s in m.s) ** 2 + sum(m.psi[s] * squares[s][j] for s in m.s) <= alpha
        ),
    )
    m.cost = pyo.Objective(expr=sum(cost[s] * (1 - m.psi[s]) ** 2 for s in m.s))
    return m


def subsampling(
    squares: Sequence[Sequence[float]], beta: float, cost: Sequence[float], box: tuple[float, float]
) -> Any:
    """Least disclosure cost of subsampling; phi is the probability to be released."""
    m = pyo.ConcreteModel()
    m.s, m.j = pyo.RangeSet(0, len(cost) - 1), pyo.RangeSet(0, len(squares[0]) - 1)
    m.phi = pyo.Var(m.s, bounds=box)
    m.variance = pyo.Constraint(m.j, rule=lambda m, j: sum((1 / m.phi[s] - 1) * squares[s][j] for s in m.s) <= beta)
    m.cost = pyo.Objective(expr=sum(cost[s] * m.phi[s] ** 2 for s in m.s))
    return m
