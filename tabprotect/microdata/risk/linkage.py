"""Record linkage: how many released records an intruder with the original values finds (survey, section 6.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import linalg, optimize

from tabprotect.errors import InputError, Problems, SolverError, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.base import Measure, pair
from tabprotect.microdata.risk.nearest import SAME, by_blocks, by_tree, gower_space
from tabprotect.microdata.risk.transparency import with_the_method
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema

__all__ = ["assignment_linkage", "distance_linkage", "linked_columns", "rank_linkage", "scaled"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Metric = Literal["euclidean", "mahalanobis", "gower"]

MOST = 5_000
"""Records that are assigned one to one."""


@of_kinds()
def distance_linkage(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    columns: Sequence[str] | None = None,
    metric: Metric = "euclidean",
    weights: Mapping[str, float] | None = None,
) -> Measure:
    """Share of the original records whose nearest masked record is their own; ties are shared out.

    An intruder has the original values of some columns and links each record to the nearest masked one. Where t masked
    records are equally near, each of them that is right counts 1 / t. Records with a missing value in one of the
    columns are not linked and count as not found.

    Parameters
    ----------
    original : frame of any kind
    masked : frame of any kind, or Masked
        Of a `Masked`, ``details["with the method"]`` is what `transparency` says of the same columns.
    schema : Schema
    columns : sequence of str, optional
        What the intruder knows; by default all continuous columns that both files have, for 'gower' all keys.
    metric : {'euclidean', 'mahalanobis', 'gower'}
        Of numbers standardised by the original file; of the original covariance matrix; or, for any scales, the mean of
        differences by column (numbers: over their range in both files; others: 0 or 1).
    weights : mapping of str to float, optional
        Importance of columns; 1 by default. Not for 'mahalanobis'.

    Returns
    -------
    Measure
        ``value``: expected share of original records found; ``records``: the probability that each is.

    Raises
    ------
    InputError
        If there is no column, one is not there, or a metric does not fit.

    Examples
    --------
    >>> import pandas as pd
    >>> original = pd.DataFrame({"x": [1.0, 2.0, 10.0]})
    >>> distance_linkage(original, pd.DataFrame({"x": [1.5, 1.5, 9.0]})).records.tolist()
    [0.5, 0.5, 1.0]
    """
    files = pair(original, masked, schema)
    first, second, links = files.original, files.masked, files.links
    names = linked_columns(first, second, columns, metric)
    if metric not in ("euclidean", "mahalanobis", "gower"):
        raise InputError(f"metric must be 'euclidean', 'mahalanobis' or 'gower', not {metric!r}")
    importance = _importance(weights, names, metric)
    if metric == "gower":
        share = np.asarray(importance / importance.sum())
        space = gower_space(first, second, names)
        found = by_blocks(first, second, names, share, links) if space is None else space.weighted(share).linked(links)
    else:
        x, y = first.matrix(names), second.matrix(names)
        x, y = scaled(x, y, metric, importance)
        found = by_tree(x, y, links, len(first))
    details = {"columns": names, "metric": metric, "records linked": len(first)}
    details |= with_the_method(original, masked, schema, names)
    return Measure("distance linkage", float(found.mean()), found, details)


@of_kinds()
def rank_linkage(
    original: Any, masked: Any, schema: Schema | None = None, *, columns: Sequence[str] | None = None
) -> Measure:
    """Distance linkage on ranks (as shares of the file) instead of values; see `distance_linkage`.

    Examples
    --------
    >>> import pandas as pd
    >>> rank_linkage(pd.DataFrame({"x": [1.0, 2.0, 10.0]}), pd.DataFrame({"x": [5.0, 6.0, 7.0]})).value
    1.0
    """
    files = pair(original, masked, schema)
    names = linked_columns(files.original, files.masked, columns, "euclidean")
    x, y = (_ranks(records.matrix(names)) for records in (files.original, files.masked))
    found = by_tree(x, y, files.links, len(files.original))
    details = {"columns": names, **with_the_method(original, masked, schema, names)}
    return Measure("rank linkage", float(found.mean()), found, details)


@of_kinds()
def assignment_linkage(
    original: Any, masked: Any, schema: Schema | None = None, *, columns: Sequence[str] | None = None
) -> Measure:
    """Share of records found by an intruder who links the files one to one with the least total distance.

    The assignment is checked: it uses every record once, and dual values that are rebuilt from it prove that none has a
    smaller total. Records with missing values are left out.

    Parameters
    ----------
    original, masked, schema, columns
        As in `distance_linkage` (Euclidean distances of standardised numbers).

    Raises
    ------
    InputError
        With more than 5,000 records (the distances are a square table).
    SolverError
        If the answer is no optimal assignment.

    Examples
    --------
    >>> import pandas as pd
    >>> original = pd.DataFrame({"x": [1.0, 2.0, 10.0]})
    >>> assignment_linkage(original, pd.DataFrame({"x": [1.6, 1.4, 9.0]})).records.tolist()
    [0.0, 0.0, 1.0]
    """
    files = pair(original, masked, schema)
    names = linked_columns(files.original, files.masked, columns, "euclidean")
    x, y = scaled(files.original.matrix(names), files.masked.matrix(names), "euclidean", np.ones(len(names)))
    mine, theirs = np.flatnonzero(~np.isnan(x).any(axis=1)), np.flatnonzero(~np.isnan(y).any(axis=1))
    if max(len(mine), len(theirs)) > MOST:
        raise InputError(f"{max(len(mine), len(theirs)):,} records are more than {MOST:,}; take distance_linkage")
    cost = np.sqrt(np.maximum(((x[mine, None, :] - y[None, theirs, :]) ** 2).sum(axis=2), 0))
    rows, columns_of = optimize.linear_sum_assignment(cost)
    _check_assignment(cost, rows, columns_of)
    found = np.zeros(len(files.original))
    found[mine[rows]] = files.links[theirs[columns_of]] == mine[rows]
    details = {"columns": names, "total distance": float(cost[rows, columns_of].sum()), "records linked": len(rows)}
    details |= with_the_method(original, masked, schema, names)
    return Measure("one-to-one linkage", float(found.mean()), found, details)


def _check_assignment(cost: Floats, rows: Ints, columns: Ints) -> None:
    """Prove optimality: no cycle of exchanges has a negative total (Bellman-Ford over rows finds dual values)."""
    if len(np.unique(rows)) < len(rows) or len(np.unique(columns)) < len(columns) or len(rows) < min(cost.shape):
        raise SolverError("the assignment does not use every record once")
    if cost.shape[0] > cost.shape[1]:
        cost, rows, columns = cost.T, columns, rows
    # rows that cost nothing take the columns that are left over: the problem is square, its optimum the same
    n, m = cost.shape
    order = np.empty(m, dtype=np.int64)
    order[rows] = columns
    order[n:] = np.setdiff1d(np.arange(m), columns)
    cost = np.vstack([cost, np.zeros((m - n, m))])
    # what row i would pay for the column of row j, beyond what j pays
    gain = cost[:, order] - np.diag(cost[:, order])[None, :]
    potential = np.zeros(len(gain))
    slack = SAME * (1 + float(cost.max(initial=0.0)))
    for _ in range(len(gain) + 1):
        better = (potential[:, None] + gain).min(axis=0)
        if (better >= potential - slack).all():
            return
        potential = np.minimum(potential, better)
    raise SolverError("the assignment is not the one with the least total distance")


def _importance(weights: Mapping[str, float] | None, names: Sequence[str], metric: str) -> Floats:
    given = dict(weights or {})
    problems = Problems()
    if given and metric == "mahalanobis":
        problems.add("mahalanobis takes no weights")
    for name, value in given.items():
        if name not in names:
            problems.add(f"weights name '{name}', no linked column{did_you_mean(name, names)}")
        elif isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) < np.inf:
            problems.add(f"the weight of column '{name}' must be a number of at least 0, not {value!r}")
    problems.raise_if_any()
    found = np.array([float(given.get(name, 1.0)) for name in names])
    if not found.any():
        raise InputError("the weights of all linked columns are 0; one must be above")
    return found


def linked_columns(first: Records, second: Records, columns: Sequence[str] | str | None, metric: str) -> list[str]:
    """Return the columns to link by, those given or the default of the metric."""
    if columns is None:
        both = [name for name in first.columns if name in second.columns]
        schema = first.schema
        not_these = {*schema.identifiers, schema.weight, schema.household}
        if metric == "gower" and schema.keys:
            found = [name for name in schema.keys if name in both]
        else:
            continuous = [name for name in both if first.scale(name) is Scale.CONTINUOUS]
            found = [name for name in (both if metric == "gower" else continuous) if name not in not_these]
    else:
        found = [columns] if isinstance(columns, str) else list(columns)
        gone = [name for name in found if name not in first.columns or name not in second.columns]
        if gone:
            raise InputError(f"column '{gone[0]}' is not in both files")
    if not found:
        raise InputError("there is no column to link by; give columns=")
    if metric != "gower":
        wrong = [name for name in found if first.scale(name) is not Scale.CONTINUOUS]
        if wrong:
            raise InputError(f"column '{wrong[0]}' is {first.scale(wrong[0])}; take metric='gower'")
    return found


def scaled(x: Floats, y: Floats, metric: str, importance: Floats) -> tuple[Floats, Floats]:
    """Return both files in coordinates in which distances are Euclidean."""
    whole = x[~np.isnan(x).any(axis=1)]
    if not len(whole):
        raise InputError("every original record misses a value of the linked columns")
    if metric == "mahalanobis":
        found, vectors = linalg.eigh(np.atleast_2d(np.cov(whole, rowvar=False, ddof=0)))
        if found.max(initial=0) <= 0:
            raise InputError("no linked column varies, so there is no Mahalanobis distance; take metric='euclidean'")
        keep = found > found.max(initial=0) * SAME
        turn = vectors[:, keep] / np.sqrt(found[keep])
        return x @ turn, y @ turn
    spread = np.where(whole.std(axis=0) > 0, whole.std(axis=0), 1.0)
    scale = np.sqrt(importance) / spread
    return x * scale, y * scale


def _ranks(x: Floats) -> Floats:
    ranked = np.full_like(x, np.nan)
    for j in range(x.shape[1]):
        there = ~np.isnan(x[:, j])
        known = np.sort(x[there, j])
        low, high = np.searchsorted(known, x[there, j], "left"), np.searchsorted(known, x[there, j], "right")
        ranked[there, j] = (low + high) / 2 / max(len(known), 1)
    return ranked
