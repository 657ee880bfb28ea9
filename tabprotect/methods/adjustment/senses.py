"""Least squares with few free senses: branch and bound over senses, each bound computed from multipliers alone.

A primary with a free sense is in ``(-inf, -down]`` or in ``[up, inf)``. The relaxation of a node replaces its square by
the largest convex function below it on that set, the chord between the two ends,

    max(z^2, (up - down) z + up down),

which is a convex quadratic programme in z = m + p - q with m between the ends. What the solver says of it is not taken
at its word. With its multipliers y, or any others, no adjustment of the node costs less than

    L(y) = sum_r (y_r^+ row_lower_r - y_r^- row_upper_r) + sum_i min over S_i of (w_i z_i^2 - (A'y)_i z_i),

S_i the set that cell i has in the node: two intervals for a free primary, one for all other cells (whole numbers where
steps are whole). Each minimum has a closed form, and what the sums may lose by rounding is taken off. By duality the
best y gives the value of the relaxation (Falk 1969, "Lagrange multipliers and nonconvex programs", SIAM Journal on
Control 7). That nothing is possible in a node is proven in the same manner, with w = 0: L(y) > 0.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.adjustment.search import Search
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.limits import Budget
from tabprotect.solver.qp import QpAnswer, solve_qp
from tabprotect.solver.tolerances import FARTHER, PRUNED

__all__ = [
    "Enumerated", "between", "box", "contradiction", "enumerate_senses", "lagrangian", "least_to_leave", "relaxed",
]  # fmt: skip

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: what rounding may take from a sum, relative to the sum of its terms without sign, for each term
_EPS = 2.0**-52


@dataclass(frozen=True)
class Enumerated:
    """What branch and bound over senses found out.

    Attributes
    ----------
    bound : float
        No adjustment costs less (the statement's unit), whatever the solver said; -inf when nothing is proven.
    infeasible : bool
        No senses are possible, by multipliers that prove it.
    programmes : int
        Quadratic programmes solved (linear ones where steps are whole, one a node).
    senses : int
        Free senses; they were decided in all ``2 ** senses`` combinations, most of them many at a time.
    """

    bound: float
    infeasible: bool
    programmes: int
    senses: int


def enumerate_senses(search: Search, budget: Budget) -> Enumerated:
    """Decide all free senses by branch and bound; answers go to the search.

    Parameters
    ----------
    search : Search
        Of a statement with squares and without cones.
    budget : Budget
        When it is exhausted, the bound is that of what is left open.
    """
    st = search.statement
    forced = st.forced
    numbers, programmes, lowest = count(), 0, np.inf
    waiting: list[tuple[float, int, Ints]] = [(-np.inf, next(numbers), forced)]
    again: list[tuple[float, int, Ints]] = []
    while waiting or (again and search.z is not None):
        if not waiting:
            # without any answer cells had no bounds that could prove these senses impossible
            waiting, again = sorted(again), []
        if budget.exhausted or waiting[0][0] >= least_to_leave(search):
            break
        known, _, senses = heapq.heappop(waiting)
        bounded = search.z is not None
        if np.all(senses != 0):
            search.try_senses(senses)
            bounded &= search.z is not None
        bound, z = _node(st, senses, search, budget)
        programmes += 1
        bound = max(known, bound)
        if z is not None and search.z is None:
            search.try_senses(_rounded(st, senses, z))
        free = np.flatnonzero(senses == 0)
        if not len(free) and z is None and not bounded and bound < np.inf:
            again.append((bound, next(numbers), senses))
            continue
        if not len(free) or bound >= least_to_leave(search):
            lowest = min(lowest, bound)
            continue
        chosen = free[0] if z is None else _undecided(st, free, z)
        if z is not None and chosen < 0:
            search.try_senses(_rounded(st, senses, z))
            if bound >= least_to_leave(search):
                lowest = min(lowest, bound)
                continue
            chosen = free[0]
        for sense in (1, -1):
            child = senses.copy()
            child[chosen] = sense
            heapq.heappush(waiting, (bound, next(numbers), child))
        budget.report("adjust: senses", bound=min(lowest, waiting[0][0]) * st.objective_unit)
    lowest = min([lowest, *(known for known, *_ in (*waiting[:1], *again))])
    # boxes leave out what costs more than the best answer, so nothing beyond its cost is proven
    infeasible = lowest == np.inf and search.z is None
    bound = min(lowest, search.cost / st.objective_unit)
    return Enumerated(bound, infeasible, programmes, int(np.sum(forced == 0)))


def least_to_leave(search: Search) -> float:
    """What a node must cost to be left alone, in the statement's unit."""
    return search.cost / search.statement.objective_unit * (1 - PRUNED)


def _undecided(st: Statement, free: Ints, z: Floats) -> int:
    """Return the free primary that is farthest from both of its sides by cost; -1 when all are at one."""
    at = z[st.primaries[free]]
    off = np.minimum(st.up[free] - at, at + st.down[free])
    off = st.weights[st.primaries[free]] * np.where(off > _EPS**0.5 * (st.up[free] + st.down[free]), off, 0.0) ** 2
    best = int(off.argmax())
    return int(free[best]) if off[best] > 0 else -1


def _rounded(st: Statement, senses: Ints, z: Floats) -> Ints:
    """The senses of a node, open ones as the relaxation leans."""
    at = z[st.primaries]
    with np.errstate(invalid="ignore"):
        up = np.where(senses != 0, senses > 0, st.up - at <= at + st.down)
    return np.where(up, 1, -1).astype(np.int64)


def _node(st: Statement, senses: Ints, search: Search, budget: Budget) -> tuple[float, Floats | None]:
    """Return the proven bound of a node (inf: nothing better is possible in it) and the relaxed deviations."""
    lower, upper = box(st, senses, search)
    if np.any(lower > upper):
        return np.inf, None
    free, inner = st.primaries[senses == 0], between(st, senses)
    answer = relaxed(st, lower, upper, free, inner, budget)
    if answer.x is not None and answer.duals is not None:
        z = answer.x[: st.n].copy()
        z[free] += answer.x[st.n : st.n + len(free)] - answer.x[st.n + len(free) :]
        return lagrangian(st, answer.duals, st.weights, lower, upper, inner), z
    if answer.status == "infeasible":
        multipliers = contradiction(st, lower, upper, budget)
        zero = np.zeros(st.n)
        if multipliers is not None and lagrangian(st, multipliers, zero, lower, upper, inner) > 0:
            return np.inf, None
    return -np.inf, None


def between(st: Statement, senses: Ints) -> tuple[Floats, Floats]:
    """For every cell the ends between which it is not: those of primaries with a free sense, else nan."""
    inner, free = (np.full(st.n, np.nan), np.full(st.n, np.nan)), senses == 0
    inner[0][st.primaries[free]], inner[1][st.primaries[free]] = -st.down[free], st.up[free]
    return inner


def box(st: Statement, senses: Ints, search: Search) -> tuple[Floats, Floats]:
    """Bounds of the cells in a node; no cell of a better answer moves farther than the whole cost known allows."""
    lower, upper = st.lower.copy(), st.upper.copy()
    up, down = senses > 0, senses < 0
    lower[st.primaries[up]] = st.up[up]
    upper[st.primaries[down]] = -st.down[down]
    if np.isfinite(search.cost):
        with np.errstate(divide="ignore", invalid="ignore"):
            far = np.sqrt(search.cost / st.objective_unit / st.weights) * FARTHER
        far = np.where(st.weights > 0, far, np.inf)
        far = np.ceil(far) if st.step is not None else far
        # where a cell has to move farther the box is empty: no answer of this node is better
        lower, upper = np.maximum(lower, -far), np.minimum(upper, far)
    return lower, upper


def relaxed(
    st: Statement, lower: Floats, upper: Floats, free: Ints, inner: tuple[Floats, Floats], budget: Budget
) -> QpAnswer:
    """Solve the relaxation of a node over columns z (m for free primaries), p and q."""
    low, up = inner[0][free], inner[1][free]
    least, most = lower.copy(), upper.copy()
    least[free], most[free] = low, up
    weights, square, cost = st.weights[free], st.weights.copy(), np.zeros(st.n)
    square[free], cost[free] = 0.0, weights * (low + up)
    columns = sparse.csr_array(sparse.csc_array(st.A)[:, free])
    return solve_qp(
        sparse.hstack([st.A, columns, -columns], format="csr"),
        st.row_lower,
        st.row_upper,
        np.concatenate((least, np.zeros(2 * len(free)))),
        np.concatenate((most, np.maximum(upper[free] - up, 0.0), np.maximum(low - lower[free], 0.0))),
        np.concatenate((cost, 2 * weights * up, -2 * weights * low)),
        np.concatenate((square, weights, weights)),
        budget=budget,
    )


def contradiction(st: Statement, lower: Floats, upper: Floats, budget: Budget) -> Floats | None:
    """Multipliers of the rows by how much they must be broken, at least in squares, within the bounds."""
    rows = st.A.shape[0]
    slack = np.full(rows, np.inf)
    answer = solve_qp(
        sparse.hstack([st.A, sparse.eye_array(rows, format="csr")], format="csr"),
        st.row_lower,
        st.row_upper,
        np.concatenate((lower, -slack)),
        np.concatenate((upper, slack)),
        np.zeros(st.n + rows),
        np.concatenate((np.zeros(st.n), np.ones(rows))),
        budget=budget,
    )
    return answer.duals


def lagrangian(
    statement: Statement,
    multipliers: Floats,
    weights: Floats,
    lower: Floats,
    upper: Floats,
    inner: tuple[Floats, Floats] | None = None,
) -> float:
    """Return L(y): a lower bound on ``sum w z^2`` for any multipliers, with rounding errors taken off.

    Parameters
    ----------
    statement : Statement
        Its rows, and whether steps are whole.
    multipliers : ndarray, shape (rows,)
        Of any sign; parts that would meet an infinite side are set to 0.
    weights, lower, upper : ndarray, shape (n,)
    inner : (low, up), each of shape (n,), optional
        A cell with numbers here is not strictly between them.

    Returns
    -------
    float
        In the statement's unit; -inf where a cell without weight and bounds has a price.
    """
    st = statement
    y = np.asarray(multipliers, np.float64)
    y = np.where((y > 0) & ~np.isfinite(st.row_lower), 0.0, y)
    y = np.where((y < 0) & ~np.isfinite(st.row_upper), 0.0, y)
    right = np.where(y > 0, st.row_lower, np.where(y < 0, st.row_upper, 0.0)) * y
    price = np.asarray(st.A.T @ y)
    # |computed - true price| is at most this
    terms = np.diff(sparse.csc_array(st.A).indptr) + 1
    off = 2 * terms * _EPS * np.asarray(abs(st.A).T @ np.abs(y))
    whole = st.step is not None
    least = _smallest(weights, price, off, lower, upper, whole)
    if inner is not None:
        two = np.isfinite(inner[0]) & np.isfinite(inner[1])
        below = _smallest(weights[two], price[two], off[two], lower[two], np.minimum(upper[two], inner[0][two]), whole)
        above = _smallest(weights[two], price[two], off[two], np.maximum(lower[two], inner[1][two]), upper[two], whole)
        least[two] = np.minimum(below, above)
    if np.any(np.isneginf(least)):
        return -np.inf
    if np.any(np.isposinf(least)):
        return np.inf
    size = float(np.abs(right).sum() + np.abs(least).sum())
    return float(right.sum() + least.sum()) - (len(right) + len(least) + 8) * _EPS * size


def _smallest(weights: Floats, price: Floats, off: Floats, low: Floats, high: Floats, whole: bool) -> Floats:
    """Return at most the minima of ``w z^2 - c z`` over low <= z <= high, for all |c - price| <= off; inf if empty."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        vertex = np.where(weights > 0, price / (2 * weights), np.where(price > 0, np.inf, -np.inf))
        vertex = np.where((weights <= 0) & (price == 0), 0.0, vertex)
        if whole:
            vertex = np.where(np.isfinite(vertex), np.floor(vertex), vertex)
            points = [np.clip(vertex, low, high), np.clip(vertex + 1, low, high)]
        else:
            points = [np.clip(vertex, low, high)]
        values = [weights * z**2 - price * z for z in points]
        values = [np.where(np.isfinite(z), v, -np.inf) for v, z in zip(values, points, strict=True)]
        least = np.minimum.reduce(values)
        z = np.maximum(np.abs(points[0]), np.abs(points[-1]))
        # moving the price by `off` moves the minimiser by off / 2w; beyond bounds it does not go
        reach = z + np.where(weights > 0, off / (2 * weights), 0.0)
        reach = np.where(weights > 0, reach, np.where(off > 0, np.maximum(np.abs(low), np.abs(high)), z))
        lost = np.where(off > 0, off * reach, 0.0) + 4 * _EPS * (weights * z**2 + np.abs(price) * z)
        least = np.where(np.isnan(least) | np.isnan(lost), -np.inf, least - lost)
    return np.asarray(np.where(low > high, np.inf, least))
