"""The guard: parse, find the query sets, test, log, and only then answer."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError
from tabprotect.query.audit.groups import sizes, totals, units
from tabprotect.query.audit.state import State
from tabprotect.query.guard.accounts import PREPARED, Accounts, Key
from tabprotect.query.guard.answer import Answer
from tabprotect.query.guard.database import wrap
from tabprotect.query.guard.grouped import protect_groups
from tabprotect.query.guard.log import Log
from tabprotect.query.guard.memory import digest
from tabprotect.query.guard.policy import Policy
from tabprotect.query.guard.sorting import sorted_rows
from tabprotect.query.guard.source import ROWS, Selection, public_aggregate
from tabprotect.query.guard.sql import Aggregate, Request, parse
from tabprotect.query.guard.unavailable import UnavailableError

__all__ = ["Guard"]


@dataclass(eq=False)
class _Outcome:
    answered: bool = False
    reason: str = ""
    columns: tuple[str, ...] = ()
    rows: list[tuple[Any, ...]] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    states: dict[Key, State] = field(default_factory=dict)
    applied: dict[str, list[int]] = field(default_factory=dict)


class Guard:
    """Answers what is safe, exactly; refuses the rest, and keeps the account over all answers together.

    Parameters
    ----------
    connection : duckdb or pg8000 connection
        Of a role that can only read; see `tabprotect.query.guard.read_only_role`.
    policy : Policy or path
        Or the path of its TOML file.
    log : path
        SQLite file of all queries and outcomes. An answer leaves only after its entry is on the disk. Sessions that
        share a file, in one process or several, share their accounts.

    Raises
    ------
    InputError
        A connection that may write, a policy that does not fit the data, values that two columns share.
    UnavailableError
        A log of other data, or of other accounts than those of the policy.

    Notes
    -----
    The values must not change while a log is in use. Changed values, keys and units are refused at the start, and by
    every query that meets them; changed public columns when the log is read. A log that is lost, or goes back to an
    earlier copy, forgets answers: it must be kept as the data are.

    Examples
    --------
    >>> import duckdb, tempfile
    >>> from tabprotect.query import Policy
    >>> c = duckdb.connect()
    >>> _ = c.execute("CREATE TABLE emp AS SELECT * FROM (VALUES (1, 'm', 85), (2, 'm', 3), (3, 'm', 2), (4, 'a', 4),"
    ...     "(5, 'a', 3), (6, 'a', 3), (7, 's', 4), (8, 's', 3), (9, 's', 3)) AS t(id, dep, salary)")
    >>> policy = Policy.of({"unit": "emp.id", "rules": "nk=2,85", "minimum_units": 2, "tables": {
    ...     "emp": {"key": "id", "public": ["dep"], "confidential": {"salary": {}}}}})
    >>> guard = Guard(c, policy, tempfile.mkdtemp() + "/log.sqlite")
    >>> guard.query("SELECT SUM(salary) FROM emp WHERE dep = 'a'").value
    10.0
    >>> guard.query("SELECT AVG(salary) AS mean FROM emp WHERE dep = 's'").rows
    ((3.3333333333333335,),)
    >>> guard.query("SELECT SUM(salary) FROM emp").reason
    'together with earlier answers it would determine a sensitive sum'
    """

    def __init__(self, connection: Any, policy: Policy | str | Path, log: str | Path) -> None:
        self.policy = policy if isinstance(policy, Policy) else Policy.read(policy)
        self.database = wrap(connection)
        self.database.check_read_only(list(self.policy.tables))
        self.log = Log(log)
        self._lock = threading.Lock()
        self.accounts = Accounts(self.policy, self.database, self.log)
        try:
            with self._lock, self.log.transaction():
                self.accounts.read()
                self._begin()
                self.accounts.catch_up()
        except BaseException:
            self.log.close()
            raise

    def close(self) -> None:
        """Write what the next start needs, and close the log; the connection stays open."""
        with contextlib.suppress(InputError), self._lock, self.log.transaction():
            self.accounts.snapshot(self.accounts.seen, all_=True)
        self.log.close()

    def query(self, sql: str, *, user: str = "anonymous") -> Answer:
        """Answer a query, or say why not.

        Parameters
        ----------
        sql : str
            SELECT with SUM, COUNT, AVG, MIN, MAX over one table, with WHERE, GROUP BY and joins along declared keys.
        user : str
            Whose account it goes to.

        Returns
        -------
        Answer
            What is not understood is denied, too, with the reason.

        Raises
        ------
        UnavailableError
            If the log cannot be written, the data have changed or the database is gone; nothing is answered then.
        """
        begun = time.monotonic()
        try:
            return self._answer(sql, user, self.policy.account(user))
        finally:
            self._pace(begun)

    def _answer(self, sql: str, user: str, account: str) -> Answer:
        try:
            request = parse(sql, self.policy, self.database.dialect)
        except InputError as error:
            reason = " ".join(str(error).split())
            sql, user = (text.encode("utf-8", "backslashreplace").decode() for text in (sql, user))
            with self._lock, self.log.transaction():
                entry = self.log.add(account, user, sql, False, reason, result={}, request={}, applied={})
            return Answer(False, reason=reason, entry=entry, steps=(f"Reading: {reason}",))
        with self._lock:
            with self.log.transaction():
                self.accounts.catch_up()
                selection, outcome = self._decided(request, account)
                entry = self.log.add(
                    account,
                    user,
                    sql,
                    outcome.answered,
                    outcome.reason,
                    result={"columns": outcome.columns, "rows": outcome.rows},
                    request={
                        "table": request.table,
                        "groups": request.groups,
                        "source": request.source,
                        "sets": digest(selection.sets).hex(),
                    },
                    applied=outcome.applied,
                )
                self.accounts.snapshot(entry - 1)
            # only what is on the disk counts, and only then does the answer leave
            for key, state in outcome.states.items():
                self.accounts.set_state(key, state)
            self.accounts.seen = entry
        return Answer(
            outcome.answered, outcome.columns, tuple(outcome.rows), outcome.reason, entry, tuple(outcome.steps)
        )

    def _decided(self, request: Request, account: str) -> tuple[Selection, _Outcome]:
        """Decide; what the database refuses is denied with its reason, and nothing counts as answered."""
        confidential = self.policy.tables[request.table].confidential
        summed = [name for name in _fields(request, confidential) if name != ROWS]
        try:
            selection = self.accounts.selection(request, summed)
        except UnavailableError:
            raise
        except InputError as error:
            return Selection((), ()), _Outcome(reason=" ".join(str(error).split()))
        return selection, self._decide(request, selection, account)

    def _decide(self, request: Request, selection: Selection, account: str) -> _Outcome:
        outcome = _Outcome()
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
        self._fill(request, selection, enough, outcome)
        return outcome

    def _audit(
        self, key: Key, request: Request, selection: Selection, open_: list[int], outcome: _Outcome
    ) -> list[int]:
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

    def _fill(self, request: Request, selection: Selection, published: Sequence[int], outcome: _Outcome) -> None:
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

    def _begin(self) -> None:
        """Answer the sums of the simulatable mode to nobody, once; they are the basis of everything afterwards."""
        began, now = self.log.meta(PREPARED), "\n".join(self.policy.prepared)
        if began is None and not self.log.answers:
            for sql in self.policy.prepared:
                self._prepare_one(sql)
            self.log.remember(PREPARED, now)
        elif (began or "") != now:
            raise UnavailableError(
                "policy: prepared differs from what the log began with; keep it as it was, or start a new log only if "
                "it is acceptable that answers are forgotten"
            )

    def _prepare_one(self, sql: str) -> None:
        request = parse(sql, self.policy, self.database.dialect)
        selection, outcome = self._decided(request, PREPARED)
        if not outcome.answered:
            raise InputError(f"policy: prepared query '{sql}' has no safe answer: {outcome.reason}")
        entry = self.log.add(
            PREPARED,
            PREPARED,
            sql,
            True,
            "",
            result={"columns": outcome.columns, "rows": outcome.rows},
            request={
                "table": request.table,
                "groups": request.groups,
                "source": request.source,
                "sets": digest(selection.sets).hex(),
            },
            applied=outcome.applied,
        )
        for key, state in outcome.states.items():
            self.accounts.set_state(key, state)
        self.accounts.seen = entry

    def _pace(self, begun: float) -> None:
        if self.policy.pace > 0:
            spent = time.monotonic() - begun
            time.sleep(self.policy.pace - spent % self.policy.pace)


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
