"""Finite capacities for infinite bounds lose no pattern."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import null_space

from tabprotect.models.capacity import elementary_ratio
from tests.random_problems import KINDS, random_problem


def elementary_vectors(A):
    """All elementary vectors of the kernel, by brute force over supports."""
    n = A.shape[1]
    supports = []
    for size in range(1, n + 1):
        for support in itertools.combinations(range(n), size):
            if any(set(s) <= set(support) for s, _ in supports):
                continue
            kernel = null_space(A[:, support])
            if kernel.shape[1] == 1 and np.all(np.abs(kernel) > 1e-9):
                supports.append((support, np.abs(kernel[:, 0])))
    return supports


@pytest.mark.parametrize("seed", range(30))
def test_no_elementary_vector_exceeds_the_ratio(seed):
    rng = np.random.default_rng(seed)
    A = rng.choice([0, 0, 1, -1, 2], size=(rng.integers(1, 5), rng.integers(3, 8))).astype(float)
    ratio = elementary_ratio(sparse.csr_array(A))
    for support, sizes in elementary_vectors(A):
        assert sizes.max() / sizes.min() <= ratio[list(support)].min() * (1 + 1e-9)


def test_two_dimensions_are_a_network_and_three_are_not():
    for seed in range(5):
        assert elementary_ratio(random_problem(seed, kinds=["2d"]).system.A).max() == 1
        assert elementary_ratio(random_problem(seed, kinds=["hierarchical"]).system.A).max() == 1
    assert elementary_ratio(random_problem(0, kinds=["3d"]).system.A).min() > 1


def test_every_kind_has_a_finite_ratio():
    for kind in KINDS:
        assert all(math.isfinite(r) for r in elementary_ratio(random_problem(1, kinds=[kind]).system.A))


def test_rows_are_read_up_to_scale():
    assert elementary_ratio(sparse.csr_array([[0.5, -0.5, -0.5], [0.0, 0.3, 0.3], [-7.0, 7.0, 7.0]])).tolist() == [
        1,
        1,
        1,
    ]
