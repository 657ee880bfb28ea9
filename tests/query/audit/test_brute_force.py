"""Random query sequences on small databases, checked set by set and record by record by linear programmes."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.query.safety import outcome, play
from tabprotect.query.audit import Auditor, Denial, Records
from tests.query.brute import RULES, Brute


@pytest.mark.parametrize("kind", ["plain", "bounds", "units", "both"])
@pytest.mark.parametrize("start", range(0, 12, 4))
def test_nothing_follows_from_the_answers(kind, start):
    """No protected set of units is confined more closely than its level, neither for the public nor for an intruder."""
    for seed in range(start, start + 4):
        game = play(seed, kind)
        assert game.breaches == []
        assert game.asked == 6


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "bounds", "units", "both"])
def test_nothing_follows_from_the_answers_in_many_games(kind):
    games = [play(seed, kind) for seed in range(1000, 1150)]
    assert all(not game.breaches for game in games)
    assert sum(game.answered for game in games) > 60


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
