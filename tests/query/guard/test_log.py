"""No answer without its entry, whatever is killed and whoever asks at the same time."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import duckdb
import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.query import Guard
from tabprotect.query.guard import accounts
from tabprotect.query.guard.database import connect
from tabprotect.query.guard.log import Log
from tests.query.conftest import emp_policy, plants_policy, statements

SUM = "SELECT SUM(salary) FROM emp"
Q1, Q2 = f"{SUM} WHERE dep = 'Administration'", f"{SUM} WHERE dep = 'Services'"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "emp.duckdb"
    with duckdb.connect(path) as connection:
        for sql in statements():
            connection.execute(sql)
    return path


def start(file: Path, log: Path, *queries: str) -> subprocess.Popen[str]:
    root = Path(__file__).parents[3]
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.query.guard.asker", str(file), str(log), *queries],
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def go(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.slow
def test_killed_processes_leave_no_answer_without_entry(file, tmp_path):
    """SIGKILL after a random number of answers: every printed answer is in the log, and counts for the next session."""
    rng = np.random.default_rng(0)
    log = tmp_path / "log.sqlite"
    for _ in range(3):
        process = start(file, log, *[Q1, Q2, SUM] * 300)
        go(process)
        printed = [process.stdout.readline() for _ in range(int(rng.integers(1, 60)))]
        os.kill(process.pid, signal.SIGKILL)
        # what was on its way when the process died has left, too
        printed += process.stdout.readlines()
        process.wait()
        entries = {e.id: e for e in Log(log).entries()}
        for line in printed:
            if not line.endswith("\n"):
                continue
            number, value = line.split()
            assert entries[int(number)].answered == (value != "denied")
            if value != "denied":
                assert entries[int(number)].result["rows"] == [[float(value)]]
    guard = Guard(connect(str(file)), emp_policy(), log)
    assert not guard.query(SUM).answered


@pytest.mark.slow
def test_processes_that_ask_at_once_share_one_account(file, tmp_path):
    """Each asks the three queries in another order; together they never get all three."""
    log = tmp_path / "log.sqlite"
    orders = [(Q1, Q2, SUM), (SUM, Q1, Q2), (Q2, SUM, Q1)]
    processes = [start(file, log, *order) for order in orders]
    for process in processes:
        go(process)
    got: dict[str, set[str]] = {}
    for process, order in zip(processes, orders, strict=True):
        out, _ = process.communicate()
        for sql, line in zip(order, out.splitlines(), strict=True):
            got.setdefault(sql, set()).add(line.split()[1])
    assert sum(values != {"denied"} for values in got.values()) < 3
    entries = Log(log).entries()
    assert len(entries) == 9
    assert [e.id for e in entries] == list(range(1, 10))


def test_threads_share_one_account(file, tmp_path):
    guard = Guard(connect(str(file)), emp_policy(), tmp_path / "log.sqlite")
    got = []
    threads = [threading.Thread(target=lambda q=q: got.append((q, guard.query(q)))) for q in [Q1, Q2, SUM] * 3]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(guard.log) == len(got) == 9
    assert len({q for q, a in got if a.answered}) < 3
    assert sorted(a.entry for _, a in got) == list(range(1, 10))


def test_no_answer_leaves_when_the_log_fails(file, tmp_path, monkeypatch):
    """A full disk, say: the transaction is taken back, and nothing counts as answered."""
    guard = Guard(connect(str(file)), emp_policy(), tmp_path / "log.sqlite")

    def full(*_, **__):
        raise sqlite3.OperationalError("database or disk is full")

    with monkeypatch.context() as m:
        m.setattr(Log, "add", full)
        with pytest.raises(InputError, match="nothing is answered without a log"):
            guard.query(Q1)
    assert len(guard.log) == 0
    assert guard.accounts.auditor(("everybody", "emp", "salary")).basis == 0
    assert guard.query(Q1).value == 10


def test_an_answer_is_on_the_disk_before_it_leaves(file, tmp_path, monkeypatch):
    """Somebody who reads the file at the moment of the answer finds the entry."""
    path = tmp_path / "log.sqlite"
    guard = Guard(connect(str(file)), emp_policy(), path)
    seen = []
    before = accounts.Accounts.set_state

    def watched(self, key, state):
        seen.append(sqlite3.connect(path).execute("SELECT count(*) FROM entries").fetchone()[0])
        before(self, key, state)

    monkeypatch.setattr(accounts.Accounts, "set_state", watched)
    assert guard.query(Q1).value == 10
    assert seen == [1]


def test_a_start_from_snapshots_is_a_start_from_the_log(duck, tmp_path):
    policy = plants_policy(rules="nk=1,60")
    guard = Guard(duck, policy, tmp_path / "log.sqlite")
    join = "FROM plants p JOIN firms f ON p.firm = f.firm WHERE"
    asked = [
        f"SELECT SUM(output) {join} {c}" for c in ("region = 'r0'", "size = 'A'", "fuel = 'gas'", "region <> 'r2'")
    ]
    assert all(guard.query(asked[0]).answered for _ in range(accounts.EVERY))
    assert not guard.log.snapshots()
    answered = [guard.query(sql).answered for sql in asked]
    assert sum(answered) >= 3
    # the answers since then are taken up one by one
    assert [entry for *_, entry, _ in guard.log.snapshots()] == [accounts.EVERY]
    key = ("everybody", "plants", "output")
    again = Guard(duck, policy, tmp_path / "log.sqlite").accounts.auditor(key).state
    state = guard.accounts.auditor(key).state
    assert again.totals == state.totals
    assert np.array_equal(again.partition.class_of, state.partition.class_of)
    assert again.basis.inverse.tolist() == state.basis.inverse.tolist()


def test_something_else_is_no_log(tmp_path):
    (tmp_path / "log.sqlite").write_text("something else " * 100)
    with pytest.raises(InputError, match="not a database"):
        Log(tmp_path / "log.sqlite")


def test_many_logs_of_other_versions_are_refused(tmp_path):
    log = Log(tmp_path / "log.sqlite")
    log.remember("version", "99")
    with pytest.raises(InputError, match="version 99"):
        Log(tmp_path / "log.sqlite")
