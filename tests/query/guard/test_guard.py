"""The guard on both databases: what it answers, what it refuses, what it keeps."""

from __future__ import annotations

import pytest

from tabprotect.errors import InputError
from tabprotect.query import Guard, Policy
from tabprotect.query.audit import Denial
from tabprotect.query.guard import UnavailableError
from tests.query.conftest import PLANTS, emp_policy, plants_policy

SUM = "SELECT SUM(salary) FROM emp"


def outputs(**where):
    regions = {i: (f"r{i % 3}", "AB"[i % 2]) for i in range(1, 25)}
    return [
        out
        for _, firm, fuel, out in PLANTS
        if all({"region": regions[firm][0], "size": regions[firm][1], "fuel": fuel}[k] == v for k, v in where.items())
    ]


def test_emp(guarded):
    """Golden: q1 and q2 are 10, q3 is denied after them, q4 is sensitive itself."""
    guard = guarded(emp_policy())
    assert guard.query(f"{SUM} WHERE dep = 'Administration'").value == 10
    assert guard.query(f"{SUM} WHERE dep = 'Services'").value == 10
    q3 = guard.query(SUM)
    assert (q3.answered, q3.reason) == (False, str(Denial.INFERABLE))
    assert "would follow exactly from 3 answers" in q3.explain()
    assert "the 2 largest contributors have 89 of 110, 80.91 % <= 85 %" in q3.explain()
    q4 = guard.query(f"{SUM} WHERE dep = 'Management'")
    assert (q4.answered, q4.reason) == (False, str(Denial.SENSITIVE))
    assert "88 of 90, 97.78 % > 85 %" in q4.explain()
    assert all(word not in str(q4.public()) for word in ("88", "90", "97"))
    assert [e.answered for e in guard.log.entries()] == [True, True, False, False]


def test_emp_whole_first(guarded):
    """After q3 = 110, the answer to q2 leaves 100 for the others, of which two have 88 %."""
    guard = guarded(emp_policy())
    assert guard.query(SUM).value == 110
    assert guard.query(f"{SUM} WHERE dep = 'Services'").reason == str(Denial.INFERABLE)


def test_emp_whole_first_with_a_milder_rule(guarded):
    guard = guarded(emp_policy(rules="nk=2,90"))
    assert guard.query(SUM).value == 110
    assert guard.query(f"{SUM} WHERE dep = 'Services'").value == 10
    assert guard.query(f"{SUM} WHERE dep = 'Administration'").reason == str(Denial.INFERABLE)


def test_functions_and_joins(guarded):
    guard = guarded(plants_policy(rules="nk=1,90"))
    sql = "SELECT SUM(output) AS s, COUNT(*), AVG(p.output) FROM plants p JOIN firms f ON p.firm = f.firm"
    sql += " WHERE f.size = 'A'"
    answer = guard.query(sql)
    x = outputs(size="A")
    assert answer.answered, answer.explain()
    assert (answer.columns, answer.rows) == (("s", "count", "avg"), ((sum(x), len(x), pytest.approx(sum(x) / len(x))),))
    assert guard.query("SELECT MAX(output) FROM plants").reason.startswith("MAX(output) is the value of one unit")
    assert guard.query("SELECT MIN(fuel) FROM plants").value == "coal"


def test_groups_are_a_protected_table(guarded):
    guard = guarded(emp_policy())
    answer = guard.query("SELECT dep, SUM(salary) FROM emp GROUP BY dep")
    assert answer.rows == (("Administration", 10), ("Management", None), ("Services", 10))
    assert not guard.query(SUM).answered


def test_order_and_limit_are_those_of_what_is_published(guarded):
    """The unpublished sum is the largest, and stands last all the same."""
    guard = guarded(emp_policy())
    rows = [("Administration", 10.0), ("Services", 10.0), ("Management", None)]
    for text in ("ORDER BY SUM(salary) DESC", "ORDER BY 2 DESC, dep", "ORDER BY sum"):
        found = guard.query(f"SELECT dep, SUM(salary) FROM emp GROUP BY dep {text}").rows
        assert found == tuple(rows)
    down = guard.query("SELECT dep AS d, SUM(salary) AS s FROM emp GROUP BY d ORDER BY d DESC LIMIT 2").rows
    assert down == (("Services", 10.0), ("Management", None))
    assert guard.query("SELECT dep, SUM(salary) FROM emp GROUP BY ALL LIMIT 0").rows == ()


