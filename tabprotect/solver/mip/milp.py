"""One mixed integer (or linear) programme on HiGHS, solved once, within a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, Literal

import highspy
import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.seeds import SOLVER_SEEDS
from tabprotect.solver.claims import contradictory
from tabprotect.solver.highs import SilentHighs
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import BINARY_INTEGRALITY

__all__ = ["WIDEST_INTEGER", "MilpAnswer", "solve_milp"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_Status = highspy.HighsModelStatus
#: endings that say something by themselves; any other is a limit
_ENDINGS: dict[Any, Literal["optimal", "infeasible", "unbounded"]] = {
    _Status.kOptimal: "optimal",
    _Status.kInfeasible: "infeasible",
    _Status.kUnbounded: "unbounded",
    _Status.kModelEmpty: "optimal",
}
_LIMITS = (
    _Status.kTimeLimit,
    _Status.kIterationLimit,
    _Status.kSolutionLimit,
    _Status.kInterrupt,
    _Status.kObjectiveBound,
    _Status.kObjectiveTarget,
    _Status.kUnboundedOrInfeasible,
    _Status.kUnknown,
)

#: HiGHS narrows the range of an integer column unit by unit, without looking at the clock or whether to stop: wider
#: ones than this, of a table in cents, can keep it for hours
WIDEST_INTEGER = 1e6

#: share of a limit of time at which an error of HiGHS is that of being cut off
_AT_LIMIT = 0.9

#: work units that a node of the tree stands for when a work limit is translated into nodes
_WORK_A_NODE = 200


@dataclass(frozen=True, eq=False)
class MilpAnswer:
    """What HiGHS claims.

    Attributes
    ----------
    status : {'optimal', 'feasible', 'infeasible', 'unbounded', 'unknown'}
        'feasible': stopped by a limit with a solution; 'unknown': without one.
    objective, bound : float or None
    x : ndarray or None
        The best solution.
    duals : ndarray or None
        Row duals of a linear programme, with reduced costs = cost - A' duals.
    work : int
        Simplex and interior point iterations and tree nodes.
    message : str
    """

    status: Literal["optimal", "feasible", "infeasible", "unbounded", "unknown"]
    objective: float | None
    bound: float | None
    x: Floats | None
    duals: Floats | None
    work: int
    message: str


def solve_milp(
    A: Any,
    row_lower: Any,
    row_upper: Any,
    lower: Any,
    upper: Any,
    cost: Any,
    integer: Bools | None = None,
    *,
    start: Floats | None = None,
    budget: Budget | None = None,
    seconds: float | None = None,
    nodes: int | None = None,
    gap: float = 0.0,
    seed: int = 0,
    method: Literal["choose", "simplex", "ipm"] = "choose",
    crossover: bool = True,
) -> MilpAnswer:
    """Minimise ``cost @ x`` subject to ``row_lower <= A x <= row_upper``, ``lower <= x <= upper``, some x integer.

    Parameters
    ----------
    A : array or sparse array, shape (rows, columns)
    row_lower, row_upper, lower, upper, cost : ndarray
        Infinite where there is no bound.
    integer : ndarray of bool, optional
        Which columns are integer; none by default (a linear programme). No limit is kept reliably where their bounds
        are further apart than `WIDEST_INTEGER`.
    start : ndarray, optional
        A solution to begin with.
    budget : Budget, optional
        Its seconds, work and stop are kept, and what is spent here is charged to it.
    seconds : float, optional
        A limit for this programme alone.
    nodes : int, optional
        A limit of tree nodes, for answers that do not depend on the clock.
    gap : float
        Relative gap at which the search may end.
    seed : int
    method : {'choose', 'simplex', 'ipm'}
        For linear programmes.
    crossover : bool
        False: an interior point is good enough (no vertex, no exact duals).

    Raises
    ------
    SolverError
        If HiGHS refuses the programme or fails.

    Examples
    --------
    >>> answer = solve_milp([[2.0, 2.0]], [3], [9], [0, 0], [5, 5], [1, 1], np.array([True, True]))
    >>> answer.status, answer.objective, answer.bound
    ('optimal', 2.0, 2.0)
    """
    budget = budget or Budget()
    is_mip = integer is not None and bool(np.any(integer))
    matrix = sparse.csc_array(A, dtype=np.float64)
    h = SilentHighs()
    h.setOptionValue("threads", 1)
    h.setOptionValue("random_seed", seed % SOLVER_SEEDS)
    h.setOptionValue("mip_rel_gap", gap)
    h.setOptionValue("mip_abs_gap", 0.0)
    if is_mip and np.all(np.asarray(upper)[integer] <= 1) and np.all(np.asarray(lower)[integer] >= 0):
        h.setOptionValue("mip_feasibility_tolerance", BINARY_INTEGRALITY)
    if method != "choose":
        h.setOptionValue("solver", method)
    if not crossover:
        h.setOptionValue("run_crossover", "off")
    limit = min(budget.seconds_left, math.inf if seconds is None else seconds)
    _limit(h, limit, budget.work_left, nodes)
    if h.passModel(_model(matrix, row_lower, row_upper, lower, upper, cost, integer)) == highspy.HighsStatus.kError:
        raise SolverError("HiGHS refused the programme (NaN or crossing bounds in it?)")
    if start is not None:
        solution = highspy.HighsSolution()
        solution.col_value = np.asarray(start, np.float64)
        h.setSolution(solution)
    stop = h.cbMipInterrupt if is_mip else h.cbSimplexInterrupt
    stop.subscribe(lambda event: event.interrupt(budget.exhausted))
    h.run()
    if h.getModelStatus() == _Status.kSolveError:
        # interior point that is cut off calls it an error; there is no answer either way
        if budget.exhausted or h.getRunTime() >= _AT_LIMIT * limit:
            return MilpAnswer("unknown", None, None, None, None, 0, "time limit reached")
        _run_plainly(h)
    answer = _read(h, is_mip, cost, gap)
    doubted = answer.status == "feasible" and h.getModelStatus() == _Status.kOptimal
    if start is not None and doubted and answer.objective is not None:
        # some versions mistake what their start costs after presolve, and call it optimal
        budget.spend(answer.work)
        h.clearSolver()
        h.run()
        again = _read(h, is_mip, cost, gap)
        worse = again.objective is None or again.objective > answer.objective
        answer = replace(answer, work=again.work) if worse else again
    budget.spend(answer.work)
    return answer


def _limit(h: Any, seconds: float, work: float, nodes: int | None) -> None:
    """Set the limits of a solver, where there are any."""
    if math.isfinite(seconds):
        h.setOptionValue("time_limit", max(0.0, seconds))
    most = min(work // _WORK_A_NODE, math.inf if nodes is None else nodes)
    if math.isfinite(most):
        h.setOptionValue("mip_max_nodes", int(most))
    if math.isfinite(work):
        h.setOptionValue("simplex_iteration_limit", int(work))
        h.setOptionValue("ipm_iteration_limit", int(work))


def _run_plainly(h: Any) -> None:
    """Once more without presolve and by simplex, from nothing (HiGHS counts its time limit over both runs)."""
    h.clearSolver()
    h.setOptionValue("presolve", "off")
    h.setOptionValue("solver", "simplex")
    h.run()


def _model(
    matrix: sparse.csc_array, row_lower: Any, row_upper: Any, lower: Any, upper: Any, cost: Any, integer: Bools | None
) -> Any:
    lp = highspy.HighsLp()
    lp.num_row_, lp.num_col_ = (int(k) for k in matrix.shape)
    lp.col_cost_ = np.asarray(cost, np.float64)
    lp.col_lower_ = np.asarray(lower, np.float64)
    lp.col_upper_ = np.asarray(upper, np.float64)
    lp.row_lower_ = np.asarray(row_lower, np.float64)
    lp.row_upper_ = np.asarray(row_upper, np.float64)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data
    if integer is not None and np.any(integer):
        kinds = (highspy.HighsVarType.kContinuous, highspy.HighsVarType.kInteger)
        lp.integrality_ = [kinds[int(i)] for i in integer]
    return lp


def _read(h: Any, is_mip: bool, cost: Any, gap: float) -> MilpAnswer:
    """Take the answer; an optimum that its own bound contradicts is a feasible answer."""
    ending = h.getModelStatus()
    words = str(h.modelStatusToString(ending)).lower()
    if ending not in _ENDINGS and ending not in _LIMITS:
        raise SolverError(f"HiGHS ended with '{words}'")
    info, solution = h.getInfo(), h.getSolution()
    counts = (info.simplex_iteration_count, info.ipm_iteration_count, info.mip_node_count if is_mip else 0)
    work = sum(max(0, int(count)) for count in counts)
    status = _ENDINGS.get(ending)
    if status in ("infeasible", "unbounded"):
        return MilpAnswer(status, None, None, None, None, work, words)
    feasible = info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible
    x = np.asarray(solution.col_value, np.float64) if feasible or ending == _Status.kModelEmpty else None
    objective = None if x is None else float(np.dot(np.asarray(cost, np.float64), x))
    if is_mip:
        bound = float(info.mip_dual_bound) if math.isfinite(info.mip_dual_bound) else None
    else:
        bound = objective if status == "optimal" else None
    if status == "optimal" and objective is not None and bound is not None and contradictory(objective, bound, gap):
        # a bound beyond what was found is none
        status, bound, words = None, bound if bound < objective else None, "an optimum that its own bound contradicts"
    duals = None
    if not is_mip and len(solution.row_dual):
        duals = np.asarray(solution.row_dual, np.float64)
    return MilpAnswer(status or ("unknown" if x is None else "feasible"), objective, bound, x, duals, work, words)
