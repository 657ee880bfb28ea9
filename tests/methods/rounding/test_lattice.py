"""Tables of multiples that add up, as a lattice."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import tabprotect as tp
from tabprotect.formats.jj import JJ
from tabprotect.methods.rounding.grid import on_grid
from tabprotect.methods.rounding.lattice import free_cells, walk
from tabprotect.methods.rounding.programme import Programme
from tabprotect.solver.limits import Budget, Limits
from tests.methods.rounding.tables import flat, unsensitive
from tests.random_problems import random_problem


@pytest.mark.parametrize("seed", range(20))
def test_free_cells_give_every_whole_solution(seed):
    A = random_problem(seed, kinds=["linked"]).system.A
    free, K = free_cells(A)
    assert not np.any((A @ K).toarray())
    assert len(free) == A.shape[1] - np.linalg.matrix_rank(A.toarray())
    # the free cells are the identity, so any whole solution is K times its own free cells
    assert np.array_equal(K[free].toarray(), np.eye(len(free)))
    assert np.array_equal(K.data, np.rint(K.data))


def test_coefficients_without_a_pivot_of_one_give_up():
    assert free_cells(sparse.csr_array([[2.0, 3.0]])) is None
    assert free_cells(sparse.csr_array([[0.5, 1.0]])) is None


@pytest.mark.parametrize("seed", range(10))
def test_the_walk_ends_at_multiples_that_add_up_within_their_bounds(seed):
    problem = unsensitive(random_problem(seed, kinds=["linked"]))
    if np.any(problem.system.residuals(problem.values)) or np.any(problem.system.b):
        pytest.skip("this table carries residuals or constants")
    programme = Programme(problem, on_grid(problem, 5, 2), np.ones(problem.n_cells), "l1")
    found = walk(programme, Budget())
    assert found is not None
    assert np.all((programme.low <= found) & (found <= programme.high))
    assert not np.any(problem.system.A @ found[programme.own])
    best = tp.round(problem, 5, steps=2)
    assert best.cost <= programme.distance(found) * (1 + 1e-9)


def test_cuts_and_impossible_bounds_are_respected():
    problem = flat(3, 4, seed=1)
    programme = Programme(problem, on_grid(problem, 5, 0), np.ones(problem.n_cells), "l1")
    assert walk(programme, Budget()) is not None
    row = np.zeros(problem.n_cells)
    row[0] = 1.0
    programme.add_cut(row, 1e6)
    assert walk(programme, Budget()) is None


@pytest.mark.slow
def test_a_strongly_linked_table_is_rounded(shared):
    problem = JJ.read(shared("instances/csplib/two5in6.jj")).problem()
    result = tp.round(problem, 5, steps=3, limits=Limits(seconds=40))
    assert result.verdict.ok
    assert result.jump < 20
