"""Deciding on a request: its query sets, the minimum of units behind them, and the test of every field."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tabprotect.errors import InputError
from tabprotect.query.audit.groups import sizes, totals, units
from tabprotect.query.audit.state import State
from tabprotect.query.guard.accounts import Accounts, Key
from tabprotect.query.guard.database import Database
from tabprotect.query.guard.grouped import protect_groups
from tabprotect.query.guard.policy import Policy
from tabprotect.query.guard.request import Aggregate, Request
from tabprotect.query.guard.selecting import Selection, public_aggregate
from tabprotect.query.guard.sorting import sorted_rows
from tabprotect.query.guard.source import ROWS
from tabprotect.query.guard.unavailable import UnavailableError

__all__ = ["Decider", "Outcome"]


@dataclass(eq=False)
class Outcome:
    """What a user gets, and what counts once it is logged.

    Attributes
    ----------
    answered : bool
    reason : str
    columns : tuple of str
    rows : list of tuple
    steps : list of str
        Internal.
    states : dict
        Of the auditors afterwards.
    applied : dict of str to list of int
        For every field the groups whose sums were answered, as positions.
    """

    answered: bool = False
    reason: str = ""
    columns: tuple[str, ...] = ()
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    states: dict[Key, State] = field(default_factory=dict)
    applied: dict[str, list[int]] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Decider:
    """Decides on requests, and changes nothing.

    Attributes
    ----------
    policy : Policy
    database : Database
    accounts : Accounts
    """

    policy: Policy
    database: Database
    accounts: Accounts

    def decide(self, request: Request, account: str) -> tuple[Selection, Outcome]:
        """Decide; what the database refuses is denied with its reason, and nothing counts as answered."""
        confidential = self.policy.tables[request.table].confidential
        summed = [name for name in _fields(request, confidential) if name != ROWS]
        try:
            selection = self.accounts.selection(request, summed)
        except UnavailableError:
            raise
        except InputError as error:
            return Selection((), ()), Outcome(reason=" ".join(str(error).split()))
        return selection, self._decide(request, selection, account)

    def _decide(self, request: Request, selection: Selection, account: str) -> Outcome:
        outcome = Outcome()
        confidential = self.policy.tables[request.table].confidential
        for a in request.aggregates:
            if a.function in ("MIN", "MAX") and a.column in confidential:
                outcome.reason = f"{a.function}({a.column}) is the value of one unit; sums and averages may be answered"
                outcome.steps.append(f"Reading: {outcome.reason}")
                return outcome
        rows = self.accounts.rows(request.table)
        least = self.policy.minimum_units
        outcome.steps.append(f"Query sets: {len(selection.sets)}, over table {request.table} {request.source}")
        enough = [k for k, count in enumerate(units(rows.fields[ROWS], selection.sets)) if count >= least]
        outcome.steps.append(f"Minimum of {least} units: met by {len(enough)} of {len(selection.sets)} query sets")
        if not enough:
            outcome.reason = f"fewer than {least} units stand behind the answer"
            return outcome
        for name in _fields(request, confidential):
            key = (account, request.table, name)
            enough = self._audit(key, request, selection, enough, outcome)
            if not enough:
                outcome.states.clear()
                outcome.applied.clear()
                outcome.reason = outcome.reason or "none of the groups may be published"
                return outcome
        try:
            self._fill(request, selection, enough, outcome)
        except UnavailableError:
            raise
        except InputError as error:
            return Outcome(reason=" ".join(str(error).split()))
        return outcome

    def _audit(self, key: Key, request: Request, selection: Selection, open_: list[int], outcome: Outcome) -> list[int]:
        """Test one field; return the query sets that may be answered."""
        auditor, name = self.accounts.auditor(key), f"{key[1]}.{key[2]}"
        outcome.steps.append(f"Field {'rows' if key[2] == ROWS else name}:")
        if request.groups:
            grouped = self.accounts.grouped(key).recalled(
                auditor.state, selection.sets, open_, lambda: protect_groups(auditor, selection.sets, open_)
            )
            outcome.steps += [f"  {step}" for step in grouped.steps]
            outcome.states[key], outcome.applied[name] = grouped.state, list(grouped.applied)
            return list(grouped.published)
        decision, state = self.accounts.single(key).recalled(
            auditor.state, selection.sets, (), lambda: auditor.decide([selection.sets[0]])
        )
        outcome.steps += [f"  {step}" for step in decision.steps]
        if not decision.answered:
            outcome.reason = str(decision.denial)
            return []
        outcome.states[key] = state
        outcome.applied[name] = [] if decision.inferable else [0]
        return open_

    def _fill(self, request: Request, selection: Selection, published: Sequence[int], outcome: Outcome) -> None:
        values = [self._values(a, request, selection) for a in request.aggregates]
        shown = set(published)
        for k, label in enumerate(selection.labels):
            cells = [column[k] if k in shown else None for column in values]
            outcome.rows.append(tuple(label[-1 - o] if o < 0 else cells[o] for o in request.output))
        outcome.rows = sorted_rows(outcome.rows, request.order, request.limit)
        outcome.columns = tuple(request.names[-1 - o] if o < 0 else request.aggregates[o].name for o in request.output)
        outcome.answered = True

    def _values(self, a: Aggregate, request: Request, selection: Selection) -> list[Any]:
        rows, confidential = self.accounts.rows(request.table), self.policy.tables[request.table].confidential
        if a.function == "COUNT":
            return sizes(selection.sets)
        if a.column not in confidential:
            return self._public(a, request, selection)
        sums = totals(rows.fields[a.column], selection.sets)
        if a.function == "AVG":
            return [float(s / n) for s, n in zip(sums, sizes(selection.sets), strict=True)]
        return [float(s) for s in sums]

    def _public(self, a: Aggregate, request: Request, selection: Selection) -> list[Any]:
        """Let the database work out an aggregate of a public column, for the groups in their order."""
        return public_aggregate(self.database, request, a.function, a.column, selection)


def _fields(request: Request, confidential: Any) -> list[str]:
    """Return the fields that a request tells about; counts first, which are decided more cheaply."""
    names: dict[str, None] = {}
    for a in request.aggregates:
        if a.function in ("COUNT", "AVG"):
            names[ROWS] = None
    for a in request.aggregates:
        if a.function in ("SUM", "AVG") and a.column in confidential:
            names[a.column] = None
    return list(names)
