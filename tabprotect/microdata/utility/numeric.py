"""Information loss of continuous columns: differences of data and of their statistics.

The statistics are those of Domingo-Ferrer, Mateo-Sanz and Torra (2001), as in the survey of Ciriani et al. (2007,
section 6.1): data, means, covariances, correlations, first principal components, and quantiles.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.kinds import of_kinds
from tabprotect.microdata.masking.coding import weighted_quantile
from tabprotect.microdata.risk.base import Measure, pair
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema
from tabprotect.microdata.utility.columns import common_columns

__all__ = ["moments", "numeric_loss"]

Floats = npt.NDArray[np.float64]

QUANTILES = tuple(round(0.05 * i, 2) for i in range(1, 20))


@of_kinds()
def numeric_loss(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    columns: Sequence[str] | None = None,
    links: Any = None,
) -> Measure:
    """Return how much data and statistics of continuous columns differ.

    For each of data, means, covariance, correlation, loadings and quantiles, `details` has

    ``MSE``
        mean of squared differences;
    ``MAE``
        mean of absolute differences;
    ``MV``
        mean variation: of ``|x - x'| / |x|`` over the entries with x other than 0; ``skipped`` counts the others.

    Data are compared for linked records (unweighted), everything else for the whole files, with weights. Loadings are
    correlations of the columns with the first principal component of the standardised columns, its sign such that
    the largest one is positive. A missing value leaves its record out of the data of its column; of moments, every
    record with a gap is left out (``complete`` says how many are used).

    Returns
    -------
    Measure
        `value` is the mean of the bounded mean variations, each min(MV, 1), over the six: 0 for an unchanged file, at
        most 1. `records` has, for every masked record, its mean absolute difference in standard deviations of the
        original columns; nan without a link.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [4.0, 1.0, 2.0, 8.0]})
    >>> found = md.utility.numeric_loss(people, people.assign(a=[1.0, 2.0, 3.0, 6.0]))
    >>> found.details["data"]["MSE"], found.details["means"]["MAE"]
    (0.5, 0.25)
    """
    both = pair(original, masked, schema, links)
    names = common_columns(both, columns, (Scale.CONTINUOUS,), "continuous")
    before, after = both.aligned()
    x, y = before.matrix(names), after.matrix(names)
    details: dict[str, Any] = {"data": _differences(x, y)}
    whole = both.original.matrix(names), both.masked.matrix(names)
    used = []
    found = []
    for values, records in zip(whole, (both.original, both.masked), strict=True):
        complete = ~np.isnan(values).any(axis=1)
        used.append(int(complete.sum()))
        found.append(moments(values[complete], records.weights()[complete]))
    details |= {key: _differences(found[0][key], found[1][key]) for key in found[0]}
    losses = [min(one["MV"], 1.0) for one in details.values() if one["MV"] is not None]
    details["complete"] = {"original": used[0], "masked": used[1]}
    details["columns"] = names
    scale = np.array([np.nanstd(whole[0][:, k]) if (~np.isnan(whole[0][:, k])).any() else 0 for k in range(len(names))])
    records_loss = np.full(len(both.links), np.nan)
    with np.errstate(invalid="ignore"):
        parts = np.abs(x - y) / np.where(scale > 0, scale, 1.0)
    count = (~np.isnan(parts)).sum(axis=1)
    each = np.where(count > 0, np.nansum(parts, axis=1) / np.maximum(count, 1), np.nan)
    records_loss[both.links >= 0] = each
    return Measure("information loss, continuous", float(np.mean(losses)) if losses else 0.0, records_loss, details)


def moments(values: Floats, weights: Floats) -> dict[str, Floats]:
    """Return weighted statistics of complete records, as arrays without repetition.

    Examples
    --------
    >>> moments(np.array([[1.0], [3.0]]), np.ones(2))["means"].tolist()
    [2.0]
    """
    k = values.shape[1]
    empty = np.full(k, np.nan)
    if len(values) < 2:
        return {"means": empty, "covariance": empty, "correlation": empty, "loadings": empty, "quantiles": empty}
    means = np.average(values, axis=0, weights=weights)
    covariance = np.atleast_2d(np.cov(values, rowvar=False, aweights=weights, ddof=0))
    spread = np.sqrt(np.diag(covariance))
    safe = np.where(spread > 0, spread, 1.0)
    correlation = covariance / np.outer(safe, safe)
    np.fill_diagonal(correlation, 1.0)
    sizes, vectors = np.linalg.eigh(correlation)
    loadings = vectors[:, -1] * np.sqrt(max(sizes[-1], 0.0))
    loadings *= np.sign(loadings[np.argmax(np.abs(loadings) > np.abs(loadings).max() * (1 - 1e-9))])
    quantiles = [weighted_quantile(values[:, c], weights, share) for c in range(k) for share in QUANTILES]
    upper = np.triu_indices(k)
    strict = np.triu_indices(k, 1)
    return {
        "means": means,
        "covariance": covariance[upper],
        "correlation": correlation[strict],
        "loadings": loadings,
        "quantiles": np.array(quantiles),
    }


def _differences(x: Floats, y: Floats) -> dict[str, Any]:
    """Return MSE, MAE and mean variation of two arrays, None where there is nothing to compare."""
    if x.shape != y.shape:
        # one file has too few complete records for its statistics
        return {"MSE": None, "MAE": None, "MV": 1.0, "skipped": 0}
    there = ~(np.isnan(x) | np.isnan(y))
    a, b = x[there], y[there]
    if not len(a):
        return {"MSE": None, "MAE": None, "MV": None, "skipped": 0}
    off, nonzero = np.abs(a - b), a != 0
    variation = float((off[nonzero] / np.abs(a[nonzero])).mean()) if nonzero.any() else None
    return {
        "MSE": float((off**2).mean()),
        "MAE": float(off.mean()),
        "MV": variation,
        "skipped": int((~nonzero).sum()),
    }
