"""Solve a Pyomo model with any solver that Pyomo knows, and read its answer in our words.

>>> import pyomo.environ as pyo
>>> m = pyo.ConcreteModel()
>>> m.x = pyo.Var(bounds=(0, 3), domain=pyo.Integers)
>>> m.cost = pyo.Objective(expr=-2 * m.x)
>>> answer = solve_model(m)
>>> answer.status, answer.objective, m.x.value
('optimal', -6.0, 3.0)
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import pyomo.environ as pyo
from pyomo.common.errors import ApplicationError, PyomoException
from pyomo.opt import SolverStatus
from pyomo.opt import TerminationCondition as Condition

from tabprotect.errors import InputError, SolverError
from tabprotect.solver.claims import contradictory
from tabprotect.solver.limits import Limits
from tabprotect.solver.tolerances import BINARY_INTEGRALITY

__all__ = ["DEFAULT_SOLVER", "ModelAnswer", "solve_model"]

DEFAULT_SOLVER = "appsi_highs"

ModelStatus = Literal["optimal", "feasible", "infeasible", "unbounded", "unknown"]

#: What each foreign ending means; "feasible" becomes "unknown" when no solution came with it.
_STATUS: dict[Condition, ModelStatus] = {
    Condition.optimal: "optimal",
    Condition.globallyOptimal: "optimal",
    Condition.locallyOptimal: "feasible",
    Condition.feasible: "feasible",
    Condition.maxTimeLimit: "feasible",
    Condition.maxIterations: "feasible",
    Condition.maxEvaluations: "feasible",
    Condition.minFunctionValue: "feasible",
    Condition.minStepLength: "feasible",
    Condition.userInterrupt: "feasible",
    Condition.resourceInterrupt: "feasible",
    Condition.other: "feasible",
    Condition.unknown: "feasible",
    Condition.infeasible: "infeasible",
    Condition.unbounded: "unbounded",
    Condition.infeasibleOrUnbounded: "unknown",
    Condition.noSolution: "unknown",
    Condition.intermediateNonInteger: "unknown",
}

#: Name of the relative gap and of the integrality tolerance in each family of solvers (by prefix of the Pyomo name).
_OPTIONS: dict[str, tuple[str, str]] = {
    "appsi_highs": ("mip_rel_gap", "mip_feasibility_tolerance"),
    "highs": ("mip_rel_gap", "mip_feasibility_tolerance"),
    "scip": ("limits/gap", "numerics/feastol"),
    "gurobi": ("MIPGap", "IntFeasTol"),
    "appsi_gurobi": ("MIPGap", "IntFeasTol"),
    "cplex": ("mip_tolerances_mipgap", "mip_tolerances_integrality"),
    "appsi_cplex": ("mip_tolerances_mipgap", "mip_tolerances_integrality"),
    "cbc": ("ratioGap", "integerTolerance"),
    "appsi_cbc": ("ratioGap", "integerTolerance"),
    "xpress": ("miprelstop", "miptol"),
}

#: SCIP inside our process holds the interpreter's lock while it fills the pipe that Pyomo's reader, which needs that
#: lock, should empty: a long log hangs both for ever, so there must be none.
_SILENT = {"scip_direct": {"display/verblevel": 0}, "scip_persistent": {"display/verblevel": 0}}


@dataclass(frozen=True)
class ModelAnswer:
    """What the solver claims; variable values are in the model, nothing is trusted until checked elsewhere.

    Attributes
    ----------
    status : {'optimal', 'feasible', 'infeasible', 'unbounded', 'unknown'}
    objective : float or None
        Value of the solution loaded into the model; None without one.
    bound : float or None
        No solution is better than this (None when the solver gives none).
    seconds : float
    message : str
        The solver's own ending in its words.
    """

    status: ModelStatus
    objective: float | None
    bound: float | None
    seconds: float
    message: str


def solve_model(model: Any, solver: str = DEFAULT_SOLVER, limits: Limits | None = None) -> ModelAnswer:
    """Solve a model and load the best solution found into it.

    Parameters
    ----------
    model : pyomo.environ.ConcreteModel
        With one active objective.
    solver : str
        Any name known to ``pyomo.environ.SolverFactory``: 'appsi_highs', 'highs', 'scip_direct', 'gurobi', ...
    limits : Limits, optional
        Seconds and gap. Foreign solvers count no work units of ours, so a work limit is refused; `stop` is asked
        once, before the start.

    Raises
    ------
    InputError
        Unknown solver, or a work limit.
    SolverError
        The solver is not installed, or failed.
    """
    limits = limits or Limits()
    if limits.work is not None:
        raise InputError("a work limit cannot be counted in a foreign solver; give seconds= or choose another engine")
    if limits.stop is not None and limits.stop():
        return ModelAnswer("unknown", None, None, 0.0, "cancelled before the start")
    engine = _engine(solver)
    options = _options(model, solver, limits.gap)
    timed = {} if limits.seconds is None else {"timelimit": max(limits.seconds, 0.0)}
    started = time.monotonic()
    try:
        with _quiet():
            claim = engine.solve(model, load_solutions=False, options=options, **timed)
        loaded = len(claim.solution) > 0 and _STATUS.get(claim.solver.termination_condition) in ("optimal", "feasible")
        if loaded:
            # Pyomo refuses to load what a solver found before its limit unless the ending is called a warning.
            claim.solver.status = SolverStatus.ok
            model.solutions.load_from(claim)
    except Exception as error:  # foreign interfaces raise whatever they like, SCIP's a plain Exception
        raise SolverError(f"solver '{solver}' failed on the model: {error}") from error
    return _read(model, claim, loaded, time.monotonic() - started)


def _read(model: Any, claim: Any, loaded: bool, seconds: float) -> ModelAnswer:
    """Map a foreign answer into ours; an optimum is doubted when its own bound contradicts it."""
    condition = claim.solver.termination_condition
    if condition not in _STATUS:
        raise SolverError(f"the solver ended with '{condition}'")
    status = _STATUS[condition]
    if status in ("optimal", "feasible") and not loaded:
        status = "unknown"
    goal = next(model.component_data_objects(pyo.Objective, active=True))
    objective = float(pyo.value(goal)) if status in ("optimal", "feasible") else None
    claimed = claim.problem.lower_bound if goal.sense == pyo.minimize else claim.problem.upper_bound
    bound = None if claimed is None or not math.isfinite(float(claimed)) else float(claimed)
    if status in ("infeasible", "unbounded"):
        bound = None
    if status == "optimal" and objective is not None and bound is not None and contradictory(objective, bound):
        status = "feasible"
    return ModelAnswer(status, objective, bound, seconds, str(condition))


def _engine(solver: str) -> Any:
    """Return Pyomo's interface to a solver that is there, or say what is wrong with it."""
    unknown = f"Pyomo knows no solver '{solver}'; try 'appsi_highs', 'scip_direct' or 'gurobi'"
    with _quiet():
        engine = pyo.SolverFactory(solver)
        try:
            there = bool(engine.available(exception_flag=False))
        except (ApplicationError, PyomoException, AttributeError, RuntimeError) as error:
            raise InputError(unknown) from error
    if type(engine).__name__ == "UnknownSolver":
        raise InputError(unknown)
    if not there:
        raise SolverError(f"solver '{solver}' is not installed; 'appsi_highs' and 'scip_direct' come with tabprotect")
    return engine


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep Pyomo's log off the screen: what it has to say is in the status that we return or the error we raise."""
    log = logging.getLogger("pyomo")
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        log.setLevel(level)


def _family(solver: str) -> str:
    """Return the longest known family name that the solver's name starts with."""
    return max((name for name in _OPTIONS if solver.startswith(name)), key=len, default="")


def _options(model: Any, solver: str, gap: float) -> dict[str, Any]:
    """Options of this solver: no output that hangs, the gap, the integrality of binaries."""
    integers = [v for v in model.component_data_objects(pyo.Var, active=True) if not v.fixed and not v.is_continuous()]
    found: dict[str, Any] = dict(_SILENT.get(solver, {}))
    if integers and (names := _OPTIONS.get(_family(solver))):
        found[names[0]] = gap
        if all(v.is_binary() for v in integers):
            found[names[1]] = BINARY_INTEGRALITY
    return found
