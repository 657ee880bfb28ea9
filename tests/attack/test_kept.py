"""Programmes that serve several patterns answer as programmes of one pattern do."""

from __future__ import annotations

import numpy as np

from tabprotect.attack.exposure import capacity
from tabprotect.attack.pool import Pool
from tabprotect.attack.witness import Key, Witnesses
from tabprotect.problem import Problem
from tests.quick import examples
from tests.random_problems import random_problem


def inside(problem: Problem, rng: np.random.Generator) -> np.ndarray:
    """Return what is hidden when a few cells are published of those that may be hidden."""
    pattern = problem.may_hide.copy()
    free = np.flatnonzero(pattern & ~problem.must_hide)
    pattern[rng.permutation(free)[: int(rng.integers(1, 1 + max(1, len(free) // 4)))]] = False
    return pattern


def test_checks_of_patterns_inside_another_answer_as_those_of_a_fresh_judge() -> None:
    exposed = attacked = fewer = 0
    for seed in range(examples(60, 400)):
        problem, rng = random_problem(seed), np.random.default_rng(seed)
        judge, stated = Witnesses(problem), 0
        judge.check(problem.may_hide)
        before = judge.programmes
        for _ in range(4):
            pattern = inside(problem, rng)
            fresh = Witnesses(problem)
            found, again = judge.check(pattern), fresh.check(pattern)
            assert {e.key for e in found} == {e.key for e in again}
            assert [e.decided for e in found] == [e.decided for e in again]
            for e in found:
                known = judge.known(e.key.attacker)
                for proof in e.proofs if e.key.side else ():
                    cells, c = capacity(problem, e.key.cell, proof, known)
                    assert c[pattern[cells]].sum() < e.needed * (1 + 1e-9)
            exposed, attacked = exposed + len(found), attacked + sum(e.key.attacker >= 0 for e in found)
            stated += fresh.programmes
        fewer += stated - (judge.programmes - before)
    assert exposed > examples(60, 500)
    assert attacked > examples(5, 50)
    assert fewer > examples(30, 250)


def test_no_witness_moves_what_is_published_inside_the_last_pattern() -> None:
    """One equation, and nothing stored: each check solves the programme of the first one."""
    cells = 30
    A = np.concatenate([[-1.0], np.ones(cells)])[None]
    problem = Problem.from_arrays(A, [9.0 * cells, *[9.0] * cells], primary=[1], lpl=2, upl=2)
    judge = Witnesses(problem)
    pattern = np.ones(cells + 1, bool)
    pattern[0] = False
    assert judge.check(pattern) == ()
    stated = judge.programmes
    for cell in range(2, 5):
        pattern = pattern.copy()
        pattern[cell] = False
        judge.pool = Pool(judge.questions, problem.n_cells)
        assert judge.check(pattern) == ()
        for side in (1, -1):
            (deviation,) = judge.witness(Key(-1, 1, side), pattern)
            assert pattern[deviation.cells].all()
    assert judge.programmes == stated
