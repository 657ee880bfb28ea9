"""Where data sets are looked for: the classes near a target, against plain counting."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.search import COLUMNS, Search, _merged
from tabprotect.query.audit.worlds import Box


def partition(rng: np.random.Generator, n: int, queries: int) -> Partition:
    p = Partition.whole(n)
    for _ in range(queries):
        p, _ = p.refined(rng.random(n) < 0.5)
    return p


@given(st.integers(0, 2**32 - 1), st.integers(1, 80))
@settings(max_examples=40, deadline=None)
def test_merged_rows_are_those_of_numpy(seed, queries):
    p = partition(np.random.default_rng(seed), 30, queries)
    M = p.rows().toarray()
    rows = np.unique(M, axis=0)
    found, row_of = _merged(p.bits, p.n_queries)
    assert isinstance(found, sparse.csr_array)
    assert np.array_equal(found.toarray(), rows[rows.any(axis=1)])
    assert found.has_sorted_indices
    assert np.array_equal(row_of >= 0, M.any(axis=1))
    assert np.array_equal(found.toarray()[row_of[row_of >= 0]], M[row_of >= 0])


@given(st.integers(0, 2**32 - 1), st.integers(1, 150), st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_the_nearest_classes_differ_in_the_fewest_query_sets(seed, queries, size):
    rng = np.random.default_rng(seed)
    p = partition(rng, 40, queries)
    n = p.n_classes
    upper = np.where(rng.random(n) < 0.8, 5, 0)
    search = Search(p, Box(np.zeros(n, np.int64), upper), 1000)
    centre = int(rng.integers(n))
    found = search._around(np.array([centre]), size)
    M = p.rows().toarray()
    distance = (M[:, [centre]] != M).sum(axis=0)
    open_ = np.flatnonzero(p.asked & (upper > 0))
    wanted = min(size, COLUMNS, len(open_))
    others = np.setdiff1d(found, [centre]) if centre not in open_ else found
    assert centre in found
    assert np.isin(others, open_).all()
    assert sorted(distance[others]) == sorted(distance[open_])[:wanted]
