"""The guard: parse, find the query sets, test, log, and only then answer."""

from __future__ import annotations

import contextlib
import threading
import time
from pathlib import Path
from typing import Any

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.query.guard.accounts import PREPARED, Accounts
from tabprotect.query.guard.answer import Answer
from tabprotect.query.guard.database import wrap
from tabprotect.query.guard.deciding import Decider, Outcome
from tabprotect.query.guard.log import Log
from tabprotect.query.guard.memory import digest
from tabprotect.query.guard.policy import Policy
from tabprotect.query.guard.request import Request
from tabprotect.query.guard.selecting import Selection
from tabprotect.query.guard.sql import parse
from tabprotect.query.guard.unavailable import ConnectionLostError, UnavailableError

__all__ = ["Guard"]


class Guard:
    """Answers what is safe, exactly; refuses the rest, and keeps the account over all answers together.

    Parameters
    ----------
    connection : duckdb or pg8000 connection, or a function that opens one
        Of a role that can only read; see `tabprotect.query.guard.read_only_role`. With a function, a connection to
        PostgreSQL that is lost is opened again, once for every query that meets the loss, and role and data are checked
        as at the start.
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

    @of_kinds("policy", "log")
    def __init__(self, connection: Any, policy: Policy | str | Path, log: str | Path) -> None:
        self.policy = policy if isinstance(policy, Policy) else Policy.read(policy)
        self.database = wrap(connection)
        try:
            self.database.check_read_only(list(self.policy.tables))
            self.log = Log(log)
        except BaseException:
            self.database.close()
            raise
        self._lock = threading.Lock()
        self.accounts = Accounts(self.policy, self.database, self.log)
        self.decider = Decider(self.policy, self.database, self.accounts)
        try:
            with self._lock, self.log.transaction():
                self.accounts.read()
                self._begin()
                self.accounts.catch_up()
        except BaseException:
            self.log.close()
            self.database.close()
            raise

    def close(self) -> None:
        """Write what the next start needs, and close the log; a connection that was given stays open."""
        with contextlib.suppress(InputError), self._lock, self.log.transaction():
            self.accounts.snapshot(self.accounts.seen, all_=True)
        self.log.close()
        self.database.close()

    @of_kinds()
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
            try:
                return self._logged(request, sql, user, account)
            except ConnectionLostError:
                self._open_again()
            return self._logged(request, sql, user, account)

    def _logged(self, request: Request, sql: str, user: str, account: str) -> Answer:
        with self.log.transaction():
            self.accounts.catch_up()
            selection, outcome = self.decider.decide(request, account)
            entry = self._add(account, user, sql, request, selection, outcome)
            self.accounts.snapshot(entry - 1)
        # only what is on the disk counts, and only then does the answer leave
        self._count(entry, outcome)
        return Answer(
            outcome.answered, outcome.columns, tuple(outcome.rows), outcome.reason, entry, tuple(outcome.steps)
        )

    def _add(self, account: str, user: str, sql: str, request: Request, selection: Selection, outcome: Outcome) -> int:
        return self.log.add(
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

    def _count(self, entry: int, outcome: Outcome) -> None:
        for key, state in outcome.states.items():
            self.accounts.set_state(key, state)
        self.accounts.seen = entry

    def _open_again(self) -> None:
        """Open the database again; role and data are checked as at the start."""
        self.database.open_again()
        try:
            self.database.check_read_only(list(self.policy.tables))
            self.accounts.check()
        except BaseException as error:
            # the next query must not meet a connection that was not checked
            self.database.drop()
            if isinstance(error, InputError) and not isinstance(error, UnavailableError):
                raise UnavailableError(str(error)) from None
            raise

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
        selection, outcome = self.decider.decide(request, PREPARED)
        if not outcome.answered:
            raise InputError(f"policy: prepared query '{sql}' has no safe answer: {outcome.reason}")
        self._count(self._add(PREPARED, PREPARED, sql, request, selection, outcome), outcome)

    def _pace(self, begun: float) -> None:
        if self.policy.pace > 0:
            spent = time.monotonic() - begun
            time.sleep(self.policy.pace - spent % self.policy.pace)
