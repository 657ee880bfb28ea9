"""Sums of products: against Python's own arithmetic, and what is refused."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.query.delegation import Expression, read_expression
from tests.query.delegation.strategies import NAMES, plain, texts


@given(texts, st.lists(st.integers(-20, 20), min_size=4, max_size=4))
def test_equals_python(text: str, numbers: list[int]) -> None:
    values = dict(zip(NAMES, numbers, strict=True))
    expression = read_expression(text)
    assert expression.evaluate(values) == plain(text, values)
    for modulus in (2, 97, 1032193, 2**31 - 1):
        columns = {name: np.array([value, value + 1]) % modulus for name, value in values.items()}
        assert expression.residues(columns, modulus)[0] == plain(text, values) % modulus


@given(texts)
def test_text_is_read_back(text: str) -> None:
    expression = read_expression(text)
    assert read_expression(str(expression)) == expression


@given(texts, st.lists(st.tuples(st.integers(-3, 3), st.integers(0, 3)), min_size=4, max_size=4))
def test_interval_contains_every_value(text: str, ends: list[tuple[int, int]]) -> None:
    bounds = {name: (low, low + width) for name, (low, width) in zip(NAMES, ends, strict=True)}
    low, high = read_expression(text).interval(bounds)
    for numbers in product(*(range(bounds[n][0], bounds[n][1] + 1) for n in NAMES)):
        assert low <= plain(text, dict(zip(NAMES, numbers, strict=True))) <= high


def test_interval_of_products_is_tight_in_whole_numbers_of_any_size() -> None:
    big = 2**70
    assert read_expression("a*b").interval({"a": (-big, big), "b": (3, 5)}) == (-5 * big, 5 * big)
    assert read_expression("a**2").interval({"a": (-3, 2)}) == (0, 9)
    assert read_expression("a**3").interval({"a": (-3, 2)}) == (-27, 8)


def test_same_polynomial_is_the_same_expression() -> None:
    assert read_expression("(a + b)**2 - 2*b*a") == read_expression("a*a + b*b")
    assert read_expression("a - a") == Expression(())
    assert str(read_expression("a - a")) == "0"
    a, b = Expression.variable("a"), Expression.variable("b")
    assert 1 + a * 2 - b == Expression.of({("a",): 2, ("b",): -1, (): 1})
    assert 1 - a == -(a - 1)


@pytest.mark.parametrize(
    ("text", "degree", "depth"),
    [("7", 0, 0), ("a + b", 1, 0), ("a*b", 2, 1), ("a*b*c", 3, 2), ("a**4", 4, 2), ("a**5 + b", 5, 3), ("a**8", 8, 3)],
)
def test_depth(text: str, degree: int, depth: int) -> None:
    expression = read_expression(text)
    assert (expression.degree, expression.depth) == (degree, depth)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a / b", r"only \+, -"),
        ("a // b", r"only \+, -"),
        ("a ** b", "exponent must be a whole number"),
        ("a ** -1", "exponent must be a whole number"),
        ("a ** 65", "from 0 to 64"),
        ("a ** 40 * a ** 40", "80 factors"),
        ("1.5 * a", "scale decimals"),
        ("True + a", "only whole numbers"),
        ("'x'", "only whole numbers"),
        ("__import__('os').system('true')", r"__import__.* at column 1: only \+, -"),
        ("a.b", r"only \+, -"),
        ("a if b else c", r"only \+, -"),
        ("(lambda: 1)()", r"only \+, -"),
        ("a +", "is no expression"),
        ("", "is no expression"),
        ("a\x00", "is no expression"),
        ("(" * 5000 + "a" + ")" * 5000, "no expression|nested too deeply"),
        ("-" * 19_000 + "a", "nested too deeply"),
        ("a" * 200_001, "more than 200000"),
        (f"{2**64} * a", r"2\*\*63"),
        ("(a + b + c + d + e + f)**12", "products"),
    ],
)
def test_anything_else_is_refused(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_expression(text)


def test_long_sums() -> None:
    text = " + ".join(f"{i}*x{i % 40}*y{i // 40}" for i in range(1, 1500))
    expression = read_expression(text)
    assert len(expression.terms) == 1499
    assert read_expression(str(expression)) == expression
    assert read_expression(f"({text}) - ({text})") == Expression(())


def test_objects_are_checked_as_well() -> None:
    with pytest.raises(InputError, match="whole number"):
        Expression.of({("a",): 1.5})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="name of a variable"):
        Expression.of({("a+b",): 1})
    for name in ("if", "None", "ﬁ", ""):
        with pytest.raises(InputError, match="name of a variable"):
            Expression.variable(name)
    with pytest.raises(InputError, match="write products as tuples"):
        Expression.of({"a b": 1})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="text or an Expression"):
        read_expression(5)  # type: ignore[arg-type]
