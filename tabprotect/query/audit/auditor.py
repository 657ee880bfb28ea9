"""The auditor: the answerability test of Malvestuto and Moscarini, with bounds, intruders and a prepared basis."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems
from tabprotect.kinds import of_kinds
from tabprotect.query.audit.combinations import Terms
from tabprotect.query.audit.conflicts import conflicting
from tabprotect.query.audit.decision import Decision, Denial, Step, combined
from tabprotect.query.audit.groups import Groups, chosen, totals
from tabprotect.query.audit.measures import check_size, measures
from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.records import Intruder, Records
from tabprotect.query.audit.safety import judge
from tabprotect.query.audit.sensitive import sensitivity_step
from tabprotect.query.audit.state import State
from tabprotect.sensitivity import Override, Rule

__all__ = ["WORK", "Auditor"]

Bools = npt.NDArray[np.bool_]

ROUNDS = 3
"""Times that sums are left out of a table."""

WORK = 12_000
"""Simplex iterations for one decision (the set-up of a programme counts as 50)."""


class Auditor:
    """Decides which sums over sets of records may be answered, one after another.

    A user, or a group that pools its answers, has one auditor. It follows the answerability test: (1) a sum that is
    sensitive itself is denied; (2) a sum that follows from earlier ones is answered; (3) otherwise the records are
    partitioned by the new query set, too, and (4) the answer is given only if nothing sensitive can then be inferred:
    no set of units as small as a rule protects (see `tabprotect.query.audit.measures.Measure`) has a total that is
    determined, or confined more closely than the level of the rule, by the answers and the known bounds together.
    Safety is shown by other data sets with the same answers, verified in integers; what cannot be shown within the
    permitted work is denied.

    Parameters
    ----------
    records : Records
    rules : Rule, str, or a sequence of them
        threshold, nk, p% and pq; see `tabprotect.sensitivity.parse_rules`.
    intruders : sequence of Intruder
        Who knows some records already. Everybody else is always considered.
    prepared : sequence of query sets, optional
        The simulatable mode: these sums are the basis for good, and a query is answered exactly if it follows from
        them. Decisions then depend on query sets only, not on any confidential value: a denial tells nothing.
    work : int
        Simplex iterations for one decision.
    options : Options
        Up to which sizes everything is looked at at once.

    Raises
    ------
    InputError
        Rules that do not go with queries, intruders who know records that do not exist, prepared sums that are not
        safe together.

    References
    ----------
    Malvestuto and Moscarini (1990), Query evaluability in statistical databases, IEEE Transactions on Knowledge and
    Data Engineering 2, 425-430; (1998) An audit expert for large statistical databases.

    Examples
    --------
    The salaries of nine employees: management (85, 3, 2), administration (4, 3, 3), services (4, 3, 3).

    >>> emp = Auditor(Records.of([85, 3, 2, 4, 3, 3, 4, 3, 3], name="SALARY"), "nk=2,85")
    >>> emp.ask([3, 4, 5]).value, emp.ask([6, 7, 8]).value
    (10.0, 10.0)
    >>> print(emp.ask(range(9)).denial)
    together with earlier answers it would determine a sensitive sum
    """

    @of_kinds()
    def __init__(
        self,
        records: Records,
        rules: Rule | Override | str | Iterable[Rule | Override | str],
        *,
        intruders: Sequence[Intruder] = (),
        prepared: Sequence[Any] | None = None,
        work: int = WORK,
        options: Options = DEFAULTS,
    ) -> None:
        self.records = records
        self.rules, self.measures = measures(rules)
        check_size(self.measures, int(np.abs(records.values).sum()))
        _check(intruders, len(records))
        if work < 1:
            raise InputError(f"work must be a whole number of at least 1, not {work!r}")
        self.work = int(work)
        self.options = options
        self.state = State.start(records, self.measures, tuple(intruders), options.rank)
        self.simulatable = False
        if prepared is not None:
            self._prepare(prepared)
            self.simulatable = True

    def copy(self, *, simulatable: bool | None = None) -> Auditor:
        """Return an auditor that goes on from here by itself, in the simulatable mode if wanted."""
        other = object.__new__(Auditor)
        other.__dict__.update(self.__dict__)
        if simulatable is not None:
            other.simulatable = simulatable
        return other

    @property
    def top(self) -> int:
        """How many of the largest contributions the rules look at (at least 1)."""
        return max((rule.needs().top for rule in self.rules), default=0) or 1

    @property
    def basis(self) -> int:
        """Number of queries in the basis."""
        return self.state.partition.n_queries

    def ask(self, query_set: Any) -> Decision:
        """Decide on one sum; if it is answered, it counts from now on.

        Parameters
        ----------
        query_set : array_like
            One bool a record, or positions of records.

        Returns
        -------
        Decision

        Raises
        ------
        InputError
            If the query set is no set of records.
        """
        return self.ask_together([query_set])

    @of_kinds()
    def ask_together(self, query_sets: Sequence[Any]) -> Decision:
        """Decide on several sums that are answered all or none."""
        sets = [self.members(given) for given in query_sets]
        if not sets:
            raise InputError("there is no query set to decide on")
        decision, state = self.decide(sets)
        self.state = state
        return decision

    def members(self, query_set: Any) -> Bools:
        """Return a query set as one bool a record."""
        given = np.asarray(list(query_set) if isinstance(query_set, range | set | frozenset) else query_set)
        n = len(self.records)
        if given.dtype == np.bool_ and given.shape == (n,):
            return given
        whole = given.size == 0 or (given.dtype.kind in "iu" and given.min() >= 0 and given.max() < n)
        if given.dtype == np.bool_ or given.ndim != 1 or not whole:
            raise InputError(f"a query set must be one bool for each of {n} records, or positions in 0..{n - 1}")
        mask = np.zeros(n, bool)
        mask[given.astype(np.int64)] = True
        return mask

    def decide(self, sets: Sequence[Bools], work: int | None = None) -> tuple[Decision, State]:
        """Return the decision and the state after it, without changing this auditor.

        Parameters
        ----------
        sets : sequence of ndarray of bool
        work : int, optional
            What may be spent, if less than the auditor's own limit.
        """
        decision, state, _ = self._decide(sets, self.work if work is None else min(work, self.work))
        return decision, state

    def decide_most(self, sets: Groups, follow: Sequence[Terms | None], work: int) -> tuple[list[int], Decision, State]:
        """Decide on disjoint sums, and in large systems leave some out where they cannot all be answered together.

        Parameters
        ----------
        sets : Groups
        follow : sequence of list or None
            How each of them follows from the basis; see `State.follow`.
        work : int
            What may be spent.

        Returns
        -------
        kept : list of int
            The sums that the decision is about.
        decision : Decision
            With all work that was spent.
        state : State
            After it.
        """
        kept, left, total = list(range(len(sets))), work, [int(abs(t)) for t in sets.sums(self.records.values)]
        first: Step | None = None
        for _ in range(ROUNDS):
            some = sets.only(kept)
            known = [follow[k] for k in kept]
            decision, state, left_out = self._decide(some, left, [total[k] for k in kept], known, first)
            first = decision.steps[0]
            left -= decision.work
            if decision.answered or not left_out or left <= 0:
                break
            kept = [k for i, k in enumerate(kept) if i not in left_out]
            if not kept:
                break
        return kept, replace(decision, work=work - left), state

    def _decide(
        self,
        sets: Sequence[Bools],
        work: int,
        costs: list[int] | None = None,
        follow: Sequence[Terms | None] | None = None,
        first: Step | None = None,
    ) -> tuple[Decision, State, set[int]]:
        """Return the decision, the state after it, and with costs the sums without which the others may be answered.

        `first` is the first step, where these sums have passed it among others.
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
            return Decision(True, values, None, tuple(steps), True, self.basis), self.state, set()
        if self.simulatable:
            return self._denied(Denial.OUTSIDE, steps), self.state, set()
        return self._answerable(sets, new, values, steps, work, costs)

    def replay(self, members: Bools) -> None:
        """Count a sum as answered that was decided on before."""
        self.state = self.state.with_query(self.records, members)

    def recall(self) -> None:
        """Look again for data sets that prove the safety of what was answered, with ten times the work."""
        safety = judge(self.state, self.records, 10 * self.work, options=self.options)
        if safety.denial is None:
            self.state = self.state.remembering(safety.worlds)

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
        return len(parts) * -(-(self.basis + len(sets)) // 8) * len(sets)

    def _denied(self, denial: Denial, steps: list[Step], work: int = 0, rank: int = 0) -> Decision:
        return Decision(False, (), denial, tuple(steps), False, self.basis, work, rank)

    def _inferable(self, sets: Sequence[Bools], follow: Sequence[Terms | None]) -> tuple[Step, list[int]]:
        """Step 2: which of the sums follow from the basis, and which are new."""
        new, words = [], ""
        for k, terms in enumerate(follow):
            if terms is None:
                new.append(k)
                covered = len(sets) == 1 and self.state.partition.covers(sets[0]) is not None
                words = f"the query set is {'no invariant' if covered else 'no union of classes'}"
                words = f"not inferable: {words} of the basis ({self.basis} queries)"
            else:
                words = "inferable: " + combined(terms[:12])
                words = words if terms else "inferable: the query set is empty"
        if len(sets) > 1:
            words = f"{len(sets) - len(new)} of {len(sets)} sums are inferable from the basis"
        return Step("Step 2, inferability test", not new, words), new

    def _prepare(self, prepared: Sequence[Any]) -> None:
        """Make a basis for good; all of it is safe, or nothing is accepted."""
        problems = Problems()
        for number, given in enumerate(prepared):
            decision = self.ask(given)
            if not decision.answered:
                problems.add(f"prepared sum {number + 1}: {decision.denial}; leave it out or take a coarser one")
        problems.raise_if_any()


def diagram(state: State, scale: int = 1) -> str:
    """Describe the query diagram: the classes and the system M x = t, written out where it is small.

    Examples
    --------
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


def _check(intruders: Sequence[Intruder], n: int) -> None:
    problems = Problems()
    for intruder in intruders:
        if any(not 0 <= i < n for i in intruder.known):
            problems.add(f"intruder '{intruder.name}' knows records outside 0..{n - 1}")
    problems.raise_if_any()
