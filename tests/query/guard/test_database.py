"""Values as the databases hold them: what is read is what was written, by rows and by files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest

from tabprotect.errors import InputError
from tabprotect.query import Guard, Policy
from tabprotect.query.guard import Field, TablePolicy, UnavailableError
from tabprotect.query.guard import postgres as postgres_module
from tabprotect.query.guard.columns import values_at
from tabprotect.query.guard.database import connect, wrap
from tabprotect.query.guard.selecting import select
from tabprotect.query.guard.source import load
from tabprotect.query.guard.sql import parse
from tests.query.conftest import emp_policy, postgres

TEXTS = [
    None, "", " ", "NULL", "\\N", "nan", "NaN", "NA", "None", "a,b", 'say "yes"', '"', '""', "it's",
    "a\tb", "a\nb", "a\r\nb", "\r", "\\", "\\\\", "\\t", "\\.", "ü", "ß€", "日本", "😀", "e\u0301",
    "1", "01", "1e5", "true", "#", "%s", "%", ";--",
]  # fmt: skip

DOUBLES = [None, 0.0, -0.0, 0.1, 1 / 3, -1e-300, 5e-324, 1.7976931348623157e308, 123456789.123456789, 2.0**53 + 2]

WHOLE = [None, 0, -1, 2**31 - 1, -(2**31), 2**53 + 1, 2**63 - 1, -(2**63)]


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def owner(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A connection that may create temporary tables."""
    if request.param == "duckdb":
        connection = request.getfixturevalue("duck")
    else:
        connection = postgres(request.getfixturevalue("server"), "postgres")
        connection.autocommit = True
    yield connection
    connection.close()


def written(owner: Any, kind: str, values: list[Any]) -> Any:
    """Write values into a table with the column v, by parameters, and return the database."""
    duck = "duckdb" in type(owner).__module__
    # a cursor of DuckDB is a connection of its own, without temporary tables
    mark, cursor = ("?", owner) if duck else ("%s", owner.cursor())
    cursor.execute(f"CREATE TEMP TABLE t (id INTEGER, v {kind})")
    for k, value in enumerate(values):
        cursor.execute(f"INSERT INTO t VALUES ({mark}, {mark})", (k, value))
    return wrap(owner)


def read(database: Any, coded: int | None = None) -> list[Any]:
    found = database.columns("SELECT v AS a FROM t ORDER BY id", coded)[0]
    if isinstance(found, pd.Categorical):
        found = values_at(found, np.arange(len(found)))
    return [None if v is None or (isinstance(v, float) and math.isnan(v)) else v for v in found.tolist()]


@pytest.mark.parametrize("coded", [None, 0, 1])
@pytest.mark.parametrize("kind", ["TEXT", "VARCHAR(99)"])
def test_texts(owner, kind, coded):
    """Quotes, separators, line ends, backslashes, and texts that look like missing values or numbers."""
    assert read(written(owner, kind, TEXTS), coded) == TEXTS


@pytest.mark.parametrize("coded", [None, 0, 1])
def test_whole_numbers(owner, coded):
    """Those beyond 2^53 and a missing one beside them."""
    assert read(written(owner, "BIGINT", WHOLE), coded) == WHOLE
    assert wrap(owner).columns("SELECT v AS a FROM t WHERE v IS NOT NULL ORDER BY id")[0].tolist() == WHOLE[1:]


def test_whole_numbers_that_are_all_there_come_as_they_are(owner):
    keys, found = written(owner, "BIGINT", WHOLE[1:]).columns("SELECT id AS k, v AS a FROM t", 0)
    assert dict(zip(keys.tolist(), found.tolist(), strict=True)) == dict(enumerate(WHOLE[1:]))


@pytest.mark.parametrize("coded", [None, 0, 1])
def test_double_precision_to_the_last_bit(owner, coded):
    found = read(written(owner, "DOUBLE PRECISION", DOUBLES), coded)
    assert found[0] is None
    assert [v.hex() for v in found[1:]] == [v.hex() for v in DOUBLES[1:]]


