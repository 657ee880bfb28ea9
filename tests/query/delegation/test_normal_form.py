"""Parities: against all combinations of small numbers."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.query.delegation import NormalForm, read_expression
from tests.query.delegation.strategies import NAMES, plain, texts


def parities(text: str, choices: dict[str, list[int]]) -> set[int]:
    return {
        plain(text, dict(zip(NAMES, numbers, strict=True))) % 2
        for numbers in product(*(choices[name] for name in NAMES))
    }


@given(texts)
def test_decides_exactly_what_is_always_even_or_odd(text: str) -> None:
    found = parities(text, {name: [0, 1, 2, 3] for name in NAMES})
    constant = NormalForm.of(read_expression(text)).constant
    assert constant == (found.pop() if len(found) == 1 else None)


@given(texts, st.sampled_from(NAMES), st.integers(-3, 3))
def test_values_that_cannot_vary(text: str, name: str, value: int) -> None:
    found = parities(text, {other: [value] if other == name else [0, 1] for other in NAMES})
    form = NormalForm.of(read_expression(text), {name: value})
    assert name not in form.variables
    assert form.constant == (found.pop() if len(found) == 1 else None)


@given(texts, st.integers(0, 2**32 - 1))
def test_bits_of_many_records_at_once(text: str, seed: int) -> None:
    expression = read_expression(text)
    data = {name: np.random.default_rng([seed, i]).integers(-50, 50, 21) for i, name in enumerate(NAMES)}
    bits = {name: np.packbits((column & 1).astype(bool)) for name, column in data.items()}
    found = np.unpackbits(NormalForm.of(expression).evaluate(bits, 3), count=21)
    values = [plain(text, {name: int(column[i]) for name, column in data.items()}) % 2 for i in range(21)]
    assert found.tolist() == values


@pytest.mark.parametrize(
    ("text", "constant"),
    [
        ("2*a*b", 0),
        ("x**2 + x", 0),
        ("x**2 - x", 0),
        ("(a + b)**2 - a**2 - b**2", 0),
        ("x*(x + 1)*y", 0),
        ("2*a + 1", 1),
        ("x**2 + x + 7", 1),
        ("a*b + a", None),
    ],
)
def test_even_and_odd_claims_without_complements_in_a_product(text: str, constant: int | None) -> None:
    assert NormalForm.of(read_expression(text)).constant == constant


@given(texts, texts)
def test_sums_are_exclusive_or(left: str, right: str) -> None:
    form = NormalForm.of(read_expression(left)) ^ NormalForm.of(read_expression(right))
    assert form == NormalForm.of(read_expression(f"{left} + {right}"))
    assert form == NormalForm.of(read_expression(f"{left} - {right}"))
