"""``tabprotect query`` and ``tabprotect serve``."""

from __future__ import annotations

import duckdb
import pytest

from tabprotect.cli.app import run
from tests.query.conftest import statements

POLICY = """
unit = "emp.id"
rules = "nk=2,85"
minimum_units = 3

[tables.emp]
key = "id"
public = ["dep"]
confidential = { salary = { lower = 0 } }
"""


@pytest.fixture
def ask(tmp_path, capsys):
    with duckdb.connect(tmp_path / "emp.duckdb") as connection:
        for sql in statements():
            connection.execute(sql)
    (tmp_path / "policy.toml").write_text(POLICY)
    places = ["--policy", f"{tmp_path}/policy.toml", "--database", f"{tmp_path}/emp.duckdb", "--log", f"{tmp_path}/log"]

    def asked(*arguments: str, places: list[str] = places) -> tuple[int, str, str]:
        code = run(["query", *arguments, *places])
        got = capsys.readouterr()
        return code, got.out, got.err

    return asked


def test_every_step_of_the_test_is_printed(ask):
    """Golden: the example of the notebook, step by step."""
    q1 = ask("SELECT SUM(salary) FROM emp WHERE dep = 'Administration'", "--explain")
    assert q1[0] == 0
    assert q1[1].endswith("sum\n10\n")
    assert "Step 1, sensitivity test: nk=2,85: the 2 largest contributors have 7 of 10, 70 % <= 85 %" in q1[1]
    assert "Step 3, query diagram: 1 queries, 1 classes: e1 = {q1} with 3 records; x1 = 10" in q1[1]
    assert ask("SELECT SUM(salary) FROM emp WHERE dep = 'Services'")[1] == "sum\n10\n"
    code, out, _ = ask("SELECT SUM(salary) FROM emp", "--explain")
    assert code == 1
    assert "have 89 of 110, 80.91 % <= 85 %" in out
    assert "Step 2, inferability test: not inferable: the query set is no union of classes of the basis" in out
    assert "e1 = {q3} with 3 records, e2 = {q1, q3} with 3 records, e3 = {q2, q3} with 3 records" in out
    assert "x2 = 10, x3 = 10, x1 + x2 + x3 = 110" in out
    assert "the sum 90 of 3 units would follow exactly from 3 answers: - q1 - q2 + q3" in out
    assert out.splitlines()[-1] == "denied: together with earlier answers it would determine a sensitive sum"
    code, out, _ = ask("SELECT SUM(salary) FROM emp WHERE dep = 'Management'", "--explain")
    assert (code, "have 88 of 90, 97.78 % > 85 %, sensitive" in out) == (1, True)
    code, out, _ = ask("SELECT SUM(salary) FROM emp WHERE dep <> 'Management'", "--explain")
    assert (code, "Step 2, inferability test: inferable: + q1 + q2" in out, out.endswith("sum\n20\n")) == (
        0,
        True,
        True,
    )


def test_without_explanation_nothing_confidential_is_printed(ask):
    code, out, _ = ask("SELECT SUM(salary) FROM emp WHERE dep = 'Management'")
    assert code == 1
    assert not any(digit in out for digit in "0123456789")


def test_the_role_is_printed(ask, tmp_path):
    code, out, _ = ask("--role", places=["--policy", f"{tmp_path}/policy.toml"])
    assert code == 0
    assert 'GRANT SELECT ("id", "dep", "salary") ON "emp" TO "tabprotect_guard";' in out


def test_bad_input_is_one_clear_message(ask, tmp_path):
    code, _, err = ask("SELECT 1", places=["--policy", f"{tmp_path}/policy.toml"])
    assert (code, "--database" in err) == (2, True)
    (tmp_path / "bad.toml").write_text(POLICY.replace("minimum_units", "minimum_unit"))
    code, _, err = ask("SELECT 1", places=["--policy", f"{tmp_path}/bad.toml"])
    assert (code, "did you mean 'minimum_units'?" in err, "Traceback" in err) == (2, True, False)
    code = run(["serve", "--policy", "x", "--database", "x", "--log", "x", "--keys", f"{tmp_path}/none.toml"])
    assert code == 2
