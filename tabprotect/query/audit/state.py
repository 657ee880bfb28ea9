"""All that an auditor knows about the answers given so far, and how one more changes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.inference import Basis, Terms
from tabprotect.query.audit.measures import Measure, ceiling
from tabprotect.query.audit.needs import Needs, Side, needs
from tabprotect.query.audit.partition import Partition, Split
from tabprotect.query.audit.parts import Parts
from tabprotect.query.audit.pieces import Pieces, pieces
from tabprotect.query.audit.records import FREE, Intruder, Records
from tabprotect.query.audit.witnesses import Worlds
from tabprotect.query.audit.worlds import Box

__all__ = ["Knowledge", "State"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NONE = Worlds.of([])

SIDES: tuple[Side, Side] = (1, -1)

WORLDS = 20_000
"""Data sets remembered for every intruder."""

CARRIED = 10_000_000
"""Moves of classes that new query sets cut that are shared anew, in data sets that are carried over."""


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What one intruder is up against.

    Attributes
    ----------
    name : str
    hidden : ndarray of bool, shape (records,), optional
        Records that he does not know; None where he knows none.
    box : Box
        How far every class can move within known bounds.
    needs : tuple of Needs
        For every rule and side.
    worlds : Worlds
        Other data sets that give the same answers and that he cannot exclude.
    """

    name: str
    hidden: Bools | None
    box: Box
    needs: tuple[Needs, ...]
    worlds: Worlds = NONE


