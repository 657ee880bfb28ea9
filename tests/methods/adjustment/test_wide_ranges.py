"""Tables in cents, whose cells can move by thousands of millions of steps."""

from __future__ import annotations

import random

import pandas as pd
import pytest

import tabprotect as tp
from tabprotect.methods.base.method import Changed

REGIONS = {"NW": ["K", "D", "M"], "BY": ["A", "N", "W"], "TH": ["G", "J"]}
PAIRS = [("Total", top) for top in REGIONS] + [(top, code) for top, codes in REGIONS.items() for code in codes]


@pytest.fixture(scope="module")
def heard() -> list[tp.Progress]:
    return []


@pytest.fixture(scope="module")
def release(heard: list[tp.Progress]) -> tp.Release:
    draw = random.Random(4)
    rows = []
    for k in range(240):
        region = draw.choice(REGIONS[draw.choice(list(REGIONS))])
        activity = draw.choices(["B", "M", "G", "H"], [5, 1, 5, 2])[0]
        turnover = round(draw.lognormvariate(10, 1.7), 2)
        draw.choice("abc")
        rows.append((k, draw.randrange(170), activity, region, turnover))
    frame = pd.DataFrame(rows, columns=["unit", "holding", "activity", "region", "turnover"])
    by = {"activity": ["B", "M", "G", "H"], "region": tp.Hierarchy.from_pairs(PAIRS)}
    table = tp.tabulate(frame, by=by, value="turnover", contributor="unit", holding="holding")
    return tp.protect(table, ["p%=15", "threshold=3"], method="adjust", limits=10, seed=1, progress=heard.append)


def test_a_limit_of_time_is_kept(release: tp.Release) -> None:
    result = release.result
    assert isinstance(result, Changed)
    assert result.cost is not None
    assert result.bound is not None
    assert result.seconds < 20
    assert result.cost - result.bound <= 1e-3 * result.cost


def test_values_have_the_decimals_of_the_data_to_the_last_digit(release: tp.Release) -> None:
    assert isinstance(release.result, Changed)
    assert release.result.values is not None
    published = [float(value) for value in release.result.values]
    assert [v for v in published if round(v, 2) != v] == []
    assert "no exact decimals" not in str(release.summary())


def test_cost_and_bound_go_one_way(release: tp.Release, heard: list[tp.Progress]) -> None:
    reported = [one for one in heard if one.stage.startswith("adjust")]
    bounds = [one.bound for one in reported if one.bound is not None]
    costs = [one.cost for one in reported if one.cost is not None]
    assert len(bounds) > 2
    assert bounds == sorted(bounds)
    assert costs == sorted(costs, reverse=True)
