"""`suppress` with attackers holds a first safe pattern before it searches."""

from __future__ import annotations

import os
import signal

import pytest

import tabprotect as tp
from tabprotect.attack.audit import audit
from tabprotect.instances import family, load
from tabprotect.methods.suppression.large import charge_power
from tabprotect.methods.suppression.options import Options, changed
from tabprotect.solver.limits import Budget, Limits


@pytest.mark.parametrize("method", ["auto", "exact", "local"])
def test_it_is_there_within_a_tenth_and_is_what_is_left_without_a_cheaper_one(method):
    problem, heard = load("singletons-medium"), []
    result = tp.suppress(problem, method=method, limits=tp.Limits(work=300), progress=heard.append)
    first = next(one for one in heard if one.cost is not None)
    assert (first.stage, first.work <= 30) == ("first pattern", True)
    assert result.cost <= first.cost
    assert audit(problem, result.pattern, intervals=False).safe


def test_ctrl_c_in_it_returns_it():
    problem, costs = load("singletons-medium"), []

    def stop(progress):
        if progress.stage == "first pattern":
            costs.append(progress.cost)
            if len(costs) == 1:
                os.kill(os.getpid(), signal.SIGINT)

    result = tp.suppress(problem, limits=60, progress=stop)
    assert (result.status, result.stopped, result.cost) == ("feasible", "cancelled", min(costs))
    assert audit(problem, result.pattern, intervals=False).safe


@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "local"])
def test_no_time_at_all_leaves_everything_hidden_where_that_is_safe(method):
    problem, heard = family("hier2d", seed=1), []
    result = tp.suppress(problem, method=method, limits=0, progress=heard.append)
    assert (result.status, result.stopped) == ("feasible", "time")
    assert result.pattern[problem.may_hide].all()
    assert audit(problem, result.pattern, intervals=False).safe
    assert (heard[0].stage, heard[0].cost) == ("first pattern", result.cost)


def test_tables_too_large_for_circuits_have_one():
    problem, heard = family("hier2d", seed=1), []
    options = changed(Options(), "circuits.most_cells", 100)
    result = tp.suppress(problem, limits=tp.Limits(work=20), progress=heard.append, options=options)
    assert (result.status, heard[0].stage, heard[0].work) == ("feasible", "first pattern", 1)
    assert audit(problem, result.pattern, intervals=False).safe


def test_costs_never_rise_while_a_search_has_no_pattern_of_its_own():
    heard = []
    result = tp.suppress(family("hier2d", seed=1), limits=tp.Limits(work=3000), progress=heard.append)
    costs = [one.cost for one in heard]
    assert heard[0].stage == "first pattern"
    assert costs == sorted(costs, reverse=True)
    assert costs[-1] == result.cost < costs[0]


def test_without_limits_attackers_are_not_asked_for_one():
    heard = []
    tp.suppress(load("singletons-small"), limits=tp.Limits(), progress=heard.append)
    assert "first pattern" not in {one.stage for one in heard}


@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "local"])
def test_ctrl_c_without_limits_leaves_everything_hidden(method):
    problem, heard = family("hier2d", seed=1), []

    def stop(progress):
        if not heard:
            os.kill(os.getpid(), signal.SIGINT)
        heard.append(progress)

    result = tp.suppress(problem, method=method, progress=stop)
    assert (result.status, result.stopped) == ("feasible", "cancelled")
    assert audit(problem, result.pattern, intervals=False).safe


@pytest.mark.slow
def test_what_local_programmes_leave_open_is_answered_by_cheapest_witnesses():
    problem = family("thin", 2, sizes=(12, 3, 3, 3))
    result = tp.suppress(problem, limits=tp.Limits(work=30_000))
    assert result.method.startswith("auto: local, then greedy, then exact")
    assert result.bound > 0
    assert result.cost < 0.3 * problem.weights[~problem.must_hide].sum()
    assert audit(problem, result.pattern, intervals=False).safe


@pytest.mark.parametrize(("kind", "sizes", "power"), [("thin", {"sizes": (8, 8, 8)}, 0.0), ("deep", {}, 1.0)])
def test_what_cells_are_charged_is_chosen_by_trial(kind, sizes, power):
    problem = family(kind, 0, **sizes)
    found, share = charge_power(problem, Budget())
    assert found == power
    assert share < Options().local.rebuild.trial_gain if found == 0.0 else share == 1.0
    assert charge_power(problem, Budget(Limits(work=1))) == (Options().local.rebuild.charge_powers[0], 1.0)


@pytest.mark.slow
def test_where_cells_are_best_charged_what_they_cost_cheapest_witnesses_begin():
    problem = family("thin", 1, sizes=(14, 14, 14), filled=0.5)
    local = changed(Options(), "local.rebuild.charge_powers", (1.0,))
    ours, others = (tp.suppress(problem, limits=tp.Limits(work=200_000), options=one) for one in (Options(), local))
    assert ours.method.startswith("auto: greedy, then exact")
    assert others.method.startswith("auto: local, then recombination, then exact")
    assert audit(problem, ours.pattern, intervals=False).safe
    assert ours.cost < 0.95 * others.cost


@pytest.mark.slow
@pytest.mark.parametrize("powers", [(1.0,), (0.0,), (1.0, 0.0)])
def test_local_programmes_protect_whatever_cells_are_charged(powers):
    options = changed(Options(), "local.rebuild.charge_powers", powers)
    for seed in (0, 1):
        problem = family("holdings", seed, activity=(4,), region=(3, 2))
        results = [tp.suppress(problem, method="local", limits=tp.Limits(work=3_000), options=options) for _ in "ab"]
        assert results[0].pattern.tolist() == results[1].pattern.tolist()
        assert audit(problem, results[0].pattern, intervals=False).safe
