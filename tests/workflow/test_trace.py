"""Cost and bound as a search went: kept with the release, drawn in the internal report, and never published."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.report.charts import Course, Steps
from tabprotect.report.facts import course
from tabprotect.report.numbers import Numbers
from tabprotect.solver.limits import Progress
from tabprotect.solver.trace import Known, Trace

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


def test_small_rises_of_a_bound_are_no_change() -> None:
    trace = Trace()
    for i, bound in enumerate(np.linspace(1_000, 1_010, 10_001).tolist()):
        trace(Progress("tree", 2_000.0, bound, work=i))
    known = trace.until(2_000.0, 1_010.0, 20_000)
    assert len(known) <= 12
    assert known[-1] == Known(20_000, 2_000.0, 1_010.0)
    noted = np.array([[one.work, one.bound] for one in known])
    assert np.all(np.abs(np.interp(noted[:-1, 0], np.arange(10_001), np.linspace(1_000, 1_010, 10_001))
                         - noted[:-1, 1]) < 1e-9)  # fmt: skip


def test_a_chart_is_drawn_where_there_is_something_to_draw() -> None:
    nothing: list[tuple[Known, ...]] = [
        (),
        (Known(0, 5.0, 5.0),),
        (Known(0, 9.0, None), Known(0, 5.0, 5.0)),
        (Known(1, None, 3.0), Known(9, None, 4.0)),
    ]
    assert [course(trace, "cost") for trace in nothing] == [[]] * 4
    (chart,) = course((Known(0, 900.0, None), Known(3, 10.0, 2.0), Known(9, 10.0, 10.0)), "cost")
    assert [list(line.points) for line in chart.lines] == [[(0, 20.0), (3, 10.0), (9, 10.0)], [(3, 2.0), (9, 10.0)]]
    assert "Higher costs end at the edge" in chart.note
    (free,) = course((Known(0, 4.0, None), Known(5, 0.0, 0.0)), "cost")
    assert free.lines[0].points[0] == (0, 4.0)


def test_steps_are_drawn_to_scale() -> None:
    chart = Course("t", "work units", [Steps("a", "cost", [(0, 4_000.0), (10, 2_000.0)]), Steps("b", "bound", [])], 20)
    drawn = chart.drawn(Numbers(",", "."))
    first, empty = drawn["lines"]
    assert first["points"] == "80.0,10.0 255.0,10.0 255.0,85.0 430.0,85.0"
    assert first["dot"] == (430.0, 85.0)
    assert (empty["points"], empty["dot"]) == ("", None)
    assert drawn["levels"] == [(160.0, "0"), (85.0, "2.000"), (10.0, "4.000")]
    assert drawn["places"] == [(80.0, "0", "start"), (430.0, "20", "end")]
