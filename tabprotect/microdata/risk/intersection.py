"""Masked records that can be that of an original one, and the best guess among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.microdata.compiled import compiled
from tabprotect.microdata.masking.microaggregation.fuzzy import memberships
from tabprotect.microdata.risk.knowledge import FuzzyDraw, Knowledge
from tabprotect.microdata.risk.windows import BITS, SIZES, Sizes, boxes

__all__ = ["Classes", "Guessing", "intersect"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

TIE = 1 + 1e-9
"""Distances count as equal up to this factor."""

CHUNK = 4_000_000
"""Most entries of an array of memberships."""

STEEPEST = 1e6
"""Power of distances with m2 near 1, where the nearest centre is all but certain."""

EQUAL = 1e-9
"""Costs are equal up to this difference."""


@dataclass(frozen=True)
class Guessing:
    """How the best guess is looked for; the numbers change the time that it takes, not what is found.

    Attributes
    ----------
    few : int
        Candidates that are compared one by one before the nearest records of all are looked at.
    nearest : int
        How many of those.
    sizes : Sizes
        Of the search for candidates.
    """

    few: int = 1000
    nearest: int = 8
    sizes: Sizes = SIZES


GUESSING = Guessing()


class _Costs(NamedTuple):
    """How the cost of a guess follows from distances: the logarithm of the distance, or of a membership.

    Attributes
    ----------
    draw : ndarray of int, shape (q,)
        Which columns were drawn together (-1: not drawn).
    power : ndarray of float, shape (draws,)
        Of squared distances.
    size : ndarray of float, shape (masked records, draws)
        Records with the same values.
    floor : float
        Least squared distance.
    """

    draw: Ints
    power: Floats
    size: Floats
    floor: float


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
    low: Floats,
    high: Floats,
    y: Floats,
    sx: Floats,
    sy: Floats,
    true: Ints,
    known: Sequence[Knowledge | None],
    guessing: Guessing = GUESSING,
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
    guessing : Guessing

    Examples
    --------
    >>> x, y = np.array([[1.0], [5.0]]), np.array([[1.5], [2.0]])
    >>> intersect(x - 1, x + 1, y, x, y, np.array([0, 1]), [None])
    (array([2, 0]), array([ True, False]), array([1., 0.]))
    """
    inside = np.zeros(len(low), dtype=bool)
    linked = true >= 0
    own = y[true[linked]]
    # a missing value is neither below nor above a limit
    inside[linked] = ~((own < low[linked]) | (own > high[linked])).any(axis=1)
    costs = _costs(known, y)
    # only of distances are the nearest records the best ones
    few = len(y) if any(isinstance(one, FuzzyDraw) for one in known) else guessing.few
    count, success = np.zeros(len(low), dtype=np.int64), np.zeros(len(low))
    for found in boxes(low, high, y, np.arange(len(low)), guessing.sizes):
        at = found.rows
        count[at], success[at] = _best(
            found.bits, found.first, found.last, found.order, sx[at], sy, np.where(inside[at], true[at], -1), *costs,
            few, BITS,
        )  # fmt: skip
    return count, inside, _among_many(low, high, y, sx, sy, np.where(inside, true, -1), costs, success, guessing)


def _among_many(
    low: Floats,
    high: Floats,
    y: Floats,
    sx: Floats,
    sy: Floats,
    true: Ints,
    costs: _Costs,
    success: Floats,
    guessing: Guessing,
) -> Floats:
    """Judge the guesses that were put off: the nearest records of all decide most of them."""
    success = success.copy()
    open_ = np.flatnonzero(np.isnan(success))
    if not len(open_):
        return success
    wanted = min(guessing.nearest, len(sy))
    distance, which = (np.asarray(a).reshape(len(open_), wanted) for a in cKDTree(sy).query(sx[open_], k=wanted))
    fits = ~((y[which] < low[open_, None]) | (y[which] > high[open_, None])).any(axis=2)
    cost = np.where(fits, 0.5 * np.log(np.maximum(_squares(sx[open_, None], sy[which]), costs.floor)), np.inf)
    own_square = _squares(sx[open_], sy[true[open_]])
    own = 0.5 * np.log(np.maximum(own_square, costs.floor))
    beaten = cost.min(axis=1) < own - EQUAL
    # all that are as near as the true one are among the nearest: their number is known
    complete = (distance[:, -1] > np.sqrt(own_square) * (1 + 1e-8)) | (wanted == len(sy))
    ties = (cost <= np.minimum(cost.min(axis=1), own)[:, None] + EQUAL).sum(axis=1)
    success[open_] = np.where(beaten, 0.0, np.where(complete, 1 / np.maximum(ties, 1), np.nan))
    rest = open_[~beaten & ~complete]
    for found in boxes(low, high, y, rest, guessing.sizes):
        at = found.rows
        success[at] = _best(
            found.bits, found.first, found.last, found.order, sx[at], sy, true[at], *costs, len(y), BITS
        )[1]
    return success


