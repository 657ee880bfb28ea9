"""Data sets that are remembered: carried over to finer partitions, and as many targets together as one proves."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.query.audit import Auditor, Records
from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.partition import Split
from tabprotect.query.audit.records import FREE
from tabprotect.query.audit.safety import judge
from tabprotect.query.audit.witnesses import Worlds
from tabprotect.query.audit.worlds import Box, World


def dense(worlds, n):
    found = np.zeros((len(worlds), n), np.int64)
    found[worlds.owner, worlds.index] = worlds.moves
    return found


@pytest.mark.parametrize("seed", range(40))
def test_carried_worlds_keep_old_sums_the_new_sum_and_all_bounds(seed):
    """Compared with all ways to share the moves: a world is dropped only if there is none."""
    rng = np.random.default_rng(seed)
    n, r = 6, int(rng.integers(1, 4))
    parents = np.sort(rng.choice(n, r, replace=False))
    uncut = np.setdiff1d(rng.choice(n, int(rng.integers(0, n)), replace=False), parents)
    split = Split.of(n + r, np.r_[uncut, n + np.arange(r)], parents)
    before = Worlds.of(
        [World(rng.integers(-4, 5, n) * (rng.random(n) < 0.6), int(rng.integers(1, 3))) for _ in range(9)]
    )
    lower, upper = -rng.integers(0, 4, n + r), rng.integers(0, 4, n + r)
    upper = np.where(rng.random(n + r) < 0.2, FREE, upper)
    after = before.carried(split, lambda: Box(lower, upper), 10_000)
    old, new, factor = dense(before, n), dense(after, n + r), after.denominators[:, None]
    # what moved outside the query set moves with what moved inside it
    whole = new[:, :n].copy()
    whole[:, parents] += new[:, n:]
    assert {(*row, f) for row, f in zip(whole.tolist(), after.denominators.tolist(), strict=True)} <= {
        (*row, f) for row, f in zip(old.tolist(), before.denominators.tolist(), strict=True)
    }
    assert not np.any(new[:, split.inside].sum(axis=1))
    # bounds are those of the parts of classes that were cut; all others moved within theirs before
    parts = np.r_[parents, n + np.arange(r)]
    touched = old[:, parents].any(axis=1)
    still = ~new[:, parts].any(axis=1)
    assert np.all(still[:, None] | (new[:, parts] >= lower[parts] * factor))
    assert np.all(still[:, None] | (upper[parts] == FREE) | (new[:, parts] <= upper[parts] * factor))
    possible = 0
    for move, f, t in zip(old, before.denominators, touched, strict=True):
        fixed = int(move[uncut].sum())
        if not t and fixed == 0:
            possible += 1
            continue
        least = np.maximum(lower[n:] * f, move[parents] - np.where(upper[parents] == FREE, 99, upper[parents] * f))
        most = np.minimum(np.where(upper[n:] == FREE, 99, upper[n:] * f), move[parents] - lower[parents] * f)
        possible += bool(np.all(least <= most)) and least.sum() <= -fixed <= most.sum()
    assert len(after) == possible


def test_few_moves_are_shared_where_few_are_permitted():
    """The newest worlds are carried over, at least one."""
    split = Split.of(3, np.array([2]), np.array([0]))
    worlds = Worlds.of([World(np.array([k, -k])) for k in (2, 4, 6)])
    box = Box(np.full(3, -FREE), np.full(3, FREE))
    assert len(worlds.carried(split, lambda: box, 100)) == 3
    assert dense(worlds.carried(split, lambda: box, 2), 3)[:, 1].tolist() == [-4, -6]
    assert dense(worlds.carried(split, lambda: box, 0), 3)[:, 1].tolist() == [-6]


def test_one_data_set_is_looked_for_for_more_and_more_targets():
    """Of 500 sensitive classes; with at most 16 of them at once it takes 8,200."""
    records = Records.of(np.full(1000, 10.0))
    label = np.arange(1000)
    state = Auditor(records, "p%=10").state
    for groups in (Groups(label % 25, 25), Groups(label // 50, 20)):
        state = state.with_queries(records, groups)
    safety = judge(state, records, 7_000)
    assert safety.denial is None
