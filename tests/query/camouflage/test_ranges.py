"""Ends over the hull against brute force: many vectors of the hull, linear programmes, statistics by other code."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import linprog

from tabprotect.errors import InputError
from tabprotect.query.camouflage.conditional import Conditional, quantile
from tabprotect.query.camouflage.ranges import coefficients, maximum, minimum, ratio, total, variance


def rows(n: int, k: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.lognormal(2, 1, (n, 1)) + rng.normal(0, 1, (n, k))


def hull(p: np.ndarray, many: int = 4000) -> np.ndarray:
    """Vectors all over the hull, its corners and edges among them."""
    rng, k = np.random.default_rng(1), p.shape[1]
    edges = np.array([[t if j == a else 1 - t if j == b else 0 for j in range(k)]
                      for a in range(k) for b in range(a) for t in np.linspace(0, 1, 41)])  # fmt: skip
    return p @ np.vstack([rng.dirichlet(np.full(k, 0.5), many), edges]).T


@pytest.mark.parametrize("seed", range(8))
def test_largest_and_smallest_values(seed: int) -> None:
    k = 3 + seed % 3
    p = rows(12, k, seed)
    low, high, exact = maximum(p)
    A = np.hstack([p, -np.ones((12, 1))])
    least = linprog(
        np.append(np.zeros(k), 1), A, np.zeros(12), [np.append(np.ones(k), 0)], [1], [(0, None)] * k + [(None, None)]
    )
    assert exact
    assert (low, high) == (pytest.approx(least.fun, abs=1e-6), pytest.approx(p.max(), abs=1e-9))
    assert low <= least.fun
    small = minimum(p)
    assert (small.low, small.high) == (-maximum(-p).high, -maximum(-p).low)
    found = hull(p)
    assert low <= found.max(axis=0).min()
    assert small.high >= found.min(axis=0).max()
    assert small.low == pytest.approx(p.min(), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_the_variance_is_exact_at_both_ends(seed: int) -> None:
    p = rows(2 + seed * 3, 3 + seed % 3, seed)
    low, high, exact = variance(p, "sample")
    found = hull(p).var(axis=0, ddof=1)
    assert exact
    assert low <= found.min() <= low + 0.02 * (high - low) + 1e-9
    assert high == pytest.approx(p.var(axis=0, ddof=1).max())
    assert variance(p, "population").high == pytest.approx(high * (len(p) - 1) / len(p))


def test_the_variance_can_be_zero() -> None:
    p = np.array([[1.0, 3, 2], [3.0, 1, 2]])
    assert variance(p, "sample").low == pytest.approx(0, abs=1e-12)
    assert variance(p, "sample").high == pytest.approx(2)
    assert variance(np.full((3, 3), 7.0), "sample").high == pytest.approx(0, abs=1e-9)


def test_ratios_have_their_ends_at_vectors() -> None:
    x, y = rows(9, 4, 1), rows(9, 4, 2)
    low, high, exact = ratio(x, y)
    found = hull(x).sum(axis=0) / hull(y).sum(axis=0)
    assert exact
    assert low == pytest.approx(found.min(), rel=1e-9)
    assert high == pytest.approx(found.max(), rel=1e-9)
    assert ratio(x, y - y.mean(axis=0).mean()) == (-math.inf, math.inf, False)


def test_regression_is_linear_in_what_is_hidden() -> None:
    p, rng = rows(30, 3, 5), np.random.default_rng(2)
    design = np.column_stack([np.ones(30), rng.lognormal(5, 1, 30), rng.integers(0, 2, 30)])
    found = np.linalg.lstsq(design, hull(p))[0]
    for (low, high, exact), values in zip(coefficients(p, design), found, strict=True):
        assert exact
        assert low == pytest.approx(values.min(), rel=1e-7)
        assert high == pytest.approx(values.max(), rel=1e-7)
    with pytest.raises(InputError, match="do not determine 4 coefficients"):
        coefficients(p, np.column_stack([design, design[:, 1] * 2]))
    with pytest.raises(InputError, match="from 2 records"):
        coefficients(p[:2], design[:2])


@pytest.mark.parametrize("level", [0.0, 0.25, 0.5, 0.9, 1.0])
def test_quantiles_hold_every_vector_and_are_not_much_wider(level: float) -> None:
    p = rows(15, 3, 7)
    low, high, exact = quantile(p, level)
    found = np.quantile(hull(p), level, axis=0)
    assert low <= found.min()
    assert found.max() <= high
    outer = np.quantile(p.max(axis=1), level) - np.quantile(p.min(axis=1), level)
    assert high - low <= outer + 1e-9
    assert high - low <= (found.max() - found.min()) + 0.35 * outer
    if exact:
        assert high - low == pytest.approx(found.max() - found.min(), abs=1e-3)


@pytest.mark.parametrize("aggregate", ["count", "sum", "mean", "minimum", "maximum"])
@pytest.mark.parametrize("seed", range(4))
def test_conditions_on_confidential_fields(aggregate: str, seed: int) -> None:
    x, y = rows(10, 3, seed), rows(10, 3, seed + 50) - 8
    where = [("x", ">=", float(np.median(x))), ("y", "<", float(np.quantile(y, 0.8)))][: 1 + seed % 2]
    asked = Conditional(aggregate, ["x", "y"][seed % 2], where)
    (low, high, exact), may_be_empty = asked.range({"x": x, "y": y}, 10)
    xs, ys = hull(x, 1500), hull(y, 1500)
    found = np.array([asked.at({"x": xs[:, j], "y": ys[:, j]}) for j in range(xs.shape[1])])
    assert may_be_empty or not np.isnan(found).any()
    found = found[~np.isnan(found)]
    assert low <= found.min()
    assert found.max() <= high
    if exact:
        assert (low, high) == (pytest.approx(found.min(), abs=0.05), pytest.approx(found.max(), abs=0.05))


def test_a_record_at_the_threshold_that_needs_no_protection_counts() -> None:
    p = np.array([[5.0, 5.0, 5.0]])
    assert Conditional("count", "", [("x", ">=", 5.0)]).range({"x": p}, 1)[0] == (1.0, 1.0, True)
    assert Conditional("count", "", [("x", ">", 5.0)]).range({"x": p}, 1)[0] == (0.0, 0.0, True)


def test_sums_are_widened_by_rounding_only() -> None:
    p = np.repeat(np.random.default_rng(0).random((1000, 1)), 3, axis=1)
    low, high, _ = total(p)
    assert low < math.fsum(p[:, 0]) < high
    assert high - low < 1e-10
