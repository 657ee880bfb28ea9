"""Rows of one search hold for the same problem with sums of hidden cells to protect, too."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tabprotect.instances import load
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.bound.inequalities import rows_of_cores
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.known import Known
from tabprotect.problem import Problem
from tabprotect.sensitivity.sums_as_cells import protect_unions
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Limits
from tests.random_problems import random_problem


def with_a_sum(problem: Problem, hidden: np.ndarray, rng: np.random.Generator) -> Problem:
    """Ask for the sum of two or three hidden cells, too, with a level of its own."""
    size = min(len(hidden), int(rng.integers(2, 4)))
    cells = tuple(sorted(rng.choice(hidden, size, replace=False).tolist()))
    value = float(problem.values[list(cells)].sum())
    level = float(rng.integers(1, 6))
    return protect_unions(problem, [UnionExposure(cells, value, ("p%=15",), level, level, 0.0, True, "")])


@pytest.mark.slow
def test_a_search_with_a_sum_more_begins_with_the_rows_of_the_one_before() -> None:
    rng, carried, dearer = np.random.default_rng(3), 0, 0
    for seed in range(60):
        problem = random_problem(seed, max_cells=30)
        before = exact(problem)
        if before.status != "optimal" or before.rows is None or len(before.suppressed) < 2:
            continue
        grown = with_a_sum(problem, before.suppressed, rng)
        cold = exact(grown)
        warm = exact(grown, known=Known(rows=before.rows.over(grown.n_cells)))
        assert (warm.status, warm.cost, warm.bound) == (cold.status, cold.cost, cold.bound)
        if cold.status != "optimal":
            continue
        dearer += cold.cost > before.cost
        reduction = reduce_problem(grown)
        known = rows_of_cores(before.rows.over(grown.n_cells), reduction)
        for (matrix, rhs), core, x in zip(known, reduction.cores, reduction.patterns(cold.pattern), strict=True):
            assert matrix.shape == (len(rhs), core.n)
            assert np.all(matrix @ x.astype(np.float64) >= rhs - 1e-9)
            carried += len(rhs)
    assert carried > 100
    assert dearer > 2


@pytest.mark.slow
def test_rows_raise_the_bound_that_the_same_work_gives() -> None:
    problem = load("flat3d-6x6x6")
    before = suppress(problem, method="exact", limits=Limits(work=12_000))
    assert before.rows is not None
    assert before.gap
    begun = [
        suppress(problem, method="exact", limits=Limits(work=4_000), start=start) for start in (before, before.pattern)
    ]
    assert all(found.safe for found in begun)
    bounds = [found.bound or 0.0 for found in begun]
    assert bounds[0] > bounds[1]


@pytest.mark.slow
def test_rows_of_another_problem_are_left_alone() -> None:
    """Levels twice as large ask for more than what is cheapest here hides."""
    problem = load("flat3d-6x6x6")
    easy = exact(problem)
    assert easy.cost is not None
    harder = replace(problem, lpl=2 * problem.lpl, upl=2 * problem.upl, spl=2 * problem.spl)
    hard = exact(harder, limits=Limits(work=20_000))
    assert hard.safe
    assert (hard.bound or 0.0) > easy.cost  # so that its rows cut off what is cheapest here
    found = suppress(problem, method="exact", start=hard)
    assert (found.status, found.cost, found.bound) == ("optimal", easy.cost, easy.cost)
