"""The simplex method in rational numbers against floating point, and where floating point cannot tell."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize, sparse

from tabprotect.solver.exact import Polyhedron
from tabprotect.solver.exact.simplex import furthest
from tests.quick import examples


def random_polyhedron(seed: int) -> tuple[Polyhedron, np.ndarray]:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 6)), int(rng.integers(3, 12))
    A = rng.integers(-1, 2, (m, n))
    low, high = -rng.integers(0, 20, n), rng.integers(0, 20, n)
    finite = rng.random((2, n)) < 0.9
    return Polyhedron(sparse.csr_array(A), low, high, finite[0], finite[1], int(rng.choice([1, 4]))), A


@settings(max_examples=examples(60, 150), deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([1, -1]))
def test_it_goes_as_far_as_a_linear_programme_says(seed: int, side: int) -> None:
    box, A = random_polyhedron(seed)
    found = furthest(box, 0, side, 1000)
    assert found is not None
    point, reached = found
    assert box.contains(point)
    bounds = [
        (low if lf else None, high if hf else None)
        for low, lf, high, hf in zip(box.lower, box.lower_finite, box.upper, box.upper_finite, strict=True)
    ]
    low, high = bounds[0]
    bounds[0] = (-1000 if low is None else low, 1000 if high is None else high)
    cost = np.zeros(A.shape[1])
    cost[0] = -side
    best = optimize.linprog(cost, A_eq=A, b_eq=np.zeros(len(A)), bounds=bounds)
    assert float(side * point[0] * box.scale) == pytest.approx(-best.fun, abs=1e-7)
    assert reached == (side * point[0] * box.scale == 1000)


def test_a_level_that_differs_in_the_last_of_many_digits() -> None:
    row = sparse.csr_array(np.array([[-1, 1, 1]]))
    room = np.array([10**40, 10**40, 3 * 10**40], dtype=object)
    box = Polyhedron(row, -room, room, np.ones(3, bool), np.ones(3, bool), 10**30)
    point, reached = furthest(box, 1, 1, 10**40)
    assert reached
    assert point[1] == Fraction(10**10)
    assert furthest(box, 1, 1, 10**40 + 1)[1] is False
