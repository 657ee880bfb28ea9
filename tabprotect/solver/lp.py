"""A warm-started linear programme on HiGHS: change bounds or costs, solve again from the last basis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import highspy
import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.solver.highs import SilentHighs, digits

__all__ = ["LinearProgram", "LpSolution"]

Floats = npt.NDArray[np.float64]

_STATUS: dict[Any, Literal["optimal", "infeasible", "unbounded", "limit"]] = {
    highspy.HighsModelStatus.kOptimal: "optimal",
    highspy.HighsModelStatus.kInfeasible: "infeasible",
    highspy.HighsModelStatus.kUnbounded: "unbounded",
    highspy.HighsModelStatus.kUnboundedOrInfeasible: "unbounded",
    highspy.HighsModelStatus.kTimeLimit: "limit",
    highspy.HighsModelStatus.kIterationLimit: "limit",
    highspy.HighsModelStatus.kInterrupt: "limit",
    highspy.HighsModelStatus.kObjectiveBound: "limit",
}


@dataclass(frozen=True, eq=False)
class LpSolution:
    """What HiGHS claims; nothing here is trusted until it is checked elsewhere.

    Attributes
    ----------
    status : {'optimal', 'infeasible', 'unbounded', 'limit'}
    objective : float
    x : ndarray
        Column values.
    duals : ndarray
        Row duals, with ``reduced = cost - A' duals``.
    reduced : ndarray
        Reduced costs of the columns.
    iterations : int
        Simplex iterations of this solve (work units).
    """

    status: Literal["optimal", "infeasible", "unbounded", "limit"]
    objective: float
    x: Floats
    duals: Floats
    reduced: Floats
    iterations: int


IPM_ITERATIONS = 300
"""Interior point needs a few dozen; where it has not ended by now it does not converge."""


class LinearProgram:
    """Optimise ``cost @ x`` subject to ``row_lower <= A x <= row_upper``, ``lower <= x <= upper``.

    Examples
    --------
    >>> import numpy as np
    >>> lp = LinearProgram(np.array([[1.0, 1.0]]), [0], [1], [0, 0], [9, 9], [1, 2], maximise=True)
    >>> lp.solve().objective
    2.0
    >>> lp.set_bounds([1], [0.0], [0.25])
    >>> lp.solve().objective
    1.25
    """

    def __init__(
        self,
        A: Any,
        row_lower: Any,
        row_upper: Any,
        lower: Any,
        upper: Any,
        cost: Any,
        *,
        maximise: bool = False,
        presolve: bool = False,
        method: Literal["simplex", "dual", "primal", "ipm", "choose"] = "choose",
        threads: int = 1,
        tolerance: float | None = None,
    ) -> None:
        # HiGHS writes beyond its arrays where simplex goes on from what interior point left in the same instance
        self._anew = method == "ipm"
        self._h = h = SilentHighs()
        h.setOptionValue("presolve", "choose" if presolve else "off")
        h.setOptionValue("threads", threads)
        h.setOptionValue("random_seed", 0)
        if tolerance is not None:
            h.setOptionValue("primal_feasibility_tolerance", tolerance)
            h.setOptionValue("dual_feasibility_tolerance", tolerance)
        if method in ("simplex", "dual", "primal"):
            h.setOptionValue("solver", "simplex")
            h.setOptionValue("simplex_strategy", 4 if method == "primal" else 1)
        elif method == "ipm":
            h.setOptionValue("solver", "ipm")
        lp = highspy.HighsLp()
        matrix = sparse.csc_array(A, dtype=np.float64)
        lp.num_row_, lp.num_col_ = (int(k) for k in matrix.shape)
        lp.col_cost_ = np.asarray(cost, np.float64)
        lp.col_lower_, lp.col_upper_ = lower, upper = _inf(lower), _inf(upper)
        lp.row_lower_, lp.row_upper_ = row_lower, row_upper = _inf(row_lower), _inf(row_upper)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
        lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
        lp.a_matrix_.value_ = matrix.data
        self._digits = 0
        self._scale(lower, upper, row_lower, row_upper)
        lp.sense_ = highspy.ObjSense.kMaximize if maximise else highspy.ObjSense.kMinimize
        if h.passModel(lp) == highspy.HighsStatus.kError:
            raise SolverError("HiGHS refused the linear programme (NaN or crossing bounds in it?)")

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self._h.getNumCol())

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self._h.getNumRow())

    def set_bounds(self, columns: Any, lower: Any, upper: Any) -> None:
        """Change the bounds of some columns."""
        index = np.asarray(columns, np.int32)
        if len(index):
            bounds = _inf(lower), _inf(upper)
            self._scale(*bounds)
            self._h.changeColsBounds(len(index), index, *bounds)

    def set_costs(self, columns: Any, cost: Any) -> None:
        """Change the costs of some columns."""
        index = np.asarray(columns, np.int32)
        if len(index):
            self._h.changeColsCost(len(index), index, np.asarray(cost, np.float64))

    def set_row_bounds(self, rows: Any, lower: Any, upper: Any) -> None:
        """Change the bounds of some rows."""
        index = np.asarray(rows, np.int32)
        if len(index):
            bounds = _inf(lower), _inf(upper)
            self._scale(*bounds)
            self._h.changeRowsBounds(len(index), index, *bounds)

    def add_rows(self, A: Any, lower: Any, upper: Any) -> None:
        """Append rows; the basis stays usable (dual simplex continues from it)."""
        rows = sparse.csr_array(A, dtype=np.float64)
        if rows.shape[0]:
            bounds = _inf(lower), _inf(upper)
            self._scale(*bounds)
            self._h.addRows(
                int(rows.shape[0]),
                *bounds,
                int(rows.nnz),
                rows.indptr[:-1].astype(np.int32),
                rows.indices.astype(np.int32),
                rows.data,
            )

    def delete_rows(self, rows: Any) -> None:
        """Remove rows; later rows move up."""
        index = np.asarray(rows, np.int32)
        if len(index):
            self._h.deleteRows(len(index), index)

    def _scale(self, *bounds: Floats) -> None:
        """Have HiGHS solve in units that suit the largest bound there was."""
        if (most := digits(*bounds)) > self._digits:
            self._digits = most
            self._h.scale_bounds(most)

    def basis(self) -> Any:
        """Return the current basis (opaque; hand it back to `set_basis`)."""
        return self._h.getBasis()

    def set_basis(self, basis: Any) -> None:
        """Start the next solve from a basis."""
        self._h.setBasis(basis)

    def clear_basis(self) -> None:
        """Forget the basis, so that the next solve starts cold."""
        self._h.clearSolver()

    def start_anew(self, method: Literal["ipm", "simplex"]) -> None:
        """Presolve and start without a basis every time from now on, by interior point with crossover or by simplex."""
        self._anew = True
        for name, value in (("presolve", "on"), ("solver", method), ("ipm_iteration_limit", IPM_ITERATIONS)):
            self._h.setOptionValue(name, value)

    def solve(self, *, max_iterations: int | None = None, max_seconds: float | None = None) -> LpSolution:
        """Solve from the last basis, if there is one (interior point has no use for it).

        Raises
        ------
        SolverError
            If HiGHS ends with anything but an answer or a limit.
        """
        h = self._h
        if self._anew:
            h.clearSolver()
        h.setOptionValue("simplex_iteration_limit", 2**31 - 1 if max_iterations is None else max(0, max_iterations))
        # HiGHS counts its time limit over all runs of one instance.
        h.setOptionValue(
            "time_limit",
            float("inf") if max_seconds is None else float(h.getRunTime()) + max(0.0, max_seconds),
        )
        h.run()
        status = _STATUS.get(h.getModelStatus())
        info = h.getInfo()
        iterations = max(0, int(info.simplex_iteration_count)) + max(0, int(info.ipm_iteration_count))
        if status is None and (self.n_columns == 0 or self.n_rows == 0):
            status = "optimal"
        if status is None:
            status, more = self._again()
            iterations += more
            info = h.getInfo()
        solution = h.getSolution()
        return LpSolution(
            status,
            float(info.objective_function_value),
            np.asarray(solution.col_value, np.float64),
            np.asarray(solution.row_dual, np.float64),
            np.asarray(solution.col_dual, np.float64),
            iterations,
        )

    def _again(self) -> tuple[Literal["optimal", "infeasible", "unbounded", "limit"], int]:
        """Solve cold in other ways: one method, or a tolerance, may end without an answer where others find it."""
        h, iterations = self._h, 0
        plain = {"primal_feasibility_tolerance": 1e-7, "dual_feasibility_tolerance": 1e-7}
        loose = {"primal_feasibility_tolerance": 1e-6, "dual_feasibility_tolerance": 1e-6}
        ways: tuple[dict[str, Any], ...] = (
            {"solver": "simplex", "simplex_strategy": 1, "presolve": "on", **plain},
            {"solver": "simplex", "simplex_strategy": 4, **plain},
            {"solver": "simplex", "simplex_strategy": 1, "presolve": "on", **loose},
            {"solver": "simplex", "simplex_strategy": 4, "presolve": "on", **loose},
        )
        names = ("solver", "simplex_strategy", "presolve", *plain)
        before = {name: h.getOptionValue(name)[1] for name in names}
        try:
            for way in ways:
                h.clearSolver()
                for name, value in (before | way).items():
                    h.setOptionValue(name, value)
                h.run()
                info = h.getInfo()
                iterations += max(0, int(info.simplex_iteration_count)) + max(0, int(info.ipm_iteration_count))
                if status := _STATUS.get(h.getModelStatus()):
                    return status, iterations
        finally:
            for name, value in before.items():
                h.setOptionValue(name, value)
        raise SolverError(f"HiGHS ended with {h.modelStatusToString(h.getModelStatus())}")


def _inf(bound: Any) -> Floats:
    """HiGHS reads numpy's infinities as its own."""
    return np.ascontiguousarray(bound, dtype=np.float64)
