"""The printed examples of the Eustat notebook, recomputed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from tabprotect import instances
from tabprotect.attack.audit import audit
from tabprotect.methods.suppression import suppress
from tabprotect.models import attacker, cell_suppression
from tabprotect.problem import Problem
from tests.checker import Judge


def hide(problem: Problem, *cells: tuple[str, str]) -> np.ndarray:
    pattern = problem.must_hide.copy()
    pattern[problem.system.cells.get_indexer(cells)] = True
    return pattern


def at(problem: Problem, *cell: str) -> int:
    return int(problem.system.cells.get_loc(cell))


def audited(problem: Problem, pattern: np.ndarray, cell: int) -> tuple[float, float]:
    public = audit(problem, pattern).public
    place = int(np.flatnonzero(public.cells == cell)[0])
    return float(public.low[place]), float(public.high[place])


@pytest.fixture
def investment():
    problem = instances.load("eustat-investment")
    return problem, hide(problem, ("II", "A"), ("II", "C"), ("III", "A"), ("III", "C"))


@pytest.fixture
def research():
    return instances.load("eustat-rd-expenditure")


PRINTED = [("Energy and construction", "<=100"), ("Energy and construction", ">100"), ("Other activities", "<=100")]


def test_investment_interval_of_nonnegative_cells(investment):
    problem, pattern = investment
    cell = at(problem, "II", "C")
    assert Judge(problem).interval(pattern, cell) == (5, 30)
    assert 22 - attacker.solve(problem, pattern, cell, side=-1) == 5
    assert 22 + attacker.solve(problem, pattern, cell, side=+1) == 30
    assert audited(problem, pattern, cell) == pytest.approx((5, 30))


def test_investment_interval_under_external_bounds_of_half(investment):
    problem, pattern = investment
    known = replace(problem, lower=problem.values * 0.5, upper=problem.values * 1.5)
    assert Judge(known).interval(pattern, at(problem, "II", "C")) == (18, 26)
    assert audited(known, pattern, at(problem, "II", "C")) == pytest.approx((18, 26))


def test_research_companies_margins_are_those_printed():
    problem = instances.load("eustat-rd-companies")
    table = pd.Series(problem.values, problem.system.cells)
    assert table.xs("Total", level=0).tolist() == [313, 69, 40, 68, 68, 48, 11, 9]
    assert np.all(problem.system.residuals(problem.values) == 0)
    inner = [i for i, cell in enumerate(problem.system.cells) if "Total" not in cell]
    assert np.sum(np.isin(problem.values[inner], [1, 2])) == np.sum(np.isin(inner, problem.primaries)) == 43


def test_research_expenditure_carries_a_residual_of_one(research):
    residuals = research.system.residuals(research.values)
    assert np.abs(residuals).max() == 1
    printed = research.values[at(research, "Other activities", "Total")]
    parts = [research.values[at(research, "Other activities", size)] for size in ("<=100", ">100")]
    assert (printed, sum(parts)) == (18_262_444, 18_262_445)


def test_the_printed_pattern_is_exposed(research):
    pattern = hide(research, *PRINTED)
    assert research.values[pattern].sum() == 19_207_560
    assert not Judge(research).safe(pattern)
    assert not audit(research, pattern, intervals=False).safe
    research = replace(research, upper=np.full(research.n_cells, np.inf))
    found = {(e.key.cell, e.key.side): e.reached for e in audit(research, pattern, intervals=False).exposures}
    exposed = {(e.cell, e.side): e.reach for e in Judge(research).exposed(pattern)}
    other, services = at(research, "Other activities", ">100"), at(research, "Other services", "<=100")
    total = at(research, "Other services", "Total")
    assert exposed == {
        (other, 1): 350_013,
        (other, -1): 207_072,
        (services, 1): 22_196,
        (total, 1): 22_196,
    }
    assert found == pytest.approx(exposed)


@pytest.mark.parametrize("percent", [100, 1000])
def test_the_optimum_that_meets_thirty_percent(research, percent):
    research = replace(
        research,
        lower=np.maximum(research.values * (1 - percent / 100), 0),
        upper=research.values * (1 + percent / 100),
    )
    answer = cell_suppression.solve(research)
    engine = suppress(research, method="exact")
    assert answer.status == engine.status == "optimal"
    assert answer.cost == answer.bound == 18_318_584
    assert engine.cost == engine.bound == 18_318_584
    assert np.array_equal(engine.pattern, answer.pattern)
    assert Judge(research).safe(answer.pattern)
    assert audit(research, engine.pattern, intervals=False).safe
    assert research.values[answer.pattern].sum() == 20_433_239
    secondary = answer.pattern & ~research.must_hide
    assert {research.system.cells[i] for i in np.flatnonzero(secondary)} == {
        ("Energy and construction", ">100"),
        ("Energy and construction", "Total"),
        ("Rubber and plastics", "<=100"),
        ("Rubber and plastics", ">100"),
        ("Other activities", "<=100"),
    }


def test_emp_answers_and_what_they_determine():
    emp = pd.read_csv(instances.data("eustat-emp.csv"))
    queries = pd.read_csv(instances.data("eustat-emp-queries.csv"), keep_default_na=False)
    for query in queries.itertuples():
        chosen = emp if not query.department else emp[emp.department == query.department]
        assert chosen.salary.sum() == query.answer

    def top_two(salaries):
        return salaries.nlargest(2).sum() / salaries.sum()

    assert round(100 * top_two(emp.salary[emp.department == "Management"]), 1) == 97.8
    assert round(100 * top_two(emp.salary), 1) == 80.9
    # q1, q2 and q3 are published; the sum over Management follows from them.
    classes = Problem.from_arrays([[1, 1, 1]], [10, 10, 90], primary=[2], lpl=1, upl=1, b=[110], protected=[0, 1])
    assert Judge(classes).interval(classes.must_hide, 2) == (90, 90)
