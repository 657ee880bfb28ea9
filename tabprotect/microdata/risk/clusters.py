"""Linkage of files without common columns, by the structure of their clusters."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.cluster.vq import kmeans2
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from tabprotect.errors import InputError, Problems, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure, pair
from tabprotect.microdata.risk.linkage import linked_columns
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema
from tabprotect.seeds import Seed, as_seed

__all__ = ["cluster_linkage"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SHAPE = 0.25
"""Weight of spread and distances beside the share of the records, which both files of the same units have alike."""

STARTS = 10
"""Starts of k-means; the tightest partition is kept."""


@of_kinds()
def cluster_linkage(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    columns: Sequence[str] | str | None = None,
    masked_columns: Sequence[str] | str | None = None,
    clusters: int = 8,
    seed: Seed = 0,
) -> Measure:
    """Share of records found by an intruder whose file has no column in common with the masked one.

    Each file is partitioned by k-means on its own standardised columns. A cluster is described by what does not depend
    on the columns: its share of the records, its spread, and its distances to the other clusters, each relative to the
    whole file. Clusters of the two files are matched one to one at the least difference of the descriptions, and a
    record is linked to any record of the matched cluster with equal probability.

    A missing number stands at the mean of its column. Sampling weights play no part.

    Parameters
    ----------
    original : frame of any kind
    masked : frame of any kind, or Masked
    schema : Schema
    columns, masked_columns : str or sequence of str, optional
        Continuous columns of the original and of the masked file; by default those that both have.
    clusters : int
        At least 2.
    seed : int or numpy.random.Generator
        Of the starts of k-means.

    Returns
    -------
    Measure
        ``value``: expected share of original records found; ``records``: the probability that each is. Details: what
        a draw from all masked records would give.

    Raises
    ------
    InputError
        If columns are not there or not continuous, or clusters is no whole number of at least 2.

    References
    ----------
    Domingo-Ferrer and Torra (2003), "Disclosure risk assessment in statistical microdata protection via advanced record
    linkage", Statistics and Computing 13.

    Examples
    --------
    >>> import pandas as pd
    >>> at = np.repeat([0.0, 1.0, 5.0], [40, 20, 10])
    >>> people = pd.DataFrame({"income": at + np.linspace(0, 0.1, 70)})
    >>> masked = pd.DataFrame({"turnover": 7 - 2 * people["income"]})
    >>> found = cluster_linkage(people, masked, columns="income", masked_columns="turnover", clusters=3)
    >>> round(found.value, 4), round(found.details["by chance"], 4)
    (0.0429, 0.0143)
    """
    if isinstance(clusters, bool) or not isinstance(clusters, Integral) or clusters < 2:
        raise InputError(f"clusters must be a whole number of at least 2, not {clusters!r}")
    files = pair(original, masked, schema)
    first, second, links = files.original, files.masked, files.links
    if columns is None and masked_columns is None:
        mine = theirs = linked_columns(first, second, None, "euclidean")
    elif columns is None or masked_columns is None:
        raise InputError("give both columns and masked_columns, or none")
    else:
        mine, theirs = (_names(which, side) for which, side in ((columns, first), (masked_columns, second)))
    rng = np.random.default_rng(as_seed(seed))
    a, b = _standardised(first, mine), _standardised(second, theirs)
    left, right = (_partition(points, int(clusters), rng) for points in (a, b))
    partner = _match(cdist(_profiles(a, left), _profiles(b, right), "cityblock"))
    target, sizes = partner[left], np.bincount(right)
    linked = np.flatnonzero(links >= 0)
    same = target[links[linked]] == right[linked]
    own = np.bincount(links[linked[same]], minlength=len(left))
    found = np.where(target >= 0, own / sizes[np.maximum(target, 0)], 0.0)
    present = np.bincount(links[linked], minlength=len(left))
    details = {
        "columns": mine, "masked columns": theirs, "clusters": int(left.max()) + 1,
        "masked clusters": int(right.max()) + 1, "in the matched cluster": float((own > 0).mean()),
        "by chance": float(present.mean() / len(right)),
    }  # fmt: skip
    return Measure("cluster linkage", float(found.mean()), found, details)


def _names(given: Sequence[str] | str, records: Records) -> list[str]:
    names = [given] if isinstance(given, str) else list(given)
    problems = Problems()
    for name in names:
        if name not in records.columns:
            problems.add(f"no column '{name}'{did_you_mean(name, records.columns)}")
        elif records.scale(name) is not Scale.CONTINUOUS:
            problems.add(f"column '{name}' is {records.scale(name)}; clusters need continuous columns")
    problems.raise_if_any()
    if not names:
        raise InputError("clusters need at least one column of each file")
    return names


def _standardised(records: Records, names: Sequence[str]) -> Floats:
    values = records.matrix(names)
    there = ~np.isnan(values)
    if not there.any(axis=0).all():
        raise InputError(f"column '{names[int(there.any(axis=0).argmin())]}' has no value at all")
    spread = np.nanstd(values, axis=0)
    found = (values - np.nanmean(values, axis=0)) / np.where(spread > 0, spread, 1.0)
    return np.asarray(np.nan_to_num(found, nan=0.0))


def _partition(points: Floats, clusters: int, rng: np.random.Generator) -> Ints:
    """Return the cluster of every record, numbered without gaps."""
    different = np.unique(points, axis=0)
    many = min(clusters, len(different))
    best, least = np.zeros(len(points), dtype=np.int64), np.inf
    for _ in range(STARTS if many > 1 else 0):
        # a cluster may become empty: its centre stays where it was
        centres, found = kmeans2(points, _start(different, many, rng), minit="matrix", missing="warn")
        loss = float(((points - centres[found]) ** 2).sum())
        if loss < least:
            best, least = found.astype(np.int64), loss
    return np.unique(best, return_inverse=True)[1].astype(np.int64)


def _start(points: Floats, many: int, rng: np.random.Generator) -> Floats:
    """Draw different points, each with probability proportional to the squared distance from those drawn before."""
    chosen = [int(rng.integers(len(points)))]
    apart = ((points - points[chosen[0]]) ** 2).sum(axis=1)
    while len(chosen) < many:
        chosen.append(int(rng.choice(len(points), p=apart / apart.sum())))
        apart = np.minimum(apart, ((points - points[chosen[-1]]) ** 2).sum(axis=1))
    return points[chosen]


def _match(apart: Floats) -> Ints:
    """Return the cluster of the other file for each one, -1 for none."""
    rows, columns = linear_sum_assignment(apart)
    found = np.full(len(apart), -1, dtype=np.int64)
    found[rows] = columns
    return found


def _profiles(points: Floats, labels: Ints) -> Floats:
    """Describe every cluster by what does not depend on the columns."""
    k = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=k).astype(np.float64)
    centres = np.column_stack([np.bincount(labels, weights=c, minlength=k) for c in points.T]) / sizes[:, None]
    spread = np.sqrt(np.bincount(labels, weights=((points - centres[labels]) ** 2).sum(axis=1), minlength=k) / sizes)
    whole = max(float(np.sqrt((points**2).sum(axis=1).mean())), 1e-300)
    apart = np.sort(cdist(centres, centres), axis=1)[:, 1:]
    # quantiles make rows of files with other numbers of clusters comparable
    quantiles = np.quantile(apart, (0.0, 0.5, 1.0), axis=1).T if k > 1 else np.zeros((k, 3))
    # ratios count: a cluster twice as large is as far off as one half as large
    found = np.column_stack([sizes / sizes.sum(), spread / whole, quantiles / whole])
    return np.asarray(np.log(np.maximum(found, 1e-6)) * np.array([1.0, *[SHAPE] * (found.shape[1] - 1)]))
