"""Take back what a safe pattern hides in vain: reverse deletion with cached witnesses and attacker cuts."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Key
from tabprotect.attack.region import open_region
from tabprotect.attack.witness import Exposure, Witnesses, capacity
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import LEVEL

__all__ = ["Locks", "clean"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Locks:
    """Attacker cuts sum_i c_i x_i >= L met on the way, and the cells that they hold.

    The left side only falls while cells are taken out, so a cell whose c_i exceeds what a cut has to spare
    stays in every safe pattern inside the present one.

    Parameters
    ----------
    problem : Problem
    pattern : ndarray of bool
        The present pattern.
    """

    def __init__(self, problem: Problem, pattern: Bools) -> None:
        self._problem = problem
        self._pattern = pattern.copy()
        self._cells: list[Ints] = []
        self._capacity: list[Floats] = []
        self._spare: list[float] = []
        self._need: list[float] = []
        self.held = problem.must_hide.copy()

    def add(self, exposure: Exposure, known: Ints) -> None:
        """Learn from a failed deletion."""
        n = self._problem.n_cells
        total = np.zeros(n)
        box = exposure.key.side == 0
        for proof in exposure.proofs:
            cells, c = capacity(self._problem, exposure.key.cell, proof, known, box=box)
            total[cells] += c
        if not exposure.proofs:
            return
        need = exposure.needed
        if box:
            own = exposure.key.cell
            need -= total[own] if np.isfinite(total[own]) else 0.0
            total[own] = 0.0
        cells = np.flatnonzero((total > 0) & self._pattern)
        c = np.minimum(total[cells], need)
        self._cells.append(cells)
        self._capacity.append(c)
        self._spare.append(float(c.sum()) - need)
        self._need.append(need)
        self._hold(len(self._cells) - 1)

    def _hold(self, k: int) -> None:
        spare = self._spare[k]
        self.held[self._cells[k][self._capacity[k] > spare + LEVEL * self._need[k]]] = True

    def remove(self, cells: Ints) -> None:
        """Take cells out of the present pattern."""
        gone = np.zeros(len(self._pattern), bool)
        gone[cells] = True
        self._pattern[cells] = False
        for k, mine in enumerate(self._cells):
            lost = gone[mine]
            if lost.any():
                self._spare[k] -= float(self._capacity[k][lost].sum())
                self._cells[k] = mine[~lost]
                self._capacity[k] = self._capacity[k][~lost]
                self._hold(k)


def clean(
    judge: Witnesses,
    pattern: Bools,
    budget: Budget,
    *,
    ignore: Callable[[Key], bool] | None = None,
    order: Floats | None = None,
) -> Bools:
    """Return a safe pattern inside a safe one, with no secondary that can be taken out alone (unless a limit ends it).

    Parameters
    ----------
    judge : Witnesses
    pattern : ndarray of bool
        A safe pattern.
    budget : Budget
        Any-time: the pattern is safe whenever it ends.
    ignore : callable, optional
        Questions that need not be answered (nothing can).
    order : ndarray of float, shape (cells,), optional
        Try large numbers first; by default the weights.
    """
    problem = judge.problem
    rank = problem.weights if order is None else order
    A = sparse.csc_array(problem.system.A)
    pattern = pattern.copy()
    locks = Locks(problem, pattern)

    def drop(cells: Ints) -> None:
        pattern[cells] = False
        locks.remove(cells)

    def idle() -> Ints:
        """Secondaries that cannot move, so that publishing them tells nothing new."""
        region = open_region(A, np.flatnonzero(pattern))
        return region.peeled[~problem.must_hide[region.peeled]]

    def fails(cells: Ints) -> bool:
        trial = pattern.copy()
        trial[cells] = False
        for exposure in judge.check(trial, budget, stop_at_first=ignore is None):
            if ignore is None or not ignore(exposure.key):
                locks.add(exposure, judge.known(exposure.key.attacker))
                return True
        return False

    drop(idle())
    queue = np.flatnonzero(pattern & ~locks.held)
    queue = queue[np.argsort(-rank[queue], kind="stable")]
    for cell in queue.tolist():
        if budget.exhausted:
            break
        if not pattern[cell] or locks.held[cell]:
            continue
        if fails(np.array([cell])):
            locks.held[cell] = True
            continue
        drop(np.array([cell]))
        drop(idle())
    return pattern
