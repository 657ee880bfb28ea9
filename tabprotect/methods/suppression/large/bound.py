"""A lower bound on the cost of a large problem: one linear programme over inequalities found near each cell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Key
from tabprotect.attack.proof import simple_fraction, snap_multipliers
from tabprotect.attack.proof_rows import BoundProof, Bridge, Capacity, ProofRow
from tabprotect.methods.suppression.large.rows import Attacks, LocalRows, Sparse, attack
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.options.local import LocalBoundOptions
from tabprotect.methods.suppression.presolve.core import next_cost, unit_of_costs
from tabprotect.problem import Problem
from tabprotect.solver.exact import exact
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.tasks.pieces import run_pieces
from tabprotect.solver.tolerances import BOUND_ROUNDING

__all__ = ["LocalBound"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class _Row(NamedTuple):
    """sum values x[cells] >= rhs, and where it comes from."""

    cells: Ints
    values: Floats
    rhs: float
    origin: Sparse | Bridge


class LocalBound:
    """Minimise the weights of hidden cells, as fractions, over capacity cuts and bridges.

    Every row is one that all safe patterns, or (bridges) all cheapest ones, satisfy, so the optimum of any of these
    programmes is a lower bound. It is not read from the solver: with multipliers y >= 0 of the rows a_k x >= b_k,

        cost >= sum_k y_k b_k + sum_i min(0, w_i - sum_k y_k a_ki)   over 0 <= x <= 1,

    whatever the multipliers are.

    Parameters
    ----------
    problem : Problem
    near : Surroundings
    executor : concurrent.futures.Executor, optional
        Solves attacks side by side; the bound is the same as without.
    options : LocalBoundOptions

    Attributes
    ----------
    bound : float
        The best so far; a multiple of the greatest common divisor of whole weights.
    finished : bool
        True when no attack finds anything more.
    """

    def __init__(
        self,
        problem: Problem,
        near: Surroundings,
        executor: Executor | None = None,
        options: LocalBoundOptions = DEFAULTS.local.bound,
    ) -> None:
        self._options = options
        self.problem = problem
        self._executor = executor
        self.bound = 0.0
        self._value = 0.0  # of the best programme
        self.finished = False
        self.x = np.zeros(problem.n_cells)
        self._rows = LocalRows(problem, near)
        # a cell in no equation moves as it likes
        equations = np.diff(sparse.csc_array(problem.system.A).indptr)[self._rows.questions.cell]
        self._questions = np.flatnonzero((self._rows.questions.side != 0) & (equations > 0))
        self._hops = 1
        self._turn = 0
        self._found: list[Sparse] = []
        self._lp: LinearProgram | None = None
        self._kept: list[_Row] = []
        self._behind: list[tuple[Sparse | Bridge, float]] = []  # the best bound
        self._bridged: set[int] = set()
        A = problem.system.A
        self._row_of = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
        must = problem.must_hide | (problem.may_hide & (problem.weights == 0))
        self._plain = np.bincount(self._row_of[must[A.indices]], minlength=A.shape[0]) == 0
        self._cells = np.flatnonzero(problem.may_hide & ~must)
        self._column = np.full(problem.n_cells, -1)
        self._column[self._cells] = np.arange(len(self._cells))
        self._weights = problem.weights[self._cells]
        self._unit = unit_of_costs(self._weights)

    def step(self, budget: Budget) -> None:
        """Make one round: attacks at the present point, then the programme again; the budget may end it anywhere."""
        if self.finished or budget.exhausted:
            return
        if self._lp is None:
            self._start(budget)
            return
        while self._turn < len(self._questions):
            if not self._attack(self._questions[self._turn : self._turn + self._options.at_once], budget):
                return
        self._turn = 0
        new = self._add([_Row(f.cells, f.values, 1.0, f) for f in self._found]) + self._bridges()
        self._found = []
        before = self._value
        if not self._solve(budget):
            return
        if not new or self._value <= before * (1 + self._options.progress):
            self._hops += 1
            self._drop_loose()
            self.finished = self._hops > self._options.equations

    def _attack(self, questions: Ints, budget: Budget) -> bool:
        """Attack some questions side by side and keep the cuts; False when the budget ended that."""
        size = self._options.chunk
        chunks = [questions[k : k + size].tolist() for k in range(0, len(questions), size)]
        seconds = budget.seconds_left
        pieces = [Attacks(tuple(self._rows.stated(k, self.x, hops=self._hops) for k in c), seconds) for c in chunks]
        grace = 0.0 if math.isinf(seconds) else self._options.grace_seconds
        for chunk, answer in zip(chunks, run_pieces(attack, pieces, budget, self._executor, grace=grace), strict=True):
            # what others have solved beyond the limit counts no more than what nobody would have begun here
            if answer is None or budget.exhausted:
                return False
            found, work = answer
            budget.spend(work)
            for k, multipliers in zip(chunk, found, strict=True):
                made = None if multipliers is None else self._rows.cut(k, multipliers, self.x, hops=self._hops)
                if made is not None:
                    self._found.append(made)
            self._turn += len(chunk)
        return True

    def proof(self) -> BoundProof:
        """Return what the best bound rests on, in rational numbers, as `tabprotect.attack` rebuilds it.

        The bound that these rows prove is that of floating point but for roundings of multipliers.
        """
        questions, columns = self._rows.questions, sparse.csc_array(self.problem.system.A)
        rows: list[ProofRow] = []
        for origin, _ in self._behind:
            if isinstance(origin, Bridge):
                rows.append(origin)
                continue
            cell, side = int(questions.cell[origin.question]), int(questions.side[origin.question])
            mine = slice(*columns.indptr[cell : cell + 2].tolist())
            own = dict(zip(columns.indices[mine].tolist(), columns.data[mine].tolist(), strict=True))
            equations = origin.rows.tolist()
            exactly = snap_multipliers(equations, origin.multipliers, [own.get(r, 0.0) for r in equations], side)
            rows.append(Capacity(Key(-1, cell, side), (exactly,)))
        factors = [simple_fraction(y) for _, y in self._behind]
        return BoundProof(tuple(rows), tuple(enumerate(factors)), exact(self.bound))

    def _start(self, budget: Budget) -> None:
        n = len(self._cells)
        self._lp = LinearProgram(
            sparse.csr_array((0, n)), [], [], np.zeros(n), np.ones(n), self._weights, method="dual"
        )
        self._add([_Row(f.cells, f.values, 1.0, f) for f in self._rows.own()])
        self._solve(budget)
        self._hops = 2

    def _add(self, rows: Sequence[_Row]) -> int:
        assert self._lp is not None
        if rows:
            start = np.concatenate(([0], np.cumsum([len(row.cells) for row in rows])))
            index = self._column[np.concatenate([row.cells for row in rows])]
            data = np.concatenate([row.values for row in rows])
            A = sparse.csr_array((data, index, start), shape=(len(rows), len(self._cells)))
            self._lp.add_rows(A, np.array([row.rhs for row in rows]), np.full(len(rows), np.inf))
            self._kept += rows
        return len(rows)

    def _bridges(self) -> int:
        """Violated bridges, x_i <= sum of the other x of an equation without cells that are hidden anyway.

        See `tabprotect.methods.suppression.bound.cuts.bridges`.
        """
        A = self.problem.system.A
        x = self.x[A.indices]
        total = np.bincount(self._row_of, weights=x, minlength=A.shape[0])
        entries = np.flatnonzero(self._plain[self._row_of] & (2 * x > total[self._row_of] + 1e-3))
        rows: list[_Row] = []
        for e in entries.tolist():
            if e in self._bridged:
                continue
            self._bridged.add(e)
            r, cell = int(self._row_of[e]), int(A.indices[e])
            cells = A.indices[A.indptr[r] : A.indptr[r + 1]].astype(np.int64)
            cells = cells[self._column[cells] >= 0]
            rows.append(_Row(cells, np.where(cells == cell, -1.0, 1.0), 0.0, Bridge(cell, r)))
        return self._add(rows)

    def _solve(self, budget: Budget) -> bool:
        assert self._lp is not None
        seconds, left = budget.seconds_left, budget.work_left
        solution = self._lp.solve(
            max_iterations=None if math.isinf(left) else int(left), max_seconds=None if math.isinf(seconds) else seconds
        )
        budget.spend(1 + solution.iterations)
        if solution.status == "infeasible":
            # a question has no answer at all, and there is nothing to bound
            self.finished = True
        if solution.status != "optimal":
            return False
        self.x = np.zeros(self.problem.n_cells)
        self.x[self._cells] = np.clip(solution.x, 0.0, 1.0)
        multipliers = np.maximum(solution.duals, 0.0)
        value = self._proven(multipliers)
        if value > self._value:
            self._value, self.bound = value, next_cost(value, self._unit)
            self._behind = [(self._kept[k].origin, float(multipliers[k])) for k in np.flatnonzero(multipliers).tolist()]
        return True

    def _proven(self, multipliers: Floats) -> float:
        """The bound that multipliers of the rows give, by the sums above."""
        used = np.flatnonzero(multipliers)
        if not len(used):
            return 0.0
        kept = [self._kept[k] for k in used.tolist()]
        y = multipliers[used]
        total = float(y @ np.array([row.rhs for row in kept]))
        lengths = [len(row.cells) for row in kept]
        index = np.concatenate([row.cells for row in kept])
        terms = np.concatenate([row.values for row in kept]) * np.repeat(y, lengths)
        taken = np.bincount(self._column[index], weights=terms, minlength=len(self._weights))
        size = np.bincount(self._column[index], weights=np.abs(terms), minlength=len(self._weights))
        over = np.minimum(0.0, self._weights - taken)
        return max(0.0, total + float(over.sum()) - BOUND_ROUNDING * (float(size.sum()) + abs(total)))

    def _drop_loose(self) -> None:
        assert self._lp is not None
        slack = np.array([float(row.values @ self.x[row.cells]) - row.rhs for row in self._kept])
        loose = np.flatnonzero((slack > self._options.loose_slack) & (np.array([row.rhs for row in self._kept]) > 0))
        if len(loose):
            self._lp.delete_rows(loose)
            gone = set(loose.tolist())
            self._kept = [row for k, row in enumerate(self._kept) if k not in gone]
