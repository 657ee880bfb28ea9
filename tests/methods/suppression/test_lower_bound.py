"""Every pattern has a bound: below the optimum, proven in exact arithmetic, in every place that states a cost."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.attack.certificate import certify
from tabprotect.errors import InputError, SolverError
from tabprotect.instances import load
from tabprotect.methods.suppression import lower_bound
from tabprotect.methods.suppression.lower_bound import TRIVIAL, own_pattern, with_lower_bound
from tabprotect.methods.suppression.suppress import methods, suppress
from tabprotect.problem import Problem
from tabprotect.release.read import read_release
from tabprotect.solver.limits import Budget, Limits
from tests.checker import Judge
from tests.quick import examples
from tests.random_problems import random_problem

EUSTAT = "eustat-investment"


def firms():
    rng = np.random.default_rng(3)
    import pandas as pd

    n = 30
    return pd.DataFrame(
        {
            "region": rng.choice(list("abcd"), n),
            "size": rng.choice(["s", "m", "l"], n),
            "turnover": np.round(rng.lognormal(3, 1.2, n)),
            "firm": np.arange(n),
        }
    )


@pytest.mark.parametrize("method", [m for m in methods() if m != "network"])
def test_every_method_has_a_bound_below_the_optimum_with_a_proof(method):
    best = suppress(load(EUSTAT), method="exact")
    result = suppress(load(EUSTAT), method=method)
    assert 0 < result.bound <= best.cost <= result.cost
    assert result.gap == pytest.approx((result.cost - result.bound) / result.cost)
    # the certificate rebuilds the bound in rational numbers, from the rows alone
    proof = certify(result.problem, result.pattern, bound=result.bound, proof=result.cuts)
    assert 0 < proof.bound <= best.cost


def test_the_bound_is_below_the_optimum_of_random_problems():
    looked = 0
    for seed in range(30, examples(38, 42)):
        problem = random_problem(seed)
        try:
            optimum = Judge(problem).optimum(12).cost
        except ValueError:
            continue
        if optimum is None:
            continue
        result = suppress(problem, method="joint")
        if result.cost is None:
            continue
        assert result.bound <= optimum * (1 + 1e-9)
        looked += 1
    assert looked >= 3


def test_a_pattern_of_ones_own_is_kept_and_bounded():
    problem = load(EUSTAT)
    best = suppress(problem, method="exact")
    mine = own_pattern(problem, problem.may_hide)
    assert mine.safe
    assert np.array_equal(mine.pattern, problem.may_hide)
    assert 0 < mine.bound <= best.cost < mine.cost
    assert own_pattern(problem, best.pattern).bound <= best.cost


def test_a_pattern_that_is_not_safe_has_no_bound():
    problem = load(EUSTAT)
    found = own_pattern(problem, problem.must_hide)
    assert (found.safe, found.status, found.cost, found.bound) == (False, "unknown", None, None)
    assert "not reached" in found.message


def test_bad_patterns_are_named():
    problem = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], protected=[0], lpl=2, upl=2)
    with pytest.raises(InputError, match="booleans"):
        own_pattern(problem, [1, 1, 0, 0])
    with pytest.raises(InputError, match="shows cells that must be hidden"):
        own_pattern(problem, np.array([False, False, True, True]))
    with pytest.raises(InputError, match="hides cells that must be published"):
        own_pattern(problem, np.array([True, True, True, False]))


def test_without_time_the_bound_is_trivial_and_that_is_said():
    problem = load(EUSTAT)
    found = suppress(problem, method="joint", limits=None)
    spent = Budget(Limits(work=1))
    spent.spend(1)
    bare = lower_bound.replace(found, bound=None, cuts=None, message="", status="feasible")
    trivial = with_lower_bound(bare, spent)
    assert trivial.bound == 0.0
    assert TRIVIAL in trivial.message
    assert trivial.gap == 1.0
    assert certify(problem, trivial.pattern, bound=0.0, proof=trivial.cuts).bound == 0


@pytest.mark.slow
def test_a_short_limit_leaves_time_to_search_where_respondents_attack():
    """Answering attackers again at the end had five seconds set aside, whatever the limit."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.choice(list("abcdef"), 30), "region": rng.choice(list("nsw"), 30)})
    frame = frame.assign(firm=np.arange(30), turnover=np.ceil(rng.lognormal(4, 1.5, 30)))
    roles = {"by": ["age", "region"], "value": "turnover", "contributor": "firm", "intervals": False}
    release = tp.protect(frame, ["p%=20", "threshold=3"], "local", limits=4.0, **roles)
    assert release.problem.attackers
    assert release.result.bound > 0
    assert release.result.cost == tp.protect(frame, ["p%=20", "threshold=3"], "local", **roles).result.cost


def test_nothing_hidden_besides_is_optimal():
    problem = Problem.from_arrays([[-1, 1, 1]], [20, 9, 11], primary=[1, 2], lpl=2, upl=2)
    result = suppress(problem, method="joint")
    assert (result.cost, result.bound, result.status) == (0.0, 0.0, "optimal")


def test_a_share_of_the_limits_is_left_for_the_bound():
    """The search itself may not use all of the work, so the bound is not trivial."""
    problem = random_problem(11, kinds=["3d"])
    whole = suppress(problem, method="greedy")
    limited = suppress(problem, method="greedy", limits=Limits(work=whole.work // 2))
    if limited.cost:
        assert limited.bound > 0
    assert limited.work <= whole.work


def test_a_bound_above_a_safe_cost_is_no_answer(monkeypatch):
    class Wrong(lower_bound.LocalBound):
        def step(self, budget):
            self.finished, self.bound = True, 1e12

    monkeypatch.setattr(lower_bound, "LocalBound", Wrong)
    with pytest.raises(SolverError, match="less than the bound"):
        suppress(load(EUSTAT), method="joint")


@pytest.mark.parametrize("method", ["greedy", "joint", "hypercube", "modular"])
def test_a_release_says_bound_and_gap_inside_only(method, tmp_path):
    release = tp.protect(
        firms(),
        "p%=15",
        tp.Suppress(method=method),
        by=["region", "size"],
        value="turnover",
        contributor="firm",
        seed=1,
    )
    result = release.result
    assert result.cost > 0
    assert 0 < result.bound <= result.cost
    lines = dict(release.summary().lines)
    assert "bound" in lines
    assert release.verify().ok
    release.write(tmp_path / "out")
    inside = json.loads((tmp_path / "out" / "internal" / "release.json").read_text())
    assert inside["bound"] == result.bound
    assert inside["gap"] == pytest.approx(result.gap)
    manifest = tmp_path / "out" / "internal" / "release.json"
    manifest.write_text(json.dumps({**inside, "gap": 0.75}))
    failures = read_release(tmp_path / "out").failures
    assert any("claims the gap 0.75" in line for line in failures)
    public = [path for path in (tmp_path / "out").rglob("*") if path.is_file() and "internal" not in path.parts]
    assert public
    for path in public:
        assert b"lower bound" not in path.read_bytes().lower()
