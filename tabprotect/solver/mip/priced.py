"""A pool of rows beside its solved relaxation: a MIP solver gets neither what that settles nor what it prices out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.connected import connected
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.pool import PoolAnswer, PoolSolver
from tabprotect.solver.tolerances import INTEGRALITY, ROW_FEASIBILITY

__all__ = ["Point", "Priced", "parts"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

FEW = 0.8
"""Where that would be more than this share of all variables, none is closed."""


@dataclass(frozen=True, eq=False)
class Point:
    """A solved relaxation.

    Attributes
    ----------
    x : ndarray of float
        Its solution.
    reduced : ndarray of float
        Reduced costs, from multipliers that are 0 for all rows outside the pool that it is given for.
    """

    x: Floats
    reduced: Floats


class Priced:
    """A pool solver that is given the solution of a relaxation whose binding rows are all in the pool.

    Parts of the pool (that share no variable) where the solution is integral are settled. In the others with optimum v
    of the relaxation whoever uses a variable with reduced costs d pays v + d at least, so variables with large reduced
    costs are left out at first. A solution found without them that costs no more than v + d for all of them is
    optimal; where one part misses that, the pool is solved again with every variable that could make it cheaper.

    Parameters
    ----------
    solver : PoolSolver
    times, more : int
        Variables open at first: so many times those with reduced costs of 0, and so many more.

    Examples
    --------
    >>> from tabprotect.solver.mip.pool import pool_solver
    >>> point = Point(np.array([1.0, 0, 0]), np.array([0.0, 1, 8]))
    >>> row = sparse.csr_array([[1.0, 1, 1]])
    >>> how = {"cutoff": np.inf, "gap": 0.0, "most": 1, "budget": Budget(), "point": point}
    >>> answer = Priced(pool_solver("highs"))(np.array([1.0, 2, 9]), np.zeros(3, bool), row, np.ones(1), **how)
    >>> answer.bound, answer.solutions[0].tolist(), answer.nodes
    (1.0, [True, False, False], 0)
    """

    def __init__(self, solver: PoolSolver, times: int = 3, more: int = 50) -> None:
        self._solver, self._times, self._more = solver, times, more

    def __call__(
        self,
        cost: Floats,
        fixed: Bools,
        matrix: sparse.csr_array,
        rhs: Floats,
        *,
        point: Point | None = None,
        **how: Any,
    ) -> PoolAnswer:
        """Solve a pool, as a `PoolSolver` does."""
        if point is None:
            return self._solver(cost, fixed, matrix, rhs, **how)
        budget: Budget = how["budget"]
        label, part = parts(matrix, fixed)
        rounded = ((point.x > 0.5) & (part >= 0)) | fixed
        vague = np.zeros(int(label.max(initial=-1)) + 1, bool)
        fractional = (np.abs(point.x - rounded) > INTEGRALITY) & ~fixed & (part >= 0)
        vague[part[fractional]] = True
        vague[label[matrix @ rounded.astype(np.float64) < rhs - ROW_FEASIBILITY]] = True
        settled = rounded & ~fixed
        settled[part >= 0] &= ~vague[part[part >= 0]]
        if not vague.any():
            budget.spend(1)
            return PoolAnswer(float(cost[fixed | settled].sum()), (fixed | settled,), 0)
        rest = vague[label]
        how["cutoff"] -= (paid := float(cost[settled].sum()))
        mine = (part >= 0) & ~fixed
        mine[mine] = vague[part[mine]]
        answer = self._open(cost, fixed, matrix[rest], rhs[rest], point, np.where(mine, part, -1), len(vague), **how)
        return PoolAnswer(answer.bound + paid, tuple(c | settled for c in answer.solutions), answer.nodes)

    def _open(
        self,
        cost: Floats,
        fixed: Bools,
        matrix: sparse.csr_array,
        rhs: Floats,
        point: Point,
        part: Ints,
        n_parts: int,
        **how: Any,
    ) -> PoolAnswer:
        """Solve over the variables that are likely to be in a solution, then over those that may be in a better one."""
        mine = part >= 0
        reduced, of = point.reduced[mine], part[mine]
        low = np.bincount(of, (cost * point.x)[mine], n_parts)
        certain = how["cutoff"] - float(low.sum())  # who pays more than this is not below the cutoff
        likely = _likely(reduced, self._times, self._more)
        reach = np.full(n_parts, min(likely, certain))

        def solve() -> PoolAnswer:
            closed = np.zeros(len(cost), bool)
            closed[mine] = reduced > reach[of] * (1 + INTEGRALITY)
            return self._solver(cost, fixed, *_without(matrix, rhs, closed), **how)

        answer = solve()
        if likely >= certain or how["budget"].exhausted:
            return answer if likely >= certain else PoolAnswer(0.0, answer.solutions, answer.nodes)
        if not answer.solutions:
            reach[:] = certain
            return solve()
        chosen = answer.solutions[0]
        paid = np.bincount(of, (cost * chosen)[mine], n_parts) - low
        short = np.maximum(0.0, paid - reach)
        if float(short.sum()) > how["gap"] * float(cost[chosen].sum()):
            reach = np.minimum(np.maximum(paid, 0.0), certain)
            how["cutoff"] = min(how["cutoff"], float(cost[chosen].sum()))
            better = solve()
            both = sorted(better.solutions + answer.solutions, key=lambda solution: float(cost[solution].sum()))
            return PoolAnswer(min(better.bound, float(cost[both[0]].sum())), tuple(both), answer.nodes + better.nodes)
        return PoolAnswer(max(0.0, answer.bound - float(short.sum())), answer.solutions, answer.nodes)


def _likely(reduced: Floats, times: int, more: int) -> float:
    """Reduced costs up to which variables are open at first; inf where that would be nearly all."""
    most = times * int(np.sum(reduced <= INTEGRALITY)) + more
    if most >= FEW * len(reduced):
        return math.inf
    return float(np.partition(reduced, most)[most])


def _without(matrix: sparse.csr_array, rhs: Floats, closed: Bools) -> tuple[sparse.csr_array, Floats]:
    """Leave out the entries of some columns, and rows that hold whatever is chosen then."""
    kept = ~closed[matrix.indices]
    rows = np.repeat(np.arange(len(rhs)), np.diff(matrix.indptr))
    least = np.bincount(rows[kept], np.minimum(matrix.data[kept], 0.0), len(rhs))
    asks = least < rhs
    kept &= asks[rows]
    sizes = np.bincount(rows[kept], minlength=len(rhs))[asks]
    ends = np.concatenate(([0], np.cumsum(sizes)))
    return sparse.csr_array((matrix.data[kept], matrix.indices[kept], ends), shape=(len(sizes), len(closed))), rhs[asks]


def parts(matrix: sparse.csr_array, fixed: Bools) -> tuple[Ints, Ints]:
    """Return the part of every row, and of every variable (-1: in no row)."""
    m, n = matrix.shape
    row = np.repeat(np.arange(m), np.diff(matrix.indptr))
    free = ~fixed[matrix.indices]
    joined = connected(matrix.indices[free], n + row[free], n + m)
    number = np.full(n + m, -1)
    used = np.unique(joined[n:])
    number[used] = np.arange(len(used))
    return number[joined[n:]], number[joined[:n]]
