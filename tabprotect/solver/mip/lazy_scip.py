"""Branch and cut in one tree of SCIP, the separator as a constraint handler.

Four rules of such handlers, each of which costs wrong answers when broken: a candidate is accepted only after the
separator has passed it; the handler is asked without constraints of its own (``needscons=False``); it comes after
integrality (negative priorities), so that what it is asked about is integral; and every variable is locked both ways
and dual reductions and symmetries are switched off, since SCIP does not see the rows that are not written down.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import SolverError
from tabprotect.seeds import SOLVER_SEEDS
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.lazy import Oracle, Programme
from tabprotect.solver.mip.rows import Row
from tabprotect.solver.mip.scip import optimise
from tabprotect.solver.tolerances import ROW_FEASIBILITY

__all__ = ["solve"]

Floats = npt.NDArray[np.float64]
Answer = tuple[Floats | None, float | None, bool]

PRIORITY = -1_000_000
"""Of checking and enforcing: after integrality (0) and linear constraints."""

ROUNDS = 5
"""Rounds of separation in a node below the root."""


def solve(
    programme: Programme,
    oracle: Oracle,
    budget: Budget,
    seed: int,
    heuristic: Callable[[Floats], Floats | None] | None,
) -> Answer:
    """Return the best solution, the bound, and whether the search came to its end."""
    try:
        from pyscipopt import (
            SCIP_EVENTTYPE,
            SCIP_HEURTIMING,
            SCIP_LOCKTYPE,
            SCIP_RESULT,
            SCIP_STAGE,
            Conshdlr,
            Eventhdlr,
            Heur,
            Model,
            quicksum,
        )
    except ImportError as error:
        raise SolverError("SCIP is not installed: install PySCIPOpt, or use engine='highs'") from error

    model = Model()
    model.hideOutput()
    for name, value in (
        ("misc/catchctrlc", False),
        ("misc/allowstrongdualreds", False),
        ("misc/allowweakdualreds", False),
        ("misc/usesymmetry", 0),
        ("timing/clocktype", 2),
        ("randomization/randomseedshift", seed % SOLVER_SEEDS),
        ("limits/gap", budget.limits.gap),
        ("separating/maxrounds", ROUNDS),
        ("separating/maxroundsroot", -1),
    ):
        model.setParam(name, value)
    if math.isfinite(budget.seconds_left):
        model.setParam("limits/time", max(0.01, budget.seconds_left))
    x = _columns(model, programme, quicksum)

    def point(solution: Any = None) -> Floats:
        return np.array([model.getSolVal(solution, v) for v in x])

    class Handler(Conshdlr):  # type: ignore[misc]
        def conscheck(self, constraints: Any, solution: Any, *_: Any, **__: Any) -> dict[str, Any]:
            whole = programme.rounded(point(solution))
            good = whole is not None and oracle.passes(whole)
            return {"result": SCIP_RESULT.FEASIBLE if good else self.refuse()}

        def consenfolp(self, constraints: Any, n: int, infeasible: bool) -> dict[str, Any]:
            whole = programme.rounded(point())
            if whole is None:
                return {"result": self.refuse()}
            if oracle.passes(whole):
                return {"result": SCIP_RESULT.FEASIBLE if oracle.error is None else self.refuse()}
            return {"result": self.add(oracle.cuts(whole, True), forced=True) or self.refuse()}

        def consenfops(self, constraints: Any, n: int, infeasible: bool, objinfeasible: bool) -> dict[str, Any]:
            whole = programme.rounded(point())
            good = whole is not None and oracle.passes(whole)
            return {"result": SCIP_RESULT.FEASIBLE if good else self.refuse()}

        def conssepalp(self, constraints: Any, n: int) -> dict[str, Any]:
            now = np.clip(point(), programme.lower, programme.upper)
            pending = [row for row in oracle.rows.values() if row.slack(now) < -ROW_FEASIBILITY]
            rows = pending or oracle.cuts(now, False)
            return {"result": self.add(rows, forced=False) or SCIP_RESULT.DIDNOTFIND}

        def conslock(self, constraint: Any, locktype: Any, up: int, down: int) -> None:
            for variable in x:
                model.addVarLocksType(variable, SCIP_LOCKTYPE.MODEL, up + down, up + down)

        def refuse(self) -> Any:
            if oracle.error is not None:
                model.interruptSolve()
            return SCIP_RESULT.INFEASIBLE

        def add(self, rows: list[Row], *, forced: bool) -> Any:
            """Add rows to the relaxation; returns None when there were none."""
            for row in rows:
                handle = model.createEmptyRowUnspec(lhs=row.rhs, rhs=None, local=False, removable=True)
                model.cacheRowExtensions(handle)
                for j, value in zip(row.index.tolist(), row.values.tolist(), strict=True):
                    model.addVarToRow(handle, x[j], value)
                model.flushRowExtensions(handle)
                cutoff = model.addCut(handle, forcecut=forced)
                model.releaseRow(handle)
                if cutoff:
                    return SCIP_RESULT.CUTOFF
            return SCIP_RESULT.SEPARATED if rows else None

    class Watch(Eventhdlr):  # type: ignore[misc]
        """Counts work, reports, and listens to whoever cancels."""

        spent = 0

        def eventinit(self) -> None:
            for event in (SCIP_EVENTTYPE.LPEVENT, SCIP_EVENTTYPE.NODESOLVED, SCIP_EVENTTYPE.BESTSOLFOUND):
                model.catchEvent(event, self)

        def eventexit(self) -> None:
            for event in (SCIP_EVENTTYPE.LPEVENT, SCIP_EVENTTYPE.NODESOLVED, SCIP_EVENTTYPE.BESTSOLFOUND):
                model.dropEvent(event, self)

        def eventexec(self, event: Any) -> None:
            if model.getStage() < SCIP_STAGE.SOLVING:  # SCIP counts nothing before
                return
            now = int(model.getNLPIterations()) + int(model.getNNodes())
            budget.spend(now - self.spent)
            self.spent = now
            if event.getType() != SCIP_EVENTTYPE.LPEVENT:
                budget.report("tree", _finite(model, model.getPrimalbound()), _finite(model, model.getDualbound()))
            if budget.exhausted or oracle.error is not None:
                model.interruptSolve()

    class Guide(Heur):  # type: ignore[misc]
        """Hands points of the relaxation to the heuristic of the caller."""

        def heurexec(self, heurtiming: Any, nodeinfeasible: bool) -> dict[str, Any]:
            try:
                found = None if heuristic is None else heuristic(np.clip(point(), programme.lower, programme.upper))
            except BaseException as error:  # would be lost inside the solver
                oracle.error = error
                found = None
            if found is None or not programme.satisfied(found):
                return {"result": SCIP_RESULT.DIDNOTFIND}
            solution = model.createSol(self)
            for variable, value in zip(x, np.asarray(found, np.float64).tolist(), strict=True):
                model.setSolVal(solution, variable, value)
            accepted = model.trySol(solution)
            return {"result": SCIP_RESULT.FOUNDSOL if accepted else SCIP_RESULT.DIDNOTFIND}

    model.includeConshdlr(
        Handler(),
        "separator",
        "rows that are not written down",
        sepapriority=PRIORITY,
        enfopriority=PRIORITY,
        chckpriority=PRIORITY,
        sepafreq=1,
        needscons=False,
    )
    model.includeEventhdlr(Watch(), "watch", "counts work and listens to whoever cancels")
    if heuristic is not None:
        timing = SCIP_HEURTIMING.AFTERLPNODE
        model.includeHeur(Guide(), "guide", "the caller's heuristic", "Y", priority=10_000, freq=1, timingmask=timing)
    budget.spend(1)
    optimise(model, budget)
    status, solutions = model.getStatus(), model.getSols()
    best = programme.rounded(point(solutions[0])) if solutions else None
    bound = _finite(model, model.getDualbound())
    model.freeProb()
    if status in ("unbounded", "inforunbd"):
        raise SolverError(f"SCIP ended with '{status}': give bounds to the columns")
    return best, bound, status in ("optimal", "infeasible")


def _columns(model: Any, p: Programme, quicksum: Any) -> list[Any]:
    """State the columns and the written rows."""

    def bound(value: float) -> float | None:
        return float(value) if math.isfinite(value) else None

    x = [
        model.addVar(vtype="I" if integer else "C", obj=float(c), lb=bound(low), ub=bound(high))
        for c, low, high, integer in zip(p.cost, p.lower, p.upper, p.integer, strict=True)
    ]
    for i in range(p.A.shape[0]):
        part = slice(p.A.indptr[i], p.A.indptr[i + 1])
        terms = zip(p.A.indices[part].tolist(), p.A.data[part].tolist(), strict=True)
        expression = quicksum(value * x[j] for j, value in terms)
        low, high = float(p.row_lower[i]), float(p.row_upper[i])
        if low == high:
            model.addCons(expression == low)
            continue
        if math.isfinite(low):
            model.addCons(expression >= low)
        if math.isfinite(high):
            model.addCons(expression <= high)
    return x


def _finite(model: Any, value: float) -> float | None:
    return None if abs(value) >= model.infinity() else float(value)