def test_numbers_that_are_all_there_come_as_they_are(owner):
    """Their bytes, beside labels of groups that are missing in part."""
    database = written(owner, "DOUBLE PRECISION", DOUBLES[1:])
    sql = "SELECT id AS k, v AS a, CASE WHEN id > 0 THEN id END AS g FROM t"
    keys, found, labels = database.columns(sql, 1)
    assert [found[list(keys).index(k)].hex() for k in range(len(found))] == [v.hex() for v in DOUBLES[1:]]
    assert [None if pd.isna(g) else int(g) for g in labels] == [k or None for k in keys.tolist()]


@pytest.mark.parametrize("kind", ["TEXT", "BIGINT"])
def test_rows_with_the_same_labels_keep_their_own_numbers(owner, kind):
    """Two columns of labels, some missing, and every row with the label that it has."""
    labels = [*TEXTS, *TEXTS] if kind == "TEXT" else [*WHOLE, *WHOLE]
    database = written(owner, kind, labels)
    keys, values, a, b = database.columns("SELECT id AS k, id / 4.0e0 AS x, id % 3 AS a, v AS b FROM t", 2)
    found = [None if pd.isna(v) else v for v in values_at(b, np.arange(len(keys)))]
    assert sorted(keys.tolist()) == list(range(len(labels)))
    assert [4 * v for v in values.tolist()] == keys.tolist()
    assert [int(x) for x in a] == [k % 3 for k in keys.tolist()]
    assert found == [labels[k] for k in keys.tolist()]


def test_a_column_without_any_number(owner):
    keys, found = written(owner, "DOUBLE PRECISION", [None, None]).columns("SELECT id AS k, v AS a FROM t", 0)
    assert (sorted(keys.tolist()), found.tolist()) == ([0, 1], [None, None])


@pytest.mark.parametrize("coded", [None, 0])
def test_infinite_and_undefined_values(owner, coded):
    database = written(owner, "DOUBLE PRECISION", [1.0, math.inf, -math.inf, math.nan])
    found = np.asarray(database.columns("SELECT v AS a FROM t ORDER BY id", coded)[0], float)
    assert np.array_equal(found, [1.0, math.inf, -math.inf, math.nan], equal_nan=True)


def test_columns_side_by_side_and_none_at_all(owner):
    """A line of missing values only is a row; a result without rows has its columns."""
    database = written(owner, "TEXT", [None, "", None])
    assert database.columns("SELECT v AS a FROM t ORDER BY id")[0].tolist() == [None, "", None]
    a, b = database.columns("SELECT v AS a, id AS b FROM t ORDER BY id")
    assert (a.tolist(), b.tolist()) == ([None, "", None], [0, 1, 2])
    assert [len(c) for c in database.columns("SELECT v AS a, id AS b FROM t WHERE id > 9")] == [0, 0]


@pytest.mark.parametrize("coded", [None, 0, 1])
def test_no_rows_at_all(owner, coded):
    database = written(owner, "TEXT", [])
    assert [len(column) for column in database.columns("SELECT id AS k, v AS g FROM t", coded)] == [0, 0]


@pytest.mark.postgres
def test_a_text_that_is_too_long_for_the_server_comes_row_by_row(server, monkeypatch):
    connection = postgres(server, "postgres")
    database = written(connection, "TEXT", ["a", None])
    connection.commit()
    monkeypatch.setattr(postgres_module, "_written", lambda column, _: f"repeat({column}::text, 2000000000)")
    keys, labels = database.columns("SELECT id AS k, v AS g FROM t ORDER BY id", 1)
    assert (keys.tolist(), values_at(labels, np.arange(2)).tolist()) == ([0, 1], ["a", None])
    with pytest.raises(InputError, match="the database refused"):
        database.columns("SELECT 1 / (id - id) AS k, v AS g FROM t", 1)
    connection.close()


@pytest.mark.parametrize("value", [math.nan, math.inf, None])
def test_confidential_values_that_are_no_numbers(owner, value):
    """NaN, infinity and NULL in a confidential column: an error that names it, no sum without them."""
    policy = Policy.of(
        {
            "unit": "t.id",
            "rules": "p%=10",
            "minimum_units": 2,
            "tables": {"t": {"key": "id", "confidential": {"v": {}}}},
        }
    )
    database = written(owner, "DOUBLE PRECISION", [1.0, 2.0, value, 4.0])
    with pytest.raises(InputError, match=r"\bv\b"):
        load(database, policy, "t")


