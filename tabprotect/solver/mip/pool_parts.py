"""A pool of rows in parts that share no variable: what a later pool leaves as it was is not solved again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.pool import PoolAnswer, PoolSolver
from tabprotect.solver.mip.priced import parts
from tabprotect.solver.tolerances import NO_GAP

__all__ = ["InParts"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

MOST = 0.5
"""Where one part has more than this share of the rows, all are solved at once."""


@dataclass(frozen=True, eq=False)
class _Known:
    """What is chosen in a part, what it costs, and the programme that it comes from."""

    chosen: Ints
    cost: float
    programme: int


class InParts:
    """A pool solver that solves one programme over those parts of a pool that it has not met before.

    A programme over several parts that ends with cost c and bound b leaves a slack of c - b at most in all of them
    together, so that the costs of parts from it sum up to no more than their optima plus c - b. What is kept counts
    with that slack in the bound; when the slacks sum up to more than the gap asked for, all that have one are solved
    again.

    Parameters
    ----------
    solver : PoolSolver
    small : int
        Parts of at most so many rows are solved to the end at once, so that they are not solved again.

    Examples
    --------
    >>> from tabprotect.solver.mip.pool import pool_solver
    >>> solver, how = InParts(pool_solver("highs")), {"cutoff": np.inf, "gap": 0.0, "most": 1, "budget": Budget()}
    >>> cost, fixed = np.array([1.0, 2, 3, 4]), np.zeros(4, bool)
    >>> rows = sparse.csr_array([[1.0, 1, 0, 0], [0, 0, 1, 1]])
    >>> solver(cost, fixed, rows, np.ones(2), names=np.arange(2), **how).bound
    4.0
    >>> rows = sparse.csr_array([[1.0, 1, 0, 0], [0, 0, 1, 1], [0, 1, 0, 0]])
    >>> answer = solver(cost, fixed, rows, np.ones(3), names=np.arange(3), **how)
    >>> answer.bound, answer.solutions[0].tolist()
    (5.0, [False, True, True, False])
    """

    def __init__(self, solver: PoolSolver, small: int = 300) -> None:
        self._solver, self._small = solver, small
        self._parts: dict[bytes, _Known] = {}
        self._slack: list[float] = []  # of every programme solved

    def __call__(
        self,
        cost: Floats,
        fixed: Bools,
        matrix: sparse.csr_array,
        rhs: Floats,
        *,
        names: Ints,
        gap: float,
        **how: Any,
    ) -> PoolAnswer:
        """Solve a pool, as a `PoolSolver` does; the costs and what is fixed are the same every time.

        Parameters
        ----------
        names : ndarray of int
            Of the rows; the same row has the same name every time.
        """
        budget: Budget = how["budget"]
        label, part = parts(matrix, fixed)
        sizes = np.bincount(label)
        if sizes.max(initial=0) > MOST * len(rhs):
            return self._solver(cost, fixed, matrix, rhs, gap=0.0 if len(rhs) <= self._small else gap, **how)
        order = np.lexsort((names, label))
        keys = [mine.tobytes() for mine in np.split(names[order], np.cumsum(sizes)[:-1])]
        old = {k: self._parts[key] for k, key in enumerate(keys) if key in self._parts}
        if self._sum_of_slacks(old) > gap * sum(known.cost for known in old.values()):
            old = {k: known for k, known in old.items() if not self._slack[known.programme]}
        kept = fixed.copy()
        for known in old.values():
            kept[known.chosen] = True
        less = float(cost[kept & ~fixed].sum()) - self._sum_of_slacks(old)
        rest = ~np.isin(label, list(old))
        if rest.any():
            how["cutoff"] -= less
            whole = 0.0 if sizes[label[rest]].max() <= self._small else gap
            answer = self._solver(cost, fixed, matrix[rest], rhs[rest], gap=whole, **how)
        else:
            budget.spend(1)
            answer = PoolAnswer(float(cost[fixed].sum()), (fixed,), 0)
        if rest.any() and answer.solutions and not budget.exhausted and np.isfinite(answer.bound):
            chosen = answer.solutions[0]
            spent = float(cost[chosen].sum())
            slack = spent - answer.bound
            self._slack.append(slack if slack > NO_GAP * spent else 0.0)
            cells = np.flatnonzero(chosen & ~fixed)
            cells = cells[np.argsort(part[cells], kind="stable")]
            ends = np.searchsorted(part[cells], np.arange(len(keys) + 1))
            for k in np.unique(label[rest]).tolist():
                mine = cells[ends[k] : ends[k + 1]]
                self._parts[keys[k]] = _Known(mine, float(cost[mine].sum()), len(self._slack) - 1)
        solutions = tuple(solution | kept for solution in answer.solutions)
        return PoolAnswer(max(0.0, answer.bound + less), solutions, answer.nodes)

    def _sum_of_slacks(self, known: dict[int, _Known]) -> float:
        return sum(self._slack[k] for k in {part.programme for part in known.values()})
