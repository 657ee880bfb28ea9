"""Frauds of the handler: each is found, and as often by parity as computed."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.query.delegation import (
    Check,
    Delegation,
    HandlerProcess,
    SameProcess,
    delegate,
    detection_of_several,
    detection_probability,
    over_records,
    slot_is_hit,
)
from tabprotect.query.delegation.expression import Expression
from tabprotect.query.delegation.frauds import DishonestHandler, computed_instead
from tabprotect.query.delegation.handler import Handler, Response
from tabprotect.query.delegation.result import FINAL

RECORDS = 4000


def cheated(name: str, expressions: Any, records: int = RECORDS, seed: int = 1, **options: Any) -> Delegation:
    """Delegate random data to a dishonest handler."""
    rng = np.random.default_rng(seed)
    data = {n: rng.integers(-100, 100, records) for n in "abcd"}
    handler = SameProcess(DishonestHandler(name, seed))
    return delegate(expressions, data, (-100, 100), handler=handler, seed=seed, **options)


def is_close(count: int, probability: float, trials: int = RECORDS) -> bool:
    """Whether a frequency is within 4.5 standard deviations of its probability."""
    return abs(count - trials * probability) <= 4.5 * sqrt(trials * probability * (1 - probability))


@pytest.mark.parametrize(
    ("name", "expression", "probability"),
    [
        ("drop-product", "a*b + c*d", 0.25),
        ("drop-product", "a + b + c + d", 0.5),
        ("compute=a*c + b*d", "a*b + c*d", 0.25),
        ("compute=c*d - a - b", "a*b + c*d", 0.75),
        ("compute=a*b*c*d", "a*b + c*d", 0.4375),
        ("add-one", "a*b + c*d", 1.0),
        ("add-two", "a*b + c*d", 0.0),
        ("compute=a**3*b + 3*c**2*d", "a*b + c*d", 0.0),
    ],
)
def test_parity_finds_a_fraud_as_often_as_computed(name: str, expression: str, probability: float) -> None:
    ((claimed, computed),) = computed_instead(name, expression, products=False)
    assert detection_probability(claimed, computed).same_data.value == probability
    # the second expression makes room for frauds with longer products; the first refusal ends the questions
    found = cheated(name, [expression, "a**7*b"], products=False, check_points=16)
    answer = found.answers[0]
    assert is_close(answer.failures(Check.PARITY), probability)
    # check points find all of them, those that keep every parity as well
    assert answer.failures(Check.POINTS) == 16 * len(found.parameters.moduli)
    assert answer.values is None
    assert answer.products == {}


def test_parity_of_intermediate_results_finds_what_the_final_one_cannot() -> None:
    pairs = computed_instead("swap-products", "a*b + c*d")
    assert [detection_probability(*pair).same_data.value for pair in pairs] == [0, 0.375, 0.375]
    assert detection_of_several(pairs).value == 0.375
    answer = cheated("swap-products", "a*b + c*d").answers[0]
    assert answer.failures(Check.PARITY, FINAL) == 0
    assert is_close(answer.failures(Check.PARITY, "a*b"), 0.375)
    assert answer.failures(Check.PARITY, "a*b") == answer.failures(Check.PARITY, "c*d")
    assert answer.failures(Check.POINTS, FINAL) == answer.failures(Check.SUM) == 0
    assert answer.failures(Check.POINTS, "a*b") > 0
    assert not answer.accepted


def test_products_do_not_sum_up_to_a_wrong_final_result() -> None:
    found = cheated("add-two", "a*b + c*d", check_points=0).answers[0]
    assert {finding.check for finding in found.findings} == {Check.SUM}


def test_replay_of_an_earlier_answer() -> None:
    expressions = ["a*b + c*d", "a*c + b*d"]
    ((claimed, computed),) = computed_instead("replay", expressions[1], expressions[:1], products=False)
    probability = detection_probability(claimed, computed).same_data.value
    assert probability == 0.25
    found = cheated("replay", expressions, products=False)
    assert found.answers[0].accepted
    assert found.answers[0].values is not None
    assert is_close(found.answers[1].failures(Check.PARITY), probability)
    assert found.answers[1].values is None


def test_longer_products_than_the_parameters_hold_cannot_be_read() -> None:
    answer = cheated("compute=a**3*b + 3*c**2*d", "a*b + c*d", products=False).answers[0]
    assert [finding.check for finding in answer.findings] == [Check.READABLE]


def test_replay_from_other_keys_cannot_be_read() -> None:
    class Replaying(Handler):
        """Returns the ciphertexts of its first answer for ever."""

        kept: Response | None = None

        def respond(self, required: Expression, products: Sequence[Expression]) -> Response:
            self.kept = self.kept or super().respond(required, products)
            return self.kept

    channel = SameProcess(Replaying())
    first, second = (delegate("a*b", {"a": [3], "b": [4]}, (0, 9), handler=channel) for _ in range(2))
    assert first.accepted
    assert [finding.check for finding in second.answers[0].findings] == [Check.READABLE]


def test_even_claim_and_any_other_claim_is_refused_with_the_right_values() -> None:
    answer = cheated("even-claim", "a*b + c*d").answers[0]
    assert answer.claimed == "2*a*b + 2*c*d"
    assert [finding.check for finding in answer.findings] == [Check.CLAIM]
    assert answer.values is None


@pytest.mark.parametrize("text", ["", "a*b + ", "__import__('os')", "a*b + x", "a*b + c*d + 2"])
def test_claims_are_read_with_care(text: str) -> None:
    class Claiming(SameProcess):
        def exchange(self, message: Any, most: int) -> Any:
            reply = super().exchange(message, most)
            if "claimed" in reply.header:
                reply.header["claimed"] = text
            return reply

    found = delegate("a*b + c*d", {name: [1] for name in "abcd"}, (0, 9), handler=Claiming())
    assert [finding.check for finding in found.answers[0].findings] == [Check.CLAIM]


def test_claim_may_be_written_in_another_order() -> None:
    class Claiming(SameProcess):
        def exchange(self, message: Any, most: int) -> Any:
            reply = super().exchange(message, most)
            if "claimed" in reply.header:
                reply.header["claimed"] = "(a + c)*b"
            return reply

    assert delegate("a*b + b*c", {name: [1] for name in "abc"}, (0, 9), handler=Claiming()).accepted


def test_one_altered_slot_is_found_as_often_as_computed() -> None:
    # ring 4096: nine tenths of the slots hold records or check points, at positions that only the owner knows
    records, points, rounds = 2900, 800, 40
    rng = np.random.default_rng(5)
    data = {"a": rng.integers(0, 9, records), "b": rng.integers(0, 9, records)}
    channel = SameProcess(DishonestHandler("alter-slot", 5))
    caught = damaged = 0
    for seed in range(rounds):
        found = delegate("a + b", data, (0, 8), handler=channel, products=False, check_points=points, seed=seed)
        assert found.parameters.ring == 4096
        answer = found.answers[0]
        caught += not answer.accepted
        if answer.values is not None:
            damaged += answer.values.tolist() != (data["a"] + data["b"]).tolist()
    # an altered result can also leave its range; slots without use change nothing
    expected = slot_is_hit(records, points, 1) * (records + points) / 4096
    high = np.mean(data["a"] + data["b"] > 14) * records / 4096
    assert is_close(caught, expected + high, rounds)
    assert damaged > 0  # what one check point in five cannot find


def test_few_records_are_hidden_among_many_check_points() -> None:
    found = cheated("alter-slot", "a*b + c*d", records=3, products=False)
    assert slot_is_hit(3, found.parameters.ring - 3, 1) > 0.999
    assert found.answers[0].failures(Check.POINTS) == len(found.parameters.moduli)
    assert not found.accepted


def test_nothing_more_is_asked_under_keys_that_met_a_fraud() -> None:
    found = cheated("add-two", ["a*b + c*d", "a + b + c + d"])
    assert [f.check for f in found.answers[1].findings] == [Check.STOPPED]
    assert found.answers[1].values is None
    assert not found.accepted
    assert "STOPPED" in found.summary()


def test_parity_alone_accepts_what_keeps_it() -> None:
    """The limit of the method in the notebook: a wrong result of the same parity, for every record."""
    found = cheated("add-two", "a*b + c*d", products=False, check_points=0)
    assert found.accepted
    assert found.answers[0].missed == 1.0


@pytest.mark.parametrize("name", ["drop-product", "compute=a*b", "replay"])
def test_in_a_process_of_its_own(name: str) -> None:
    import sys

    data = {"a": [3, 5, 7, 8], "b": [1, 3, 5, 6], "c": [1, 2, 4, 9]}
    with HandlerProcess([sys.executable, "-m", "tabprotect.query.delegation", "--fraud", name]) as handler:
        found = delegate(["b*c + a*b", "b*c + a"], data, (0, 9), handler=handler)
    assert not found.accepted


def test_chance_of_escaping_over_records() -> None:
    """Out of 300 runs of three records each, parity finds as many as one run in the formula."""
    probability = over_records(0.25, 3)
    rng = np.random.default_rng(9)
    data = {n: rng.integers(-100, 100, 900) for n in "abcd"}
    wrong = (data["c"] * data["d"] % 2).reshape(300, 3).any(axis=1).sum()
    assert is_close(int(wrong), probability, 300)
    found = delegate(
        "a*b + c*d", data, (-100, 100), handler=SameProcess(DishonestHandler("drop-product")), products=False
    )
    assert found.answers[0].failures(Check.PARITY) == np.count_nonzero(data["c"] * data["d"] % 2)


@pytest.mark.parametrize(
    ("name", "said"),
    [("drop-produkt", "did you mean 'drop-product'"), ("compute=a/b", "only"), ("x", "there are 'add-one'")],
)
def test_unknown_frauds_are_named(name: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        DishonestHandler(name)


def test_frauds_that_need_two_products() -> None:
    for name, said in (("drop-product", "one product only"), ("swap-products", "fewer than two")):
        with pytest.raises(InputError, match=said):
            computed_instead(name, "a*b")
