"""A limit that ends a search leaves nothing undecided: patterns and their sums are judged for as long as that takes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.attack.asked_sums import known_too_closely
from tabprotect.problem import Attacker
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tasks.pieces import Means
from tabprotect.workflow.rounds import Rounds
from tests.quick import first


def firms(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(8, 30))
    return pd.DataFrame(
        {
            "region": rng.choice(list("abcd"), n),
            "size": rng.choice(list("xyz"), n),
            "turnover": np.round(rng.lognormal(3, 1.5, n)),
            "firm": rng.choice([f"f{k}" for k in range(max(3, n // 2))], n),
        }
    )


def released(frame: pd.DataFrame, rule: str = "p%=30", method: str = "exact", **more: Any) -> tp.Release:
    return tp.protect(
        frame, [rule], tp.Suppress(method=method), by=["region", "size"], value="turnover", contributor="firm", seed=1,
        intervals=False, **more,
    )  # fmt: skip


@pytest.mark.parametrize("seed", [50, 120])
def test_sums_that_the_primaries_alone_give_away_are_protected_without_time(seed: int) -> None:
    """All levels of cells are reached without secondaries, but a respondent knows a sum too closely."""
    release = released(firms(seed), limits=Limits(seconds=0))
    assert (release.safe, bool(release.unions), release.result.status) == (True, False, "feasible")
    assert release.result.stopped == "time"
    whole = released(firms(seed))
    assert whole.safe
    assert whole.result.cost is not None
    assert release.result.cost is not None
    assert 0 < whole.result.cost <= release.result.cost


@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "local"])
@pytest.mark.parametrize(("seed", "work"), first(2, [(4, 100), (8, 100), (10, 300), (25, 100), (39, 100)]))
def test_a_gap_that_a_limit_left_open_is_told_as_such(seed: int, work: int, method: str) -> None:
    release = released(firms(seed), method=method, limits=Limits(work=work))
    assert release.safe
    assert release.result.status == "optimal" or release.result.stopped == "work"
    if method == "exact":
        whole = released(firms(seed), method=method)
        assert (whole.result.status, whole.result.stopped) == ("optimal", "")


@pytest.mark.slow
def test_searches_go_on_while_patterns_give_sums_away() -> None:
    """Three exact searches, each with the sums of the one before, end with a gap of 15 % here."""
    rng = np.random.default_rng(33)
    n = int(rng.integers(40, 90))
    frame = pd.DataFrame(
        {
            "region": rng.choice(list("abcdef"), n),
            "size": rng.choice(list("vwxyz"), n),
            "turnover": np.round(rng.lognormal(3, 1.5, n)),
            "firm": rng.choice([f"f{k}" for k in range(n // 3)], n),
        }
    )
    release = released(frame)
    assert (release.result.status, release.result.cost) == ("optimal", 1246.0)
    assert release.result.message == ""


@pytest.mark.slow
@pytest.mark.parametrize("seconds", [3, 5, 8])
def test_a_limit_of_time_that_leaves_a_gap_is_told_as_such(seconds: int) -> None:
    sizes = tp.Dimension("nuts", tp.Hierarchy.read(tp.instances.data("nuts.hrc")))
    release = tp.protect(
        tp.instances.register(), ["p%=15", "threshold=3"], by=["division", sizes, "size"], value="turnover",
        contributor="enterprise_id", holding="group_id", limits=seconds, intervals=False,
    )  # fmt: skip
    assert release.safe
    assert release.result.status == "optimal" or release.result.stopped == "time"


def test_a_pattern_that_only_the_audit_had_time_for_is_an_answer() -> None:
    release, whole = (
        released(firms(3), "p%=400", "hypercube", limits=limits) for limits in (Limits(stop=lambda: True), None)
    )
    assert release.safe
    assert "the audit finds it safe" in release.result.message
    assert (release.result.status, release.result.cost, release.result.bound) == ("optimal", 0.0, 0.0)
    assert whole.result.cost == 0.0
    assert release.verify().safe


def test_sums_that_a_budget_leaves_undecided_count_as_known() -> None:
    problem = tp.Problem.from_arrays(
        [[-1, 1, 1, 1]], [130, 90, 10, 30], primary=[1], lpl=[0, 9, 0, 0], upl=9, attackers=[Attacker("a", (1,))]
    )
    wide = UnionExposure((1, 2), 100.0, ("p%=15",), 15.0, 15.0, 0.0, True, "")
    everything = np.ones(4, bool)
    assert known_too_closely(problem, everything, [wide]) == ()
    (undecided,) = known_too_closely(problem, everything, [wide], Budget(Limits(seconds=0)))
    assert undecided.cells == (1, 2)


def test_nothing_is_begun_after_a_limit_with_a_safe_pattern_in_hand() -> None:
    """Each look would leave its sums undecided, and each of these would be protected by one more search."""
    problem = tp.Problem.from_arrays([[-1, 1, 1, 1]], [130, 90, 10, 30], primary=[1], lpl=9, upl=9)
    budgets: list[Budget | None] = []

    def exposed(result: tp.SuppressionResult, budget: Budget | None) -> tuple[UnionExposure, ...]:
        budgets.append(budget)
        return (UnionExposure((1, 2), 100.0, ("p%=15",), 15.0, 15.0, 0.0, True, ""),)

    budget = Budget(Limits(seconds=1e-3))
    while budget.seconds < 2e-3:
        pass
    rounds = Rounds(exposed, budget, 0, {}, Means(), True, {}, limit=1e-3, has_incumbent=True)
    found = rounds.close(problem, tp.suppress(problem), 1.0, restarts=0)
    assert found.result.safe
    assert found.sums
    (only,) = budgets
    assert only is not None
    assert only.exhausted
