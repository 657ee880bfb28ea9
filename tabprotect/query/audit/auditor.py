"""The auditor: the answers that somebody got, and what may be answered after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError, Problems
from tabprotect.kinds import of_kinds
from tabprotect.query.audit.answerability import AnswerabilityTest
from tabprotect.query.audit.combinations import Terms
from tabprotect.query.audit.decision import Decision, Step
from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.measures import check_size, measures
from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.records import Intruder, Records
from tabprotect.query.audit.safety import judge
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
        decision, state, _ = self._test.decide(sets, self.work if work is None else min(work, self.work))
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
            decision, state, left_out = self._test.decide(some, left, [total[k] for k in kept], known, first)
            first = decision.steps[0]
            left -= decision.work
            if decision.answered or not left_out or left <= 0:
                break
            kept = [k for i, k in enumerate(kept) if i not in left_out]
            if not kept:
                break
        return kept, replace(decision, work=work - left), state

    @property
    def _test(self) -> AnswerabilityTest:
        return AnswerabilityTest(self.records, self.rules, self.state, self.simulatable, self.options)

    def replay(self, members: Bools) -> None:
        """Count a sum as answered that was decided on before."""
        self.state = self.state.with_query(self.records, members)

    def recall(self) -> None:
        """Look again for data sets that prove the safety of what was answered, with ten times the work."""
        safety = judge(self.state, self.records, 10 * self.work, options=self.options)
        if safety.denial is None:
            self.state = self.state.remembering(safety.worlds)

    def _prepare(self, prepared: Sequence[Any]) -> None:
        """Make a basis for good; all of it is safe, or nothing is accepted."""
        problems = Problems()
        for number, given in enumerate(prepared):
            decision = self.ask(given)
            if not decision.answered:
                problems.add(f"prepared sum {number + 1}: {decision.denial}; leave it out or take a coarser one")
        problems.raise_if_any()


def _check(intruders: Sequence[Intruder], n: int) -> None:
    problems = Problems()
    for intruder in intruders:
        if any(not 0 <= i < n for i in intruder.known):
            problems.add(f"intruder '{intruder.name}' knows records outside 0..{n - 1}")
    problems.raise_if_any()
