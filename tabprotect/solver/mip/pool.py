"""Minimise a weighted sum of binary variables over a pool of rows: SCIP or HiGHS behind one function."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import highspy
import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InputError, SolverError
from tabprotect.solver.highs import SilentHighs
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.scip import count_work, optimise

__all__ = ["PoolAnswer", "PoolSolver", "pool_solver"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class PoolAnswer:
    """What a MIP solver claims about one pool.

    Attributes
    ----------
    bound : float
        No solution that satisfies the rows costs less (inf when none is cheaper than the cut-off).
    solutions : tuple of ndarray of bool
        Solutions that satisfy the rows, cheapest first.
    nodes : int
    """

    bound: float
    solutions: tuple[Bools, ...]
    nodes: int


PoolSolver = Callable[..., PoolAnswer]

ROOT_ROUNDS = 10
"""Rounds of cuts at the root of SCIP."""


def pool_solver(engine: Literal["scip", "highs"] | str) -> PoolSolver:
    """Return the solver of that name.

    Raises
    ------
    InputError
        If there is none.
    SolverError
        If it is not installed.
    """
    if engine == "highs":
        return partial(_in_rows, _highs)
    if engine == "scip":
        try:
            import pyscipopt  # noqa: F401
        except ImportError as error:
            raise SolverError("SCIP is not installed: install PySCIPOpt, or use engine='highs'") from error
        return partial(_in_rows, _scip)
    raise InputError(f"no engine '{engine}' for a pool of rows; there are 'scip', 'highs'")


def _in_rows(
    solve: PoolSolver, cost: Floats, fixed: Bools, matrix: sparse.csr_array, rhs: Floats, **how: Any
) -> PoolAnswer:
    """Solve over the variables that are in some row: the others are 0, or fixed at 1, since no cost is below 0."""
    inside = np.zeros(len(cost), dtype=bool)
    inside[matrix.indices] = True
    if not inside.any() or inside.all():
        return solve(cost, fixed, matrix, rhs, **how)
    paid = float(cost[fixed & ~inside].sum())
    how["cutoff"] -= paid
    answer = solve(cost[inside], fixed[inside], sparse.csr_array(matrix[:, inside]), rhs, **how)
    solutions = []
    for solution in answer.solutions:
        solutions.append(fixed.copy())
        solutions[-1][inside] = solution
    return PoolAnswer(answer.bound + paid, tuple(solutions), answer.nodes)


def _scip(
    cost: Floats,
    fixed: Bools,
    matrix: sparse.csr_array,
    rhs: Floats,
    *,
    cutoff: float,
    gap: float,
    most: int,
    budget: Budget,
) -> PoolAnswer:
    """Solve on SCIP."""
    from pyscipopt import SCIP_PARAMSETTING, Model, quicksum

    model = Model()
    model.hideOutput()
    model.setPresolve(SCIP_PARAMSETTING.FAST)
    model.setHeuristics(SCIP_PARAMSETTING.FAST)
    model.setParam("separating/gomory/freq", -1)
    model.setParam("separating/maxroundsroot", ROOT_ROUNDS)
    model.setParam("misc/catchctrlc", False)
    model.setParam("limits/gap", gap)
    model.setParam("timing/clocktype", 2)
    model.setParam("randomization/randomseedshift", 0)
    if math.isfinite(budget.seconds_left):
        model.setParam("limits/time", max(0.01, budget.seconds_left))
    x = [
        model.addVar(vtype="B", obj=float(c), lb=1.0 if f else 0.0)
        for c, f in zip(cost.tolist(), fixed.tolist(), strict=True)
    ]
    indptr, indices, data = matrix.indptr.tolist(), matrix.indices.tolist(), matrix.data.tolist()
    for k, right in enumerate(rhs.tolist()):
        lo, hi = indptr[k], indptr[k + 1]
        terms = zip(indices[lo:hi], data[lo:hi], strict=True)
        model.addCons(quicksum(v * x[j] for j, v in terms) >= right)
    if math.isfinite(cutoff):
        model.setObjlimit(cutoff)

    count_work(model, budget)
    budget.spend(1)
    optimise(model, budget)
    status = model.getStatus()
    bound = float(model.getDualbound())
    if status == "infeasible" or bound >= model.infinity():
        bound = math.inf
    solutions = [np.array([model.getSolVal(s, v) > 0.5 for v in x]) for s in model.getSols()[:most]]
    nodes = int(model.getNNodes())
    model.freeProb()
    return PoolAnswer(max(0.0, bound), tuple(solutions), nodes)


def _highs(
    cost: Floats,
    fixed: Bools,
    matrix: sparse.csr_array,
    rhs: Floats,
    *,
    cutoff: float,
    gap: float,
    most: int,
    budget: Budget,
) -> PoolAnswer:
    """Solve on HiGHS."""
    h = SilentHighs()
    for name, value in (
        ("threads", 1),
        ("random_seed", 0),
        ("mip_rel_gap", gap),
        ("mip_abs_gap", 0.0),
        ("mip_improving_solution_save", True),
    ):
        h.setOptionValue(name, value)
    if math.isfinite(budget.seconds_left):
        h.setOptionValue("time_limit", max(0.01, budget.seconds_left))
    if math.isfinite(cutoff):
        h.setOptionValue("objective_bound", cutoff)
    h.passModel(_binary_programme(cost, fixed, matrix, rhs))
    _spend(h, budget)
    budget.spend(1)
    h.run()
    status, info = h.getModelStatus(), h.getInfo()
    if status == highspy.HighsModelStatus.kInfeasible:
        return PoolAnswer(math.inf, (), 1)
    if status in (highspy.HighsModelStatus.kSolveError, highspy.HighsModelStatus.kModelError):
        raise SolverError(f"HiGHS ended with {h.modelStatusToString(status)}")
    found = [np.asarray(s.col_value) for s in h.getSavedMipSolutions()]
    if info.primal_solution_status == highspy.SolutionStatus.kSolutionStatusFeasible:
        found.append(np.asarray(h.getSolution().col_value))
    solutions = {(v > 0.5).tobytes(): v > 0.5 for v in found}
    ordered = sorted(solutions.values(), key=lambda v: float(cost[v].sum()))
    bound = float(info.mip_dual_bound)
    return PoolAnswer(max(0.0, bound) if math.isfinite(bound) else 0.0, tuple(ordered[:most]), int(info.mip_node_count))


def _binary_programme(cost: Floats, fixed: Bools, matrix: sparse.csr_array, rhs: Floats) -> Any:
    """Return the programme as HiGHS takes it."""
    n = len(cost)
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = n, len(rhs)
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = cost, fixed.astype(np.float64), np.ones(n)
    lp.row_lower_, lp.row_upper_ = rhs, np.full(len(rhs), np.inf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data
    lp.integrality_ = [highspy.HighsVarType.kInteger] * n
    return lp


def _spend(h: Any, budget: Budget) -> None:
    """Charge the iterations and nodes of HiGHS to a budget while it runs, and end it when that is exhausted."""
    spent = 0

    def watch(event: Any) -> None:
        nonlocal spent
        now = int(event.data_out.simplex_iteration_count) + int(event.data_out.mip_node_count)
        budget.spend(max(0, now - spent))
        spent = max(spent, now)
        if budget.exhausted:
            event.interrupt()

    h.cbMipInterrupt.subscribe(watch)
