"""What a first pattern takes from stored witnesses, beside what the pool itself finds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.search.first import _Choice
from tests.random_problems import random_problem


def test_a_witness_is_taken_where_the_pool_has_one_and_answers_its_question() -> None:
    taken = by_attackers = sliding = 0
    for seed in range(30):
        problem = random_problem(seed, max_cells=30)
        if seed % 2:  # the same widths, whatever their position
            none = np.zeros(problem.n_cells)
            problem = replace(problem, lpl=none, upl=none, spl=problem.lpl + problem.upl)
        judge = Witnesses(problem)
        judge.offer_circuits(problem.may_hide)
        judge.check(problem.may_hide)
        valid = judge.pool.valid(problem.may_hide)
        for attacker in range(-1, len(problem.attackers)):
            avoiding = valid if attacker < 0 else judge.pool.avoiding(valid, judge.known(attacker))
            for question, (cell, side) in enumerate(zip(judge.questions.cell, judge.questions.side, strict=True)):
                choice, key = _Choice(judge, set(), None, DEFAULTS), Key(attacker, int(cell), int(side))
                found = choice._any(key)
                assert found == bool(judge.pool.best(avoiding, question))
                if found:
                    assert judge.witness(key, choice._pattern)
                    taken, by_attackers, sliding = taken + 1, by_attackers + (attacker >= 0), sliding + (side == 0)
    assert min(taken, by_attackers, sliding) > 10
