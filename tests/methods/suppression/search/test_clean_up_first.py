"""Where cost and bound are far apart, the first pattern is cleaned up before anything else."""

from __future__ import annotations

import pytest

from tabprotect.attack.audit import audit
from tabprotect.instances import family
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.options import DEFAULTS, changed
from tabprotect.solver.limits import Limits


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_a_first_pattern_far_above_the_bound_is_cleaned_up_first(seed: int) -> None:
    problem = family("thin", seed, sizes=(7, 7, 7))
    never = changed(DEFAULTS, "schedule.far_gap", 1.0)
    first, later = (
        suppress(problem, method="exact", limits=Limits(work=20_000), options=options) for options in (DEFAULTS, never)
    )
    assert first.cost is not None
    assert later.cost is not None
    assert first.cost < later.cost
    assert audit(problem, first.pattern, intervals=False).safe
