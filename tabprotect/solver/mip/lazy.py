"""Integer programmes with too many rows to write down: the programme, its separator, and what is found.

A `Programme` holds what can be written down; a `Separator` looks at a point and returns rows that it violates. The
search (`tabprotect.solver.mip.branch_and_cut`) is one tree of SCIP with the separator as a constraint handler, or one
of HiGHS after the other, each over the rows found so far. Neither solver is trusted: what is returned satisfies the
written rows and was passed by the separator.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InputError, SolverError, collect
from tabprotect.solver.mip.rows import Row
from tabprotect.solver.tolerances import ROW_FEASIBILITY

__all__ = ["LazyResult", "Oracle", "Programme", "Separator", "at_least"]

Floats = npt.NDArray[np.float64]


def at_least(index: Iterable[int], values: float | Iterable[float], rhs: float) -> Row:
    """Return the row ``values @ x[index] >= rhs``.

    Examples
    --------
    >>> row = at_least([4, 2], 1.0, 1)
    >>> row.index.tolist(), row.values.tolist(), row.rhs
    ([2, 4], [1.0, 1.0], 1.0)
    """
    columns = np.fromiter(index, np.int64)
    given = np.asarray(values if isinstance(values, float | int) else list(values), np.float64)
    coefficients = np.broadcast_to(given, columns.shape)
    order = np.argsort(columns, kind="stable")
    return Row(columns[order], coefficients[order].copy(), float(rhs))


class Separator(Protocol):
    """Knows the rows that are not written down."""

    def cuts(self, x: Floats, integral: bool) -> Iterable[Row]:
        """Return rows that hold for every solution and that x violates.

        Parameters
        ----------
        x : ndarray, shape (columns,)
            A point within the bounds. Integer columns are whole numbers when `integral`.
        integral : bool
            True: no row returned means that x is a solution, so one must be found if there is any. False: a point of a
            relaxation, where nothing need be found.
        """


@dataclass(frozen=True, eq=False)
class Programme:
    """Minimise ``cost @ x`` subject to ``row_lower <= A x <= row_upper``, ``lower <= x <= upper``, some x integer.

    Parameters
    ----------
    cost : array, shape (columns,)
    A : array or sparse array, shape (rows, columns), optional
        The rows that are written down; none by default.
    row_lower, row_upper : array or float
        Infinite where there is no bound (the default).
    lower, upper : array or float
        By default 0 and 1.
    integer : array of bool or bool
        Which columns are integer; all by default.

    Raises
    ------
    InputError
        If shapes do not fit, or numbers are missing.

    Examples
    --------
    >>> Programme([1, 2], [[1, 1]], 1).upper.tolist()
    [1.0, 1.0]
    """

    cost: Any
    A: Any = None
    row_lower: Any = -math.inf
    row_upper: Any = math.inf
    lower: Any = 0.0
    upper: Any = 1.0
    integer: Any = True

    def __post_init__(self) -> None:
        cost = np.asarray(self.cost, np.float64)
        n = len(cost)
        A = sparse.csr_array((0, n)) if self.A is None else sparse.csr_array(self.A, dtype=np.float64)
        if cost.shape != (n,) or A.shape[1] != n:
            raise InputError(f"cost has shape {cost.shape} and A has {A.shape[1]} columns; they must agree")
        object.__setattr__(self, "cost", cost)
        object.__setattr__(self, "A", A)
        with collect() as problems:
            for name, size in (("row_lower", A.shape[0]), ("row_upper", A.shape[0]), ("lower", n), ("upper", n)):
                array = np.asarray(getattr(self, name), np.float64)
                if array.shape not in ((), (size,)):
                    problems.add(f"{name} has shape {array.shape}; ({size},) or a number is needed")
                else:
                    object.__setattr__(self, name, np.broadcast_to(array, (size,)).copy())
            integer = np.asarray(self.integer, bool)
            if integer.shape not in ((), (n,)):
                problems.add(f"integer has shape {integer.shape}; ({n},) or one bool is needed")
            else:
                object.__setattr__(self, "integer", np.broadcast_to(integer, (n,)).copy())
            if not np.isfinite(cost).all() or not np.isfinite(A.data).all():
                problems.add("cost and A must be finite numbers")
        with collect() as problems:
            if not (np.all(self.lower <= self.upper) and np.all(self.row_lower <= self.row_upper)):
                problems.add("a lower bound is above its upper bound, or missing")

    @property
    def n(self) -> int:
        """Number of columns."""
        return len(self.cost)

    @property
    def binary(self) -> bool:
        """True when all columns are 0 or 1."""
        return bool(np.all(self.integer) and np.all(self.lower >= 0) and np.all(self.upper <= 1))

    def rounded(self, x: Floats) -> Floats | None:
        """Return x with whole integer columns, or None if it is not within the tolerance of such a point."""
        near = np.where(self.integer, np.rint(x), x)
        return None if np.any(np.abs(near - x) > ROW_FEASIBILITY) else np.clip(near, self.lower, self.upper)

    def satisfied(self, x: Floats) -> bool:
        """Tell whether the written rows and the bounds hold at x, up to the tolerance."""
        activity = self.A @ x
        size = np.maximum(1.0, abs(self.A).max(axis=1).toarray().ravel() if self.A.nnz else np.zeros(self.A.shape[0]))
        rows = np.all(activity >= self.row_lower - ROW_FEASIBILITY * size) and np.all(
            activity <= self.row_upper + ROW_FEASIBILITY * size
        )
        return bool(rows and np.all(x >= self.lower - ROW_FEASIBILITY) and np.all(x <= self.upper + ROW_FEASIBILITY))


@dataclass(frozen=True, eq=False)
class LazyResult:
    """What branch and cut found.

    Attributes
    ----------
    status : {'optimal', 'feasible', 'infeasible', 'unknown'}
        'feasible': ended by a limit or at the gap that was asked for, with a solution; 'unknown': without one.
    x : ndarray or None
        The best solution: passed by the separator, integer columns whole.
    objective, bound : float or None
        No solution costs less than the bound, if the rows of the separator are right.
    cuts : tuple of Row
        Different rows that the separator returned.
    seconds, work :
        What was spent.
    stopped : str
        What ended the run early ('time', 'work', 'memory', 'cancelled'), or empty.
    """

    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    x: Floats | None = field(repr=False)
    objective: float | None
    bound: float | None
    cuts: tuple[Row, ...] = field(default=(), repr=False)
    seconds: float = 0.0
    work: int = 0
    stopped: str = ""

    @property
    def gap(self) -> float | None:
        """(objective - bound) / |objective|; None without both."""
        if self.objective is None or self.bound is None:
            return None
        if self.objective == self.bound:
            return 0.0
        return max(0.0, self.objective - self.bound) / max(abs(self.objective), 1e-300)


class Oracle:
    """The separator, asked with care: rows are stored, violated ones alone are handed on, errors are kept for later.

    Solvers call it from inside, where an exception would be lost; `error` is raised when they have ended.
    """

    def __init__(self, programme: Programme, separator: Separator) -> None:
        self.programme = programme
        self.rows: dict[bytes, Row] = {}
        self.error: BaseException | None = None
        self._separator = separator
        self._passed: dict[bytes, bool] = {}

    def cuts(self, x: Floats, integral: bool) -> list[Row]:
        """Return violated rows at x, scaled to a largest coefficient of 1; none at an integral x is the truth."""
        if self.error is not None:
            return []
        try:
            given = list(self._separator.cuts(x.copy(), integral))
            self._check(given)
        except BaseException as error:  # whatever it is, it must not be lost inside the solver
            self.error = error
            return []
        scaled = [_scaled(row) for row in given]
        violated = [row for row in scaled if row.slack(x) < -ROW_FEASIBILITY]
        if given and not violated and integral:
            violated = [self._exclusion(x)] if self.programme.binary else []
            if not violated:
                self.error = SolverError(
                    "the separator refuses a point by rows that it satisfies within the tolerance; scale the rows"
                )
        for row in violated:
            self.rows.setdefault(row.key, row)
        return violated

    def passes(self, x: Floats) -> bool:
        """Tell whether the separator finds nothing in an integral point (remembered)."""
        key = x.tobytes()
        if key not in self._passed:
            found = bool(self.cuts(x, True))
            if self.error is not None:
                return False
            self._passed[key] = not found
        return self._passed[key]

    def raise_if_any(self) -> None:
        """Raise what the separator raised."""
        if self.error is not None:
            raise self.error

    def _exclusion(self, x: Floats) -> Row:
        """The row that excludes one point of zeros and ones."""
        sign = np.where(x > 0.5, -1.0, 1.0)
        return Row(np.arange(len(x)), sign, 1.0 - float(np.sum(x > 0.5)))

    def _check(self, rows: list[Row]) -> None:
        for row in rows:
            inside = len(row.index) > 0 and row.index[0] >= 0 and row.index[-1] < self.programme.n
            if row.index.shape != row.values.shape or (len(row.index) and not inside):
                raise InputError(f"a row of the separator names columns outside 0..{self.programme.n - 1}")
            if not (np.isfinite(row.values).all() and math.isfinite(row.rhs)):
                raise InputError("a row of the separator holds numbers that are not finite")


def _scaled(row: Row) -> Row:
    largest = float(np.abs(row.values).max(initial=0.0)) or max(1.0, abs(row.rhs))
    return Row(row.index, row.values / largest, row.rhs / largest)
