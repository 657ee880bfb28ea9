"""One group after another: the answerability test for disjoint query sets, over parts in place of records.

What the decisions on the groups of a table have in common is found once: the rules for the sums themselves (step 1),
the parts into which all groups cut the classes, and the records of every part. A decision then reads only the
records of classes that it cuts and that are small enough to be sensitive. It is the decision of
`Auditor.decide`, in every figure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.parts import Parts
from tabprotect.query.audit.records import Records
from tabprotect.query.audit.safety import judge
from tabprotect.query.audit.state import State

__all__ = ["Trials"]


@dataclass(eq=False)
class Trials:
    """Decides on groups that are not sensitive themselves, one after another.

    Attributes
    ----------
    records : Records
    sums : list of int
        Of the groups, in units of 1/scale.
    parts : Parts
    small : State
        After the groups answered so far, with a partition of the parts.
    before : State
        The state at the beginning, which stays if nothing new is answered.
    inferable : frozenset of int
        Groups whose sums follow from the answers at the beginning.
    options : Options
        Of the auditor.

    Examples
    --------
    >>> import numpy as np
    >>> from tabprotect.query.audit import Auditor
    >>> emp = Auditor(Records.of([85, 3, 2, 4, 3, 3, 4, 3, 3]), "nk=2,85")
    >>> _ = emp.ask(range(3, 9))
    >>> trials = Trials.of(emp.state, emp.records, Groups(np.array([-1, -1, -1, 0, 0, 0, 1, 1, 1]), 2), ())
    >>> [trials.decide(k, emp.work)[0] for k in (0, 1)], trials.state.totals
    ([True, True], (20, 10))
    """

    records: Records
    sums: list[int]
    parts: Parts
    small: State
    before: State
    inferable: frozenset[int]
    options: Options = DEFAULTS

    @classmethod
    def of(
        cls, state: State, records: Records, groups: Groups, inferable: Iterable[int], options: Options = DEFAULTS
    ) -> Trials:
        """Begin after the answers given so far, from which some groups follow."""
        parts = Parts.of(state.partition, groups, records)
        p = state.partition
        small = replace(state, partition=Partition(p.class_of[parts.first], p.bits, p.n_queries))
        sums = [int(s) for s in groups.sums(records.values)]
        return cls(records, sums, parts, small, state, frozenset(inferable), options)

    @property
    def state(self) -> State:
        """The state after the groups answered so far."""
        new = len(self.small.totals) > len(self.before.totals)
        return self._whole(self.small) if new else self.before

    def say_the_same(self, groups: Sequence[int]) -> bool:
        """Whether any of some groups, once answered, gives all the others."""
        if not groups:
            return True
        after = self.small.without_knowledge(self.parts.label == groups[0])
        return all(after.follows(self.parts.label == k) is not None for k in groups[1:])

    def decide(self, k: int, work: int) -> tuple[bool, int]:
        """Decide on one group; if it is answered, it counts from now on.

        Parameters
        ----------
        k : int
        work : int
            What may be spent.

        Returns
        -------
        answered : bool
        work : int
            What was spent.
        """
        if k in self.inferable:
            return True, 0
        members = self.parts.label == k
        if self.small.follows(members) is not None:
            return True, 0
        after = self.small.with_query(self.records, members, self.parts, self.sums[k])
        safety = judge(self._whole(after), self.records, work, explain=False, options=self.options)
        if safety.denial is None:
            self.small = after.remembering(safety.worlds)
        return safety.denial is None, safety.work

    def _whole(self, small: State) -> State:
        p = small.partition
        return replace(small, partition=Partition(p.class_of[self.parts.part_of], p.bits, p.n_queries))
