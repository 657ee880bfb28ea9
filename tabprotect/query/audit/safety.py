"""Step 4 of the answerability test: after one more answer, whether all that is sensitive can still move far enough."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.query.audit.decision import Denial
from tabprotect.query.audit.inference import combination
from tabprotect.query.audit.needs import Needs, Target
from tabprotect.query.audit.records import FREE, Records
from tabprotect.query.audit.state import Knowledge, State
from tabprotect.query.audit.unions import plain, unions_with
from tabprotect.query.audit.worlds import Box, Programme, World, demands, protected

__all__ = ["Safety", "judge"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


@dataclass(eq=False)
class Safety:
    """The outcome.

    Attributes
    ----------
    denial : Denial or None
        None when safe.
    text : str
        What was found (internal).
    worlds : list of list of World
        New ones, for every intruder.
    """

    denial: Denial | None = None
    text: str = ""
    worlds: list[list[World]] = field(default_factory=list)


def judge(state: State, records: Records, work: int) -> Safety:
    """Look at every sensitive class, for every rule, side and intruder.

    Parameters
    ----------
    state : State
        With the new queries in it.
    records : Records
    work : int
        Simplex iterations that may be spent; when they are used up the answer is `Denial.UNDECIDED`.
    """
    result, sensitive = Safety(), 0
    for k in state.knowledge:
        task = _Task(state, records, k, work)
        denied = task.run()
        work -= task.spent
        result.worlds.append(task.found)
        sensitive = max(sensitive, task.targets)
        if denied is not None:
            result.denial, result.text = denied
            return result
    n = int(state.partition.asked.sum())
    result.text = f"{n} classes; " + (
        f"all of the {sensitive} demands of sensitive ones are met by other data sets with the same answers"
        if sensitive
        else "none is sensitive, and so no union of them"
    )
    return result


@dataclass(eq=False)
class _Task:
    state: State
    records: Records
    k: Knowledge
    work: int
    found: list[World] = field(default_factory=list)
    targets: int = 0
    _programme: Programme | None = None

    @property
    def spent(self) -> int:
        return 0 if self._programme is None else self._programme.iterations

    def run(self) -> tuple[Denial, str] | None:
        asked = self.state.partition.asked
        for need in self.k.needs:
            targets = need.targets(asked, self.records.spread)
            self.targets += len(targets)
            if not targets:
                continue
            done = self._protected([*self.k.worlds, *self.found], need, targets)
            for i in np.flatnonzero(~done).tolist():
                if done[i]:
                    continue
                world = self._cover(need, targets[i])
                if world is not None:
                    self.found.append(world)
                    done |= self._protected([world], need, targets)
                elif (why := self._each_union(need, targets[i])) is not None:
                    return why
        return None

    def _protected(self, worlds: list[World], need: Needs, targets: list[Target]) -> Bools:
        """Which targets are met by a world; where units have records elsewhere, these classes are looked at, too."""
        if not self.records.spread or need.measure.whole:
            return protected(worlds, need, targets)
        done = np.zeros(len(targets), bool)
        for i, target in enumerate(targets):
            box = demands(need, target, self.k.box, self._elsewhere(need, target))
            done[i] = any(box.contains(world).all() for world in worlds)
        return done

    @property
    def programme(self) -> Programme:
        if self._programme is None:
            self._programme = Programme(self._rows(), self._held(self.k.box))
        return self._programme

    def _rows(self) -> sparse.csr_array:
        return self.state.partition.rows()

    def _held(self, box: Box) -> Box:
        """Classes in no query set may move as they like, which helps nobody else."""
        outside = ~self.state.partition.asked
        return Box(np.where(outside, 0, box.lower), np.where(outside, 0, box.upper))

    def _cover(self, need: Needs, target: Target) -> World | None:
        box = demands(need, target, self.k.box, self._elsewhere(need, target))
        return self.programme.find(self._held(box), max(0, self.work - self.spent))

    def _elsewhere(self, need: Needs, target: Target) -> Ints:
        if not self.records.spread or need.measure.whole:
            return np.zeros(0, np.int64)
        mine = np.unique(self.state.partition.class_of[self.records.units == target.unit])
        return np.setdiff1d(mine, target.classes)

    def _each_union(self, need: Needs, target: Target) -> tuple[Denial, str] | None:
        owner = int(target.classes[0])
        if self.work - self.spent <= 0:
            return Denial.UNDECIDED, "the permitted work is used up"
        if self._fixed(target.classes):
            return self._why(need, target.classes, Denial.INFERABLE)
        unions = self._unions(need, owner)
        if unions is None:
            return self._why(need, target.classes, Denial.NARROW)
        for classes, amount in unions:
            if any(need.side * int(w.moves[classes].sum()) >= amount * w.denominator for w in self._worlds()):
                continue
            world = self.programme.find(
                self._held(self.k.box), max(0, self.work - self.spent), (classes, need.side * amount)
            )
            if world is None:
                why = Denial.INFERABLE if self._fixed(classes) else Denial.NARROW
                return self._why(need, classes, why)
            self.found.append(world)
        return None

    def _worlds(self) -> Iterator[World]:
        yield from self.k.worlds
        yield from self.found

    def _unions(self, need: Needs, owner: int) -> Iterator[tuple[Ints, int]] | None:
        if not plain(self.records):
            return None
        asked = np.flatnonzero(self.state.partition.asked)
        if len(asked) > 400:
            return None
        class_of, hidden = self.state.partition.class_of, self.k.hidden
        unknown = np.ones(len(class_of), bool) if hidden is None else hidden
        values = [-np.sort(-self.records.values[(class_of == c) & unknown]) for c in asked.tolist()]
        return unions_with(owner, asked, values, need.measure, need.side)

    def _fixed(self, classes: Ints) -> bool:
        """Whether the sum over some classes follows exactly."""
        row = np.zeros(self.state.partition.n_classes, bool)
        row[classes] = True
        echelon = self.state.echelon
        return echelon is not None and echelon.depends(row)

    def _why(self, need: Needs, classes: Ints, denial: Denial) -> tuple[Denial, str]:
        """Say what could be inferred, with the interval of the sum for this intruder."""
        records, partition = self.records, self.state.partition
        members = np.isin(partition.class_of, classes)
        units = len(np.unique(records.units[members]))
        words = f"for {self.k.name}, rule {need.measure.text}: the sum {float(records.total(members)):g} of "
        words += f"{units} unit{'' if units == 1 else 's'}"
        if denial is Denial.INFERABLE and partition.n_classes <= 2000:
            row = np.zeros(partition.n_classes, bool)
            row[classes] = True
            terms = combination(_independent(partition.rows()), row)
            if terms is not None:
                return denial, f"{words} would follow exactly from {len(terms)} answers"
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
        down, up = reach(self._rows(), self._held(self.k.box), classes)
        return total - down, total + up


def _independent(rows: sparse.csr_array) -> sparse.csr_array:
    from tabprotect.solver.exact.elimination import eliminate

    return sparse.csr_array(rows[eliminate(rows.astype(np.float64)).independent])
