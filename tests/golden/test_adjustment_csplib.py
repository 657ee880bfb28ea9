"""Published optima of controlled tabular adjustment (L1, weight 1/a, all sensitive cells up), and no worse freely."""

from __future__ import annotations

import pytest

from tabprotect.formats.jj import JJ
from tabprotect.methods.adjustment import adjust
from tabprotect.solver.limits import Limits

UP = {
    "targus": "4.6611",
    "table8": "0.3413",
    "hie1372d": "4.6591",
    "hie1327d": "8.5189",
    "osorio": "3.0052",
    "cbs": "1167.06",
    "hier13": "16.2828",
    "dale": "2786.03",
    "ninenew": "101.910",
    "two5in6": "83.140",
}
SMALL = ["targus", "table8", "hie1372d", "hie1327d", "cbs"]


def read(shared, name):
    return JJ.read(shared(f"instances/csplib/{name}.jj")).adjustable()


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in SMALL else [pytest.mark.slow]) for name in UP])
def test_all_up(shared, name):
    result = adjust(read(shared, name), senses="up")
    assert result.status == "optimal"
    decimals = len(UP[name].partition(".")[2])
    assert abs(result.cost - float(UP[name])) <= 0.51 * 10**-decimals
    assert result.verdict.ok
    assert set(result.senses.tolist()) == {1}


@pytest.mark.parametrize(("name", "optimum"), [("targus", 4.39382869), ("table8", 0.34103769)])
def test_free_senses_proven(shared, name, optimum):
    result = adjust(read(shared, name))
    assert result.status == "optimal"
    assert result.cost == pytest.approx(optimum, rel=1e-6)
    assert result.cost < float(UP[name])
    assert result.verdict.exact


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in UP if n not in ("targus", "table8")])
def test_free_senses_are_no_worse(shared, name):
    result = adjust(read(shared, name), limits=Limits(seconds=8))
    assert result.verdict.ok
    assert result.cost <= float(UP[name]) * (1 + 2e-5)
    assert 0 <= result.gap < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("norm", ["l2", "linf"])
@pytest.mark.parametrize("name", ["hie1372d", "osorio", "hier13"])
def test_other_norms(shared, name, norm):
    problem = read(shared, name)
    up = adjust(problem, norm=norm, senses="up")
    free = adjust(problem, norm=norm, limits=Limits(seconds=5))
    assert up.status == "optimal"
    assert free.bound <= free.cost <= up.cost * (1 + 1e-6)
    assert free.verdict.ok
