"""Arguments of another kind altogether: one error that names the argument, never a traceback from within."""

from __future__ import annotations

import duckdb
import numpy as np
import pandas as pd
import pytest

from tabprotect.query import Absolute, Auditor, Camouflage, Covering, Guard, Intruder, Query, Records, Relative
from tabprotect.query.camouflage import camouflage
from tabprotect.query.delegation import (
    SameProcess,
    choose_parameters,
    delegate,
    detection_of_several,
    detection_probability,
    lemma,
    over_records,
    point_is_missed,
    read_expression,
    slot_is_hit,
)
from tabprotect.query.guard import Field, Policy, TablePolicy, connect, read_only_role
from tabprotect.query.service import Keys, create_app
from tabprotect.query.service.keys import hashed
from tests.query.conftest import emp_policy, statements
from tests.wrong_kinds import arguments, check, named


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """'abc' is a new log where one is wanted."""
    monkeypatch.chdir(tmp_path)


VALUES = [85, 3, 2, 4, 3, 3, 4, 3, 3]
RECORDS = Records.of(VALUES)
FRAME = pd.DataFrame({"x": np.arange(8) * 3.0 + 5, "low": 1.0, "high": 99.0, "g": list("aabbccdd")})
HIDDEN: Camouflage = camouflage(FRAME, "x", 0.2, workload=["g"], seed=1)
FIRST, SECOND = read_expression("a * b + 1"), read_expression("a * b")
EMP = {"key": "id", "public": ("dep",), "confidential": {"salary": Field()}}
POLICY = {"unit": "emp.id", "tables": {"emp": TablePolicy(**EMP)}, "rules": "nk=2,85", "minimum_units": 3}


def auditor() -> Auditor:
    return Auditor(RECORDS, "nk=2,85")


def asked(query_set):
    return auditor().ask(query_set)


def asked_together(query_sets):
    return auditor().ask_together(query_sets)


def answered(where):
    return HIDDEN.answer(Query("sum", "x", where=where))


def guarded(connection=None, policy=None, log=":memory:", sql="SELECT SUM(salary) FROM emp", user="ann"):
    """Ask a guard of a fresh database."""
    database = connection
    if connection is None:
        database = duckdb.connect()
        for statement in statements():
            database.execute(statement)
    guard = Guard(database, emp_policy() if policy is None else policy, log)
    try:
        return guard.query(sql, user=user)
    finally:
        guard.close()


CALLS = [
    (Records.of, {"values": VALUES}),
    (Intruder, {"name": "ann", "known": (1,)}),
    (Auditor, {"records": RECORDS, "rules": "nk=2,85"}),
    (asked, {"query_set": [3, 4, 5]}),
    (asked_together, {"query_sets": [[3, 4, 5], [6, 7, 8]]}),
    (Absolute, {"width": 3.0}),
    (Relative, {"width": 0.2}),
    (Covering, {"lower": "low", "upper": "high"}),
    (camouflage, {"frame": FRAME, "confidential": "x", "bounds": 0.2, "seed": 1}),
    (answered, {"where": ()}),
    (HIDDEN.answer, {"query": Query("sum", "x")}),
    (HIDDEN.count, {}),
    (HIDDEN.sum, {"field": "x"}),
    (HIDDEN.mean, {"field": "x"}),
    (Field, {}),
    (TablePolicy, EMP),
    (Policy, POLICY),
    (Policy.read, {"path": "policy.toml"}),
    (Policy.of, {"content": {}}),
    (guarded, {"log": "log.sqlite"}),
    (connect, {"place": "a.duckdb"}),
    (read_only_role, {"policy": emp_policy()}),
    (read_expression, {"text": "a * b"}),
    (delegate, {"expressions": "a * b", "data": {"a": [1, 2], "b": [3, 4]}, "bounds": (-9, 9),
                "handler": SameProcess(), "seed": 1}),
    (choose_parameters, {"expressions": [FIRST], "bounds": {"a": (-9, 9), "b": (-9, 9)}}),
    (detection_probability, {"claimed": FIRST, "computed": SECOND}),
    (detection_of_several, {"pairs": [(FIRST, SECOND)]}),
    (lemma, {"p": 0.5, "q": 0.5}),
    (over_records, {"probability": 0.5, "records": 10}),
    (point_is_missed, {"degree": 2, "modulus": 65537, "points": 3}),
    (slot_is_hit, {"records": 10, "points": 3, "altered": 2}),
    (Keys, {"users": {"ann": hashed("key")}}),
    (create_app, {"guard": None, "keys": Keys({"ann": hashed("key")})}),
]  # fmt: skip


@pytest.mark.parametrize("name", ["function", "field", "denominator", "regressors", "name", "level", "kind"])
def test_fields_of_a_question(name):
    check(lambda wrong: Query(**{"function": "sum", "field": "x", name: wrong}))


@pytest.mark.parametrize(("function", "given", "name"), arguments(CALLS), ids=named)
def test_arguments(function, given, name):
    check(lambda wrong: function(**{**given, name: wrong}))
