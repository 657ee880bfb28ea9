"""Calls of the public names for queries, models and instances, with data that must stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
from scipy import sparse

import tabprotect as tp
from tabprotect import query
from tests.project.given import Given

__all__ = ["ARRAYS", "FRAMES", "NO_DATA"]

Call = Callable[[Given, Callable[[pd.DataFrame], Any], Path], object]
FIRMS = pd.DataFrame(
    {"size": list("SSLLSSLL"), "turnover": [800.0, 1200.0, 9000.0, 11000.0, 700.0, 900.0, 8000.0, 7000.0]}
)


def _camouflage(given: Given, frames: Any, folder: Path) -> None:
    from tabprotect.query.camouflage import camouflage

    bounds, work = given({"turnover": query.Relative(0.2)}), given([(), "size"])
    made = camouflage(given(frames(FIRMS.copy())), given(["turnover"]), bounds, workload=work, seed=1)
    given(made.vectors.of)
    made.insert(given(frames(FIRMS.head(2))))
    made.update(given([0]), given({"turnover": [850.0]}))
    made.delete(given([1]))
    made.answer(query.Query("maximum", "turnover"))


def _auditor(given: Given, frames: Any, folder: Path) -> None:
    values, lower = given(np.array([85.0, 3.0, 2.0, 4.0, 3.0, 3.0])), given(np.zeros(6))
    records = given(query.Records.of(values, lower=lower, units=given([1, 2, 3, 4, 5, 5])))
    auditor = query.Auditor(records, given(["threshold=2"]), intruders=given([query.Intruder("x", (0,))]))
    auditor.ask(given(np.array([3, 4, 5])))
    auditor.ask(given([0, 1, 2]))
    auditor.ask_together(given([[0, 1], [3, 4, 5]]))


def _guard(given: Given, frames: Any, folder: Path) -> None:
    stated = given({
        "unit": "emp.id", "rules": "nk=2,85", "minimum_units": 2,
        "tables": {"emp": {"key": "id", "public": ["dep"], "confidential": {"salary": {}}}},
    })  # fmt: skip
    connection = duckdb.connect()
    connection.execute("CREATE TABLE emp AS SELECT i AS id, 'd' || (i % 3) AS dep, 10 + i AS salary FROM range(9) t(i)")
    policy = given(query.Policy.of(stated))
    rows = given(connection.sql("SELECT * FROM emp ORDER BY id"))
    guard = query.Guard(connection, policy, folder / "log.sqlite")
    assert guard.query("SELECT SUM(salary) FROM emp WHERE dep = 'd1'").answered
    guard.close()
    assert len(rows) == 9


def _delegate(given: Given, frames: Any, folder: Path) -> None:
    from tabprotect.query import delegation

    expression = given(delegation.read_expression("a * b + 2 * c"))
    data = given({"a": np.array([1, 2, 3]), "b": np.array([4, 5, 6]), "c": np.array([7, 8, 9])})
    bounds = given({"a": (0, 10), "b": (0, 10), "c": (0, 10)})
    delegation.delegate(given([expression]), data, bounds, handler=delegation.SameProcess(), seed=1)
    delegation.choose_parameters(given([expression]), bounds)
    delegation.odd_probability(given(delegation.NormalForm.of(expression)))
    other = given(delegation.read_expression("a * b"))
    delegation.detection_probability(expression, other, fixed=given({"c": 1}))
    delegation.detection_of_several(given([(expression, other)]))


def _problem() -> tp.Problem:
    return tp.Problem.from_arrays([[-1, 1, 1, 1]], [7, 1, 2, 4], primary=[1], lpl=1, upl=1)


def _models_of_tables(given: Given, frames: Any, folder: Path) -> None:
    from tabprotect.models import adjustment, attacker, capacity, cell_suppression, rounding

    stated, pattern, weights = given(_problem()), given(np.array([False, True, True, False])), given(np.ones(4))
    adjustment.build(stated, weights, senses=given([1]), fixed=given([0]))
    attacker.build(stated, pattern, 1, side=1)
    cell_suppression.build(stated)
    rounding.build(stated, 3, weights, protect=True)
    capacity.elementary_ratio(given(sparse.csr_array(stated.system.A)))


def _models_of_records(given: Given, frames: Any, folder: Path) -> None:
    from tabprotect.models import (
        camouflage,
        inference,
        linkage,
        local_suppression,
        massc,
        maximum_entropy,
        microaggregation,
        noise,
        pram,
        recoding,
    )  # fmt: skip

    camouflage.build(given(np.array([[1.0, 2.0], [3.0, 1.0]])), given(np.array([[1, 0], [0, 1]])))
    M, t = given(np.array([[1.0, 1.0, 1.0]])), given(np.array([6.0]))
    inference.build(M, t, given(np.zeros(3)), given(np.full(3, 9.0)), given([0]), side=1)
    linkage.build(given(np.array([[0.0, 1.0], [1.0, 0.0]])))
    local_suppression.build(given(np.array([[0, 1], [0, 1], [1, 1]])), 2, given([1.0, 1.0]))
    massc.substitution(given([[1.0], [2.0]]), given([[1.0], [4.0]]), 0.1, given([1.0, 1.0]), (0.1, 0.5))
    massc.subsampling(given([[1.0], [4.0]]), 0.1, given([1.0, 1.0]), (0.5, 0.9))
    rows, wanted = given([[1.0, 1.0], [1.0, 0.0]]), given([1.0, 0.4])
    maximum_entropy.build(rows, wanted)
    maximum_entropy.improvement(rows, wanted, given([0.4, 0.6]))
    microaggregation.build(given(np.array([[0.0, 1.0], [1.0, 0.0]])), 2)
    noise.nearest_map(given(np.array([[1.0, 0.0], [-1.0, 1.0], [0.0, -1.0]])), given(np.eye(2)))
    pram.build(given([3.0, 5.0]), given([[0.0, 1.0], [1.0, 0.0]]), 0.1, 0.9)
    recoding.build(given([["n", "s"]]), given({"n": "all", "s": "all"}), given([1.0, 1.0]), given([0]))


def _small_counts(given: Given, frames: Any, folder: Path) -> None:
    from tabprotect.models import small_counts

    small_counts.build(
        given(np.array([1.0, 2.0, 3.0])), given(sparse.csr_array(np.eye(3)[:, :2])), given(np.array([0, 1])), 3,
        given(np.ones(3, dtype=bool)), given(np.zeros(3, dtype=bool)), given(np.ones(3)),
    )  # fmt: skip


def _names(home: str, *names: str) -> tuple[str, ...]:
    return tuple(f"tabprotect.{home}.{name}" for name in names)


FRAMES: dict[str, Call] = dict.fromkeys(_names("query", "Camouflage", "camouflage.camouflage"), _camouflage)
ARRAYS: dict[str, Call] = {
    **dict.fromkeys(_names("query", "Auditor", "Records", "Intruder"), _auditor),
    **dict.fromkeys(_names("query", "Guard", "Policy"), _guard),
    **dict.fromkeys(
        _names("query.delegation", "delegate", "choose_parameters", "odd_probability", "detection_probability",
               "detection_of_several", "SameProcess"),
        _delegate,
    ),
    **dict.fromkeys(
        _names("models", "adjustment.build", "attacker.build", "cell_suppression.build", "rounding.build",
               "capacity.elementary_ratio"),
        _models_of_tables,
    ),
    "tabprotect.models.small_counts.build": _small_counts,
    **dict.fromkeys(
        _names("models", "camouflage.build", "inference.build", "linkage.build", "local_suppression.build",
               "massc.substitution", "massc.subsampling", "maximum_entropy.build", "maximum_entropy.improvement",
               "microaggregation.build", "noise.nearest_map", "pram.build", "recoding.build"),
        _models_of_records,
    ),
}  # fmt: skip
_SOLVED = ("adjustment", "attacker", "camouflage", "cell_suppression", "inference", "linkage", "local_suppression",
           "microaggregation", "pram", "recoding", "rounding", "small_counts")  # fmt: skip
NO_DATA = {
    **dict.fromkeys(_names("models", "noise.build", "noise.bounded"), "a design of noise, not of data"),
    **dict.fromkeys(_names("models", *(f"{name}.solve" for name in _SOLVED)), "solves what `build` made"),
    **dict.fromkeys(
        _names("models", "camouflage.EntriesAnswer", "cell_suppression.PatternAnswer",
               "microaggregation.PartitionAnswer"),
        "a result",
    ),
    **dict.fromkeys(
        _names("query", "Answer", "Decision", "audit.Denial", "audit.Step", "camouflage.Answer",
               "camouflage.Protection"),
        "a result",
    ),
    **dict.fromkeys(
        _names("query.delegation", "Delegated", "Delegation", "Detection", "Finding", "Probability", "Check",
               "HandlerError"),
        "a result",
    ),
    **dict.fromkeys(
        _names("query", "Absolute", "Covering", "Relative", "Query", "guard.Field", "guard.TablePolicy",
               "guard.UnavailableError", "guard.connect", "guard.read_only_role", "service.Keys"),
        "parameters and names, no data",
    ),
    **dict.fromkeys(
        _names("query.delegation", "Channel", "Expression", "HandlerProcess", "NormalForm", "Parameters", "lemma",
               "over_records", "point_is_missed", "read_expression", "slot_is_hit"),
        "expressions and numbers, no data",
    ),
    "tabprotect.query.service.create_app": "is given a guard, which owns its connection",
    **dict.fromkeys(
        _names("instances", "data", "family", "index", "load", "names", "register"), "makes data from a name or a seed"
    ),
}  # fmt: skip
