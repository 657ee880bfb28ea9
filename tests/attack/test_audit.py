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

from tabprotect import instances
from tabprotect.attack import evidence, moves
from tabprotect.attack.audit import audit
from tabprotect.attack.findings import Audit
from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.errors import InputError
from tabprotect.formats.jj import read_jj
from tabprotect.problem import Attacker, Problem
from tabprotect.report.facts import alarms
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.lp import LinearProgram
from tabprotect.table.system import LinearSystem
from tests.checker import Judge
from tests.quick import examples
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


@settings(max_examples=examples(20, 40), deadline=None)
@given(problems(), st.integers(0, 10**6), st.sampled_from([0.5, 0.8, 1.0]))
def test_random_problems_agree_with_the_judge(problem: Problem, seed: int, share: float) -> None:
    some = np.random.default_rng(seed).random(problem.n_cells) < share
    agrees(problem, problem.must_hide | (problem.may_hide & some))


@pytest.mark.slow
def test_grids_before_everything_else_change_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    first, grids = [], evidence.on_grids
    monkeypatch.setattr(evidence, "on_grids", lambda *a, few, **k: first.append(few) or grids(*a, few=few, **k))
    for seed in range(60, 72):
        problem = random_problem(seed)
        # levels without a small common denominator
        problem = replace(problem, lpl=problem.lpl * 0.9999999, upl=problem.upl * 0.9999999)
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


def test_a_frame_names_each_cell_once_however_many_intruders_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = row(attackers=[Attacker("Smith & Co", (2,)), Attacker("Miller", (2,))])
    named: list[int] = []
    labels = LinearSystem.labels

    def counted(system: LinearSystem, cells: np.ndarray) -> list[str]:
        named.extend(cells.tolist())
        return labels(system, cells)

    monkeypatch.setattr(LinearSystem, "labels", counted)
    monkeypatch.delattr(LinearSystem, "label")
    frame = audit(problem, [1, 2]).frame
    assert frame["label"].tolist() == ["1", "2", "1", "1"]
    assert named == [1, 2]


def test_of_what_limits_left_out_there_are_no_rows_where_only_computed_ones_are_asked_for() -> None:
    problem = row(attackers=[Attacker("Smith & Co", (2,))])
    found = audit(problem, [1, 2], budget=Budget(Limits(stop=lambda: True)))
    assert found.frame["low"].isna().all()
    assert len(found.frame) == 3
    assert len(found.computed_frame) == 0
    whole = audit(problem, [1, 2])
    pd.testing.assert_frame_equal(whole.computed_frame, whole.frame)


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
    assert found.undecided
    assert found.summary().startswith("not decided: ")
    assert "limits" in found.summary()


def test_intervals_are_computed_as_far_as_limits_let_them() -> None:
    problem = instances.load("singletons-small")
    judged = audit(problem, problem.may_hide, intervals=False)
    whole = judged.explored()
    assert whole.complete
    assert not whole.left_out
    assert len(whole.insiders) > 1
    for inside, again in zip(whole.insiders, audit(problem, problem.may_hide).insiders, strict=True):
        assert np.array_equal(inside.low, again.low)
    open_ = []
    for polls in (0, 5, 10, 20, 40, 80):
        polled = iter(range(10**9))
        part = judged.explored(Budget(Limits(stop=lambda polled=polled, polls=polls: next(polled) >= polls)))
        assert not part.complete
        missing = sum(int(np.isnan(one.low).sum()) for one in (part.public, *part.insiders))
        assert part.left_out.startswith(f"{missing:,} of ")
        assert "a larger budget computes them" in part.summary()
        (alarm,) = alarms(True, part)
        assert "interval_low and interval_high of the table" in alarm
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
    monkeypatch.setattr(moves.optimize, "milp", lambda *_, **__: SimpleNamespace(x=None, status=1))
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


@pytest.mark.parametrize("given", [[0, 1, 1, 0], np.array([0, 1, 1, 0]), np.array([0.0, 1.0, 1.0, 0.0])])
def test_ones_for_hidden_cells_are_no_positions(given: Any) -> None:
    p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    with pytest.raises(InputError, match=r"4 numbers of 0 and 1, which are no positions.*astype\(bool\).*flatnonzero"):
        audit(p, given)
    for cure in (np.asarray(given).astype(bool), np.flatnonzero(given)):
        assert audit(p, cure).pattern.tolist() == [False, True, True, False]


def test_a_position_is_given_once() -> None:
    p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    with pytest.raises(InputError, match="names cells more than once: 2; give each position once"):
        audit(p, [1, 2, 2])
    with pytest.raises(InputError, match="primary names cells more than once: 3"):
        Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[3, 3], lpl=2, upl=2)
