"""Circuits of a basis: deviations of few cells, and what they answer."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from scipy import sparse

from benchmarks.problems import watched
from tabprotect.attack.circuits import circuits
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Attacker, Problem
from tests.random_problems import random_problem


def flat(rows: int, columns: int) -> np.ndarray:
    """Equations of a table with margins."""
    n = (rows + 1) * (columns + 1)
    place = np.arange(n).reshape(rows + 1, columns + 1)
    A = np.zeros((rows + columns + 2, n))
    for r in range(rows + 1):
        A[r, place[r, :-1]], A[r, place[r, -1]] = 1, -1
    for c in range(columns + 1):
        A[rows + 1 + c, place[:-1, c]], A[rows + 1 + c, place[-1, c]] = 1, -1
    return A


@pytest.mark.parametrize("seed", range(12))
def test_a_circuit_is_the_only_deviation_of_its_cells_and_stays_within_bounds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = rng.integers(-2, 3, (5, 12)).astype(float)
    down, up = rng.integers(0, 9, 12).astype(float), np.where(rng.random(12) < 0.3, np.inf, rng.integers(1, 9, 12))
    order = rng.permutation(12)[:10]
    found = circuits(sparse.csc_array(A), order, down, up, 20.0).toarray()
    closed = len(order) - np.linalg.matrix_rank(A[:, order])
    assert closed <= len({tuple(np.flatnonzero(z)) for z in found}) + np.sum(down == 0)
    for z in found:
        cells = np.flatnonzero(z)
        assert np.isin(cells, order).all()
        assert np.abs(A @ z).max() < 1e-9
        assert np.all((-down - 1e-9 <= z) & (z <= np.minimum(up, 20.0) + 1e-9))
        assert len(cells) - np.linalg.matrix_rank(A[:, cells]) == 1
        room = np.where(z > 0, np.minimum(up, 20.0), np.minimum(down, 20.0))[cells]
        assert np.isclose(np.min(room / np.abs(z[cells])), 1.0)


def widest(A: np.ndarray, room: np.ndarray, cell: int) -> float:
    """The narrowest cell of the deviation through a cell whose narrowest cell is widest, by enumeration."""
    best = 0.0
    for size in range(1, A.shape[1] + 1):
        for cells in combinations(range(A.shape[1]), size):
            part = A[:, cells]
            if cell not in cells or size - np.linalg.matrix_rank(part) != 1:
                continue
            vector = np.linalg.svd(part)[2][-1]
            if np.abs(vector).min() > 1e-9:
                best = max(best, float(room[list(cells)].min()))
    return best


@pytest.mark.parametrize("seed", range(3))
def test_in_an_order_of_falling_room_no_circuit_is_wider(seed: int) -> None:
    rng = np.random.default_rng(seed)
    A = flat(2, 2)
    room = rng.permutation(np.arange(1.0, A.shape[1] + 1))
    found = circuits(sparse.csc_array(A), np.argsort(-room), room, room, np.inf)
    reached = np.abs(found.toarray()).max(axis=0)
    assert reached.tolist() == [widest(A, room, cell) for cell in range(A.shape[1])]


@pytest.mark.parametrize("seed", range(40))
def test_a_check_finds_the_same_with_circuits_and_without(seed: int) -> None:
    problem = watched(random_problem(seed, max_cells=30), np.random.default_rng(seed))
    rng = np.random.default_rng([seed, 1])
    for share in (0.3, 0.8, 1.0):
        pattern = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < share))
        alone = Witnesses(problem).check(pattern)
        helped = Witnesses(problem)
        helped.offer_circuits(pattern)
        assert [e.key for e in helped.check(pattern)] == [e.key for e in alone]


def test_many_attackers_need_few_programmes() -> None:
    """Each of 100 respondents who is alone in a cell of one long row: two other cells protect each from each."""
    rows, columns = 10, 10
    A = flat(rows, columns)
    n = A.shape[1]
    inner = np.array([r * (columns + 1) + c for r in range(rows) for c in range(columns)])
    values = np.zeros((rows + 1, columns + 1))
    values[:-1, :-1] = np.random.default_rng(0).integers(20, 40, (rows, columns))
    values[-1, :-1], values[:, -1] = values[:-1, :-1].sum(axis=0), 0
    values[:, -1] = values[:, :-1].sum(axis=1)
    problem = Problem.from_arrays(
        A, values.ravel(), primary=inner, lpl=3.0, upl=3.0, attackers=[Attacker(f"a{i}", (int(i),)) for i in inner]
    )
    judge = Witnesses(problem)
    assert judge.check(np.ones(n, bool)) == ()
    assert judge.programmes == 0
