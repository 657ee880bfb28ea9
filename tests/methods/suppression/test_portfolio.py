"""What `auto` makes of a first pattern that no method has ready in time."""

from __future__ import annotations

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.attack.audit import audit
from tabprotect.instances import family
from tabprotect.methods.suppression.options import DEFAULTS, changed
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.solver.limits import Limits


def test_what_local_programmes_and_cheapest_witnesses_leave_open_is_answered_roughly() -> None:
    problem, limits = family("thin", 1, sizes=(12, 3, 3, 3)), Limits(work=15_000)
    result = tp.suppress(problem, limits=limits)
    assert result.method.startswith("auto: local, then greedy, then local, then exact")
    assert audit(problem, result.pattern, intervals=False).safe
    assert 0 < result.bound < result.cost < 0.3 * problem.cost(problem.may_hide)
    again = tp.suppress(problem, limits=limits)
    assert np.array_equal(again.pattern, result.pattern)


@pytest.mark.slow
def test_cheapest_witnesses_that_are_not_ready_leave_time_for_rough_answers() -> None:
    problem, limits = family("thin", 0, sizes=(16, 4, 4, 4), filled=0.7), Limits(work=100_000)
    result = tp.suppress(problem, limits=limits)
    assert result.method.startswith("auto: greedy, then local, then exact")
    assert audit(problem, result.pattern, intervals=False).safe
    # without them nothing is there in time, and everything stays hidden
    assert result.cost < 0.4 * tp.suppress(problem, method="greedy", limits=limits).cost


def test_what_cheapest_witnesses_reached_is_left_with_the_deviations_known_of_it() -> None:
    problem = family("thin", 0, sizes=(8, 8, 8))
    whole = greedy(problem, restarts=0, cleanup=0.0)
    part = greedy(problem, limits=Limits(work=whole.work // 2), restarts=0, cleanup=0.0, in_bulk=False)
    assert (part.status, part.cost, part.safe) == ("unknown", None, False)
    assert len(problem.primaries) < part.pattern.sum() < whole.pattern.sum()
    assert part.deviations
    for one in part.deviations:
        assert part.pattern[one.cells].all()
        assert np.abs(problem.system.A[:, one.cells] @ one.z).max() < 1e-6 * np.abs(one.z).max()


@pytest.mark.parametrize(("share", "there"), [(0.0, False), (0.6, True)])
def test_what_a_share_of_the_limits_leaves_open_is_answered_roughly(share: float, there: bool) -> None:
    problem, limits = family("thin", 1, sizes=(12, 3, 3, 3)), Limits(work=15_000)
    options = changed(DEFAULTS, "local.rebuild.careful_limit_share", 1 - share if there else 1.0)
    result = tp.suppress(problem, method="local", limits=limits, options=options)
    everything = problem.cost(problem.may_hide)
    assert audit(problem, result.pattern, intervals=False).safe
    assert (result.cost < 0.4 * everything) == there
    assert (result.cost == everything) != there
