"""Systems of more classes than one programme is set up for: local search, sparse data sets, counted work."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.query.safety import play
from tabprotect.query.audit import Auditor, Denial, Intruder, Records
from tabprotect.query.audit.combinations import PRIME, combination
from tabprotect.query.audit.groups import Groups
from tabprotect.query.audit.inference import PENDING, SAMPLE, Basis
from tabprotect.query.audit.options import Options
from tabprotect.query.audit.partition import Partition
from tabprotect.query.audit.search import Search
from tabprotect.query.audit.sensitive import sensitivity_step
from tabprotect.query.audit.stored import dump, restore
from tests.query.brute import RULES, Brute
from tests.quick import first

TAKEN_FOR_LARGE = Options(whole=0)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("spread", [False, True])
def test_nothing_follows_where_data_sets_are_searched_near_the_target(seed, spread):
    """With every system taken for a large one the brute force finds nothing either, and something is answered."""
    rng = np.random.default_rng(seed)
    n = 7
    x, units = rng.integers(10, 60, n), rng.integers(0, 6, n) if spread else np.arange(n)
    text = list(RULES)[seed]
    auditor, sets = Auditor(Records.of(x, units=units), text, options=TAKEN_FOR_LARGE), []
    for _ in range(6):
        members = rng.random(n) < 0.7
        if auditor.ask(members).answered and members.any():
            sets.append(members)
    assert sets
    assert not Brute(x, 0, np.inf, units, RULES[text]).breaches(sets)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "bounds", "units", "both"])
def test_nothing_follows_in_many_games_of_systems_taken_for_large(kind):
    """Fractions on the classes that move, and other classes that have to move, among them."""
    games = [play(seed, kind, Options(whole=0, exact=4)) for seed in range(2000, 2075)]
    assert all(not game.breaches for game in games)
    assert sum(game.answered for game in games) > 30


@pytest.mark.slow
@pytest.mark.parametrize("spread", first(1, [True, False]))
def test_nothing_follows_from_groups_of_which_some_are_left_out(spread):
    """Tables by two codes of the same records: what is left out is enough, and is not all."""
    left_out = published = 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        n = 9
        x, units = rng.integers(10, 60, n), rng.integers(0, 7, n) if spread else np.arange(n)
        text = list(RULES)[seed % len(RULES)]
        auditor, sets = Auditor(Records.of(x, units=units), text, options=TAKEN_FOR_LARGE), []
        for _ in range(3):
            g = int(rng.integers(2, 4))
            groups = Groups(rng.integers(0, g, n), g)
            fine = [
                k
                for k in range(g)
                if groups[k].any() and sensitivity_step(auditor.records, [groups[k]], auditor.rules).passed
            ]
            if not fine:
                continue
            some = groups.only(fine)
            kept, decision, state = auditor.decide_most(some, auditor.state.follow(some), auditor.work)
            if decision.answered:
                auditor.state = state
                sets += [groups[fine[k]] for k in kept]
                published, left_out = published + len(kept), left_out + len(fine) - len(kept)
        assert not sets or not Brute(x, 0, np.inf, units, RULES[text]).breaches(sets)
    assert published > 20
    assert left_out > 2


def test_groups_that_follow_leave_a_full_basis_as_it_is():
    auditor = Auditor(Records.of(np.full(12, 10.0)), "threshold=2", options=Options(rank=2))
    groups = Groups(np.arange(12) // 6, 2)
    assert auditor.ask_together(groups).answered
    again = auditor.state.with_queries(auditor.records, groups)
    assert again.basis is auditor.state.basis
    assert again.totals == (60, 60)
    # one more sum that follows from none of them is too much
    assert again.with_query(auditor.records, np.arange(12) < 3).basis is None


def test_a_difference_of_one_unit_is_found_without_a_programme(monkeypatch):
    programmes = []
    monkeypatch.setattr(Search, "near", lambda *given: programmes.append(given))
    auditor = Auditor(Records.of(np.full(50, 10.0)), "p%=10", options=TAKEN_FOR_LARGE)
    assert auditor.ask(range(50)).answered
    assert auditor.ask(range(49)).denial is Denial.INFERABLE
    assert not programmes


def test_used_up_work_is_a_denial():
    """Pairs that overlap in one record: safe, but only with data sets that must be looked for."""
    records = Records.of(np.full(12, 10.0))
    asked = [[0, 1, 2, 3], [3, 4, 5, 6]]
    enough = Auditor(records, "p%=10", options=TAKEN_FOR_LARGE)
    little = Auditor(records, "p%=10", work=1, options=TAKEN_FOR_LARGE)
    assert all(enough.ask(q).answered for q in asked)
    assert [little.ask(q).denial for q in asked] == [None, Denial.UNDECIDED]


@pytest.mark.parametrize("seed", range(5))
def test_the_basis_decides_as_elimination_in_fractions_does(seed):
    rng = np.random.default_rng(seed)
    partition, basis, sets = Partition.whole(12), Basis.empty(), []
    for _ in range(6):
        members = rng.random(12) < 0.5
        partition, _ = partition.refined(members)
        basis = basis.with_last(partition)
        sets.append(members)
    M = partition.rows()
    wanted = [rng.random(partition.n_classes) < 0.5 for _ in range(10)]
    rows = M.toarray().astype(bool)
    wanted += [*rows, rows[0] & ~rows[1], *np.eye(partition.n_classes, dtype=bool)]
    for v in wanted:
        got = basis.combination(partition, v)
        assert (got is None) == (combination(M[basis.rows], v) is None)
        if got is not None:
            assert np.array_equal(
                sum((float(c) * rows[i].astype(float) for i, c in got), np.zeros(len(v))), v.astype(float)
            )
    every = np.arange(partition.n_classes)
    single = [basis.combination(partition, row) is not None for row in np.eye(len(every), dtype=bool)]
    assert basis.determined(partition, every).tolist() == single


def test_remembered_data_sets_survive_a_snapshot_and_wrong_ones_do_not():
    x = np.full(12, 10.0)
    auditor = Auditor(Records.of(x), "p%=10")
    fresh = auditor.state
    assert all(auditor.ask(q).answered for q in ([0, 1, 2, 3], [3, 4, 5, 6]))
    worlds = auditor.state.knowledge[0].worlds
    assert len(worlds)
    again = restore(dump(auditor.state), auditor.records, fresh)
    assert np.array_equal(again.knowledge[0].worlds.moves, worlds.moves)
    worlds.moves[0] += 1
    again = restore(dump(auditor.state), auditor.records, fresh)
    assert len(again.knowledge[0].worlds) == len(worlds) - 1


def test_a_world_is_carried_over_only_if_the_new_sum_stays():
    x = np.full(12, 10.0)
    auditor = Auditor(Records.of(x), "p%=10")
    for q in ([0, 1, 2, 3], [3, 4, 5, 6], [6, 7, 8, 9], [9, 10, 11, 0]):
        auditor.ask(q)
    state_ = auditor.state
    M = state_.partition.rows()
    worlds = state_.knowledge[0].worlds
    assert len(worlds)
    for k in range(len(worlds)):
        part = slice(worlds.starts[k], worlds.starts[k + 1])
        moves = np.zeros(state_.partition.n_classes, np.int64)
        moves[worlds.index[part]] = worlds.moves[part]
        assert not np.any(M @ moves)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("groups", [9, PENDING + 6])
def test_rows_taken_together_give_the_basis_of_one_after_another(seed, groups):
    """Independent of how many columns are looked at first, and of when the inverse is worked out."""
    rng = np.random.default_rng(seed)
    n, one = 1200, Basis.empty()
    partition = Partition.whole(n)
    for share in (1.1, *[0.6] * 9):
        partition, _ = partition.refined(rng.random(n) < share)
        one = one.with_last(partition)
    assert partition.n_classes > SAMPLE
    before = one
    # the total is known, so that the last group of all records follows from the others
    label = partition.class_of % groups if seed % 2 else rng.integers(-1, groups, n)
    query = partition.n_queries + np.arange(groups)
    for k in range(groups):
        partition, _ = partition.refined(label == k)
        one = one.with_last(partition)
    together, dependent = before.with_rows(partition, int(query[0]))
    assert together.rows.tolist() == one.rows.tolist()
    assert sorted([*together.rows.tolist(), *dependent]) == [*before.rows.tolist(), *query.tolist()]
    assert len(dependent) > 0 or not seed % 2
    M = partition.rows().toarray()
    square = M[together.rows][:, together.pivots].astype(object)
    assert np.array_equal(square @ together.inverse.astype(object) % PRIME, np.eye(len(square), dtype=int))


@pytest.mark.parametrize("seed", range(12))
def test_groups_that_are_cut_at_once_leave_the_state_of_one_after_another(seed):
    rng = np.random.default_rng(seed)
    n = 40
    records = Records.of(np.round(rng.lognormal(3, 1, n)), units=rng.integers(0, 30, n), upper=1e6)
    auditor = Auditor(records, "p%=5", intruders=[Intruder("one", (3,))])
    for _ in range(3):
        auditor.ask(rng.random(n) < 0.8)
    label = rng.integers(0, 5, n) if seed % 3 else np.minimum(auditor.state.partition.class_of, 4)
    sets = [label == g for g in range(4 + seed % 2)]
    one = auditor.state
    for members in sets:
        one = one.with_query(records, members) if one.follows(members) is None else one
    together = auditor.state.with_queries(records, sets)
    assert together.totals == one.totals
    assert np.array_equal(together.partition.class_of, one.partition.class_of)
    assert np.array_equal(together.partition.bits, one.partition.bits)
    assert one.basis is not None
    assert together.basis is not None
    assert np.array_equal(together.basis.rows, one.basis.rows)
    for a, b in zip(together.knowledge, one.knowledge, strict=True):
        assert np.array_equal(a.box.lower, b.box.lower)
        assert np.array_equal(a.box.upper, b.box.upper)
        assert np.array_equal(a.worlds.moves, b.worlds.moves)
        for x, y in zip(a.needs, b.needs, strict=True):
            assert np.array_equal(x.room, y.room)
            assert sorted(zip(x.owner, x.unit, x.need, strict=True)) == sorted(
                zip(y.owner, y.unit, y.need, strict=True)
            )