def test_groups_by_place_and_joins_by_name(guarded):
    guard = guarded(plants_policy())
    plain = "SELECT size, SUM(output) FROM plants p JOIN firms f ON p.firm = f.firm GROUP BY size"
    expected = guard.query(plain).rows
    assert all(value is not None for _, value in expected)
    for text in (
        "SELECT size, SUM(output) FROM plants JOIN firms USING (firm) GROUP BY 1",
        "SELECT size, SUM(output) FROM firms JOIN plants USING (FIRM) GROUP BY ALL",
    ):
        assert guard.query(text).rows == expected
    assert "is no declared key" in guard.query("SELECT SUM(output) FROM plants JOIN firms USING (fuel)").reason


def test_groups_after_the_total(guarded):
    """One more group must be hidden, or the total would tell the sensitive one."""
    guard = guarded(emp_policy(rules="nk=2,90"))
    assert guard.query(SUM).value == 110
    answer = guard.query("SELECT dep, SUM(salary) FROM emp GROUP BY dep")
    shown = [row[1] for row in answer.rows]
    assert sorted(map(str, shown)) == ["10.0", "None", "None"]
    assert answer.rows[1] == ("Management", None)
    assert any("suppression engine hides 1 further" in step for step in answer.steps)


def test_null_is_a_group_of_its_own(guarded):
    guard = guarded(plants_policy(rules="nk=1,90"))
    answer = guard.query("SELECT fuel, COUNT(*), SUM(output) FROM plants GROUP BY fuel")
    assert {row[0]: row[1:] for row in answer.rows} == {
        fuel: (20, sum(outputs(fuel=fuel))) for fuel in ("coal", "gas", None)
    }
    assert guard.query("SELECT SUM(output) FROM plants WHERE fuel IS NULL").value == sum(outputs(fuel=None))


def test_an_account_outlives_the_guard(guarded):
    policy = emp_policy()
    first = guarded(policy)
    first.query(f"{SUM} WHERE dep = 'Administration'")
    first.query(f"{SUM} WHERE dep = 'Services'", user="somebody else")
    assert guarded(policy).query(SUM, user="a third").reason == str(Denial.INFERABLE)


def test_accounts_and_groups(guarded):
    policy = emp_policy(pooled=False, groups={"ann": "team", "bob": "team"})
    guard = guarded(policy)
    assert guard.query(f"{SUM} WHERE dep = 'Administration'", user="ann").answered
    assert guard.query(f"{SUM} WHERE dep = 'Services'", user="bob").answered
    assert not guard.query(SUM, user="ann").answered
    assert guard.query(SUM, user="carl").answered


def test_sessions_on_one_log_see_each_other(guarded):
    """Two guards, as two processes would have them: each takes up what the other has answered."""
    one, two = guarded(emp_policy()), guarded(emp_policy())
    assert one.query(f"{SUM} WHERE dep = 'Administration'").answered
    assert two.query(f"{SUM} WHERE dep = 'Services'").answered
    assert one.query(SUM).reason == two.query(SUM).reason == str(Denial.INFERABLE)


def test_prepared_sums_are_all_that_is_answered(guarded):
    policy = plants_policy(
        rules="nk=1,60",
        prepared=("SELECT region, SUM(output) FROM plants p JOIN firms f ON p.firm = f.firm GROUP BY region",),
    )
    guard = guarded(policy)
    join = "FROM plants p JOIN firms f ON p.firm = f.firm WHERE"
    assert guard.query(f"SELECT SUM(output) {join} region = 'r1' OR region = 'r2'").value == sum(
        outputs(region="r1") + outputs(region="r2")
    )
    assert guard.query(f"SELECT SUM(output) {join} size = 'A'").reason == str(Denial.OUTSIDE)
    rows = guard.query(
        "SELECT region, size, SUM(output) FROM plants p JOIN firms f ON p.firm = f.firm GROUP BY region, size"
    )
    assert not rows.answered
    assert guarded(policy).query("SELECT SUM(output) FROM plants").value == sum(outputs())


def test_an_intruder_who_knows_rows(guarded):
    """Who knows ids 4 and 5 does not get the sum of administration."""
    q1 = f"{SUM} WHERE dep = 'Administration'"
    assert guarded(emp_policy(intruders={"x": {"emp": ["id4", "id5"]}})).query(q1).reason == str(Denial.INFERABLE)


@pytest.mark.parametrize(
    ("column", "cure"),
    [("unit", "'table.column'"), ("rules", "nk"), ("minimum_units", "whole number"), ("pace", "seconds")],
)
def test_bad_policies_are_refused(column, cure):
    with pytest.raises(InputError, match=cure):
        emp_policy(**{column: {"unit": "emps", "rules": "apriori=x.hst", "minimum_units": 0, "pace": -1}[column]})


