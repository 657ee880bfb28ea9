"""The intruder who knows which way sensitive cells went."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabprotect.errors import InfeasibleError, InputError
from tabprotect.methods.adjustment import adjust, sense_risk
from tabprotect.problem import Problem
from tests.random_problems import random_problem


def row(**changes):
    given = {"primary": [1], "lpl": 2, "upl": 2, "protected": [0]} | changes
    return Problem.from_arrays([[-1, 1, 1, 1]], [30, 10, 9, 11], **given)


def test_with_senses_and_levels_the_least_change_is_undone():
    result = adjust(row(), senses="up", weights="unit")
    risk = sense_risk(result)
    assert risk.share == 1
    assert risk.estimate.tolist() == [10]
    assert risk.error.tolist() == [0]
    assert risk.published_error.tolist() == [1]


def test_a_wrong_guess_of_the_level_leaves_doubt():
    result = adjust(row(), senses="up", weights="unit")
    wrong = sense_risk(result, known_levels=False, guess=0.5)
    assert wrong.estimate.tolist() == [6]
    assert wrong.error.tolist() == [2]
    assert wrong.share == 0
    near = sense_risk(result, known_levels=False, guess=0.25)
    assert near.estimate.tolist() == [9]
    assert near.disclosed.tolist() == [1]


def test_levels_of_two_sides_are_turned_with_the_senses():
    result = adjust(row(lpl=3, upl=2), senses=[-1], weights="unit")
    assert result.values[1] == 7
    assert sense_risk(result).estimate.tolist() == [10]


def test_published_values_are_never_within_the_levels():
    for seed in range(6):
        problem = random_problem(seed, kinds=["2d", "3d"])
        problem = replace(problem, spl=np.zeros(problem.n_cells))
        try:
            result = adjust(problem, weights="unit")
        except InfeasibleError:
            continue
        if result.values is None:
            continue
        risk = sense_risk(result)
        assert np.all(risk.published_error >= 1 - 1e-9)
        assert len(risk.frame) == len(risk.cells)


def test_nothing_to_attack():
    result = adjust(row(), weights="unit")
    with pytest.raises(InputError, match="no adjusted values"):
        sense_risk(replace(result, values=None))
