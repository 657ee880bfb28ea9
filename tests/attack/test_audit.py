"""The audit, against an independent judge and printed examples."""

from __future__ import annotations

import itertools
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tabprotect as tp
from tabprotect import instances
from tabprotect.attack import evidence
from tabprotect.attack.answers import Answers, View
from tabprotect.attack.audit import Audit, audit
from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.errors import InputError
from tabprotect.formats.jj import read_jj
from tabprotect.problem import Attacker, Problem
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.lp import LinearProgram
from tests.checker import Judge
from tests.random_problems import problems, random_problem


def hide(problem: Problem, *cells: tuple[str, str]) -> np.ndarray:
    pattern = problem.must_hide.copy()
    pattern[problem.system.cells.get_indexer(list(cells))] = True
    return pattern


def test_the_investment_table() -> None:
    problem = instances.load("eustat-investment")
    pattern = hide(problem, ("II", "A"), ("II", "C"), ("III", "A"), ("III", "C"))
    cell = problem.system.cells.get_loc(("II", "C"))
    assert audit(problem, pattern).interval(cell) == (5, 30)
    half = replace(problem, lower=problem.values * 0.5, upper=problem.values * 1.5)
    assert audit(half, pattern).interval(cell) == (18, 26)


def test_the_printed_pattern_of_the_research_table_is_exposed() -> None:
    problem = instances.load("eustat-rd-expenditure")
    problem = replace(problem, upper=np.full(problem.n_cells, np.inf))
    printed = [("Energy and construction", "<=100"), ("Energy and construction", ">100"), ("Other activities", "<=100")]
    found = audit(problem, hide(problem, *printed))
    assert not found.safe
    reached = {(problem.system.label(e.key.cell), e.key.side): e.reached for e in found.exposures}
    other, services = "Other activities x >100", "Other services x <=100"
    assert reached[other, -1] == pytest.approx(207_072)
    assert reached[other, 1] == pytest.approx(350_013)
    assert reached[services, 1] == pytest.approx(22_196)
    assert "Other activities x >100" in found.summary()
    optimum = hide(
        problem,
        ("Energy and construction", ">100"),
        ("Energy and construction", "Total"),
        ("Rubber and plastics", "<=100"),
        ("Rubber and plastics", ">100"),
        ("Other activities", "<=100"),
    )
    assert problem.cost(optimum) == 18_318_584
    assert audit(problem, optimum).safe


def agrees(problem: Problem, pattern: np.ndarray) -> Audit:
    """Hold verdict, exposures and all intervals against the judge."""
    judge, found = Judge(problem), audit(problem, pattern)
    assert found.safe == judge.safe(pattern)
    wrong = {(e.attacker, e.cell, e.side) for e in judge.exposed(pattern)}
    assert {tuple(e.key) for e in found.exposures} <= wrong
    assert {e.key.cell for e in found.exposures} == {cell for _, cell, _ in wrong}
    for cell in found.public.cells.tolist():
        assert found.interval(cell) == pytest.approx(judge.interval(pattern, cell), rel=1e-7, abs=1e-7)
    for insider in found.insiders:
        for cell, *interval in zip(insider.cells.tolist(), insider.low, insider.high, strict=True):
            expected = judge.interval(pattern, cell, insider.attacker)
            assert interval == pytest.approx(list(expected), rel=1e-7, abs=1e-7)
    return found


@settings(max_examples=40, deadline=None)
@given(problems(), st.integers(0, 10**6), st.sampled_from([0.5, 0.8, 1.0]))
def test_random_problems_agree_with_the_judge(problem: Problem, seed: int, share: float) -> None:
    some = np.random.default_rng(seed).random(problem.n_cells) < share
    agrees(problem, problem.must_hide | (problem.may_hide & some))


def test_grids_before_everything_else_change_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "MANY_DECIMALS", 1)
    first, grids = [], evidence.on_grids
    monkeypatch.setattr(evidence, "on_grids", lambda *a, few, **k: first.append(few) or grids(*a, few=few, **k))
    for seed in range(60, 72):
        problem = random_problem(seed)
        some = np.random.default_rng(seed).random(problem.n_cells) < 0.8
        agrees(problem, problem.must_hide | (problem.may_hide & some))
    assert sum(first) > 3


ROW = [[-1, 1, 1, 1]]


def row(**changes: object) -> Problem:
    given = {"primary": [1], "lpl": 2, "upl": 2, **changes}
    return Problem.from_arrays(ROW, [20, 9, 6, 5], **given)


