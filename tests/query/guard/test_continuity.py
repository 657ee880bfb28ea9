"""What an account outlives: restarts, other policies, other data, other logs. Each of these once gave sums away."""

from __future__ import annotations

import shutil
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from tabprotect.errors import InputError
from tabprotect.query import Guard
from tabprotect.query.audit import Denial
from tabprotect.query.guard import TablePolicy, UnavailableError
from tabprotect.query.guard.policy import Field
from tests.query.conftest import emp_policy, plants_policy

SUM = "SELECT SUM(salary) FROM emp"
PARTS = [f"{SUM} WHERE dep = '{dep}'" for dep in ("Administration", "Services")]
BY_DEPARTMENT = "SELECT dep, SUM(salary) FROM emp GROUP BY dep"


@pytest.mark.parametrize("orderly", [True, False])
@pytest.mark.parametrize("asked", [BY_DEPARTMENT, PARTS[0], f"{SUM} WHERE dep = 'Management'"])
def test_prepared_sums_stay_the_only_basis_after_a_restart(duck, tmp_path, orderly, asked):
    policy = emp_policy(prepared=(BY_DEPARTMENT,))
    guard = Guard(duck, policy, tmp_path / "log")
    guard.query(asked)
    assert guard.query(SUM).reason == str(Denial.OUTSIDE)
    (guard if orderly else guard.log).close()
    for _ in range(2):
        again = Guard(duck, policy, tmp_path / "log")
        assert again.query(SUM).reason == str(Denial.OUTSIDE)
        assert again.query(f"{SUM} WHERE dep = 'Management'").reason == str(Denial.OUTSIDE)
        assert again.query(PARTS[1]).value == 10
        (again if orderly else again.log).close()


def test_prepared_sums_cannot_come_and_go(duck, tmp_path):
    for name, first, then in (("a", (BY_DEPARTMENT,), ()), ("b", (), (BY_DEPARTMENT,))):
        guard = Guard(duck, emp_policy(prepared=first), tmp_path / name)
        assert guard.query(PARTS[0]).answered
        guard.log.close()
        with pytest.raises(UnavailableError, match="prepared differs from what the log began with"):
            Guard(duck, emp_policy(prepared=then), tmp_path / name)
        assert Guard(duck, emp_policy(prepared=first), tmp_path / name).query(PARTS[1]).answered


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"pooled": False}),
        ({"pooled": False}, {}),
        ({"pooled": False}, {"pooled": False, "groups": {"ann": "team"}}),
        ({"pooled": False, "groups": {"ann": "team"}}, {"pooled": False}),
        ({"pooled": False, "groups": {"ann": "team"}}, {"pooled": False, "groups": {"ann": "others"}}),
    ],
)
def test_answers_stay_in_their_account(duck, tmp_path, before, after):
    guard, other = (Guard(duck, emp_policy(**before), tmp_path / "log") for _ in range(2))
    running = Guard(duck, emp_policy(**after), tmp_path / "log")
    for part in PARTS:
        assert guard.query(part, user="ann").answered
    assert not other.query(SUM, user="ann").answered
    with pytest.raises(UnavailableError, match="answers of before would be forgotten"):
        running.query(SUM, user="ann")
    with pytest.raises(UnavailableError, match="the answers to 'ann' belong to"):
        Guard(duck, emp_policy(**after), tmp_path / "log")


def test_who_has_no_answer_may_join_a_group(duck, tmp_path):
    guard = Guard(duck, emp_policy(pooled=False, groups={"ann": "team"}), tmp_path / "log")
    for part in PARTS:
        assert guard.query(part, user="ann").answered
    guard.close()
    more = Guard(duck, emp_policy(pooled=False, groups={"ann": "team", "bob": "team"}), tmp_path / "log")
    assert more.query(SUM, user="bob").reason == str(Denial.INFERABLE)
    assert more.query(SUM, user="carl").value == 110


def test_rows_that_move_to_another_group_are_noticed(duck, tmp_path):
    """Two people exchange their departments: the sums of before and after differ by what the two differ by."""
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    assert guard.query(PARTS[0]).answered
    guard.log.close()
    duck.execute("UPDATE emp SET dep = 'Services' WHERE id = 'id4'")
    duck.execute("UPDATE emp SET dep = 'Administration' WHERE id = 'id8'")
    with pytest.raises(UnavailableError, match="entry 1 of the log finds other rows now"):
        Guard(duck, emp_policy(), tmp_path / "log")