@pytest.mark.parametrize("value", ["'nan'::DOUBLE PRECISION", "NULL"])
def test_the_owner_hears_of_them_at_the_start(duck, tmp_path, value):
    duck.execute("ALTER TABLE emp ALTER salary TYPE DOUBLE")
    duck.execute(f"UPDATE emp SET salary = {value} WHERE id = 'id4'")
    with pytest.raises(InputError, match="salary"):
        Guard(duck, emp_policy(), tmp_path / "log.sqlite")


def test_text_keys_group_by_what_they_are(owner, tmp_path):
    """Groups named '', 'NULL' and a missing one are three groups."""
    database = written(owner, "TEXT", ["", "NULL", None, "a\tb", 'q"', "\\N", ""])
    policy = Policy.of(
        {
            "unit": "t.id",
            "rules": "p%=10",
            "minimum_units": 1,
            "tables": {"t": {"key": "id", "public": ["v"]}},
        }
    )
    request = parse("SELECT v, COUNT(*) FROM t GROUP BY v", policy, database.dialect)
    found = select(database, request, load(database, policy, "t"), "id")
    count = dict(zip((label[0] for label in found.labels), (int(s.sum()) for s in found.sets), strict=True))
    assert count == {"": 2, "NULL": 1, None: 1, "a\tb": 1, 'q"': 1, "\\N": 1}


