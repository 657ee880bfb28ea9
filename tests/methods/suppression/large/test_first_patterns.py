"""First patterns of large tables: soon where answers are far away, then better."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from tabprotect.attack.audit import audit
from tabprotect.attack.witness import Witnesses
from tabprotect.instances import family, load
from tabprotect.instances.large import large
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.large import local
from tabprotect.methods.suppression.large.cover import Cover
from tabprotect.methods.suppression.large.insiders import Insiders
from tabprotect.methods.suppression.large.nearby import Nearby
from tabprotect.methods.suppression.large.rebuild import Rebuilder
from tabprotect.methods.suppression.large.search import LocalSearch
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.options import Options
from tabprotect.methods.suppression.options.local import InsiderOptions, LocalOptions, LocalSearchOptions, NearbyOptions
from tabprotect.methods.suppression.options.start import FinishOptions
from tabprotect.methods.suppression.options.strategy import ChoiceOptions
from tabprotect.methods.suppression.search.improvement import Improver
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.table.system import LinearSystem


@pytest.fixture(scope="module")
def table() -> Problem:
    return large(1200, dims=3, primaries=0.1, seed=3)


def builder(problem: Problem) -> Rebuilder:
    return Rebuilder(
        Cover(problem), Nearby(problem, Surroundings(problem.system), QUICKLY.nearby), {}, 0, options=QUICKLY
    )


QUICKLY = LocalOptions(nearby=NearbyOptions(near_equations=2, quick_iterations=30))
BY_CELLS = Options(local=LocalOptions(insiders=InsiderOptions(many=0)))
AS_BUILT = LocalSearchOptions(cleanup_limit_share=0.0)


@pytest.mark.slow
def test_quick_answers_are_safe_and_patient_ones_cheaper(table: Problem) -> None:
    rebuilder, budget = builder(table), Budget()
    assert rebuilder.build(budget)
    assert rebuilder.rough
    assert not rebuilder.unattainable
    quick = rebuilder.cover.cost
    assert audit(table, rebuilder.cover.pattern, intervals=False).safe
    rebuilder.refine(budget)
    assert not rebuilder.rough
    assert audit(table, rebuilder.cover.pattern, intervals=False).safe
    assert rebuilder.cover.cost == pytest.approx(table.cost(rebuilder.cover.pattern))
    assert rebuilder.cover.cost < quick


@pytest.mark.slow
def test_what_a_limit_cuts_short_leaves_the_quick_answers(table: Problem) -> None:
    rebuilder = builder(table)
    assert rebuilder.build(Budget())
    before, cost = rebuilder.cover.pattern, rebuilder.cover.cost
    rebuilder.refine(Budget(Limits(work=1)))
    assert np.array_equal(rebuilder.cover.pattern, before)
    assert rebuilder.cover.cost == pytest.approx(cost)


@pytest.mark.slow
def test_the_first_pattern_is_told_before_the_patient_one(table: Problem) -> None:
    lines: list[Progress] = []
    result = local(table, passes=0, progress=lines.append, options=Options(local=QUICKLY))
    first, second = (line for line in lines if line.stage in ("first", "incumbent"))
    assert (first.stage, second.stage) == ("first", "incumbent")
    assert first.cost is not None
    assert result.cost == second.cost
    assert result.cost < first.cost
    assert result.safe


def test_balls_through_the_cells_with_most_room() -> None:
    A = sparse.csr_array([[1.0, 1, 1, 1, 0, 0], [0, 0, 1, 0, 1, 1]])
    system = LinearSystem(A, np.zeros(2), range(6))
    room = np.array([9.0, 1, 5, 3, 2, 2])
    start, allowed = np.array([1]), np.ones(6, bool)
    assert Surroundings(system, room, 2).ball(start, 1, allowed).tolist() == [0, 1, 2]
    assert Surroundings(system, room, 2).ball(start, 2, allowed).tolist() == [0, 1, 2, 4]
    assert Surroundings(system).ball(start, 1, allowed).tolist() == [0, 1, 2, 3]
    assert Surroundings(system, room, 1).ball(start, 1000, allowed).tolist() == [0, 1]


@pytest.mark.slow
def test_attackers_are_answered_near_each_cell_where_there_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = load("singletons-medium")
    asked: list[int] = []
    answer = Insiders.answer

    def counted(self: Insiders, budget: Budget) -> bool:
        asked.append(len(self.judge.contested(self.cover.pattern)))
        done = answer(self, budget)
        asked.append(len(self.judge.contested(self.cover.pattern)))
        return done

    monkeypatch.setattr(Insiders, "answer", counted)
    local(problem, passes=0)
    assert not asked
    for limits in (None, Limits(work=40_000)):
        asked.clear()
        result = local(problem, passes=0 if limits is None else None, limits=limits, options=BY_CELLS)
        assert result.safe
        assert audit(problem, result.pattern, intervals=False).safe
        assert asked[0] > asked[1]
        assert asked[-1] == 0


def test_attackers_not_answered_again_in_time_leave_the_first_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = load("singletons-medium")
    answer, calls = Insiders.answer, []

    def late(self: Insiders, budget: Budget) -> bool:
        calls.append(self.cover.cost)
        return answer(self, budget) if len(calls) == 1 else False

    lines: list[Progress] = []
    monkeypatch.setattr(Insiders, "answer", late)
    options = replace(BY_CELLS, local=replace(BY_CELLS.local, search=AS_BUILT))
    result = local(problem, limits=Limits(work=40_000), progress=lines.append, options=options)
    assert len(calls) == 2
    assert calls[1] < result.cost
    assert result.cost == next(line.cost for line in lines if line.stage == "first")
    assert result.safe


@pytest.mark.slow
def test_the_first_pattern_is_cleaned_up_where_attackers_know_cells() -> None:
    problem = load("singletons-medium")
    as_built = local(problem, passes=0)
    lines: list[Progress] = []
    result = local(problem, limits=Limits(work=40_000), progress=lines.append)
    cleaned = [line.cost for line in lines if line.stage == "clean-up" and line.cost is not None]
    assert result.cost <= cleaned[-1] < as_built.cost
    assert result.bound > 0
    assert audit(problem, result.pattern, intervals=False).safe


@pytest.mark.slow
def test_a_clean_up_ends_at_the_gap_that_was_asked_for() -> None:
    problem = load("singletons-medium")
    reported: list[Progress] = []
    whole = local(problem, limits=Limits(work=40_000), progress=reported.append)
    wide = local(problem, limits=Limits(work=40_000, gap=0.99))
    assert wide.safe
    assert wide.gap <= 0.99
    assert wide.work < whole.work
    # an incumbent is reported when the judge has found it safe
    assert min(line.cost for line in reported if line.cost is not None) == whole.cost


@pytest.mark.slow
def test_nothing_further_is_looked_for_than_the_passes_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []
    step = Improver.step

    def counted(self: Improver, *rest: Any, **more: Any) -> Any:
        steps.append(1)
        return step(self, *rest, **more)

    monkeypatch.setattr(Improver, "step", counted)
    problem = load("singletons-small")
    assert local(problem, limits=Limits(work=100_000), passes=1).safe
    assert not steps
    assert local(problem, limits=Limits(work=100_000)).safe
    assert steps


@pytest.mark.slow
def test_what_attackers_find_is_answered_more_cheaply_in_the_whole_table() -> None:
    problem = family("holdings", 9)
    near = Options(local=LocalOptions(insiders=InsiderOptions(whole_cells=0)))
    by_cells, by_table = (local(problem, passes=0, options=options) for options in (near, Options()))
    assert by_table.cost < 0.95 * by_cells.cost
    assert audit(problem, by_table.pattern, intervals=False).safe


@pytest.mark.slow
def test_a_first_pattern_that_takes_more_than_its_share_of_the_limits_is_given_up() -> None:
    problem = family("holdings", 1)
    whole = local(problem, limits=Limits(work=20_000))
    assert whole.safe
    hurried = Options(local=LocalOptions(search=LocalSearchOptions(first_limit_share=0.05)))
    given_up = local(problem, limits=Limits(work=20_000), options=hurried)
    assert (given_up.status, given_up.stopped) == ("unknown", "work")
    assert given_up.work < 0.2 * whole.work
    assert given_up.pattern.sum() > len(problem.primaries)
    # what there is is completed by another method
    options = Options(choice=ChoiceOptions(probe_limit_share=0.95))
    completed = suppress(problem, limits=Limits(work=20_000), options=options)
    assert completed.safe
    assert completed.method.startswith("auto: local, then greedy")


@pytest.mark.slow
def test_auto_leaves_tables_with_attackers_to_local_programmes() -> None:
    problem = family("holdings", 4)
    by_auto, by_local = (suppress(problem, method=m, limits=Limits(work=60_000)) for m in ("auto", "local"))
    assert by_auto.safe
    assert by_auto.method.startswith("auto: local, since")
    assert by_auto.cost == pytest.approx(by_local.cost, rel=0.02)
    assert audit(problem, by_auto.pattern, intervals=False).safe


def test_a_last_pattern_that_is_not_safe_in_time_leaves_the_one_judged_before(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, clock = load("singletons-medium"), [0.0]
    judged: list[Any] = []
    monkeypatch.setattr("time.monotonic", lambda: clock[0])

    def improve(self: LocalSearch, passes: int | None = None) -> None:
        judged.append(self.judged)
        clock[0] = 31.0

    monkeypatch.setattr(LocalSearch, "improve", improve)
    monkeypatch.setattr(LocalSearch, "last", lambda self: self.problem.must_hide)
    options = Options(finish=FinishOptions(grace_seconds=0.0))
    result = local(problem, limits=Limits(seconds=30.0), options=options)
    assert result.safe
    assert np.array_equal(result.pattern, judged[0])


def test_time_is_left_for_the_judgement_of_another_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    """A first judgement takes ten seconds, another one of what it answered none, and one of another pattern two."""
    clock, judged, changed = [0.0], list[float](), [False]
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    check, step = Witnesses.check, Rebuilder.step

    def judge(self: Witnesses, *rest: Any, **more: Any) -> Any:
        judged.append(2.0 if changed[0] else 0.01 if judged else 10.0)
        clock[0] += judged[-1]
        changed[0] = False
        return check(self, *rest, **more)

    def recreate(self: Rebuilder, *rest: Any) -> None:
        clock[0] += 0.2
        changed[0] = True
        step(self, *rest)

    monkeypatch.setattr(Witnesses, "check", judge)
    monkeypatch.setattr(Rebuilder, "step", recreate)
    options = Options(local=LocalOptions(search=AS_BUILT))
    result = local(load("singletons-small"), limits=Limits(seconds=30.0), options=options)
    assert result.safe
    assert (judged[0], 0.01 in judged, 2.0 in judged) == (10.0, True, True)
    assert clock[0] <= 30.0