def test_changed_data_are_noticed(duck, tmp_path):
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    guard.query(SUM)
    duck.execute("INSERT INTO emp VALUES ('id0', 'Services', 5)")
    with pytest.raises(UnavailableError, match="data have changed"):
        guard.query(f"{SUM} WHERE dep = 'Services'")
    with pytest.raises(UnavailableError, match="table 'emp' has changed"):
        Guard(duck, emp_policy(), tmp_path / "log")


def test_dirty_data_are_refused(duck, tmp_path):
    duck.execute("INSERT INTO emp VALUES ('id1', 'Services', NULL)")
    with pytest.raises(InputError) as error:
        Guard(duck, emp_policy(), tmp_path / "log")
    assert "1 row of table 'emp' has no salary" in str(error.value)
    assert "emp.id is no key" in str(error.value)


def test_a_connection_that_may_write_is_refused(tmp_path):
    import duckdb

    connection = duckdb.connect(tmp_path / "x.duckdb")
    with pytest.raises(InputError, match="read_only=True"):
        Guard(connection, emp_policy(), tmp_path / "log")


@pytest.mark.postgres
def test_a_role_that_may_write_is_refused(server, tmp_path):
    from tests.query.conftest import postgres

    with pytest.raises(InputError, match="read_only_role"):
        Guard(postgres(server, "postgres"), emp_policy(), tmp_path / "log")


@pytest.mark.postgres
def test_the_role_can_do_nothing_but_read(server):
    import pg8000.exceptions

    from tests.query.conftest import postgres

    for sql in (
        "INSERT INTO firms VALUES (99)",
        "DELETE FROM plants",
        "CREATE TABLE x (a INTEGER)",
        "SELECT name FROM firms",
    ):
        connection = postgres(server, "guard")
        with pytest.raises(pg8000.exceptions.DatabaseError):
            connection.cursor().execute(sql)
        connection.close()


@pytest.mark.parametrize("groups", ["", "dep, "])
def test_public_columns_that_the_database_cannot_add_up_are_denied_and_logged(guarded, groups):
    """Nothing of such an answer counts."""
    guard = guarded(emp_policy())
    by = " GROUP BY dep" if groups else ""
    answer = guard.query(f"SELECT {groups}AVG(dep), SUM(salary) FROM emp WHERE dep = 'Services'{by}")
    assert (answer.answered, answer.rows) == (False, ())
    assert answer.reason.startswith("the database refused: ")
    assert [(entry.answered, entry.applied) for entry in guard.log.entries()] == [(False, {})]
    assert guard.accounts.auditor(("everybody", "emp", "salary")).basis == 0


def test_a_key_of_several_columns_is_made_one_by_the_view_of_the_message(duck, tmp_path):
    duck.execute('CREATE TABLE lines AS SELECT i // 3 AS "order", i % 3 AS line, 7 AS x FROM range(30) t(i)')

    def policy(table, key, public=()):
        entry = {"key": key, "public": ["line", *public], "confidential": {"x": {}}}
        return {"unit": f"{table}.order", "rules": "p%=10", "minimum_units": 3, "tables": {table: entry}}

    with pytest.raises(InputError, match=r"CREATE VIEW .* '-' \|\| \"SECOND\"") as error:
        Guard(duck, Policy.of(policy("lines", "order")), tmp_path / "log")
    with pytest.raises(InputError, match="CREATE VIEW") as error:
        Policy.of(policy("lines", ["order", "line"]))
    duck.execute("CREATE VIEW" + str(error.value).partition("CREATE VIEW")[2])
    guard = Guard(duck, Policy.of(policy("lines_keyed", "row")), tmp_path / "log")
    assert guard.query("SELECT SUM(x) FROM lines_keyed WHERE line = 1").value == 70


def test_values_with_many_decimals_are_rounded_by_the_view_of_the_message(duck, tmp_path):
    duck.execute("CREATE TABLE t AS SELECT i AS id, i % 2 AS g, 1.0 / (i + 1)::DOUBLE AS x, i AS y FROM range(30) r(i)")

    def policy(table):
        entry = {"key": "id", "public": ["g"], "confidential": {"x": {}, "y": {}}}
        return Policy.of({"unit": f"{table}.id", "rules": "p%=10", "minimum_units": 3, "tables": {table: entry}})

    with pytest.raises(InputError, match=r"t\.x") as error:
        Guard(duck, policy("t"), tmp_path / "log")
    duck.execute("CREATE VIEW" + str(error.value).partition("CREATE VIEW")[2])
    guard = Guard(duck, policy("t_rounded"), tmp_path / "log")
    assert guard.query("SELECT SUM(x), SUM(y) FROM t_rounded").rows == ((3.994989, 435.0),)
