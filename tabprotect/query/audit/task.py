"""Data sets that meet the demands of one intruder's knowledge, and why there are none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.decision import Denial, combined
from tabprotect.query.audit.knowledge import NONE, Knowledge
from tabprotect.query.audit.needs import Needs, Target, Targets
from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.records import FREE, Records
from tabprotect.query.audit.search import Search
from tabprotect.query.audit.state import State
from tabprotect.query.audit.unions import plain, unions_with
from tabprotect.query.audit.witnesses import Worlds, met
from tabprotect.query.audit.worlds import Box, World, demands

__all__ = ["BATCH", "LARGEST_BATCH", "Task"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

BATCH: Final = 16
"""Targets that are looked at together in large systems, to begin with."""

LARGEST_BATCH: Final = 128
"""Targets that are looked at together at most."""


@dataclass(eq=False)
class Task:
    """Looks for data sets that meet the demands of one intruder's knowledge.

    Attributes
    ----------
    state : State
    records : Records
    k : Knowledge
    search : Search
    explain : bool
        Whether a denial says what could be inferred.
    found : Worlds
        New ones.
    targets : int
        Demands looked at.
    """

    state: State
    records: Records
    k: Knowledge
    search: Search
    explain: bool = True
    found: Worlds = NONE
    targets: int = 0
    classes_of: dict[int, Ints] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        state: State,
        records: Records,
        k: Knowledge,
        work: int,
        explain: bool = True,
        options: Options = DEFAULTS,
    ) -> Self:
        """Begin with what one intruder knows."""
        # classes in no query set may move as they like, which helps nobody else
        outside = ~state.partition.asked
        held = Box(np.where(outside, 0, k.box.lower), np.where(outside, 0, k.box.upper))
        return cls(state, records, k, Search(state.partition, held, work, options), explain)

    def run(self) -> tuple[Denial, str] | None:
        """Look at every demand; return why not all are met."""
        asked = self.state.partition.asked
        for need in self.k.needs:
            targets = need.targets(asked, self.records.spread)
            self.targets += len(targets)
            if not len(targets):
                continue
            done = self._met(self.k.worlds, need, targets) | self._met(self.found, need, targets)
            why = self._open(need, targets, done) if not done.all() else None
            if why is not None:
                return why
        return None

    def _open(self, need: Needs, targets: Targets, done: Bools) -> tuple[Denial, str] | None:
        """Look for worlds for the targets that are not met by a known one."""
        if not self.search.small:
            fixed = self._determined(targets, ~done)
            if fixed is not None:
                return self._why(need, fixed, Denial.INFERABLE)
            return self._together(need, targets, done)
        for i in np.flatnonzero(~done).tolist():
            if done[i]:
                continue
            world = self._cover(need, targets[i])
            if world is not None:
                self._keep(world, need, targets, done)
            if not done[i] and (why := self._each_union(need, targets[i])) is not None:
                return why
        return None

    def _keep(self, world: World, need: Needs, targets: Targets, done: Bools) -> None:
        new = Worlds.of([world])
        self.found = self.found.plus(new)
        done |= self._met(new, need, targets)

    def _met(self, worlds: Worlds, need: Needs, targets: Targets) -> Bools:
        partition = self.state.partition
        return met(worlds, need, targets, self.records, partition.class_of, self.k.box, partition.asked)

    def _determined(self, targets: Targets, which: Bools) -> Ints | None:
        """Return a class of a target whose sum follows exactly, if there is one."""
        if self.state.basis is None:
            return None
        classes = np.unique(targets.classes[np.repeat(which, np.diff(targets.starts))])
        fixed = self.state.basis.determined(self.state.partition, classes)
        return classes[fixed][:1] if fixed.any() else None

    def _together(self, need: Needs, targets: Targets, done: Bools) -> tuple[Denial, str] | None:
        """Look for worlds that protect many targets at once: twice as many after a success, half of them otherwise.

        Ends at the first single target for which there is none.
        """
        left, size, most = np.flatnonzero(~done), BATCH, LARGEST_BATCH
        while len(left := left[~done[left]]):
            if not self.search.left:
                return Denial.UNDECIDED, "the permitted work is used up"
            batch = left[:size]
            box, centres = self._demanded(need, [targets[i] for i in batch.tolist()])
            world = self.search.near(box, centres)
            if world is None and len(batch) == 1:
                world = self._cover(need, targets[int(batch[0])])
            if world is not None:
                self._keep(world, need, targets, done)
            if done[batch].all():
                # sizes near one that was too large are come back to little by little
                size, most = min(2 * len(batch), most), min(most + most // 4 + 1, LARGEST_BATCH)
            elif len(batch) > 1:
                size = most = len(batch) // 2
            elif (why := self._each_union(need, targets[int(batch[0])])) is not None:
                return why
            else:
                left = left[1:]
        return None

    def _demanded(self, need: Needs, targets: list[Target]) -> tuple[Box, Ints]:
        """Return the bounds of a world that protects some targets, and the classes that must move."""
        box = Box(self.search.box.lower, self.search.box.upper)
        for target in targets:
            box = demands(need, target, box, self._elsewhere(need, target))
        return box, np.unique(np.concatenate([target.classes for target in targets]))

    def _cover(self, need: Needs, target: Target) -> World | None:
        box, centres = self._demanded(need, [target])
        if self.search.small:
            return self.search.whole(box)
        return self.search.priced(box, centres)

    def _elsewhere(self, need: Needs, target: Target) -> Ints:
        if not self.records.spread or need.measure.whole:
            return np.zeros(0, np.int64)
        if target.unit not in self.classes_of:
            classes = self.state.partition.class_of[self.records.of_unit(target.unit)]
            self.classes_of[target.unit] = np.unique(classes).astype(np.int64)
        mine = self.classes_of[target.unit]
        return mine[~np.isin(mine, target.classes)]

    def _each_union(self, need: Needs, target: Target) -> tuple[Denial, str] | None:
        owner = int(target.classes[0])
        if not self.search.left:
            return Denial.UNDECIDED, "the permitted work is used up"
        if self._fixed(target.classes):
            return self._why(need, target.classes, Denial.INFERABLE)
        unions = self._unions(need, owner)
        if unions is None and not self.search.small:
            n = self.state.partition.n_classes
            return Denial.UNDECIDED, f"no other data set was found near a sensitive class among {n} classes"
        if unions is None:
            return self._why(need, target.classes, Denial.NARROW)
        for classes, amount in unions:
            if self._can_move(classes, need.side, amount):
                continue
            world = self.search.whole(self.search.box, (classes, need.side * amount))
            if world is None:
                why = Denial.INFERABLE if self._fixed(classes) else Denial.NARROW
                return self._why(need, classes, why)
            self.found = self.found.plus(Worlds.of([world]))
        return None

    def _can_move(self, classes: Ints, side: int, amount: int) -> bool:
        """Whether the sum over some classes moves by an amount in a known world."""
        inside = np.zeros(self.state.partition.n_classes, bool)
        inside[classes] = True
        for worlds in (self.k.worlds, self.found):
            moved = worlds.sums(np.where(inside[worlds.index], worlds.moves, 0))
            if np.any(side * moved >= amount * worlds.denominators):
                return True
        return False

    def _unions(self, need: Needs, owner: int) -> Iterator[tuple[Ints, int]] | None:
        if not plain(self.records) or not self.search.small:
            return None
        asked = np.flatnonzero(self.state.partition.asked)
        class_of, hidden = self.state.partition.class_of, self.k.hidden
        unknown = np.ones(len(class_of), bool) if hidden is None else hidden
        values = [-np.sort(-self.records.values[(class_of == c) & unknown]) for c in asked.tolist()]
        return unions_with(owner, asked, values, need.measure, need.side)

    def _fixed(self, classes: Ints) -> bool:
        """Whether the sum over some classes follows exactly."""
        return self._terms(classes) is not None

    def _terms(self, classes: Ints) -> list[tuple[int, Fraction]] | None:
        row = np.zeros(self.state.partition.n_classes, bool)
        row[classes] = True
        basis = self.state.basis
        return None if basis is None else basis.combination(self.state.partition, row)

    def _why(self, need: Needs, classes: Ints, denial: Denial) -> tuple[Denial, str]:
        """Say what could be inferred, with the interval of the sum for this intruder."""
        if not self.explain:
            return denial, ""
        records, partition = self.records, self.state.partition
        members = np.isin(partition.class_of, classes)
        units = len(np.unique(records.units[members]))
        words = f"for {self.k.name}, rule {need.measure.text}: the sum {float(records.total(members)):g} of "
        words += f"{units} unit{'' if units == 1 else 's'}"
        terms = self._terms(classes) if denial is Denial.INFERABLE else None
        if terms is not None:
            how = "" if len(terms) > 12 else f": {combined(terms)}"
            return denial, f"{words} would follow exactly from {len(terms)} answers{how}"
        low, high = self._interval(classes)
        scale = records.scale
        return (
            denial,
            f"{words} would be confined to [{low / scale:g}, {'inf' if high >= FREE else f'{high / scale:g}'}]",
        )

    def _interval(self, classes: Ints) -> tuple[float, float]:
        """Return the interval of a sum of class totals as the linear programme has it (for explanations only)."""
        from tabprotect.query.audit.interval import reach

        total = int(self.records.values[np.isin(self.state.partition.class_of, classes)].sum())
        down, up = reach(self.state.partition.rows(), self.search.box, classes)
        return total - down, total + up
