"""The answerability test of Malvestuto and Moscarini: four steps from the answers so far and new sums to a decision."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.combinations import Terms
from tabprotect.query.audit.conflicts import conflicting
from tabprotect.query.audit.decision import Decision, Denial, Step, combined
from tabprotect.query.audit.groups import Groups, chosen, totals
from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.records import Records
from tabprotect.query.audit.safety import judge
from tabprotect.query.audit.sensitive import sensitivity_step
from tabprotect.query.audit.state import State
from tabprotect.sensitivity import Rule

__all__ = ["AnswerabilityTest", "diagram"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class AnswerabilityTest:
    """The test as it stands after the answers given so far.

    Attributes
    ----------
    records : Records
    rules : tuple of Rule
    state : State
        What is known of the answers.
    simulatable : bool
        Whether only what follows from them is answered.
    options : Options
    """

    records: Records
    rules: tuple[Rule, ...]
    state: State
    simulatable: bool = False
    options: Options = DEFAULTS

    @property
    def _basis(self) -> int:
        return self.state.partition.n_queries

    def decide(
        self,
        sets: Sequence[Bools],
        work: int,
        costs: list[int] | None = None,
        follow: Sequence[Terms | None] | None = None,
        first: Step | None = None,
    ) -> tuple[Decision, State, set[int]]:
        """Return the decision, the state after it, and with costs the sums without which the others may be answered.

        Parameters
        ----------
        sets : sequence of ndarray of bool
        work : int
            What may be spent, in simplex iterations.
        costs : list of int, optional
            What it costs to leave out each of the sums.
        follow : sequence of list or None, optional
            How each of them follows from the basis, where that is known; see `State.follow`.
        first : Step, optional
            The first step, where these sums have passed it among others.
        """
        if len(sets) > 1:
            sets = Groups.of(sets) or sets
        values = totals(self.records, sets)
        steps: list[Step] = []
        if not self.simulatable:
            steps.append(first or sensitivity_step(self.records, sets, self.rules))
            if not steps[-1].passed:
                return self._denied(Denial.SENSITIVE, steps), self.state, set()
        step, new = self._inferable(sets, self.state.follow(sets) if follow is None else follow)
        steps.append(step)
        if not new:
            return Decision(True, values, None, tuple(steps), True, self._basis), self.state, set()
        if self.simulatable:
            return self._denied(Denial.OUTSIDE, steps), self.state, set()
        return self._answerable(sets, new, values, steps, work, costs)

    def _answerable(
        self,
        sets: Sequence[Bools],
        new: list[int],
        values: tuple[Fraction, ...],
        steps: list[Step],
        work: int,
        costs: list[int] | None,
    ) -> tuple[Decision, State, set[int]]:
        some = chosen(sets, new)
        if isinstance(some, Groups) and self._copied(some) > self.options.copied:
            steps.append(
                Step("Step 3, query diagram", False, f"{len(some)} sums are too many to be looked at together")
            )
            return self._denied(Denial.UNDECIDED, steps), self.state, set()
        state = self.state.with_queries(self.records, some)
        steps.append(Step("Step 3, query diagram", True, diagram(state, self.records.scale)))
        if costs is not None and isinstance(sets, Groups) and state.partition.n_classes > self.options.whole:
            first = self.state.partition.n_queries
            cost = [costs[k] for k in _of_queries(state, first, sets)]
            safety = conflicting(state, self.records, first, cost, work, self.options)
        else:
            safety = judge(state, self.records, work, options=self.options)
        steps.append(Step("Step 4, safety test", safety.denial is None and not safety.out, safety.text))
        if safety.out:
            # what follows from the others and one of these would give it away again
            follow = state.follow(sets)
            gone = {k for k in new for i, _ in follow[k] or () if i in safety.out}
            return self._denied(Denial.INFERABLE, steps, safety.work), self.state, gone
        if safety.denial is not None:
            rank = state.partition.n_queries - self.state.partition.n_queries
            return self._denied(safety.denial, steps, safety.work, rank), self.state, set()
        state = state.remembering(safety.worlds)
        return Decision(True, values, None, tuple(steps), False, state.partition.n_queries, safety.work), state, set()

    def _copied(self, sets: Groups) -> int:
        """Return how many bytes of membership are copied, at most, until all of some sums are in the basis."""
        _, parts = self.state.partition.atoms(sets)
        return len(parts) * -(-(self._basis + len(sets)) // 8) * len(sets)

    def _denied(self, denial: Denial, steps: list[Step], work: int = 0, rank: int = 0) -> Decision:
        return Decision(False, (), denial, tuple(steps), False, self._basis, work, rank)

    def _inferable(self, sets: Sequence[Bools], follow: Sequence[Terms | None]) -> tuple[Step, list[int]]:
        """Step 2: which of the sums follow from the basis, and which are new."""
        new, words = [], ""
        for k, terms in enumerate(follow):
            if terms is None:
                new.append(k)
                covered = len(sets) == 1 and self.state.partition.covers(sets[0]) is not None
                words = f"the query set is {'no invariant' if covered else 'no union of classes'}"
                words = f"not inferable: {words} of the basis ({self._basis} queries)"
            else:
                words = "inferable: " + combined(terms[:12])
                words = words if terms else "inferable: the query set is empty"
        if len(sets) > 1:
            words = f"{len(sets) - len(new)} of {len(sets)} sums are inferable from the basis"
        return Step("Step 2, inferability test", not new, words), new


def diagram(state: State, scale: int = 1) -> str:
    """Describe the query diagram: the classes and the system M x = t, written out where it is small.

    Examples
    --------
    >>> from tabprotect.query.audit import Auditor
    >>> emp = Auditor(Records.of([85, 3, 2, 4, 3, 3]), "threshold=2")
    >>> _ = emp.ask([3, 4, 5]), emp.ask(range(6))
    >>> print(diagram(emp.state))
    2 queries, 2 classes: e1 = {q2} with 3 records, e2 = {q1, q2} with 3 records; x2 = 10, x1 + x2 = 100
    """
    partition = state.partition
    asked = np.flatnonzero(partition.asked)
    words = f"{partition.n_queries} queries, {len(asked)} classes"
    if partition.n_queries > 12 or len(asked) > 12:
        return words
    M = partition.rows(asked).toarray()
    sizes = np.bincount(partition.class_of, minlength=partition.n_classes)[asked]
    edges = [
        f"e{j + 1} = {{{', '.join(f'q{i + 1}' for i in np.flatnonzero(M[:, j]))}}} with {sizes[j]} records"
        for j in range(len(asked))
    ]
    rows = [
        f"{' + '.join(f'x{j + 1}' for j in np.flatnonzero(row))} = {t / scale:g}"
        for row, t in zip(M, state.totals, strict=True)
    ]
    return f"{words}: {', '.join(edges)}; {', '.join(rows)}"


def _of_queries(state: State, first: int, sets: Groups) -> list[int]:
    """Return which of disjoint query sets every query of the basis is, from the first of them on."""
    p = state.partition
    record = np.empty(p.n_classes, np.int64)
    record[p.class_of] = np.arange(len(p.class_of))
    rows = p.some(np.arange(first, p.n_queries))
    return [int(k) for k in sets.label[record[np.argmax(rows, axis=1)]]]
