"""Attribute disclosure: how well the keys give a confidential value away in the masked file."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import collect, did_you_mean
from tabprotect.kinds import of_kinds
from tabprotect.microdata.masked import Masked
from tabprotect.microdata.records import read_records
from tabprotect.microdata.risk.base import Measure, Pair, pair
from tabprotect.microdata.risk.limits import joint_strata
from tabprotect.microdata.scales import Scale
from tabprotect.microdata.schema import Schema

__all__ = ["attribute_disclosure"]

Floats = npt.NDArray[np.float64]


@of_kinds()
def attribute_disclosure(
    original: Any,
    masked: Any,
    schema: Schema | None = None,
    *,
    column: str,
    tolerance: float = 0.0,
    links: Any = None,
) -> Measure:
    """Return how well the keys give a confidential value away in the masked file.

    An intruder who knows the true keys of a respondent looks up all masked records with these keys and guesses among
    their values at random. The risk of an original record is the share of them that is right: equal for categories,
    within ``tolerance`` times the true value for numbers. Without a masked record of these keys nothing is learned,
    and the risk is 0. Which masked record is whose is not used, so files may differ in length.

    Parameters
    ----------
    original, masked : frame of any kind, or Masked
    schema : Schema
        Its keys are what the intruder knows.
    column : str
        The confidential column.
    tolerance : float
        Relative, for continuous columns; 0 asks for equal values.
    links : array_like of int, optional
        Not needed.

    Returns
    -------
    Measure
        `value` is the mean over original records (weighted, if the schema has a weight), `records` the risk of each.
        `details` has the share that is right when the keys are not used, for comparison. A missing true value is at
        no risk; missing keys are values of their own.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": [1, 1, 2, 2], "ill": ["yes", "no", "no", "no"]})
    >>> md.risk.attribute_disclosure(people, people, md.Schema(keys=["age"], confidential=["ill"]), column="ill").value
    0.75
    """
    longer = -np.ones(_length(masked), dtype=np.int64) if links is None else links
    both = pair(original, masked, schema, longer)
    keys = [name for name in both.original.schema.keys if name in both.masked.columns]
    with collect() as problems:
        if not keys:
            problems.add("no key of the schema is released")
        if column not in both.original.columns or column not in both.masked.columns:
            problems.add(f"no column '{column}' in both files{did_you_mean(column, both.original.columns)}")
        if not isinstance(tolerance, int | float) or tolerance < 0 or not np.isfinite(tolerance):
            problems.add(f"tolerance must be a number of at least 0, not {tolerance!r}")
    one, other = joint_strata(both.original, both.masked, keys)
    values, masked_values = _numbers(both, column)
    risk = _hits(one, values, other, masked_values, tolerance)
    blind = _hits(np.zeros_like(one), values, np.zeros_like(other), masked_values, tolerance)
    weights = both.original.weights()
    details = {"column": column, "keys": keys, "without keys": float(np.average(blind, weights=weights))}
    return Measure("attribute disclosure", float(np.average(risk, weights=weights)), risk, details)


def _length(masked: Any) -> int:
    return len(masked.records) if isinstance(masked, Masked) else len(read_records(masked, Schema()))


def _numbers(both: Pair, column: str) -> tuple[Floats, Floats]:
    """Return the values of a column as numbers, categories by number; nan as missing."""
    if both.original.scale(column) is Scale.CONTINUOUS:
        return both.original.numbers(column), both.masked.numbers(column)
    one, other = both.original.categories(column), both.masked.categories(column)
    place = {str(v): float(i) for i, v in enumerate(one.values)}
    return (
        np.array([*map(float, range(len(one.values))), np.nan])[one.index],
        np.array([place.get(str(v), -1.0 - i) for i, v in enumerate(other.values)] + [np.nan])[other.index],
    )


def _hits(group: Any, x: Floats, masked_group: Any, y: Floats, tolerance: float) -> Floats:
    """Return, for every true value, the share of the masked values of its group that are as close as asked."""
    kinds = int(max(group.max(initial=0), masked_group.max(initial=0))) + 1
    sizes = np.bincount(masked_group, minlength=kinds)
    there = ~np.isnan(y)
    order = np.lexsort((y[there], masked_group[there]))
    groups, ordered = masked_group[there][order], y[there][order]
    start = np.searchsorted(groups, np.arange(kinds + 1))
    reach = np.where(np.isnan(x), 0.0, np.abs(x) * tolerance)
    # one sorted sequence of (group, value): positions are found for all records at once by ranks of values
    known = np.unique(np.concatenate([ordered, x[~np.isnan(x)]]))
    rank = np.searchsorted(known, ordered)
    spots = groups * (len(known) + 1) + rank
    low = group * (len(known) + 1) + np.searchsorted(known, x - reach, side="left")
    high = group * (len(known) + 1) + np.searchsorted(known, x + reach, side="right") - 1
    count = np.searchsorted(spots, high, side="right") - np.searchsorted(spots, low, side="left")
    size = sizes[group]
    found = np.where((size > 0) & ~np.isnan(x), np.maximum(count, 0) / np.maximum(size, 1), 0.0)
    assert start[-1] == len(ordered)
    return np.asarray(found)
