"""Positions of several runs of entries."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from tabprotect.solver.ranges import entries_of


def test_entries_are_those_of_a_matrix_of_these_rows() -> None:
    rng = np.random.default_rng(5)
    matrix = sparse.random_array((30, 12), density=0.2, rng=rng, format="csr")
    rows = np.append(rng.choice(30, 9), np.flatnonzero(np.diff(matrix.indptr) == 0)[:1])
    at, length = entries_of(matrix.indptr, rows)
    part = matrix[rows]
    assert matrix.indices[at].tolist() == part.indices.tolist()
    assert matrix.data[at].tolist() == part.data.tolist()
    assert length.tolist() == np.diff(part.indptr).tolist()
    assert len(entries_of(matrix.indptr, rows[:0])[0]) == 0
