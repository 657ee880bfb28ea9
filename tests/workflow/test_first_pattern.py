"""A release holds a first safe pattern, whichever method searches on."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest

import tabprotect as tp
from benchmarks.first_pattern import case, lost
from tabprotect.instances import data


@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "local"])
def test_a_limit_of_hardly_any_work_still_leaves_a_safe_pattern(method: str) -> None:
    frame = pd.DataFrame({"a": list("xxyyzz") * 3, "b": list("pqrpqr") * 3, "v": [10 + 7 * i % 23 for i in range(18)]})
    release = tp.protect(frame, "p%=30", tp.Suppress(method=method), by=["a", "b"], value="v", limits=tp.Limits(work=3))
    assert release.safe
    assert tp.audit(release.problem, release.result.pattern).safe


@pytest.mark.parametrize("seed", [pytest.param(3, marks=pytest.mark.slow), pytest.param(4, marks=pytest.mark.slow), 5])
def test_a_limit_that_ends_before_anything_is_found_leaves_the_first_safe_pattern(seed: int) -> None:
    asked = case(seed, most=60)
    release = tp.protect(asked.data, list(asked.rules), limits=0.001, intervals=False, **asked.options)
    assert release.result.status == "feasible"
    assert release.result.stopped == "time"
    assert release.safe
    assert tp.audit(release.problem, release.result.pattern).safe


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "exact", "greedy", "joint", "local"])
def test_the_register_with_261_attackers_has_a_pattern_within_a_tenth(method: str) -> None:
    roles: dict[str, Any] = {
        "by": ["division", "nuts", "size"],
        "hierarchies": {name: tp.Hierarchy.read(data(f"{name}.hrc")) for name in ("division", "nuts")},
        "value": "turnover", "contributor": "enterprise_id", "holding": "group_id",
    }  # fmt: skip
    frame = pd.read_csv(data("register.csv"), dtype={"division": str})
    heard: list[tp.Progress] = []
    limits = tp.Limits(work=20_000)
    release = tp.protect(
        frame,
        ["p%=15", "threshold=3"],
        tp.Suppress(method=method),
        **roles,
        limits=limits,
        intervals=False,
        progress=heard.append,
    )
    assert len(release.problem.attackers) == 261
    assert release.safe
    first = next(message for message in heard if message.cost is not None)
    assert first.work <= 2_000
    assert first.cost >= release.result.cost


@pytest.mark.slow
@pytest.mark.parametrize("method", ["auto", "exact", "local"])
def test_many_that_are_alone_in_cells_have_a_pattern_within_a_tenth(method: str) -> None:
    heard: list[tp.Progress] = []
    limits = tp.Limits(work=20_000)
    result = tp.suppress(tp.instances.load("singletons-large"), method=method, limits=limits, progress=heard.append)
    assert result.safe
    assert next(message for message in heard if message.cost is not None).work <= 2_000


@pytest.mark.slow
def test_the_register_has_a_pattern_within_twenty_seconds() -> None:
    by = ["division", "nuts", "size"]
    ladders = {name: tp.Hierarchy.read(data(f"{name}.hrc")) for name in by[:2]}
    release = tp.protect(
        data("register.csv"), ["p%=15", "threshold=3"], by=by, hierarchies=ladders, value="turnover",
        contributor="enterprise_id", holding="group_id", limits=20.0, intervals=False,
    )  # fmt: skip
    assert release.safe


@pytest.mark.slow
def test_nothing_is_unknown_where_greedy_or_joint_find_a_pattern() -> None:
    for seed in range(8):
        _, peer = lost(case(seed, most=200), None, 3000)
        assert peer == "", seed
