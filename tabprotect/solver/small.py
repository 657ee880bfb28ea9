"""Thousands of small linear programmes in a row on one HiGHS instance."""

from __future__ import annotations

import math
from typing import NamedTuple

import highspy
import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.solver.highs import SilentHighs, digits
from tabprotect.solver.tolerances import LP_FEASIBILITY

__all__ = ["Columns", "SmallProgrammes", "SmallSolution"]

Floats = npt.NDArray[np.float64]


_LIMITS = (highspy.HighsModelStatus.kIterationLimit, highspy.HighsModelStatus.kTimeLimit)

_NONE = (highspy.HighsModelStatus.kInfeasible, highspy.HighsModelStatus.kUnboundedOrInfeasible, *_LIMITS)

MOST_ITERATIONS = 30_000
"""A programme that takes more simplex iterations than this is not small, and has no answer here."""

LATE = 0.01
"""A programme that time ends does so this many seconds late, when its caller's budget is over, too."""


class Columns(NamedTuple):
    """What a csc_array holds, without the time that it takes to make one."""

    shape: tuple[int, int]
    indptr: npt.NDArray[np.integer]
    indices: npt.NDArray[np.integer]
    data: Floats

    def array(self) -> sparse.csc_array:
        """Return the matrix that one can compute with."""
        return sparse.csc_array((self.data, self.indices, self.indptr), shape=self.shape)


class SmallSolution(NamedTuple):
    """What HiGHS claims.

    Attributes
    ----------
    x : ndarray
        Column values.
    duals : ndarray
        Row duals, with reduced costs = cost - A' duals.
    iterations : int
        Simplex iterations.
    """

    x: Floats
    duals: Floats
    iterations: int


class SmallProgrammes:
    """Solve min cost x subject to A x = 0, lower <= x <= upper, each from scratch.

    A new solver object costs many times what such a programme takes; nothing else is carried from one to the next, so
    answers do not depend on their order.

    Attributes
    ----------
    unfinished : bool
        Whether a limit ended the programme that was solved last.

    Examples
    --------
    >>> A = sparse.csc_array([[1.0, -1.0]])
    >>> lower, upper = np.array([0.25, 0.0]), np.array([0.5, 9.0])
    >>> SmallProgrammes().solve(A, np.ones(2), lower, upper).x.tolist()
    [0.25, 0.25]
    >>> SmallProgrammes().solve(A, np.ones(2), lower, np.array([0.5, 0.125])) is None
    True
    """

    def __init__(self) -> None:
        self._solvers: dict[tuple[str, int], SilentHighs] = {}
        self._last: tuple[SilentHighs, int] | None = None
        self.unfinished = False

    def _solver(self, presolve: str, strategy: int) -> SilentHighs:
        key = (presolve, strategy)
        if key not in self._solvers:
            h = SilentHighs()
            options = {
                "presolve": presolve,
                "threads": 1,
                "random_seed": 0,
                "solver": "simplex",
                "simplex_strategy": strategy,
                "primal_feasibility_tolerance": LP_FEASIBILITY,
                "dual_feasibility_tolerance": LP_FEASIBILITY,
            }
            for name, value in options.items():
                h.setOptionValue(name, value)
            self._solvers[key] = h
        return self._solvers[key]

    def solve(
        self,
        A: sparse.csc_array | Columns,
        cost: Floats,
        lower: Floats,
        upper: Floats,
        *,
        primal: bool = False,
        iterations: int = MOST_ITERATIONS,
        seconds: float = math.inf,
    ) -> SmallSolution | None:
        """Return the solution, or None where there is none (or none within the limits).

        Parameters
        ----------
        A : csc_array or Columns
        cost, lower, upper : ndarray
            One entry a column.
        primal : bool
            By the primal simplex method (x = 0 feasible); by default the dual one (costs >= 0).
        iterations : int
            Simplex iterations that it may take.
        seconds : float
            Time that is left.

        Raises
        ------
        SolverError
            If HiGHS ends without an answer, whatever the method.
        """
        m, n = A.shape
        side, zeros = np.zeros(m), np.zeros(n, np.int32)
        start, row = A.indptr.astype(np.int32), A.indices.astype(np.int32)
        self.unfinished = False
        for presolve, strategy in (("off", 4 if primal else 1), ("on", 1), ("off", 1 if primal else 4)):
            h = self._solver(presolve, strategy)
            h.scale_bounds(digits(lower, upper))
            h.passModel(
                n, m, len(row), int(highspy.MatrixFormat.kColwise), int(highspy.ObjSense.kMinimize), 0.0,
                cost, lower, upper, side, side, start, row, A.data, zeros,
            )  # fmt: skip
            status = _run(h, iterations, seconds)
            if status == highspy.HighsModelStatus.kOptimal or (
                not n and status == highspy.HighsModelStatus.kModelEmpty
            ):
                self._last = h, strategy
                return _solution(h)
            if status in _NONE:
                self.unfinished = status in _LIMITS
                return None
        raise SolverError(f"HiGHS ended with {h.modelStatusToString(status)} on a programme of {n} columns")

    def again(
        self, cost: Floats, *, iterations: int = MOST_ITERATIONS, seconds: float = math.inf
    ) -> SmallSolution | None:
        """Solve the programme that was answered last at other costs, from its basis, by the primal simplex method.

        None where that does not end with an answer within so many iterations.
        """
        assert self._last is not None
        h, strategy = self._last
        h.changeColsCost(len(cost), np.arange(len(cost), dtype=np.int32), cost)
        h.setOptionValue("simplex_strategy", 4)
        status = _run(h, iterations, seconds)
        h.setOptionValue("simplex_strategy", strategy)
        return _solution(h) if status == highspy.HighsModelStatus.kOptimal else None


def _run(h: highspy.Highs, iterations: int, seconds: float) -> highspy.HighsModelStatus:
    h.setOptionValue("simplex_iteration_limit", iterations)
    # the clock of a solver goes on from programme to programme; a little later no caller takes it for an answer
    h.setOptionValue("time_limit", float(h.getRunTime()) + max(0.0, seconds) + LATE)
    h.run()
    status: highspy.HighsModelStatus = h.getModelStatus()
    return status


def _solution(h: highspy.Highs) -> SmallSolution:
    found = h.getSolution()
    iterations = max(0, int(h.getInfo().simplex_iteration_count))
    return SmallSolution(np.asarray(found.col_value), np.asarray(found.row_dual), iterations)
