"""Limits: what ended a run is said, and memory counts like time."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.solver import limits
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.memory import held_memory


def test_what_is_held_grows_with_what_is_held():
    before = held_memory()
    block = np.ones(8_000_000)
    assert held_memory() - before > 0.8 * block.nbytes


def test_every_limit_gives_its_reason():
    assert Budget(Limits()).stopped == ""
    assert Budget(Limits(seconds=0.0)).stopped == "time"
    assert Budget(Limits(work=0)).stopped == "work"
    for given, word in ((Limits(memory=1), "memory"), (Limits(stop=lambda: True), "cancelled")):
        budget = Budget(given)
        assert budget.exhausted
        assert budget.stopped == word


def test_enough_memory_ends_nothing():
    assert not Budget(Limits(memory=2**50)).exhausted


def test_memory_is_looked_at_now_and_then_and_stays_exceeded(monkeypatch):
    held = [10, 10, 30, 10]
    clock = iter(range(10))
    monkeypatch.setattr(limits, "held_memory", lambda: held.pop(0))
    budget = Budget(Limits(memory=20))
    monkeypatch.setattr(limits.time, "monotonic", lambda: 100 + 0.03 * next(clock))
    assert [budget.exhausted for _ in range(4)] == [False, False, True, True]
    assert held == [10]


def test_a_part_ends_with_the_memory_of_the_whole():
    budget = Budget(Limits(memory=1))
    with budget.part(0.5) as part:
        assert part.exhausted
    assert budget.stopped == "memory"


def test_a_part_of_little_work_is_a_unit():
    """Who goes on in parts until all is spent would never come to an end with parts of nothing."""
    budget, parts = Budget(Limits(work=7)), 0
    while not budget.exhausted:
        with budget.part(0.01) as part:
            part.spend(min(1, part.work_left))
        parts += 1
        assert parts <= 7
    with budget.part(0.0) as part:
        assert part.exhausted


@pytest.mark.parametrize("memory", [0, -5])
def test_no_memory_at_all_is_refused(memory):
    with pytest.raises(InputError, match="positive number of bytes"):
        Limits(memory=memory)


def test_systems_without_a_measure_say_so(monkeypatch):
    monkeypatch.setattr(limits, "held_memory", lambda: None)
    with pytest.raises(InputError, match="cannot be measured"):
        Limits(memory=10**9)


@pytest.mark.parametrize("wrong", [{"seconds": -1}, {"seconds": float("nan")}, {"work": "5"}, {"gap": -0.1}])
def test_limits_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"the limit '{next(iter(wrong))}' must be a number of at least 0"):
        Limits(**wrong)
