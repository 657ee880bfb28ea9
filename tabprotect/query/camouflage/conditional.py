"""Aggregates over records that meet conditions on confidential fields: bounds where records lie between given ends.

A record *surely* meets the conditions if it does so at both of its ends, and *possibly* if it does so anywhere between
them. The aggregate is bounded over all sets with the sure records and some of the possible ones, each value as small
or as large as the ends and the conditions on its own field permit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.query.camouflage.conditions import Condition, met, surely_and_possibly
from tabprotect.query.camouflage.ranges import ROUNDING, Range
from tabprotect.query.camouflage.subdivision import outer_range

__all__ = ["Aggregate", "Conditional", "quantile"]

Floats = npt.NDArray[np.float64]
Aggregate = Literal["count", "sum", "mean", "minimum", "maximum"]


@dataclass(frozen=True)
class Conditional:
    """One aggregate under conditions on confidential fields.

    Attributes
    ----------
    aggregate : {'count', 'sum', 'mean', 'minimum', 'maximum'}
    field : str
        What is aggregated; not read by 'count'.
    where : sequence of Condition
        On confidential fields.
    """

    aggregate: Aggregate
    field: str
    where: Sequence[Condition]

    def range(self, rows: Mapping[str, Floats], n: int) -> tuple[Range, bool]:
        """Return bounds over the hull, and whether some vector may have no record that meets the conditions."""
        if not n:
            return (Range(0.0, 0.0, True) if self.aggregate in ("count", "sum") else _nothing()), True
        low = {f: p.min(axis=1) for f, p in rows.items()}
        high = {f: p.max(axis=1) for f, p in rows.items()}
        sure, possible = surely_and_possibly(self.where, low, high, n)
        error = 0.0
        if self.aggregate != "count":
            size = np.abs(rows[self.field]).max(axis=1)
            # means use cumulated sums, whose errors grow with the number of records
            error = ROUNDING * float(size.sum() if self.aggregate == "sum" else size.max() * max(1.0, n / 64))
        found = outer_range(rows, self.between, self.at, error)
        return (found if possible.any() or self.aggregate in ("count", "sum") else _nothing()), not sure.any()

    def between(self, low: Mapping[str, Floats], high: Mapping[str, Floats]) -> tuple[float, float]:
        """Return bounds of the aggregate where every record is between two ends; (inf, -inf) where it has no value."""
        n = len(next(iter(low.values())))
        sure, possible = surely_and_possibly(self.where, low, high, n)
        optional = possible & ~sure
        if self.aggregate == "count":
            return float(sure.sum()), float(possible.sum())
        start, end = _inside(self.where, self.field)
        a, b = np.maximum(low[self.field], start), np.minimum(high[self.field], end)
        if self.aggregate == "sum":
            down = a[sure].sum() + np.minimum(a[optional], 0).sum()
            up = b[sure].sum() + np.maximum(b[optional], 0).sum()
            return float(down), float(up)
        if not possible.any():
            return math.inf, -math.inf
        if self.aggregate == "mean":
            return _least_mean(a[sure], a[optional]), -_least_mean(-b[sure], -b[optional])
        if self.aggregate == "minimum":
            return float(a[possible].min()), float(b[sure].min() if sure.any() else b[possible].max())
        return float(a[sure].max() if sure.any() else a[possible].min()), float(b[possible].max())

    def at(self, values: Mapping[str, Floats]) -> float:
        """Return the aggregate for one vector; nan where no record meets the conditions."""
        n = len(next(iter(values.values())))
        keep = met(self.where, values, n)
        if self.aggregate == "count":
            return float(keep.sum())
        x = values[self.field][keep]
        if self.aggregate == "sum":
            return float(x.sum())
        if not len(x):
            return math.nan
        return float(x.mean() if self.aggregate == "mean" else x.min() if self.aggregate == "minimum" else x.max())


def quantile(p: Floats, level: float) -> Range:
    """Return bounds of a quantile (linear between order statistics): monotone in every record.

    Examples
    --------
    >>> low, high, exact = quantile(np.array([[1.0, 2, 3], [6.0, 5, 4], [3.0, 3, 3]]), 0.5)
    >>> round(low, 6), round(high, 6), exact
    (3.0, 3.0, True)
    """

    def between(low: Mapping[str, Floats], high: Mapping[str, Floats]) -> tuple[float, float]:
        return float(np.quantile(low[""], level)), float(np.quantile(high[""], level))

    return outer_range(
        {"": p}, between, lambda x: float(np.quantile(x[""], level)), ROUNDING * float(np.abs(p).max(initial=0.0))
    )


def _least_mean(sure: Floats, optional: Floats) -> float:
    """Least mean of all sure values and some optional ones: the smallest, as long as they lower it."""
    ascending = np.sort(optional)
    sums = np.concatenate([[0.0], np.cumsum(ascending)]) + sure.sum()
    counts = np.arange(len(ascending) + 1) + len(sure)
    some = counts > 0
    return float(np.min(sums[some] / counts[some]))


def _inside(where: Sequence[Condition], field: str) -> tuple[float, float]:
    mine = [(sign, value) for column, sign, value in where if column == field]
    return (
        max((float(v) for s, v in mine if s in (">", ">=")), default=-math.inf),
        min((float(v) for s, v in mine if s in ("<", "<=")), default=math.inf),
    )


def _nothing() -> Range:
    return Range(math.nan, math.nan, True)
