"""Points of polyhedra, exactly: near floating-point ones, and never outside."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog

from tabprotect.solver.exact import Polyhedron, RationalVector, exact, scaled_integers


def cube(k: int) -> np.ndarray:
    """Equations of a k x k x k table without its margins: all line sums are 0."""
    cells = np.arange(k**3).reshape(k, k, k)
    rows = []
    for axis in range(3):
        for line in np.moveaxis(cells, axis, -1).reshape(-1, k):
            row = np.zeros(k**3, int)
            row[line] = 1
            rows.append(row)
    return np.array(rows)


@pytest.mark.parametrize("seed", range(8))
def test_vertices_of_three_way_tables_become_exact(seed: int) -> None:
    """Their vertices are not integral, bounds have many digits, and half of the equations depend on others."""
    rng = np.random.default_rng(seed)
    A = cube(4)
    A = A[:, rng.random(64) < 0.8]
    n = A.shape[1]
    lower, upper = -rng.uniform(0, 3, n), rng.uniform(0, 3, n) * 10.0 ** rng.integers(-3, 6)
    scale, (low, high) = scaled_integers(lower, upper)
    yes = np.ones(n, bool)
    polyhedron = Polyhedron(sparse.csr_array(A), low, high, yes, yes, scale)
    for _ in range(4):
        z = linprog(rng.normal(size=n), A_eq=A, b_eq=np.zeros(len(A)), bounds=list(zip(lower, upper, strict=True))).x
        point = polyhedron.vertex(z)
        assert point is not None
        values = [point[i] for i in range(n)]
        assert all(sum(v for v, a in zip(values, row, strict=True) if a) == 0 for row in A)
        assert all(exact(a) <= v <= exact(b) for v, a, b in zip(values, lower, upper, strict=True))
        assert np.allclose([float(v) for v in values], z, atol=1e-6)


def test_a_vertex_is_not_invented() -> None:
    """With bounds that contradict the equations by a hair there is no exact point, however near floating point gets."""
    yes = np.ones(2, bool)
    scale, (low, high) = scaled_integers([1.0000000000000002, -2.0], [2.0, -1.0])
    A = sparse.csr_array(np.array([[1, 1]]))
    assert Polyhedron(A, low, high, yes, yes, scale).vertex(np.array([1.0000000000000002, -1.0])) is None
    scale, (low, high) = scaled_integers([1.0, -2.0], [2.0, -1.0])
    point = Polyhedron(A, low, high, yes, yes, scale).vertex(np.array([1.0, -1.0]))
    assert point is not None
    assert (point[0], point[1]) == (1, -1)


def test_rounding_takes_only_what_is_near_and_keeps_blocks_apart() -> None:
    A = sparse.csr_array(np.array([[1, -1, 0, 0], [0, 0, 1, -1]]))
    yes = np.ones(4, bool)
    polyhedron = Polyhedron(A, np.full(4, -9), np.full(4, 9), yes, yes, 1)
    ((columns, point),) = polyhedron.rounded(np.array([1 / 3, 1 / 3, 0.123456, 0.123456]), np.array([0, 0, 1, 1]))
    assert columns.tolist() == [True, True, False, False]
    assert (point[0], point[2]) == (Fraction(1, 3), 0)
    assert polyhedron.rounded(np.array([9.00001, 9.00001, 9.9, 9.9]), np.zeros(4, int)) == []


def test_contains_is_exact() -> None:
    A = sparse.csr_array(np.array([[1, 1]]))
    yes = np.ones(2, bool)
    polyhedron = Polyhedron(A, np.array([-10, -10]), np.array([10, 10]), yes, np.array([True, False]), 10)
    assert polyhedron.contains(RationalVector(np.array([-1, 1]), 1))
    assert not polyhedron.contains(RationalVector(np.array([10**20 + 1, -(10**20) - 1], dtype=object), 10**20))
    assert not polyhedron.contains(RationalVector(np.array([-1, 2]), 3))


def test_rounding_finds_sixteenths_among_large_numbers() -> None:
    """In numbers of 10^9 the fractions are no nearer to a grid than floating point can tell."""
    A = sparse.csr_array(np.array([[1, 1, -2]]))
    yes = np.ones(3, bool)
    far = np.full(3, 2 * 10**9)
    z = np.array([10**9 - 3 / 16, 10**9 + 7 / 16, 10**9 + 1 / 8])
    ((columns, point),) = Polyhedron(A, -far, far, yes, yes, 1).rounded(z + 4e-5, np.zeros(3, int), 1, 1e-2)
    assert columns.all()
    assert [point[k] for k in range(3)] == [Fraction(float(number)) for number in z]
