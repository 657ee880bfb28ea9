"""Least and largest answers over the hull of the vectors, exactly: linear, linear-fractional, convex and concave ones.

Every function takes the rows of the query set, shape (records, k), and returns both ends with what rounding may have
done to them, as a multiple of the sum of the absolute entries: the true answer is computed from other numbers.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import nnls

from tabprotect.errors import InputError
from tabprotect.solver.mip.milp import solve_milp

__all__ = ["ROUNDING", "Range", "coefficients", "maximum", "mean", "minimum", "ratio", "total", "variance"]

Floats = npt.NDArray[np.float64]

ROUNDING = 64 * float(np.finfo(float).eps)
"""Error of a sum relative to the sum of the absolute values in it, for up to 2^40 of them summed in pairs."""

ATTAINED = 1e-7
"""An end that differs from what some vector attains by less than this share of the size of the values is exact."""


class Range(NamedTuple):
    """Both ends of an answer, and whether they are those over the hull (True) or only outside of them."""

    low: float
    high: float
    exact: bool


def total(p: Floats) -> Range:
    """Return the range of the sum: linear, so both ends are at vectors.

    Examples
    --------
    >>> [round(x, 6) for x in total(np.array([[8.0, 10, 12], [22, 20, 17]]))[:2]]
    [29.0, 30.0]
    """
    sums, error = p.sum(axis=0), _error(p)
    return Range(float(sums.min()) - error, float(sums.max()) + error, True)


def mean(p: Floats) -> Range:
    """Return the range of the mean."""
    low, high, exact = total(p)
    return Range(low / len(p), high / len(p), exact)


def ratio(numerator: Floats, denominator: Floats) -> Range:
    """Return the range of a ratio of sums: monotone on every segment of the hull, so both ends are at vectors.

    It is infinite where the denominator is 0 for some vector of the hull.
    """
    above, below = numerator.sum(axis=0), denominator.sum(axis=0)
    ups, downs = _error(numerator), _error(denominator)
    if below.min() - downs <= 0 <= below.max() + downs:
        return Range(-math.inf, math.inf, False)
    ends = [(above + x) / (below + y) for x in (-ups, ups) for y in (-downs, downs)]
    low, high = float(np.min(ends)), float(np.max(ends))
    slack = ROUNDING * max(abs(low), abs(high))
    return Range(low - slack, high + slack, True)


def coefficients(p: Floats, design: Floats) -> list[Range]:
    """Return the ranges of least-squares coefficients for public regressors: linear in the confidential values.

    Parameters
    ----------
    p : ndarray, shape (records, k)
        The dependent variable.
    design : ndarray, shape (records, regressors)
        With a column of 1 for the intercept.

    Raises
    ------
    InputError
        The regressors do not determine the coefficients.
    """
    scale = np.abs(design).max(axis=0, initial=0.0)
    scaled = design / np.where(scale > 0, scale, 1.0)
    singular = np.linalg.svd(scaled, compute_uv=False) if len(p) else np.zeros(1)
    if len(p) < design.shape[1] or singular[-1] <= len(p) * ROUNDING * singular[0]:
        raise InputError(
            f"the regressors do not determine {design.shape[1]} coefficients from {len(p)} records: "
            "some of them are sums of others, or constant"
        )
    inverse = np.linalg.pinv(scaled) / scale[:, None]
    found = inverse @ p
    error = ROUNDING * (singular[0] / singular[-1]) ** 2 * (np.abs(inverse) @ np.abs(p).max(axis=1))
    return [
        Range(float(row.min() - slack), float(row.max() + slack), True) for row, slack in zip(found, error, strict=True)
    ]


def maximum(p: Floats) -> Range:
    """Return the range of the largest value: convex, so the upper end is at a vector; the lower one by an LP.

    The LP is min z subject to P x <= z, sum x = 1, x >= 0, over the rows that can be largest anywhere. Its dual
    solution gives a lower bound by itself: for y >= 0 with sum 1, no vector of the hull has a maximum below
    min_j (y P)_j; that bound is the end that is answered.
    """
    error = _error(np.abs(p).max(axis=0, keepdims=True))
    high = float(p.max())
    least = float(p.min(axis=1).max())
    rows = p[p.max(axis=1) > least]
    unit = high - least
    if not len(rows) or unit <= error:
        return Range(least - error, high + error, True)
    rows = np.unique((rows - least) / unit, axis=0)
    m, k = rows.shape
    A = np.vstack([np.hstack([rows, -np.ones((m, 1))]), np.append(np.ones(k), 0.0)])
    answer = solve_milp(
        A,
        np.append(np.full(m, -np.inf), 1.0),
        np.append(np.zeros(m), 1.0),
        np.append(np.zeros(k), -np.inf),
        np.full(k + 1, np.inf),
        np.append(np.zeros(k), 1.0),
    )
    bound, attained = 0.0, 1.0
    if answer.x is not None and answer.duals is not None:
        y = np.maximum(-answer.duals[:m], 0)
        x = np.maximum(answer.x[:k], 0)
        if y.sum() > 0 and x.sum() > 0:
            bound = max(0.0, float((y / y.sum() @ rows).min()))
            attained = float((rows @ (x / x.sum())).max())
    exact = max(attained, 0.0) - bound <= ATTAINED
    return Range(least + unit * bound - error, high + error, exact)


def minimum(p: Floats) -> Range:
    """Return the range of the smallest value: that of the largest one, mirrored."""
    low, high, exact = maximum(-p)
    return Range(-high, -low, exact)


def variance(p: Floats, kind: Literal["sample", "population"]) -> Range:
    """Return the range of the variance: a convex quadratic form x C x, with C the covariances of the vectors.

    The largest is at a vector. The least is that of a convex quadratic programme over k weights, solved as non-negative
    least squares; from its solution x the end that is answered is x C x minus the most by which it can fall from there,
    max_j 2 (C x)_j below x C x, which holds whatever x is.
    """
    n = len(p)
    centred = p - p.mean(axis=0)
    C = centred.T @ centred / (n - 1 if kind == "sample" else n)
    high = float(C.diagonal().max())
    size = float(np.square(p).max(initial=0.0))
    error = ROUNDING * n / (n - 1 if kind == "sample" else n) * (size + high)
    if high <= error:
        return Range(0.0, high + error, True)
    values, axes = np.linalg.eigh(C / high)
    root = (axes * np.sqrt(np.maximum(values, 0))).T
    x, _ = nnls(np.vstack([root, np.ones(len(C))]), np.append(np.zeros(len(C)), 1.0))
    x = x / x.sum()
    at = float(x @ C @ x)
    gap = max(0.0, 2 * (at - float((C @ x).min())))
    return Range(max(0.0, at - gap - error), high + error, gap <= ATTAINED * high)


def _error(p: Floats) -> float:
    return ROUNDING * float(np.abs(p).max(axis=1, initial=0.0).sum())
