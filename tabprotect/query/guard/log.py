"""The log: every query with its outcome, written before the answer leaves.

SQLite in write-ahead mode with full synchronisation: one file, transactions that survive a killed process and a power
cut, and locks that several processes on a machine respect (DuckDB opens a file for writing in one process only).
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from tabprotect.errors import InputError
from tabprotect.query.guard.unavailable import UnavailableError

__all__ = ["Entry", "Log"]

VERSION: Final = "1"

PATIENCE: Final = 60.0
"""Seconds to wait for another session's decision."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS entries (
    id INTEGER PRIMARY KEY AUTOINCREMENT, at TEXT NOT NULL, account TEXT NOT NULL, user TEXT NOT NULL,
    sql TEXT NOT NULL, answered INTEGER NOT NULL, reason TEXT NOT NULL, result TEXT NOT NULL, request TEXT NOT NULL,
    applied TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS snapshots (
    account TEXT NOT NULL, field TEXT NOT NULL, entry INTEGER NOT NULL, state BLOB NOT NULL,
    PRIMARY KEY (account, field)) STRICT;
"""


@dataclass(frozen=True)
class Entry:
    """One query in the log.

    Attributes
    ----------
    id : int
    account, user, sql : str
    answered : bool
    reason : str
    result : dict
        What the user got.
    request : dict
        How the query sets are found again.
    applied : dict of str to list of int
        For every field the groups whose sums were answered, as positions.
    """

    id: int
    account: str
    user: str
    sql: str
    answered: bool
    reason: str
    result: dict[str, Any]
    request: dict[str, Any]
    applied: dict[str, list[int]]


class Log:
    """The log file.

    Parameters
    ----------
    path : path
        Made where it does not exist, for its owner alone. Confidential: it holds what users asked and got.

    Raises
    ------
    InputError
        If the file is no log, or of another version.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        try:
            self.path.touch(mode=0o600)
        except OSError as error:
            raise InputError(f"log {path}: {error.strerror}") from None
        try:
            self._c = sqlite3.connect(self.path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
            self._c.execute("PRAGMA journal_mode = WAL")
            self._c.execute("PRAGMA synchronous = FULL")
            self._c.executescript(_SCHEMA)
            self._c.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (VERSION,))
        except sqlite3.Error as error:
            raise InputError(f"log {path}: {error}") from None
        if self.meta("version") != VERSION:
            raise InputError(f"log {path} is of version {self.meta('version')}; this program writes version {VERSION}")
        self._file = self._there()

    def _there(self) -> tuple[int, int] | None:
        """Return what file the path leads to."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_dev, found.st_ino

    def close(self) -> None:
        """Close the file."""
        self._c.close()

    def meta(self, name: str) -> str | None:
        """Return a remembered text."""
        row = self._c.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def remember(self, name: str, value: str) -> None:
        """Remember a text for good."""
        self._c.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the only right to write; everything in the block is kept, or nothing.

        Raises
        ------
        UnavailableError
            If other sessions hold it for too long, the file cannot be written, or another one is in its place; then no
            answer may leave.
        """
        if self._there() != self._file:
            raise UnavailableError(f"log {self.path} was replaced or removed while it is in use; start the guard again")
        try:
            self._c.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            raise UnavailableError(f"log {self.path}: {error}; nothing is answered without a log") from None
        try:
            yield
            self._c.execute("COMMIT")
        except BaseException as error:
            if self._c.in_transaction:
                self._c.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise UnavailableError(f"log {self.path}: {error}; nothing is answered without a log") from None
            raise

    def add(self, account: str, user: str, sql: str, answered: bool, reason: str, **parts: Any) -> int:
        """Write one entry and return its number; `parts` are result, request and applied."""
        texts = [json.dumps(parts[name], default=str) for name in ("result", "request", "applied")]
        cursor = self._c.execute(
            "INSERT INTO entries (at, account, user, sql, answered, reason, result, request, applied) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (datetime.now(UTC).isoformat(), account, user, sql, int(answered), reason, *texts),
        )
        return int(cursor.lastrowid or 0)

    def entries(self, after: int = 0) -> list[Entry]:
        """Return the entries after one, in their order."""
        rows = self._c.execute(
            "SELECT id, account, user, sql, answered, reason, result, request, applied FROM entries "
            "WHERE id > ? ORDER BY id",
            (after,),
        ).fetchall()
        return [
            Entry(id_, account, user, sql, bool(answered), reason, *map(json.loads, texts))
            for id_, account, user, sql, answered, reason, *texts in rows
        ]

    def __len__(self) -> int:
        return int(self._c.execute("SELECT count(*) FROM entries").fetchone()[0])

    @property
    def last(self) -> int:
        """Number of the last entry, 0 where there is none."""
        return int(self._c.execute("SELECT coalesce(max(id), 0) FROM entries").fetchone()[0])

    @property
    def answers(self) -> int:
        """How many queries were answered."""
        return int(self._c.execute("SELECT count(*) FROM entries WHERE answered").fetchone()[0])

    def snapshot(self, account: str, field: str, entry: int, state: bytes) -> None:
        """Keep the state of an auditor after an entry, so that a start need not go through the whole log."""
        self._c.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", (account, field, entry, state))

    def snapshots(self) -> list[tuple[str, str, int, bytes]]:
        """Return the latest state of every auditor: account, field, entry, state."""
        return list(self._c.execute("SELECT account, field, entry, state FROM snapshots").fetchall())
