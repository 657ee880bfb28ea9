"""The attack model against the judge, and golden intervals."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tabprotect.models import attacker
from tabprotect.problem import Attacker, Problem
from tests.checker import Judge
from tests.random_problems import random_problem


@pytest.mark.parametrize("seed", range(20))
def test_the_model_moves_cells_as_far_as_the_judge(seed):
    problem = random_problem(seed, max_cells=25)
    rng = np.random.default_rng(seed)
    pattern = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < 0.6))
    for k in range(-1, len(problem.attackers)):
        cell = int(rng.choice(problem.primaries))
        for side in (1, -1, 0):
            mine = Judge(problem).reach(pattern, k, cell, side)
            model = attacker.solve(problem, pattern, cell, side=side, attacker=k)
            assert model == pytest.approx(mine, rel=1e-7, abs=1e-7)


def test_an_intruder_who_knows_integrality_sees_less():
    """2 z_0 + z_1 = 0 with |z_1| <= 1: half a unit in fractions, nothing in integers."""
    problem = Problem.from_arrays([[2, 1]], [5, 3], primary=[0], lpl=0, upl=0.5, b=[13], lower=[0, 2], upper=[9, 4])
    everything = problem.may_hide
    assert attacker.solve(problem, everything, 0, side=1) == pytest.approx(0.5)
    assert attacker.solve(problem, everything, 0, side=1, integral=True) == 0


def test_an_attacker_knows_his_own_cell():
    problem = Problem.from_arrays(
        [[1, 1, 1]], [3, 3, 3], primary=[0], lpl=1, upl=1, b=[9], attackers=[Attacker("a", (1, 2))]
    )
    assert attacker.solve(problem, problem.may_hide, 0, side=1, attacker=0) == 0
    assert attacker.solve(problem, problem.may_hide, 0, side=1) == 6


def test_nothing_holds_a_cell_without_bounds():
    problem = Problem.from_arrays([[1, -1]], [3, 3], primary=[0], lpl=1, upl=1)
    assert attacker.solve(problem, problem.may_hide, 0, side=1) == math.inf
