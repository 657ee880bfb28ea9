"""Convex programmes with a separable quadratic objective and cone constraints, by Clarabel (interior point).

HiGHS solves quadratic programmes by an active set method with a dense reduced Hessian, which is out of the question for
tables: they have thousands of degrees of freedom.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import clarabel
import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import QP_ACCURACY, QP_FIXED_ROW, QP_LEAST_ACCURACY

__all__ = ["Cone", "QpAnswer", "solve_qp"]

Floats = npt.NDArray[np.float64]

_ENDINGS: dict[str, Literal["optimal", "infeasible", "unbounded", "unknown"]] = {
    "Solved": "optimal",
    "AlmostSolved": "optimal",
    "PrimalInfeasible": "infeasible",
    "AlmostPrimalInfeasible": "infeasible",
    "DualInfeasible": "unbounded",
    "AlmostDualInfeasible": "unbounded",
    "MaxIterations": "unknown",
    "MaxTime": "unknown",
    "InsufficientProgress": "unknown",
    "CallbackTerminated": "unknown",
    "NumericalError": "unknown",
}


@dataclass(frozen=True, eq=False)
class Cone:
    """The constraint ``|F x + offset| <= radius + slope @ x`` (Euclidean length); a ball where the slope is 0.

    Parameters
    ----------
    F : sparse array, shape (q, columns)
    offset : ndarray, shape (q,)
    radius : float
    slope : ndarray, shape (columns,)
    """

    F: sparse.csr_array
    offset: Floats
    radius: float
    slope: Floats

    def excess(self, x: Floats) -> float:
        """Return how far x is outside (at most 0 inside)."""
        return float(np.linalg.norm(self.F @ x + self.offset) - self.radius - self.slope @ x)

    def tangent(self, x: Floats) -> tuple[Floats, float]:
        """Return (row, right) of ``row @ x <= right``, which holds in the cone and touches it in the direction of x."""
        point = self.F @ x + self.offset
        length = float(np.linalg.norm(point))
        direction = point / length if length > 0 else point
        return self.F.T @ direction - self.slope, self.radius - float(direction @ self.offset)


@dataclass(frozen=True, eq=False)
class QpAnswer:
    """What Clarabel claims, to about eight digits.

    Attributes
    ----------
    status : {'optimal', 'infeasible', 'unbounded', 'unknown'}
    objective, bound : float or None
        Primal and dual objective.
    x : ndarray or None
    duals : ndarray or None
        Multipliers of the rows (only they), with the sign of ``cost - A' duals`` for reduced costs.
    work : int
        Iterations.
    message : str
    """

    status: Literal["optimal", "infeasible", "unbounded", "unknown"]
    objective: float | None
    bound: float | None
    x: Floats | None
    duals: Floats | None
    work: int
    message: str


def solve_qp(
    A: Any,
    row_lower: Any,
    row_upper: Any,
    lower: Any,
    upper: Any,
    cost: Any,
    square: Any,
    cones: tuple[Cone, ...] = (),
    *,
    budget: Budget | None = None,
) -> QpAnswer:
    """Minimise ``cost @ x + square @ x**2`` subject to rows, bounds and cones.

    Parameters
    ----------
    A : array or sparse array, shape (rows, columns)
    row_lower, row_upper, lower, upper, cost : ndarray
    square : ndarray
        Coefficients (>= 0) of the squares.
    cones : tuple of Cone
    budget : Budget, optional

    Raises
    ------
    SolverError
        If Clarabel fails numerically.

    Examples
    --------
    >>> answer = solve_qp([[1.0, 1.0]], [2], [2], [0, 0], [9, 9], [0, 0], [1, 3])
    >>> answer.status, answer.x.round(6).tolist(), round(answer.objective, 6)
    ('optimal', [1.5, 0.5], 3.0)
    """
    budget = budget or Budget()
    A = sparse.csr_array(A, dtype=np.float64)
    row_lower, row_upper, lower, upper = (np.asarray(v, np.float64) for v in (row_lower, row_upper, lower, upper))
    rows = _Rows.of(A, row_lower, row_upper, lower, upper)
    if rows is None:
        return QpAnswer("infeasible", None, None, None, None, 0, "an equation between fixed columns does not hold")
    free, known = rows.free, rows.known
    blocks, rhs, kinds = rows.constraints(lower, upper, cones)
    cost, square = np.asarray(cost, np.float64), np.asarray(square, np.float64)
    # with coefficients far above 1 Clarabel has claimed infeasibility of programmes that are not
    unit = max(float(np.abs(cost).max(initial=0.0)), float(square.max(initial=0.0))) or 1.0
    solver = clarabel.DefaultSolver(
        sparse.csc_matrix(sparse.diags_array(2.0 / unit * square[free], format="csc")),
        cost[free] / unit,
        sparse.csc_matrix(sparse.vstack(blocks, format="csc")),
        np.concatenate(rhs),
        kinds,
        _settings(budget),
    )
    solver.set_termination_callback(lambda _info: budget.exhausted)
    claim = solver.solve()
    budget.spend(claim.iterations)
    words = str(claim.status)
    if words not in _ENDINGS:
        raise SolverError(f"Clarabel ended with '{words}'")
    status = _ENDINGS[words]
    if status != "optimal":
        return QpAnswer(status, None, None, None, None, claim.iterations, words)
    x = known.copy()
    x[free] = np.clip(np.asarray(claim.x), lower[free], upper[free])
    constant = float(cost @ known + square @ known**2)
    duals = rows.duals(np.asarray(claim.z) * unit)
    objective = float(cost @ x + square @ x**2)
    return QpAnswer(status, objective, float(claim.obj_val_dual) * unit + constant, x, duals, claim.iterations, words)


def _settings(budget: Budget) -> Any:
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.max_threads = 1
    settings.tol_feas = settings.tol_gap_abs = settings.tol_gap_rel = QP_ACCURACY
    settings.reduced_tol_feas = settings.reduced_tol_gap_abs = settings.reduced_tol_gap_rel = QP_LEAST_ACCURACY
    if math.isfinite(budget.seconds_left):
        settings.time_limit = budget.seconds_left
    if math.isfinite(budget.work_left):
        settings.max_iter = max(0, min(200, int(budget.work_left)))
    return settings


@dataclass(frozen=True, eq=False)
class _Rows:
    """The rows of a programme by kind, with fixed columns apart.

    Attributes
    ----------
    A : csr_array, shape (rows, free)
    lower, upper : ndarray, shape (rows,)
    same, above, below : ndarray of bool, shape (rows,)
        Equations, and inequalities of either kind.
    known : ndarray, shape (columns,)
        Values of fixed columns, 0 in others.
    shift : ndarray, shape (rows,)
        What fixed columns contribute to every row.
    free : ndarray of int
        Columns that are not fixed.
    """

    A: sparse.csr_array
    lower: Floats
    upper: Floats
    same: npt.NDArray[np.bool_]
    above: npt.NDArray[np.bool_]
    below: npt.NDArray[np.bool_]
    known: Floats
    shift: Floats
    free: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, A: sparse.csr_array, row_lower: Floats, row_upper: Floats, lower: Floats, upper: Floats
    ) -> _Rows | None:
        """None when a row without free columns does not hold."""
        fixed = lower == upper
        known = np.where(fixed, lower, 0.0)
        shift = A @ known
        free = np.flatnonzero(~fixed)
        Af = sparse.csr_array(A[:, free])
        some = np.diff(Af.indptr) > 0
        slack = QP_FIXED_ROW * np.maximum(1.0, np.abs(shift))
        if np.any(~some & ((shift < row_lower - slack) | (shift > row_upper + slack))):
            return None
        same = some & (row_lower == row_upper)
        above = some & ~same & np.isfinite(row_upper)
        below = some & ~same & np.isfinite(row_lower)
        return cls(Af, row_lower, row_upper, same, above, below, known, shift, free)

    def constraints(
        self, lower: Floats, upper: Floats, cones: tuple[Cone, ...]
    ) -> tuple[list[Any], list[Floats], list[Any]]:
        """Return blocks of rows, their right-hand sides and their kinds, as Clarabel takes them."""
        A, same, above, below, free, shift = self.A, self.same, self.above, self.below, self.free, self.shift
        eye = sparse.eye_array(len(free), format="csr")
        high, low = np.isfinite(upper[free]), np.isfinite(lower[free])
        blocks = [A[same], A[above], -A[below], eye[high], -eye[low]]
        rhs = [
            (self.upper - shift)[same],
            (self.upper - shift)[above],
            (shift - self.lower)[below],
            upper[free][high],
            -lower[free][low],
        ]
        kinds: list[Any] = [clarabel.ZeroConeT(int(same.sum()))] if same.any() else []
        if others := sum(len(part) for part in rhs[1:]):
            kinds.append(clarabel.NonnegativeConeT(others))
        for cone in cones:
            F = sparse.csr_array(cone.F)
            blocks += [sparse.csr_array(-cone.slope[None, free]), -F[:, free]]
            rhs += [np.array([cone.radius + cone.slope @ self.known]), cone.offset + F @ self.known]
            kinds.append(clarabel.SecondOrderConeT(1 + F.shape[0]))
        return blocks, rhs, kinds

    def duals(self, multiplier: Floats) -> Floats:
        """Return the multipliers of the rows, of those of all constraints."""
        same, above, below = self.same, self.above, self.below
        ends = np.cumsum([same.sum(), above.sum(), below.sum()])
        duals = np.zeros(len(same))
        duals[same] -= multiplier[: ends[0]]
        duals[above] -= multiplier[ends[0] : ends[1]]
        duals[below] += multiplier[ends[1] : ends[2]]
        return duals
