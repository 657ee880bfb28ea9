"""How far the classes of a partition must be able to move so that nobody's value is estimated too closely.

For a set T of units and a union B of classes, the slack of the other units in B, sum over b of rest_b(T), lets x(T)
grow although the total of B stays: x(T) can reach x(T) + level iff sum over b in B of (d_b + rest_b(T)) >= level for
some other data set with class totals X + d. With the unit u of T that is largest in B, the level of a concentration
rule is at most the sum over b of ratio * x_u(b), so it suffices that

    d_b >= need_ub = max over T with u of (ratio x_u(b) - rest_b(T))     for the classes where this is positive,
    d_b >= -rest_b(m - 1 largest)                                        for the others,

which are bounds on d: one linear programme for all coalitions and unions at once. Downwards the same holds with the
distances to the upper bounds as slack.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.measures import Measure, ceiling
from tabprotect.query.audit.pieces import Pieces, Ranked
from tabprotect.query.audit.records import FREE, Records

__all__ = ["Needs", "Target", "Targets", "needs"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Side = Literal[1, -1]


@dataclass(frozen=True, eq=False)
class Target:
    """Classes that must be able to move together, for one unit, one rule and one side.

    Attributes
    ----------
    unit : int
    classes : ndarray of int
    needs : ndarray of int
        By how much, in units of 1/scale (> 0).
    """

    unit: int
    classes: Ints
    needs: Ints


@dataclass(frozen=True, eq=False)
class Targets:
    """All targets of one rule on one side.

    Attributes
    ----------
    unit : ndarray of int, shape (targets,)
    starts : ndarray of int, shape (targets + 1,)
        Where the classes of every target begin.
    classes, needs : ndarray of int
    """

    unit: Ints
    starts: Ints
    classes: Ints
    needs: Ints

    def __len__(self) -> int:
        return len(self.unit)

    def __getitem__(self, k: int) -> Target:
        part = slice(self.starts[k], self.starts[k + 1])
        return Target(int(self.unit[k]), self.classes[part], self.needs[part])


@dataclass(frozen=True, eq=False)
class Needs:
    """What one rule asks of all classes on one side.

    Attributes
    ----------
    measure : Measure
    side : {1, -1}
    room : ndarray of int, shape (classes,)
        How far a class may move against this side without breaking the protection of others.
    owner, unit, need : ndarray of int
        Pieces with a positive need: their class, their unit, the need.
    """

    measure: Measure
    side: Side
    room: Ints
    owner: Ints
    unit: Ints
    need: Ints

    def replaced(self, classes: Ints, part: Needs, n: int) -> Needs:
        """Return the needs with some classes judged anew (`part` speaks of these only); `n` classes in all."""
        room = np.zeros(n, np.int64)
        room[: len(self.room)] = self.room
        room[classes] = part.room
        keep = ~np.isin(self.owner, classes)
        return replace(
            self,
            room=room,
            owner=np.r_[self.owner[keep], classes[part.owner]],
            unit=np.r_[self.unit[keep], part.unit],
            need=np.r_[self.need[keep], part.need],
        )

    def targets(self, asked: Bools, spread: bool) -> Targets:
        """Return the classes to be looked at; where every unit has one record, the largest need of a class will do."""
        here = asked[self.owner]
        owner, unit, need = self.owner[here], self.unit[here], self.need[here]
        if not spread or self.measure.whole:
            order = np.lexsort((-need, owner))
            first = order[np.flatnonzero(np.r_[len(order) > 0, np.diff(owner[order]) != 0])] if len(order) else order
            return Targets(unit[first], np.arange(len(first) + 1), owner[first], need[first])
        order = np.argsort(unit, kind="stable")
        first = np.flatnonzero(np.r_[len(order) > 0, np.diff(unit[order]) != 0])
        return Targets(unit[order][first], np.r_[first, len(order)], owner[order], need[order])


def needs(records: Records, p: Pieces, measure: Measure, side: Side) -> Needs:
    """Judge some classes by one rule on one side; classes are numbered as in the pieces."""
    slack, cap = (p.below, p.above) if side > 0 else (p.above, p.below)
    if measure.whole:
        return _whole(p, Ranked.of(p, slack, 0), measure, side, cap, records)
    ranked = Ranked.of(p, slack, measure.members)
    level = np.minimum(measure.level(p.value), cap)
    rest = ranked.without()
    need = np.where(rest >= FREE, 0, level - rest)
    positive = need > 0
    if measure.share is not None and positive.any():
        positive &= _dominated(p, slack, np.minimum(ceiling(measure.share, p.value), cap), measure.members)[p.owner]
    return Needs(measure, side, ranked.beyond(measure.members - 1), p.owner[positive], p.unit[positive], need[positive])


def _dominated(p: Pieces, slack: Ints, level: Ints, members: int) -> Bools:
    """Which classes the (n, k) rule itself finds sensitive, known bounds considered.

    That is: the sum of the n largest (level + slack) is above the total slack.
    """
    infinite = slack >= FREE
    finite = np.where(infinite, 0, slack)
    together = np.zeros(p.n, np.int64)
    for where in p.largest(np.where(infinite, FREE + level, level + finite), members):
        together[p.owner[where]] += (level + finite)[where]
    return np.asarray((together > p.sums(finite)) & (p.sums(infinite.astype(np.int64)) <= members))


def _whole(p: Pieces, ranked: Ranked, measure: Measure, side: Side, cap: Ints, records: Records) -> Needs:
    """Judge by the threshold rule: classes of fewer than n units, and unions of them, must be able to move.

    A union B of fewer than n units in which class b has the largest contribution of a unit holds at most members -
    count(b) further units, none larger (where units have several records: none with a larger total).
    """
    count, n = p.count, p.n
    small = (count > 0) & (count <= measure.members)
    size = p.sums(np.abs(p.value))
    if records.spread:
        top = records.sizes[-measure.members :].sum()
        most = np.full(n, top, np.int64)
    else:
        largest = np.zeros(n, np.int64)
        for where in p.largest(np.abs(p.value), 1):
            largest[p.owner[where]] = np.abs(p.value[where])
        most = size + (measure.members - count) * largest
    bound = np.where(p.sums((cap >= FREE).astype(np.int64)) > 0, FREE, p.sums(np.where(cap >= FREE, 0, cap)))
    need = np.minimum(np.maximum(measure.level(np.where(small, most, 0)), 1), bound)
    owner = np.flatnonzero(small & (need > 0))
    room = np.where(small, 0, ranked.beyond(0))
    return Needs(measure, side, room, owner, np.full(len(owner), -1, np.int64), need[owner])
