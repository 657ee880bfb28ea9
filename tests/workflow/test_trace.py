"""Cost and bound as a search went: kept with the release, drawn in the internal report, and never published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import tabprotect as tp
from tabprotect.solver.limits import Progress

TITLE = "Cost and bound as the search went"


def release_of(method: Any = None, **options: Any) -> Any:
    register = tp.instances.register()
    some = register[register["division"].isin(["36", "37", "38", "39"])]
    return tp.protect(
        some, ["p%=15", "threshold=3"], method, by=["division", "nuts2"], value="turnover",
        contributor="enterprise_id", holding="group_id", seed=1, **{"limits": tp.Limits(work=5_000), **options},
    )  # fmt: skip


@pytest.fixture(scope="module")
def release() -> Any:
    return release_of()


@pytest.mark.parametrize("method", ["auto", "greedy", "local", "highs"])
def test_costs_fall_and_bounds_rise_until_the_result(release: Any, method: str) -> None:
    if method != "auto":
        how = {"engine": "highs"} if method == "highs" else {"method": method}
        release = release_of(tp.Suppress(**how))
    trace = release.trace
    work = [known.work for known in trace]
    costs = [known.cost for known in trace if known.cost is not None]
    bounds = [known.bound for known in trace if known.bound is not None]
    assert work == sorted(work)
    assert costs == sorted(costs, reverse=True)
    assert bounds == sorted(bounds)
    assert (trace[-1].cost, trace[-1].bound) == (release.result.cost, release.result.bound)
    # only changes are kept, and the end
    assert len({(known.cost, known.bound) for known in trace}) >= len(trace) - 1 > 1
    # outside of the shortest way the first pattern hides all that may be hidden
    assert method == "auto" or costs[0] > costs[-1]
    # no bound exceeds the cost of a safe pattern
    assert all(bound <= costs[-1] * (1 + 1e-9) for bound in bounds)


def test_two_runs_have_the_same_trace_whoever_listens(release: Any) -> None:
    heard: list[Progress] = []
    other = release_of(progress=heard.append)
    assert other.trace == release.trace
    assert release.trace[-1].work <= 5_000
    best = min(line.cost for line in heard if line.cost is not None)
    assert best == release.result.cost


def test_the_report_draws_it_and_nothing_is_published(release: Any, tmp_path: Path) -> None:
    for name in ("one", "two"):
        made = release if name == "one" else release_of()
        made.write(tmp_path / name)
    one, two = (
        {str(path.relative_to(tmp_path / name)): path.read_bytes() for path in (tmp_path / name).rglob("*.*")}
        for name in ("one", "two")
    )
    assert one == two
    report = one["internal/report.html"].decode()
    figure = re.findall(rf"<figcaption>{TITLE}</figcaption>.*?</figure>", report, re.DOTALL)[0]
    lines = re.findall(r'<polyline class="(\w+)" points="([^"]+)"', figure)
    assert [name for name, _ in lines] == ["cost", "bound"]
    ends = [points.split()[-1] for _, points in lines]
    # proven optimal: both lines end at the same place
    assert release.result.gap == 0
    assert ends[0] == ends[1]
    public = b"".join(data for name, data in one.items() if name.startswith("publish/")).decode()
    assert "polyline class" not in public.partition("<script")[0]
    assert TITLE not in public
    for cost in {known.cost for known in release.trace if known.cost}:
        assert f"{cost:,.0f}" not in public
        assert f"{cost:.0f}" not in public


def test_values_that_are_changed_have_one_too() -> None:
    found = release_of("adjust")
    bounds = [known.bound for known in found.trace if known.bound is not None]
    assert bounds == sorted(bounds)
    assert (found.trace[-1].cost, found.trace[-1].bound) == (found.result.cost, found.result.bound)
