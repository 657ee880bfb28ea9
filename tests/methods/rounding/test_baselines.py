"""Conventional, random, unbiased and successive rounding.

Statistical tests use fixed seeds; their significance is the chance that a right method fails for a random seed.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm as gauss

from tabprotect.errors import InfeasibleError, InputError
from tabprotect.methods.inner_cells import inner_cells
from tabprotect.methods.rounding import (
    conventional_rounding,
    random_rounding,
    successive_rounding,
    unbiased_rounding,
)
from tabprotect.methods.rounding import round as controlled
from tabprotect.problem import Problem
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.system import LinearSystem
from tests.methods.rounding.tables import check, flat

#: of each statistical test as a whole (Bonferroni over the cells)
SIGNIFICANCE = 1e-3
DRAWS = 2000


def hierarchical(seed=0, columns=4):
    """Activities in three levels by regions."""
    tree = Hierarchy.from_hrc("A\n@A1\n@@A11\n@@A12\n@A2\nB\n@B1\n@B2\n@B3")
    system = LinearSystem.from_hierarchies([tree, Hierarchy.flat([f"r{i}" for i in range(columns)])])
    inner, sums = inner_cells(system)
    values = sums @ np.random.default_rng(seed).integers(0, 50, len(inner)).astype(float)
    return Problem.from_arrays(system.A, values, primary=[], lpl=0, upl=0, cells=system.cells)


def no_bias(problem, base, method):
    """Whether the mean of many draws is the value: two-sided test, normal approximation, all cells at once."""
    results = [method(problem, base, seed=seed) for seed in range(DRAWS)]
    ups = np.mean([(r.values > problem.values) for r in results], axis=0)
    part = problem.values / base - np.floor(problem.values / base)
    moving = part > 1e-9
    off = np.abs(ups - part)[moving] / np.sqrt(part * (1 - part) / DRAWS)[moving]
    return results, bool(np.all(off <= gauss.isf(SIGNIFICANCE / 2 / moving.sum())))


def test_conventional_is_nearest_and_tells_its_loss():
    problem = flat(6, 7, seed=1)
    result = conventional_rounding(problem, 5)
    assert result.jump <= 2.5
    assert result.verdict.off_grid == result.verdict.far == 0
    assert result.loss == result.verdict.additive > 0
    assert "sums are off" in result.message
    assert result.cost < controlled(problem, 5).cost
    halves = Problem.from_arrays([[-1, 1]], [0.25, 0.25], primary=[], lpl=0, upl=0)
    assert conventional_rounding(halves, 0.5).values.tolist() == [0.5, 0.5]


def test_random_rounding_is_unbiased_but_not_additive():
    problem = flat(3, 4, seed=2)
    results, fair = no_bias(problem, 5, random_rounding)
    assert fair
    assert max(r.loss for r in results) > 0
    assert all(r.jump < 5 for r in results[:50])
    multiples = problem.values % 5 == 0
    assert multiples.any()
    assert all(np.array_equal(r.values[multiples], problem.values[multiples]) for r in results[:50])


def test_random_rounding_without_a_seed_is_drawn_afresh():
    problem = flat(9, 9, seed=2)
    one, two = random_rounding(problem, 5), random_rounding(problem, 5)
    assert not np.array_equal(one.values, two.values)
    assert np.array_equal(random_rounding(problem, 5, seed=one.seed).values, one.values)
    assert str(one.seed) not in repr(one)


@pytest.mark.slow
def test_the_test_of_bias_sees_a_bias():
    def biased(problem, base, seed):
        lifted = replace(problem, values=np.minimum(problem.values + 0.5, base * np.ceil(problem.values / base)))
        return random_rounding(lifted, base, seed=seed)

    assert not no_bias(flat(3, 4, seed=2), 5, biased)[1]


@pytest.mark.slow
@pytest.mark.parametrize("table", [flat(3, 4, seed=2), hierarchical(), flat(3, 3, seed=4, scale=0.1)])
def test_unbiased_rounding_adds_up_every_time(table):
    base = 0.5 if table.values.max() < 100 else 5
    results, fair = no_bias(table, base, unbiased_rounding)
    assert fair
    for result in results[:20]:
        check(result)
        assert result.additive
        assert result.jump < base
    best = controlled(table, base).cost
    assert min(r.cost for r in results) >= best * (1 - 1e-9)


def test_unbiased_rounding_of_larger_tables():
    for table in (flat(50, 50), hierarchical(columns=60)):
        result = unbiased_rounding(table, 5)
        check(result)
        assert result.jump < 5
        assert np.array_equal(unbiased_rounding(table, 5, seed=result.seed).values, result.values)
        other = unbiased_rounding(table, 5)
        assert other.seed != result.seed
        assert not np.array_equal(other.values, result.values)


def test_unbiased_rounding_refuses_what_it_cannot():
    with pytest.raises(InputError, match="two dimensions"):
        unbiased_rounding(flat(2, 2, 2), 5)
    off = flat(2, 2)
    with pytest.raises(InputError, match="add up"):
        unbiased_rounding(replace(off, values=off.values + (np.arange(9) == 4)), 5)
    constant = Problem.from_arrays([[1, 1]], [4, 3], primary=[], lpl=0, upl=0, b=np.array([7.0]))
    with pytest.raises(InfeasibleError, match="no multiples of 5"):
        unbiased_rounding(constant, 5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("along", [0, 1, 2])
def test_successive_rounding_is_less_than_two_bases_off(seed, along):
    problem = flat(4, 3, 5, seed=seed)
    result = successive_rounding(problem, 5, along=along)
    check(result)
    assert result.jump < 10
    best = controlled(problem, 5, steps=result.steps)
    assert best.cost <= result.cost * (1 + 1e-9)


def test_successive_rounding_refuses_other_tables():
    with pytest.raises(InputError, match="three dimensions"):
        successive_rounding(flat(3, 3), 5)
    unnamed = flat(2, 2, 2)
    with pytest.raises(InputError, match="three dimensions"):
        successive_rounding(Problem.from_arrays(unnamed.system.A, unnamed.values, primary=[], lpl=0, upl=0), 5)
    with pytest.raises(InputError, match="add up"):
        successive_rounding(replace(unnamed, values=unnamed.values + 70.0 * (np.arange(27) == 26)), 5)
