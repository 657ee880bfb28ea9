"""Microaggregation: groups of at least k records with the least sum of squares around their means.

The sum of squares of a group of s records is the sum of the squared distances of its pairs, divided by s. A best
partition has groups of k to 2k - 1 records only (Domingo-Ferrer and Mateo-Sanz 2002), so one binary for every record
and size, and one for every pair and size, say it all:

    u_is = 1 if record i is in a group of s records,  w_ijs = 1 if i and j are in the same group of s records

    min   sum_s sum_(i<j) (d_ij / s) w_ijs
    s.t.  sum_s u_is = 1                            for every record i
          sum_(j != i) w_ijs = (s - 1) u_is         for every i, s
          w_ijs + w_jls - w_ils <= u_js             for i, j, l different, i < l: same group is transitive
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import DEFAULT_SOLVER, solve_model

__all__ = ["PartitionAnswer", "build", "solve"]


@dataclass(frozen=True, eq=False)
class PartitionAnswer:
    """A partition that the solver claims to be best.

    Attributes
    ----------
    status : str
        'optimal', 'feasible', 'infeasible' or 'unknown'.
    group : ndarray of int or None
        Group of every record.
    loss, bound : float or None
        Sum of squares, and what it cannot fall below.
    """

    status: str
    group: npt.NDArray[np.int64] | None
    loss: float | None
    bound: float | None


def build(squares: npt.NDArray[np.float64], k: int) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    squares : ndarray of float, shape (records, records)
        Squared distances.
    k : int
        Least size of a group; there are at least k records.
    """
    n = len(squares)
    m = pyo.ConcreteModel("microaggregation")
    m.records = pyo.RangeSet(0, n - 1)
    m.sizes = pyo.RangeSet(k, min(2 * k - 1, n))
    m.pairs = pyo.Set(dimen=2, initialize=[(i, j) for i in range(n) for j in range(i + 1, n)])
    m.u = pyo.Var(m.records, m.sizes, domain=pyo.Binary)
    m.w = pyo.Var(m.pairs, m.sizes, domain=pyo.Binary)

    def same(i: int, j: int, s: int) -> pyo.Var:
        return m.w[min(i, j), max(i, j), s]

    m.loss = pyo.Objective(
        expr=pyo.quicksum(float(squares[i, j]) / s * m.w[i, j, s] for i, j in m.pairs for s in m.sizes)
    )
    m.one_size = pyo.Constraint(m.records, rule=lambda m, i: pyo.quicksum(m.u[i, s] for s in m.sizes) == 1)
    m.full = pyo.Constraint(
        m.records,
        m.sizes,
        rule=lambda m, i, s: pyo.quicksum(same(i, j, s) for j in m.records if j != i) == (s - 1) * m.u[i, s],
    )
    m.transitive = pyo.Constraint(
        m.pairs,
        m.records,
        m.sizes,
        rule=lambda m, i, l, j, s: (
            pyo.Constraint.Skip if j in (i, l) else same(i, j, s) + same(j, l, s) - same(i, l, s) <= m.u[j, s]
        ),
    )
    return m


def solve(
    points: npt.NDArray[np.float64], k: int, solver: str = DEFAULT_SOLVER, limits: Limits | None = None
) -> PartitionAnswer:
    """Solve it for the Euclidean distances of some records.

    Examples
    --------
    >>> answer = solve(np.array([[0.0], [1.0], [9.0], [10.0], [11.0]]), 2)
    >>> answer.status, answer.group.tolist(), round(answer.loss, 6)
    ('optimal', [0, 0, 1, 1, 1], 2.5)
    """
    squares = ((points[:, None, :] - points) ** 2).sum(axis=2)
    model = build(squares, k)
    answer = solve_model(model, solver=solver, limits=limits)
    if answer.status not in ("optimal", "feasible"):
        return PartitionAnswer(answer.status, None, None, answer.bound)
    group = np.full(len(points), -1, dtype=np.int64)
    for i in range(len(points)):
        if group[i] < 0:
            group[i] = group.max() + 1
        for j in range(i + 1, len(points)):
            if any(pyo.value(model.w[i, j, s]) > 0.5 for s in model.sizes):
                group[j] = group[i]
    return PartitionAnswer(answer.status, group, answer.objective, answer.bound)
