"""The programme behind small count rounding."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.distance import Norm, distance
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.milp import solve_milp

__all__ = ["SIMPLEX", "Statement"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

SEGMENTS: Final = 4
"""Squared distances are exact within so many steps of the base around the true value, and underestimated beyond."""

SIMPLEX: Final = 5000
"""Relaxations of more cells go to the interior point method, and keep squares exact within one step only."""


class Statement:
    """The choice of the inner cells that go up: equations (1) to (3) of `tabprotect.models.small_counts`.

    With J the inner cells to be rounded, a their counts and u binary, published cell i moves by
    e_i = sum_J D_ij (b u_j - a_j) = b k_i - r_i, where k_i = sum_J D_ij u_j is a whole number.
    """

    def __init__(self, problem: Problem, base: int, published: Bools, norm: Norm, weights: Floats) -> None:
        self.problem, self.base, self.published, self.norm = problem, base, published, norm
        self.inner, sums = inner_cells(problem.system)
        counts = problem.values
        small = published & (counts > 0) & (counts < base)
        behind = np.asarray(sums[small].sum(axis=0)).ravel() > 0
        movable = (problem.status[self.inner] != Status.ZERO) & (counts[self.inner] > 0)
        self.chosen = np.flatnonzero(behind & movable)
        self.rounded = self.inner[self.chosen]
        self.a = counts[self.rounded]
        self.sums = sparse.csr_array(sums.tocsc()[:, self.chosen].tocsr())
        touched = np.diff(self.sums.indptr) > 0
        self.rows = np.flatnonzero(touched & published)
        self.D = sparse.csr_array(self.sums[self.rows])
        self.r = self.D @ self.a
        self.most = np.asarray(self.D.sum(axis=1)).ravel()
        self.w = weights[self.rows]
        fixed = np.isin(problem.status, (Status.PROTECTED, Status.ZERO)) & touched
        self.fixed = np.flatnonzero(fixed)
        # a published cell with some unrounded contributors but fewer than the base must keep one that goes up
        left = counts[self.rows] - self.r
        self.at_least = ((left > 0) & (left < base)).astype(np.float64)

    def values(self, up: Bools) -> Floats:
        """Return all cells for a choice."""
        return np.asarray(self.problem.values + self.sums @ (self.base * up - self.a))

    def cost(self, up: Bools) -> float:
        """Return the distance of the published cells."""
        return distance(self.base * (self.D @ up) - self.r, self.w, self.norm)

    def allowed(self, up: Bools) -> bool:
        """Fixed cells stay, and no published cell is small."""
        moved = self.sums[self.fixed] @ (self.base * up - self.a)
        return bool(np.all(moved == 0) and np.all(self.D @ up >= self.at_least))

    def nearest(self) -> float:
        """Return a bound: every published cell by itself at its nearest multiple of the base."""
        k = np.maximum(np.floor(self.r / self.base), self.at_least)
        everything = np.arange(len(self.r))
        each = np.minimum(self.far(everything, k), self.far(everything, np.minimum(k + 1, self.most)))
        return float(each.max(initial=0.0) if self.norm == "linf" else each.sum())

    def far(self, rows: npt.NDArray[Any], k: Floats) -> Floats:
        """Weighted distance of published cells whose rounded part is k times the base."""
        off = np.abs(self.base * k - self.r[rows])
        return np.asarray(self.w[rows] * (off**2 if self.norm == "l2" else off))

    def programme(
        self, columns: Ints, up: Bools | None, budget: Budget, *, nodes: int | None = None, relaxed: bool = False
    ) -> tuple[Floats | None, float | None, bool]:
        """Choose u for some cells, all others held.

        Parameters
        ----------
        columns : ndarray of int
            The cells to be chosen for (positions among the rounded ones).
        up : ndarray of bool, optional
            A choice to start from; needed where `columns` are not all.
        budget : Budget
        nodes : int, optional
            Limit of tree nodes.
        relaxed : bool
            u may be fractions.

        Returns
        -------
        u : ndarray or None
            For all rounded cells.
        bound : float or None
            Of the cost of the published cells with one of these u.
        possible : bool
            False when there is no choice at all.

        Notes
        -----
        A published cell with one of these u has a distance that is linear in it. Others have a column t that lies above
        all lines through the distances at neighbouring k, k + 1.
        """
        D = sparse.csr_array(self.D[:, columns])
        held = np.zeros(len(self.r)) if up is None else self.D @ up - D @ up[columns]
        linear = np.flatnonzero((np.diff(D.indptr) == 1) & (self.most == 1) & (self.norm != "linf"))
        rows = np.setdiff1d(np.flatnonzero(np.diff(D.indptr)), linear)
        m, n = len(rows), len(columns)
        at, after = self.far(linear, held[linear]), self.far(linear, held[linear] + 1)
        price = np.bincount(D.indices[D.indptr[linear]], weights=after - at, minlength=n)
        distances = sparse.csr_array(np.ones((m, 1)) if self.norm == "linf" else sparse.eye_array(m))
        t = int(distances.shape[1])
        blocks, low = [], []
        span = SEGMENTS if self.norm == "l2" and n <= SIMPLEX else 1
        for offset in range(-span, span + 1):
            k = np.floor(self.r[rows] / self.base) + offset
            first, second = self.far(rows, k), self.far(rows, k + 1)
            blocks.append(sparse.hstack([sparse.diags_array(np.asarray(first - second)) @ D[rows], distances]))
            low.append(first - (second - first) * (k - held[rows]))
        forced = np.flatnonzero((self.at_least > held) & (np.diff(D.indptr) > 0))
        fixed = sparse.csr_array(self.sums[self.fixed][:, columns]) * self.base
        blocks += [sparse.hstack([more, sparse.csr_array((more.shape[0], t))]) for more in (D[forced], fixed)]
        moved = self.sums[self.fixed] @ self.a
        if up is not None:
            moved = moved - self.base * (self.sums[self.fixed] @ up) + fixed @ up[columns]
        lower = np.concatenate([*low, self.at_least[forced] - held[forced], moved])
        upper = np.full(len(lower), np.inf)
        upper[len(lower) - len(moved) :] = moved
        start = None
        if up is not None:
            far = self.far(rows, (self.D @ up)[rows])
            start = np.concatenate([up[columns], [far.max(initial=0.0)] if self.norm == "linf" else far])
        answer = solve_milp(
            sparse.vstack(blocks),
            lower,
            upper,
            np.zeros(n + t),
            np.concatenate([np.ones(n), np.full(t, np.inf)]),
            np.concatenate([price, np.ones(t)]),
            None if relaxed else np.arange(n + t) < n,
            start=None if start is None or relaxed else start.astype(np.float64),
            budget=budget,
            nodes=nodes,
            gap=budget.limits.gap,
            method="ipm" if relaxed and n > SIMPLEX else "choose",
        )
        found = None
        if answer.x is not None:
            found = np.zeros(len(self.a)) if up is None else up.astype(np.float64)
            found[columns] = answer.x[:n] if relaxed else np.rint(answer.x[:n])
        bound = None if answer.bound is None else answer.bound + float(at.sum())
        return found, bound, answer.status != "infeasible"
