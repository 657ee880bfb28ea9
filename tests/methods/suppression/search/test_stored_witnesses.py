"""What a first pattern takes from stored witnesses, beside what the pool itself finds."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.search.first import _Choice
from tabprotect.problem import Attacker, Problem


def _problem(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    values = np.zeros((5, 5))
    values[1:, 1:] = rng.integers(1, 40, (4, 4))
    values[0, 1:], values[1:, 0] = values[1:, 1:].sum(0), values[1:, 1:].sum(1)
    values[0, 0] = values[0, 1:].sum()
    number = np.arange(25).reshape(5, 5)
    rows = np.zeros((10, 25))
    for k in range(5):
        rows[k, number[k]] = rows[5 + k, number[:, k]] = [-1, 1, 1, 1, 1]
    known = [tuple(int(c) for c in rng.choice(25, 2, replace=False)) for _ in range(8)]
    return Problem.from_arrays(
        rows, values.ravel(), rng.choice(number[1:, 1:].ravel(), 5, replace=False), lpl=3, upl=3, spl=9,
        attackers=[Attacker(str(k), cells) for k, cells in enumerate(known)],
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_a_witness_is_taken_where_the_pool_has_one_and_answers_its_question(seed: int) -> None:
    problem = _problem(seed)
    judge = Witnesses(problem)
    judge.offer_circuits(problem.may_hide)
    valid = judge.pool.valid(problem.may_hide)
    taken = 0
    for attacker in range(-1, len(problem.attackers)):
        avoiding = valid if attacker < 0 else judge.pool.avoiding(valid, judge.known(attacker))
        for question, (cell, side) in enumerate(zip(judge.questions.cell, judge.questions.side, strict=True)):
            choice = _Choice(judge, set(), None, DEFAULTS)
            key = Key(attacker, int(cell), int(side))
            found = choice._any(key)
            assert found == bool(judge.pool.best(avoiding, question))
            if found:
                assert judge.witness(key, choice._pattern)
                taken += 1
    assert taken > 20