def test_places_that_cannot_be_opened(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        connect(str(tmp_path / "nowhere.duckdb"))


SALES = """CREATE TABLE sales AS SELECT i AS id, DATE '2020-01-01' + (i % 2)::INTEGER AS d, 5 + i AS v, i % 3 AS staff,
  CASE i % 3 WHEN 0 THEN NULL WHEN 1 THEN 'nan'::DOUBLE PRECISION ELSE 1.5 END AS f,
  TIMESTAMP '2020-01-01 10:00:00' + (i % 2) * INTERVAL '1 second' AS t,
  (i % 2)::DECIMAL(30, 0) + 90071992547409920 AS large FROM {series} AS s(i)"""


@pytest.fixture(params=["duckdb", pytest.param("postgres", marks=pytest.mark.postgres)])
def sales(request: pytest.FixtureRequest, duck: Any, tmp_path: Any) -> Iterator[Guard]:
    """Public columns of every type, on either database."""
    connection = duck
    if request.param == "duckdb":
        duck.execute(SALES.format(series="range(30)"))
    else:
        mine = postgres(request.getfixturevalue("server"), "postgres")
        for sql in ("DROP TABLE IF EXISTS sales", SALES.format(series="generate_series(0, 29)")):
            mine.cursor().execute(sql)
        mine.cursor().execute("GRANT SELECT ON sales TO guard")
        mine.commit()
        mine.close()
        connection = postgres(request.getfixturevalue("server"), "guard")
    tables = {"sales": TablePolicy("id", ("d", "staff", "f", "t", "large"), {"v": Field()})}
    guard = Guard(connection, Policy("sales.id", tables, "p%=1", 2), tmp_path / "log.sqlite")
    yield guard
    guard.close()


def test_dates_and_times_are_labels_and_public_columns_are_added_up_beside_them(sales):
    found = sales.query("SELECT d, SUM(v), MIN(staff), SUM(staff), MAX(d) FROM sales GROUP BY d")
    assert found.rows == (
        ("2020-01-01", 285.0, 0, 15, "2020-01-01"),
        ("2020-01-02", 300.0, 0, 15, "2020-01-02"),
    )
    times = sales.query("SELECT t, MIN(staff) FROM sales GROUP BY t")
    assert times.rows == (("2020-01-01 10:00:00", 0), ("2020-01-01 10:00:01", 0))
    assert sales.query("SELECT MIN(d) FROM sales").value == "2020-01-01"


def test_what_is_no_number_is_not_what_is_missing(sales):
    found = dict(sales.query("SELECT f, SUM(v) FROM sales GROUP BY f").rows)
    values = [5 + i for i in range(30)]
    assert found == {None: sum(values[::3]), "NaN": sum(values[1::3]), 1.5: sum(values[2::3])}
    assert sales.query("SELECT SUM(v) FROM sales WHERE f IS NULL").value == sum(values[::3])


def test_codes_of_many_digits_are_kept_apart(sales):
    found = sales.query("SELECT large, COUNT(*) FROM sales GROUP BY large")
    assert found.rows == ((90071992547409920, 15), (90071992547409921, 15))


@pytest.mark.parametrize(
    ("kind", "accepted"),
    [("HUGEINT", True), ("UBIGINT", True), ("DECIMAL(30, 0)", True), ("DOUBLE", False), ("INTEGER[]", False)],
)
def test_keys_of_every_type(duck, tmp_path, kind, accepted):
    key = (
        "[i]"
        if kind.endswith("]")
        else f"i + {0 if kind == 'DOUBLE' else 2**63 if kind == 'UBIGINT' else 2**60}::HUGEINT"
    )
    duck.execute(f"CREATE TABLE k AS SELECT ({key})::{kind} AS id, 5 + i AS v, i % 2 AS g FROM range(20) AS s(i)")
    policy = Policy("k.id", {"k": TablePolicy("id", ("g",), {"v": Field()})}, "p%=1", 2)
    if not accepted:
        with pytest.raises(InputError, match=r"k\.id cannot (serve as a key|name units)"):
            Guard(duck, policy, tmp_path / "log")
        return
    guard = Guard(duck, policy, tmp_path / "log")
    assert guard.query("SELECT SUM(v) FROM k WHERE g = 0").value == sum(range(5, 25, 2))


def test_groups_of_lists_are_denied(duck, tmp_path):
    duck.execute("CREATE TABLE k AS SELECT i AS id, 5 + i AS v, [i % 2] AS g, 'a'::BLOB AS b FROM range(20) AS s(i)")
    policy = Policy("k.id", {"k": TablePolicy("id", ("g", "b"), {"v": Field()})}, "p%=1", 2)
    guard = Guard(duck, policy, tmp_path / "log")
    for column in ("g", "b"):
        assert "no groups are made of" in guard.query(f"SELECT {column}, SUM(v) FROM k GROUP BY {column}").reason


@pytest.mark.parametrize("sql", ["SELECT SUM(salary) FROM emp WHERE dep = '\ud800'", "SELECT 1\0"])
def test_what_is_no_text_is_denied_and_logged(duck, tmp_path, sql):
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    assert "which is no character of a text" in guard.query(sql, user="a\udc00").reason
    assert len(guard.log) == 1


def test_long_chains_are_denied(duck, tmp_path):
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    chain = " OR ".join(["dep = 'a'"] * 1200)
    assert "nested too deeply" in guard.query(f"SELECT SUM(salary) FROM emp WHERE {chain}").reason


def test_a_database_that_is_gone_is_no_denial(duck, tmp_path):
    guard = Guard(duck, emp_policy(), tmp_path / "log")
    duck.close()
    with pytest.raises(UnavailableError, match="the database is gone"):
        guard.query("SELECT SUM(salary) FROM emp")
    assert len(guard.log) == 0


@pytest.mark.postgres
def test_a_server_that_is_gone_is_no_denial(server, tmp_path):
    connection = postgres(server, "guard")
    guard = Guard(connection, emp_policy(), tmp_path / "log")
    connection.close()
    for _ in range(2):
        with pytest.raises(UnavailableError, match="the database is gone"):
            guard.query("SELECT SUM(salary) FROM emp")


@pytest.mark.postgres
@pytest.mark.parametrize(
    ("grants", "what"),
    [
        (['GRANT UPDATE (salary) ON emp TO "other"'], "may change emp"),
        (["CREATE ROLE writer", "GRANT DELETE ON emp TO writer", 'GRANT writer TO "other"'], "may change emp"),
        (['ALTER ROLE "other" NOINHERIT', 'GRANT postgres TO "other"'], "may create databases or roles"),
    ],
)
def test_roles_that_may_write_in_a_roundabout_manner_are_refused(server, tmp_path, grants, what):
    mine = postgres(server, "postgres")
    undo = ['DROP OWNED BY "other"', 'DROP ROLE "other"', "DROP OWNED BY writer", "DROP ROLE writer"]
    made = ['CREATE ROLE "other" LOGIN', 'GRANT SELECT ON emp TO "other"', *grants]
    try:
        for sql in made:
            mine.cursor().execute(sql)
        mine.commit()
        with pytest.raises(InputError, match=what):
            Guard(postgres(server, "other"), emp_policy(), tmp_path / "log")
    finally:
        for sql in undo if "writer" in str(made) else undo[:2]:
            mine.cursor().execute(sql)
        mine.commit()
        mine.close()
