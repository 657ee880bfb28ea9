"""Fuzzy microaggregation: records are replaced by centres of fuzzy clusters, drawn by membership (Torra)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import Problems
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.microaggregation.outcome import check_sizes
from tabprotect.microdata.masking.microaggregation.space import Space, make_space
from tabprotect.microdata.method import Masking, Method, MethodCall
from tabprotect.microdata.parameters import as_columns, need_choice, need_number
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import NUMERIC, Scale

__all__ = ["FuzzyMicroaggregation", "fuzzy_centres", "memberships"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LARGEST = 20_000_000
"""Most entries of a matrix of memberships."""


@dataclass(frozen=True)
class FuzzyMicroaggregation(Method):
    """Every record is replaced by the centre of one of n / k fuzzy clusters, drawn by its memberships.

    Fuzzy c-means with exponent m1 finds ``c = ceil(n / k)`` centres on standardised columns; memberships to them are
    computed with exponent m2 and are the probabilities of the draw. As no record goes to a centre for certain, an
    intruder who knows method and parameters can exclude none.

    The average class has fewer than k records where k does not divide n, and no class is sure to have k: the sizes
    reached are among the facts. Sums and means are not kept.

    Strata, and records with the same missing values within them, are clustered on their own; missing values stay
    missing. Weights are not looked at: clusters are of records.

    Parameters
    ----------
    columns : str or sequence of str
        Continuous columns.
    k : int
        Average class size, at least 2.
    m1, m2 : float
        At least 1: exponents of the clustering and of the memberships. 1 means crisp (k-means; the nearest centre for
        certain); with m2 = inf all centres are equally probable.
    iterations : int
        Most iterations of fuzzy c-means.
    tolerance : float
        They end when no centre moves by more than this, in standard deviations.
    too_small : {'error', 'missing'}
        What becomes of strata with fewer than k records: an error, or their values are blanked.

    Notes
    -----
    Torra writes that values of m1 = m2 above 4 map all records to the mean. That is not so of the usual test files:
    centres come close to each other, but classes stay apart.

    References
    ----------
    Torra 2017, section 5.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"income": [10.0, 11.0, 12.0, 90.0, 95.0, 100.0]})
    >>> masked = md.mask(frame, None, md.FuzzyMicroaggregation("income", k=3, m1=1.2, m2=1.2), seed=1)
    >>> masked.frame["income"].round(1).tolist()
    [11.0, 11.0, 11.0, 95.0, 95.0, 95.0]
    """

    name: ClassVar[str] = "fuzzy-microaggregation"
    family: ClassVar[str] = "perturbative"
    scales: ClassVar[tuple[Scale, ...]] = NUMERIC
    random: ClassVar[bool] = True
    claim_kinds: ClassVar[tuple[str, ...]] = ("few-combinations",)
    source: ClassVar[str] = "Torra 2017, section 5"

    columns: Sequence[str] | str
    k: int = 3
    m1: float = 2.0
    m2: float = 2.0
    iterations: int = 200
    tolerance: float = 1e-4
    too_small: Literal["error", "missing"] = "error"

    def check_parameters(self, problems: Problems) -> None:
        """Note every parameter that cannot be."""
        as_columns(self, "columns", problems)
        need_number(self, "k", problems, least=2, whole=True)
        need_number(self, "m1", problems, least=1)
        if not (isinstance(self.m2, float) and self.m2 == math.inf):
            need_number(self, "m2", problems, least=1)
        need_number(self, "iterations", problems, least=1, whole=True)
        need_number(self, "tolerance", problems, above=0)
        need_choice(self, "too_small", problems, ("error", "missing"))

    def targets(self, records: Records) -> tuple[str, ...]:
        """Return the columns."""
        return tuple(self.columns)

    def parameters(self) -> dict[str, Any]:
        """Return all parameters; an infinite one as text."""
        given = super().parameters()
        return given | ({"m2": "inf"} if self.m2 == math.inf else {})

    def check(self, records: Records, problems: Problems) -> None:
        """Note everything about the records that the method cannot work with."""
        for name in self.columns:
            if name in records.schema.strata:
                problems.add(f"column '{name}' is a stratum and cannot be changed within it")
            if name == records.schema.weight:
                problems.add(f"column '{name}' is the weight")
        missing = np.column_stack([records.missing(name) for name in self.columns])
        space = Space(tuple(self.columns), np.empty((len(records), 0)), np.empty(0, dtype=np.int64), missing)
        cells = self._cells(records, space)
        if self.too_small == "error":
            check_sizes(cells, self.columns, self.k, records.schema.strata, problems)
        most = max((len(rows) for rows, _ in cells), default=0)
        if most * math.ceil(most / self.k) > LARGEST:
            problems.add(
                f"{most:,} records have too many memberships to {math.ceil(most / self.k):,} centres; raise k, or give "
                f"the schema strata of up to {int(math.sqrt(LARGEST * self.k)):,} records"
            )

    def _cells(self, records: Records, space: Space) -> list[tuple[Ints, list[int]]]:
        parts = space.parts(records.strata(), list(range(len(self.columns))))
        return [(rows, here) for rows, here in parts if here]

    def apply(self, call: MethodCall) -> Masking:
        """Cluster, and draw a centre for every record."""
        records = call.records
        space = make_space(records, self.columns, standardise=True)
        values = records.matrix(self.columns)
        out = np.full_like(values, np.nan)
        sizes, notes, classes, blanked = [], [], 0, 0
        for rows, here in self._cells(records, space):
            if len(rows) < self.k:
                blanked += len(rows) * len(here)
                continue
            count = math.ceil(len(rows) / self.k)
            classes += count
            points = space.part(rows, here)
            centres, settled = fuzzy_centres(points, count, self.m1, self.iterations, self.tolerance, call.rng)
            if not settled:
                notes.append(f"fuzzy c-means ended after {self.iterations} iterations")
            drawn = _draw(memberships(points, centres, self.m2), call.rng)
            cells = np.ix_(rows, np.asarray(here))
            out[cells] = _original(centres, points, values[cells])[drawn]
            sizes.append(np.bincount(drawn, minlength=count))
        masked = records
        for j, name in enumerate(self.columns):
            masked = masked.with_numbers(name, out[:, j])
        if blanked:
            notes.append(
                f"{counted(blanked, 'value is', 'values are')} blanked: fewer than {self.k} records to cluster"
            )
        return Masking(masked, self._facts(sizes), self._claims(masked, classes), notes=tuple(dict.fromkeys(notes)))

    def _facts(self, sizes: list[Ints]) -> dict[str, Any]:
        reached = np.concatenate(sizes) if sizes else np.zeros(0, dtype=np.int64)
        used = reached[reached > 0]
        return {
            "centres": len(reached), "classes": len(used), "smallest class": int(used.min()) if len(used) else 0,
            "average class": float(used.mean()) if len(used) else 0.0,
            "largest class": int(used.max()) if len(used) else 0,
            "records in classes below k": int(used[used < self.k].sum()),
        }  # fmt: skip

    def _claims(self, masked: Records, classes: int) -> tuple[Claim, ...]:
        names = list(self.columns)
        absent = np.column_stack([masked.missing(name) for name in names]).all(axis=1).any()
        most = classes + int(absent)
        statement = f"there are at most {most} combinations of {', '.join(names)}"
        return (Claim("few-combinations", tuple(names), statement, {"columns": names, "most": most}),)


def memberships(points: Floats, centres: Floats, m: float) -> Floats:
    """Return the memberships of records to centres: ``1 / sum_j (d_i / d_j)^(1 / (m - 1))``, d squared distances.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
    centres : ndarray of float, shape (centres, coordinates)
    m : float
        1: the nearest centre alone (the first one among equals); inf: all the same.

    Returns
    -------
    ndarray of float, shape (records, centres)
        Rows add up to 1.

    Examples
    --------
    >>> memberships(np.array([[1.0]]), np.array([[0.0], [3.0]]), 2.0).round(2).tolist()
    [[0.8, 0.2]]
    """
    apart = np.maximum((points**2).sum(axis=1)[:, None] + (centres**2).sum(axis=1) - 2 * points @ centres.T, 0.0)
    if m == math.inf:
        return np.full_like(apart, 1 / len(centres))
    if m == 1:
        crisp: Floats = np.eye(len(centres))[apart.argmin(axis=1)]
        return crisp
    # a record at a centre belongs to it, and ratios of tiny distances must not overflow
    least = np.maximum(apart.min(axis=1, keepdims=True), 1e-24)
    share = (least / np.maximum(apart, least)) ** (1 / (m - 1))
    found: Floats = share / share.sum(axis=1, keepdims=True)
    return found


def fuzzy_centres(
    points: Floats, count: int, m: float, iterations: int, tolerance: float, rng: np.random.Generator
) -> tuple[Floats, bool]:
    """Return the centres of fuzzy c-means from random records on, and whether they had come to rest.

    Examples
    --------
    >>> points = np.array([[0.0], [1.0], [9.0], [10.0]])
    >>> found, settled = fuzzy_centres(points, 2, 1.2, 50, 1e-6, np.random.default_rng(1))
    >>> sorted(found.round(1).ravel().tolist()), settled
    ([0.5, 9.5], True)
    """
    centres = points[rng.choice(len(points), count, replace=False)]
    for _ in range(iterations):
        share = memberships(points, centres, m) ** m
        weight = share.sum(axis=0)
        # a centre that no record is near stays where it is
        moved = np.where(weight[:, None] > 0, share.T @ points / np.maximum(weight, 1e-300)[:, None], centres)
        step = float(np.abs(moved - centres).max())
        centres = moved
        if step <= tolerance:
            return centres, True
    return centres, False


def _draw(share: Floats, rng: np.random.Generator) -> Ints:
    """Draw one centre for every record."""
    reached = np.cumsum(share, axis=1)
    drawn = (reached < rng.random((len(share), 1)) * reached[:, -1:]).sum(axis=1)
    chosen: Ints = np.minimum(drawn, share.shape[1] - 1)
    return chosen


def _original(centres: Floats, points: Floats, values: Floats) -> Floats:
    """Return centres in the units of the columns, within the range of their values."""
    scaled = np.empty_like(centres)
    for d in range(points.shape[1]):
        low, high = int(points[:, d].argmin()), int(points[:, d].argmax())
        width = points[high, d] - points[low, d]
        slope = (values[high, d] - values[low, d]) / width if width > 0 else 0.0
        scaled[:, d] = values[low, d] + slope * (centres[:, d] - points[low, d])
    return np.clip(scaled, values.min(axis=0), values.max(axis=0))
