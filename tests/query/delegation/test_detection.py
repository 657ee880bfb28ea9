"""The lemma and both theorems, in numbers, and what holds where they do not."""

from __future__ import annotations

from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import hypergeom

from tabprotect.errors import InputError
from tabprotect.query.delegation import (
    NormalForm,
    detection_of_several,
    detection_probability,
    lemma,
    odd_probability,
    over_records,
    point_is_missed,
    read_expression,
    slot_is_hit,
)
from tests.query.delegation.strategies import NAMES, plain, texts

GRID = [i / 16 for i in range(17)]
chances = st.fixed_dictionaries({name: st.sampled_from(GRID) for name in NAMES})


def enumerated(text: str, odd: dict[str, float]) -> float:
    """Probability of an odd result, over all combinations of 0 and 1."""
    total = 0.0
    for bits in product((0, 1), repeat=4):
        values = dict(zip(NAMES, bits, strict=True))
        weight = np.prod([odd[name] if bit else 1 - odd[name] for name, bit in values.items()])
        total += float(weight) * (plain(text, values) % 2)
    return total


def odd(text: str, chance: float | dict[str, float] = 0.5) -> float:
    return odd_probability(NormalForm.of(read_expression(text)), chance).value


def test_distributions_of_sum_and_product_in_the_notebook() -> None:
    for p, q in product(GRID, GRID):
        given = {"a": p, "b": q}
        assert odd("a + b", given) == pytest.approx(p * (1 - q) + (1 - p) * q)
        assert odd("a*b", given) == pytest.approx(p * q)


@given(texts, chances)
def test_probability_of_an_odd_result_is_exact(text: str, given: dict[str, float]) -> None:
    found = odd_probability(NormalForm.of(read_expression(text)), given)
    assert found.value == pytest.approx(enumerated(text, given), abs=1e-12)
    assert found.error == 0


@given(texts, texts, chances)
def test_detection_on_the_same_data_is_exact(claimed: str, computed: str, given: dict[str, float]) -> None:
    found = detection_probability(claimed, computed, given)
    assert found.same_data.value == pytest.approx(enumerated(f"{claimed} - {computed}", given), abs=1e-12)


@given(texts, texts)
def test_lemma_is_exact_for_independent_data(claimed: str, computed: str) -> None:
    other = computed
    for name in NAMES:
        other = other.replace(name, f"{name}2")
    found = detection_probability(claimed, other)
    assert found.same_data.value == pytest.approx(found.by_lemma)


def test_lemma_fails_on_the_same_data() -> None:
    found = detection_probability("a + b", "a + b + 2")
    assert (found.by_lemma, found.same_data.value, found.least) == (0.5, 0.0, 0.0)
    found = detection_probability("a + b", "a + b + 1")
    assert (found.by_lemma, found.same_data.value, found.least) == (0.5, 1.0, 1.0)


def test_theorem_1_holds_with_equality_for_sums() -> None:
    for claimed, computed in [("a + b", "c"), ("a + b + c + d", "a - c"), ("a", "b + 4*c - d")]:
        found = detection_probability(claimed, computed)
        assert (found.claimed.value, found.computed.value, found.by_lemma) == (0.5, 0.5, 0.5)
        assert found.theorem_1


def test_theorem_1_fails_for_general_expressions() -> None:
    assert odd("a + b + a*b") == 0.75
    found = detection_probability("a + b + a*b", "c*d")
    assert found.by_lemma == lemma(0.75, 0.25) == 0.625
    assert not found.theorem_1
    assert found.same_data.value == 0.625  # the parities are independent here


@given(st.sampled_from(GRID), st.sampled_from(GRID))
def test_conditions_of_both_theorems(p: float, q: float) -> None:
    found = detection_probability("a", "b", {"a": p, "b": q})
    assert found.by_lemma == pytest.approx(lemma(p, q))
    assert found.theorem_1 == (lemma(p, q) <= 0.5)
    assert found.theorem_2 == (lemma(p, q) >= max(p, q))
    if p <= 0.5 and q <= 0.5:
        assert found.theorem_1
        assert found.theorem_2
    assert (lemma(p, q) == 0) == ((p, q) in ((0, 0), (1, 1)))


