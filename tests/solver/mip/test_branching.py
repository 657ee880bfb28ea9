"""Branching on a warm linear programme finds what enumeration finds."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.mip.branching import branch
from tests.quick import examples


def programme(rows, cost):
    n = len(cost)
    matrix = np.array(rows, np.float64)
    lp = LinearProgram(matrix, np.ones(len(rows)), np.full(len(rows), np.inf), np.zeros(n), np.ones(n), cost)
    return lp, matrix


def cheapest(matrix, cost):
    solutions = (np.array(bits, bool) for bits in itertools.product([0, 1], repeat=len(cost)))
    return min((float(cost[c].sum()) for c in solutions if np.all(matrix @ c >= 1 - 1e-9)), default=None)


@st.composite
def covers(draw):
    n = draw(st.integers(2, 7))
    row = st.lists(st.sampled_from([0.0, 0.0, 0.4, 1.0, -1.0]), min_size=n, max_size=n)
    rows = draw(st.lists(row, min_size=1, max_size=6))
    whole = draw(st.booleans())
    cost = st.integers(0, 9).map(float) if whole else st.floats(0.0, 9.0, allow_subnormal=False)
    return rows, np.array(draw(st.lists(cost, min_size=n, max_size=n))), float(whole)


@given(covers())
@settings(max_examples=examples(40, 100))
def test_equals_enumeration(problem):
    rows, cost, step = problem
    lp, matrix = programme(rows, cost)
    root = lp.solve()
    zero, one = np.zeros(len(cost)), np.ones(len(cost))
    found = branch(lp, root, cost, zero, one, Budget(), step) if root.status == "optimal" else None
    best = cheapest(matrix, cost)
    assert (found is None) == (best is None)
    if found is not None:
        assert np.all(matrix @ found >= 1 - 1e-6)
        assert cost[found].sum() == pytest.approx(best, abs=1e-6)
    again = lp.solve()
    assert again.status == root.status
    assert root.status != "optimal" or again.objective == pytest.approx(root.objective, abs=1e-9)


def odd_cycle(n):
    rows = np.eye(n) + np.eye(n)[:, [*range(1, n), 0]]
    return programme(rows, np.ones(n))[0], np.ones(n)


def test_a_budget_ends_it_and_bounds_are_as_before():
    lp, cost = odd_cycle(9)
    root, zero = lp.solve(), np.zeros(9)
    assert root.objective == 4.5
    assert branch(lp, root, cost, zero, cost, Budget(Limits(work=2))) is None
    assert lp.solve().objective == 4.5
    assert branch(lp, root, cost, zero, cost, Budget(), 1.0).sum() == 5


def test_a_step_closes_what_cannot_be_cheaper():
    """Two triangles: relaxed they cost 9, and 10.5 where one of them is settled; 12 is the next multiple of 3."""
    triangle, spent, cost = np.array([[1.0, 1, 0], [0, 1, 1], [1, 0, 1]]), [], np.full(6, 3.0)
    for step in (0.0, 3.0):
        lp, _ = programme(np.kron(np.eye(2), triangle), cost)
        budget = Budget()
        assert 3 * branch(lp, lp.solve(), cost, np.zeros(6), np.ones(6), budget, step).sum() == 12
        spent.append(budget.work)
    assert spent[1] < spent[0]
