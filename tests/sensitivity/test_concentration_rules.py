"""The rules against attackers who are played out one by one, in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect.errors import InputError
from tabprotect.sensitivity import PQ, Dominance, PPercent, assess
from tests.sensitivity.cells import Unit, table_of, units

values = st.lists(st.integers(0, 40), min_size=1, max_size=6)
waivers = st.lists(st.booleans(), min_size=6, max_size=6)


def guesses(x: list[Fraction], targets: list[int], n: int):
    """Every target with every coalition of at most n others, and what the coalition does not know."""
    for t in targets:
        others = [i for i in range(len(x)) if i != t]
        for size in range(min(n, len(others)) + 1):
            for who in combinations(others, size):
                yield x[t], sum(x) - x[t] - sum(x[i] for i in who)


def needed(x: list[Fraction], targets: list[int], n: int, p: Fraction, q: Fraction = Fraction(100)) -> Fraction:
    """How much the total must be able to rise so that nobody's upper estimate is within p per cent of its target.

    The coalition knows the rest r within q per cent beforehand, so at a total of X + U it estimates the target from
    above by x_t + (q/100) r + U (q/100), in the units in which the p% rule has q = 100.
    """
    return max((p / q * target - rest for target, rest in guesses(x, targets, n)), default=Fraction(-1))


@given(values, waivers, st.integers(1, 3), st.integers(1, 150))
def test_p_percent_is_the_best_guess_of_a_coalition(xs, waived, n, p):
    targets = [i for i in range(len(xs)) if not waived[i]]
    expected = needed([Fraction(x) for x in xs], targets, n, Fraction(p))
    table = table_of([[Unit(x, waived=w) for x, w in zip(xs, waived, strict=False)]], keep=n + 1)
    verdict = PPercent(p, n).judge(table)
    assert len(verdict.cells) == (expected > 0)
    if len(verdict.cells):
        assert verdict.upl[0] == pytest.approx(float(expected), rel=1e-12)
        assert verdict.lpl[0] == verdict.upl[0]


@given(values, st.integers(1, 3), st.integers(1, 49), st.integers(50, 100))
def test_pq_scales_what_the_coalition_does_not_know(xs, n, p, q):
    expected = needed([Fraction(x) for x in xs], list(range(len(xs))), n, Fraction(p), Fraction(q))
    verdict = PQ(p, q, n).judge(table_of([units(*xs)], keep=n + 1))
    assert len(verdict.cells) == (expected > 0)
    if len(verdict.cells):
        assert verdict.upl[0] == pytest.approx(float(expected), rel=1e-12)


@given(values, waivers, st.integers(1, 3), st.integers(1, 99))
def test_dominance_is_the_share_of_some_n_with_one_who_did_not_waive(xs, waived, n, k):
    free = [i for i in range(len(xs)) if not waived[i]]
    # a contributor of nothing whose name is unknown cannot be told from nobody
    assume(not free or max(xs[i] for i in free) > 0)
    together = [
        sum(xs[i] for i in who)
        for size in range(1, min(n, len(xs)) + 1)
        for who in combinations(range(len(xs)), size)
        if set(who) & set(free)
    ]
    expected = max((Fraction(100, k) * total - sum(xs) for total in together), default=Fraction(-1))
    table = table_of([[Unit(x, waived=w) for x, w in zip(xs, waived, strict=False)]], keep=n)
    verdict = Dominance(n, k).judge(table)
    assert len(verdict.cells) == (expected > 0)
    if len(verdict.cells):
        assert verdict.upl[0] == pytest.approx(float(expected), rel=1e-12)
        raised = sum(xs) + Fraction(verdict.upl[0])
        assert float(max(together) / raised) == pytest.approx(k / 100, rel=1e-12)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 4)), min_size=1, max_size=4), st.integers(1, 3))
def test_a_record_of_whole_weight_is_that_many_contributors(records, n):
    weighted = table_of([[Unit(value, weight) for value, weight in records]])
    copies = table_of([units(*(value for value, weight in records for _ in range(weight)))], keep=16)
    for rule in (PPercent(25, n), PQ(10, 40, n), Dominance(n, 60)):
        one, other = rule.judge(weighted), rule.judge(copies)
        assert one.cells.tolist() == other.cells.tolist()
        assert one.upl.tolist() == pytest.approx(other.upl.tolist())


def test_the_manual_s_example_of_weights():
    """(100, w = 4), (10, w = 7): the two largest contributors are 100 and 100, the total is 470."""
    table = table_of([[Unit(100, 4), Unit(10, 7)]])
    assert table.values[0] == 470
    assert Dominance(2, 42).judge(table).upl == pytest.approx([200 / 0.42 - 470])
    assert not len(Dominance(2, 43).judge(table).cells)
    assert not len(Dominance(1, 25).judge(table).cells)


@given(st.lists(st.tuples(st.integers(0, 40), st.sampled_from([0.25, 0.5, 1.5, 2.75, 4.0])), min_size=1, max_size=5))
def test_fractional_weights_fill_the_coalition_from_the_largest(records):
    table = table_of([[Unit(value, weight) for value, weight in records]])
    left, together = Fraction(2), Fraction(0)
    for value, weight in sorted(records, reverse=True):
        taken = min(left, Fraction(weight))
        together += taken * value
        left -= taken
    total = sum(value * Fraction(weight) for value, weight in records)
    expected = Fraction(100, 60) * together - total
    verdict = Dominance(2, 60).judge(table)
    assert len(verdict.cells) == (expected > 0)
    if len(verdict.cells):
        assert verdict.upl[0] == pytest.approx(float(expected))


def test_light_records_beyond_the_kept_ones_count_as_large_as_the_last_kept():
    """Two contributors of weight 1/4 do not fill a coalition of two; what is not kept must not count as nothing."""
    record = [Unit(x, 0.25) for x in (100, 96, 92, 88, 84, 80, 76, 72, 4, 4, 4, 4)]
    full, short = table_of([record], keep=12), table_of([record], keep=2)
    rule = Dominance(2, 95)
    assert rule.judge(full).cells.tolist() == [0]
    assert rule.judge(short).cells.tolist() == [0]
    assert rule.judge(short).upl[0] >= rule.judge(full).upl[0]


def test_ties_are_not_sensitive_whatever_the_rounding_of_sums():
    """Rest equal to p per cent of the largest is safe by the formula, also where 0.1 + 0.2 is not 0.3."""
    table = table_of([units(3, 1, 0.1, 0.1, 0.1), units(100, 50, 10), units(100, 50, 9.99)])
    assert PPercent(10).judge(table).cells.tolist() == [2]
    shares = table_of([units(0.1, 0.2, 0.3, 0.4), units(85, 15)])
    assert Dominance(2, 70).judge(shares).cells.tolist() == [1]
    assert Dominance(1, 85).judge(shares).cells.tolist() == []


def test_handbook_examples():
    """Examples 1, 2, 4 and 5 of the Handbook on Statistical Disclosure Control, section 4.2."""
    first = table_of([units(50_000, 49_000, 1_000)])
    assert not len(Dominance(1, 90).judge(first).cells)
    assert PPercent(10).judge(first).upl == pytest.approx([4_000])
    second = table_of([units(52_000, 50_000, 8_000)])
    assert not len(PPercent(10).judge(second).cells)
    assert Dominance(2, 100 * 100 / 110).judge(second).cells.tolist() == [0]
    fourth = table_of([units(300, 20, 10)])
    assert 330 + Dominance(1, 85).judge(fourth).upl[0] == pytest.approx(352.94, abs=0.005)


def test_eustat_query_audit():
    """EMP: q4's top two have 97.8 % of 90, q3's 80.9 % of 110; {q1, q2, q3} gives q4 away, so q3 must be denied too."""
    departments = {"q4": units(85, 3, 2), "q1": units(4, 3, 3), "q2": units(4, 3, 3)}
    everybody = [unit for department in departments.values() for unit in department]
    table = table_of([departments["q4"], departments["q1"], departments["q2"], everybody])
    rule = Dominance(2, 85)
    assert rule.judge(table).cells.tolist() == [0]
    assert "97.78 % > 85 %" in rule.explain(table, 0)
    assert "80.91 % <= 85 %" in rule.explain(table, 3)


def test_negative_contributions_count_by_size():
    table = table_of([units(100, -90), units(-100, 60, -50)])
    verdict = PPercent(10).judge(table)
    assert table.values.tolist() == [10, -90]
    assert verdict.cells.tolist() == [0]
    assert verdict.upl.tolist() == [10]


def test_one_contributor_and_none():
    table = table_of([units(40), [], units(0, 0)])
    for rule, level in ((PPercent(15), 6), (PQ(10, 50), 8), (Dominance(2, 80), 10)):
        verdict = rule.judge(table)
        assert verdict.cells.tolist() == [0]
        assert verdict.upl.tolist() == pytest.approx([level])


def test_waivers_need_not_be_among_the_kept_contributions():
    """The largest without waiver is fourth: the guessers are the largest others, of whom enough are kept."""
    cell = [Unit(100, waived=True), Unit(90, waived=True), Unit(80, waived=True), Unit(50), Unit(3)]
    excess = 0.7 * 50 - (323 - 50 - 100)
    assert excess < 0
    assert not len(PPercent(70).judge(table_of([cell], keep=2)).cells)
    three = PPercent(70, 3).judge(table_of([cell], keep=4))
    assert three.upl == pytest.approx([0.7 * 50 - 3])
    out_of_sight = Dominance(2, 40).judge(table_of([cell], keep=2))
    assert out_of_sight.upl == pytest.approx([150 / 0.4 - 323])


def test_everybody_waived_is_safe():
    table = table_of([[Unit(100, waived=True), Unit(1, waived=True)], [Unit(100, waived=True)]])
    for rule in ("p%=15", "nk=1,50", "threshold=3", "pq=10,50"):
        assert not len(assess(table, rule).primaries)


def test_levels_of_a_shadow_variable_are_carried_over_as_fractions():
    """tau-ARGUS: level / shadow total, applied to the cell value."""
    table = table_of([units(100, 80, 2)], values=np.array([-1820.0]), shadow="employees")
    assert PPercent(15).judge(table).upl == pytest.approx([(15 - 2) / 182 * 1820])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: PPercent(0), "p must be a number above 0"),
        (lambda: PPercent(15, 0), "n must be a whole number"),
        (lambda: PPercent(15, 1.5), "n must be a whole number"),
        (lambda: PPercent(float("nan")), "p must be a number"),
        (lambda: Dominance(2, 101), "at most 100"),
        (lambda: Dominance(2, 100), "marks no cell"),
        (lambda: PQ(50, 10), "p must be below q"),
    ],
)
def test_parameters_that_mean_nothing_are_refused(make, words):
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("rule", ["p%=15", "nk=2,85"])
def test_explanations_have_all_digits_of_the_values(rule: str) -> None:
    data = pd.DataFrame({"r": list("nnns"), "firm": list("abcd"), "v": [12_345_678.41, 2_000_000.07, 1_000_000.01, 7]})
    words = tp.assess(tp.tabulate(data, "r", "v", contributor="firm"), rule).explain("n")
    assert "n: 15345678.49, primary" in words
    assert "e+" not in words
    assert "12345678.41" in words or "14345678.48" in words
