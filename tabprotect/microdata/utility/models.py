"""Models fitted to both files: who can tell them apart, and what a regression says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, stats

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.risk.base import Measure, Pair, pair
from tabprotect.microdata.scales import ANY, Scale
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.utility.categorical import _no_links, _together
from tabprotect.microdata.utility.columns import common_columns

__all__ = ["propensity", "regression_fit"]

Floats = npt.NDArray[np.float64]

RIDGE = 1e-6
"""Penalty per record that keeps coefficients finite where categories separate the files."""


@of_kinds()
def propensity(
    original: Any, masked: Any, schema: Schema | None = None, *, columns: Sequence[str] | None = None, most: int = 50
) -> Measure:
    """Return the mean squared error of propensity scores (pMSE) of original and masked records put together.

    A logistic regression on the columns predicts whether a record is a masked one; with c the share of masked
    records, pMSE is the mean of (score - c)^2 (Woo et al. 2009). Of the statistic of Snoke et al. (2018), `details`
    has the expected value for files of one source, ``(k - 1) (1 - c)^2 c / N`` with k coefficients, and the ratio.

    Continuous columns enter standardised, with their square; categories as indicators, up to `most` of a column (the
    rest together); a missing number as the mean and an indicator. Weights are not used.

    Returns
    -------
    Measure
        `value` is pMSE over its largest value c (1 - c): 0 if nobody can tell the files apart, 1 if everybody can.
        `records` has the score of every masked record.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"x": np.arange(50.0)})
    >>> md.utility.propensity(people, people).value < 1e-9, md.utility.propensity(people, people + 1000).value > 0.9
    (True, True)
    """
    both = pair(original, masked, schema, _no_links(masked))
    names = common_columns(both, columns, ANY, "released")
    x = np.column_stack([np.ones(len(both.original) + len(both.masked)), *_design(both, names, most)])
    y = np.r_[np.zeros(len(both.original)), np.ones(len(both.masked))]
    coefficients, converged = _logistic(x, y)
    score = _sigmoid(x @ coefficients)
    c = len(both.masked) / len(x)
    pmse = float(((score - c) ** 2).mean())
    expected = (np.linalg.matrix_rank(x) - 1) * (1 - c) ** 2 * c / len(x)
    details = {
        "pMSE": pmse, "expected": float(expected), "ratio": pmse / expected if expected > 0 else None,
        "coefficients": x.shape[1], "converged": converged, "columns": names,
    }  # fmt: skip
    return Measure("propensity score", min(1.0, pmse / (c * (1 - c))), score[len(both.original) :], details)


def _design(both: Pair, names: Sequence[str], most: int) -> list[Floats]:
    """Return the columns of the model, for original and then masked records."""
    found = []
    for name in names:
        if both.original.scale(name) is Scale.CONTINUOUS:
            values = np.concatenate([both.original.numbers(name), both.masked.numbers(name)])
            gone = np.isnan(values)
            spread = np.nanstd(values) if (~gone).any() else 0.0
            z = np.where(gone, 0.0, (values - np.nanmean(values)) / spread) if spread > 0 else np.zeros(len(values))
            found += [z, z**2 - 1] if spread > 0 else []
            found += [gone.astype(float)] if gone.sum() > 0 else []
            continue
        one, values_, other = _together(both.original, both.masked, name)
        index = np.concatenate([one, other])
        counts = np.bincount(index, minlength=len(values_) + 1)
        often = [k for k in np.argsort(-counts, kind="stable")[:most].tolist() if counts[k] > 0]
        found += [(index == k).astype(float) for k in often[1:]]
    return found


def _sigmoid(z: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(0.5 * z)))


def _logistic(x: Floats, y: Floats) -> tuple[Floats, bool]:
    """Fit by Newton steps; the penalty makes the optimum unique but for the constant."""
    n = len(x)
    penalty = np.full(x.shape[1], RIDGE)
    penalty[0] = 0.0

    def loss(b: Floats) -> tuple[float, Floats]:
        z = x @ b
        value = float((np.logaddexp(0, z) - y * z).mean() + 0.5 * (penalty * b * b).sum())
        return value, np.asarray(x.T @ (_sigmoid(z) - y) / n + penalty * b)

    start = np.zeros(x.shape[1])
    start[0] = np.log(y.mean() / (1 - y.mean()))
    done = optimize.minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "gtol": 1e-9})
    gradient = loss(done.x)[1]
    return np.asarray(done.x), bool(np.abs(gradient).max() <= 1e-5)


@of_kinds()
def regression_fit(
    original: Any, masked: Any, schema: Schema | None = None, *, target: str, on: Sequence[str], level: float = 0.95
) -> Measure:
    """Fit the same linear regression to both files and compare the confidence intervals of the coefficients.

    The overlap of two intervals (Karr et al. 2006) is the mean of the shares of each that lie in the other, 0 where
    they do not meet. Estimates are weighted by the weights of each file, with robust (sandwich) standard errors.
    Records with a gap are left out. Categories enter as indicators, the most frequent one of the original file as
    reference; categories that only one file has are one problem, reported as an error.

    Parameters
    ----------
    target : str
        Continuous.
    on : sequence of str
        Columns of any scale.
    level : float

    Returns
    -------
    Measure
        `value` is 1 minus the mean overlap; `details` has, for every coefficient, both estimates, the overlap, and
        the difference in standard errors of the original one.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"x": np.arange(9.0), "y": [1, 3, 2, 5, 4, 6, 9, 7, 8]})
    >>> md.utility.regression_fit(people, people, target="y", on=["x"]).value
    0.0
    """
    if not 0 < level < 1:
        raise InputError(f"level must be between 0 and 1, not {level!r}")
    both = pair(original, masked, schema, _no_links(masked))
    common_columns(both, [target], (Scale.CONTINUOUS,), "continuous")
    names = common_columns(both, on, ANY, "explanatory")
    words, x, xm = _regressors(both, names)
    fits = [
        _least_squares(values, records.numbers(target), records.weights(), what)
        for values, records, what in ((x, both.original, "original"), (xm, both.masked, "masked"))
    ]
    z = float(stats.norm.ppf(0.5 + level / 2))
    details: dict[str, Any] = {}
    overlaps = []
    for k, word in enumerate(words):
        (b, e), (c, f) = (fits[0][0][k], fits[0][1][k]), (fits[1][0][k], fits[1][1][k])
        overlap = _overlap((b - z * e, b + z * e), (c - z * f, c + z * f))
        overlaps.append(overlap)
        details[word] = {
            "original": float(b), "masked": float(c), "overlap": overlap,
            "difference in standard errors": float((c - b) / e) if e > 0 else None,
        }  # fmt: skip
    return Measure("regression", 1.0 - float(np.mean(overlaps)), None, details)


def _overlap(one: tuple[float, float], other: tuple[float, float]) -> float:
    low, high = max(one[0], other[0]), min(one[1], other[1])
    if high < low:
        return 0.0
    sizes = [a[1] - a[0] for a in (one, other)]
    if min(sizes) <= 0:
        # an interval without length: inside the other one, or the same
        return 1.0 if max(sizes) <= 0 else 0.5
    return float((high - low) * (1 / sizes[0] + 1 / sizes[1]) / 2)


def _regressors(both: Pair, names: Sequence[str]) -> tuple[list[str], Floats, Floats]:
    words, one, other = ["constant"], [np.ones(len(both.original))], [np.ones(len(both.masked))]
    for name in names:
        if both.original.scale(name) is Scale.CONTINUOUS:
            words.append(name)
            one.append(both.original.numbers(name))
            other.append(both.masked.numbers(name))
            continue
        a, values, b = _together(both.original, both.masked, name)
        counts, there = np.bincount(a, minlength=len(values) + 1), np.bincount(b, minlength=len(values) + 1)
        odd = [str(v) for k, v in enumerate(values) if (counts[k] > 0) != (there[k] > 0)]
        if odd:
            raise InputError(f"column '{name}': only one of the files has {', '.join(odd[:5])}; recode both alike")
        reference = int(np.argmax(counts[:-1]))
        for k, value in enumerate(values):
            if k != reference:
                words.append(f"{name}={value}")
                one.append(np.where(a == len(values), np.nan, a == k))
                other.append(np.where(b == len(values), np.nan, b == k))
    return words, np.column_stack(one), np.column_stack(other)


def _least_squares(x: Floats, y: Floats, w: Floats, what: str) -> tuple[Floats, Floats]:
    """Return weighted estimates and robust standard errors."""
    there = ~(np.isnan(x).any(axis=1) | np.isnan(y))
    x, y, w = x[there], y[there], w[there]
    n, k = x.shape
    if n <= k or np.linalg.matrix_rank(x * np.sqrt(w)[:, None]) < k:
        raise InputError(f"the regression cannot be fitted to the {what} file: {n} complete records, {k} coefficients")
    inner = np.linalg.inv(x.T @ (x * w[:, None]))
    b = inner @ (x.T @ (w * y))
    residual = (y - x @ b) * w
    meat = x.T @ (x * (residual**2)[:, None]) * n / (n - k)
    return b, np.sqrt(np.maximum(np.diag(inner @ meat @ inner), 0))
