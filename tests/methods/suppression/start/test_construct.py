"""Patterns of cheapest witnesses under limits."""

from __future__ import annotations

import pytest

from tabprotect.attack.witness import Witnesses
from tabprotect.instances.families import family
from tabprotect.methods.suppression.options import DEFAULTS, changed
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.solver.limits import Budget, Limits

PROBLEM = family("thin", seed=0, sizes=(8, 8, 8))


def build(work: int | None = None, share: float = 1.0, patience: float = 0.01) -> tuple[object, Budget]:
    options = changed(DEFAULTS, "construction.trial_limit_share", share).construction
    budget = Budget(Limits(work=work))
    constructor = Constructor(Witnesses(PROBLEM), options=options)
    return constructor.build(PROBLEM.weights, budget, patience=patience), budget


@pytest.mark.parametrize(("share", "there"), [(0.1, False), (0.5, True)])
def test_what_seems_to_take_too_long_is_given_up_until_half_of_it_is_answered(share: float, there: bool) -> None:
    whole = build()[1].work
    pattern, budget = build(int(1.05 * whole), share)
    assert (pattern is not None) == there
    assert (budget.work > 0.9 * whole) == there
    assert Witnesses(PROBLEM).check(PROBLEM.must_hide, Budget())
    if pattern is not None:
        assert not Witnesses(PROBLEM).check(pattern, Budget())
