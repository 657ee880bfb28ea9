"""A bound from sizes alone: what every equation demands of the |z|, whichever way its primaries go.

With t_i = |z_i| >= 0, t_p at least the smaller level of a primary p, an equation ``sum c_i z_i = 0`` implies

- *polygon rows*: ``|c_j| t_j <= sum_{i != j} |c_i| t_i`` for each of its cells, since nothing moves alone;
- *a sign row*: for some of its primaries P, with l_i(s) the level of i on the side s_i that it takes, the others make
  up for what the levels leave: ``sum |c_i| t_i >= min_s (|sum_P c_i s_i l_i(s)| + sum_P |c_i| l_i(s))``.

The linear programme over t with these rows has no binaries and a third of the columns of the full relaxation, starts
from a dual feasible basis, and is nearer to the optimum, since that relaxation lets levels of any size cancel.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.optimize import Bounds, minimize

from tabprotect.errors import SolverError
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.tolerances import BOUND_ROUNDING, SIZE_VIOLATION

__all__ = ["equations", "polygon_rows", "sign_rows", "sizes_bound", "turned"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: the largest primaries of an equation whose sides are all tried; with more their levels nearly cancel
_MOST: Final = 14

_ROUNDS: Final = 40

#: steps of the ascent for squares in one round
_ASCENTS: Final = 300

#: stands for the room of cells without weight
_HUGE: Final = 1e30

_TAIL: Final = 1e-5


def sign_rows(st: Statement) -> tuple[sparse.csr_array, Floats]:
    """Return the sign rows that say more than the levels alone: ``rows @ t >= right``.

    Examples
    --------
    Levels 5 and 3 leave 2, whichever way they go:

    >>> from tabprotect.methods.adjustment.statement import state
    >>> from tabprotect.problem import Problem
    >>> p = Problem.from_arrays([[-1, 1, 1]], [90, 40, 50], primary=[1, 2], lpl=[0, 5, 3], upl=[0, 5, 3])
    >>> st = state(p, np.ones(3), "l1", fixed=np.zeros(3, bool))
    >>> rows, right = sign_rows(st)
    >>> rows.toarray().tolist(), (right * st.unit).tolist()
    ([[1.0, 1.0, 1.0]], [10.0])
    """
    up, down = np.full(st.n, np.inf), np.full(st.n, np.inf)
    up[st.primaries] = np.where(st.forced >= 0, st.up, np.inf)
    down[st.primaries] = np.where(st.forced <= 0, st.down, np.inf)
    A = equations(st)
    kept, right = [], []
    for r in range(A.shape[0]):
        part = slice(A.indptr[r], A.indptr[r + 1])
        cells, c = A.indices[part], A.data[part]
        own = np.isfinite(np.minimum(up[cells], down[cells]))
        if own.any():
            demand, plain = _demand(c[own], up[cells[own]], down[cells[own]])
            if demand > plain * (1 + SIZE_VIOLATION):
                kept.append(r)
                right.append(demand)
    return sparse.csr_array(abs(A[np.array(kept, np.int64)])), np.array(right)


def _demand(c: Floats, up: Floats, down: Floats) -> tuple[float, float]:
    """Return the right-hand side of a sign row, and what the levels alone make of it."""
    least = np.abs(c) * np.minimum(up, down)
    most = np.argsort(-least, kind="stable")[:_MOST]
    left, size = np.zeros(1), np.zeros(1)
    for i in most.tolist():
        ways = [
            (side * c[i] * level, abs(c[i]) * level) for side, level in ((1, up[i]), (-1, down[i])) if level < np.inf
        ]
        left, size = (np.concatenate([old + way[k] for way in ways]) for k, old in ((0, left), (1, size)))
    return float((np.abs(left) + size).min()), float(least.sum())


def polygon_rows(A: sparse.csr_array, size: Floats) -> tuple[Ints, Ints]:
    """Return the equations whose largest term exceeds all others together, and the cells of these terms."""
    terms = sparse.csr_array((np.abs(A.data) * size[A.indices], A.indices, A.indptr), shape=A.shape)
    total = np.asarray(terms.sum(axis=1)).ravel()
    largest = np.asarray(terms.max(axis=1).toarray()).ravel()
    rows = np.flatnonzero(2 * largest - total > SIZE_VIOLATION * np.maximum(1.0, total))
    cells = [terms.indices[(at := terms.indptr[r]) + np.argmax(terms.data[at : terms.indptr[r + 1]])] for r in rows]
    return rows, np.array(cells, np.int64)


def turned(A: sparse.csr_array, rows: Ints, cells: Ints) -> sparse.csr_array:
    """Return |A| at some equations, with the sign of one cell in each turned."""
    block = sparse.csr_array(abs(A[rows]))
    turn = sparse.csr_array((np.full(len(rows), -2.0), (np.arange(len(rows)), cells)), shape=block.shape)
    return sparse.csr_array(block + block.multiply(turn))


def sizes_bound(st: Statement, farthest: Floats, budget: Budget, seconds: float) -> float:
    """Return a bound on the distance, in the statement's unit; at least what the levels cost alone.

    Sums of absolute or squared sizes have their duals checked and summed up here, whoever they are from; the largest of
    all is bounded equation by equation.

    Parameters
    ----------
    st : Statement
    farthest : ndarray, shape (n,)
        No cell of a best answer moves further (finite).
    budget : Budget
    seconds : float
        Share of the clock for this.
    """
    least = np.zeros(st.n)
    least[st.primaries] = np.minimum(st.up, st.down)
    if st.norm == "linf":
        return _largest(st, least)
    A, (rows, right) = equations(st), sign_rows(st)
    bound = float(st.weights @ (least**2 if st.norm == "l2" else least))
    budget.report("adjust: bound", bound=bound * st.objective_unit)
    solver = (_Squares if st.norm == "l2" else _Absolutes)(st, least, np.maximum(farthest, least), rows, right)
    ends, seen = budget.seconds + seconds, set[tuple[int, int]]()
    for _ in range(_ROUNDS):
        left = min(ends - budget.seconds, budget.seconds_left)
        if budget.exhausted or left <= 0:
            break
        before, found, size = bound, *solver.solve(budget, left)
        bound = max(bound, found)
        budget.report("adjust: bound", bound=bound * st.objective_unit)
        if size is None or (len(seen) and bound - before < _TAIL * bound):
            break
        pairs = list(zip(*map(np.ndarray.tolist, polygon_rows(A, size)), strict=True))
        new = [pair for pair in pairs if pair not in seen]
        if not new:
            break
        seen |= set(new)
        solver.add(turned(A, *np.array(new, np.int64).T))
    return bound


class _Absolutes:
    """Minimise w t by the dual simplex method from one round to the next."""

    def __init__(self, st: Statement, least: Floats, most: Floats, rows: sparse.csr_array, right: Floats) -> None:
        self.weights, self.least, self.most, self.rows, self.right = st.weights, least, most, rows, right
        free = np.full(st.n, np.inf)
        self.programme = LinearProgram(
            rows, right, np.full(len(right), np.inf), least, free, st.weights, method="dual"
        )  # fmt: skip

    def add(self, rows: sparse.csr_array) -> None:
        """Add rows of right-hand side 0."""
        zeros = np.zeros(rows.shape[0])
        self.programme.add_rows(rows, zeros, np.full(len(zeros), np.inf))
        self.rows = sparse.csr_array(sparse.vstack([self.rows, rows], format="csr"))
        self.right = np.concatenate((self.right, zeros))

    def solve(self, budget: Budget, seconds: float) -> tuple[float, Floats | None]:
        """Return a bound, and the sizes where they are optimal."""
        try:
            answer = self.programme.solve(
                max_seconds=seconds if np.isfinite(seconds) else None,
                max_iterations=int(budget.work_left) if np.isfinite(budget.work_left) else None,
            )
        except SolverError:
            return -np.inf, None
        budget.spend(answer.iterations)
        if len(answer.duals) != len(self.right) or not np.all(np.isfinite(answer.duals)):
            return -np.inf, None
        y = np.maximum(answer.duals, 0.0)
        reduced = self.weights - self.rows.T @ y
        parts = np.where(reduced >= 0, reduced * self.least, reduced * self.most)
        bound = float(y @ self.right + parts.sum())
        error = BOUND_ROUNDING * float(y @ np.abs(self.right) + np.abs(parts).sum())
        return bound - error, answer.x if answer.status == "optimal" else None


class _Squares:
    """Minimise w t^2 by its dual: concave, smooth, and for any multipliers a bound."""

    def __init__(self, st: Statement, least: Floats, most: Floats, rows: sparse.csr_array, right: Floats) -> None:
        self.weights, self.least, self.most, self.rows, self.right = st.weights, least, most, rows, right
        self.y = np.zeros(len(right))

    def add(self, rows: sparse.csr_array) -> None:
        """Add rows of right-hand side 0."""
        zeros = np.zeros(rows.shape[0])
        self.rows = sparse.csr_array(sparse.vstack([self.rows, rows], format="csr"))
        self.right, self.y = np.concatenate((self.right, zeros)), np.concatenate((self.y, zeros))

    def solve(self, budget: Budget, seconds: float) -> tuple[float, Floats | None]:
        """Return a bound and the sizes that belong to it."""
        ends = budget.seconds + seconds

        def look(_: Floats) -> None:
            budget.spend(1)
            if budget.exhausted or budget.seconds >= ends:
                raise StopIteration

        def downhill(y: Floats) -> tuple[float, Floats]:
            value, slope, *_ = self._dual(y)
            return -value, -slope

        if len(self.y):
            climb: Any = minimize  # its annotations know no arrays of unknown shape
            found = climb(
                downhill, self.y, jac=True, method="L-BFGS-B", callback=look, bounds=Bounds(0.0, np.inf),
                options={"maxiter": _ASCENTS, "ftol": _TAIL / 10},
            )  # fmt: skip
            self.y = np.maximum(found.x, 0.0)
        bound, _, size, error = self._dual(self.y)
        return bound - error, size

    def _dual(self, y: Floats) -> tuple[float, Floats, Floats, float]:
        """Value, slope, the sizes that take it, and what sums in floating point may be off."""
        price = self.rows.T @ y
        peak = np.divide(price, 2 * self.weights, out=np.where(price > 0, np.inf, 0.0), where=self.weights > 0)
        size = np.clip(peak, self.least, self.most)
        parts = self.weights * size**2 - price * size
        error = BOUND_ROUNDING * float(y @ np.abs(self.right) + np.abs(parts).sum())
        return float(y @ self.right + parts.sum()), self.right - self.rows @ size, size, error


def _largest(st: Statement, least: Floats) -> float:
    """Bound max w t: every equation alone, all its cells as far as the bound lets them."""
    bound = float(np.max(st.weights * least, initial=0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        room = 1.0 / st.weights
        rows, right = sign_rows(st)
        bound = max(bound, float(np.max(right / (rows @ np.where(np.isinf(room), _HUGE, room)), initial=0.0)))
        A = abs(equations(st))
        owner = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        term = A.data * room[A.indices]
        others = np.bincount(owner, term, A.shape[0])[owner] - term
        needs = np.where(np.isfinite(others) & (others > 0), A.data * least[A.indices] / others, 0.0)
    return max(bound, float(np.max(needs, initial=0.0))) * (1 - BOUND_ROUNDING)


def equations(st: Statement) -> sparse.csr_array:
    """Return the equations of the table: those that add up to nothing."""
    return sparse.csr_array(st.A[np.flatnonzero((st.row_lower == 0) & (st.row_upper == 0))])
