"""Protecting vectors: which entry of every row goes to which vector, so that declared sums get narrow answers.

Row i of the k vectors is its lower end plus a fixed set of entries e_i1 = 0 <= ... <= e_ik = width, in some order
(Gopal and Goes 1998, eqs. 1 and 2 hold in any order, since the first entry reaches the lower end and the last the upper
one). With z_imj = 1 if entry m of record i goes to vector j, the vectors' sums over a declared set S, without the lower
ends, are R_Sj, and the answer to the sum over S is as wide as the largest less the smallest of them:

    min   sum_S (high_S - low_S) / W_S,    W_S = sum_{i in S} e_ik
    s.t.  sum_m z_imj = 1  for all i, j;   sum_j z_imj = 1  for all i, m                             (1)
          R_Sj = sum_{i in S} sum_m e_im z_imj                                                       (2)
          low_S <= R_Sj <= high_S                                                                    (3)

Neither the true values nor the weights that hide them are in it: the choice tells nothing about them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import DEFAULT_SOLVER, solve_model

__all__ = ["EntriesAnswer", "build", "solve"]


@dataclass(frozen=True, eq=False)
class EntriesAnswer:
    """An order of entries that the solver claims to be best.

    Attributes
    ----------
    status : str
        'optimal', 'feasible', 'infeasible' or 'unknown'.
    rows : ndarray or None, shape (records, k)
        The entries in the order of the vectors.
    width, bound : float or None
        The objective, and what it cannot fall below.
    """

    status: str
    rows: npt.NDArray[np.float64] | None
    width: float | None
    bound: float | None


def build(entries: npt.ArrayLike, members: npt.ArrayLike) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    entries : array_like, shape (records, k)
        Ascending, the first one 0.
    members : array_like, shape (sets, records)
        1 where a record is in a declared set.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With ``z[i, m, j]`` and the objective ``width``.
    """
    e, inside = np.asarray(entries, float), np.asarray(members, float)
    n, k = e.shape
    m = pyo.ConcreteModel("camouflage")
    m.records, m.entries, m.vectors = pyo.RangeSet(0, n - 1), pyo.RangeSet(0, k - 1), pyo.RangeSet(0, k - 1)
    m.sets = pyo.RangeSet(0, len(inside) - 1)
    m.z = pyo.Var(m.records, m.entries, m.vectors, domain=pyo.Binary)
    m.low, m.high = pyo.Var(m.sets), pyo.Var(m.sets)

    def total(m: Any, s: int, j: int) -> Any:  # (2)
        return pyo.quicksum(
            float(inside[s, i] * e[i, r]) * m.z[i, r, j] for i in np.flatnonzero(inside[s]).tolist() for r in m.entries
        )

    m.R = pyo.Expression(m.sets, m.vectors, rule=total)
    m.one_entry = pyo.Constraint(  # (1)
        m.records, m.vectors, rule=lambda m, i, j: pyo.quicksum(m.z[i, r, j] for r in m.entries) == 1
    )
    m.one_vector = pyo.Constraint(
        m.records, m.entries, rule=lambda m, i, r: pyo.quicksum(m.z[i, r, j] for j in m.vectors) == 1
    )
    m.above = pyo.Constraint(m.sets, m.vectors, rule=lambda m, s, j: m.R[s, j] <= m.high[s])  # (3)
    m.below = pyo.Constraint(m.sets, m.vectors, rule=lambda m, s, j: m.low[s] <= m.R[s, j])
    for r in range(k):  # vectors have no names: those of the first record are in order
        m.z[0, r, r].fix(1)
    whole = inside @ e[:, -1]
    m.width = pyo.Objective(expr=pyo.quicksum((m.high[s] - m.low[s]) / float(whole[s]) for s in m.sets if whole[s] > 0))
    return m


def solve(
    entries: npt.ArrayLike, members: npt.ArrayLike, solver: str = DEFAULT_SOLVER, limits: Limits | None = None
) -> EntriesAnswer:
    """Solve it.

    Examples
    --------
    Two rows of the same entries are opposites of each other, and the sum of all vectors is the same.

    >>> answer = solve([[0, 1, 2], [0, 1, 2]], [[1, 1]])
    >>> answer.status, answer.rows.tolist(), round(answer.width, 6)
    ('optimal', [[0.0, 1.0, 2.0], [2.0, 1.0, 0.0]], 0.0)
    """
    e = np.asarray(entries, float)
    model = build(e, members)
    answer = solve_model(model, solver=solver, limits=limits)
    if answer.status not in ("optimal", "feasible"):
        return EntriesAnswer(answer.status, None, None, answer.bound)
    chosen = np.array(
        [[[pyo.value(model.z[i, r, j]) for j in model.vectors] for r in model.entries] for i in model.records]
    )
    rows = np.take_along_axis(e, chosen.argmax(axis=1), axis=1)
    return EntriesAnswer(answer.status, rows, answer.objective, answer.bound)
