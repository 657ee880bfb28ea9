"""Exact arithmetic, against Fractions and Gaussian elimination."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import sparse

from tabprotect.solver.exact import exact, integer_rows, scaled_integers, solve_exactly

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


def test_rows_with_decimals_become_integers() -> None:
    A = integer_rows(sparse.csr_array(np.array([[0.25, -1.0], [3.0, 0.0]])))
    assert A.dtype == np.int64
    assert A.toarray().tolist() == [[25, -100], [3, 0]]