def test_theorem_2_is_tight() -> None:
    assert lemma(0.5, 0.25) == 0.5
    assert lemma(0.375, 0.0) == 0.375


@given(texts, texts)
def test_least_detection_of_a_difference_that_is_not_always_even(claimed: str, computed: str) -> None:
    found = detection_probability(claimed, computed)
    assert found.same_data.value >= found.least
    assert (found.least > 0) == bool(found.difference.products)


def test_least_detection_is_reached() -> None:
    found = detection_probability("a*b*c + d", "d")
    assert found.same_data.value == found.least == 0.125


def test_several_results_together() -> None:
    pairs = [("a*b + c", "a*b + d"), ("a*b", "c"), ("c", "a*b")]
    exact = np.mean(
        [
            any((plain(x, v) - plain(y, v)) % 2 for x, y in pairs)
            for bits in product((0, 1), repeat=4)
            for v in [dict(zip(NAMES, bits, strict=True))]
        ]
    )
    assert detection_of_several(pairs).value == exact
    # each further result can only help
    each = [detection_of_several(pairs[:n]).value for n in (1, 2, 3)]
    assert each == sorted(each)
    assert detection_of_several([("a", "b"), ("c", "d")]).value == over_records(0.5, 2)
    assert detection_of_several([("a", "a"), ("b", "b + 1")]).value == 1
    assert detection_of_several([("a", "a + 2")]).value == 0


def test_hundred_independent_products_are_exact() -> None:
    text = " + ".join(f"x{i}*y{i}" for i in range(100))
    found = odd_probability(NormalForm.of(read_expression(text)))
    assert found.error == 0
    assert found.value == pytest.approx((1 - 0.5**100) / 2)


def test_large_parts_are_sampled_with_an_error_that_holds() -> None:
    n = 24  # the sum of all products of two: odd if C(k, 2) is, for k odd variables
    text = " + ".join(f"x{i}*x{j}" for i in range(n) for j in range(i))
    exact = sum(comb(n, k) for k in range(n + 1) if comb(k, 2) % 2) / 2**n
    form = NormalForm.of(read_expression(text))
    found = odd_probability(form, seed=5)
    assert 0 < found.error < 0.002
    assert abs(found.value - exact) <= found.error
    assert found == odd_probability(form, seed=5)
    assert "+-" in str(found)


def test_slots_that_are_hit() -> None:
    for records, points, altered in [(84, 16, 1), (10, 3, 5), (4, 16, 18), (5, 0, 3), (7, 2, 0)]:
        expected = 1 - hypergeom.pmf(0, records + points, points, altered)
        assert slot_is_hit(records, points, altered) == pytest.approx(expected)
    with pytest.raises(InputError, match="from 0 to 20"):
        slot_is_hit(4, 16, 21)


@pytest.mark.parametrize("text", ["x*y - 1", "x**3 - x", "x*y*z", "x**2 + y**2 + z", "5"])
def test_bound_of_check_points_over_a_small_field(text: str) -> None:
    modulus, expression = 7, read_expression(text)
    columns = np.array(list(product(range(modulus), repeat=3))).T
    zeros = np.mean(expression.residues(dict(zip("xyz", columns, strict=True)), modulus) == 0)
    assert zeros <= point_is_missed(expression.degree, modulus, 1)
    assert point_is_missed(expression.degree, modulus, 2) == pytest.approx((expression.degree / modulus) ** 2)


def test_probabilities_are_checked() -> None:
    with pytest.raises(InputError, match=r"from 0 to 1, not 1\.5"):
        odd("a + b", {"a": 0.5, "b": 1.5})
    with pytest.raises(InputError, match="no probability of being odd is given for 'bb'; did you mean 'b'"):
        odd("a + bb", {"a": 0.5, "b": 0.5})
