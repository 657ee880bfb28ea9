"""The judge itself must be right before it judges others."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from tabprotect.problem import Attacker, Problem
from tests.checker import Judge, exact, maximise
from tests.random_problems import KINDS, problems, random_problem

TWO_BY_TWO = [
    [-1, 1, 1, 0, 0, 0, 0, 0, 0],
    [0, 0, 0, -1, 1, 1, 0, 0, 0],
    [0, 0, 0, 0, 0, 0, -1, 1, 1],
    [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    [0, -1, 0, 0, 1, 0, 0, 1, 0],
    [0, 0, -1, 0, 0, 1, 0, 0, 1],
]


def two_by_two(**changes):
    given = {"lpl": 1, "upl": 1} | changes
    return Problem.from_arrays(TWO_BY_TWO, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], **given)


def pattern(*cells):
    x = np.zeros(9, bool)
    x[list(cells)] = True
    return x


def test_the_rectangle_is_safe_and_less_is_not():
    judge = Judge(two_by_two())
    assert judge.safe(pattern(4, 5, 7, 8))
    assert judge.interval(pattern(4, 5, 7, 8), 4) == (0, 8)
    assert [e.cell for e in judge.exposed(pattern(4, 5, 7))] == [4, 4]
    assert not judge.safe(pattern(5, 7, 8)), "the primary itself must be hidden"


def test_a_level_at_the_very_end_of_the_interval_is_reached_and_a_hair_more_is_not():
    assert Judge(two_by_two(upl=5)).safe(pattern(4, 5, 7, 8))
    wrong = Judge(two_by_two(upl=np.nextafter(5, 6))).exposed(pattern(4, 5, 7, 8))
    assert [(e.side, e.reach < 5.000000000000001) for e in wrong] == [(1, True)]


def test_an_attacker_who_knows_a_corner_reads_off_the_rest():
    assert not Judge(two_by_two(attackers=[Attacker("sole", (8,))])).safe(pattern(4, 5, 7, 8))
    assert Judge(two_by_two(attackers=[Attacker("sole", (4,))])).safe(pattern(4, 5, 7, 8)), "he knows the primary"


def test_a_sliding_level_counts_both_sides_together():
    assert Judge(two_by_two(lpl=0, upl=0, spl=8)).safe(pattern(4, 5, 7, 8))
    assert not Judge(two_by_two(lpl=0, upl=0, spl=8.5)).safe(pattern(4, 5, 7, 8))


def test_no_bounds_reach_infinity():
    judge = Judge(two_by_two(lower=-np.inf))
    assert judge.reach(pattern(4, 5, 7, 8), -1, 4, -1) == math.inf


class _Forgetful(dict):
    """A store of witnesses that keeps none."""

    def setdefault(self, _key, _default):
        return []


def with_few_free_cells(how_many):
    every = (random_problem(seed, max_cells=9, kinds=["2d", "general"]) for seed in itertools.count())
    return list(itertools.islice((p for p in every if np.sum(p.may_hide & ~p.must_hide) <= 6), how_many))


@pytest.mark.parametrize("problem", with_few_free_cells(15))
def test_the_optimum_is_that_of_trying_everything(problem):
    """Plain enumeration without any pruning or stored witness."""
    start = problem.must_hide
    free = np.flatnonzero(problem.may_hide & ~start)
    judge, best = Judge(problem), None
    judge.supports = _Forgetful()
    for chosen in itertools.product([False, True], repeat=len(free)):
        x = start.copy()
        x[free] = chosen
        if (best is None or problem.cost(x) < best) and not judge.exposed(x):
            best = problem.cost(x)
    found = Judge(problem).optimum()
    assert (found.cost is None) == (best is None)
    if best is not None:
        assert found.cost == pytest.approx(best, rel=1e-12, abs=1e-12)
        assert Judge(problem).safe(found.pattern)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_exact_simplex_agrees_with_the_floating_one(data):
    n, m = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 4))
    A = np.array([[data.draw(st.sampled_from([0, 0, 1, -1, 2])) for _ in range(n)] for _ in range(m)])
    down = [data.draw(st.sampled_from([0, 1, 2.5, 7, None])) for _ in range(n)]
    up = [data.draw(st.sampled_from([0, 1, 3, 0.1, None])) for _ in range(n)]
    cost = [data.draw(st.integers(-2, 2)) for _ in range(n)]
    claim = linprog(
        [-c for c in cost],
        A_eq=A,
        b_eq=np.zeros(m),
        bounds=[(None if d is None else -d, u) for d, u in zip(down, up, strict=True)],
    )
    value = maximise(
        [{j: Fraction(int(v)) for j, v in enumerate(row) if v} for row in A],
        [None if d is None else exact(d) for d in down],
        [None if u is None else exact(u) for u in up],
        {j: Fraction(c) for j, c in enumerate(cost) if c},
        stop_at=Fraction(10**9),
    )
    assert (value is None) == (claim.status == 3)
    if value is not None:
        assert float(value) == pytest.approx(-claim.fun, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_random_problems_are_reproducible_additive_and_small(kind):
    residuals = []
    for seed in range(30):
        one, two = random_problem(seed, kinds=[kind]), random_problem(seed, kinds=[kind])
        assert np.array_equal(one.values, two.values)
        assert np.array_equal(one.status, two.status)
        assert one.n_cells <= 40
        assert len(one.primaries) >= 1
        residuals.append(np.abs(one.system.residuals(one.values)).max())
    assert np.median(residuals) < 1e-9, "most tables add up; a few carry a rounding residual on purpose"


@settings(max_examples=20, deadline=None)
@given(problems())
def test_hiding_more_never_exposes(problem):
    judge = Judge(problem)
    if judge.safe(problem.must_hide):
        assert judge.safe(problem.may_hide)
