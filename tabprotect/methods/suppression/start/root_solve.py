"""The root solve of a whole table: many have their cheapest pattern within milliseconds.

Nothing is reduced. Where the relaxation over own equations and bridges is integral, or nearly so, and the intruder
finds little in its solution, this takes less time than to prepare the search.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.exposure import Exposure
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.bound.cuts import bridges, capacity, own_equations, pairs, potential, reduced
from tabprotect.methods.suppression.options import DEFAULTS, RootSolveOptions
from tabprotect.methods.suppression.presolve.core import Core, Targets, unit_of_costs
from tabprotect.methods.suppression.presolve.reduce import questions
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram, LpSolution
from tabprotect.solver.mip.branching import branch
from tabprotect.solver.mip.pool import PoolSolver
from tabprotect.solver.mip.priced import Point, Priced
from tabprotect.solver.mip.rows import RowPool
from tabprotect.solver.tolerances import BRIDGE_VIOLATION, INTEGRALITY, ROW_ERROR

__all__ = ["root_solve"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def root_solve(
    problem: Problem,
    judge: Witnesses,
    solver: PoolSolver,
    budget: Budget,
    options: RootSolveOptions = DEFAULTS.root_solve,
) -> Bools | None:
    """Return a pattern that leaves nothing exposed, or None where that takes more than a moment.

    It is the cheapest one unless a limit cut the last programme short; no bound is claimed. Attackers and sliding
    levels have no inequalities of their own here, but the judge asks about them, too.
    """
    A = problem.system.A
    sizes = np.diff(A.indptr)
    around = np.bincount(A.indices, np.repeat(sizes, sizes), problem.n_cells)  # entries of the equations of every cell
    if not len(problem.primaries) or 2 * around[problem.primaries].sum() > options.most_entries:
        return None
    least = options.least_seconds / max(options.least_seconds, budget.seconds_left)
    with budget.part(max(options.limit_share, least)) as part:
        part.limits = replace(part.limits, work=int(min(options.work + problem.n_cells, part.work_left)))
        found = _RootSolve(problem, judge, solver, part, options).run()
    if found is not None:
        budget.report("root solve", problem.cost(found), 0.0)
    return found


class _RootSolve:
    """The inequalities known so far, as a linear programme."""

    def __init__(
        self, problem: Problem, judge: Witnesses, solver: PoolSolver, budget: Budget, options: RootSolveOptions
    ) -> None:
        self._options = options
        self.judge = judge
        self.solver = solver
        self.budget = budget
        self.core = core = _unreduced(problem)
        self.unit = unit_of_costs(core.weight[~core.hidden])
        self.lower = core.hidden.astype(np.float64)
        self.upper = np.maximum(self.lower, problem.may_hide & ((core.down > 0) | (core.up > 0)))
        rows, rhs, _ = own_equations(core, np.arange(len(core.targets)))
        self.rows: list[sparse.csr_array] = []
        self.rhs: list[Floats] = []
        self.lp = LinearProgram(sparse.csr_array((0, core.n)), [], [], self.lower, self.upper, core.weight)
        self._add(rows, rhs)

    def run(self) -> Bools | None:
        for _ in range(self._options.rounds):
            pattern = self._cheapest()
            if pattern is None or not self._holds(pattern):
                return None
            exposed = self.judge.check(pattern, self.budget)
            if not exposed:
                return pattern
            few = max(self._options.few, self._options.few_share * len(self.core.targets))
            if len(exposed) > few or not self._forbid(exposed):
                return None
        return None

    def _cheapest(self) -> Bools | None:
        """The cheapest pattern that satisfies all inequalities."""
        while not self.budget.exhausted:
            found = self.lp.solve(max_iterations=int(self.budget.work_left), max_seconds=self._seconds)
            self.budget.spend(1 + found.iterations)
            if found.status != "optimal":
                return None
            vague = int(np.sum(np.abs(found.x - np.rint(found.x)) > INTEGRALITY))
            if vague > max(
                self._options.few, self._options.few_share * np.sum(found.x[~self.core.hidden] > INTEGRALITY)
            ):
                return None
            if self._bridge(found.x):
                continue
            pattern = self._whole(found) if vague else found.x > 0.5
            if pattern is None or not self._bridge(pattern.astype(np.float64)):
                return pattern
        return None

    def _holds(self, pattern: Bools) -> bool:
        """Whether a pattern satisfies all inequalities, not only up to the tolerance of a solver."""
        x = pattern.astype(np.float64)
        return all(np.all(rows @ x > rhs - ROW_ERROR) for rows, rhs in zip(self.rows, self.rhs, strict=True))

    @property
    def _seconds(self) -> float | None:
        left = self.budget.seconds_left
        return None if math.isinf(left) else left

    def _whole(self, relaxed: LpSolution) -> Bools | None:
        """The cheapest pattern that satisfies what the linear programme holds."""
        core = self.core
        if core.n <= self._options.branching_cells:
            return branch(self.lp, relaxed, core.weight, self.lower, self.upper, self.budget, self.unit)
        rows, rhs = self.rows, self.rhs
        sizes = np.diff(core.A.indptr).astype(np.float64)
        if float(sizes @ sizes) <= self._options.whole_entries:
            more, zeros, _ = bridges(core)
            rows, rhs = [*rows, more], [*rhs, zeros]
        pool = Priced(self.solver)(
            core.weight,
            core.hidden,
            sparse.csr_array(sparse.vstack(rows)),
            np.concatenate(rhs),
            cutoff=math.inf,
            gap=0.0,
            most=1,
            budget=self.budget,
            point=Point(relaxed.x, relaxed.reduced),
        )
        return pool.solutions[0] if pool.solutions else None

    def _bridge(self, x: Floats) -> bool:
        """Add the bridges that a solution violates; tell whether there are any."""
        rows, rhs, _ = bridges(self.core, x, BRIDGE_VIOLATION)
        if len(rhs):
            self._add(rows, rhs)
        return bool(len(rhs))

    def _add(self, rows: sparse.csr_array, rhs: Floats) -> None:
        more = pairs(rows, rhs)
        for matrix, right in ((rows, rhs), (more, np.ones(more.shape[0]))):
            if len(right):
                self.rows.append(matrix)
                self.rhs.append(right)
                self.lp.add_rows(matrix, right, np.full(len(right), math.inf))

    def _forbid(self, exposed: tuple[Exposure, ...]) -> bool:
        """Add the capacity cuts that prove a pattern unsafe; tell whether there are any."""
        core, found = self.core, []
        for e in exposed:
            if len(e.proofs) == 1:
                (proof,) = e.proofs
                multipliers = np.zeros(core.A.shape[0])
                multipliers[proof.rows] = proof.values
                d = reduced(core, e.key.cell, proof.side, multipliers)
                c = potential(core, d, self.judge.known(e.key.attacker))
                found.append(capacity(core, c, e.key.cell, e.needed))
        pool = RowPool(core.n)
        pool.add([row for row in found if row is not None], [None] * len(found))
        if len(pool):
            self._add(pool.matrix, pool.rhs)
        return bool(len(pool))


def _unreduced(problem: Problem) -> Core:
    """All cells and equations of a problem as one core."""
    cell, side, level = questions(problem)
    movable = problem.may_hide & ((problem.down > 0) | (problem.up > 0))
    weight = np.where(problem.must_hide, 0.0, problem.weights)
    none = np.zeros(0, np.int64)
    return Core(
        problem.system.A,
        np.arange(problem.system.A.shape[0]),
        sparse.csr_array((0, problem.n_cells)),
        none,
        problem.down,
        problem.up,
        weight,
        problem.must_hide | (movable & (weight == 0)),
        Targets(cell, side, level, np.full(len(cell), -1)),
        (),
        (),
        (),
    )
