"""Senses that leave little to make up for: the levels of the inner cells cancel in their margins, all levels up.

Where every cell is a sum of inner ones, the signed levels of the inner primaries say by how much every margin would
move if nothing else did. Choosing their signs one after the other, the largest first, and turning single ones while
that helps, balances all margins at once (a discrepancy problem). It takes a second for 100,000 cells, and is what large
tables start from: with all senses up the levels add up instead.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InputError
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget

__all__ = ["balanced_senses"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

_SWEEPS: Final = 6

#: cells between two looks at the clock
_STEP: Final = 1000


def balanced_senses(
    problem: Problem, st: Statement, weights: Floats, budget: Budget, rng: np.random.Generator
) -> Ints | None:
    """Return +1 or -1 for every primary of the statement; None where cells are no sums of inner cells.

    Parameters
    ----------
    problem : Problem
    st : Statement
        Of the problem, not reduced.
    weights : ndarray, shape (cells,)
        Of the problem.
    budget : Budget
    rng : numpy.random.Generator

    Examples
    --------
    >>> from tabprotect.methods.adjustment.statement import state
    >>> level = [0, 4, 3, 1]
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [90, 40, 30, 20], primary=[1, 2, 3], lpl=level, upl=level)
    >>> st = state(p, np.ones(4), "l1", fixed=np.zeros(4, bool))
    >>> balanced_senses(p, st, np.ones(4), Budget(), np.random.default_rng(0)).tolist()
    [1, -1, -1]
    """
    try:
        inner, sums = inner_cells(problem.system)
    except InputError:
        return None
    plan = _Plan(problem, st, weights, inner, sums)
    order = plan.primaries[np.argsort(-plan.level[plan.primaries], kind="stable")]
    for _ in range(1 + _SWEEPS):
        turned = 0
        for k, cell in enumerate(order.tolist()):
            if k % _STEP == 0 and budget.exhausted:
                break
            turned += plan.place(cell)
        if not turned:
            break
        order = rng.permutation(order)
    moved = plan.moved[st.cells[st.primaries]]
    return np.where(st.forced != 0, st.forced, np.where(moved >= 0, 1, -1))


class _Plan:
    """Where every cell moves if inner primaries move by their levels and nothing else does."""

    def __init__(self, problem: Problem, st: Statement, weights: Floats, inner: Ints, sums: sparse.csr_array) -> None:
        n = problem.n_cells
        own = st.cells[st.primaries]
        free = np.zeros(n, bool)
        free[st.cells] = True
        self.squared = st.norm == "l2"
        self.up, self.down = np.full(n, np.inf), np.full(n, np.inf)
        self.up[own] = np.where(st.forced >= 0, st.up, np.inf) * st.unit
        self.down[own] = np.where(st.forced <= 0, st.down, np.inf) * st.unit
        self.level = np.zeros(n)
        self.level[own] = np.minimum(self.up, self.down)[own]
        # what is missing of a margin's level, or moves a fixed one, an inner cell makes up for: it moves there and back
        least = np.full(n, np.inf)
        movable = np.where(free[inner], weights[inner], np.inf)
        filled = np.flatnonzero(np.diff(sums.indptr))
        least[filled] = np.minimum.reduceat(movable[sums.indices], sums.indptr[filled])
        least = np.where(np.isfinite(least), 2 * least, 0.0)
        self.weight = np.where(free, weights, least)
        self.short = np.where(self.level > 0, least, 0.0)
        self.primaries = inner[self.level[inner] > 0]
        columns = sparse.csc_array(sums)
        at = {int(cell): k for k, cell in enumerate(inner)}
        self.margins = {
            cell: (part := columns.indices[columns.indptr[k] : columns.indptr[k + 1]])[part != cell]
            for cell in self.primaries.tolist()
            for k in (at[cell],)
        }
        self.moved = np.zeros(n)

    def place(self, cell: int) -> bool:
        """Move an inner primary to the side that costs its margins least; says whether it changed sides."""
        margins, before = self.margins[cell], self.moved[cell]
        others = self.moved[margins] - before
        ways = [z for z in (self.up[cell], -self.down[cell]) if np.isfinite(z)]
        costs = [self._cost(margins, others + z) + self.weight[cell] * self._size(z) for z in ways]
        after = ways[int(np.argmin(costs))]
        if after == before:
            return False
        self.moved[margins] = others + after
        self.moved[cell] = after
        return True

    def _cost(self, cells: npt.NDArray[np.int32], moved: Floats) -> float:
        size, level = np.abs(moved), self.level[cells]
        far, short = np.maximum(size, level), np.maximum(level - size, 0.0)
        return float((self.weight[cells] * self._size(far) + self.short[cells] * self._size(short)).sum())

    def _size(self, z: Floats | float) -> Floats | float:
        return z * z if self.squared else np.abs(z)