@dataclass(frozen=True, eq=False)
class State:
    """The partition, the system M x = t, and what every intruder is up against.

    Attributes
    ----------
    partition : Partition
    basis : Basis, optional
        Of the rows of M; None where that became too large.
    totals : tuple of int
        The answers t of the basis, in units of 1/scale.
    knowledge : tuple of Knowledge
        The public first.
    """

    partition: Partition
    basis: Basis | None
    totals: tuple[int, ...]
    knowledge: tuple[Knowledge, ...]

    @classmethod
    def start(cls, records: Records, measures: list[Measure], intruders: tuple[Intruder, ...]) -> State:
        """Return the state before any answer."""
        partition = Partition.whole(len(records))
        known: list[tuple[str, Bools | None]] = [("everybody", None)]
        for intruder in intruders:
            hidden = np.ones(len(records), bool)
            hidden[list(intruder.known)] = False
            known.append((intruder.name, hidden))
        return cls(
            partition,
            Basis.empty(),
            (),
            tuple(
                Knowledge(name, hidden, *_judged(records, partition.class_of, np.zeros(1, np.int64), measures, hidden))
                for name, hidden in known
            ),
        )

    def with_query(
        self, records: Records, members: Bools, parts: Parts | None = None, total: int | None = None
    ) -> State:
        """Return the state as it would be if the sum over `members` were answered, with worlds carried over.

        With `parts` the partition and `members` are over parts, and `total` is the sum.
        """
        partition, basis, split = self._refined(members)
        changed = np.r_[split.parents, split.children]
        return State(
            partition,
            basis,
            (*self.totals, int(records.values[members].sum()) if total is None else total),
            tuple(_again(k, records, partition, split, changed, parts) for k in self.knowledge),
        )

    def without_knowledge(self, members: Bools) -> State:
        """Return what tells which sums follow, as it would be if the sum over `members` were answered."""
        partition, basis, _ = self._refined(members)
        return State(partition, basis, (*self.totals, 0), ())

    def _refined(self, members: Bools) -> tuple[Partition, Basis | None, Split]:
        partition, split = self.partition.refined(members)
        return partition, None if self.basis is None else self.basis.with_last(partition).if_kept(), split

    def follows(self, members: Bools) -> Terms | None:
        """Return the exact combination of the basis that gives a sum, or None where it is not inferable."""
        if not members.any():
            return []
        support = self.partition.covers(members)
        if support is None or self.basis is None:
            return None
        return self.basis.combination(self.partition, support)

    def follow(self, sets: Sequence[Bools]) -> list[Terms | None]:
        """Return for every sum the exact combination of the basis that gives it, or None; see `follows`."""
        groups = Groups.of(sets) if len(sets) > 1 else None
        if groups is None:
            return [self.follows(members) for members in sets]
        _, first, small = self._in_parts(groups)
        return small.follow_all(groups.label[first], groups.n)

    def follow_all(self, label: Ints, n: int) -> list[Terms | None]:
        """Return what `follows` does for n disjoint query sets, by the query set of every record (-1 for none)."""
        class_of, classes = self.partition.class_of, self.partition.n_classes
        order = np.argsort(class_of, kind="stable")
        first = np.searchsorted(class_of[order], np.arange(classes))
        low, high = (end.reduceat(label[order], first) for end in (np.minimum, np.maximum))
        torn = np.zeros(n + 1, bool)
        torn[label[((low != high) | ~self.partition.asked)[class_of]]] = True
        empty = np.bincount(label + 1, minlength=n + 1)[1:] == 0
        if self.basis is None:
            return [[] if empty[k] else None for k in range(n)]
        whole = np.where((low == high) & ~torn[low], low, -1)
        found = self.basis.combinations(self.partition, whole, n)
        return [[] if empty[k] else None if torn[k] else found[k] for k in range(n)]

    def _in_parts(self, groups: Groups) -> tuple[Ints, Ints, State]:
        """Return the part of every record, one record of every part, and the state with one record for every part."""
        p = self.partition
        atom_of, first = p.atoms(groups)
        return atom_of, first, replace(self, partition=Partition(p.class_of[first], p.bits, p.n_queries))

    def with_queries(self, records: Records, sets: Sequence[Bools]) -> State:
        """Return the state as it would be if several sums were answered, those left out that follow from others.

        Disjoint query sets, as those of groups are, cut the classes all at once; then only the parts are counted.
        """
        groups = Groups.of(sets) if len(sets) > 1 else None
        if groups is None:
            state = self
            for members in sets:
                if len(sets) == 1 or state.follows(members) is None:
                    state = state.with_query(records, members)
            return state
        atom_of, first, small = self._in_parts(groups)
        label, sums = groups.label[first].astype(np.int64), groups.sums(records.values).tolist()
        query, basis, (partition, splits) = small._numbered(label, groups.n)
        totals = (*self.totals, *(total for total, q in zip(sums, query, strict=True) if q >= 0))
        changed = np.unique(np.concatenate([np.zeros(0, np.int64), *(np.r_[s.parents, s.children] for s in splits)]))
        whole = replace(partition, class_of=partition.class_of[atom_of])
        knowledge = []
        for known in self.knowledge:
            new = _judged_again(known, records, whole, changed)
            worlds = known.worlds
            if len(worlds):
                steps = _steps(small.partition.class_of, label[:, None] == np.flatnonzero(query >= 0), splits)
                for class_of, split in steps:
                    bounds = partial(_coarser, new.box, partition.class_of, class_of, len(split.inside))
                    worlds = worlds.carried(split, bounds, CARRIED // len(splits))
            knowledge.append(replace(new, worlds=worlds))
        return State(whole, basis, totals, tuple(knowledge))

    def _numbered(self, label: Ints, n: int) -> tuple[Ints, Basis | None, tuple[Partition, list[Split]]]:
        """Add n disjoint query sets to the partition and the basis, but for those that follow from others.

        Returns
        -------
        query : ndarray of int
            The query that each becomes, -1 for none.
        basis : Basis or None
        refined : tuple of Partition and list of Split
            See `Partition.refined_by`.
        """
        first = self.partition.n_queries
        everything = first + np.arange(n)
        follows = np.bincount(label + 1, minlength=n + 1)[1:] == 0
        basis = self.basis
        refined = None
        if basis is not None:
            refined = self.partition.refined_by(label, everything)
            basis, dependent = basis.with_rows(refined[0], first)
            follows[np.array(dependent, np.int64) - first] = True
            number = np.r_[np.arange(first), first + np.cumsum(~follows) - 1]
            basis = basis.renumbered(number).if_kept()
        query = np.where(follows, -1, first + np.cumsum(~follows) - 1)
        if refined is None or follows.any():
            refined = self.partition.refined_by(label, query)
        return query, basis, refined

    def with_partition(
        self, records: Records, partition: Partition, basis: Basis | None, totals: tuple[int, ...]
    ) -> State:
        """Return the state with another partition and its answers, everything judged anew."""
        everything = np.arange(partition.n_classes)
        knowledge = []
        for k in self.knowledge:
            rules = [need.measure for need in k.needs[::2]]
            box, judged = _judged(records, partition.class_of, everything, rules, k.hidden)
            knowledge.append(Knowledge(k.name, k.hidden, box, judged))
        return State(partition, basis, totals, tuple(knowledge))

    def forgetting(self) -> State:
        """Return the state without worlds, for what needs no proofs."""
        return replace(self, knowledge=tuple(replace(k, worlds=NONE) for k in self.knowledge))

    def remembering(self, worlds: list[Worlds]) -> State:
        """Return the state with further worlds for every intruder, the oldest forgotten."""
        return replace(
            self,
            knowledge=tuple(
                replace(k, worlds=k.worlds.plus(new).newest(WORLDS))
                for k, new in zip(self.knowledge, worlds, strict=True)
            ),
        )


def _judged(
    records: Records,
    class_of: npt.NDArray[np.int32],
    classes: Ints,
    measures: list[Measure],
    hidden: Bools | None,
    parts: Parts | None = None,
) -> tuple[Box, tuple[Needs, ...]]:
    """Judge some classes; unit by unit only those that may be sensitive at all."""
    totals, large = _screened(records, class_of, classes, measures, hidden, parts)
    small = np.flatnonzero(~large)
    p = pieces(records, class_of, classes[small], hidden, parts)
    lower, upper = -totals, np.full(len(classes), FREE)
    lower[small], upper[small] = -_total(p, p.below), _total(p, p.above)
    found = []
    for m in measures:
        for side in SIDES:
            part = needs(records, p, m, side)
            room = np.full(len(classes), FREE)
            if side > 0:
                # the largest units of all are at least as large as those of a class
                most = records.sizes[::-1][: 0 if m.whole else m.members - 1]
                room = totals - int(most.sum()) - (0 if m.share is None else int(ceiling(m.share, most).sum()))
            beside = np.zeros(len(classes), np.int64)
            room[small], beside[small] = part.room, part.beside
            found.append(replace(part, room=room, beside=beside, owner=small[part.owner]))
    return Box(lower, upper), tuple(found)


def _screened(
    records: Records,
    class_of: npt.NDArray[np.int32],
    classes: Ints,
    measures: list[Measure],
    hidden: Bools | None,
    parts: Parts | None = None,
) -> tuple[Ints, Bools]:
    """Return class totals, and which of them are so large that no unit can stand out, whoever is in the class.

    Only where values are at least 0 and nothing else is known. With U_1 >= U_2 >= ... the totals of all units over all
    records, a class of at least U_1 + ... + U_m + ratio U_1 has a rest of at least ratio U_1 without any m units, and
    one of at least (m + 1) U_1 has more than m units.
    """
    if not (records.nonnegative and records.unbounded and len(records)):
        return np.zeros(len(classes), np.int64), np.zeros(len(classes), bool)
    if parts is not None:
        known, values = class_of, parts.totals(hidden)
    else:
        known = class_of if hidden is None else class_of[hidden]
        values = records.values if hidden is None else records.values[hidden]
    n = int(class_of.max(initial=0)) + 1
    totals = np.bincount(known, weights=values, minlength=max(n, int(classes.max(initial=0)) + 1)).astype(np.int64)
    sizes = records.sizes[::-1]
    least = 1
    for m in measures:
        top = int(sizes[: m.members].sum())
        least = max(least, top + int(m.level(sizes[:1])[0]), (m.members + 1) * int(sizes[0]))
    return totals[classes], totals[classes] >= least


def _total(p: Pieces, slack: Ints) -> Ints:
    infinite = slack >= FREE
    return np.where(p.sums(infinite.astype(np.int64)) > 0, FREE, p.sums(np.where(infinite, 0, slack)))


def _again(
    k: Knowledge, records: Records, partition: Partition, split: Split, changed: Ints, parts: Parts | None
) -> Knowledge:
    new = _judged_again(k, records, partition, np.sort(changed), parts)
    return replace(new, worlds=k.worlds.carried(split, lambda: new.box, CARRIED))


def _judged_again(
    k: Knowledge, records: Records, partition: Partition, order: Ints, parts: Parts | None = None
) -> Knowledge:
    """Judge some classes (ascending) again; the worlds are those of before."""
    n = partition.n_classes
    box, new = _judged(records, partition.class_of, order, [m.measure for m in k.needs[::2]], k.hidden, parts)
    lower, upper = np.zeros(n, np.int64), np.zeros(n, np.int64)
    lower[: len(k.box.lower)], upper[: len(k.box.upper)] = k.box.lower, k.box.upper
    lower[order], upper[order] = box.lower, box.upper
    needs = tuple(old.replaced(order, part, n) for old, part in zip(k.needs, new, strict=True))
    return replace(k, box=Box(lower, upper), needs=needs)


def _steps(class_of: npt.NDArray[np.int32], sets: Bools, splits: list[Split]) -> Iterator[tuple[Ints, Split]]:
    """Return how one query set after another cuts the classes: the class of every part, and the split."""
    here = class_of.astype(np.int64)
    for members, split in zip(sets.T, splits, strict=True):
        number = np.arange(len(split.inside))
        number[split.parents] = split.children
        here = np.where(members, number[here], here)
        yield here, split


def _coarser(box: Box, fine: npt.NDArray[np.int32], coarse: Ints, n: int) -> Box:
    """Return the bounds of n classes from those of finer ones; both are given for the same parts."""
    ends = []
    for bound, sign in ((-box.lower, -1), (box.upper, 1)):
        part = bound[fine]
        infinite = part >= FREE
        # floats are exact below 2^53
        finite = np.bincount(coarse, np.where(infinite, 0, part), n).astype(np.int64)
        ends.append(sign * np.where(np.bincount(coarse, infinite, n) > 0, FREE, finite))
    return Box(ends[0], ends[1])
