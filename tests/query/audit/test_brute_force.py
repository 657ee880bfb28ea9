"""Random query sequences on small databases, checked set by set and record by record by linear programmes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from benchmarks.query.safety import outcome, play
from tabprotect.query.audit import Auditor, Denial, Intruder, Records
from tests.query.brute import RULES, Brute
from tests.quick import first


@pytest.mark.parametrize("kind", ["plain", "bounds", "units", "both"])
@pytest.mark.parametrize("start", first(1, range(0, 12, 4)))
def test_nothing_follows_from_the_answers(kind, start):
    """No protected set of units is confined more closely than its level, neither for the public nor for an intruder."""
    for seed in range(start, start + 4):
        game = play(seed, kind)
        assert game.breaches == []
        assert game.asked == 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "bounds", "units", "both"])
def test_nothing_follows_from_the_answers_in_many_games(kind):
    games = [play(seed, kind) for seed in range(1000, 1040)]
    assert all(not game.breaches for game in games)
    assert sum(game.answered for game in games) > 16


@pytest.mark.parametrize("seed", [623, 1233, 1254, 1361, 1381])
def test_what_bounds_leave_out_in_one_record_is_asked_of_the_others(seed):
    """Each of these sequences once confined a unit: a record at its bound took nothing off the level of the others."""
    assert play(seed, "both").breaches == []


def test_all_units_of_a_dominance_rule_move_together_within_their_bounds():
    """Two units that can grow by 2.5 each: together by 5, which the 4 that the others have to spare do not allow."""
    x, lower, upper = [10, 10, 9, 9], [0, 0, 7, 7], [12.5, 12.5, np.inf, np.inf]
    everybody = np.ones(4, bool)
    assert Brute(x, lower, upper, np.arange(4), RULES["nk=2,80"]).breaches([everybody])
    assert not Auditor(Records.of(x, lower=lower, upper=upper), "nk=2,80").ask(everybody).answered
    free = [12.5, 12.5, 20, 20]
    assert Auditor(Records.of(x, lower=[0, 0, 0, 0], upper=free), "nk=2,80").ask(everybody).answered


def test_a_union_of_a_large_safe_class_and_a_sensitive_one_is_looked_at():
    """100 with 27 others of 1 are safe for (2, 80), and 120 of the 147 in the union with a single 20 are not."""
    x = np.array([100, *[1] * 27, 20, *[10] * 80])
    large, single, third, fourth = np.arange(28), [28], np.arange(29, 69), np.arange(69, 109)
    auditor = Auditor(Records.of(x), "nk=2,80")
    assert auditor.ask(np.r_[large, single, third]).answered
    assert auditor.ask(np.r_[large, fourth]).answered
    assert auditor.ask(third).denial is Denial.INFERABLE
    assert not Auditor(Records.of(x), "nk=2,80").ask(np.r_[large, single]).answered


BLOCKS = {
    "nk=2,70": [("share", 2, Fraction(3, 7))],
    "nk=3,80": [("share", 3, Fraction(1, 4))],
    "nk=2,45": [("share", 2, Fraction(11, 9))],
    "threshold=4,30": [("whole", 3, Fraction(3, 10))],
    "threshold=3,50": [("whole", 2, Fraction(1, 2))],
    "p%=30,2": [("largest", 3, Fraction(3, 10))],
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "bounds", "units", "both"])
@pytest.mark.parametrize("seed", range(0, 24, 6))
def test_nothing_follows_from_unions_of_blocks(seed, kind):
    """Queries over unions of five blocks of skewed values: many sums follow from several answers."""
    for one in range(seed, seed + 6):
        rng = np.random.default_rng([one, 5])
        n = int(rng.integers(8, 13))
        x = rng.choice([1, 1, 1, 2, 3, 10, 20, 50, 100], n)
        units = rng.integers(0, n - 3, n) if kind in ("units", "both") else np.arange(n)
        lower, upper = 0, np.inf
        if kind in ("bounds", "both"):
            lower = np.minimum(x, rng.choice([0, 0, 1, 5], n))
            upper = np.where(rng.random(n) < 0.5, np.inf, x + rng.integers(0, 60, n))
        text = list(BLOCKS)[one % len(BLOCKS)]
        known = (int(rng.integers(n)),) if rng.random() < 0.3 else ()
        block = rng.integers(0, 5, n)
        intruders = [Intruder("who knows a record", known)] if known else []
        auditor = Auditor(Records.of(x, lower=lower, upper=upper, units=units), text, intruders=intruders)
        queries = [np.isin(block, np.flatnonzero(rng.random(5) < 0.6)) for _ in range(6)]
        sets = [members for members in queries if auditor.ask(members).answered and members.any()]
        brute = Brute(x, lower, upper, units, BLOCKS[text])
        for who in {(), known}:
            assert brute.breaches(sets, who) == []


@pytest.mark.parametrize("seed", range(4))
def test_nothing_safe_is_denied_where_values_are_at_least_zero(seed):
    """Where nothing but x >= 0 is known and every unit has one record, the test is exact."""
    rng = np.random.default_rng(seed)
    n = 5
    x = rng.integers(10, 60, n)
    text = ("p%=20", "threshold=3", "nk=2,80", "nk=1,75")[seed]
    auditor, brute, sets = Auditor(Records.of(x), text), Brute(x, 0, np.inf, np.arange(n), RULES[text]), []
    for _ in range(5):
        members = rng.random(n) < 0.6
        decision = auditor.ask(members)
        if decision.answered:
            sets += [members] if members.any() else []
        elif decision.denial is not Denial.SENSITIVE:
            assert brute.breaches([*sets, members])


def test_the_brute_force_finds_what_a_linear_audit_lets_through():
    """A check that finds nothing anywhere would show nothing."""
    linear = [outcome(seed, "plain", "linear") for seed in range(8)]
    assert sum(bool(game.breaches) for game in linear) >= 2


@pytest.mark.parametrize("seed", range(6))
def test_prepared_decisions_are_those_of_every_other_data_set(seed):
    """Simulatable mode: for all data with the same prepared sums, all answers and denials are the same."""
    rng = np.random.default_rng(seed)
    x = rng.integers(10, 30, 8)
    base = [np.arange(8) % 2 == 0, np.arange(8) < 4, np.ones(8, bool)]
    prepared = []
    for members in base:
        trial = Auditor(Records.of(x), "nk=1,70")
        if all(trial.ask(s).answered for s in [*prepared, members]):
            prepared.append(members)
    assert prepared
    one = Auditor(Records.of(x), "nk=1,70", prepared=prepared)
    others = []
    while len(others) < 3:
        y = x.copy()
        i, j = rng.integers(8, size=2)
        same = [bool(s[i]) == bool(s[j]) for s in prepared]
        y[[i, j]] += [3, -3]
        if all(same) and i != j and y.min() >= 0:
            others.append(Auditor(Records.of(y), "nk=1,70", prepared=prepared))
    answered = 0
    queries = [*base, *(rng.random(8) < 0.5 for _ in range(10)), ~base[0], ~base[1], base[0] ^ base[1]]
    for members in queries:
        decisions = [a.ask(members) for a in (one, *others)]
        assert len({(d.answered, d.denial, d.values) for d in decisions}) == 1
        answered += decisions[0].answered
    assert answered >= len(prepared)
