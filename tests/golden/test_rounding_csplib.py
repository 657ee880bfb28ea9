"""Rounding to base 5 of the published instances and of the bundled register."""

from __future__ import annotations

import numpy as np
import pytest

import tabprotect as tp
from tabprotect.formats.jj import JJ
from tabprotect.methods.rounding import judge
from tabprotect.solver.limits import Limits
from tests.methods.rounding.tables import flat

OPTIMA = {"table8": 1568, "osorio": 12412, "hie1372d": 672}


def read(shared, name):
    return JJ.read(shared(f"instances/csplib/{name}.jj")).problem()


def proven(result, cost):
    """Additive, exact multiples, less than a base off, and of proven cost."""
    assert result.verdict == judge(result.problem, result.values, 5, result.steps)
    assert result.verdict.ok
    assert result.additive
    assert result.jump < 5 * (1 + result.steps)
    assert (result.status, result.gap) == ("optimal", pytest.approx(0, abs=1e-9))
    assert result.cost == cost
    assert np.abs(result.values - result.problem.values).sum() == cost


@pytest.mark.parametrize("name", OPTIMA)
def test_csplib(shared, name):
    proven(tp.round(read(shared, name), 5), OPTIMA[name])


@pytest.mark.parametrize(("sizes", "cost"), [((20, 20), 570), ((50, 50), 3260)])
def test_two_dimensions(sizes, cost):
    proven(tp.round(flat(*sizes), 5), cost)


@pytest.mark.slow
def test_three_dimensions():
    proven(tp.round(flat(10, 10, 10), 5), 1802)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["hier13", "hie1327d"])
def test_impossible_without_relaxation(shared, name):
    problem = read(shared, name)
    result = tp.round(problem, 5, limits=Limits(seconds=20))
    assert (result.status, result.values) == ("infeasible", None)
    assert (result.diagnosis.steps, result.diagnosis.proven) == (1, True)
    assert judge(problem, result.diagnosis.values, 5, 1).ok
    off = np.abs(result.diagnosis.values - problem.values) >= 5
    assert set(np.flatnonzero(off)) <= set(result.diagnosis.cells.tolist())


@pytest.mark.slow
def test_smallest_relaxation_of_hier13(shared):
    result = tp.round(read(shared, "hier13"), 5, steps="least", limits=Limits(seconds=30))
    assert (result.steps, result.diagnosis.proven) == (1, True)
    assert result.verdict.ok
    assert result.bound <= 2969 <= result.cost
    assert result.gap < 0.02


@pytest.mark.parametrize(("value", "cost"), [(None, 4668), ("turnover", None)])
def test_activities_by_regions(value, cost):
    dimensions = [tp.Dimension(name, tp.Hierarchy.read(tp.instances.data(f"{name}.hrc"))) for name in ("nace", "nuts")]
    table = tp.tabulate(tp.instances.register(), dimensions, value, contributor="enterprise_id")
    problem = tp.make_problem(table, [tp.Threshold(3)])
    result = tp.round(problem, 5, limits=Limits(seconds=30))
    proven(result, result.cost if cost is None else cost)
