"""Removal in bulk: every pattern is safe, none costs more than the one before, and what attacks find is used again."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.attack.witness import Witnesses
from tabprotect.instances import family
from tabprotect.methods.suppression.options import DEFAULTS, ConstructionOptions
from tabprotect.methods.suppression.presolve.parts import Part
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.start.bulk import remove_in_bulk
from tabprotect.methods.suppression.start.cleanup import Cleaner
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits

CASES = {
    "margins": {"d": 5, "k": 3, "categories": 3},
    "thin": {"sizes": (5, 5, 5)},
    "hier2d": {"activity": (3, 3), "region": (3, 3)},
}


def largest_core(name: str, seed: int) -> Problem:
    """The largest part of a table of a family."""
    cores = reduce_problem(family(name, seed, **CASES[name])).cores
    return Part(max(cores, key=lambda core: core.n)).problem


def removed(problem: Problem, options: ConstructionOptions, limits: Limits | None = None) -> list[np.ndarray]:
    """All patterns of removal in bulk from everything hidden."""
    cleaner = Cleaner(Witnesses(problem), np.ones(problem.n_cells, bool), options=options)
    return list(remove_in_bulk(cleaner, Budget(limits or Limits()), options))


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", CASES)
def test_every_pattern_is_safe_inside_the_one_before_and_cheaper(name: str, seed: int) -> None:
    problem = largest_core(name, seed)
    patterns = removed(problem, DEFAULTS.construction)
    assert patterns
    before = np.ones(problem.n_cells, bool)
    for pattern in patterns:
        # a judge that knows nothing of the search
        assert not Witnesses(problem).check(pattern)
        assert not (pattern & ~before).any()
        assert problem.cost(pattern) < problem.cost(before)
        before = pattern


@pytest.mark.parametrize("name", ["margins", "hier2d"])
def test_it_goes_on_beyond_the_first_exposure(name: str) -> None:
    problem = largest_core(name, 0)
    one = ConstructionOptions(bulk_cut_rounds=0, bulk_trials=1)
    costs = [
        problem.cost(removed(problem, options)[-1])
        for options in (DEFAULTS.construction, ConstructionOptions(bulk_least_gain=1.0), one)
    ]
    everything = problem.cost(np.ones(problem.n_cells, bool))
    assert costs[0] < costs[1] < everything
    assert costs[0] <= costs[2]
    assert costs[0] < 0.5 * everything


def test_repairs_by_cheapest_deviations_alone_are_safe_too() -> None:
    problem = largest_core("thin", 2)
    patterns = removed(problem, ConstructionOptions(bulk_cut_rounds=0, bulk_least_gain=0.0))
    assert patterns
    assert not Witnesses(problem).check(patterns[-1])


def test_a_removal_that_a_limit_cuts_short_is_used_and_the_next_one_goes_on_from_there() -> None:
    problem = largest_core("margins", 0)
    far = {"bulk_first_share": 0.1}
    whole, cut = (
        removed(problem, ConstructionOptions(bulk_removal_share=share, **far), Limits(work=2000))
        for share in (1.0, 0.005)
    )
    assert not any(Witnesses(problem).check(pattern) for pattern in cut)
    assert len(cut) > len(whole)
    assert problem.cost(cut[0]) > 1.5 * problem.cost(whole[0])
    assert problem.cost(cut[-1]) <= 1.05 * problem.cost(whole[-1])


@pytest.mark.parametrize("share", [0.0, 0.01])
def test_a_share_that_is_too_small_for_any_removal_still_ends(share: float) -> None:
    problem = largest_core("margins", 0)
    patterns = removed(problem, ConstructionOptions(bulk_removal_share=share), Limits(work=60))
    assert not any(Witnesses(problem).check(pattern) for pattern in patterns)


def test_a_limit_ends_it_with_what_is_safe() -> None:
    problem = largest_core("margins", 0)
    whole = removed(problem, DEFAULTS.construction)
    for work in (1, 5, 200):
        patterns = removed(problem, DEFAULTS.construction, Limits(work=work))
        assert len(patterns) <= len(whole)
        assert not any(Witnesses(problem).check(pattern) for pattern in patterns)


def test_cells_that_cuts_hold_stay_in_every_safe_pattern_inside() -> None:
    problem = largest_core("hier2d", 1)
    cleaner = Cleaner(Witnesses(problem), np.ones(problem.n_cells, bool))
    for pattern in remove_in_bulk(cleaner, Budget()):
        held = np.flatnonzero(cleaner.held & pattern & ~problem.must_hide)
        for cell in held[:5]:
            fewer = pattern.copy()
            fewer[cell] = False
            assert Witnesses(problem).check(fewer)
