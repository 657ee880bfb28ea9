"""Groups tried one by one over parts of the records are decided as by the auditor itself, in every figure."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.query.audit import Auditor, Denial, Intruder, Records
from tabprotect.query.audit.groups import Groups, chosen, totals
from tabprotect.query.audit.options import DEFAULTS, Options
from tabprotect.query.audit.parts import Parts
from tabprotect.query.audit.sensitive import sensitivity_step
from tabprotect.query.guard import grouped


def one_by_one(auditor: Auditor, sets: Groups, kept: list[int]):
    """Try the groups with the auditor's own decision on every one: the sums themselves, M and the records anew."""
    good = [k for k in kept if auditor.state.follows(sets[k]) is not None]
    rest = [k for k in kept if k not in good]
    sizes = [abs(total) for total in totals(auditor.records, chosen(sets, rest))]
    order = [rest[i] for i in sorted(range(len(rest)), key=lambda i: -sizes[i])][: grouped.SINGLY]
    trial, left, tried = auditor.copy(), auditor.work, 0
    for k in order:
        if left <= 0:
            break
        decision, trial.state = trial.decide([sets[k]], left)
        left -= decision.work + grouped.EACH
        tried += 1
        if decision.answered:
            good.append(k)
    return good, tried, trial.state


def same(a, b) -> None:
    """Compare two states in all they hold."""
    assert a.totals == b.totals
    for name in ("class_of", "bits", "n_queries"):
        assert np.array_equal(getattr(a.partition, name), getattr(b.partition, name)), name
    assert (a.basis is None) == (b.basis is None)
    if a.basis is not None:
        assert all(np.array_equal(getattr(a.basis, n), getattr(b.basis, n)) for n in ("rows", "pivots", "inverse"))
    for x, y in zip(a.knowledge, b.knowledge, strict=True):
        assert np.array_equal(x.box.lower, y.box.lower)
        assert np.array_equal(x.box.upper, y.box.upper)
        for part in ("starts", "index", "moves", "denominators"):
            assert np.array_equal(getattr(x.worlds, part), getattr(y.worlds, part)), part
        for m, n in zip(x.needs, y.needs, strict=True):
            for part in ("room", "owner", "unit", "need"):
                assert np.array_equal(getattr(m, part), getattr(n, part)), part


