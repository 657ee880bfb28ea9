"""A first look: what it returns is the cheapest safe pattern, or nothing."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from tabprotect.attack.witness import Witnesses
from tabprotect.instances import load
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.presolve.parts import Part
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.search import exact as engine
from tabprotect.methods.suppression.start.root_solve import root_solve
from tabprotect.problem import Attacker
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.mip.pool import pool_solver
from tests.checker import Judge
from tests.quick import first
from tests.random_problems import problems, random_problem


def look(problem, solver="scip", budget=None):
    return root_solve(problem, Witnesses(problem), pool_solver(solver), budget or Budget())


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["scip", "highs"])
def test_enumeration_finds_nothing_cheaper(solver):
    found = enumerated = 0
    for seed in range(60):
        problem = random_problem(seed, max_cells=24)
        pattern = look(problem, solver)
        if pattern is None:
            continue
        found += 1
        judge = Judge(problem)
        assert judge.well_formed(pattern)
        assert judge.safe(pattern)
        try:
            best = judge.optimum(14)
        except ValueError:
            continue
        enumerated += 1
        assert problem.cost(pattern) == pytest.approx(best.cost, rel=1e-9, abs=1e-9)
    assert found >= 15
    assert enumerated >= 5


@pytest.mark.slow
@given(problems(max_cells=40))
def test_what_it_returns_is_safe(problem):
    pattern = look(problem)
    if pattern is not None:
        judge = Judge(problem)
        assert judge.well_formed(pattern)
        assert judge.safe(pattern)


@pytest.mark.parametrize(
    ("name", "cost"), [("flat2d-20x20", 1429), ("linked-small", 26832), ("flat2d-10x10", 1058), ("hier2d-20k", 657262)]
)
def test_tables_that_take_no_more_than_a_glance(name, cost):
    problem = load(name)
    pattern = look(problem)
    assert problem.cost(pattern) == cost
    assert not Witnesses(problem).check(pattern)


@pytest.mark.parametrize("name", ["flat3d-6x6x6", "hier3d-medium", "sparse-medium"])
def test_the_others_are_left_to_the_search_soon(name):
    budget = Budget()
    assert look(load(name), budget=budget) is None
    assert 0 < budget.work < 1500


def test_limits_end_it():
    problem = load("hier2d-large")
    assert look(problem, budget=Budget(Limits(work=500))) is None
    assert look(problem, budget=Budget(Limits(seconds=0.01))) is None
    assert look(problem, budget=Budget(Limits(stop=lambda: True))) is None


@pytest.mark.parametrize(("limit", "share"), [(0.08, 0.08), (10.0, 2.0), (1000.0, 200.0)])
def test_it_may_take_all_of_a_short_limit_and_a_fifth_of_a_long_one(monkeypatch, limit, share):
    limits = []

    class Nothing:
        def __init__(self, problem, judge, solver, budget, options):
            limits.append(budget.limits.seconds)

        def run(self):
            return None

    monkeypatch.setattr("tabprotect.methods.suppression.start.root_solve._RootSolve", Nothing)
    assert look(load("hier2d-small"), budget=Budget(Limits(seconds=limit))) is None
    assert limits == [pytest.approx(share, rel=0.1)]


def test_attackers_have_their_say():
    problem = load("hier2d-small")
    pattern = look(problem)
    (partner, *_) = np.flatnonzero(pattern & ~problem.must_hide).tolist()
    watched = replace(problem, attackers=(Attacker("neighbour", (partner,)),))
    assert Witnesses(watched).check(pattern)
    found = look(watched)
    assert Judge(watched).safe(found)
    assert problem.cost(pattern) < problem.cost(found) == suppress(watched, method="exact").cost


@pytest.mark.parametrize("name", first(1, ["flat2d-20x20", "flat2d-50x50"]))
@pytest.mark.parametrize("method", ["exact", "auto"])
def test_the_search_begins_with_it(name, method):
    problem, heard = load(name), []
    result = suppress(problem, method=method, progress=heard.append)
    assert heard[0].stage == "first pattern"
    told = heard[1:]
    assert told[0].stage == "root solve"
    assert heard[0].cost >= told[0].cost
    assert told[0].cost == result.cost == problem.cost(look(problem))
    assert result.status == "optimal"
    assert result.bound == result.cost
    assert all(now.cost <= before.cost for before, now in itertools.pairwise(told))
    assert all(now.bound >= before.bound for before, now in itertools.pairwise(told))


def test_deviations_of_the_whole_are_those_of_its_parts():
    problem = load("linked-small")
    judge, pattern = Witnesses(problem), look(problem)
    assert not judge.check(pattern)
    reduction = reduce_problem(problem)
    for core, choice in zip(reduction.cores, reduction.patterns(pattern), strict=True):
        part = Part(core)
        mine = Witnesses(part.problem)
        mine.offer_all(part.restrict(judge.deviations(pattern)))
        assert mine.stored(choice).all()
        back = part.lift([mine.pool[k] for k in range(len(mine.pool))])
        assert abs(problem.system.A @ back.T).max() < 1e-9 * np.abs(back.data).max()


def test_an_unsafe_answer_of_the_solver_is_not_returned(monkeypatch):
    """Branching that forgets every second cell: the judge refuses what it gives, and the search goes on without."""
    problem, honest = load("flat2d-10x10"), look(load("flat2d-10x10"))

    def forgetful(lp, root, cost, lower, upper, budget, step):
        choice = honest.copy()
        choice[np.flatnonzero(honest & ~problem.must_hide)[::2]] = False
        return choice

    monkeypatch.setattr("tabprotect.methods.suppression.start.root_solve.branch", forgetful)
    assert look(problem) is None
    result = engine.exact(problem)
    assert (result.status, result.cost) == ("optimal", 1058)
