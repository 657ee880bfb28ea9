"""Exact arithmetic, against Fractions and Gaussian elimination."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import linprog

from tabprotect.solver.exact import Polyhedron, RationalVector, exact, integer_rows, scaled_integers, solve_exactly

FLOATS = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e18, max_value=1e18).filter(
    lambda v: v == 0 or abs(v) > 1e-25
)


@given(st.lists(FLOATS, min_size=1, max_size=8))
@example([0.1, 1e-7, 123456789012345.6])
@example([517987.49999999994, 0.30000000000000004])
@example([9007199254740993.0, 0.5])
def test_scaled_integers_are_the_decimals_as_written(values: list[float]) -> None:
    scale, (integers,) = scaled_integers(values)
    assert [Fraction(int(i), scale) for i in integers] == [Fraction(repr(v)) for v in values]
    assert [exact(v) for v in values] == [Fraction(repr(v)) for v in values]


def test_infinite_entries_do_not_disturb_the_others() -> None:
    scale, (one, two) = scaled_integers([np.inf, 0.5], [[-np.inf], [3.0]])
    assert Fraction(int(one[1]), scale) == Fraction(1, 2)
    assert two.shape == (2, 1)
    assert Fraction(int(two[1, 0]), scale) == 3


def eliminated(A: np.ndarray, rhs: list[Fraction]) -> list[Fraction] | None:
    """Solve by Gauss in fractions; None unless there is exactly one solution."""
    rows = [[Fraction(int(v)) for v in row] + [b] for row, b in zip(A, rhs, strict=True)]
    n, r = A.shape[1], 0
    for j in range(n):
        pivot = next((i for i in range(r, len(rows)) if rows[i][j]), None)
        if pivot is None:
            return None
        rows[r], rows[pivot] = rows[pivot], rows[r]
        rows[r] = [v / rows[r][j] for v in rows[r]]
        for i in range(len(rows)):
            if i != r and rows[i][j]:
                rows[i] = [a - rows[i][j] * b for a, b in zip(rows[i], rows[r], strict=True)]
        r += 1
    return [rows[j][n] for j in range(n)] if not any(row[n] for row in rows[r:]) else None


@given(st.integers(0, 10**6))
def test_solutions_equal_those_of_gauss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(1, 9)), int(rng.integers(1, 7))
    A = rng.integers(-2, 3, (m, n)) * (rng.random((m, n)) < 0.6)
    if rng.random() < 0.8:
        rhs = A @ rng.integers(-1000, 1000, n)
        A, rhs = A * int(rng.integers(1, 4)), rhs * int(rng.choice([1, 10**9]))
    else:
        rhs = rng.integers(-5, 5, m)
    expected = eliminated(A, [Fraction(int(b)) for b in rhs])
    found = solve_exactly(sparse.csr_array(A), rhs)
    if found and np.linalg.matrix_rank(A) < n:
        # not promised for such a matrix, and not wrong either
        assert [sum((int(a) * found[i] for i, a in enumerate(row)), Fraction(0)) for row in A] == rhs.tolist()
        return
    assert (found and [found[i] for i in range(n)]) == expected


def test_large_denominators_are_found() -> None:
    A = np.array([[7, 1, 0, 0], [0, 11, 1, 0], [0, 0, 13, 1], [1, 0, 0, 17]])
    rhs = np.array([10**40 + 1, 1, 2, 3], dtype=object)
    found = solve_exactly(sparse.csr_array(A), rhs)
    assert found is not None
    assert [found[i] for i in range(4)] == eliminated(A, [Fraction(v) for v in rhs])


def test_a_zero_right_hand_side_has_the_zero_solution() -> None:
    found = solve_exactly(sparse.csr_array(np.array([[1, 1], [1, -1]])), np.zeros(2, np.int64))
    assert found is not None
    assert found.numerators.tolist() == [0, 0]


@pytest.mark.parametrize(
    "A", [[[1, 1]], [[1, 0], [2, 0]], [[1, 2, 3], [0, 0, 0], [0, 0, 1]], [[1, 1, 0, 0], [0, 0, 1, 1]]]
)
def test_what_is_singular_by_its_pattern_is_not_factorised(A: list[list[int]], monkeypatch: pytest.MonkeyPatch) -> None:
    """SuperLU may write beyond its arrays there; what it then does is chance."""
    factorised: list[object] = []
    monkeypatch.setattr("tabprotect.solver.exact.rational.linalg.splu", lambda *a, **k: factorised.append(a))
    assert solve_exactly(sparse.csr_array(np.array(A)), np.ones(len(A), np.int64)) is None
    assert not factorised


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


def test_rows_with_decimals_become_integers() -> None:
    A = integer_rows(sparse.csr_array(np.array([[0.25, -1.0], [3.0, 0.0]])))
    assert A.dtype == np.int64
    assert A.toarray().tolist() == [[25, -100], [3, 0]]


def test_rounding_finds_sixteenths_among_large_numbers() -> None:
    """In numbers of 10^9 the fractions are no nearer to a grid than floating point can tell."""
    A = sparse.csr_array(np.array([[1, 1, -2]]))
    yes = np.ones(3, bool)
    far = np.full(3, 2 * 10**9)
    z = np.array([10**9 - 3 / 16, 10**9 + 7 / 16, 10**9 + 1 / 8])
    ((columns, point),) = Polyhedron(A, -far, far, yes, yes, 1).rounded(z + 4e-5, np.zeros(3, int), 1, 1e-2)
    assert columns.all()
    assert [point[k] for k in range(3)] == [Fraction(float(number)) for number in z]
