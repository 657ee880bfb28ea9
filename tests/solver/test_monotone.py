"""Progress over the rounds that sums need."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.solver.limits import Budget, Progress
from tabprotect.solver.monotone import Monotone, one_progress
from tests.quick import first


def records(seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    n = 60
    return pd.DataFrame(
        {
            "region": rng.choice(["a", "b", "c", "d", "e"], n),
            "size": rng.choice(["s", "m", "l"], n),
            "firm": rng.permutation(n),
            "turnover": np.ceil(rng.lognormal(8, 1.5, n)),
        }
    )


@pytest.mark.parametrize("method", ["auto", "greedy", "joint"])
@pytest.mark.parametrize("seed", first(1, range(3)))
def test_time_cost_and_bound_go_one_way(seed: int, method: str) -> None:
    heard: list[Progress] = []
    release = tp.protect(
        records(seed), ["p%=15", "threshold=3"], by=["region", "size"], value="turnover", contributor="firm",
        method=tp.Suppress(method=method), limits=tp.Limits(work=2000), progress=heard.append,
    )  # fmt: skip
    assert release.safe
    assert any(p.stage == "safe pattern" for p in heard)
    for before, after in itertools.pairwise(heard):
        assert before.seconds <= after.seconds
        assert before.cost is None or (after.cost is not None and after.cost <= before.cost)
        assert before.bound is None or (after.bound is not None and after.bound >= before.bound)
    assert heard[-1].cost == pytest.approx(release.result.cost)


def test_costs_count_once_their_sums_were_looked_at() -> None:
    heard: list[Progress] = []
    progress = Monotone(Budget(), heard.append, looks=True)
    progress(Progress("greedy", cost=80.0, message="first"))
    progress.found(100.0, 50.0)
    progress(Progress("exact", cost=120.0, bound=40.0))
    assert [p.cost for p in heard] == [None, 100.0, 100.0]
    assert [p.bound for p in heard] == [None, 50.0, 50.0]
    assert heard[0].message == "first; a pattern of cost 80 is not yet looked at for sums"
    assert heard[2].message == ""


def test_the_listener_of_a_budget_is_given_back() -> None:
    heard: list[Progress] = []
    budget = Budget(progress=heard.append)
    listener = budget.progress
    with one_progress(budget, looks=False):
        budget.report("search", 30.0, 10.0)
        budget.report("search", 40.0, 5.0)
    assert budget.progress is listener
    assert [(p.cost, p.bound) for p in heard] == [(30.0, 10.0), (30.0, 10.0)]
