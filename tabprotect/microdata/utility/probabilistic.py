"""Bounded probabilistic information loss (Mateo-Sanz, Domingo-Ferrer and Sebe 2005)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import stats

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds
from tabprotect.microdata.risk.base import Measure, pair
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.utility.columns import common_columns

__all__ = ["probabilistic_loss"]

Floats = npt.NDArray[np.float64]

SHARES = tuple(round(0.05 * i, 2) for i in range(1, 20))


@of_kinds()
def probabilistic_loss(
    original: Any, masked: Any, schema: Schema | None = None, *, columns: Sequence[str] | None = None
) -> Measure:
    """Return how surely statistics of the masked file differ from those of the original one, from 0 to 1.

    The original records are seen as a sample of a population. A statistic t of the sample has standard error s; with
    t' of the masked file the loss is ``2 P(0 <= Z <= |t - t'| / s) = 2 Phi(|t - t'| / s) - 1`` for normal Z. It is 0
    for equal statistics and goes to 1 for those that no sample would show. Statistics and standard errors
    (moments of the sample, n records):

    means: sqrt(mu_2 / n); variances: sqrt((mu_4 - mu_2^2) / n); covariances: sqrt((mu_22 - mu_11^2) / n);
    correlations: (1 - r^2) / sqrt(n); quantiles at 5, 10, ..., 95 %: sqrt(q (1 - q) / n) over a kernel estimate of the
    density there, or, without spread, 0. A standard error of 0 gives loss 0 for equal statistics, else 1.

    Records with a gap are left out. Weights are not used: the standard errors are those of simple random samples.

    Returns
    -------
    Measure
        `value` is the mean over the kinds of statistics; `details` has the mean of each kind.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"x": np.arange(100.0)})
    >>> md.utility.probabilistic_loss(people, people).value
    0.0
    >>> round(md.utility.probabilistic_loss(people, people + 2.9).details["means"], 2)
    0.68
    """
    both = pair(original, masked, schema, -np.ones(_count(masked), dtype=np.int64))
    names = common_columns(both, columns, (Scale.CONTINUOUS,), "continuous")
    x, y = both.original.matrix(names), both.masked.matrix(names)
    x, y = x[~np.isnan(x).any(axis=1)], y[~np.isnan(y).any(axis=1)]
    if len(x) < 3 or len(y) < 3:
        raise InputError(f"too few complete records: {len(x)} original and {len(y)} masked ones, 3 are needed of each")
    losses = {key: _bounded(*parts) for key, parts in _statistics(x, y).items()}
    details: dict[str, Any] = {key: float(values.mean()) for key, values in losses.items() if len(values)}
    value = float(np.mean(list(details.values())))
    return Measure("probabilistic information loss", value, None, {**details, "columns": names})


def _count(masked: Any) -> int:
    from tabprotect.microdata.masked import Masked
    from tabprotect.microdata.records import read_records

    return len(masked.records) if isinstance(masked, Masked) else len(read_records(masked, Schema()))


def _bounded(t: Floats, u: Floats, error: Floats) -> Floats:
    off = np.abs(t - u)
    # differences within rounding of the sums are none
    same = off <= 1e-12 * np.maximum(np.abs(t), np.abs(u))
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(error > 0, off / error, np.inf)
    return np.asarray(np.where(same, 0.0, 2 * stats.norm.cdf(z) - 1))


def _statistics(x: Floats, y: Floats) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Return statistics of both files and their standard errors, by kind."""
    n, k = x.shape
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    var, other = (a**2).mean(axis=0), (b**2).mean(axis=0)
    i, j = np.triu_indices(k, 1)
    cov, cov_other = (a[:, i] * a[:, j]).mean(axis=0), (b[:, i] * b[:, j]).mean(axis=0)
    size, size_other = np.sqrt(var[i] * var[j]), np.sqrt(other[i] * other[j])
    r = np.divide(cov, size, out=np.zeros_like(cov), where=size > 0)
    r_other = np.divide(cov_other, size_other, out=np.zeros_like(cov), where=size_other > 0)
    mixed = (a[:, i] ** 2 * a[:, j] ** 2).mean(axis=0)
    shares = np.array(SHARES)
    q, q_other = np.quantile(x, shares, axis=0), np.quantile(y, shares, axis=0)
    density = np.column_stack([_density(x[:, c], q[:, c]) for c in range(k)])
    with np.errstate(divide="ignore"):
        error = np.where(density > 0, np.sqrt(shares * (1 - shares) / n)[:, None] / density, 0.0)
    return {
        "means": (x.mean(axis=0), y.mean(axis=0), np.sqrt(var / n)),
        "variances": (var, other, np.sqrt(np.maximum((a**4).mean(axis=0) - var**2, 0) / n)),
        "covariances": (cov, cov_other, np.sqrt(np.maximum(mixed - cov**2, 0) / n)),
        "correlations": (r, r_other, (1 - r**2) / np.sqrt(n)),
        "quantiles": (q.ravel(), q_other.ravel(), error.ravel()),
    }


def _density(values: Floats, at: Floats) -> Floats:
    """Return a kernel estimate of a density; 0 for a constant."""
    if np.ptp(values) == 0:
        return np.zeros(len(at))
    # quantiles of the sample stand for it: the estimate takes as long for a million records as for a thousand
    few = values if len(values) <= 2000 else np.quantile(values, (np.arange(2000) + 0.5) / 2000)
    width = 0.9 * min(values.std(), float(np.subtract(*np.quantile(values, [0.75, 0.25]))) / 1.34 or values.std())
    width *= len(values) ** -0.2
    return np.asarray(stats.norm.pdf((at[:, None] - few[None, :]) / width).mean(axis=1) / width)
