"""Branch and cut in one tree of SCIP, the separator as a constraint handler.

Four rules of such handlers, each of which costs wrong answers when broken: a candidate is accepted only after the
separator has passed it; the handler is asked without constraints of its own (``needscons=False``); it comes after
integrality (negative priorities), so that what it is asked about is integral; and every variable is locked both ways
and dual reductions and symmetries are switched off, since SCIP does not see the rows that are not written down.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import SolverError
from tabprotect.seeds import SOLVER_SEEDS
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.lazy import Oracle, Programme
from tabprotect.solver.mip.rows import Row
from tabprotect.solver.mip.scip import count_work, optimise
from tabprotect.solver.tolerances import ROW_FEASIBILITY

try:
    from pyscipopt import (
        SCIP_HEURTIMING,
        SCIP_LOCKTYPE,
        SCIP_RESULT,
        Conshdlr,
        Heur,
        Model,
        quicksum,
    )
except ImportError as error:
    raise SolverError("SCIP is not installed: install PySCIPOpt, or use engine='highs'") from error

__all__ = ["solve"]

Floats = npt.NDArray[np.float64]
Answer = tuple[Floats | None, float | None, bool]
Heuristic = Callable[[Floats], Floats | None]

PRIORITY = -1_000_000
"""Of checking and enforcing: after integrality (0) and linear constraints."""

ROUNDS = 5
"""Rounds of separation in a node below the root."""


def solve(programme: Programme, oracle: Oracle, budget: Budget, seed: int, heuristic: Heuristic | None) -> Answer:
    """Return the best solution, the bound, and whether the search came to its end."""
    model = _model(budget, seed)
    tree = _Tree(model, programme, oracle, budget, _columns(model, programme))
    model.includeConshdlr(
        _Separator.of(tree),
        "separator",
        "rows that are not written down",
        sepapriority=PRIORITY,
        enfopriority=PRIORITY,
        chckpriority=PRIORITY,
        sepafreq=1,
        needscons=False,
    )
    count_work(model, budget, tree.report, lambda: oracle.error is not None)
    if heuristic is not None:
        timing = SCIP_HEURTIMING.AFTERLPNODE
        guide = _Guide.of(tree, heuristic)
        model.includeHeur(guide, "guide", "the caller's heuristic", "Y", priority=10_000, freq=1, timingmask=timing)
    budget.spend(1)
    optimise(model, budget)
    status, solutions = model.getStatus(), model.getSols()
    best = programme.rounded(tree.point(solutions[0])) if solutions else None
    bound = _finite(model, model.getDualbound())
    model.freeProb()
    if status in ("unbounded", "inforunbd"):
        raise SolverError(f"SCIP ended with '{status}': give bounds to the columns")
    return best, bound, status in ("optimal", "infeasible")


def _model(budget: Budget, seed: int) -> Any:
    """Return an empty model that is safe for rows that are not written down."""
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
    return model


@dataclass(frozen=True, eq=False)
class _Tree:
    """What all plugins work on."""

    model: Any
    programme: Programme
    oracle: Oracle
    budget: Budget
    x: Sequence[Any]

    def point(self, solution: Any = None) -> Floats:
        """Values of the columns in a solution; None: in that of the relaxation."""
        return np.array([self.model.getSolVal(solution, v) for v in self.x])

    def inside(self) -> Floats:
        """Values of the columns in the relaxation, within their bounds."""
        return np.clip(self.point(), self.programme.lower, self.programme.upper)

    def report(self) -> None:
        """Tell how far the search is."""
        model = self.model
        self.budget.report("tree", _finite(model, model.getPrimalbound()), _finite(model, model.getDualbound()))


class _Separator(Conshdlr):  # type: ignore[misc]
    """Passes, refuses and cuts off points as the oracle says."""

    tree: _Tree

    @classmethod
    def of(cls, tree: _Tree) -> _Separator:
        """Return the separator of a tree; SCIP's classes take no arguments when they are made."""
        found = cls()
        found.tree = tree
        return found

    def conscheck(self, constraints: Any, solution: Any, *_: Any, **__: Any) -> dict[str, Any]:
        return self._judged(solution)

    def consenfops(self, constraints: Any, n: int, infeasible: bool, objinfeasible: bool) -> dict[str, Any]:
        return self._judged(None)

    def _judged(self, solution: Any) -> dict[str, Any]:
        whole = self.tree.programme.rounded(self.tree.point(solution))
        good = whole is not None and self.tree.oracle.passes(whole)
        return {"result": SCIP_RESULT.FEASIBLE if good else self._refuse()}

    def consenfolp(self, constraints: Any, n: int, infeasible: bool) -> dict[str, Any]:
        oracle = self.tree.oracle
        whole = self.tree.programme.rounded(self.tree.point())
        if whole is None:
            return {"result": self._refuse()}
        if oracle.passes(whole):
            return {"result": SCIP_RESULT.FEASIBLE if oracle.error is None else self._refuse()}
        return {"result": self._add(oracle.cuts(whole, True), forced=True) or self._refuse()}

    def conssepalp(self, constraints: Any, n: int) -> dict[str, Any]:
        oracle, now = self.tree.oracle, self.tree.inside()
        pending = [row for row in oracle.rows.values() if row.slack(now) < -ROW_FEASIBILITY]
        rows = pending or oracle.cuts(now, False)
        return {"result": self._add(rows, forced=False) or SCIP_RESULT.DIDNOTFIND}

    def conslock(self, constraint: Any, locktype: Any, up: int, down: int) -> None:
        for variable in self.tree.x:
            self.tree.model.addVarLocksType(variable, SCIP_LOCKTYPE.MODEL, up + down, up + down)

    def _refuse(self) -> Any:
        if self.tree.oracle.error is not None:
            self.tree.model.interruptSolve()
        return SCIP_RESULT.INFEASIBLE

    def _add(self, rows: list[Row], *, forced: bool) -> Any:
        """Add rows to the relaxation; returns None when there were none."""
        model, x = self.tree.model, self.tree.x
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


class _Guide(Heur):  # type: ignore[misc]
    """Hands points of the relaxation to the heuristic of the caller."""

    tree: _Tree
    heuristic: Heuristic

    @classmethod
    def of(cls, tree: _Tree, heuristic: Heuristic) -> _Guide:
        found = cls()
        found.tree, found.heuristic = tree, heuristic
        return found

    def heurexec(self, heurtiming: Any, nodeinfeasible: bool) -> dict[str, Any]:
        tree = self.tree
        try:
            found = self.heuristic(tree.inside())
        except BaseException as error:  # would be lost inside the solver
            tree.oracle.error = error
            found = None
        if found is None or not tree.programme.satisfied(found):
            return {"result": SCIP_RESULT.DIDNOTFIND}
        solution = tree.model.createSol(self)
        for variable, value in zip(tree.x, np.asarray(found, np.float64).tolist(), strict=True):
            tree.model.setSolVal(solution, variable, value)
        accepted = tree.model.trySol(solution)
        return {"result": SCIP_RESULT.FOUNDSOL if accepted else SCIP_RESULT.DIDNOTFIND}


def _columns(model: Any, p: Programme) -> list[Any]:
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
