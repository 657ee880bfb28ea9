"""Patterns of cheapest witnesses under limits."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.instances.families import family
from tabprotect.methods.suppression.options import DEFAULTS, changed
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget, Limits

PROBLEM = family("thin", seed=0, sizes=(8, 8, 8))


def build(
    patience: float,
    work: int | None = None,
    trial: float = 0.0,
    question: float = 1.0,
    late: float = 1.0,
    few: int = 5,
    speedup: float = 1.0,
) -> tuple[npt.NDArray[np.bool_] | None, Budget]:
    options = changed(DEFAULTS, "construction.trial_limit_share", trial)
    options = changed(options, "construction.question_limit_share", question)
    options = changed(changed(options, "construction.late_limit_share", late), "construction.late_questions", few)
    budget = Budget(Limits(work=work))
    return Constructor(Witnesses(PROBLEM), options=options.construction).build(
        PROBLEM.weights, budget, patience=patience, speedup=speedup
    ), budget


@pytest.fixture(scope="module")
def whole() -> int:
    """Work of a pattern that is never given up."""
    pattern, budget = build(math.inf)
    assert pattern is not None
    assert not Witnesses(PROBLEM).check(pattern, Budget())
    return budget.work


@pytest.mark.parametrize(("trial", "there"), [(0.1, False), (0.5, True)])
def test_what_seems_to_take_too_long_is_given_up_until_half_of_it_is_answered(
    whole: int, trial: float, there: bool
) -> None:
    pattern, budget = build(0.01, int(1.05 * whole), trial)
    assert (pattern is not None) == there
    assert (budget.work > 0.9 * whole) == there


@pytest.mark.parametrize(("share", "there"), [(0.7, False), (3.0, True)])
def test_what_will_not_be_ready_in_time_is_given_up_after_half_of_it(whole: int, share: float, there: bool) -> None:
    pattern, budget = build(1e9, int(share * whole), late=0.5)
    assert (pattern is not None) == there
    assert not budget.exhausted
    # without another start, or where few questions tell nothing, it goes on until the limit
    for patience, few in ((math.inf, 5), (1e9, 10**6)):
        _, budget = build(patience, int(share * whole), late=0.5, few=few)
        assert budget.exhausted != there


def test_it_goes_on_for_as_long_as_faster_answers_suffice_for_the_rest(whole: int) -> None:
    spent = []
    for speedup in (1.5, 4.0, 1e9):
        pattern, budget = build(1e9, int(0.7 * whole), late=0.5, few=10**6, speedup=speedup)
        assert pattern is None
        spent.append(budget.work)
    assert spent == sorted(spent)
    assert spent[0] < 0.9 * spent[1]
    assert spent[-1] >= int(0.7 * whole)
    assert build(1e9, 2 * whole, late=0.5, speedup=2.0)[0] is not None


@pytest.mark.parametrize(("patience", "there"), [(1e9, False), (math.inf, True)])
def test_a_question_that_takes_more_than_its_share_ends_what_may_be_given_up(
    whole: int, patience: float, there: bool
) -> None:
    pattern, budget = build(patience, int(1.05 * whole), question=0.01)
    assert (pattern is not None) == there
    assert (budget.work > 0.5 * whole) == there


def test_stored_deviations_rebuild_a_part_without_a_programme() -> None:
    problem = family("thin", seed=1, sizes=(5, 5, 5))
    constructor = Constructor(Witnesses(problem))
    whole = constructor.build(problem.weights, Budget())
    assert whole is not None
    assert (solved := constructor.cheapest.solved) > 0
    part = whole & (problem.must_hide | (np.random.default_rng(0).random(problem.n_cells) < 0.5))
    for seed in range(5):
        price = problem.weights * np.random.default_rng(seed).uniform(0.5, 2.0, problem.n_cells)
        pattern = constructor.build(price, Budget(), start=part, stored=True)
        assert pattern is not None
        assert (pattern >= part).all()
        assert not Witnesses(problem).check(pattern, Budget())
    assert constructor.cheapest.solved == solved


def test_no_stored_deviation_hides_a_cell_that_has_to_be_published_or_is_not_allowed() -> None:
    A = [[-1, 1, 1, 1, 1]]
    status = np.array([Status.SAFE, Status.PRIMARY, Status.PROTECTED, Status.SAFE, Status.SAFE], np.int8)
    plain = Problem.from_arrays(A, [26, 9, 6, 5, 6], primary=[1], lpl=2, upl=2, weights=[9, 1, 1, 2, 3])
    problem = replace(plain, status=status)
    judge = Witnesses(problem)
    for cell in (2, 3):
        for z in (2.0, -2.0):
            judge.offer(Deviation(np.array([1, cell]), np.array([z, -z])))
    constructor = Constructor(judge)
    pattern = constructor.build(problem.weights, Budget(), stored=True)
    assert pattern is not None
    assert np.flatnonzero(pattern).tolist() == [1, 3]
    allowed = np.array([True, True, True, False, True])
    pattern = constructor.build(problem.weights, Budget(), stored=True, allowed=allowed)
    assert pattern is not None
    assert np.flatnonzero(pattern).tolist() == [1, 4]


def test_a_question_whose_answer_would_hide_far_more_than_others_waits_until_these_are_answered() -> None:
    problem = family("thin", seed=6, sizes=(5, 4, 3, 3))
    costs, solved = [], []
    for ratio in (1.5, 1e9):
        options = changed(DEFAULTS, "construction.put_off_ratio", ratio)
        constructor = Constructor(Witnesses(problem), options=options.construction)
        pattern = constructor.build(problem.weights, Budget())
        assert pattern is not None
        assert not Witnesses(problem).check(pattern, Budget())
        costs.append(problem.cost(pattern))
        solved.append(constructor.cheapest.solved)
    assert costs[0] < 0.97 * costs[1]
    # each question waits once only
    assert solved[1] < solved[0] <= 3 * solved[1]
