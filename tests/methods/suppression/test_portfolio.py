"""What `auto` makes of a first pattern that no method has ready in time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import tabprotect as tp
from tabprotect.attack.audit import audit
from tabprotect.instances import family
from tabprotect.methods.suppression.large import local
from tabprotect.methods.suppression.options import DEFAULTS, changed
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits
from tabprotect.solver.tasks.pieces import Means
from tabprotect.solver.tasks.store import Store


def test_what_local_programmes_and_cheapest_witnesses_leave_open_is_answered_roughly() -> None:
    problem, limits = family("thin", 1, sizes=(12, 3, 3, 3)), Limits(work=15_000)
    result = tp.suppress(problem, limits=limits)
    assert result.method.startswith("auto: local, then greedy, then local, then exact")
    assert audit(problem, result.pattern, intervals=False).safe
    assert 0 < result.bound < result.cost < 0.3 * problem.cost(problem.may_hide)
    again = tp.suppress(problem, limits=limits)
    assert np.array_equal(again.pattern, result.pattern)


@pytest.mark.parametrize(("questions", "method"), [(0, "auto: local, then exact"), (10**6, "auto: local, then greedy")])
def test_local_programmes_that_leave_little_open_go_on_themselves(questions: int, method: str) -> None:
    problem = family("thin", 2, sizes=(12, 3, 3, 3))
    options = changed(DEFAULTS, "choice.answered_questions", questions)
    result = tp.suppress(problem, limits=Limits(work=30_000), options=options)
    assert result.method.startswith(method)
    assert audit(problem, result.pattern, intervals=False).safe
    assert 0 < result.bound < result.cost < 0.3 * problem.cost(problem.may_hide)


@pytest.mark.slow
def test_cheapest_witnesses_that_are_not_ready_leave_time_for_rough_answers() -> None:
    problem, limits = family("thin", 0, sizes=(16, 4, 4, 4), filled=0.7), Limits(work=100_000)
    result = tp.suppress(problem, limits=limits)
    assert result.method.startswith("auto: greedy, then local, then exact")
    assert audit(problem, result.pattern, intervals=False).safe
    assert result.cost < 0.4 * problem.cost(problem.may_hide)


def test_what_cheapest_witnesses_reached_is_left_with_the_deviations_known_of_it() -> None:
    problem = family("thin", 0, sizes=(8, 8, 8))
    whole = greedy(problem, restarts=0, cleanup=0.0)
    part = greedy(problem, limits=Limits(work=whole.work // 2), restarts=0, cleanup=0.0, in_bulk=False)
    assert (part.status, part.cost, part.safe) == ("unknown", None, False)
    assert len(problem.primaries) < part.pattern.sum() < whole.pattern.sum()
    assert part.deviations
    for one in part.deviations:
        assert part.pattern[one.cells].all()
        assert np.abs(problem.system.A[:, one.cells] @ one.z).max() < 1e-6 * np.abs(one.z).max()


@pytest.mark.parametrize(("careful", "there"), [(1.0, False), (0.6, True)])
def test_what_a_share_of_the_limits_leaves_open_is_answered_roughly(careful: float, there: bool) -> None:
    problem, limits = family("thin", 1, sizes=(12, 3, 3, 3)), Limits(work=15_000)
    options = changed(DEFAULTS, "local.rebuild.careful_limit_share", careful)
    result = tp.suppress(problem, method="local", limits=limits, options=options)
    everything = problem.cost(problem.may_hide)
    assert audit(problem, result.pattern, intervals=False).safe
    assert (result.cost < 0.4 * everything) == there
    assert (result.cost == everything) != there


def test_sliding_levels_are_answered_roughly_too() -> None:
    plain = family("thin", 0, sizes=(6, 6, 6))
    widths = np.where(plain.must_hide, plain.lpl + plain.upl, 0.0)
    problem = replace(plain, lpl=np.zeros(plain.n_cells), upl=np.zeros(plain.n_cells), spl=widths)
    roughly, carefully = (
        local(problem, passes=0, limits=Limits(work=6_000), options=one)
        for one in (changed(DEFAULTS, "local.rebuild.careful_limit_share", share) for share in (0.0, 1.0))
    )
    assert (roughly.safe, carefully.safe) == (True, False)
    assert audit(problem, roughly.pattern, intervals=False).safe
    assert roughly.cost < 0.7 * problem.cost(problem.may_hide)


def test_parts_keep_what_they_began_with_where_one_of_them_is_not_ready() -> None:
    one = family("thin", 0, sizes=(8, 8, 8))
    twice = Problem.from_arrays(
        sparse.block_diag([one.system.A] * 2),
        np.tile(one.values, 2),
        primary=[*one.primaries, *(one.n_cells + one.primaries)],
        lpl=np.tile(one.lpl, 2),
        upl=np.tile(one.upl, 2),
        weights=np.tile(one.weights, 2),
    )
    known = greedy(one, restarts=0, cleanup=0.0)
    start = np.concatenate([one.must_hide, known.pattern])
    limits = Limits(work=known.work // 2)
    part = greedy(twice, limits=limits, start=start, restarts=0, cleanup=0.0, in_bulk=False)
    assert part.status == "unknown"
    assert part.pattern[start].all()
    assert greedy(twice, start=start, restarts=0, cleanup=0.0, in_bulk=False).safe


def test_what_a_time_limit_left_unfinished_is_not_kept_for_another_time(tmp_path: Path) -> None:
    problem = family("thin", 0, sizes=(8, 8, 8))
    hurried = changed(DEFAULTS, "construction.trial_limit_share", 0.0)

    def kept(seconds: float | None, folder: str) -> int:
        store = Store(tmp_path / folder, "greedy")
        before = len(list((tmp_path / folder).iterdir()))
        result = greedy(
            problem,
            limits=Limits(seconds, work=100_000),
            patience=1e-9,
            in_bulk=False,
            means=Means(None, store),
            options=hurried,
        )
        assert result.status == "unknown"
        return len(list((tmp_path / folder).iterdir())) - before

    assert kept(60.0, "seconds") == 0
    assert kept(None, "work") == 1


def test_cells_that_nothing_protects_are_named() -> None:
    problem = family("thin", 1, sizes=(12, 3, 3, 3))
    lpl = problem.lpl.copy()
    lpl[problem.primaries[0]] = 2 * problem.values[problem.primaries[0]] + 1
    unattainable = replace(problem, lpl=lpl)
    result = tp.suppress(unattainable, limits=Limits(work=30_000))
    assert result.status == "infeasible"
    assert {one.cell for one in result.unprotectable} == {int(problem.primaries[0])}


@pytest.mark.parametrize("seed", [0, 2])
def test_local_programmes_that_are_too_slow_for_the_rest_give_way_to_removal_in_bulk(seed: int) -> None:
    problem = family("margins", seed, d=7, k=4, categories=3, records=500, tables=3)
    slow = {
        "choice.own_start_cells": 100,
        "choice.probe_limit_share": 0.1,
        "choice.answered_questions": 5,
        "choice.open_share": 0.9,
        "schedule.bound_limit_share": 0.95,
    }
    options = DEFAULTS
    for name, value in slow.items():
        options = changed(options, name, value)
    result = tp.suppress(problem, limits=Limits(work=15_000), options=options)
    assert result.method.startswith("auto: greedy, then exact")
    assert result.cost < 0.12 * problem.weights[problem.may_hide & ~problem.must_hide].sum()
    assert audit(problem, result.pattern, intervals=False).safe
