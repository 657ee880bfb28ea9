"""Who has been answered what: the auditors of every account, brought up to date from the log."""

from __future__ import annotations

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
from tabprotect.query.guard.memory import Memory
from tabprotect.query.guard.policy import Policy
from tabprotect.query.guard.source import ROWS, Rows, Selection, load, select
from tabprotect.query.guard.sql import Request

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
        Last entry of the log that is in the auditors.
    """

    policy: Policy
    database: Database
    log: Log
    seen: int = 0
    prepared: bool = False
    _rows: dict[str, Rows] = field(default_factory=dict, repr=False)
    _auditors: dict[Key, Auditor] = field(default_factory=dict, repr=False)
    _since: dict[Key, int] = field(default_factory=dict, repr=False)
    _grouped: dict[Key, Memory[Grouped]] = field(default_factory=dict, repr=False)
    _single: dict[Key, Memory[tuple[Decision, State]]] = field(default_factory=dict, repr=False)

    def rows(self, table: str) -> Rows:
        """Return the rows of a table, read at the first use.

        Raises
        ------
        InputError
            If they are not those that the log speaks of.
        """
        if table not in self._rows:
            rows = load(self.database, self.policy, table)
            known = self.log.meta(f"data {table}")
            if known is None:
                self.log.remember(f"data {table}", rows.fingerprint)
            elif known != rows.fingerprint:
                raise InputError(
                    f"table '{table}' has changed since the first entry of the log {self.log.path}; answers about both "
                    "states together may disclose what changed: start a new log only if that is acceptable"
                )
            self._rows[table] = rows
        return self._rows[table]

    def auditor(self, key: Key) -> Auditor:
        """Return the auditor of a field for an account."""
        if key not in self._auditors:
            account, table, name = key
            rows = self.rows(table)
            least = f"threshold={self.policy.minimum_units}"
            rules = least if name == ROWS else f"{self.policy.rules}|{least}"
            simulatable = name != ROWS and self.prepared and account != PREPARED
            if simulatable:
                self._auditors[key] = self.auditor((PREPARED, table, name)).copy(simulatable=True)
            else:
                self._auditors[key] = Auditor(rows.fields[name], rules, intruders=rows.intruders, work=self.policy.work)
        return self._auditors[key]

    def grouped(self, key: Key) -> Memory[Grouped]:
        """Return the decisions on tables since the last new answer."""
        return self._grouped.setdefault(key, Memory(lambda grouped: grouped.state))

    def single(self, key: Key) -> Memory[tuple[Decision, State]]:
        """Return the decisions on single sums since the last new answer."""
        return self._single.setdefault(key, Memory(lambda pair: pair[1]))

    def selection(self, request: Request) -> Selection:
        """Return the query sets of a request."""
        return select(self.database, request, self.rows(request.table), self.policy.tables[request.table].key)

    def set_state(self, key: Key, state: State) -> None:
        """Make a new state count, after it is in the log."""
        self.auditor(key).state = state
        self._since[key] = self._since.get(key, 0) + 1

    def snapshot(self, entry: int, *, all_: bool = False) -> None:
        """Write the states that have changed much, or all that have changed; inside a transaction.

        The time between two snapshots grows with what there is to write.
        """
        for key, count in self._since.items():
            if count >= (1 if all_ else max(EVERY, self.auditor(key).basis // 4)):
                self.log.snapshot(key[0], f"{key[1]}.{key[2]}", entry, dump(self.auditor(key).state))
                self._since[key] = 0

    def catch_up(self) -> None:
        """Take up what other sessions have answered; at the start, everything."""
        done: dict[tuple[str, str], int] = {}
        behind: set[Key] = set()
        if self.seen == 0:
            for account, name, last, content in self.log.snapshots():
                table, _, column = name.partition(".")
                a = self.auditor((account, table, column))
                a.state = restore(content, a.records, a.state)
                done[account, name] = last
        for entry in self.log.entries(self.seen):
            fields_ = [f for f in entry.applied if done.get((entry.account, f), 0) < entry.id]
            if fields_:
                self._replay(entry, fields_, behind)
            self.seen = entry.id
        for key in behind:
            self.auditor(key).recall()

    def _replay(self, entry: Entry, fields_: list[str], behind: set[Key]) -> None:
        table = entry.request["table"]
        groups = tuple((t, c) for t, c in entry.request["groups"])
        chosen = self.selection(Request(table, (), groups, (), entry.request["source"]))
        for name in fields_:
            key = (entry.account, table, name.partition(".")[2])
            a = self.auditor(key)
            if a.simulatable:
                continue
            for k in entry.applied[name]:
                if k >= len(chosen.sets):
                    raise InputError(f"entry {entry.id} of the log finds other groups now; the data have changed")
                a.replay(chosen.sets[k])
            behind.add(key)
            self._since[key] = self._since.get(key, 0) + 1
        self._compare(entry, chosen)

    def _compare(self, entry: Entry, chosen: Selection) -> None:
        """The sums of the log must be those of today."""
        rows = self.rows(entry.request["table"])
        digest = sizes(chosen.sets)
        if entry.request.get("sizes", digest) != digest or len(rows.keys) < max(digest, default=0):
            raise InputError(f"entry {entry.id} of the log finds other rows now; the data have changed")