def test_a_level_at_the_end_of_the_interval_is_reached_and_a_hair_more_is_not() -> None:
    assert audit(row(upl=6.0), [1, 2]).safe
    found = audit(row(upl=np.nextafter(6.0, 7)), [1, 2])
    assert [(e.key, e.reached) for e in found.exposures] == [(Key(-1, 1, 1), 6.0)]


def test_decimals_are_those_written() -> None:
    """In binary 0.1 + 0.2 exceeds 0.3; in decimals as written 0.3 is reached exactly."""
    problem = Problem.from_arrays([[1, -1, -1]], [0.3, 0.1, 0.2], [0], lpl=0.3, upl=0.0)
    assert audit(problem, [0, 1, 2]).safe
    problem = Problem.from_arrays([[1, -1, -1]], [0.30000000000000004, 0.1, 0.2], [0], lpl=0.30000000000000004, upl=0)
    assert not audit(problem, [0, 1, 2]).safe


def test_a_primary_that_is_published_is_not_safe_even_without_levels() -> None:
    found = audit(row(lpl=0, upl=0), [2, 3])
    assert found.shown.tolist() == [1]
    assert not found.safe
    assert "published although" in found.summary()


def test_what_can_be_recomputed_is_listed() -> None:
    found = audit(row(lpl=0, upl=0), [1])
    assert (found.safe, found.recomputable.tolist()) == (True, [1])
    pinned = Problem.from_arrays([[1, 1]], [5, 5], [0], lpl=0, upl=0, b=np.array([10.0]), lower=[5, 5])
    assert audit(pinned, [0, 1]).recomputable.tolist() == [0, 1], "bounds and equation leave one value"


def test_endless_intervals_are_infinite_and_finite_ones_next_to_them_are_not() -> None:
    A = [[-1, 1, 1, 0, 0], [0, 0, -1, 1, 1]]
    problem = Problem.from_arrays(A, [9, 4, 5, 2, 3], [3], lpl=1, upl=1)
    found = audit(problem, [0, 2, 3, 4])
    assert found.interval(0) == (4, np.inf)
    assert found.interval(2) == (0, np.inf)
    assert audit(problem, [3, 4]).interval(3) == (0, 5)
    free = audit(replace(problem, lower=np.full(5, -np.inf)), [3, 4])
    assert free.interval(3) == (-np.inf, np.inf)
    assert free.safe


def test_a_cell_in_no_equation_has_its_external_bounds() -> None:
    problem = Problem.from_arrays([[1, 1, 0]], [1, 2, 5], [2], lpl=1, upl=1, lower=[0, 0, 3], upper=[9, 9, 7])
    assert audit(problem, [2]).interval(2) == (3, 7)


def test_the_interval_of_a_published_cell_is_refused() -> None:
    with pytest.raises(InputError, match=r"cell 3 is not hidden"):
        audit(row(), [1, 2]).interval(3)


def test_frame_names_cells_attackers_and_what_is_missing() -> None:
    problem = row(attackers=[Attacker("Smith & Co", (2,))])
    frame = audit(problem, [1, 2]).frame.set_index(["attacker", "cell"])
    assert list(frame.index) == [("public", 1), ("public", 2), ("Smith & Co", 1)]
    assert frame.loc[("public", 1), ["low", "high", "needed_low", "needed_high", "missing"]].tolist() == [
        0,
        15,
        7,
        11,
        0,
    ]
    smith = frame.loc[("Smith & Co", 1)]
    assert (smith.low, smith.high, smith.missing, smith.exposed, smith.recomputable) == (9, 9, 2, True, True)
    assert frame.status.tolist() == ["primary", "secondary", "primary"]


@pytest.mark.parametrize("pattern", [[True, False], [0, 9], [0.5], [-1]])
def test_a_wrong_pattern_is_refused(pattern: list[object]) -> None:
    with pytest.raises(InputError, match=r"pattern|positions"):
        audit(row(), pattern)


def test_limits_are_reported_and_nothing_undecided_is_safe() -> None:
    problem = instances.load("eustat-rd-companies")
    budget = Budget(Limits(work=0))
    found = audit(problem, problem.may_hide, budget=budget)
    assert not found.safe
    assert not found.complete
    assert not any(e.decided for e in found.exposures)
    assert "limits" in found.summary()


