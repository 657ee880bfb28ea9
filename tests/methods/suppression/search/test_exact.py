"""The exact engine finds what enumeration and the compact model find, and nothing unsafe."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from tabprotect.attack.audit import audit
from tabprotect.attack.certificate import certify
from tabprotect.instances import load
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.options import Options, changed
from tabprotect.methods.suppression.search.branch_and_cut import Search
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.models import cell_suppression
from tabprotect.problem import Problem
from tabprotect.solver.limits import Limits
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem
from tests.checker import Judge
from tests.quick import first
from tests.random_problems import random_problem


def agree(problem, engine):
    """Hold the engine against the judge; returns whether the problem was small enough to enumerate."""
    judge, result = Judge(problem), suppress(problem, method="exact", engine=engine)
    everything = judge.exposed(problem.may_hide)
    assert result.status == ("infeasible" if everything else "optimal")
    assert judge.well_formed(result.pattern)
    if everything:
        unattainable = {(e.attacker, e.cell, e.side) for e in everything}
        assert {(e.attacker, e.cell, e.side) for e in judge.exposed(result.pattern)} <= unattainable
        assert {(u.attacker, u.cell) for u in result.unprotectable} >= {
            (a, c) for a, c, s in unattainable if a < 0 or (-1, c, s) not in unattainable
        }
        assert result.cost is None
        assert not result.safe
        return False
    assert result.safe
    assert judge.safe(result.pattern)
    assert result.cost == pytest.approx(problem.cost(result.pattern), rel=1e-12)
    assert result.bound == pytest.approx(result.cost, rel=1e-9)
    try:
        best = judge.optimum()
    except ValueError:
        return False
    assert result.cost == pytest.approx(best.cost, rel=1e-9, abs=1e-9)
    return True


@pytest.mark.parametrize("engine", ["scip", "highs"])
def test_engine_equals_enumeration(engine):
    assert sum(agree(random_problem(seed), engine) for seed in range(12)) >= 2


@pytest.mark.parametrize("seed", [15, 29, 56, 96, 128])
def test_what_nothing_answers_turns_up_after_the_first_pool(seed, monkeypatch):
    forgotten, forget = [], Search.forget

    def noting(search):
        forgotten.append(search.relaxation is not None)
        forget(search)

    monkeypatch.setattr(Search, "forget", noting)
    agree(random_problem(seed), "highs")
    assert any(forgotten)


def test_better_choices_are_told_when_they_are_found():
    lines = []
    result = suppress(load("sparse-small"), method="exact", progress=lines.append)
    told = [line.cost for line in lines if line.stage == "better"]
    assert len(told) > 1
    assert told == sorted(told, reverse=True)
    assert told[-1] == pytest.approx(result.cost)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1000, 1300, 100))
def test_engine_equals_enumeration_on_75_problems(start):
    assert sum(agree(random_problem(seed), "scip") for seed in range(start, start + 25)) >= 8


@pytest.mark.slow
@pytest.mark.parametrize("start", range(1050, 1350, 100))
def test_engine_equals_compact_model_on_75_problems(start):
    for seed in range(start, start + 25):
        problem = random_problem(seed)
        answer, result = cell_suppression.solve(problem), suppress(problem, method="exact")
        assert answer.status == result.status
        if answer.cost is not None:
            assert result.cost == pytest.approx(answer.cost, rel=1e-7, abs=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(2000, 2060, 30))
def test_pure_highs_engine_equals_enumeration(start):
    assert sum(agree(random_problem(seed), "highs") for seed in range(start, start + 30)) >= 8


def grid(seed, n=6):
    """A two-dimensional table with margins and a few primaries."""
    rng = np.random.default_rng(seed)
    inner = np.rint(rng.lognormal(3, 1, (n, n))) + 1
    values = np.block([[inner, inner.sum(1, keepdims=True)], [inner.sum(0), np.array([[inner.sum()]])]])
    index = np.arange((n + 1) ** 2).reshape(n + 1, n + 1)
    A = np.zeros((2 * (n + 1), (n + 1) ** 2))
    for k in range(n + 1):
        A[k, index[k, :n]], A[k, index[k, n]] = 1, -1
        A[n + 1 + k, index[:n, k]], A[n + 1 + k, index[n, k]] = 1, -1
    primary = rng.choice(n * n, 4, replace=False)
    chosen = index[:n, :n].ravel()[primary]
    level = np.maximum(1, 0.1 * values.ravel())
    return A, values.ravel(), chosen, level


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e9])
def test_scale_of_values_and_weights_changes_nothing(scale):
    A, values, primary, level = grid(1)
    plain = suppress(Problem.from_arrays(A, values, primary, lpl=level, upl=level, weights=values), method="exact")
    scaled = suppress(
        Problem.from_arrays(A, values * scale, primary, lpl=level * scale, upl=level * scale, weights=values * scale),
        method="exact",
    )
    assert plain.status == scaled.status == "optimal"
    assert scaled.cost == pytest.approx(plain.cost * scale, rel=1e-9)


def test_order_of_cells_changes_nothing():
    A, values, primary, level = grid(2)
    plain = suppress(Problem.from_arrays(A, values, primary, lpl=level, upl=level, weights=values), method="exact")
    order = np.random.default_rng(0).permutation(len(values))
    place = np.argsort(order)
    moved = suppress(
        Problem.from_arrays(
            A[:, order], values[order], place[primary], lpl=level[order], upl=level[order], weights=values[order]
        ),
        method="exact",
    )
    assert moved.status == "optimal"
    assert moved.cost == pytest.approx(plain.cost, rel=1e-12)


def test_same_seed_and_work_limit_give_the_same_answer():
    A, values, primary, level = grid(3, 9)
    problem = Problem.from_arrays(A, values, primary, lpl=level, upl=level, weights=values)
    one, two = (suppress(problem, method="exact", limits=Limits(work=3000), seed=5) for _ in range(2))
    assert one.pattern.tolist() == two.pattern.tolist()
    assert (one.cost, one.bound, one.work, one.status) == (two.cost, two.bound, two.work, two.status)


def test_a_limit_that_leaves_no_time_ends_in_status_unknown():
    A, values, primary, level = grid(4)
    # the grand total is published, so that the table in proportion tells nothing
    problem = Problem.from_arrays(A, values, primary, lpl=level, upl=level, protected=[len(values) - 1])
    result = exact(problem, limits=Limits(seconds=0.0))
    assert (result.status, result.safe, result.cost, result.stopped) == ("unknown", False, None, "time")


def test_a_limit_that_leaves_no_time_ends_with_everything_hidden_where_the_table_in_proportion_shows_that_it_is_safe():
    A, values, primary, level = grid(4)
    problem = Problem.from_arrays(A, values, primary, lpl=level, upl=level)
    result = exact(problem, limits=Limits(seconds=0.0))
    assert (result.status, result.safe, result.stopped) == ("feasible", True, "time")
    assert Judge(problem).safe(result.pattern)


def test_a_stopped_run_returns_its_best_safe_pattern():
    A, values, primary, level = grid(5, 12)
    problem = Problem.from_arrays(A, values, primary, lpl=level, upl=level, weights=values)
    seen = []
    result = suppress(
        problem, method="exact", limits=Limits(stop=lambda: any(p.cost is not None for p in seen)), progress=seen.append
    )
    assert result.status in ("feasible", "optimal")
    assert result.safe
    assert Judge(problem).safe(result.pattern)
    assert result.bound <= result.cost


def test_a_long_proof_is_left_out_after_a_stop_and_that_is_said():
    problem = load("hier2d-medium")
    seen = []
    stopped = Limits(stop=lambda: any(p.cost is not None for p in seen))
    # the time of a proof is measured: only its share of that of the reduction makes one short or long for certain
    short, long = (changed(Options(), "proof.reduction_multiple", multiple) for multiple in (0.0, 1e9))
    result = suppress(problem, method="exact", limits=stopped, progress=seen.append, options=short)
    assert result.cuts is not None
    seen.clear()
    result = suppress(problem, method="exact", limits=stopped, progress=seen.append, options=long)
    assert result.safe
    assert result.stopped == "cancelled"
    assert result.cuts is None
    assert "no time was left to prove the bound" in result.message


def test_levels_that_hidden_cells_reach_to_the_last_digit():
    # 0.1 + 0.2 + 0.3 is more than 0.3 + 0.2 + 0.1 in floating point: what is left of the level is noise
    inner = np.array([[0.3, 1, 2], [0.2, 2, 1], [0.1, 1, 3]])
    values = np.zeros((4, 4))
    values[1:, 1:], values[0, 1:], values[1:, 0], values[0, 0] = inner, inner.sum(0), inner.sum(1), inner.sum()
    values[0, 1] = 0.1 + 0.2 + 0.3
    assert values[0, 1] > 0.3 + 0.2 + 0.1
    lpl = np.zeros(16)
    lpl[1], lpl[[5, 9, 13]] = values[0, 1], 0.01
    system = LinearSystem.from_hierarchies([Hierarchy.flat(list("abc")), Hierarchy.flat(list("xyz"))])
    problem = Problem.from_arrays(system.A, values.ravel(), primary=[1, 5, 9, 13], lpl=lpl, upl=0, upper=100)
    result = suppress(problem, method="exact")
    assert (result.status, result.cost, result.safe) == ("optimal", 8.0, True)


@pytest.mark.parametrize("seed", first(2, [21, 22, 1, 16]))
@pytest.mark.parametrize("first", [40, 100])
def test_bounds_hold_wherever_limits_fall(tmp_path, seed, first):
    # questions that a limit left open once made rows that cut off safe choices in later slices of work
    options = changed(Options(), "schedule.round_work", first)
    problem = random_problem(seed)
    judge = Judge(problem)
    best = suppress(problem, method="exact").cost
    for work in (100, 400, 1200, 4000):
        result = suppress(
            problem, method="exact", limits=Limits(work=work), resume=tmp_path / str(work), options=options
        )
        assert result.bound is None or result.bound <= best * (1 + 1e-6)
        assert result.cost is None or (judge.safe(result.pattern) and result.cost >= best * (1 - 1e-6))


def test_cells_that_cancel_out_of_an_equation_may_still_move():
    """x + y + u - v = t beside u = v: u and v are tied, not fixed, and the proof may not call them fixed."""
    A = [[1, 1, -1, 1, -1], [0, 0, 0, 1, -1]]
    problem = Problem.from_arrays(A, [6, 7, 13, 5, 5], [0], lpl=1, upl=1)
    result = suppress(problem, method="exact")
    certificate = certify(problem, result.pattern, proof=result.cuts)
    assert (result.cost, certificate.bound) == (7.0, 7)
    assert certificate.verify().failures == ()


def test_pools_of_use_go_on_before_trials_around_the_best_choice():
    stages = []
    result = suppress(load("sparse-small"), method="exact", progress=lambda p: stages.append(p.stage))
    assert (result.status, result.cost) == ("optimal", 46590)
    assert stages.count("bound") > 1
    assert "incumbent" not in stages


@pytest.mark.parametrize("workers", [None, 1])
def test_a_start_that_reaches_a_level_only_by_an_error_has_no_bound_and_an_end(workers):
    """Whoever hides all cells is 5e-9 short of the level: safe to the judge of patterns, while a row says otherwise."""
    upper, lower = [40, 20, 20, 20, 10], [40, 0, 9.5, 9.5 + 5e-9, 10]
    p = Problem.from_arrays(
        [[-1, 1, 1, 1, 1]], [40, 10, 10, 10, 10], primary=[1], lpl=1, upl=1, lower=lower, upper=upper
    )
    start = np.array([False, True, True, True, False])
    with ThreadPoolExecutor(1) as pool:
        result = suppress(p, method="exact", start=start, executor=pool if workers else None)
    assert (result.status, result.cost, result.bound, result.stopped) == ("feasible", 20, 0, "")
    assert "no bound" in result.message
    assert not audit(p, result.pattern).safe
    assert suppress(p, method="exact").status == "unknown"
