"""A pool of rows: no row twice, origins and rows found again, two pools joined."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from tabprotect.solver.mip.rows import Origins, Row, RowPool


def some_rows(seed: int, count: int) -> list[Row]:
    rng = np.random.default_rng(seed)
    rows = []
    for _ in range(count):
        index = np.sort(rng.choice(5, int(rng.integers(1, 4)), replace=False))
        rows.append(Row(index, rng.integers(1, 3, len(index)) / 2, float(rng.integers(0, 2))))
    return rows


@pytest.mark.parametrize("seed", range(5))
def test_rows_and_origins_are_found_again(seed):
    rows, pool, first = some_rows(seed, 60), RowPool(5), {}
    for lo in range(0, 60, 20):
        added = pool.add(rows[lo : lo + 20], list(range(lo, lo + 20)))
        assert added == list(range(len(pool) - len(added), len(pool)))
    for k, row in enumerate(rows):
        first.setdefault(row.key, k)
    assert [pool.origin(k) for k in range(len(pool))] == list(first.values())
    x = np.random.default_rng(seed).random(5)
    for k, origin in enumerate(first.values()):
        assert pool.find(rows[origin]) == k
        assert pool.row(k).key == rows[origin].key
        assert pool.slack(x)[k] == pytest.approx(rows[origin].slack(x))
    assert pool.slack(x, [3, 1]).tolist() == pool.slack(x)[[3, 1]].tolist()


def test_pools_are_joined_with_their_origins():
    one, two = RowPool(5), RowPool(5)
    one.add(some_rows(0, 30), list(range(30)))
    two.extend(sparse.csr_array(2 * np.eye(5)), np.zeros(5), Origins(complex, np.arange(5), np.zeros(5)))
    two.join(one)
    two.join(one)
    assert len(two) == 5 + len(one)
    assert [two.origin(5 + k) for k in range(len(one))] == [one.origin(k) for k in range(len(one))]
    assert two.origin(2) == 2 + 0j
    assert two.matrix.toarray()[5:].tolist() == one.matrix.toarray().tolist()