def test_intervals_are_told_as_far_as_limits_let_them() -> None:
    problem = instances.load("singletons-small")
    judged = audit(problem, problem.may_hide, intervals=False)
    whole = judged.explored()
    assert whole.complete
    assert len(whole.insiders) > 1
    for inside, again in zip(whole.insiders, audit(problem, problem.may_hide).insiders, strict=True):
        assert np.array_equal(inside.low, again.low)
    open_ = []
    for polls in (0, 5, 10, 20, 40, 80):
        polled = iter(range(10**9))
        part = judged.explored(Budget(Limits(stop=lambda polled=polled, polls=polls: next(polled) >= polls)))
        assert not part.complete
        assert (part.safe, part.exposures) == (judged.safe, judged.exposures)
        assert [i.attacker for i in part.insiders] == [i.attacker for i in whole.insiders]
        missing = 0
        for some, every in zip((part.public, *part.insiders), (whole.public, *whole.insiders), strict=True):
            known = ~np.isnan(some.low)
            assert np.array_equal(known, ~np.isnan(some.high))
            np.testing.assert_allclose(some.low[known], every.low[known], rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(some.high[known], every.high[known], rtol=1e-6, atol=1e-6)
            missing += int((~known).sum())
        open_.append(missing)
    assert open_[0] > open_[-1] > 0
    assert open_ == sorted(open_, reverse=True)


@pytest.mark.parametrize("make", [ThreadPoolExecutor, ProcessPoolExecutor])
def test_workers_change_nothing(make: type, shared) -> None:
    problem = read_jj(shared("instances/csplib/hie1372d.jj"))
    rng = np.random.default_rng(5)
    pattern = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < 0.8))
    alone = audit(problem, pattern)
    with make(2) as executor:
        together = audit(problem, pattern, executor=executor)
    assert np.array_equal(alone.public.low, together.public.low)
    assert np.array_equal(alone.public.high, together.public.high)
    assert len(alone.public.cells) > 200


def test_an_experienced_judge_changes_nothing() -> None:
    problem = instances.load("eustat-rd-companies")
    judge = Witnesses(problem)
    rng = np.random.default_rng(0)
    for _ in range(3):
        pattern = problem.must_hide | (problem.may_hide & (rng.random(problem.n_cells) < 0.7))
        fresh, again = audit(problem, pattern), audit(problem, pattern, witnesses=judge, intervals=False)
        assert {e.key for e in fresh.exposures} == {e.key for e in again.exposures}


def doubled(level: float, upper: float) -> Problem:
    """Cell 0 is twice cell 1, so that integral deviations of cell 0 are even."""
    return Problem.from_arrays([[1, -2]], [4, 2], [0], lpl=0, upl=level, upper=[4 + upper, 9], integer=True)


def test_integrality_can_expose_what_linear_programmes_call_safe() -> None:
    found = audit(doubled(1, 1), [0, 1])
    assert not found.safe
    assert [(e.key, e.reached, e.decided) for e in found.exposures] == [(Key(-1, 0, 1), 0.0, True)]
    assert audit(replace(doubled(1, 1), integer=False), [0, 1]).safe
    assert audit(doubled(1, 2), [0, 1]).safe, "2 is within reach, so 1 is exceeded"


def test_without_an_integral_witness_within_limits_the_answer_is_lp_safe_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence.optimize, "milp", lambda *_, **__: SimpleNamespace(x=None, status=1))
    found = audit(doubled(1, 1), [0, 1])
    assert (found.safe, found.lp_safe_only, found.unproven) == (False, True, (Key(-1, 0, 1),))
    assert found.summary().startswith("LP-safe only")


def test_integer_levels_and_bounds_are_rounded() -> None:
    problem = Problem.from_arrays([[1, 1]], [3, 3], [0], lpl=0.5, upl=0.5, upper=[4.9, 9], b=[6.0], integer=True)
    assert audit(problem, [0, 1]).interval(0) == (0, 4)
    assert not audit(replace(problem, upper=np.array([3.9, 9])), [0, 1]).safe
    with pytest.raises(InputError, match="declared integer"):
        audit(replace(problem, values=np.array([2.5, 3.5])), [0, 1])


