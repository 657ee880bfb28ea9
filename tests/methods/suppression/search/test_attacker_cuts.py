"""Attacker cuts that one search hands to another hold for every safe pattern, and change no proven answer."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tabprotect.instances import family
from tabprotect.methods.suppression.merge import joined
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.search.known import Known
from tabprotect.methods.suppression.search.recombination import recombined
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits
from tests.quick import examples
from tests.random_problems import random_problem


def slack(result: SuppressionResult, pattern: np.ndarray) -> np.ndarray:
    """Return by how much a pattern satisfies every cut of a result, as a share of its level."""
    rows = result.attacker_cuts
    assert rows is not None
    assert (rows.matrix.data > 0).all()
    return (rows.matrix @ pattern.astype(np.float64) - rows.rhs) / rows.rhs


def safe_patterns(problem: Problem) -> list[np.ndarray]:
    """Return patterns that are as small as can be, for other costs than those of the problem."""
    rng = np.random.default_rng(0)
    others = [replace(problem, weights=rng.permutation(problem.weights)) for _ in range(3)]
    return [found.pattern for found in map(exact, (problem, *others)) if found.status == "optimal"]


def test_what_greedy_met_holds_for_every_safe_pattern_and_leaves_the_optimum_as_it_is() -> None:
    met = refused = 0
    for seed in range(examples(20, 120)):
        problem = random_problem(seed, max_cells=30)
        first = greedy(problem, restarts=3)
        rows = first.attacker_cuts
        assert rows is not None
        plain = exact(problem)
        helped = exact(problem, known=Known.of(first))
        assert (helped.status, helped.cost, helped.unprotectable) == (plain.status, plain.cost, plain.unprotectable)
        assert problem.cost(helped.pattern) == problem.cost(plain.pattern)
        refused += plain.status == "infeasible"
        reduction = reduce_problem(problem)
        for pattern in safe_patterns(problem):
            # in the cells of the problem a cut names one of those that a cell of the reduced problem stands for
            whole = reduction.pattern(reduction.patterns(pattern))
            assert (slack(first, whole) >= -1e-7).all()
            met += rows.matrix.shape[0]
    assert refused
    assert met > examples(40, 500)


def test_a_search_gives_its_cuts_on_to_the_next_one() -> None:
    problem = family("thin", 1, sizes=(5, 5, 5))
    first = greedy(problem, restarts=0)
    assert first.attacker_cuts is not None
    assert first.attacker_cuts.matrix.shape[0] > 10
    assert (slack(first, first.pattern) >= -1e-7).all()
    limits = Limits(work=3_000)
    found = exact(problem, limits=limits, known=Known(first.pattern, attacker_cuts=first.attacker_cuts))
    alone = exact(problem, limits=limits, known=Known(first.pattern))
    assert found.attacker_cuts is not None
    assert alone.attacker_cuts is not None
    assert found.attacker_cuts.matrix.shape[0] > alone.attacker_cuts.matrix.shape[0]
    assert (slack(found, found.pattern) >= -1e-7).all()
    assert joined(first, found).attacker_cuts is found.attacker_cuts
    assert joined(first, replace(found, attacker_cuts=None)).attacker_cuts is first.attacker_cuts


def test_cuts_among_the_cells_of_a_pattern_are_none_of_the_whole_table() -> None:
    problem = family("thin", 1, sizes=(5, 5, 5))
    first = greedy(problem, restarts=0)
    budget = Budget(Limits(work=2_000))
    found = recombined(problem, [first.pattern], budget, known=Known(attacker_cuts=first.attacker_cuts))
    assert found.safe
    assert found.cost <= first.cost
    assert found.attacker_cuts is None


def test_what_is_cleaned_up_among_the_cells_of_a_pattern_is_not_cleaned_up_again_in_the_whole_table() -> None:
    problem = family("thin", 1, sizes=(6, 6, 6))
    first = greedy(problem, restarts=0, cleanup=0.0)
    assert not first.cleaned
    inside = recombined(problem, [first.pattern], Budget(Limits(work=20_000)), known=Known(deviations=first.deviations))
    assert inside.cleaned
    assert inside.cost < first.cost
    assert not joined(first, replace(inside, cost=first.cost + 1, cleaned=True)).cleaned
    assert joined(first, inside).cleaned
    known = Known.of(inside)
    assert known.cleaned
    again, once = (
        exact(problem, limits=Limits(work=12_000), known=replace(known, cleaned=done)) for done in (False, True)
    )
    assert again.cost <= inside.cost
    assert once.cost <= inside.cost
    # the work of a clean-up that takes nothing out goes into the bound
    assert once.bound > again.bound


def test_a_start_that_is_refused_is_not_taken_for_a_pattern_that_is_cleaned_up() -> None:
    problem = family("thin", 1, sizes=(6, 6, 6))
    limits = Limits(work=15_000)
    told, plain = (exact(problem, limits=limits, known=Known(problem.must_hide, done)) for done in (True, False))
    assert (told.cleaned, told.cost, told.work) == (plain.cleaned, plain.cost, plain.work)
    assert told.pattern.tolist() == plain.pattern.tolist()
