"""Masked records that can be that of an original one, and the best guess among them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.microdata.compiled import compiled
from tabprotect.microdata.masking.microaggregation.fuzzy import memberships
from tabprotect.microdata.risk.knowledge import FuzzyDraw, Knowledge

__all__ = ["Classes", "intersect"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

TIE = 1 + 1e-9
"""Distances count as equal up to this factor."""

CHUNK = 4_000_000
"""Most entries of an array of memberships."""

STEEPEST = 1e6
"""Power of distances with m2 near 1, where the nearest centre is all but certain."""


class Classes:
    """Masked records with the same values, which no distance tells apart."""

    def __init__(self, y: Floats, scaled: Floats) -> None:
        _, first, index = np.unique(np.nan_to_num(y, nan=np.inf), axis=0, return_index=True, return_inverse=True)
        self.index = index.ravel()
        self.size = np.bincount(self.index)
        self.points = scaled[first]

    def nearest(self, x: Floats, true: Ints) -> Floats:
        """Return the probability that one of the nearest masked records, drawn at random, is the true one."""
        tree = cKDTree(self.points)
        success = np.zeros(len(x))
        todo, wanted = np.arange(len(x)), 4
        while len(todo):
            wanted = min(wanted, len(self.points))
            distance, which = (np.asarray(a).reshape(len(todo), wanted) for a in tree.query(x[todo], k=wanted))
            ties = distance <= distance[:, :1] * TIE
            complete = ~ties[:, -1] | (wanted == len(self.points))
            size = np.where(ties, self.size[which], 0).sum(axis=1)
            own = np.where(true[todo] >= 0, self.index[true[todo]], -1)
            hit = (ties & (which == own[:, None])).any(axis=1)
            success[todo[complete]] = (hit / size)[complete]
            todo, wanted = todo[~complete], wanted * 4
        return success

    def most_probable(self, x: Floats, true: Ints, m2: float) -> Floats:
        """Return the probability that the best guess is right, with memberships to the centres that are released."""
        success = np.zeros(len(x))
        step = max(1, CHUNK // len(self.points))
        for at in range(0, len(x), step):
            rows = np.arange(at, min(at + step, len(x)))
            each = memberships(x[rows], self.points, m2) / self.size
            best = each >= each.max(axis=1, keepdims=True) / TIE
            own = np.where(true[rows] >= 0, self.index[true[rows]], 0)
            hit = best[np.arange(len(rows)), own] & (true[rows] >= 0)
            success[rows] = hit / (best * self.size).sum(axis=1)
        return success


def intersect(
    low: Floats, high: Floats, y: Floats, sx: Floats, sy: Floats, true: Ints, known: Sequence[Knowledge | None]
) -> tuple[Ints, Flags, Floats]:
    """Return the candidates of each record, whether the true one is among them, and how good the best guess is.

    The best guess is the nearest candidate; where fuzzy draws are known, the one that is drawn with the largest
    probability, over all of them.

    Parameters
    ----------
    low, high : ndarray of float, shape (records, p)
        Limits of the masked values.
    y : ndarray of float, shape (masked records, p)
        nan excludes nothing.
    sx, sy : ndarray of float, shapes (records, q) and (masked records, q)
        Coordinates of the first q columns in which the guess is made.
    true : ndarray of int, shape (records,)
        Masked record of each one, -1 for none.
    known : sequence of Knowledge or None, of length q

    Examples
    --------
    >>> x, y = np.array([[1.0], [5.0]]), np.array([[1.5], [2.0]])
    >>> intersect(x - 1, x + 1, y, x, y, np.array([0, 1]), [None])
    (array([2, 0]), array([ True, False]), array([1., 0.]))
    """
    gone = np.isnan(y)
    orders = np.array([np.argsort(np.where(g, -np.inf, v), kind="stable") for g, v in zip(gone.T, y.T, strict=True)])
    absent = gone.sum(axis=0)
    columns = [v[order[skip:]] for v, order, skip in zip(y.T, orders, absent.tolist(), strict=True)]
    begin = np.column_stack([np.searchsorted(v, one, side="left") for v, one in zip(columns, low.T, strict=True)])
    end = np.column_stack([np.searchsorted(v, one, side="right") for v, one in zip(columns, high.T, strict=True)])
    narrowest = (end - begin + absent).argmin(axis=1)
    draw, power, size, floor = _draws(known, y)
    count, success = np.zeros(len(low), dtype=np.int64), np.zeros(len(low))
    contained = np.zeros(len(low), dtype=bool)
    for j in range(y.shape[1]):
        mine = np.flatnonzero(narrowest == j)
        if not len(mine):
            continue
        # records stand in the order of the column: those within its limits are next to each other
        count[mine], contained[mine], success[mine] = _search(
            low[mine], high[mine], y[orders[j]], orders[j], int(absent[j]), begin[mine, j], end[mine, j], sx[mine], sy,
            true[mine], draw, power, size, floor,
        )  # fmt: skip
    return count, contained, success


def _draws(known: Sequence[Knowledge | None], y: Floats) -> tuple[Ints, Floats, Floats, float]:
    """Return which columns were drawn together (-1: not), powers of distances, the sizes of classes, a floor."""
    fuzzy = [one for one in known if isinstance(one, FuzzyDraw)]
    if not fuzzy:
        return np.zeros(len(known), dtype=np.int64), np.array([0.5]), np.ones((len(y), 1)), 1e-300
    found = list(dict.fromkeys(fuzzy))
    draw = np.array([found.index(one) if isinstance(one, FuzzyDraw) else -1 for one in known], dtype=np.int64)
    power = np.array([min(1 / (one.m2 - 1), STEEPEST) if one.m2 > 1 else STEEPEST for one in found])
    size = np.empty((len(y), len(found)))
    for g in range(len(found)):
        values = np.nan_to_num(y[:, : len(known)][:, draw == g], nan=np.inf)
        _, index, times = np.unique(values, axis=0, return_inverse=True, return_counts=True)
        size[:, g] = times[index.ravel()]
    # the floor of `memberships`: a record at a centre belongs to it
    return draw, power, size, 1e-24


@compiled
def _search(
    low: Floats, high: Floats, laid: Floats, order: Ints, skip: int, begin: Ints, end: Ints,
    sx: Floats, sy: Floats, true: Ints, draw: Ints, power: Floats, size: Floats, floor: float,
) -> tuple[Ints, Flags, Floats]:  # fmt: skip
    """Look through the records within the narrowest limits; a guess costs the logarithm of its distance."""
    n, p, q, draws = low.shape[0], low.shape[1], sx.shape[1], len(power)
    count, success = np.zeros(n, dtype=np.int64), np.zeros(n)
    contained = np.zeros(n, dtype=np.bool_)
    apart = np.zeros(draws)
    for i in range(n):
        best, own, ties = np.inf, np.inf, 0
        # first the least cost, then how many records have it
        for sweep in range(2):
            if sweep == 1 and (not contained[i] or own > best + 1e-9):
                break
            for at in range(skip + end[i] - begin[i]):
                place = at if at < skip else begin[i] + at
                fits = True
                for c in range(p):
                    value = laid[place, c]
                    if value < low[i, c] or value > high[i, c]:
                        fits = False
                        break
                if not fits:
                    continue
                row = order[place]
                if sweep == 0:
                    count[i] += 1
                    if true[i] < 0:
                        continue
                for g in range(draws):
                    apart[g] = 0.0
                for c in range(q):
                    if draw[c] >= 0:
                        apart[draw[c]] += (sx[i, c] - sy[row, c]) ** 2
                cost = 0.0
                for g in range(draws):
                    cost += power[g] * np.log(max(apart[g], floor)) + np.log(size[row, g])
                if sweep == 1:
                    ties += cost <= best + 1e-9
                    continue
                best = min(best, cost)
                if row == true[i]:
                    contained[i] = True
                    own = cost
        if ties:
            success[i] = 1.0 / ties
    return count, contained, success