@pytest.mark.parametrize("seed", range(12))
def test_integral_safety_equals_enumeration(seed: int) -> None:
    """All integral 2 x 2 x 2 tables with the same published cells, gone through one by one."""
    rng = np.random.default_rng(seed)
    shape = (2, 2, 2)
    inner = rng.integers(0, 3, shape)
    full = inner
    for axis in range(3):
        full = np.concatenate((full.sum(axis=axis, keepdims=True), full), axis=axis)
    rows = []
    cells = np.arange(full.size).reshape(full.shape)
    for axis in range(3):
        for line in np.moveaxis(cells, axis, -1).reshape(-1, full.shape[axis]):
            equation = np.zeros(full.size)
            equation[line] = [-1, *[1] * (len(line) - 1)]
            rows.append(equation)
    values = full.ravel().astype(float)
    inside = cells[1:, 1:, 1:].ravel()
    primary = rng.choice(inside, 3, replace=False)
    level = rng.integers(1, 3)
    problem = Problem.from_arrays(
        np.array(rows), values, primary, lpl=np.minimum(level, values), upl=level, upper=values + 2, integer=True
    )
    hidden = problem.must_hide | (rng.random(full.size) < 0.6)
    boxes = [range(-int(values[i]), 3) if hidden[i] else (0,) for i in inside]
    z = np.array(list(itertools.product(*boxes)), dtype=np.int8).reshape(-1, *shape)
    for axis in range(1, 4):
        z = np.concatenate((z.sum(axis=axis, keepdims=True), z), axis=axis)
    z = z.reshape(len(z), -1)
    possible = z[(np.where(hidden, 0, z) == 0).all(axis=1) & (z >= -values).all(axis=1) & (z <= 2).all(axis=1)]
    high, low = possible.max(axis=0), possible.min(axis=0)
    safe = all(high[p] >= level and -low[p] >= min(level, values[p]) for p in primary)
    assert audit(problem, hidden, intervals=False).safe == safe


def test_stops_at_the_first_exposed_cell() -> None:
    """The verdict is that of the whole audit; what is listed then is one of its exposures."""
    unsafe = 0
    for seed in range(40, 60):
        problem = random_problem(seed)
        for pattern in (problem.must_hide, problem.may_hide):
            whole = audit(problem, pattern, intervals=False)
            first = audit(problem, pattern, stop_at_first=True)
            assert first.safe == whole.safe
            if not first.exhaustive:
                unsafe += len(whole.exposures) > 1
                assert len(first.exposures) == 1
                assert first.exposures[0].key in {e.key for e in whole.exposures}
                assert not first.insiders
                assert "stopped here" in first.summary()
    assert unsafe > 5


def test_a_new_deviation_is_not_taken_for_one_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that were let go of leave their address to others."""
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    gathering = evidence._Gathering(problem, np.array([False, True, True, False]), None, Budget())
    seen: list[float] = []

    def none(deviations: list[Deviation]) -> list[None]:
        seen.extend(float(d.z[0]) for d in deviations)
        return [None] * len(deviations)

    monkeypatch.setattr(gathering.exact, "exactly", none)
    for k in range(100):
        gathering._convert([Deviation(np.array([1, 2]), np.array([1.0 + k, -1.0 - k]))])
    assert seen == [1.0 + k for k in range(100)]


def test_a_level_is_proven_with_room_where_the_vertex_at_it_stays_inexact(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    monkeypatch.setattr(ExactProblem, "exactly", lambda self, deviations, digits=None: [None] * len(deviations))
    judged = audit(problem, [1, 2], intervals=False)
    assert judged.safe
    assert all(max(map(abs, w.z)) > 2 for w in judged.evidence.witnesses)
    tight = replace(problem, upper=np.array([np.inf, 11.0, np.inf, np.inf]))  # no room beyond
    assert audit(tight, [1, 2], intervals=False).safe  # by the simplex method in rational numbers


def test_what_no_bound_stops_becomes_an_exact_witness() -> None:
    """None of these entries is at a bound or a level, so that they are no vertex of anything."""
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1, 0, 0], [0, 0, 0, -1, 1, 1]], [20.1, 9, 6, 5.1, 3, 2.1], primary=[1], lpl=2, upl=2
    )
    cells = np.arange(1, 6)
    z = np.array([2.0 + 1e-7, -1.3, -0.7 - 1e-7 + 1e-10, -1.1, 0.4 - 1e-7])
    witness = ExactProblem(problem).slackened(Deviation(cells, z))
    assert witness is not None
    exact = [witness.z[i] for i in range(5)]
    assert (sum(exact[:3]), exact[3] + exact[4]) == (0, exact[2])
    assert exact[0] >= 2
    assert np.abs(np.array([float(e) for e in exact]) - z).max() < 1e-9


def test_the_room_of_a_small_cell_is_kept_where_large_ones_move_too() -> None:
    """Twelve digits of the largest step are tenths, and a tenth more is beyond the bound of the small cell."""
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1]],
        [400_000_001_000, 2e11, 2e11, 1000],
        primary=[3],
        lpl=0,
        upl=1000.05,
        upper=[1e13, 1e13, 1e13, 2000.07],
    )
    z = np.array([1000.18, 1e11 + 0.04, -1e11 + 0.08, 1000.06])
    witness = ExactProblem(problem).slackened(Deviation(np.arange(4), z))
    assert witness is not None
    assert witness.z[0] == witness.z[1] + witness.z[2] + witness.z[3]
    assert 1000.05 <= float(witness.z[3]) <= 1000.07


def test_a_level_that_takes_cells_to_their_ends_is_proven_with_room_for_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A part of the total is 2 lower only if both of its own parts are at their bounds; two others take that up."""
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1, 0, 0], [0, -1, 0, 0, 1, 1]],
        [20, 9, 6, 5, 5, 4],
        primary=[1],
        lpl=2,
        upl=0,
        lower=[0, 0, 0, 0, 4, 3],
    )
    hidden = [1, 2, 3, 4, 5]
    monkeypatch.setattr(ExactProblem, "exactly", lambda self, deviations, digits=None: [None] * len(deviations))
    monkeypatch.setattr(ExactProblem, "furthest", lambda self, cells, cell, side: None)
    judged = audit(problem, hidden, intervals=False)
    assert judged.safe
    (witness,) = judged.evidence.witnesses
    moved = dict(zip(witness.cells.tolist(), (witness.z[i] for i in range(len(witness.cells))), strict=True))
    assert (moved[1], moved[4], moved[5]) == (-2, -1, -1)
    assert moved[2] + moved[3] == 2
    short = replace(problem, lower=np.array([0, 0, 0, 0, 4, 3.001]))
    assert not audit(short, hidden, intervals=False).safe


