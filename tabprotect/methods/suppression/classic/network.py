"""Tables that are networks: what protects a cell is the cheapest circle of arcs through it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.errors import InputError
from tabprotect.methods.suppression.classic.arcs import Network, network_of
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.completion import complete
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress

__all__ = ["network"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def network(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    start: Bools | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Protect every cell by the cheapest circle through it, largest level first.

    In a network a cell can rise by t exactly when t can flow round from its head to its tail. The cheapest single way,
    on which every cell has room enough for both levels, is a shortest path (Dijkstra) at the weights of the cells, and
    free through cells hidden already (Cox 1995; Castro 2002). Levels that need several paths at once, and attackers who
    know cells, are left to the repair. Further rounds go through the cells in other orders at prices with some noise;
    the cheapest of all patterns is kept.

    Parameters
    ----------
    problem : Problem
        A two-way table, with a hierarchy in one dimension at most, or anything else whose equations form a network.
    limits : Limits or Budget, optional
    seed : int
        Of the orders and of the noise.
    progress : callable, optional
    start : ndarray of bool, shape (cells,), optional
        Cells hidden to begin with.
    options : Options

    Returns
    -------
    SuppressionResult
        Judged on the whole problem; without a bound.

    Raises
    ------
    InputError
        If the equations form no network.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> network(p).suppressed.tolist()
    [4, 5, 7, 8]
    """
    found = network_of(problem.system.A)
    if found is None:
        raise InputError(
            "the equations of this table form no network: method='network' is for two-way tables with a hierarchy in "
            "one dimension at most; take method='modular', 'greedy' or 'exact'"
        )
    budget = Budget.of(limits, progress)
    with cancel_on_interrupt(budget):
        judge = Witnesses(problem)
        begin = problem.must_hide if start is None else problem.must_hide | start
        rng = np.random.default_rng(seed)
        largest_first = np.lexsort((np.arange(len(judge.questions.need)), -judge.questions.need))
        numbers = options.classic.network
        pattern = _protect(judge, found, begin, largest_first, problem.weights, budget, numbers.hidden_price)
        for _ in range(numbers.rounds):
            with budget.part(numbers.round_limit_share) as part:
                noise = rng.lognormal(0.0, numbers.noise, problem.n_cells)
                order = rng.permutation(largest_first)
                other = _protect(judge, found, begin, order, problem.weights * noise, part, numbers.hidden_price)
                if not part.exhausted and _worth(judge, other) < _worth(judge, pattern):
                    pattern = other
        return complete(problem, pattern, budget, "network", witnesses=judge.deviations(pattern), options=options)


def _protect(
    judge: Witnesses, net: Network, pattern: Bools, order: Ints, cost: Floats, budget: Budget, least: float
) -> Bools:
    problem = judge.problem
    pattern = pattern.copy()
    answered = judge.sweep(pattern, budget)
    q = judge.questions
    price = np.where(pattern, 0.0, cost)
    paths = _Paths(problem, net, least)
    for question in order.tolist():
        if answered[question] or budget.exhausted:
            continue
        cell = int(q.cell[question])
        up, down = float(problem.upl[cell]), float(problem.lpl[cell])
        if q.side[question] == 0:
            need = float(q.need[question])
            up = min(float(problem.up[cell]), max(up, need - min(float(problem.down[cell]), max(down, need / 2))))
            down = max(down, need - up)
        sides = ((up, down), (up, 0.0), (0.0, down))
        for rise, fall in sides if q.side[question] >= 0 else (sides[0], *sides[:0:-1]):
            deviation = paths.cheapest(cell, rise, fall, price)
            budget.spend(1)
            if deviation is None:
                continue
            pattern[deviation.cells] = True
            price[deviation.cells] = 0.0
            for size in (rise, -fall):
                if size:
                    answered[judge.offer(Deviation(deviation.cells, deviation.z * size))] = True
            if q.side[question] == 0:
                answered[question] = bool(judge.stored(pattern)[question])
            if answered[question]:
                break
        budget.report("network")
    return pattern


def _worth(judge: Witnesses, pattern: Bools) -> tuple[int, float]:
    """Levels left to the repair, then cost."""
    return int((~judge.stored(pattern)).sum()), judge.problem.cost(pattern)


class _Paths:
    """Cheapest paths through a network."""

    def __init__(self, problem: Problem, net: Network, least: float) -> None:
        self._net = net
        self._up, self._down = problem.up, problem.down
        self._may = problem.may_hide
        positive = problem.weights[problem.weights > 0]
        self._least = least * float(positive.min()) if len(positive) else least

    def cheapest(self, cell: int, rise: float, fall: float, price: Floats) -> Deviation | None:
        """Return a circle (of +1 and -1) through a cell that has room to turn by `rise` and back by `fall`."""
        net, up, down = self._net, self._up, self._down
        if up[cell] < rise or down[cell] < fall:
            return None
        source, target = int(net.head[cell]), int(net.tail[cell])
        one = np.array([cell])
        if source == target:
            return Deviation(one, np.ones(1))
        may = self._may.copy()
        may[cell] = False
        ahead = np.flatnonzero(may & (up >= rise) & (down >= fall))
        back = np.flatnonzero(may & (down >= rise) & (up >= fall))
        arcs, turn = np.concatenate((ahead, back)), np.repeat([1.0, -1.0], [len(ahead), len(back)])
        tail = np.concatenate((net.tail[ahead], net.head[back]))
        head = np.concatenate((net.head[ahead], net.tail[back]))
        cost = price[arcs] + self._least
        order = np.lexsort((arcs, cost, head, tail))
        key = (tail * net.n_nodes + head)[order]
        first = np.concatenate(([True], key[1:] != key[:-1])) if len(key) else np.zeros(0, bool)
        order, key = order[first], key[first]
        graph = sparse.csr_array((cost[order], (tail[order], head[order])), shape=(net.n_nodes, net.n_nodes))
        length, before = csgraph.dijkstra(graph, indices=np.array([source]), return_predecessors=True)
        if not np.isfinite(length[0, target]):
            return None
        cells, z, node = [one[0]], [1.0], target
        while node != source:
            previous = int(before[0, node])
            at = order[np.searchsorted(key, previous * net.n_nodes + node)]
            cells.append(arcs[at])
            z.append(float(turn[at]))
            node = previous
        return Deviation(np.array(cells), np.array(z))
