"""First patterns of large tables: soon where answers are far away, then better."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tabprotect.attack.audit import audit
from tabprotect.instances.large import large
from tabprotect.methods.suppression.local import local
from tabprotect.methods.suppression.local import nearby as rooms
from tabprotect.methods.suppression.local.cover import Cover
from tabprotect.methods.suppression.local.nearby import Nearby
from tabprotect.methods.suppression.local.rebuild import Rebuilder
from tabprotect.methods.suppression.local.surroundings import Surroundings
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.table.system import LinearSystem


@pytest.fixture(scope="module")
def table() -> Problem:
    return large(1200, dims=3, primaries=0.1, seed=3)


def builder(problem: Problem) -> Rebuilder:
    return Rebuilder(Cover(problem), Nearby(problem, Surroundings(problem.system)), {}, 0)


def quickly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rooms, "NEAR", 2)
    monkeypatch.setattr(rooms, "QUICK", 30)


def test_quick_answers_are_safe_and_patient_ones_cheaper(table: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch)
    rebuilder, budget = builder(table), Budget()
    assert rebuilder.build(budget)
    assert rebuilder.rough
    assert not rebuilder.hopeless
    quick = rebuilder.cover.cost
    assert audit(table, rebuilder.cover.pattern, intervals=False).safe
    rebuilder.refine(budget)
    assert not rebuilder.rough
    assert audit(table, rebuilder.cover.pattern, intervals=False).safe
    assert rebuilder.cover.cost == pytest.approx(table.cost(rebuilder.cover.pattern))
    assert rebuilder.cover.cost < quick


def test_what_a_limit_cuts_short_leaves_the_quick_answers(table: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch)
    rebuilder = builder(table)
    assert rebuilder.build(Budget())
    before, cost = rebuilder.cover.pattern, rebuilder.cover.cost
    rebuilder.refine(Budget(Limits(work=1)))
    assert np.array_equal(rebuilder.cover.pattern, before)
    assert rebuilder.cover.cost == pytest.approx(cost)


def test_the_first_pattern_is_told_before_the_patient_one(table: Problem, monkeypatch: pytest.MonkeyPatch) -> None:
    quickly(monkeypatch)
    lines: list[Progress] = []
    result = local(table, passes=0, progress=lines.append)
    first, second = (line for line in lines if line.stage in ("first", "choice"))
    assert (first.stage, second.stage) == ("first", "choice")
    assert first.cost is not None
    assert result.cost == second.cost
    assert result.cost < first.cost
    assert result.safe


def test_nothing_is_looked_for_far_away_unless_something_is_near() -> None:
    n = 40  # a ring: all cells move or none
    ring = sparse.csr_array(np.eye(n) + np.roll(np.eye(n), 1, axis=1))
    problem = Problem.from_arrays(ring.toarray(), [5] * n, primary=[0], lpl=1, upl=1)
    nearby = Nearby(problem, Surroundings(problem.system))
    price = np.where(problem.must_hide, 0.0, problem.weights)
    assert nearby.find(0, 1, 1.0, price, Budget(), far=False) is None
    assert nearby.find(0, 1, 1.0, price, Budget()) is not None
    assert not nearby.rough


def test_balls_through_the_cells_with_most_room() -> None:
    A = sparse.csr_array([[1.0, 1, 1, 1, 0, 0], [0, 0, 1, 0, 1, 1]])
    system = LinearSystem(A, np.zeros(2), range(6))
    room = np.array([9.0, 1, 5, 3, 2, 2])
    start, allowed = np.array([1]), np.ones(6, bool)
    assert Surroundings(system, room, 2).ball(start, 1, allowed).tolist() == [0, 1, 2]
    assert Surroundings(system, room, 2).ball(start, 2, allowed).tolist() == [0, 1, 2, 4]
    assert Surroundings(system).ball(start, 1, allowed).tolist() == [0, 1, 2, 3]
    assert Surroundings(system, room, 1).ball(start, 1000, allowed).tolist() == [0, 1]
