"""A bound from sizes alone: what every equation demands of the |z|, whichever way its primaries go.

With t_i = |z_i| >= 0, t_p at least the smaller level of a primary p, an equation ``sum c_i z_i = 0`` implies

- *polygon rows*: ``|c_j| t_j <= sum_{i != j} |c_i| t_i`` for each of its cells, since nothing moves alone;
- *a sign row*: for some of its primaries P, with l_i(s) the level of i on the side s_i that it takes, the others make
  up for what the levels leave: ``sum |c_i| t_i >= min_s (|sum_P c_i s_i l_i(s)| + sum_P |c_i| l_i(s))``.

The linear programme over t with these rows has no binaries and a third of the columns of the full relaxation, starts
from a dual feasible basis, and is nearer to the optimum, since that relaxation lets levels of any size cancel.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram

__all__ = ["equations", "polygon_rows", "sign_rows", "sizes_bound", "turned"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: the largest primaries of an equation whose sides are all tried; with more their levels nearly cancel
_MOST: Final = 14

#: what counts as violated, relative to the row
_VIOLATED: Final = 1e-6

_ROUNDS: Final = 40
_TAIL: Final = 1e-5

#: taken off a bound for sums in floating point
_SAFETY: Final = 1e-9


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
            if demand > plain * (1 + _VIOLATED):
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
    rows = np.flatnonzero(2 * largest - total > _VIOLATED * np.maximum(1.0, total))
    cells = [terms.indices[(at := terms.indptr[r]) + np.argmax(terms.data[at : terms.indptr[r + 1]])] for r in rows]
    return rows, np.array(cells, np.int64)


def turned(A: sparse.csr_array, rows: Ints, cells: Ints) -> sparse.csr_array:
    """Return |A| at some equations, with the sign of one cell in each turned."""
    block = sparse.csr_array(abs(A[rows]))
    turn = sparse.csr_array((np.full(len(rows), -2.0), (np.arange(len(rows)), cells)), shape=block.shape)
    return sparse.csr_array(block + block.multiply(turn))


def sizes_bound(st: Statement, farthest: Floats, budget: Budget, seconds: float) -> float:
    """Return a bound on the absolute distance, in the statement's unit; at least what the levels cost alone.

    The duals of every round are checked and summed up here: none is taken from the solver unseen.

    Parameters
    ----------
    st : Statement
        With norm 'l1'.
    farthest : ndarray, shape (n,)
        No cell of a best answer moves further (finite).
    budget : Budget
    seconds : float
        Share of the clock for this.
    """
    A = equations(st)
    least = np.zeros(st.n)
    least[st.primaries] = np.minimum(st.up, st.down)
    rows, right = sign_rows(st)
    bound = float(st.weights @ least)
    budget.report("adjust: bound", bound=bound * st.objective_unit)
    programme = LinearProgram(
        rows, right, np.full(len(right), np.inf), least, np.full(st.n, np.inf), st.weights, method="dual"
    )
    ends, seen = budget.seconds + seconds, set[tuple[int, int]]()
    for _ in range(_ROUNDS):
        left = min(ends - budget.seconds, budget.seconds_left)
        if budget.exhausted or left <= 0:
            break
        try:
            answer = programme.solve(
                max_seconds=left if np.isfinite(left) else None,
                max_iterations=int(budget.work_left) if np.isfinite(budget.work_left) else None,
            )
        except SolverError:
            break
        budget.spend(answer.iterations)
        before, bound = bound, max(bound, _proven(st, rows, right, answer.duals, least, farthest))
        budget.report("adjust: bound", bound=bound * st.objective_unit)
        where, cells = polygon_rows(A, answer.x)
        new = np.array([pair not in seen for pair in zip(where.tolist(), cells.tolist(), strict=True)], bool)
        if answer.status != "optimal" or not new.any() or (len(seen) and bound - before < _TAIL * bound):
            break
        seen |= set(zip(where.tolist(), cells.tolist(), strict=True))
        more = turned(A, where[new], cells[new])
        zeros = np.zeros(more.shape[0])
        programme.add_rows(more, zeros, np.full(len(zeros), np.inf))
        rows, right = sparse.csr_array(sparse.vstack([rows, more], format="csr")), np.concatenate((right, zeros))
    return bound


def _proven(
    st: Statement, rows: sparse.csr_array, right: Floats, duals: Floats, least: Floats, farthest: Floats
) -> float:
    """The Lagrangian bound of some duals, whoever they are from."""
    if len(duals) != len(right) or not np.all(np.isfinite(duals)):
        return -np.inf
    y = np.maximum(duals, 0.0)
    reduced = st.weights - rows.T @ y
    parts = np.where(reduced >= 0, reduced * least, reduced * np.maximum(farthest, least))
    return float(y @ right + parts.sum()) - _SAFETY * float(y @ np.abs(right) + np.abs(parts).sum())


def equations(st: Statement) -> sparse.csr_array:
    """Return the equations of the table: those that add up to nothing."""
    return sparse.csr_array(st.A[np.flatnonzero((st.row_lower == 0) & (st.row_upper == 0))])