def test_an_open_session_counts_the_rows_that_it_answered(duck, tmp_path):
    """In one session the sets of both states are in the account, and their difference is one person."""
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    assert guard.query(PARTS[1]).value == 10
    duck.execute("UPDATE emp SET dep = 'Services' WHERE id = 'id4'")
    assert guard.query(PARTS[1]).reason == str(Denial.INFERABLE)


@pytest.mark.parametrize("query", [SUM, BY_DEPARTMENT, "SELECT AVG(salary) FROM emp"])
def test_changed_values_are_no_answer(duck, tmp_path, query):
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    duck.execute("UPDATE emp SET salary = salary + 1 WHERE id = 'id8'")
    with pytest.raises(UnavailableError, match=r"values of emp\.salary have changed"):
        guard.query(query)
    assert len(guard.log) == 0


def test_a_log_in_use_is_not_replaced(duck, tmp_path):
    log = tmp_path / "log"
    guard = Guard(duck, emp_policy(), log)
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert guard.query(PARTS[0]).answered
    for file in tmp_path.glob("log*"):
        file.unlink()
    with pytest.raises(UnavailableError, match="was replaced or removed"):
        guard.query(PARTS[1])
    assert Guard(duck, emp_policy(), log).query(PARTS[1]).answered
    with pytest.raises(UnavailableError, match="was replaced or removed"):
        guard.query(SUM)


def test_a_log_in_use_does_not_lose_entries(duck, tmp_path):
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    for part in PARTS:
        assert guard.query(part).answered
    with closing(sqlite3.connect(tmp_path / "log", isolation_level=None)) as other:
        other.execute("DELETE FROM entries WHERE id = 2")
    with pytest.raises(UnavailableError, match="has lost entries"):
        guard.query(SUM)


def test_a_table_that_the_policy_does_not_open_any_more_is_named(duck, tmp_path):
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    assert guard.query(PARTS[0]).answered
    duck.execute("CREATE VIEW people AS SELECT * FROM emp")
    other = emp_policy(unit="people.id", tables={"people": TablePolicy("id", ("dep",), {"salary": Field()})})
    for _ in range(2):
        with pytest.raises(UnavailableError, match=r"is about emp\.salary, which the policy does not open any more"):
            Guard(duck, other, tmp_path / "log")
        guard.close()


def test_one_column_under_two_names_is_refused(duck, tmp_path):
    duck.execute("CREATE VIEW v AS SELECT * FROM emp")
    table = TablePolicy("id", ("dep",), {"salary": Field()})
    view = TablePolicy("id", ("dep",), {"salary": Field()}, {"id": "emp.id"})
    with pytest.raises(InputError, match=r"emp\.salary and v\.salary hold the same values of the same units"):
        Guard(duck, emp_policy(tables={"emp": table, "v": view}), tmp_path / "log")


def test_other_data_are_refused_and_an_old_copy_is_another_log(duck, tmp_path):
    """A guard that starts on an old copy cannot know what was answered since: the documentation says so."""
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    assert guard.query(PARTS[0]).answered
    guard.close()
    shutil.copy(tmp_path / "log", tmp_path / "copy")
    duck.execute("UPDATE emp SET salary = 5 WHERE id = 'id4'")
    with pytest.raises(UnavailableError, match="table 'emp' has changed"):
        Guard(duck, emp_policy(), tmp_path / "copy")
    text = (Path(__file__).parents[3] / "docs" / "query.md").read_text()
    assert "earlier copy of the log" in " ".join(text.split())


@pytest.mark.postgres
@pytest.mark.parametrize("word", ["now", "today 10:00", " Tomorrow", "YESTERDAY"])
def test_conditions_that_change_with_time_are_denied(server, tmp_path, word):
    from tests.query.conftest import postgres

    guard = Guard(postgres(server, "guard"), plants_policy(), tmp_path / "log")
    answer = guard.query(f"SELECT COUNT(*) FROM plants WHERE fuel <= '{word}'")
    assert "changes with time" in answer.reason
    assert "changes with time" not in guard.query("SELECT COUNT(*) FROM plants WHERE fuel <= 'snow'").reason
