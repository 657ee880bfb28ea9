"""All that an auditor knows about the answers given so far, and how one more changes it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.inference import Echelon
from tabprotect.query.audit.measures import Measure
from tabprotect.query.audit.needs import Needs, Side, needs
from tabprotect.query.audit.partition import Partition, Split
from tabprotect.query.audit.pieces import Pieces, pieces
from tabprotect.query.audit.records import FREE, Intruder, Records
from tabprotect.query.audit.worlds import Box, World, lifted

__all__ = ["Knowledge", "State"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

SIDES: tuple[Side, Side] = (1, -1)

WORLDS = 200
"""Data sets remembered for every intruder."""


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
    worlds : tuple of World
        Other data sets that give the same answers and that he cannot exclude.
    """

    name: str
    hidden: Bools | None
    box: Box
    needs: tuple[Needs, ...]
    worlds: tuple[World, ...] = ()


@dataclass(frozen=True, eq=False)
class State:
    """The partition, the system M x = t, and what every intruder is up against.

    Attributes
    ----------
    partition : Partition
    echelon : Echelon, optional
        Of M; None where that became too large.
    totals : tuple of int
        The answers t of the basis, in units of 1/scale.
    knowledge : tuple of Knowledge
        The public first.
    """

    partition: Partition
    echelon: Echelon | None
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
            Echelon.empty(1),
            (),
            tuple(
                Knowledge(name, hidden, *_judged(records, partition.class_of, np.zeros(1, np.int64), measures, hidden))
                for name, hidden in known
            ),
        )

    def with_query(self, records: Records, members: Bools) -> State:
        """Return the state as it would be if the sum over `members` were answered, with worlds carried over."""
        partition, split = self.partition.refined(members)
        echelon = None if self.echelon is None else self.echelon.divided(split.parents)
        if echelon is not None and echelon.too_large():
            echelon = None
        elif echelon is not None and not echelon.depends(split.inside):
            echelon = echelon.extended(split.inside)
        changed = np.r_[split.parents, split.children]
        return State(
            partition,
            echelon,
            (*self.totals, int(records.values[members].sum())),
            tuple(_again(k, records, partition, split, changed) for k in self.knowledge),
        )

    def with_partition(
        self, records: Records, partition: Partition, echelon: Echelon | None, totals: tuple[int, ...]
    ) -> State:
        """Return the state with another partition and its answers, everything judged anew."""
        everything = np.arange(partition.n_classes)
        knowledge = []
        for k in self.knowledge:
            rules = [need.measure for need in k.needs[::2]]
            box, judged = _judged(records, partition.class_of, everything, rules, k.hidden)
            knowledge.append(Knowledge(k.name, k.hidden, box, judged))
        return State(partition, echelon, totals, tuple(knowledge))

    def remembering(self, worlds: list[list[World]]) -> State:
        """Return the state with further worlds for every intruder, the oldest forgotten."""
        return replace(
            self,
            knowledge=tuple(
                replace(k, worlds=(*k.worlds, *new)[-WORLDS:]) for k, new in zip(self.knowledge, worlds, strict=True)
            ),
        )


def _judged(
    records: Records,
    class_of: npt.NDArray[np.int32],
    classes: Ints,
    measures: list[Measure],
    hidden: Bools | None,
) -> tuple[Box, tuple[Needs, ...]]:
    p = pieces(records, class_of, classes, hidden)
    box = Box(-_total(p, p.below), _total(p, p.above))
    return box, tuple(needs(records, p, m, side) for m in measures for side in SIDES)


def _total(p: Pieces, slack: Ints) -> Ints:
    infinite = slack >= FREE
    return np.where(p.sums(infinite.astype(np.int64)) > 0, FREE, p.sums(np.where(infinite, 0, slack)))


def _again(k: Knowledge, records: Records, partition: Partition, split: Split, changed: Ints) -> Knowledge:
    n = partition.n_classes
    order = np.sort(changed)
    box, new = _judged(records, partition.class_of, order, [m.measure for m in k.needs[::2]], k.hidden)
    lower, upper = np.zeros(n, np.int64), np.zeros(n, np.int64)
    lower[: len(k.box.lower)], upper[: len(k.box.upper)] = k.box.lower, k.box.upper
    lower[order], upper[order] = box.lower, box.upper
    whole = Box(lower, upper)
    carried = (lifted(world, split, whole, split.inside) for world in k.worlds)
    return replace(
        k,
        box=whole,
        needs=tuple(old.replaced(order, part, n) for old, part in zip(k.needs, new, strict=True)),
        worlds=tuple(world for world in carried if world is not None),
    )
