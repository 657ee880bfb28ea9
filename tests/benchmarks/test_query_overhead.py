"""The benchmark of the guard: a kept log is gone on from, query by query."""

from __future__ import annotations

import duckdb
import pytest

from benchmarks.query.overhead import POLICY, Mixture, asker, continued, fill, measure, tables
from tabprotect.errors import InputError
from tabprotect.query import Guard, Policy


@pytest.fixture(scope="module")
def database():
    connection = duckdb.connect()
    fill(connection, tables(2000, 0, 0.0))
    return connection


def test_a_kept_log_goes_on_where_it_ended(database, tmp_path):
    log, asks = tmp_path / "log.sqlite", Mixture(5)
    guard = Guard(database, Policy.of(POLICY), log)
    answered = sum(guard.query(asks()).answered for _ in range(12))
    guard.close()
    again = Mixture(5)
    assert continued(log, again) == (answered, 12)
    assert [again() for _ in range(20)] == [asks() for _ in range(20)]
    with pytest.raises(InputError, match="not those of this seed"):
        continued(log, Mixture(6))
    assert continued(tmp_path / "none.sqlite", Mixture(5)) == (0, 0)


def test_measured_are_the_guard_the_bare_query_and_the_wait(database, tmp_path):
    guard = Guard(database, Policy.of(POLICY), tmp_path / "log.sqlite")
    row = measure(guard, asker(database), ["SELECT SUM(price) FROM lineitem", "SELECT price FROM lineitem"])
    assert (row["queries"], row["answered"]) == (2, 1)
    assert row["guard processor median"] > 0
    assert row["guard waiting for a processor 99 %"] >= 0
