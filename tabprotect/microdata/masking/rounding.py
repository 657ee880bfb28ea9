"""Rounding of records (survey of Ciriani et al., section 4.2; Eustat notebook, perturbation of microdata)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.errors import Problems
from tabprotect.microdata.checks import ROUNDING
from tabprotect.microdata.claims import Claim, claim_kind
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["Rounding"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Rounding(Method):
    """Values become rounding points: multiples of a base, given points, or (multivariate) the nearest given record.

    The rounding set of a point p is [p - b/2, p + b/2): what is half way goes up. Missing values stay missing
    (multivariate: a record with one stays as it is). Weights and strata are not looked at.

    Parameters
    ----------
    columns : str or sequence of str
        Continuous columns.
    base : float, optional
        Points are its multiples.
    points : sequence of float, or of sequences of float, optional
        Or these points; what lies beyond the outer ones goes to them. Points that are sequences have one number a
        column: each record becomes the point that is nearest in standardised Euclidean distance.
    direction : {'nearest', 'random'}
        'random' rounds up with the probability that makes the expectation the true value (unbiased); only between
        the two neighbouring points of single columns.

    Examples
    --------
    Temperatures of the survey, with base 1 and the points 36 to 39:

    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"temp": [35.2, 37.7, 35.3, 40.1]})
    >>> md.mask(frame, None, md.Rounding("temp", points=[36, 37, 38, 39])).frame["temp"].tolist()
    [36.0, 38.0, 36.0, 39.0]
    """

    name: ClassVar[str] = "rounding"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("on-points",)
    source: ClassVar[str] = "Ciriani et al. 2007, section 4.2 (rounding)"

    columns: Sequence[str] | str
    base: float | None = None
    points: Sequence[float] | Sequence[Sequence[float]] | None = None
    direction: Literal["nearest", "random"] = "nearest"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "base", problems, above=0, optional=True)
        need_choice(self, "direction", problems, ("nearest", "random"))
        if (self.base is None) == (self.points is None):
            problems.add("rounding: give either base or points")
        if self.points is None or problems.found:
            return
        try:
            points = np.asarray(self.points, dtype=np.float64)
        except (ValueError, TypeError):
            points = np.full(1, np.nan)
        if points.ndim not in (1, 2) or not points.size or not np.isfinite(points).all():
            problems.add("rounding: points must be numbers, or lists with one number a column")
            return
        if points.ndim == 2 and points.shape[1] != len(self.columns):
            problems.add(f"rounding: every point must have {len(self.columns)} numbers, not {points.shape[1]}")
        if points.ndim == 2 and self.direction == "random":
            problems.add("rounding: direction='random' is for single columns")
        object.__setattr__(self, "points", tuple(map(tuple, points.tolist())) if points.ndim == 2 else _sorted(points))

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def apply(self, call: MethodCall) -> Masking:
        """Round."""
        records = call.records
        values = records.matrix(self.columns)
        points = None if self.points is None else np.asarray(self.points, dtype=np.float64)
        if points is not None and points.ndim == 2:
            new = _nearest_record(values, points)
        else:
            new = np.column_stack([self._one(values[:, j], points, call.rng) for j in range(values.shape[1])])
        for j, name in enumerate(self.columns):
            records = records.with_numbers(name, new[:, j])
        given = {
            "columns": list(self.columns),
            "base": self.base,
            "points": None if points is None else points.tolist(),
        }
        claims: tuple[Claim, ...] = ()
        if points is None or points.ndim == 1:
            where = f"multiples of {self.base:g}" if self.base else "the given points"
            claims = (
                Claim("on-points", tuple(self.columns), f"values of {', '.join(self.columns)} are {where}", given),
            )
        moved = np.abs(new - values)
        facts = {n: float(np.nanmax(moved[:, j], initial=0.0)) for j, n in enumerate(self.columns)}
        return Masking(records, {"largest change": facts}, claims)

    def _one(self, x: Floats, points: Floats | None, rng: np.random.Generator) -> Floats:
        if points is None:
            assert self.base is not None
            below = np.floor(x / self.base)
            low, high = below * self.base, (below + 1) * self.base
        else:
            at = np.clip(np.searchsorted(points, x, side="right") - 1, 0, len(points) - 1)
            low, high = points[at], points[np.minimum(at + 1, len(points) - 1)]
            low, high = np.where(np.isnan(x), np.nan, low), np.where(x < points[0], low, high)
        gap = np.where(high > low, high - low, 1.0)
        share = np.clip((x - low) / gap, 0, 1)
        if self.direction == "random":
            return np.where(np.isnan(x), np.nan, np.where(rng.random(len(x)) < share, high, low))
        return np.where(np.isnan(x), np.nan, np.where(share >= 0.5, high, low))


def _sorted(points: Floats) -> tuple[float, ...]:
    return tuple(np.unique(points).tolist())


def _nearest_record(values: Floats, points: Floats) -> Floats:
    whole = ~np.isnan(values).any(axis=1)
    spread = values[whole].std(axis=0) if whole.any() else np.ones(values.shape[1])
    spread = np.where(spread > 0, spread, 1.0)
    new = values.copy()
    if whole.any():
        new[whole] = points[cKDTree(points / spread).query(values[whole] / spread)[1]]
    return new


@claim_kind("on-points")
def _on_points(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Every value is a multiple of a base, or one of some points."""
    for name in given["columns"]:
        x = after.numbers(name)
        x = x[~np.isnan(x)]
        if given["base"] is not None:
            off = np.abs(x / given["base"] - np.rint(x / given["base"])) > ROUNDING * np.maximum(
                np.abs(x / given["base"]), 1
            )
        else:
            off = ~np.isin(x, np.asarray(given["points"]))
        if off.any():
            return f"{int(off.sum())} values of '{name}' are not"
    return ""
