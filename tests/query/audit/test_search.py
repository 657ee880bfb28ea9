"""Where data sets are looked for: the classes near a target, against plain counting."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tabprotect.query.audit import Auditor, Records
from tabprotect.query.audit.options import DEFAULTS
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.search import COLUMNS, Search, _merged
from tabprotect.query.audit.worlds import Box, Programme


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


@given(st.integers(0, 2**32 - 1), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_prices_end_with_a_data_set_exactly_where_there_is_one(seed, others):
    """Against one programme over all classes; where there is none, the duals alone show it.

    Classes other than the target may have to move as well, as the (n, k) rule asks.
    """
    rng = np.random.default_rng(seed)
    p = partition(rng, 700, 12)
    n = p.n_classes
    lower, upper = -rng.integers(0, 3, n), rng.integers(0, 3, n)
    search = Search(p, Box(np.where(p.asked, lower, 0), np.where(p.asked, upper, 0)), 10**6)
    centre = int(rng.choice(np.flatnonzero(p.asked)))
    box = Box(search.box.lower.copy(), search.box.upper.copy())
    box.lower[centre] = box.upper[centre] = int(rng.integers(1, 40))
    free = np.flatnonzero(p.asked & (box.upper > 0))
    box.lower[rng.choice(free, others)] = 1
    feasible = Programme(p.rows(), box).duals(box, 10**6)
    world = search.priced(box, np.array([centre]))
    assert feasible is not None
    assert (world is None) == feasible.any()
    if world is not None:
        assert not (p.rows() @ world.moves).any()
        assert box.contains(world).all()
    else:
        # no moves inside the box make the combination of the answers 0
        column = p.weighted(search.blame)
        most = np.maximum(column * box.lower, column * box.upper).sum()
        least = np.minimum(column * box.lower, column * box.upper).sum()
        assert most < -1e-6 or least > 1e-6


def test_other_classes_that_have_to_move_are_looked_at_with_a_target():
    p = partition(np.random.default_rng(1), 900, 9)
    n = p.n_classes
    box = Box(np.full(n, -20), np.full(n, 20))
    search = Search(p, box, 10**6)
    asked = np.flatnonzero(p.asked)
    wanted = Box(box.lower.copy(), box.upper.copy())
    wanted.lower[asked[[3, -3]]] = 7
    for look in (search.near, search.priced):
        world = look(wanted, asked[3:4])
        assert world is not None
        assert not (p.rows() @ world.moves).any()
        assert wanted.contains(world).all()


def test_moves_that_are_not_whole_are_made_exact_among_many_classes():
    """x + a + b = x + b + c = x + a + c = 0 for x = 1, in more classes than fractions are worked out for."""
    n = DEFAULTS.exact + 100
    M = np.zeros((4, n), np.int64)
    for row, classes in enumerate(([0, 1, 2], [0, 2, 3], [0, 1, 3], range(4, n))):
        M[row, list(classes)] = 1
    lower = np.full(n, -5)
    lower[0] = 1
    rows = sparse.csr_array(M)
    free = Box(np.full(n, -5), np.full(n, 5))
    world = Programme(rows, free).find(Box(lower, np.full(n, 5)), 10**6)
    assert world is not None
    assert (world.denominator, world.moves[:4].tolist()) == (2, [2, -1, -1, -1])
    assert not (M @ world.moves).any()


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
@settings(max_examples=40, deadline=None)
def test_groups_follow_together_as_one_by_one(seed, n_groups):
    rng = np.random.default_rng(seed)
    auditor = Auditor(Records.of(np.full(40, 10.0)), "threshold=1")
    label = rng.integers(0, n_groups, 40)
    for _ in range(int(rng.integers(1, 12))):
        auditor.replay(np.isin(label, rng.integers(0, n_groups, 3)) ^ (rng.random(40) < 0.02))
    label[rng.random(40) < 0.05] = -1
    one_by_one = [auditor.state.follows(label == k) for k in range(n_groups)]
    assert auditor.state.follow_all(label, n_groups) == one_by_one
