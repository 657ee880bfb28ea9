"""A decision is recalled only on the same sets and the same answers."""

from __future__ import annotations

import duckdb
import numpy as np
import pytest

from tabprotect.query import Guard, Policy
from tabprotect.query.audit import Auditor, Records
from tabprotect.query.audit.groups import Groups
from tabprotect.query.guard import deciding
from tabprotect.query.guard.memory import Memory

RECORDS = Records.of([4, 3, 3, 5, 6, 2])


def counted(memory: Memory, state, sets, also=()) -> bool:
    """Whether a decision was made anew."""
    made: list[int] = []
    memory.recalled(state, sets, also, lambda: made.append(1))
    return bool(made)


def test_another_state_set_or_choice_is_another_decision():
    a = Auditor(RECORDS, "threshold=2")
    memory, one = Memory(lambda _: a.state), np.array([1, 1, 1, 0, 0, 0], bool)
    table = Groups(np.array([0, 0, 0, 1, 1, 1]), 2)
    assert counted(memory, a.state, [one])
    assert not counted(memory, a.state, [one.copy()])
    assert counted(memory, a.state, [~one])
    assert counted(memory, a.state, [table[0], ~one])
    assert counted(memory, a.state, table, (0, 1))
    assert counted(memory, a.state, table, (0,))
    assert counted(memory, a.state, Groups(np.array([1, 1, 1, 0, 0, 0]), 2), (0, 1))
    assert not counted(memory, a.state, Groups(table.label.copy(), 2), (0, 1))
    assert a.ask(one).answered
    assert counted(memory, a.state, [one])


def test_decisions_that_lead_to_another_state_are_not_kept():
    a = Auditor(RECORDS, "threshold=2")
    memory: Memory = Memory(lambda pair: pair[1])
    sets, made = [np.array([1, 1, 1, 0, 0, 0], bool)], []

    def make():
        made.append(1)
        return a.decide(sets)

    for _ in range(2):
        assert memory.recalled(a.state, sets, (), make)[0].answered
    assert len(made) == 2
    a.ask(sets[0])
    for _ in range(2):
        assert memory.recalled(a.state, sets, (), make)[0].inferable
    assert len(made) == 3


def test_padding_bits_do_not_make_sets_alike():
    """Nine records and ten fill the same number of bytes."""
    state = Auditor(RECORDS, "threshold=2").state
    memory: Memory = Memory(lambda _: state)
    assert counted(memory, state, [np.ones(9, bool)])
    assert counted(memory, state, [np.r_[np.ones(9, bool), False]])


@pytest.fixture
def counting(monkeypatch):
    """Count the tables that are decided on."""
    calls, real = [], deciding.protect_groups

    def protect_groups(*given):
        calls.append(1)
        return real(*given)

    monkeypatch.setattr(deciding, "protect_groups", protect_groups)
    return calls


def test_the_guard_decides_once_between_two_new_answers(tmp_path, counting):
    c = duckdb.connect()
    c.execute(
        "CREATE TABLE t AS SELECT i AS id, i % 4 AS a, i % 6 AS b, (i * 7 % 11 + 20)::DOUBLE AS x FROM range(60) r(i)"
    )
    policy = Policy.of(
        {
            "unit": "t.id",
            "rules": "p%=10",
            "minimum_units": 3,
            "tables": {"t": {"key": "id", "public": ["a", "b"], "confidential": {"x": {}}}},
        }
    )
    guard = Guard(c, policy, tmp_path / "log.sqlite")
    table = "SELECT a, SUM(x) FROM t GROUP BY a"
    first = guard.query(table)
    again = [guard.query(table) for _ in range(3)]
    assert first.answered
    assert all(answer.rows == first.rows for answer in again)
    # the first answer is new, the second decision finds that it follows, and later ones recall that
    assert len(counting) == 2
    assert guard.query("SELECT SUM(x) FROM t WHERE b IN (0, 1)").answered
    assert guard.query(table).rows == first.rows
    assert len(counting) == 3
    assert len(guard.log) == 6
