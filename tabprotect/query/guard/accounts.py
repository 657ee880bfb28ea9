"""Who has been answered what: the auditors of every account, brought up to date from the log."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tabprotect.errors import InputError
from tabprotect.query.audit.auditor import Auditor
from tabprotect.query.audit.decision import Decision
from tabprotect.query.audit.groups import sizes
from tabprotect.query.audit.state import State
from tabprotect.query.audit.stored import dump, restore
from tabprotect.query.guard.database import Database
from tabprotect.query.guard.grouped import Grouped
from tabprotect.query.guard.log import Entry, Log
from tabprotect.query.guard.memory import Memory, digest
from tabprotect.query.guard.policy import Policy
from tabprotect.query.guard.request import Request
from tabprotect.query.guard.selecting import Selection, select
from tabprotect.query.guard.source import ROWS, Rows, check_apart, load
from tabprotect.query.guard.unavailable import UnavailableError

__all__ = ["PREPARED", "Accounts", "Key"]

Key = tuple[str, str, str]
"""Account, table, field."""

PREPARED = "prepared"
"""The account that the sums of the simulatable mode are answered to."""

EVERY = 100
"""Least number of entries between two snapshots of an auditor."""


@dataclass(eq=False)
class Accounts:
    """All auditors of one guard, in memory.

    Attributes
    ----------
    seen : int
        Last entry of the log that is in the auditors. Where taking up entries was broken off, those up to it are.
    """

    policy: Policy
    database: Database
    log: Log
    seen: int = 0
    _rows: dict[str, Rows] = field(default_factory=dict, repr=False)
    _auditors: dict[Key, Auditor] = field(default_factory=dict, repr=False)
    _since: dict[Key, int] = field(default_factory=dict, repr=False)
    _grouped: dict[Key, Memory[Grouped]] = field(default_factory=dict, repr=False)
    _single: dict[Key, Memory[tuple[Decision, State]]] = field(default_factory=dict, repr=False)
    _done: dict[tuple[str, str], int] = field(default_factory=dict, repr=False)
    _behind: dict[Key, None] = field(default_factory=dict, repr=False)

    def read(self) -> None:
        """Read all tables that lead to a unit, so that what is wrong with them is told to the owner and nobody else.

        Raises
        ------
        InputError
            What is wrong with a table, or columns that hold the same values.
        UnavailableError
            Data that are not those that the log speaks of.
        """
        for name in self.policy.tables:
            if self.policy.path_to_unit(name) is not None:
                self.rows(name)
        check_apart(self._rows)

    def rows(self, table: str) -> Rows:
        """Return the rows of a table, read at the first use."""
        if table not in self._rows:
            rows = load(self.database, self.policy, table)
            if self.log.meta(f"data {table}") is None:
                self.log.remember(f"data {table}", rows.fingerprint)
            self._compare(table, rows)
            self._rows[table] = rows
        return self._rows[table]

    def _compare(self, table: str, rows: Rows) -> None:
        if self.log.meta(f"data {table}") != rows.fingerprint:
            raise UnavailableError(
                f"table '{table}' has changed since the first entry of the log {self.log.path}; answers about both "
                "states together may disclose what changed: start a new log only if that is acceptable"
            )

    def check(self) -> None:
        """Read all tables that are in use once more: they must be those that the log speaks of.

        Raises
        ------
        InputError
            If they are not, or cannot be read.
        """
        for table in self._rows:
            self._compare(table, load(self.database, self.policy, table))

    def auditor(self, key: Key) -> Auditor:
        """Return the auditor of a field for an account."""
        if key not in self._auditors:
            _, table, name = key
            rows = self.rows(table)
            least = f"threshold={self.policy.minimum_units}"
            rules = least if name == ROWS else f"{self.policy.rules}|{least}"
            if self._simulatable(key):
                self._auditors[key] = self.auditor((PREPARED, table, name)).copy(simulatable=True)
            else:
                self._auditors[key] = Auditor(rows.fields[name], rules, intruders=rows.intruders, work=self.policy.work)
        return self._auditors[key]

    def _simulatable(self, key: Key) -> bool:
        """Whether the prepared sums are all that answers are made of, so that no answer changes the state."""
        return bool(self.policy.prepared) and key[0] != PREPARED and key[2] != ROWS

    def grouped(self, key: Key) -> Memory[Grouped]:
        """Return the decisions on tables since the last new answer."""
        return self._grouped.setdefault(key, Memory(lambda grouped: grouped.state))

    def single(self, key: Key) -> Memory[tuple[Decision, State]]:
        """Return the decisions on single sums since the last new answer."""
        return self._single.setdefault(key, Memory(lambda pair: pair[1]))

    def selection(self, request: Request, fields_: Sequence[str] = ()) -> Selection:
        """Return the query sets of a request; the values of some columns must be those that were read."""
        return select(self.database, request, self.rows(request.table), self.policy.tables[request.table].key, fields_)

    def set_state(self, key: Key, state: State) -> None:
        """Make a new state count, after it is in the log."""
        self.auditor(key).state = state
        self._since[key] = self._since.get(key, 0) + 1

    def snapshot(self, entry: int, *, all_: bool = False) -> None:
        """Write the states that have changed much, or all that have changed; inside a transaction.

        The time between two snapshots grows with what there is to write.
        """
        for key, count in self._since.items():
            if not self._simulatable(key) and count >= (1 if all_ else max(EVERY, self.auditor(key).basis // 4)):
                self.log.snapshot(key[0], f"{key[1]}.{key[2]}", entry, dump(self.auditor(key).state))
                self._since[key] = 0

    def catch_up(self) -> None:
        """Take up what other sessions have answered; at the start, everything.

        Raises
        ------
        UnavailableError
            If entries are gone, count for another account than the policy says, or find other rows than they did.
        """
        if self.log.last < self.seen:
            raise UnavailableError(
                f"log {self.log.path} has lost entries while it is in use; answers would be forgotten"
            )
        if self.seen == 0:
            for account, name, last, content in self.log.snapshots():
                key = self._key(account, name, f"the log {self.log.path}")
                if not self._simulatable(key):
                    a = self.auditor(key)
                    a.state = restore(content, a.records, a.state)
                    self._done[account, name] = last
        for entry in self.log.entries(self.seen):
            self._check_account(entry)
            fields_ = [f for f in entry.applied if self._done.get((entry.account, f), 0) < entry.id]
            keys = {f: self._key(entry.account, f, f"entry {entry.id} of the log") for f in fields_}
            if kept := {f: key for f, key in keys.items() if not self._simulatable(key)}:
                self._replay(entry, kept)
                self._behind |= dict.fromkeys(kept.values())
            self.seen = entry.id
        for key in self._behind:
            self.auditor(key).recall()
        self._behind.clear()

    def _key(self, account: str, name: str, where: str) -> Key:
        table, _, column = name.rpartition(".")
        t = self.policy.tables.get(table)
        if t is None or (column != ROWS and column not in t.confidential):
            raise UnavailableError(
                f"{where} is about {name}, which the policy does not open any more; name it as it was, or start a new "
                "log only if it is acceptable that answers are forgotten"
            )
        return account, table, column

    def _check_account(self, entry: Entry) -> None:
        if entry.answered and entry.account not in (PREPARED, now := self.policy.account(entry.user)):
            raise UnavailableError(
                f"policy: the answers to '{entry.user}' belong to '{entry.account}' in the log {self.log.path}, and "
                f"would now to '{now}': answers of before would be forgotten. Keep pooled and groups as they were, or "
                "start a new log only if that is acceptable"
            )

    def _replay(self, entry: Entry, keys: dict[str, Key]) -> None:
        request = entry.request
        groups = tuple((t, c) for t, c in request["groups"])
        try:
            chosen = self.selection(Request(request["table"], (), groups, (), request["source"]))
        except UnavailableError:
            raise
        except InputError as error:
            raise UnavailableError(f"entry {entry.id} of the log cannot be found again: {error}") from None
        same = request.get("sets", request.get("sizes"))
        if same not in (sizes(chosen.sets), digest(chosen.sets).hex()):
            raise UnavailableError(
                f"entry {entry.id} of the log finds other rows now: the data have changed, or a setting of the "
                "database such as its time zone; answers about both states together may disclose what changed"
            )
        for name, key in keys.items():
            auditor = self.auditor(key)
            for k in entry.applied[name]:
                auditor.replay(chosen.sets[k])
            self._since[key] = self._since.get(key, 0) + 1
