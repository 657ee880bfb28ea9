"""Quadratic programmes against their optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.qp import Cone, solve_qp


@pytest.mark.parametrize("seed", range(8))
def test_optimality_conditions_hold(seed):
    rng = np.random.default_rng(seed)
    n, m = 10, 4
    A = rng.integers(-2, 3, (m, n)).astype(float)
    inside = rng.random(n)
    row_lower = A @ inside - np.where(np.arange(m) < 2, 0, rng.random(m))
    row_upper = np.where(np.arange(m) < 2, row_lower, np.where(np.arange(m) == 2, np.inf, row_lower + 0.5))
    cost, square = rng.normal(size=n), rng.random(n) + 0.1
    answer = solve_qp(A, row_lower, row_upper, np.zeros(n), np.ones(n), cost, square)
    x, reduced = answer.x, cost + 2 * square * answer.x - A.T @ answer.duals
    assert answer.status == "optimal"
    assert np.all((A @ x >= row_lower - 1e-6) & (A @ x <= row_upper + 1e-6))
    assert np.all(reduced[x > 1e-4] <= 1e-5)
    assert np.all(reduced[x < 1 - 1e-4] >= -1e-5)
    assert np.all(answer.duals[(A @ x > row_lower + 1e-4) & (A @ x < row_upper - 1e-4)] == pytest.approx(0, abs=1e-5))
    assert answer.bound == pytest.approx(answer.objective, abs=1e-6)


def test_a_ball_stops_the_way_down():
    ball = Cone(sparse.csr_array(np.eye(2)), np.array([-3.0, -4.0]), 1.0, np.zeros(2))
    answer = solve_qp(np.zeros((0, 2)), [], [], [-9, -9], [9, 9], [0, 0], [1, 1], (ball,))
    assert answer.x == pytest.approx([2.4, 3.2], abs=1e-5), "the point of the circle about (3, 4) nearest to 0"
    assert ball.excess(answer.x) == pytest.approx(0, abs=1e-6)


def test_a_cone_and_its_tangents():
    cone = Cone(sparse.csr_array([[0.0, 1, 0], [0, 0, 1]]), np.array([1.0, 0]), 0.5, np.array([1.0, 0, 0]))
    answer = solve_qp([[0.0, 1, 0]], [2], [2], [-9] * 3, [9] * 3, [1, 0, 0], [0, 0, 0], (cone,))
    assert answer.x == pytest.approx([2.5, 2, 0], abs=1e-4), "x_0 >= |(x_1 + 1, x_2)| - 0.5"
    rng = np.random.default_rng(0)
    for _ in range(200):
        row, right = cone.tangent(rng.normal(size=3))
        inside = rng.normal(size=3)
        inside[0] += max(0.0, cone.excess(inside))
        assert row @ inside <= right + 1e-9


def test_endings():
    assert solve_qp([[1.0]], [2], [3], [0], [1], [1], [1]).status == "infeasible"
    assert solve_qp([[1.0]], [2], [2], [1], [1], [1], [1]).status == "infeasible"
    assert solve_qp([[1.0]], [-1], [np.inf], [-np.inf], [np.inf], [-1], [0]).status == "unbounded"
    stopped = Budget(Limits(stop=lambda: True))
    assert solve_qp([[1.0, 1]], [2], [2], [0, 0], [9, 9], [1, 0], [1, 2], budget=stopped).status == "unknown"
