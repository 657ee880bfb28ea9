"""Delegated results are those of plain whole numbers; what is refused before anything is sent."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tabprotect.errors import InputError
from tabprotect.query.delegation import Expression, HandlerProcess, NormalForm, SameProcess, delegate, read_expression
from tests.query.delegation.strategies import NAMES, plain, texts

SOLD = {"price": [3, 5, 8], "sold": [10, 4, -1], "cost": [7, 30, 0]}


def delegated(expressions: Any, data: Any, bounds: Any, **options: Any) -> Any:
    return delegate(expressions, data, bounds, handler=SameProcess(), **options)


@settings(max_examples=30)
@given(texts, st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_equals_plain_arithmetic(text: str, size: int, seed: int) -> None:
    expression = read_expression(text)
    assume(NormalForm.of(expression).constant is None)
    rng = np.random.default_rng(seed)
    data = {name: rng.integers(-size, size, 6, endpoint=True) for name in expression.variables}
    found = delegated(text, data, (-size, size), products=seed % 2 == 0, seed=seed)
    assert found.accepted
    for i in range(6):
        values = dict.fromkeys(NAMES, 0) | {name: int(column[i]) for name, column in data.items()}
        assert found.values[i] == plain(text, values)
        for product, column in found.answers[0].products.items():
            assert column[i] == plain(product, values)


def test_in_a_process_of_its_own() -> None:
    found = delegate(["price*sold - cost", "price + cost"], SOLD, (-100, 100))
    values = [answer.values.tolist() for answer in found.answers if answer.values is not None]
    assert values == [[23, -10, -8], [10, 35, 8]]
    assert {name: column.tolist() for name, column in found.answers[0].products.items()} == {
        "cost": [7, 30, 0],
        "price*sold": [30, 20, -8],
    }
    assert found.accepted
    assert "accepted" in found.summary()
    assert found.sent > 0 < found.received


def test_one_process_for_several_calls() -> None:
    with HandlerProcess() as handler:
        first = delegate("a*b", {"a": [2], "b": [3]}, (0, 9), handler=handler)
        second = delegate("a - b", {"a": [2, 4], "b": [3, 3]}, (0, 9), handler=handler)
    assert first.values is not None
    assert second.values is not None
    assert (first.values.tolist(), second.values.tolist()) == ([6], [-1, 1])


def test_more_records_than_slots() -> None:
    rng = np.random.default_rng(8)
    data = {"a": rng.integers(-9, 9, 9000), "b": rng.integers(-9, 9, 9000)}
    found = delegated("a*b - 3*a", data, (-9, 9))
    assert found.accepted
    assert found.values.tolist() == (data["a"] * data["b"] - 3 * data["a"]).tolist()


def test_results_near_64_bits() -> None:
    a, b = [2**32 - 1, -(2**32) + 1, 12345], [2**31, 2**31, -1]
    found = delegated("a*b", {"a": a, "b": b}, {"a": (1 - 2**32, 2**32 - 1), "b": (-1, 2**31)})
    assert len(found.parameters.moduli) >= 3
    assert found.values.tolist() == [x * y for x, y in zip(a, b, strict=True)]
    assert found.values.dtype == np.int64


def test_objects_scalars_and_equal_bounds() -> None:
    a, b = Expression.variable("a"), Expression.variable("b")
    found = delegated(a * b + 7, {"a": 3, "b": 5}, {"a": (0, 9), "b": (5, 5)})
    assert found.values.tolist() == [22]


def test_variables_of_any_name() -> None:
    found = delegated("final + result*kind", {"final": [5], "result": [2], "kind": [3]}, (0, 9))
    assert found.values.tolist() == [11]
    assert found.answers[0].products["final"].tolist() == [5]


def test_frames_are_data_as_well() -> None:
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4]})
    assert delegated("a*b", frame, (0, 9)).values.tolist() == [3, 8]


def test_input_is_not_changed_and_a_seed_repeats() -> None:
    data = {"a": np.array([1, 2, 3]), "b": np.array([4, 5, 6])}
    first, second = (delegated("a*b + a", data, (0, 9), seed=4) for _ in range(2))
    assert first.values.tolist() == second.values.tolist() == [5, 12, 21]
    assert data["a"].tolist() == [1, 2, 3]


def test_figures_of_an_answer() -> None:
    found = delegated("a*b + c", {"a": [1, 1, 2, 3], "b": [1, 2, 3, 3], "c": [0, 0, 0, 1]}, (0, 9)).answers[0]
    assert found.odd.value == 0.5
    assert found.odd_share == 0.25
    assert 0 < found.missed < 1e-300
    least = delegated("a*b", {"a": [1], "b": [1]}, (0, 9), check_points=16)
    assert least.answers[0].missed == (2 / min(least.parameters.moduli)) ** 16
    assert "25.0% of the records" in found.summary()
    assert delegated("a", {"a": [1]}, (0, 9), check_points=0).answers[0].missed == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("2*price*sold", r"'2\*price\*sold' is always even: .* delegate 'price\*sold' and"),
        ("price**2 - price", r"always even: .* delegate 'price', 'price\*\*2' and"),
        ("2*price + 1", "always odd: .* delegate 'price' and"),
        ("price*odd - price", "always even"),
        ("price*even", "its variables cannot vary in parity"),
    ],
)
def test_constant_parities_are_refused(text: str, said: str) -> None:
    names = read_expression(text).variables
    bounds = {"price": (0, 99), "sold": (0, 99), "odd": (3, 3), "even": (4, 4)}
    with pytest.raises(InputError, match=said):
        delegate(text, {name: [bounds[name][0]] for name in names}, bounds, handler=Untouched())


class Untouched:
    """A channel that must not be used."""

    def exchange(self, *_: Any) -> Any:
        raise AssertionError("something was sent")

    def close(self) -> None:
        raise AssertionError("the channel is not the owner's to close")


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"expressions": "price*solt"}, "no data are given for variable 'solt'; did you mean 'sold'"),
        ({"expressions": "price*sold"}, "'cost' is in no expression: leave it out"),
        ({"expressions": []}, "no expression is given"),
        ({"expressions": 7}, "an expression must be text or an Expression, not 7"),
        ({"expressions": ["price*sold - cost", "7"]}, "'7' has no variable"),
        ({"data": SOLD | {"cost": [1.5, 2, 3]}}, "'cost' must hold whole numbers of 64 bits, not float64"),
        ({"data": SOLD | {"cost": [True, False, True]}}, "'cost' must hold whole numbers of 64 bits, not bool"),
        ({"data": SOLD | {"cost": [2**70, 1, 1]}}, "'cost' must hold whole numbers of 64 bits"),
        ({"data": SOLD | {"cost": np.array([2**63, 1, 1], dtype=np.uint64)}}, "'cost' must hold whole numbers"),
        ({"data": SOLD | {"cost": ["1", "2", "3"]}}, "'cost' must hold whole numbers of 64 bits, not <U1"),
        ({"data": SOLD | {"cost": [1, None, 2]}}, "'cost' must hold whole numbers of 64 bits, not object"),
        ({"data": SOLD | {"cost": [[1, 2, 3]]}}, r"'cost' must be one column .* shape \(1, 3\)"),
        ({"data": SOLD | {"cost": [[1], [2, 3], [4]]}}, "'cost' must be one column"),
        ({"data": SOLD | {"cost": []}}, "'cost' must be one column with at least one record"),
        ({"data": SOLD | {"cost": [1, 2]}}, "same number of records: 'cost' has 2, 'price' has 3"),
        ({"data": SOLD | {"cost": [1, 2000, 3]}}, r"'cost' has 1 value outside its bounds .* in record 1: 2000"),
        ({"bounds": {"price": (0, 9), "sold": (-9, 99)}}, "no bounds are declared for variable 'cost'"),
        ({"bounds": (100, -100)}, "the bounds of 'cost' must be two whole numbers, the lower one first"),
        ({"bounds": (-1.5, 100)}, "the bounds of 'cost' must be two whole numbers"),
        ({"bounds": (-(2**40), 2**40)}, "may reach"),
        ({"check_points": -1}, "check_points must be a whole number from 0 to"),
        ({"check_points": 16384}, "check_points must be a whole number from 0 to"),
        ({"seed": -1}, "seed must be a whole number"),
    ],
)
def test_wrong_input_is_named_before_anything_is_sent(changed: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"expressions": "price*sold - cost", "data": SOLD, "bounds": (-100, 100)}
    with pytest.raises(InputError, match=said):
        delegate(**(given | changed), handler=Untouched())


def test_all_problems_at_once() -> None:
    with pytest.raises(InputError) as error:
        delegate("a*b + c", {"a": [1.5], "b": [1, 2], "x": [1]}, {"a": (0, 9), "b": (0, 1)})
    assert len(error.value.problems) == 5


def test_missing_library_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "tenseal", None)
    with pytest.raises(InputError, match=r"pip install 'tabprotect\[delegation\]'"):
        delegate("a*b", {"a": [1], "b": [2]}, (0, 9), handler=Untouched())
