"""The adjustment problem as a mixed integer linear programme over z+, z- and one binary a primary.

The equations (1) to (4) of `tabprotect.models.adjustment`, with three additions that change no answer but the bound:

- *Polygon rows.* A row ``sum_i c_i z_i = 0`` implies ``|c_j| |z_j| <= sum_{i != j} |c_i| |z_i|`` for each of its cells:
  nothing moves alone. The relaxation violates it, since it lets a primary move up and down at once, so the rows are
  separated: of every equation at most the one of its largest term can be violated.
- *Tangents.* A squared deviation is replaced by a column t_i with ``t_i >= w_i (2 u v - v^2)``, u = z+_i + z-_i, for
  points v where the square was met (outer approximation, Duran and Grossmann 1986); cones likewise.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.adjustment.sizes import equations, polygon_rows, sign_rows, turned
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.milp import WIDEST_INTEGER, MilpAnswer, solve_milp
from tabprotect.solver.qp import QpAnswer, solve_qp

__all__ = ["Programme"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

#: relaxations of more cells are solved by an interior point method
_LARGE = 1000

#: above this many cells only senses are integers in the programme: whole steps of all cells would take for ever
_WHOLE_CELLS = 1500


class Programme:
    """Rows and columns for HiGHS, to which polygon rows and tangents are added as they are met.

    Parameters
    ----------
    statement : Statement
    farthest : ndarray, shape (n,)
        Stands for infinite bounds: no cell of a best answer moves further.
    """

    def __init__(self, statement: Statement, farthest: Floats) -> None:
        st = self.statement = statement
        n, k = st.n, st.k
        self.extra = {"l1": 0, "l2": n, "linf": 1}[st.norm]
        self.n_columns = 2 * n + k + self.extra
        self.lower = np.zeros(self.n_columns)
        self.upper = np.full(self.n_columns, np.inf)
        self.upper[:n] = np.maximum(np.minimum(st.upper, farthest), 0.0)
        self.upper[n : 2 * n] = np.maximum(np.minimum(-st.lower, farthest), 0.0)
        self.upper[2 * n : 2 * n + k] = 1.0
        self.cost = np.zeros(self.n_columns)
        self.integer = np.zeros(self.n_columns, bool)
        self.integer[2 * n : 2 * n + k] = True
        if st.step is not None and n <= _WHOLE_CELLS:
            # for given senses steps are nearly always whole by themselves; what is not is put right then
            self.integer[: 2 * n] = self.upper[: 2 * n] <= WIDEST_INTEGER
        if st.norm == "l1":
            self.cost[: 2 * n] = np.tile(st.weights, 2)
        else:
            self.cost[2 * n + k :] = 1.0
        self._blocks: list[sparse.csr_array] = []
        self._low: list[Floats] = []
        self._high: list[Floats] = []
        self._polygons: set[tuple[int, int]] = set()
        self._add(self._columns(st.A, -st.A), st.row_lower, st.row_upper)
        self._add_senses()
        signs, right = sign_rows(st)
        self._add(self._columns(signs, signs), right, np.inf)
        if st.norm == "linf":
            each = sparse.diags_array(st.weights, format="csr")
            self._add(self._columns(each, each, extra=sparse.csr_array(-np.ones((n, 1)))), -np.inf, 0.0)

    @property
    def rough(self) -> bool:
        """Whether relaxations are solved by an interior point method, to about eight digits."""
        return self.statement.norm == "l2" or self.statement.n > _LARGE

    def _columns(self, plus: Any, minus: Any, sense: Any = None, extra: Any = None) -> sparse.csr_array:
        rows = plus.shape[0]
        parts = [plus, minus]
        parts.append(sparse.csr_array((rows, self.statement.k)) if sense is None else sense)
        parts.append(sparse.csr_array((rows, self.extra)) if extra is None else extra)
        return sparse.csr_array(sparse.hstack(parts, format="csr"))

    def _add(self, rows: sparse.csr_array, low: float | Floats, high: float | Floats) -> None:
        self._blocks.append(rows)
        self._low.append(np.broadcast_to(np.asarray(low, np.float64), (rows.shape[0],)))
        self._high.append(np.broadcast_to(np.asarray(high, np.float64), (rows.shape[0],)))

    def _add_senses(self) -> None:
        st = self.statement
        free = np.flatnonzero(st.forced == 0)
        rows, p = len(free), st.primaries[free]
        pick = sparse.csr_array((np.ones(rows), (np.arange(rows), p)), shape=(rows, st.n))
        none = sparse.csr_array((rows, st.n))

        def times(values: Floats) -> sparse.csr_array:
            return sparse.csr_array((values, (np.arange(rows), free)), shape=(rows, st.k))

        up, down = st.up[free], st.down[free]
        most_up, most_down = self.upper[p], self.upper[st.n + p]
        self._add(self._columns(pick, none, times(-up)), 0.0, np.inf)
        self._add(self._columns(pick, none, times(-most_up)), -np.inf, 0.0)
        self._add(self._columns(none, pick, times(down)), down, np.inf)
        self._add(self._columns(none, pick, times(most_down)), -np.inf, most_down)

    def solve(
        self,
        budget: Budget,
        *,
        senses: Ints | None = None,
        held: tuple[Bools, Floats] | None = None,
        start: tuple[Floats, Ints] | None = None,
        relax: bool = False,
        crossover: bool = True,
        seconds: float | None = None,
        nodes: int | None = None,
        gap: float = 0.0,
        seed: int = 0,
    ) -> MilpAnswer:
        """Solve with some senses given (+1, -1; 0 is free) and some cells held at their deviation.

        Parameters
        ----------
        budget : Budget
        senses : ndarray of int, shape (k,), optional
        held : (mask, z), optional
        start : (z, senses), optional
            An answer to begin with.
        relax : bool
            Leave out integrality.
        crossover, seconds, nodes, gap, seed :
            See `tabprotect.solver.mip.milp.solve_milp`.
        """
        st = self.statement
        lower, upper = self.lower.copy(), self.upper.copy()
        given = st.forced if senses is None else np.where(st.forced != 0, st.forced, senses)
        self._fix_senses(lower, upper, given)
        if held is not None:
            mask, z = held
            for offset, side in ((0, np.maximum(z, 0.0)), (st.n, np.maximum(-z, 0.0))):
                at = offset + np.flatnonzero(mask)
                lower[at] = upper[at] = side[mask]
        return solve_milp(
            sparse.vstack(self._blocks, format="csr"),
            np.concatenate(self._low),
            np.concatenate(self._high),
            lower,
            upper,
            self.cost,
            None if relax else self.integer,
            start=None if start is None else self._point(*start),
            budget=budget,
            seconds=seconds,
            nodes=nodes,
            gap=gap,
            seed=seed,
            method="ipm" if relax and self.rough else "choose",
            crossover=crossover,
        )

    def relaxed(self, budget: Budget, seconds: float | None) -> MilpAnswer | QpAnswer:
        """Solve without integrality, roughly (no vertex); squares as they are, without tangents."""
        st = self.statement
        if st.norm != "l2":
            return self.solve(budget, relax=True, crossover=False, seconds=seconds)
        lower, upper = self.lower.copy(), self.upper.copy()
        self._fix_senses(lower, upper, st.forced)
        eye = sparse.eye_array(st.n, format="csr")
        link = self._columns(eye, eye, extra=-eye)
        flat = [not block.indptr[-1] or block.indices.max() < 2 * st.n + st.k for block in self._blocks]
        square = np.zeros(self.n_columns)
        square[2 * st.n + st.k :] = st.weights
        return solve_qp(
            sparse.vstack([*(b for b, keep in zip(self._blocks, flat, strict=True) if keep), link], format="csr"),
            np.concatenate([*(v for v, keep in zip(self._low, flat, strict=True) if keep), np.zeros(st.n)]),
            np.concatenate([*(v for v, keep in zip(self._high, flat, strict=True) if keep), np.zeros(st.n)]),
            lower,
            upper,
            np.zeros(self.n_columns),
            square,
            budget=budget,
        )

    def _fix_senses(self, lower: Floats, upper: Floats, senses: Ints) -> None:
        st, n = self.statement, self.statement.n
        to_up, to_down = senses > 0, senses < 0
        p, q = st.primaries[to_up], st.primaries[to_down]
        lower[2 * n + np.flatnonzero(to_up)] = 1.0
        upper[2 * n + np.flatnonzero(to_down)] = 0.0
        lower[p], upper[n + p] = np.maximum(lower[p], st.up[to_up]), 0.0
        lower[n + q], upper[q] = np.maximum(lower[n + q], st.down[to_down]), 0.0

    def _point(self, z: Floats, senses: Ints) -> Floats:
        st = self.statement
        x = np.zeros(self.n_columns)
        x[: st.n], x[st.n : 2 * st.n] = np.maximum(z, 0.0), np.maximum(-z, 0.0)
        x[2 * st.n : 2 * st.n + st.k] = senses > 0
        if st.norm == "linf":
            x[-1] = np.max(st.weights * np.abs(z), initial=0.0)
        if st.norm == "l2":
            x[2 * st.n + st.k :] = st.weights * z**2
        return x

    def deviations(self, x: Floats) -> tuple[Floats, Ints]:
        """Read z and the senses from a solution."""
        st = self.statement
        up = x[2 * st.n : 2 * st.n + st.k] > 0.5
        return x[: st.n] - x[st.n : 2 * st.n], np.where(up, 1, -1)

    def add_polygons(self, x: Floats) -> int:
        """Add the polygon rows that a relaxed solution violates; returns their number."""
        st = self.statement
        A = equations(st)
        size = x[: st.n] + x[st.n : 2 * st.n]
        found = [pair for pair in zip(*map(np.ndarray.tolist, polygon_rows(A, size)), strict=True)
                 if pair not in self._polygons]  # fmt: skip
        if found:
            self._polygons |= set(found)
            rows, cells = np.array(found, np.int64).T
            block = turned(A, rows, cells)
            self._add(self._columns(block, block), 0.0, np.inf)
        return len(found)

    def add_tangents(self, z: Floats) -> None:
        """Add the tangents of squares and cones at a point."""
        st = self.statement
        if st.norm == "l2":
            at = np.flatnonzero((np.abs(z) > 0) & (st.weights > 0))
            v = np.abs(z[at])
            slope = sparse.csr_array((-2 * st.weights[at] * v, (np.arange(len(at)), at)), shape=(len(at), st.n))
            pick = sparse.csr_array((np.ones(len(at)), (np.arange(len(at)), at)), shape=(len(at), st.n))
            self._add(self._columns(slope, slope, extra=pick), -st.weights[at] * v**2, np.inf)
        for cone in st.cones:
            row, right = cone.tangent(z)
            part = sparse.csr_array(row[None, :])
            self._add(self._columns(part, -part), -np.inf, right)