def _squares(one: Floats, other: Floats) -> Floats:
    return np.asarray(((one - other) ** 2).sum(axis=-1))


def _costs(known: Sequence[Knowledge | None], y: Floats) -> _Costs:
    fuzzy = [one for one in known if isinstance(one, FuzzyDraw)]
    if not fuzzy:
        return _Costs(np.zeros(len(known), dtype=np.int64), np.array([0.5]), np.ones((len(y), 1)), 1e-300)
    found = list(dict.fromkeys(fuzzy))
    draw = np.array([found.index(one) if isinstance(one, FuzzyDraw) else -1 for one in known], dtype=np.int64)
    power = np.array([min(1 / (one.m2 - 1), STEEPEST) if one.m2 > 1 else STEEPEST for one in found])
    size = np.empty((len(y), len(found)))
    for g in range(len(found)):
        values = np.nan_to_num(y[:, : len(known)][:, draw == g], nan=np.inf)
        _, index, times = np.unique(values, axis=0, return_inverse=True, return_counts=True)
        size[:, g] = times[index.ravel()]
    # the floor of `memberships`: a record at a centre belongs to it
    return _Costs(draw, power, size, 1e-24)


@compiled
def _best(
    bits: Ints, first: Ints, last: Ints, order: Ints, sx: Floats, sy: Floats, true: Ints,
    draw: Ints, power: Floats, size: Floats, floor: float, few: int, wide: int,
) -> tuple[Ints, Floats]:  # fmt: skip
    """Count the candidates and judge the guess among them, or put that off (nan) with more candidates than `few`."""
    n, q, draws = len(first), sx.shape[1], len(power)
    count, success = np.zeros(n, dtype=np.int64), np.zeros(n)
    apart = np.zeros(draws)
    for i in range(n):
        for w in range(first[i], last[i] + 1):
            x = bits[i, w]
            x = x - ((x >> 1) & 0x5555555555555555)
            x = (x & 0x3333333333333333) + ((x >> 2) & 0x3333333333333333)
            x = (x + (x >> 4)) & 0x0F0F0F0F0F0F0F0F
            x = x + (x >> 8)
            x = x + (x >> 16)
            count[i] += (x + (x >> 32)) & 0x7F
        if true[i] < 0:
            continue
        if count[i] > few:
            success[i] = np.nan
            continue
        own, best, ties, beaten = 0.0, np.inf, 0, False
        # the cost of the true record, the least one, and how many records have that
        for sweep in range(3):
            if beaten:
                break
            for w in range(first[i], last[i] + 1):
                left = bits[i, w] if sweep else 1
                place = w * wide
                while left and not beaten:
                    while not left & 0xFF:
                        left >>= 8
                        place += 8
                    if left & 1:
                        row = order[place] if sweep else true[i]
                        for g in range(draws):
                            apart[g] = 0.0
                        for c in range(q):
                            if draw[c] >= 0:
                                apart[draw[c]] += (sx[i, c] - sy[row, c]) ** 2
                        cost = 0.0
                        for g in range(draws):
                            cost += power[g] * np.log(max(apart[g], floor)) + np.log(size[row, g])
                        if sweep == 0:
                            own = cost
                        elif sweep == 1:
                            best = min(best, cost)
                            beaten = cost < own - 1e-9
                        else:
                            ties += cost <= best + 1e-9
                    left >>= 1
                    place += 1
                if not sweep or beaten:
                    break
        if not beaten and ties:
            success[i] = 1.0 / ties
    return count, success
