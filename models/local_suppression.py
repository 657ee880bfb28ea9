"""Local suppression: the fewest weighted blanks that leave every released record enough matches.

The statement behind `tabprotect.microdata.LocalSuppression`, for small files. Records are i, sets of blanked keys S
with cost w(S); x_iS = 1 if exactly the keys S of record i are blanked. "j matches (i, S)" depends on what a missing
value matches:

    any     j agrees with i on all keys outside of S, whatever is blanked in j
    both    j, with the keys S' blanked, agrees with i on all keys outside of S and S'
    stated  as before, and S' holds none of the keys outside of S
    own     as before, and S' = S

    min   sum_iS w(S) x_iS
    s.t.  sum_S x_iS = 1                                          for every record i                (1)
          sum_jS' [(j, S') matches (i, S)] x_jS' >= k x_iS         for every record i and set S      (2)
          x binary

Under 'any' the left-hand side of (2) is a number, so that sets with fewer than k matches are ruled out and every
record is a problem of its own: a set cover of its unsafe combinations.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import numpy.typing as npt
import pyomo.environ as pyo

from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import ModelAnswer, solve_model

__all__ = ["build", "solve"]


def build(
    codes: npt.NDArray[Any],
    k: int,
    cost: Sequence[float],
    missing: Literal["any", "both", "stated", "own"] = "any",
) -> pyo.ConcreteModel:
    """State the problem.

    Parameters
    ----------
    codes : ndarray of int, shape (records, keys)
        All of at least 0: no value is missing before.
    k : int
    cost : sequence of float
        Of a blank of each key.
    missing : {'any', 'both', 'stated', 'own'}

    Returns
    -------
    pyomo.environ.ConcreteModel
        With ``x[i, s]`` for the s-th set of ``sets`` and the objective ``blanks``.
    """
    rows = [tuple(row) for row in codes.tolist()]
    keys = range(len(cost))
    sets = [frozenset(chosen) for size in range(len(cost) + 1) for chosen in combinations(keys, size)]
    m = pyo.ConcreteModel("local suppression")
    m.sets = sets
    m.records = pyo.RangeSet(0, len(rows) - 1)
    m.choices = pyo.RangeSet(0, len(sets) - 1)
    m.x = pyo.Var(m.records, m.choices, domain=pyo.Binary)

    def matches(i: int, blank: frozenset[int], j: int, other: frozenset[int]) -> bool:
        stated = [key for key in keys if key not in blank]
        if missing == "both":
            stated = [key for key in stated if key not in other]
        if (missing == "stated" and not other.isdisjoint(stated)) or (missing == "own" and blank != other):
            return False
        return all(rows[i][key] == rows[j][key] for key in stated)

    def enough(m: Any, i: int, s: int) -> Any:  # (2)
        if missing == "any":
            found = sum(matches(i, sets[s], j, frozenset()) for j in m.records)
            return pyo.Constraint.Skip if found >= k else m.x[i, s] == 0
        return sum(m.x[j, t] for j in m.records for t in m.choices if matches(i, sets[s], j, sets[t])) >= k * m.x[i, s]

    m.one = pyo.Constraint(m.records, rule=lambda m, i: sum(m.x[i, s] for s in m.choices) == 1)  # (1)
    m.enough = pyo.Constraint(m.records, m.choices, rule=enough)
    m.blanks = pyo.Objective(
        expr=sum(sum(cost[key] for key in sets[s]) * m.x[i, s] for i in m.records for s in m.choices)
    )
    return m


def solve(
    codes: npt.NDArray[Any],
    k: int,
    cost: Sequence[float],
    missing: Literal["any", "both", "stated", "own"] = "any",
    *,
    limits: Limits | None = None,
) -> ModelAnswer:
    """Solve the statement; see `build`.

    Examples
    --------
    >>> import numpy as np
    >>> codes = np.array([[0, 0], [0, 0], [0, 1], [1, 1]])
    >>> [round(solve(codes, 2, [1, 1], missing).objective, 6) for missing in ("any", "both", "stated", "own")]
    [2.0, 1.0, 2.0, 2.0]
    """
    return solve_model(build(codes, k, cost, missing), limits=limits)
