"""Parameters: exact results by choice, not by luck."""

from __future__ import annotations

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.query.delegation import Check, Delegated, Parameters, SameProcess, choose_parameters, read_expression
from tabprotect.query.delegation.inputs import checked_inputs
from tabprotect.query.delegation.keys import Keys, whole
from tabprotect.query.delegation.owner import Session
from tabprotect.query.delegation.parameters import LEAST_BUDGET, budget_left, is_prime, primes
from tests.query.delegation.strategies import NAMES, texts


@settings(max_examples=50)
@given(texts, st.integers(0, 1000))
def test_moduli_hold_every_result(text: str, size: int) -> None:
    expression = read_expression(text)
    bounds = dict.fromkeys(NAMES, (-size, size))
    low, high = expression.interval(bounds)
    if max(-low, high) > 2**63 - 1:
        with pytest.raises(InputError, match="may reach"):
            choose_parameters([expression], bounds)
        return
    found = choose_parameters([expression], bounds)
    assert found.range == prod(found.moduli) > high - low
    assert found.range // 2 >= max(-low, high)
    assert len(set(found.moduli)) == len(found.moduli)
    for modulus in found.moduli:
        assert modulus % (2 * found.ring) == 1
        assert modulus < 2**31
        assert is_prime(modulus)
    assert found.budget >= LEAST_BUDGET + 2


@pytest.mark.parametrize(
    ("ring", "bits", "text"),
    [
        (4096, 17, "3*a - 4*b"),
        (4096, 17, "-a*b"),
        (4096, 17, "a*b + c*a - b*c"),
        (8192, 20, "30000*a*b - 777*c*c"),
        (8192, 20, "a**8"),
        (8192, 20, "a*b**4 - a"),
        (8192, 30, "a*b*c + 7"),
    ],
)
def test_noise_is_never_underestimated(text: str, ring: int, bits: int) -> None:
    expression = read_expression(text)
    moduli = primes(ring, bits, 2, [expression])
    expected = budget_left(expression, ring, moduli)
    assert expected > 0
    answer = ask(text, Parameters(ring, moduli, expected))
    assert expected <= answer.budget <= expected + 20
    assert not answer.failures(Check.POINTS)


@pytest.mark.slow
def test_longest_products_that_are_accepted_are_right() -> None:
    text = "a**63*b - a**50"
    found = choose_parameters([read_expression(text)], {"a": (-1, 1), "b": (-9, 9)})
    assert found.ring == 16384
    assert ask(text, found).budget >= found.budget


def ask(text: str, parameters: Parameters) -> Delegated:
    expression = read_expression(text)
    rng = np.random.default_rng(3)
    data = {name: rng.integers(0, 2, 20) for name in expression.variables}
    session = Session(checked_inputs([expression], data, (0, 1)), parameters, 16, SameProcess(), rng)
    session.begin(multiplies=expression.depth > 0)
    return session.ask(expression, ())


def test_numbers_that_the_library_gets_wrong_without_a_word_are_refused() -> None:
    # ring 8192 and 20 bits: degree 16 is the last that fits; the library decrypts degree 32 to nonsense
    parameters = Parameters(8192, primes(8192, 20, 2, []), 0.0)
    fine, broken = ask("a**16 + b", parameters), ask("a**32 + b", parameters)
    assert fine.accepted
    assert fine.budget >= LEAST_BUDGET
    assert (broken.accepted, broken.budget, broken.values) == (False, 0, None)
    assert broken.failures(Check.READABLE) == 1


def test_check_points_find_wrong_numbers_without_the_noise_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    # the library's own figure is not what correctness rests on
    decrypt = Keys.decrypt
    monkeypatch.setattr(Keys, "decrypt", lambda *given: replace(decrypt(*given), budget=LEAST_BUDGET))
    broken = ask("a**32 + b", Parameters(8192, primes(8192, 20, 2, []), 0.0))
    assert broken.values is None
    assert broken.failures(Check.POINTS) >= 15


def test_bounds_that_allow_larger_results_than_64_bits_are_refused() -> None:
    with pytest.raises(InputError, match=r"'a\*b' may reach 9\.22e\+18 .* narrower bounds"):
        choose_parameters([read_expression("a*b")], {"a": (0, 2**32), "b": (0, 2**31)})
    found = choose_parameters([read_expression("a*b")], {"a": (0, 2**32 - 1), "b": (0, 2**31)})
    assert found.range > 2**63


def test_coefficients_never_vanish_under_a_modulus() -> None:
    plain = choose_parameters([read_expression("a")], {"a": (0, 9)})
    other = choose_parameters([read_expression(f"{plain.moduli[0]}*a")], {"a": (0, 9)})
    assert plain.moduli[0] not in other.moduli


@given(st.lists(st.integers(-(10**12), 10**12), min_size=1, max_size=5), st.sampled_from([2, 3]))
def test_residues_are_put_together(values: list[int], count: int) -> None:
    moduli = primes(8192, 30, 2 ** (30 * count - 5), [])
    assert len(moduli) == count
    residues = [np.array(values) % modulus for modulus in moduli]
    assert whole(residues, moduli).tolist() == values


def test_bytes_of_others_are_no_ciphertext() -> None:
    parameters = choose_parameters([read_expression("a + b")], {"a": (0, 9), "b": (0, 9)})
    keys, others = Keys(parameters, False), Keys(parameters, False)
    numbers = np.arange(parameters.ring) % 7
    blob = keys.encrypt(numbers, 0)
    opened = keys.decrypt(blob, 0)
    assert opened.values is not None
    assert opened.values.tolist() == numbers.tolist()
    assert opened.budget > LEAST_BUDGET
    assert others.decrypt(blob, 0).budget == 0
    for bad in (b"", b"xx", blob[:-10], bytes(len(blob)), blob[: len(blob) // 2]):
        assert keys.decrypt(bad, 0).budget == 0
