"""How far the classes of a partition must be able to move so that nobody's value is estimated too closely.

For a set T of units, the total x_T(b) in class b can grow by min(d_b + rest_b(T), cap_b(T)) in another data set with
class totals X + d: rest_b(T) is the slack of the other units of b, and cap_b(T) the distance of T to its known bounds.
Downwards the same holds with slack and caps exchanged.

*The largest of T (p%, pq), at most m units.* The level of T is min(ratio x_u, cap_u) with its largest unit u. Let

    l_ub = min(ratio x_u(b) + S_u, cap_u(b)),    S_u = sum over records i of u of (ratio x_i - cap_i)+

where u has several records (S_u = 0 where it has one): what is out of reach in one class is asked of the others, and
the l_ub add up to the level at least. So it suffices that

    d_b >= l_ub - max over T with u of rest_b(T) =: need_ub     for the classes of u, or 0 where that is not positive,
    d_b >= -rest_b(m - 1 largest)                               for the others,

which are bounds on d: one linear programme for all coalitions and unions at once.

*All of T ((n, k) rule), at most n units.* The level is the sum of min(share x_t, cap_t), and l_tb as above with the
share. With D_b(k) the maximum over k units of the sum of l_tb, less the slack of all others,

    d_b >= D_b(n)        for the classes of one unit of T, one of those with the most in a class where D_b(n) > 0,
    d_b >= D_b(n - 1)    for all others; this may be positive: then these classes have to move, too.

Where D_b(n) <= 0 in all classes of T no class has to move.
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
        How far a class may move against this side without breaking the protection of others; below 0 it has to move
        to this side by as much.
    beside : ndarray of int, shape (classes,)
        By how much a class has to move at least (>= 0) that has records of a target's unit and no need of it.
    owner, unit, need : ndarray of int
        Pieces with a positive need: their class, their unit, the need.
    """

    measure: Measure
    side: Side
    room: Ints
    beside: Ints
    owner: Ints
    unit: Ints
    need: Ints

    def replaced(self, classes: Ints, part: Needs, n: int) -> Needs:
        """Return the needs with some classes judged anew (`part` speaks of these only); `n` classes in all."""
        room, beside = np.zeros(n, np.int64), np.zeros(n, np.int64)
        room[: len(self.room)], beside[: len(self.beside)] = self.room, self.beside
        room[classes], beside[classes] = part.room, part.beside
        keep = ~np.isin(self.owner, classes)
        return replace(
            self,
            room=room,
            beside=beside,
            owner=np.r_[self.owner[keep], classes[part.owner]],
            unit=np.r_[self.unit[keep], part.unit],
            need=np.r_[self.need[keep], part.need],
        )

    def targets(self, asked: Bools, spread: bool) -> Targets:
        """Return the classes to be looked at; where every unit has one record, the largest need of a class will do."""
        here = asked[self.owner]
        owner, unit, need = self.owner[here], self.unit[here], self.need[here]
        if not spread:
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
    ratio = measure.ratio if measure.share is None else measure.share
    level = np.minimum(ceiling(ratio, p.value) + records.shortfalls(ratio, side)[p.unit], cap)
    if measure.share is not None:
        return _share(p, slack, level, measure, side)
    ranked = Ranked.of(p, slack, measure.members)
    rest = ranked.without()
    need = np.where(rest >= FREE, 0, level - rest)
    positive = need > 0
    room, beside = ranked.beyond(measure.members - 1), np.zeros(p.n, np.int64)
    return Needs(measure, side, room, beside, p.owner[positive], p.unit[positive], need[positive])


def _share(p: Pieces, slack: Ints, level: Ints, measure: Measure, side: Side) -> Needs:
    """Judge by the (n, k) rule, known bounds considered."""
    infinite = slack >= FREE
    finite = np.where(infinite, 0, slack)
    free, total = p.sums(infinite.astype(np.int64)), p.sums(finite)
    size = level + finite
    excess = [-total]
    for where in p.largest(np.where(infinite, FREE + level, size), measure.members):
        more = np.zeros(p.n, np.int64)
        more[p.owner[where]] = size[where]
        excess.append(excess[-1] + more)
    excess += excess[-1:] * (measure.members + 1 - len(excess))
    last = np.where(free > measure.members, -FREE, excess[measure.members])
    before = np.where(free > measure.members - 1, -FREE, excess[measure.members - 1])
    # a set of units that exceeds what the others leave has one of these, the one with the most of it
    most = np.where(free[p.owner] > 0, infinite, measure.members * size > total[p.owner])
    target = (last[p.owner] > 0) & most
    need = last[p.owner][target]
    return Needs(measure, side, -before, np.maximum(last, 0), p.owner[target], p.unit[target], need)


def _whole(p: Pieces, ranked: Ranked, measure: Measure, side: Side, cap: Ints, records: Records) -> Needs:
    """Judge by the threshold rule: classes of fewer than n units, and unions of them, must be able to move.

    Where every unit has one record, a union B of fewer than n units in which class b has the largest contribution holds
    at most members - count(b) further units, none larger, so that B moves far enough where b does by the level of so
    much. Where units have several records, the unit u with the most in B has x(B) / members there at least: B moves far
    enough where every small class b of u does by the level of members times x(b). Other small classes do not move
    against this side.

    Where known bounds leave b less than that, others would have to move with it, and which these are is not looked at:
    b is asked for more than it can.
    """
    count, n = p.count, p.n
    small = (count > 0) & (count <= measure.members)
    size = p.sums(np.abs(p.value))
    if records.spread:
        most = size * measure.members
    else:
        largest = np.zeros(n, np.int64)
        for where in p.largest(np.abs(p.value), 1):
            largest[p.owner[where]] = np.abs(p.value[where])
        most = size + (measure.members - count) * largest
    bound = np.where(p.sums((cap >= FREE).astype(np.int64)) > 0, FREE, p.sums(np.where(cap >= FREE, 0, cap)))
    level = np.maximum(measure.level(np.where(small, most, 0)), 1)
    # nothing is left to be asked of a class whose value and bound are both 0, and of one that no other can join
    alone = (count == measure.members) & (not records.spread)
    nothing = (size == 0) & (bound == 0) & records.nonnegative
    need = np.where((bound < level) & ~alone & ~nothing, bound + 1, np.minimum(level, bound))
    room, beside = np.where(small, 0, ranked.beyond(0)), np.zeros(n, np.int64)
    if records.spread:
        pieces = np.flatnonzero((small & (need > 0))[p.owner])
        owner = p.owner[pieces]
        return Needs(measure, side, room, beside, owner, p.unit[pieces], need[owner])
    owner = np.flatnonzero(small & (need > 0))
    return Needs(measure, side, room, beside, owner, np.full(len(owner), -1, np.int64), need[owner])
