"""Exact witnesses: how they are found where rounding a vertex fails, and what stays without one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect import instances
from tabprotect.attack import evidence
from tabprotect.attack.answers import Answers, View
from tabprotect.attack.audit import audit
from tabprotect.attack.conversion import LARGE
from tabprotect.attack.evidence import gather
from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.insiders import within_reach
from tabprotect.attack.keys import Key
from tabprotect.attack.moves import Moves
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.instances.large import large
from tabprotect.problem import Attacker, Problem
from tabprotect.solver.limits import Budget, Limits


def test_a_new_deviation_is_not_taken_for_one_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that were let go of leave their address to others."""
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    gathering = evidence._Gathering(problem, np.array([False, True, True, False]), None, Budget())
    seen: list[float] = []

    def none(deviations: list[Deviation], *, most: float) -> list[None]:
        assert most == math.inf
        seen.extend(float(d.z[0]) for d in deviations)
        return [None] * len(deviations)

    monkeypatch.setattr(gathering.exact, "exactly", none)
    for k in range(100):
        gathering.conversion.convert([Deviation(np.array([1, 2]), np.array([1.0 + k, -1.0 - k]))])
    assert seen == [1.0 + k for k in range(100)]


def test_a_level_is_proven_with_room_where_the_vertex_at_it_stays_inexact(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    monkeypatch.setattr(ExactProblem, "exactly", lambda self, deviations, *args, **kwargs: [None] * len(deviations))
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
    monkeypatch.setattr(ExactProblem, "exactly", lambda self, deviations, *args, **kwargs: [None] * len(deviations))
    monkeypatch.setattr(ExactProblem, "furthest", lambda self, cells, cell, side: None)
    judged = audit(problem, hidden, intervals=False)
    assert judged.safe
    (witness,) = judged.evidence.witnesses
    moved = dict(zip(witness.cells.tolist(), (witness.z[i] for i in range(len(witness.cells))), strict=True))
    assert (moved[1], moved[4], moved[5]) == (-2, -1, -1)
    assert moved[2] + moved[3] == 2
    short = replace(problem, lower=np.array([0, 0, 0, 0, 4, 3.001]))
    assert not audit(short, hidden, intervals=False).safe


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
    monkeypatch.setattr(ExactProblem, "exactly", lambda self, deviations, *args, **kwargs: [None] * len(deviations))
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


@pytest.mark.slow
def test_what_many_attackers_leave_open_is_proven_for_groups_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no rounding nothing is answered before programmes are asked, for one attacker after the other."""
    cube = instances.load("flat3d-6x6x6")
    attackers = tuple(Attacker(f"a{cell}", (cell,)) for cell in np.flatnonzero(cube.may_hide)[::2].tolist())
    problem = within_reach(replace(cube, attackers=attackers))
    asked: list[int] = []
    roomy = Moves.roomy

    def counted(self: Moves, known: Any, left: Any, *rest: Any) -> None:
        asked.append(len(left))
        roomy(self, known, left, *rest)

    monkeypatch.setattr(Moves, "roomy", counted)
    monkeypatch.setattr(ExactProblem, "exactly", lambda self, deviations, *args, **kwargs: [None] * len(deviations))
    found = evidence.gather(problem, problem.may_hide)
    assert found.exposures == ()
    assert len(asked) < 0.7 * len(attackers)
    store = Answers(ExactProblem(problem))
    for witness in found.witnesses:
        store.add(witness)
    assert not any(len(questions) for _, questions in store.missing())


def test_without_time_every_question_is_undecided_and_named_once() -> None:
    insiders = [Attacker(f"{k}", (k,)) for k in (2, 3)]
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, attackers=insiders)
    budget = Budget()
    budget.cancel()
    found = gather(problem, [1, 2, 3], budget=budget)
    assert found.witnesses == found.unproven == ()
    assert [(e.key.cell, e.key.side, e.decided) for e in found.exposures] == [(1, 1, False), (1, -1, False)]
    assert gather(problem, [1, 2, 3]).exposures == ()


@pytest.mark.parametrize("integer", [False, True])
def test_what_time_left_open_in_the_middle_is_undecided(integer: bool) -> None:
    insiders = [Attacker(f"{k}", (k,)) for k in (2, 3)]
    problem = Problem.from_arrays(
        [[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, attackers=insiders, integer=integer
    )
    outcomes = set()
    for looks in range(60):
        left = iter(range(looks))
        found = gather(problem, [1, 2, 3], budget=Budget(Limits(stop=lambda left=left: next(left, None) is None)))
        assert not any(e.decided for e in found.exposures)
        assert not found.unproven
        outcomes.add(bool(found.exposures))
    assert outcomes == {True, False}  # stopped before its end, and after it


def test_deviations_of_many_cells_that_stay_inexact_come_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each may take minutes in rational arithmetic."""
    problem = large(3000, dims=3, primaries=0.1, seed=1)
    pattern = problem.may_hide.copy()
    pattern[np.flatnonzero(~problem.must_hide & problem.may_hide)[::5]] = False
    plain = {e.key for e in gather(problem, pattern).exposures}
    judge = Witnesses(problem)
    judge.check(pattern)
    assert max(len(d.cells) for d in judge.deviations(pattern)) > LARGE
    rounded, asked = ExactProblem.exactly, []

    def only_small(self: ExactProblem, deviations: list[Deviation], digits: int | None = None, most: float = math.inf):
        """Stand for rounding that fails where many cells move."""
        asked.extend((len(d.cells), most) for d in deviations)
        some = [d if len(d.cells) <= LARGE else None for d in deviations]
        done = iter(rounded(self, [d for d in some if d is not None], digits, most))
        return [None if d is None else next(done) for d in some]

    monkeypatch.setattr(ExactProblem, "exactly", only_small)
    found = gather(problem, pattern, judge)
    first = next(k for k, (cells, most) in enumerate(asked) if cells > LARGE and most == math.inf)
    assert all(cells <= LARGE or most == LARGE for cells, most in asked[:first])
    assert any(cells <= LARGE for cells, _ in asked[:first])
    assert {e.key for e in found.exposures} == plain


def test_everything_hidden_is_proven_by_the_table_in_proportion() -> None:
    problem = large(600, dims=3, primaries=0.1, seed=1)
    found = gather(problem, problem.may_hide)
    assert not found.exposures
    assert len(found.witnesses) == 2
    assert all(len(w.cells) == np.count_nonzero(problem.values) for w in found.witnesses)