def drawn(rng: np.random.Generator, n: int) -> tuple[Records, dict]:
    """Draw records, with bounds, units of several records and intruders in some of the cases."""
    x = np.round(rng.lognormal(3, 1, n)) + 1
    bounds = [{}, {"lower": -np.inf}, {"upper": x * 3}, {"lower": x / 2}][int(rng.integers(4))]
    units = rng.integers(0, max(2, n * 2 // 3), n) if rng.random() < 0.5 else None
    known = rng.choice(n, 3, replace=False).tolist()
    intruders = (Intruder("rival", tuple(known)),) if rng.random() < 0.4 else ()
    rules = ["p%=10|threshold=3", "nk=2,85|threshold=2", "p%=20", "threshold=4,20"][int(rng.integers(4))]
    work = int(rng.choice([400, 1500, 4000]))
    return Records.of(x, units=units, **bounds), {"rules": rules, "intruders": intruders, "work": work}


def sequence(seed: int, n: int, most: int, options: Options = DEFAULTS) -> tuple[int, int]:
    """Ask sums and tables at random, and compare after every table; return groups published and denied."""
    rng = np.random.default_rng(seed)
    records, given = drawn(rng, n)
    auditor = Auditor(records, given.pop("rules"), **given, options=options)
    published = denied = 0
    for _ in range(most):
        if rng.random() < 0.4:
            auditor.ask(rng.random(n) < rng.random())
            continue
        g = int(rng.integers(2, 9))
        sets = Groups(rng.integers(-1 if rng.random() < 0.5 else 0, g, n), g)
        kept = [k for k in range(g) if sets[k].any() and sensitivity_step(records, [sets[k]], auditor.rules).passed]
        if not kept:
            continue
        good, tried, state = one_by_one(auditor, sets, kept)
        known = [k for k in kept if auditor.state.follows(sets[k]) is not None]
        result = grouped._singly(auditor, sets, kept, known, [], auditor.work, judged=False)
        assert result.published == tuple(sorted(good))
        assert result.applied == tuple(good)
        assert result.steps[-1].endswith(f"{tried} were tried")
        same(result.state, state)
        auditor.state = state
        published, denied = published + len(good), denied + len(kept) - len(good)
    return published, denied


@pytest.mark.parametrize("seed", range(8))
def test_groups_over_parts_are_decided_as_one_by_one(seed):
    assert sum(sequence(seed, 24, 5)) > 0


def test_sequences_have_groups_of_both_kinds():
    """Otherwise the comparison would say little."""
    outcomes = np.array([sequence(seed, 24, 4) for seed in range(20, 24)])
    assert (outcomes.sum(axis=0) > 5).all()


@pytest.mark.parametrize("seed", range(3))
def test_large_systems_are_decided_as_one_by_one(seed):
    """The search near a target, which small systems do without."""
    assert sum(sequence(100 + seed, 40, 4, Options(whole=3))) > 0


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_parts_hold_records_in_the_order_of_their_units(seed):
    rng = np.random.default_rng(seed)
    records, _ = drawn(rng, 25)
    state = Auditor(records, "threshold=1").state.with_query(records, rng.random(25) < 0.5)
    parts = Parts.of(state.partition, Groups(rng.integers(-1, 4, 25), 4), records)
    some = rng.random(len(parts.first)) < 0.5
    wanted = some[parts.part_of]
    expected = records.by_unit[wanted[records.by_unit]] if records.spread else np.flatnonzero(wanted)
    assert np.array_equal(parts.records_of(some), expected)
    hidden = rng.random(25) < 0.7
    for mask in (None, hidden):
        there = np.ones(25, bool) if mask is None else mask
        totals_ = [int(records.values[there & (parts.part_of == p)].sum()) for p in range(len(parts.first))]
        assert parts.totals(mask).tolist() == totals_


def test_tables_too_large_to_be_looked_at_together_are_tried_group_by_group():
    """As many sums as there are, each in classes of its own, would be copied again for every sum."""
    records = Records.of(np.full(12, 10.0))
    groups = Groups(np.arange(12) // 4, 3)
    together = grouped.protect_groups(Auditor(records, "p%=10"), groups, [0, 1, 2])
    few = Options(copied=3)
    singly = grouped.protect_groups(Auditor(records, "p%=10", options=few), groups, [0, 1, 2])
    assert together.published == singly.published == (0, 1, 2)
    assert Auditor(records, "p%=10", options=few).ask_together(groups).denial is Denial.UNDECIDED
    assert Auditor(records, "p%=10", options=few).ask(groups[0]).answered


def test_what_follows_is_published_whatever_the_work():
    """The first group uses up the work of all; the others were answered before."""
    auditor = Auditor(Records.of(np.full(12, 10.0)), "p%=10", work=1)
    groups = Groups(np.arange(12) // 4, 3)
    assert all(auditor.ask(groups[k]).answered for k in (1, 2))
    result = grouped._singly(auditor, groups, [0, 1, 2], [1, 2], [], 1, judged=False)
    assert {1, 2} <= set(result.published)


def test_groups_that_say_the_same_are_denied_as_one_by_one():
    """The sum of two groups was answered, so that one gives the other; each would give a record away."""
    records, groups = Records.of(np.full(15, 10.0)), Groups(np.arange(15) // 5, 3)
    auditor, every = Auditor(records, "p%=10"), np.arange(15)
    for answered in (every < 10, every >= 10, (every >= 1) & (every < 5) | (every >= 10)):
        assert auditor.ask(answered).answered
    good, tried, state = one_by_one(auditor, groups, [0, 1, 2])
    assert (good, tried) == ([2], 2)
    assert not auditor.copy().ask_together(groups).answered
    result = grouped._singly(auditor, groups, [0, 1, 2], [2], [], auditor.work, judged=True)
    assert result.published == (2,)
    assert result.steps[-1].startswith("each of 2 groups says as much")
    same(result.state, state)
    # nothing of the kind where two sums are open
    apart = Groups(np.array([*np.arange(10) // 3, *[3] * 5]), 4)
    result = grouped._singly(auditor, apart, [0, 1, 2, 3], [3], [], auditor.work, judged=True)
    assert result.steps[-1].endswith("3 were tried")
    assert grouped.protect_groups(auditor, groups, [0, 1, 2]).published == (2,)
    # what is denied together says of how many dimensions it is
    ranks = [auditor.decide_most(g, auditor.state.follow(g), auditor.work)[1].rank for g in (groups, apart)]
    assert ranks[0] == 1 < ranks[1]


def test_where_the_engine_proposes_nothing_groups_of_one_dimension_are_not_tried(monkeypatch):
    records, groups = Records.of(np.full(15, 10.0)), Groups(np.arange(15) // 5, 3)
    auditor, every = Auditor(records, "p%=10"), np.arange(15)
    for answered in (every < 10, every >= 10, (every >= 1) & (every < 5) | (every >= 10)):
        assert auditor.ask(answered).answered
    monkeypatch.setattr(grouped, "_proposal", lambda *_: None)
    expected = grouped._singly(auditor, groups, [0, 1, 2], [2], [], auditor.work, judged=True)
    result = grouped.protect_groups(auditor, groups, [0, 1, 2])
    assert (result.published, result.applied, result.steps[-1]) == ((2,), (2,), expected.steps[-1])
    same(result.state, expected.state)
