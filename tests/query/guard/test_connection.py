"""A connection to PostgreSQL that is lost: opened again once, with no entry lost or doubled and nothing unlogged."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pg8000.core
import pytest

from tabprotect.query import Auditor, Guard
from tabprotect.query.guard import UnavailableError, database
from tabprotect.query.guard.database import connect, wrap
from tests.query.conftest import Server, emp_policy, postgres

pytestmark = pytest.mark.postgres

SUM = "SELECT SUM(salary) FROM emp"
Q1, Q2 = f"{SUM} WHERE dep = 'Administration'", f"{SUM} WHERE dep = 'Services'"


@pytest.fixture
def owner(own_server: Server) -> Iterator[Any]:
    connection = postgres(own_server.port, "postgres")
    connection.autocommit = True
    yield connection
    connection.close()


@pytest.fixture
def opened(own_server: Server, tmp_path: Path) -> Iterator[Callable[[], Guard]]:
    """Make guards that can open their connection again, on one log."""
    made: list[Guard] = []

    def make() -> Guard:
        place = f"postgresql://guard@127.0.0.1:{own_server.port}/postgres"
        made.append(Guard(lambda: connect(place), emp_policy(), tmp_path / "log.sqlite"))
        return made[-1]

    yield make
    for guard in made:
        guard.close()


def end_all(owner: Any) -> None:
    """End the sessions of the guard, and wait until they are gone."""
    cursor = owner.cursor()
    cursor.execute("SELECT count(pg_terminate_backend(pid, 10000)) FROM pg_stat_activity WHERE usename = 'guard'")
    assert cursor.fetchone()[0] > 0


def until(true: Callable[[], Any]) -> None:
    while not true():
        time.sleep(0.01)


def outcomes(guard: Guard) -> list[tuple[int, str, bool]]:
    return [(entry.id, entry.sql, entry.answered) for entry in guard.log.entries()]


def test_a_session_that_was_ended_is_made_again(opened, owner):
    guard = opened()
    assert guard.query(Q1).value == 10
    end_all(owner)
    assert guard.query(Q2).value == 10
    end_all(owner)
    assert not guard.query(SUM).answered
    assert outcomes(guard) == [(1, Q1, True), (2, Q2, True), (3, SUM, False)]
    assert guard.accounts.auditor(("everybody", "emp", "salary")).basis == 2


def test_a_server_that_stops_and_starts(opened, own_server):
    """While it is gone nothing is answered or logged; afterwards the same guard goes on."""
    guard = opened()
    assert guard.query(Q1).value == 10
    own_server.stop()
    try:
        for _ in range(2):
            with pytest.raises(UnavailableError, match="cannot be reached again"):
                guard.query(Q2)
    finally:
        own_server.start()
    assert guard.query(Q2).value == 10
    assert outcomes(guard) == [(1, Q1, True), (2, Q2, True)]


@pytest.mark.parametrize("nth", range(1, 4))
def test_a_session_that_ends_between_the_statements_of_one_query(opened, owner, monkeypatch, nth):
    """A query over a public column too takes two statements; every one of them may meet the loss."""
    guard, count = opened(), itertools.count(1)
    before = database.Postgres._read

    def ending(self, sql, coded):
        if next(count) == nth:
            end_all(owner)
        return before(self, sql, coded)

    monkeypatch.setattr(database.Postgres, "_read", ending)
    answer = guard.query("SELECT MIN(dep), SUM(salary) FROM emp WHERE dep = 'Administration'")
    assert answer.rows == (("Administration", 10.0),)
    assert [e.answered for e in guard.log.entries()] == [True]
    assert guard.query(Q1).value == 10


def test_a_session_that_ends_while_the_database_works(opened, owner):
    guard, found = opened(), []
    cursor = owner.cursor()
    cursor.execute("BEGIN")
    cursor.execute("LOCK TABLE emp IN ACCESS EXCLUSIVE MODE")
    asking = threading.Thread(target=lambda: found.append(guard.query(Q1)))
    asking.start()
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'guard' AND wait_event_type = 'Lock'"
    until(lambda: cursor.execute(waiting) or cursor.fetchone()[0])
    end_all(owner)
    cursor.execute("COMMIT")
    asking.join()
    assert found[0].value == 10
    assert outcomes(guard) == [(1, Q1, True)]


def test_it_is_opened_once_for_a_query(opened, owner, monkeypatch):
    guard, opens = opened(), []
    before = database.Postgres.open_again

    def again(self):
        opens.append(1)
        before(self)
        end_all(owner)

    with monkeypatch.context() as m:
        m.setattr(database.Postgres, "open_again", again)
        end_all(owner)
        with pytest.raises(UnavailableError, match="the database is gone"):
            guard.query(Q1)
    assert (len(opens), outcomes(guard)) == (1, [])
    assert guard.query(Q1).value == 10


@pytest.mark.parametrize(
    ("change", "undo", "why"),
    [
        ("UPDATE emp SET salary = 5 WHERE id = 'id9'", "UPDATE emp SET salary = 3 WHERE id = 'id9'", "has changed"),
        ("GRANT UPDATE ON emp TO guard", "REVOKE UPDATE ON emp FROM guard", "may change emp"),
        ("ALTER TABLE emp RENAME TO gone", "ALTER TABLE gone RENAME TO emp", "the database refused"),
    ],
)
def test_data_and_role_are_those_of_before(opened, owner, change, undo, why):
    """What a new connection leads to is checked as at the start, and for as long as it is something else."""
    guard = opened()
    assert guard.query(Q1).value == 10
    try:
        owner.cursor().execute(change)
        end_all(owner)
        for _ in range(2):
            with pytest.raises(UnavailableError, match=why):
                guard.query(Q1)
    finally:
        owner.cursor().execute(undo)
    assert guard.query(Q2).value == 10
    assert outcomes(guard) == [(1, Q1, True), (2, Q2, True)]


def test_entries_of_others_count_once_after_a_loss(opened, owner, monkeypatch):
    """A loss while entries of another session are taken up."""
    first, second, count, looked = opened(), opened(), itertools.count(1), []
    assert [first.query(sql).answered for sql in (Q1, Q2)] == [True, True]
    before = database.Postgres._read

    def ending(self, sql, coded):
        if next(count) == 2:
            end_all(owner)
        return before(self, sql, coded)

    with monkeypatch.context() as m:
        m.setattr(database.Postgres, "_read", ending)
        # proofs for what others were answered are looked for once all of it is taken up
        m.setattr(Auditor, "recall", lambda auditor: looked.append(auditor.basis))
        assert not second.query(SUM).answered
    key = "everybody", "emp", "salary"
    assert second.accounts.auditor(key).state.totals == first.accounts.auditor(key).state.totals == (10, 10)
    assert looked == [2]


def test_without_a_way_to_open_another_the_message_says_so(own_server, owner, tmp_path):
    guard = Guard(postgres(own_server.port, "guard"), emp_policy(), tmp_path / "log.sqlite")
    end_all(owner)
    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"Guard\(lambda: connect\("):
            guard.query(Q1)
    assert outcomes(guard) == []


def test_what_was_left_unread_is_no_answer_to_the_next_query(own_server, monkeypatch):
    """The user breaks off while an answer is read; its rest must not be taken for the next one."""
    base = wrap(lambda: postgres(own_server.port, "guard"))
    before, count = pg8000.core._read, itertools.count(1)

    def broken(sock, size):
        if next(count) == 40:
            raise KeyboardInterrupt
        return before(sock, size)

    with monkeypatch.context() as m:
        m.setattr(pg8000.core, "_read", broken)
        with pytest.raises(KeyboardInterrupt):
            base.columns("SELECT salary AS a FROM emp ORDER BY salary")
    with pytest.raises(UnavailableError, match="the database is gone"):
        base.columns("SELECT id AS a FROM emp ORDER BY id")
    base.open_again()
    assert base.columns("SELECT id AS a FROM emp ORDER BY id")[0][0] == "id1"
    base.close()
