"""Budgets within budgets: limits, work, cancelling and progress of searches that are parts of a larger run."""

from __future__ import annotations

import pytest

from tabprotect.solver.limits import Budget, Limits, Progress


def test_a_run_spends_what_it_is_given_and_reports_the_whole() -> None:
    heard: list[Progress] = []
    budget = Budget(Limits(work=100, gap=0.1), heard.append)
    budget.spend(40)
    with budget.run(0.5) as part:
        assert (part.limits.work, part.limits.gap, part.work) == (30, 0.1, 0)
        part.spend(7)
        part.report("search")
        with part.run(gap=0.3, work=5) as inner:
            assert (inner.limits.work, inner.limits.gap) == (5, 0.3)
            inner.spend(2)
            inner.report("window")
            with inner.part(1.0) as share:
                share.spend(1)
                share.report("pool")
    assert [line.work for line in heard] == [47, 49, 50]
    assert budget.work == 50


def test_the_clock_of_a_run_begins_at_0_and_progress_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    heard: list[Progress] = []
    budget = Budget(Limits(seconds=60.0), heard.append, started=100.0)
    now[0] = 120.0
    with budget.run(0.5) as part:
        assert (part.seconds, part.limits.seconds, part.seconds_left) == (0.0, 20.0, 20.0)
        now[0] = 130.0
        part.report("search")
        with part.part(0.5) as inner:
            assert (inner.seconds, inner.seconds_left) == (10.0, 5.0)
            now[0] = 131.0
            inner.report("pool")
        now[0] = 140.0
        assert part.stopped == "time"
        assert not budget.stopped
    assert [line.seconds for line in heard] == [30.0, 31.0]


@pytest.mark.parametrize("kind", ["run", "part", "beyond"])
def test_cancelling_a_part_cancels_the_whole(kind: str) -> None:
    budget = Budget()
    parts = {"run": budget.run, "part": lambda: budget.part(0.5), "beyond": lambda: budget.beyond(20.0, None)}
    with parts[kind]() as part:
        part.cancel()
        assert not budget.cancelled
    assert budget.exhausted
    assert budget.stopped == "cancelled"


def test_a_part_ends_with_the_whole_but_not_what_goes_beyond() -> None:
    asked = [False]
    budget = Budget(Limits(seconds=50.0, stop=lambda: asked[0]))
    with budget.run() as part, budget.beyond(20.0, None) as grace:
        asked[0] = True
        assert part.exhausted
        assert part.stopped == "cancelled"
        assert not grace.exhausted


def test_limits_become_a_budget_and_a_budget_stays_itself() -> None:
    budget = Budget(Limits(work=3))
    assert Budget.of(budget) is budget
    assert Budget.of(Limits(work=4)).limits.work == 4
    assert Budget.of(None).limits == Limits()
