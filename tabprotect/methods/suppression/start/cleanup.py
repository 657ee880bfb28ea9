"""Take back what a safe pattern hides without need: reverse deletion with cached witnesses and attacker cuts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Key
from tabprotect.attack.region import open_region
from tabprotect.attack.witness import Exposure, Witnesses, capacity
from tabprotect.methods.suppression.options import DEFAULTS, ConstructionOptions
from tabprotect.methods.suppression.start.series import Series, reroute, series
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.rows import Inequalities
from tabprotect.solver.tolerances import LEVEL, OPTIMAL

__all__ = ["Cleaner", "Cut", "Locks", "clean", "cuts_of", "inequalities"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

Cut: TypeAlias = tuple[Ints, Floats, float]
"""Cells, capacities c and level L of an attacker cut sum_i c_i x_i >= L, which every safe pattern satisfies."""


def _attacker_cut(problem: Problem, exposure: Exposure, known: Ints) -> Cut:
    """Return the cut that an exposure gives.

    No capacity is larger than the level. An exposure without proofs gives no cells, and a level of 0.
    """
    if not exposure.proofs:
        return np.zeros(0, np.int64), np.zeros(0), 0.0
    total, need = np.zeros(problem.n_cells), exposure.needed
    box, own = exposure.key.side == 0, exposure.key.cell
    for proof in exposure.proofs:
        cells, c = capacity(problem, own, proof, known, box=box)
        total[cells] += c
    if box:
        need -= total[own] if np.isfinite(total[own]) else 0.0
        total[own] = 0.0
    cells = np.flatnonzero(total > 0)
    return cells, np.minimum(total[cells], need), need


def inequalities(cuts: Iterable[Cut], n: int) -> Inequalities:
    """State attacker cuts as rows over `n` cells.

    Examples
    --------
    >>> rows = inequalities([(np.array([0, 2]), np.array([1.0, 2.0]), 2.0)], 3)
    >>> rows.matrix.toarray(), rows.rhs
    (array([[1., 0., 2.]]), array([2.]))
    >>> next(cuts_of(rows.matrix, rows.rhs))
    (array([0, 2]), array([1., 2.]), 2.0)
    """
    known = list(cuts)
    ends = np.cumsum([0, *(len(cells) for cells, _, _ in known)])
    cells = np.concatenate([np.zeros(0, np.int64), *(cells for cells, _, _ in known)])
    capacities = np.concatenate([np.zeros(0), *(c for _, c, _ in known)])
    matrix = sparse.csr_array((capacities, cells, ends), shape=(len(known), n))
    return Inequalities(matrix, np.array([need for _, _, need in known]))


def cuts_of(matrix: sparse.csr_array, rhs: Floats) -> Iterator[Cut]:
    """Yield rows of positive capacities as attacker cuts, no capacity larger than the level."""
    for k, need in enumerate(rhs.tolist()):
        own = slice(matrix.indptr[k], matrix.indptr[k + 1])
        yield matrix.indices[own].astype(np.int64), np.minimum(matrix.data[own], need), need


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
        self._of: list[list[int]] = [[] for _ in range(problem.n_cells)]
        self.held = problem.must_hide.copy()

    def add(self, cells: Ints, capacities: Floats, need: float) -> None:
        """Hold what a cut needs."""
        inside = self._pattern[cells]
        cells, c = cells[inside], capacities[inside]
        self._cells.append(cells)
        self._capacity.append(c)
        self._spare.append(float(c.sum()) - need)
        self._need.append(need)
        for cell in cells.tolist():
            self._of[cell].append(len(self._cells) - 1)
        self._hold(len(self._cells) - 1)

    def _hold(self, k: int) -> None:
        spare = self._spare[k]
        self.held[self._cells[k][self._capacity[k] > spare + LEVEL * self._need[k]]] = True

    def remove(self, cells: Ints) -> None:
        """Take cells out of the present pattern."""
        gone = np.zeros(len(self._pattern), bool)
        gone[cells] = True
        self._pattern[cells] = False
        for k in {k for cell in cells.tolist() for k in self._of[cell]}:
            lost = gone[self._cells[k]]
            self._spare[k] -= float(self._capacity[k][lost].sum())
            self._cells[k] = self._cells[k][~lost]
            self._capacity[k] = self._capacity[k][~lost]
            self._hold(k)


class Cleaner:
    """Takes cells out of a safe pattern, most expensive first, and can be stopped and resumed at any time.

    Hidden cells that are multiples of each other in every deviation inside the pattern (a series class, found by one
    sparse elimination) live and die together: without one of them the others do not move. So a class is tried as one,
    and a class with a primary stays without any attack.

    Parameters
    ----------
    judge : Witnesses
    pattern : ndarray of bool
        A safe pattern.
    ignore : callable, optional
        Questions that need not be answered (nothing can).
    order : ndarray of float, shape (cells,), optional
        Try large sums of these first; by default the weights.
    least : float
        No safe pattern costs less: a class that weighs more than what the pattern costs above it stays untried.
    options : ConstructionOptions
    cuts : deque of Cut, optional
        What was met before, in other patterns; gets what is met now.

    Attributes
    ----------
    pattern : ndarray of bool
        Safe at every moment.
    finished : bool
        True when no secondary can be taken out alone.
    tried : int
        Classes for which that is decided.
    classes : Series
        Of the pattern.
    asked : ndarray of bool, shape (cells,)
        Cells about which something is asked.
    rank : ndarray of float, shape (cells,)
        `order`, or the weights.
    """

    def __init__(
        self,
        judge: Witnesses,
        pattern: Bools,
        *,
        ignore: Callable[[Key], bool] | None = None,
        order: Floats | None = None,
        least: float = 0.0,
        options: ConstructionOptions = DEFAULTS.construction,
        cuts: deque[Cut] | None = None,
    ) -> None:
        self._options = options
        self._cuts = cuts
        self.judge = judge
        self.least = least
        self.pattern = pattern.copy()
        self.finished = False
        self.tried = 0
        self._ignore = ignore
        self.rank = judge.problem.weights if order is None else order
        self._A = sparse.csc_array(judge.problem.system.A)
        self._locks = Locks(judge.problem, self.pattern)
        q = judge.questions
        self.asked = np.zeros(judge.problem.n_cells, bool)
        for cell, side in zip(q.cell.tolist(), q.side.tolist(), strict=True):
            self.asked[cell] |= ignore is None or not ignore(Key(-1, cell, side))
        self.classes = series(self._A, self.pattern)
        for cut in cuts or ():
            self._locks.add(*cut)
        self._look()

    def run(self, budget: Budget) -> Bools:
        """Go on until nothing is left to try or the budget ends; return the pattern."""
        held = self._locks.held
        while not budget.exhausted:
            cells = self._dearest()
            if not len(cells):
                self.finished = True
                break
            budget.spend(1)
            exposure = self._fails(cells, budget)
            self.tried += exposure is None or exposure.decided
            if exposure is None:
                self.publish(cells)
            elif exposure.decided or not budget.exhausted:
                held[cells] = True
        return self.pattern

    def _dearest(self) -> Ints:
        """Secondaries of the class of largest weight of which nothing is held."""
        problem, held = self.judge.problem, self._locks.held
        mine = np.flatnonzero(self.pattern & ~problem.must_hide)
        label = self.classes.label[mine]
        total = np.bincount(label, weights=self.rank[mine], minlength=problem.n_cells)
        free = np.bincount(label, minlength=problem.n_cells) > 0
        free[label[held[mine]]] = False
        weights = problem.weights[mine]
        spare = float(weights.sum()) - self.least
        free &= np.bincount(label, weights, problem.n_cells) <= spare + OPTIMAL * abs(self.least)
        if not free.any():
            return np.zeros(0, np.int64)
        best = int(np.argmax(np.where(free, total, -np.inf)))
        return np.asarray(mine[label == best], np.int64)

    @property
    def held(self) -> Bools:
        """Cells that stay in every safe pattern inside the present one, by the cuts met so far."""
        return self._locks.held

    def learn(self, exposure: Exposure) -> Cut:
        """Hold what the cut of an exposure needs, and return the cut."""
        cut = _attacker_cut(self.judge.problem, exposure, self.judge.known(exposure.key.attacker))
        if len(cut[0]):
            self._locks.add(*cut)
            if self._cuts is not None:
                self._cuts.append(cut)
        return cut

    def ignores(self, key: Key) -> bool:
        """Whether a question needs no answer."""
        return self._ignore is not None and self._ignore(key)

    def publish(self, cells: Ints) -> None:
        """Take out cells without which the pattern is known to be safe, and what cannot move without them."""
        self._drop(cells)
        self._look(cells)

    def _drop(self, cells: Ints) -> None:
        self.pattern[cells] = False
        self._locks.remove(cells)

    def _look(self, gone: Ints | None = None) -> None:
        """Take out secondaries that cannot move, and bring the classes up to date where cells are `gone`."""
        must = self.judge.problem.must_hide
        if gone is not None:
            self._update(gone)
        label = self.classes.label
        needed = np.zeros(len(must), bool)
        needed[label[self.asked]] = True
        self._locks.held[self.pattern & needed[label]] = True
        idle = self.classes.idle
        self._drop(idle[~must[idle]])

    def _update(self, gone: Ints) -> None:
        """Look up the classes of the components that lost cells; all others are as they were."""
        _, label, component, dimensions = self.classes
        lost = np.unique(component[gone])
        lost = lost[lost >= 0]
        here = np.isin(component, lost)
        if np.sum(self.pattern & here) > self._options.series_cells:
            idle = open_region(self._A, np.flatnonzero(self.pattern & here)).peeled
            self.classes = self.classes._replace(idle=idle)
            return
        now = series(self._A, self.pattern & here)
        dimensions = np.append(dimensions, now.dimensions)
        dimensions[lost] = 0
        joined = np.where(now.component < 0, -1, now.component + len(self.classes.dimensions))
        self.classes = Series(now.idle, np.where(here, now.label, label), np.where(here, joined, component), dimensions)

    def _fails(self, cells: Ints, budget: Budget) -> Exposure | None:
        trial = self.pattern.copy()
        trial[cells] = False
        reroute(self.judge, self.pattern, cells, self._options)
        for exposure in self.judge.check(trial, budget, stop_at_first=self._ignore is None):
            if not self.ignores(exposure.key):
                self.learn(exposure)
                return exposure
        return None


def clean(
    judge: Witnesses,
    pattern: Bools,
    budget: Budget,
    *,
    ignore: Callable[[Key], bool] | None = None,
    order: Floats | None = None,
    least: float = 0.0,
    options: ConstructionOptions = DEFAULTS.construction,
    cuts: deque[Cut] | None = None,
) -> Bools:
    """Return a safe pattern inside a safe one, with no secondary that can be taken out alone (unless a limit ends it).

    Parameters
    ----------
    judge, pattern, ignore, order, least, options, cuts :
        See `Cleaner`.
    budget : Budget
        Any-time: the pattern is safe whenever it ends.
    """
    return Cleaner(judge, pattern, ignore=ignore, order=order, least=least, options=options, cuts=cuts).run(budget)
