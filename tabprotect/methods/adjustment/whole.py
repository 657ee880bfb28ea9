"""Least squares in whole steps: branch and bound over senses and cells, each bound computed from multipliers alone.

The line through (k, k^2) and (k + 1, (k + 1)^2) is above z^2 at no whole z,

    z^2 >= (2 k + 1) z - k (k + 1),

and all these lines together are the largest convex function below z^2 at whole numbers. With the chord of a free
primary between its two ends (`tabprotect.methods.adjustment.senses`) they hold in every node: one linear programme,
which gets lines where its answers need them, stays warm for the whole tree, and where the equations are a network its
answers are whole. A node is a box, which is halved at a primary between its ends, else at a cell between two whole
numbers. Its bound is L(y) of `senses`, with minima over whole numbers, raised to the next cost that there can be: a
multiple of whatever divides all weights.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import replace
from fractions import Fraction
from itertools import count

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.methods.adjustment.fixed import Fixed
from tabprotect.methods.adjustment.search import Search
from tabprotect.methods.adjustment.senses import (
    Enumerated,
    between,
    box,
    contradiction,
    lagrangian,
    least_to_leave,
    relaxed,
)
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.tolerances import INTEGRALITY, SIZE_VIOLATION

__all__ = ["enumerate_whole", "grain", "of_given_senses", "raised"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Box = tuple[Floats, Floats]

#: nodes of a tree; what is open after them is left to the solver
_NODES = 1000

#: rounds of lines in one node
_ROUNDS = 60


def enumerate_whole(search: Search, budget: Budget) -> Enumerated:
    """Decide free senses and whole steps by branch and bound; answers go to the search.

    Parameters
    ----------
    search : Search
        Of a statement in whole steps with squares and without cones.
    budget : Budget
        When it is exhausted, the bound is that of what is left open.
    """
    st, numbers, nodes, lowest = search.statement, count(), 0, np.inf
    programme, multiple = _Lines(search, budget), grain(st.weights)
    waiting: list[tuple[float, int, Box]] = [(-np.inf, next(numbers), (st.lower, st.upper))]
    again: list[tuple[float, int, Box]] = []
    while waiting or (again and search.z is not None):
        if not waiting:
            # without any answer cells had no bounds that could prove these boxes empty
            waiting, again = sorted(again), []
        if budget.exhausted or nodes == _NODES or waiting[0][0] >= least_to_leave(search):
            break
        known, _, node = heapq.heappop(waiting)
        nodes, bounded = nodes + 1, search.z is not None
        lower, upper = _within(search, *node)
        bound, z = programme.solve(lower, upper)
        bound = max(known, raised(bound, multiple))
        if z is not None and _is_answer(st, np.rint(z)):
            search.offer(np.rint(z), np.where(np.rint(z)[st.primaries] > 0, 1, -1))
        if z is None and not bounded and bound < np.inf:
            again.append((bound, next(numbers), node))
        elif z is None or bound >= least_to_leave(search) or np.all(lower == upper):
            lowest = min(lowest, bound)
        else:
            for half in _halves(st, lower, upper, z):
                heapq.heappush(waiting, (bound, next(numbers), half))
        budget.report("adjust: whole steps", bound=min([lowest, *(b for b, *_ in waiting[:1])]) * st.objective_unit)
    lowest = min([lowest, *(known for known, *_ in (*waiting[:1], *again))])
    infeasible = lowest == np.inf and search.z is None
    # boxes leave out what costs more than the best answer, so nothing beyond its cost is proven
    bound = min(lowest, search.cost / st.objective_unit)
    return Enumerated(bound, infeasible, nodes, int(np.sum(st.forced == 0)))


def of_given_senses(statement: Statement, senses: Ints, found: Fixed, budget: Budget) -> tuple[Fixed, bool]:
    """Return the best deviations in whole steps for given senses, and whether multipliers prove them the best.

    Parameters
    ----------
    statement : Statement
    senses : ndarray of int, shape (k,)
        +1 or -1, which the bounds allow.
    found : Fixed
        What is known of them.
    budget : Budget
    """
    up, down = np.where(senses > 0, statement.up, np.inf), np.where(senses < 0, statement.down, np.inf)
    search = Search(replace(statement, up=up, down=down), budget, np.random.default_rng(0))
    search.offer(found.z, senses)
    tree = enumerate_whole(search, budget)
    closed = tree.infeasible or tree.bound >= least_to_leave(search)
    return Fixed(search.z, max(found.bound, tree.bound), found.infeasible or tree.infeasible), closed


class _Lines:
    """The linear programme over z and v >= z^2, with the lines that its answers needed."""

    def __init__(self, search: Search, budget: Budget) -> None:
        self.statement = st = search.statement
        self.budget = budget
        self.inner = between(st, st.forced)
        free = np.flatnonzero(np.isfinite(self.inner[0]))
        nothing = sparse.csr_array(st.A.shape)
        self.programme = LinearProgram(
            sparse.hstack([st.A, nothing], format="csr"),
            st.row_lower,
            st.row_upper,
            np.concatenate((st.lower, np.zeros(st.n))),
            np.concatenate((st.upper, np.full(st.n, np.inf))),
            np.concatenate((np.zeros(st.n), st.weights)),
            method="dual",
        )
        at = [] if search.z is None else [search.z]
        # outer approximation is slow far from the optimum: begin where squares as they are have theirs
        answer = relaxed(st, *box(st, st.forced, search), free, self.inner, budget)
        if answer.x is not None:
            at += [answer.x[: st.n], answer.x[: st.n] + 1, answer.x[: st.n] - 1]
        for z in at:
            self._add(np.flatnonzero(st.weights > 0), *self._lines(z))

    def solve(self, lower: Floats, upper: Floats) -> tuple[float, Floats | None]:
        """Return the proven bound of a box (inf: no answer is in it), and z of the relaxation."""
        st, every = self.statement, np.arange(self.statement.n)
        if np.any(lower > upper):
            return np.inf, None
        self.programme.set_bounds(every, lower, upper)
        bound, z = -np.inf, None
        for _ in range(_ROUNDS):
            try:
                answer = self.programme.solve()
            except SolverError:
                break
            self.budget.spend(1 + answer.iterations)
            if answer.status == "infeasible" and z is None:
                return self._empty(lower, upper), None
            if answer.status != "optimal":
                break
            z, multipliers = answer.x[: st.n], answer.duals[: st.A.shape[0]]
            bound = max(bound, lagrangian(st, multipliers, st.weights, lower, upper, self.inner))
            slope, level = self._lines(z)
            missed = slope * z + level - answer.x[st.n :]
            short = np.flatnonzero((missed > SIZE_VIOLATION * np.maximum(1.0, z**2)) & (st.weights > 0))
            if not len(short) or self.budget.exhausted:
                break
            self._add(short, slope, level)
        return bound, z

    def _empty(self, lower: Floats, upper: Floats) -> float:
        """Return inf where multipliers prove that no answer is in a box, whatever the solver said."""
        st = self.statement
        multipliers = contradiction(st, lower, upper, self.budget)
        if multipliers is None or lagrangian(st, multipliers, np.zeros(st.n), lower, upper, self.inner) <= 0:
            return -np.inf
        return np.inf

    def _lines(self, z: Floats) -> tuple[Floats, Floats]:
        """Slope and level of the line below the square of every cell that is highest at z."""
        k = np.floor(z)
        slope, level = 2 * k + 1, -k * (k + 1)
        with np.errstate(invalid="ignore"):
            chord = (self.inner[0] < z) & (z < self.inner[1])
            return (
                np.where(chord, self.inner[0] + self.inner[1], slope),
                np.where(chord, -self.inner[0] * self.inner[1], level),
            )

    def _add(self, cells: Ints, slope: Floats, level: Floats) -> None:
        n, rows = self.statement.n, np.arange(len(cells))
        lines = sparse.csr_array(
            (
                np.concatenate((-slope[cells], np.ones(len(cells)))),
                (np.tile(rows, 2), np.concatenate((cells, n + cells))),
            ),
            shape=(len(cells), 2 * n),
        )
        self.programme.add_rows(lines, level[cells], np.full(len(cells), np.inf))


def _within(search: Search, lower: Floats, upper: Floats) -> Box:
    """Return what is left of a box: no cell farther than a better answer moves it, primaries beyond their levels."""
    st = search.statement
    low, high = box(st, st.forced, search)
    low, high = np.maximum(low, lower), np.minimum(high, upper)
    p = st.primaries
    at_least, at_most = low[p] > -st.down, high[p] < st.up
    low[p] = np.where(at_least, np.maximum(low[p], st.up), low[p])
    high[p] = np.where(at_most, np.minimum(high[p], -st.down), high[p])
    return low, high


def _is_answer(st: Statement, z: Floats) -> bool:
    """Whether whole numbers are an answer, looked at without tolerance."""
    rows, own = st.A @ z, z[st.primaries]
    inside = np.all((st.lower <= z) & (z <= st.upper)) and np.all((st.row_lower <= rows) & (rows <= st.row_upper))
    return bool(inside and np.all((own >= st.up) | (own <= -st.down)))


def _halves(st: Statement, lower: Floats, upper: Floats, z: Floats) -> list[Box]:
    """Halve a box at the primary farthest from both its ends, else at the cell farthest from a whole number."""
    p = st.primaries
    off = st.weights[p] * np.minimum(st.up - z[p], z[p] + st.down)
    if len(p) and off.max() > INTEGRALITY * st.weights.max():
        cell, last, first = int(p[off.argmax()]), -float(st.down[off.argmax()]), float(st.up[off.argmax()])
    else:
        cell = int(np.abs(z - np.rint(z)).argmax())
        if abs(z[cell] - np.rint(z[cell])) <= INTEGRALITY:
            cell = int((upper - lower).argmax())
        last = min(max(float(np.floor(z[cell])), lower[cell]), upper[cell] - 1)
        first = last + 1
    below, above = upper.copy(), lower.copy()
    below[cell], above[cell] = last, first
    return [(lower, below), (above, upper)]


def grain(weights: Floats) -> Fraction:
    """Return the largest number that all weights are whole multiples of (0 without weights).

    Examples
    --------
    >>> grain(np.array([0.75, 0.5]))
    Fraction(1, 4)
    """
    ratios = [float(weight).as_integer_ratio() for weight in weights]
    return Fraction(math.gcd(*(top for top, _ in ratios)), math.lcm(*(bottom for _, bottom in ratios)))


def raised(bound: float, multiple: Fraction) -> float:
    """Return the least multiple that is not below a bound: costs in whole steps are multiples of the weights' grain.

    Examples
    --------
    >>> raised(13.001, grain(np.array([2.0, 3.0]))), raised(13.001, grain(np.array([2.0, 6.0])))
    (14.0, 14.0)
    """
    if not np.isfinite(bound) or not multiple:
        return bound
    exact = math.ceil(Fraction(bound) / multiple) * multiple
    nearest = float(exact)
    return nearest if nearest <= exact else math.nextafter(nearest, -math.inf)
