"""All that an auditor knows about the answers given so far, and how one more changes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.combinations import Terms
from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.inference import Basis
from tabprotect.query.audit.knowledge import NONE, Knowledge, coarser, judged, judged_again
from tabprotect.query.audit.measures import Measure
from tabprotect.query.audit.options import DEFAULTS
from tabprotect.query.audit.partition import Partition, Split
from tabprotect.query.audit.parts import Parts
from tabprotect.query.audit.records import Intruder, Records
from tabprotect.query.audit.witnesses import Worlds

__all__ = ["State"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

WORLDS = 20_000
"""Data sets remembered for every intruder."""

CARRIED = 10_000_000
"""Moves of classes that new query sets cut that are shared anew, in data sets that are carried over."""


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
    rank : int
        Up to which the basis is kept.
    """

    partition: Partition
    basis: Basis | None
    totals: tuple[int, ...]
    knowledge: tuple[Knowledge, ...]
    rank: int = DEFAULTS.rank

    @classmethod
    def start(
        cls,
        records: Records,
        measures: list[Measure],
        intruders: tuple[Intruder, ...],
        rank: int = DEFAULTS.rank,
    ) -> State:
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
                Knowledge(name, hidden, *judged(records, partition.class_of, np.zeros(1, np.int64), measures, hidden))
                for name, hidden in known
            ),
            rank,
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
            self.rank,
        )

    def without_knowledge(self, members: Bools) -> State:
        """Return what tells which sums follow, as it would be if the sum over `members` were answered."""
        partition, basis, _ = self._refined(members)
        return State(partition, basis, (*self.totals, 0), (), self.rank)

    def _refined(self, members: Bools) -> tuple[Partition, Basis | None, Split]:
        partition, split = self.partition.refined(members)
        return partition, None if self.basis is None else self.basis.with_last(partition).up_to(self.rank), split

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
            new = judged_again(known, records, whole, changed)
            worlds = known.worlds
            if len(worlds):
                steps = _steps(small.partition.class_of, label[:, None] == np.flatnonzero(query >= 0), splits)
                for class_of, split in steps:
                    bounds = partial(coarser, new.box, partition.class_of, class_of, len(split.inside))
                    worlds = worlds.carried(split, bounds, CARRIED // len(splits))
            knowledge.append(replace(new, worlds=worlds))
        return State(whole, basis, totals, tuple(knowledge), self.rank)

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
            basis = basis.renumbered(number).up_to(self.rank)
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
            box, asked = judged(records, partition.class_of, everything, rules, k.hidden)
            knowledge.append(Knowledge(k.name, k.hidden, box, asked))
        return State(partition, basis, totals, tuple(knowledge), self.rank)

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


def _again(
    k: Knowledge, records: Records, partition: Partition, split: Split, changed: Ints, parts: Parts | None
) -> Knowledge:
    new = judged_again(k, records, partition, np.sort(changed), parts)
    return replace(new, worlds=k.worlds.carried(split, lambda: new.box, CARRIED))


def _steps(class_of: npt.NDArray[np.int32], sets: Bools, splits: list[Split]) -> Iterator[tuple[Ints, Split]]:
    """Return how one query set after another cuts the classes: the class of every part, and the split."""
    here = class_of.astype(np.int64)
    for members, split in zip(sets.T, splits, strict=True):
        number = np.arange(len(split.inside))
        number[split.parents] = split.children
        here = np.where(members, number[here], here)
        yield here, split
