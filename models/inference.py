"""What an intruder infers about a sum from the answers to earlier sum queries: an interval.

The answers t_q to queries with query sets S_q partition the records into classes e with totals x(e); with M the matrix
of queries and classes (Malvestuto and Moscarini; the Eustat notebook on statistical data protection, "Audits for
Databases") the intruder knows

    M x = t                                    (1)
    lower(e) <= x(e) <= upper(e)               (2)

and the sum over a set A of classes lies in [min x(A), max x(A)], x(A) = sum over e in A of x(e). It is an invariant of
the system if both are equal. (2) are sums of the known bounds of the records, x >= 0 in the paper.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo

from tabprotect.errors import SolverError
from tabprotect.solver.pyomo import DEFAULT_SOLVER, solve_model

__all__ = ["build", "solve"]

Floats = npt.NDArray[np.float64]


def build(
    M: npt.ArrayLike, t: npt.ArrayLike, lower: npt.ArrayLike, upper: npt.ArrayLike, chosen: Sequence[int], *, side: int
) -> pyo.ConcreteModel:
    """State the inference of one end of the interval.

    Parameters
    ----------
    M : array_like, shape (queries, classes)
        1 where a class is part of a query set.
    t : array_like, shape (queries,)
        The answers.
    lower, upper : array_like, shape (classes,)
        Known bounds; may be infinite.
    chosen : sequence of int
        The classes A.
    side : {+1, -1}
        +1: max x(A); -1: min x(A).

    Returns
    -------
    pyomo.environ.ConcreteModel
        With the class totals ``x[e]`` and the objective ``total``.
    """
    A, b = np.asarray(M, float), np.asarray(t, float)
    lo, hi = np.asarray(lower, float), np.asarray(upper, float)
    m = pyo.ConcreteModel("inference")
    m.classes = pyo.RangeSet(0, A.shape[1] - 1)
    m.queries = pyo.RangeSet(0, A.shape[0] - 1)

    def box(_m: Any, e: int) -> tuple[float | None, float | None]:  # (2)
        return _bound(lo[e]), _bound(hi[e])

    m.x = pyo.Var(m.classes, bounds=box)

    def answer(m: Any, q: int) -> Any:  # (1)
        return pyo.quicksum(float(A[q, e]) * m.x[e] for e in np.flatnonzero(A[q]).tolist()) == float(b[q])

    m.answers = pyo.Constraint(m.queries, rule=answer)
    total = pyo.quicksum(m.x[e] for e in chosen)
    m.total = pyo.Objective(expr=total, sense=pyo.maximize if side > 0 else pyo.minimize)
    return m


def solve(
    M: npt.ArrayLike,
    t: npt.ArrayLike,
    lower: npt.ArrayLike,
    upper: npt.ArrayLike,
    chosen: Sequence[int],
    *,
    solver: str = DEFAULT_SOLVER,
) -> tuple[float, float]:
    """Return the interval of x(A); infinite where nothing holds it.

    Raises
    ------
    SolverError
        The solver came to no answer.

    Examples
    --------
    The salaries of the notebook: q1 = x_1 = 10, q2 = x_2 = 10, q3 = x_1 + x_2 + x_3 = 110, and what follows for x_3
    from all three, and from q1 and q3 only.

    >>> solve([[1, 0, 0], [0, 1, 0], [1, 1, 1]], [10, 10, 110], [0] * 3, [float("inf")] * 3, [2])
    (90.0, 90.0)
    >>> solve([[1, 0, 0], [1, 1, 1]], [10, 110], [0] * 3, [float("inf")] * 3, [2])
    (0.0, 100.0)
    """
    ends = []
    for side in (-1, 1):
        answer = solve_model(build(M, t, lower, upper, chosen, side=side), solver)
        if answer.status == "unbounded":
            ends.append(side * math.inf)
        elif answer.status == "optimal" and answer.objective is not None:
            ends.append(float(answer.objective))
        else:
            raise SolverError(f"the inference ended with '{answer.message}'")
    return ends[0], ends[1]


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
