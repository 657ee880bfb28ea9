"""The HTTP service: keys, rate limits, clear denials, and an OpenAPI document that is true."""

from __future__ import annotations

import json

import pytest

from tabprotect.errors import InputError
from tabprotect.query import Guard
from tabprotect.query.guard.log import Log
from tabprotect.query.service import Keys, create_app
from tabprotect.query.service.keys import Rate, hashed
from tests.query.conftest import emp_policy

pytest.importorskip("fastapi")

HEADERS = {"X-API-Key": "key of ann"}


@pytest.fixture
def app(duck, tmp_path):
    guard = Guard(duck, emp_policy(), tmp_path / "log.sqlite")
    yield create_app(guard, Keys({"ann": hashed("key of ann"), "bob": hashed("key of bob")}), per_minute=100_000)
    guard.close()


@pytest.fixture
def client(app):
    from fastapi.testclient import TestClient

    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def test_answers_and_denials(client):
    ask = lambda sql: client.post("/query", json={"sql": sql}, headers=HEADERS)  # noqa: E731
    answer = ask("SELECT dep, SUM(salary) FROM emp GROUP BY dep")
    assert answer.status_code == 200
    assert answer.json() == {
        "answered": True,
        "columns": ["dep", "sum"],
        "rows": [["Administration", 10.0], ["Management", None], ["Services", 10.0]],
        "reason": "",
    }
    denied = ask("SELECT SUM(salary) FROM emp")
    assert denied.status_code == 200
    assert denied.json() == {
        "answered": False,
        "columns": [],
        "rows": [],
        "reason": "together with earlier answers it would determine a sensitive sum",
    }


def test_without_a_key_nothing_is_asked(client, tmp_path):
    for headers in ({}, {"X-API-Key": "key of carl"}, {"X-API-Key": ""}):
        refused = client.post("/query", json={"sql": "SELECT COUNT(*) FROM emp"}, headers=headers)
        assert refused.status_code == 401
    assert len(Log(tmp_path / "log.sqlite")) == 0


def test_users_are_those_of_the_keys(client, tmp_path):
    for name in ("ann", "bob"):
        client.post("/query", json={"sql": "SELECT COUNT(*) FROM emp"}, headers={"X-API-Key": f"key of {name}"})
    assert [e.user for e in Log(tmp_path / "log.sqlite").entries()] == ["ann", "bob"]


def test_rate(duck, tmp_path):
    from fastapi.testclient import TestClient

    guard = Guard(duck, emp_policy(), tmp_path / "log.sqlite")
    client = TestClient(create_app(guard, Keys({"ann": hashed("key of ann")}), per_minute=2))
    codes = [client.post("/query", json={"sql": "x"}, headers=HEADERS) for _ in range(3)]
    assert [c.status_code for c in codes] == [200, 200, 429]
    assert 0 < int(codes[2].headers["Retry-After"]) <= 30
    guard.close()


def test_a_log_that_fails_is_no_answer(client, monkeypatch):
    def full(*_, **__):
        raise InputError("log /secret/place: disk full")

    monkeypatch.setattr(Log, "add", full)
    refused = client.post("/query", json={"sql": "SELECT COUNT(*) FROM emp"}, headers=HEADERS)
    assert refused.status_code == 503
    assert "secret" not in refused.text


def test_changed_data_are_no_denial_and_tell_nothing(client, duck, tmp_path):
    ask = lambda sql: client.post("/query", json={"sql": sql}, headers=HEADERS)  # noqa: E731
    duck.execute("UPDATE emp SET salary = -5 WHERE id = 'id8'")
    answer = ask("SELECT SUM(salary) FROM emp")
    assert answer.status_code == 503
    assert answer.json() == {"detail": "nothing can be answered now; ask the owner of the data"}
    duck.execute("INSERT INTO emp VALUES ('id0', 'Services', 5)")
    answer = ask("SELECT COUNT(*) FROM emp")
    assert (answer.status_code, str(tmp_path) in answer.text) == (503, False)


@pytest.mark.parametrize(
    "sql", ["SELECT SUM(salary) FROM emp WHERE " + " OR ".join(["dep = 'a'"] * 1200), "SELECT '\ud800'", "SELECT 1\0"]
)
def test_whatever_is_asked_is_answered_or_denied(client, sql):
    content, headers = json.dumps({"sql": sql}), HEADERS | {"Content-Type": "application/json"}
    answer = client.post("/query", content=content, headers=headers)
    assert answer.status_code == (422 if "\ud800" in sql else 200)
    assert not answer.json().get("answered")


def test_keys_are_checked(tmp_path):
    with pytest.raises(InputError, match="64 hexadecimal"):
        Keys({"ann": "secret"})
    with pytest.raises(InputError, match="same key"):
        Keys({"ann": hashed("x"), "bob": hashed("x")})
    (tmp_path / "keys.toml").write_text(f'ann = "{hashed("x")}"\n')
    assert Keys.read(tmp_path / "keys.toml").user("x") == "ann"
    with pytest.raises(InputError, match="rate"):
        Rate(0)


@pytest.mark.slow
def test_the_service_does_what_its_openapi_document_says(app):
    """Schemathesis makes up requests, right and wrong ones, and checks codes, bodies and headers."""
    schemathesis = pytest.importorskip("schemathesis")
    from hypothesis import HealthCheck, given, settings

    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [result.ok() for result in schema.get_all_operations()]
    assert {operation.label for operation in operations} == {"POST /query", "GET /health"}
    for operation in operations:

        @given(case=operation.as_strategy())
        @settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
        def conforms(case):
            case.call_and_validate(headers=HEADERS)

        conforms()