def test_interval_programmes_end_with_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, upper=30)
    solve, seconds = LinearProgram.solve, []

    def too_long(self: LinearProgram, *, max_seconds: float | None = None, **limits: Any) -> Any:
        seconds.append(max_seconds)
        return replace(solve(self, **limits), status="limit")

    judged = audit(problem, [1, 2, 3], intervals=False)
    monkeypatch.setattr("tabprotect.attack.intervals.LinearProgram.solve", too_long)
    cut = judged.explored(Budget(Limits(seconds=60)))
    assert seconds
    assert all(s is not None and s <= 60 for s in seconds)
    assert not cut.complete
    assert all(np.isnan(cut.interval(1)))


@pytest.mark.parametrize("seed", range(4))
def test_what_is_missing_is_what_no_view_holds(seed: int) -> None:
    """For levels of all kinds, sliding ones at the very width that the witnesses reach among them."""
    problem = instances.load("singletons-small")
    rng = np.random.default_rng(seed)
    some = rng.random(problem.n_cells) < 0.5
    problem = replace(
        problem,
        spl=np.where(some, problem.lpl + problem.upl, 0.0),
        lpl=np.where(some, 0.0, problem.lpl),
        upl=np.where(some, 0.0, problem.upl),
    )
    judge = Witnesses(problem)
    assert judge.check(problem.may_hide) == ()
    exact = ExactProblem(problem)
    store = Answers(exact)
    for witness in exact.exactly(judge.deviations(problem.may_hide)):
        if witness is not None and rng.random() < 0.15:
            store.add(witness)
    missing = store.missing()
    assert [attacker for attacker, _ in missing] == list(range(-1, len(problem.attackers)))
    for attacker, questions in missing:
        view, known = View(store, judge.known(attacker)), judge.known(attacker)
        asked = np.flatnonzero(~np.isin(exact.questions.cell, known))
        assert questions.tolist() == [k for k in asked.tolist() if not view.holds(k)]
    assert sum(len(questions) for _, questions in missing) > 0


def test_levels_without_short_vertices_are_proven_together(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = instances.load("singletons-small")
    asked: list[Key] = []
    one = evidence._Gathering._one
    monkeypatch.setattr(ExactProblem, "exactly", lambda self, deviations, digits=None: [None] * len(deviations))
    monkeypatch.setattr(
        evidence._Gathering, "_one", lambda self, key, *rest: asked.append(key) or one(self, key, *rest)
    )
    found = evidence.gather(problem, problem.may_hide)
    assert found.exposures == ()
    assert len(asked) < 20
    store = Answers(ExactProblem(problem))
    for witness in found.witnesses:
        store.add(witness)
    assert not any(len(questions) for _, questions in store.missing())


@pytest.mark.parametrize("seed", [0, 1, 9, 16])
def test_levels_at_the_last_of_sixteen_digits_are_decided(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = {"a": list("fg"), "b": list("xyz"), "c": list("cde")}
    frame = pd.DataFrame({name: rng.choice(some, 12) for name, some in codes.items()})
    frame["value"] = rng.lognormal(-14, 2, 12)
    limits = tp.Limits(work=20_000)
    release = tp.protect(frame, "p%=50", by=list(codes), value="value", unions="off", singletons=False, limits=limits)
    assert release.safe, release.audit().shortfalls()
    assert release.verify().ok
