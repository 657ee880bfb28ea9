"""Sums of hidden cells put to an intruder: deviations known of a pattern spare programmes and decide nothing alone."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.attack.asked_sums import known_too_closely
from tabprotect.attack.pool import Deviation
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Attacker, Problem
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget
from tests.random_problems import random_problem


def a_sum(problem: Problem, cells: tuple[int, ...], level: float) -> UnionExposure:
    return UnionExposure(cells, float(problem.values[list(cells)].sum()), ("p%=15",), level, level, 0.0, True, "")


@pytest.mark.parametrize("seed", range(12))
def test_the_answer_is_the_same_with_deviations_known_of_the_pattern(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(seed)
    pattern = problem.may_hide | problem.must_hide
    judge = Witnesses(problem)
    judge.check(pattern)
    hidden = np.flatnonzero(pattern)
    sizes = [size for size in (2, 3, 2, 4) if size <= len(hidden)]
    cells = {tuple(sorted(rng.choice(hidden, size, replace=False).tolist())) for size in sizes}
    sums = [a_sum(problem, mine, float(rng.uniform(0.5, 5))) for mine in sorted(cells)]
    found = known_too_closely(problem, pattern, sums)
    assert known_too_closely(problem, pattern, sums, deviations=judge.known_about(pattern)) == found


def test_sums_that_known_deviations_move_need_no_programme() -> None:
    problem = Problem.from_arrays([[-1, 1, 1, 1, 1]], [36, 9, 6, 5, 16], primary=[1], lpl=2, upl=2)
    pattern, sums = np.array([False, True, True, True, True]), [a_sum(problem, (1, 2), 2.0)]
    moves = [Deviation(np.array([1, 3]), np.array([2.0, -2.0])), Deviation(np.array([1, 3]), np.array([-2.0, 2.0]))]
    alone, helped = Budget(), Budget()
    assert known_too_closely(problem, pattern, sums, alone) == ()
    assert known_too_closely(problem, pattern, sums, helped, moves) == ()
    assert alone.work > helped.work == 0


def test_deviations_that_are_none_do_not_make_a_sum_safe() -> None:
    """One moves a total that is published, one a single cell of a row, one what a respondent knows."""
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, attackers=[Attacker("a", (3,))]
    )
    pattern, sums = np.array([False, True, True, True]), [a_sum(problem, (1, 2), 2.0)]
    wrong = [
        Deviation(np.array([0, 1]), np.array([2.0, 2.0])),
        Deviation(np.array([1]), np.array([2.0])),
        Deviation(np.array([1]), np.array([-2.0])),
        Deviation(np.array([1, 3]), np.array([2.0, -2.0])),
        Deviation(np.array([1, 3]), np.array([-2.0, 2.0])),
    ]
    (close,) = known_too_closely(problem, pattern, sums, deviations=wrong)
    assert (close.cells, close.attacker) == ((1, 2), "a")
    (without,) = known_too_closely(problem, pattern, sums)
    assert close == without
