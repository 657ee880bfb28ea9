"""Secondary cell suppression: hide as little as possible so that every attack on a primary cell goes wide enough.

The compact mixed integer programme of Fischetti and Salazar (2001), Management Science 47(7), "an ILP model": one
binary x_i for every cell (1 = hidden), and for every attack two auxiliary tables, f (how far up) and g (how far down),
that prove with their own values that the pattern leaves the intruder in doubt. The numbers (3), (4) are those of the
Eustat notebook's statement; it prints LPL where (4) needs UPL. Tables are written as deviations, f = a + z' and
g = a + z'', so that data with rounding residuals need nothing special.

    min   sum_i w_i x_i                        over cells that are neither primary nor forced
    s.t.  x_i = 1 (primary, forced),  x_i = 0 (protected from suppression, structural zero),  x_i in {0, 1}

    and for every attacker with known cells K and every primary p not in K:

          A z'' = 0,  -LB_i x_i <= z''_i <= UB_i x_i,  z''_j = 0 for j in K,   z''_p <= -LPL_p       (3)
          A z'  = 0,  -LB_i x_i <= z'_i  <= UB_i x_i,  z'_j  = 0 for j in K,   z'_p  >=  UPL_p       (4)
          z'_p - z''_p >= SPL_p                                                                      (5)

An infinite LB_i or UB_i is replaced by the finite capacity kappa T of `tabprotect.models.capacity`, T the largest level
of the attack, which loses no pattern; where kappa is too large to be safe beside an integrality tolerance, z_i and
1 - x_i form a special ordered set of type 1 instead, which needs a solver that has them ('scip_direct', 'gurobi').
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyomo.environ as pyo
from scipy import sparse

from tabprotect.models.capacity import elementary_ratio
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Limits
from tabprotect.solver.pyomo import DEFAULT_SOLVER, solve_model

__all__ = ["PatternAnswer", "build", "solve"]

LARGEST_RATIO = 1e4
"""A capacity above this many levels would let an integrality error of 1e-8 leak more than 1e-4 of a level."""

#: Solver used when a model needs special ordered sets and the caller named none.
_SOS_SOLVER = "scip_direct"


@dataclass(frozen=True, eq=False)
class PatternAnswer:
    """A pattern that the solver claims to be safe; only `tabprotect.attack` decides that it is.

    Attributes
    ----------
    status : {'optimal', 'feasible', 'infeasible', 'unknown'}
    pattern : ndarray of bool or None
        True where a cell is hidden, primaries and forced cells included.
    cost : float or None
        Sum of the weights of the secondaries.
    bound : float or None
        No pattern that meets the model costs less.
    seconds : float
    message : str
    """

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    pattern: npt.NDArray[np.bool_] | None
    cost: float | None
    bound: float | None
    seconds: float
    message: str


def build(problem: Problem, *, integral: bool = False, largest_ratio: float = LARGEST_RATIO) -> pyo.ConcreteModel:
    """State the whole problem as one mixed integer programme.

    Parameters
    ----------
    problem : Problem
    integral : bool
        The auxiliary tables must be integer, for intruders who know that values are (``problem.integer``).
    largest_ratio : float
        Cells whose capacity is above so many levels are in ordered sets; a solver with a finer integrality tolerance
        can take a larger one.

    Returns
    -------
    pyomo.environ.ConcreteModel
        With ``x[i]``, the deviations ``z[attacker, primary, side, i]`` and the objective ``loss``.
        Its size is cells x 2 x attackers x primaries: for reading and for small problems.
    """
    A, n = problem.system.A, problem.n_cells
    hidden, hideable = problem.must_hide, problem.may_hide
    ratio = elementary_ratio(sparse.csr_array(A.multiply(hideable)))
    known = {k: frozenset(attacker.known) for k, attacker in enumerate(problem.attackers)} | {-1: frozenset[int]()}

    m = pyo.ConcreteModel("cell suppression")
    m.cells = pyo.RangeSet(0, n - 1)
    m.equations = pyo.RangeSet(0, problem.system.n_equations - 1)
    m.x = pyo.Var(m.cells, domain=pyo.Binary)
    for i in m.cells:
        if hidden[i] or not hideable[i]:
            m.x[i].fix(int(hidden[i]))
    m.loss = pyo.Objective(expr=pyo.quicksum(float(problem.weights[i]) * m.x[i] for i in m.cells if not hidden[i]))

    m.attacks = pyo.Set(dimen=2, initialize=_attacks(problem))
    m.tables = pyo.Set(dimen=3, initialize=[(k, p, s) for k, p in m.attacks for s in (+1, -1)])

    def level(p: int, side: int) -> float:
        return float(problem.upl[p] if side > 0 else problem.lpl[p])

    def capacity(k: int, p: int, s: int, i: int) -> tuple[float | None, float | None]:
        if i in known[k] or not hideable[i]:
            return 0.0, 0.0
        enough = ratio[i] * max(level(p, s), float(problem.spl[p]))
        finite = enough if ratio[i] <= largest_ratio else np.inf
        down, up = min(problem.down[i], finite), min(problem.up[i], finite)
        return (-float(down) if np.isfinite(down) else None), (float(up) if np.isfinite(up) else None)

    m.z = pyo.Var(
        m.tables,
        m.cells,
        bounds=lambda _m, *index: capacity(*index),
        domain=pyo.Integers if integral else pyo.Reals,
    )

    def additive(m: Any, k: int, p: int, s: int, row: int) -> Any:
        lo, hi = A.indptr[row], A.indptr[row + 1]
        terms = [(float(c), int(i)) for c, i in zip(A.data[lo:hi], A.indices[lo:hi], strict=True)]
        return pyo.quicksum(c * m.z[k, p, s, i] for c, i in terms) == 0 if terms else pyo.Constraint.Skip

    def not_above(m: Any, k: int, p: int, s: int, i: int) -> Any:
        z = m.z[k, p, s, i]
        return pyo.Constraint.Skip if z.ub is None or hidden[i] else z <= z.ub * m.x[i]

    def not_below(m: Any, k: int, p: int, s: int, i: int) -> Any:
        z = m.z[k, p, s, i]
        return pyo.Constraint.Skip if z.lb is None or hidden[i] else z >= z.lb * m.x[i]

    m.additive = pyo.Constraint(m.tables, m.equations, rule=additive)
    m.not_above = pyo.Constraint(m.tables, m.cells, rule=not_above)
    m.not_below = pyo.Constraint(m.tables, m.cells, rule=not_below)
    m.down_enough = pyo.Constraint(m.attacks, rule=lambda m, k, p: m.z[k, p, -1, p] <= -level(p, -1))  # (3)
    m.up_enough = pyo.Constraint(m.attacks, rule=lambda m, k, p: m.z[k, p, +1, p] >= level(p, +1))  # (4)
    m.wide_enough = pyo.Constraint(  # (5)
        m.attacks, rule=lambda m, k, p: m.z[k, p, +1, p] - m.z[k, p, -1, p] >= float(problem.spl[p])
    )

    unbounded = [index for index in m.z if (m.z[index].ub is None or m.z[index].lb is None) and not hidden[index[-1]]]
    if unbounded:
        m.shown = pyo.Var(m.cells, bounds=(0, 1))
        m.shown_is = pyo.Constraint(m.cells, rule=lambda m, i: m.shown[i] == 1 - m.x[i])
        m.free = pyo.Set(dimen=4, initialize=unbounded)
        m.either = pyo.SOSConstraint(m.free, rule=lambda m, *index: ([m.shown[index[-1]], m.z[index]], [1, 2]), sos=1)
    return m


def solve(
    problem: Problem,
    *,
    solver: str | None = None,
    limits: Limits | None = None,
    integral: bool = False,
    largest_ratio: float = LARGEST_RATIO,
) -> PatternAnswer:
    """Solve the compact model with any solver that Pyomo knows.

    Parameters
    ----------
    problem : Problem
    solver : str, optional
        A name for ``pyomo.environ.SolverFactory``; by default HiGHS, or SCIP where special ordered sets are needed.
    limits : Limits, optional
        Seconds and gap (see `tabprotect.solver.pyomo.solve_model`).
    integral : bool
    largest_ratio : float
        See `build`.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> answer = solve(p)
    >>> answer.status, answer.cost, answer.pattern.nonzero()[0].tolist()
    ('optimal', 17.0, [4, 5, 7, 8])
    """
    model = build(problem, integral=integral, largest_ratio=largest_ratio)
    needs_sos = any(True for _ in model.component_data_objects(pyo.SOSConstraint, active=True))
    answer = solve_model(model, solver or (_SOS_SOLVER if needs_sos else DEFAULT_SOLVER), limits)
    status = "unknown" if answer.status == "unbounded" else answer.status
    pattern = cost = None
    if answer.objective is not None:
        pattern = np.array([pyo.value(model.x[i]) > 0.5 for i in model.cells])
        cost = problem.cost(pattern)
    return PatternAnswer(status, pattern, cost, answer.bound, answer.seconds, answer.message)


def _attacks(problem: Problem) -> list[tuple[int, int]]:
    """List (attacker, primary): nobody attacks what he knows or is spared; a cell without levels needs no witness."""
    levels = problem.lpl + problem.upl + problem.spl
    wanted = [int(p) for p in np.flatnonzero((problem.status == Status.PRIMARY) & (levels > 0))]
    unasked = {k: attacker.unasked for k, attacker in enumerate(problem.attackers)} | {-1: frozenset[int]()}
    return [(k, p) for k in unasked for p in wanted if p not in unasked[k]]
