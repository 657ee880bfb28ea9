"""What an adjusted table keeps besides its sums."""

from __future__ import annotations

import numpy as np
import pytest

from tabprotect.errors import InputError
from tabprotect.methods.adjustment import Linear, adjust, keep_correlation, keep_covariance, keep_mean
from tabprotect.problem import Problem


@pytest.fixture
def table():
    """A 6 x 4 table with margins, three sensitive cells, and its inner cells."""
    rng = np.random.default_rng(5)
    inner = rng.integers(10, 200, (6, 4)).astype(float)
    full = np.zeros((7, 5))
    full[1:, 1:] = inner
    full[0, 1:], full[1:, 0], full[0, 0] = inner.sum(axis=0), inner.sum(axis=1), inner.sum()
    index = np.arange(35).reshape(7, 5)
    rows = []
    for group in [*index, *index.T]:
        row = np.zeros(35)
        row[group[0]], row[group[1:]] = -1, 1
        rows.append(row)
    primary = [index[2, 1], index[3, 3], index[5, 2]]
    problem = Problem.from_arrays(np.array(rows), full.ravel(), primary, lpl=9, upl=9)
    return problem, index[1:, 1:]


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
@pytest.mark.parametrize("senses", ["up", "free"])
def test_a_mean_is_kept(table, norm, senses):
    problem, inner = table
    cells = inner[:, :2].ravel()
    loose = adjust(problem, norm=norm, senses=senses, weights="unit")
    kept = adjust(problem, norm=norm, senses=senses, weights="unit", preserve=[keep_mean(problem, cells)])
    assert kept.values[cells].mean() == pytest.approx(problem.values[cells].mean(), abs=1e-9)
    assert kept.cost >= loose.cost * (1 - 1e-9)
    assert kept.status == "optimal"


@pytest.mark.parametrize("norm", ["l1", "l2", "linf"])
def test_a_correlation_is_kept(table, norm):
    problem, inner = table
    cells = inner[:, 0]
    least = 0.998
    loose = adjust(problem, norm=norm, senses="up", weights="unit")
    kept = adjust(problem, norm=norm, senses="up", weights="unit", preserve=[keep_correlation(problem, cells, least)])
    correlation = np.corrcoef(problem.values[cells], kept.values[cells])[0, 1]
    assert np.corrcoef(problem.values[cells], loose.values[cells])[0, 1] < least
    assert correlation >= least - 1e-7
    assert kept.cost >= loose.cost * (1 - 1e-9)
    assert kept.verdict.ok


def test_a_correlation_is_kept_with_free_senses(table):
    problem, inner = table
    kept = adjust(problem, weights="unit", preserve=[keep_correlation(problem, inner[:, 0], 0.998)])
    up = adjust(problem, weights="unit", senses="up", preserve=[keep_correlation(problem, inner[:, 0], 0.998)])
    assert np.corrcoef(problem.values[inner[:, 0]], kept.values[inner[:, 0]])[0, 1] >= 0.998 - 1e-7
    assert kept.bound <= kept.cost <= up.cost * (1 + 1e-6)


def test_covariances_change_to_second_order_only(table):
    problem, inner = table
    first, second = inner[:, 0], inner[:, 2]
    kept = adjust(problem, norm="l2", senses="up", weights="unit", preserve=[keep_covariance(problem, first, second)])
    before = np.cov(problem.values[first], problem.values[second])
    after = np.cov(kept.values[first], kept.values[second])
    z = kept.deviations
    products = [[z[f] @ z[s] / 5 for s in (first, second)] for f in (first, second)]
    assert after - before == pytest.approx(np.array(products), abs=1e-4)


def test_any_linear_condition(table):
    problem, _ = table
    coefficients = np.zeros(35)
    coefficients[0] = 1.0
    result = adjust(problem, weights="unit", preserve=[Linear(coefficients, 3.0, 5.0)])
    assert 3 - 1e-9 <= result.deviations[0] <= 5 + 1e-9


def test_a_condition_that_cannot_be_met_is_infeasible(table):
    problem, _ = table
    coefficients = np.zeros(35)
    coefficients[0] = 1.0
    result = adjust(problem, fixed=[0], preserve=[Linear(coefficients, 3.0, 5.0)])
    assert result.status == "infeasible"
    assert result.values is None
    assert result.cost is None


def test_bad_conditions(table):
    problem, _ = table
    with pytest.raises(InputError, match="over 4 cells"):
        adjust(problem, preserve=[Linear(np.zeros(4))])
    with pytest.raises(InputError, match="at least one cell"):
        keep_mean(problem, [])
    with pytest.raises(InputError, match="different values"):
        keep_correlation(Problem.from_arrays([[1, 1, 1]], [3, 3, 3], primary=[0], lpl=1, upl=1), [0, 1])
    with pytest.raises(InputError, match="above 0 and at most 1"):
        keep_correlation(problem, [1, 2], least=1.5)
    with pytest.raises(InputError, match="pairs"):
        keep_covariance(problem, [1, 2], [3])
