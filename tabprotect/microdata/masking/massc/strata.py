"""Risk strata, substitution partners and totals (Singh et al. 2003, steps I and II)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import Scale

__all__ = ["Totals", "partners", "risk_strata", "substrata", "totals_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def risk_strata(records: Records, core: Sequence[str], noncore: Sequence[str]) -> Ints:
    """Return the risk stratum of every record: 0 for those unique on the core, i for those first unique with the first
    i noncore columns, and the last one for all others.

    Examples
    --------
    >>> import pandas as pd
    >>> import tabprotect.microdata as md
    >>> people = pd.DataFrame({"age": [1, 2, 2, 3, 3], "sex": ["m", "m", "f", "f", "f"]})
    >>> risk_strata(md.read_records(people, md.Schema()), ["age"], ["sex"]).tolist()
    [0, 1, 1, 2, 2]
    """
    found = np.full(len(records), len(noncore) + 1, dtype=np.int64)
    for i in range(len(noncore), -1, -1):
        index, count = records.groups([*core, *noncore[:i]])
        found[np.bincount(index, minlength=count)[index] == 1] = i
    return found


def partners(records: Records, columns: Sequence[str]) -> Ints:
    """Return for every record the nearest one with other values in some columns, -1 if all have the same.

    Continuous and ordered columns count by their standardised ranks, others by 0 and 1; a missing value is a category
    of its own, at the middle of ranks and 1 away. Ties go to the first record.
    """
    profile, count = records.groups(columns)
    if count < 2:
        return np.full(len(records), -1, dtype=np.int64)
    first = np.unique(profile, return_index=True)[1]
    kept = records.select(columns).take(first)
    parts: list[Floats] = []
    for name in columns:
        category = kept.categories(name)
        gone = category.index < 0
        if kept.scale(name) in (Scale.CONTINUOUS, Scale.ORDERED) and len(category.values) > 2:
            ranks = np.where(gone, (len(category.values) - 1) / 2, category.index) / (len(category.values) - 1)
            parts += [ranks, gone.astype(float)]
            continue
        # one number for each category would make some closer than others: coordinates of a simplex of side 1
        parts += [(category.index == k) / np.sqrt(2) for k in range(-1 if gone.any() else 0, len(category.values))]
    points = np.column_stack(parts)
    nearest = np.asarray(cKDTree(points).query(points, k=2)[1])
    own = np.arange(count)
    other = np.where(nearest[:, 0] == own, nearest[:, 1], nearest[:, 0])
    return np.asarray(first[other][profile], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Totals:
    """Totals whose bias and variance are bounded.

    Attributes
    ----------
    names : tuple of (str, str, str, str)
        Outcome, its category (empty for a number), domain column and its category (both empty for the whole file).
    values : ndarray, shape (records, totals)
        What each record adds, before weights.
    """

    names: tuple[tuple[str, str, str, str], ...]
    values: Floats


def totals_of(records: Records, outcomes: Sequence[str], domains: Sequence[str], like: Totals | None = None) -> Totals:
    """Return what records add to the count and to the totals of outcomes, in the whole file and in every domain.

    A missing number counts 0, a missing category belongs to no domain. With `like`, the same totals as before are
    made; categories that are new are left out.
    """
    columns: list[tuple[str, str, Floats]] = [("", "", np.ones(len(records)))]
    for name in outcomes:
        if records.scale(name) is Scale.CONTINUOUS:
            columns.append((name, "", np.nan_to_num(records.numbers(name))))
        else:
            found = records.categories(name)
            columns += [(name, str(v), (found.index == k).astype(float)) for k, v in enumerate(found.values)]
    groups: list[tuple[str, str, Floats]] = [("", "", np.ones(len(records)))]
    for name in domains:
        found = records.categories(name)
        groups += [(name, str(v), (found.index == k).astype(float)) for k, v in enumerate(found.values)]
    made = {(a, b, c, d): x * g for c, d, g in groups for a, b, x in columns}
    names = tuple(made) if like is None else like.names
    zero = np.zeros(len(records))
    return Totals(names, np.column_stack([made.get(name, zero) for name in names]))


def substrata(stratum: Ints, size: Floats, parts: int) -> Ints:
    """Divide every stratum by the size of its records into at most some parts of about equal number."""
    found = np.zeros(len(stratum), dtype=np.int64)
    number = 0
    for one in np.unique(stratum):
        rows = np.flatnonzero(stratum == one)
        edges = np.unique(np.quantile(size[rows], np.arange(1, parts) / parts)) if parts > 1 else np.zeros(0)
        index = np.unique(np.searchsorted(edges, size[rows], side="left"), return_inverse=True)[1]
        found[rows] = number + index
        number += int(index.max()) + 1
    return found
