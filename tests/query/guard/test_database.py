"""Values as the databases hold them: what is read is what was written, by rows and by files."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.query import Guard, Policy
from tabprotect.query.guard.database import connect, wrap
from tabprotect.query.guard.source import load, select
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


def read(database: Any) -> list[Any]:
    found = database.columns("SELECT v AS a FROM t ORDER BY id")[0]
    return [None if v is None or (isinstance(v, float) and math.isnan(v)) else v for v in found.tolist()]


@pytest.mark.parametrize("kind", ["TEXT", "VARCHAR(99)"])
def test_texts(owner, kind):
    """Quotes, separators, line ends, backslashes, and texts that look like missing values or numbers."""
    assert read(written(owner, kind, TEXTS)) == TEXTS


def test_whole_numbers(owner):
    """Those beyond 2^53 and a missing one beside them."""
    assert read(written(owner, "BIGINT", WHOLE)) == WHOLE
    assert wrap(owner).columns("SELECT v AS a FROM t WHERE v IS NOT NULL ORDER BY id")[0].tolist() == WHOLE[1:]


def test_double_precision_to_the_last_bit(owner):
    found = read(written(owner, "DOUBLE PRECISION", DOUBLES))
    assert found[0] is None
    assert [v.hex() for v in found[1:]] == [v.hex() for v in DOUBLES[1:]]


def test_infinite_and_undefined_values(owner):
    database = written(owner, "DOUBLE PRECISION", [1.0, math.inf, -math.inf, math.nan])
    found = np.asarray(database.columns("SELECT v AS a FROM t ORDER BY id")[0], float)
    assert np.array_equal(found, [1.0, math.inf, -math.inf, math.nan], equal_nan=True)


def test_columns_side_by_side_and_none_at_all(owner):
    """A line of missing values only is a row; a result without rows has its columns."""
    database = written(owner, "TEXT", [None, "", None])
    assert database.columns("SELECT v AS a FROM t ORDER BY id")[0].tolist() == [None, "", None]
    a, b = database.columns("SELECT v AS a, id AS b FROM t ORDER BY id")
    assert (a.tolist(), b.tolist()) == ([None, "", None], [0, 1, 2])
    assert [len(c) for c in database.columns("SELECT v AS a, id AS b FROM t WHERE id > 9")] == [0, 0]


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
def test_guard_denies_sums_of_them(duck, tmp_path, value):
    duck.execute("ALTER TABLE emp ALTER salary TYPE DOUBLE")
    duck.execute(f"UPDATE emp SET salary = {value} WHERE id = 'id4'")
    guard = Guard(duck, emp_policy(), tmp_path / "log.sqlite")
    for where in ("WHERE dep = 'Administration'", "WHERE dep = 'Services'", ""):
        answer = guard.query(f"SELECT SUM(salary) FROM emp {where}")
        assert not answer.answered
        assert "salary" in answer.reason
    guard.close()


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
