"""`suppress` with attackers holds a first safe pattern before it searches."""

from __future__ import annotations

import os
import signal

import pytest

import tabprotect as tp
from tabprotect.attack.audit import audit
from tabprotect.instances import load


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


def test_without_attackers_or_limits_there_is_none():
    heard = []
    tp.suppress(load("singletons-small"), limits=tp.Limits(), progress=heard.append)
    problem = tp.Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    tp.suppress(problem, limits=tp.Limits(work=1000), progress=heard.append)
    assert "first pattern" not in {one.stage for one in heard}
