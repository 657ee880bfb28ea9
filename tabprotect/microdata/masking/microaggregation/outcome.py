"""From groups to released records: averages, facts and claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.errors import Problems
from tabprotect.microdata.categories import Categories
from tabprotect.microdata.checks import ROUNDING
from tabprotect.microdata.claims import Claim
from tabprotect.microdata.masking.microaggregation.aggregate import group_means, group_medians, group_modes
from tabprotect.microdata.masking.microaggregation.bound import lower_bound
from tabprotect.microdata.masking.microaggregation.claims import pack
from tabprotect.microdata.masking.microaggregation.partition import sum_of_squares
from tabprotect.microdata.masking.microaggregation.space import Space
from tabprotect.microdata.method import Masking
from tabprotect.microdata.records import Records
from tabprotect.microdata.scales import Scale

__all__ = ["Outcome", "check_sizes", "release"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FLOAT32 = 1e-5
"""Relative room for sums of columns that hold single-precision numbers."""


class Outcome:
    """Groups as they are found, part by part.

    Attributes
    ----------
    group : ndarray of int, shape (records, columns)
        Group of every record, by column; -1 for none.
    sse : float
    bound : float or None
    notes : list of str
    blanked : int
        Values left out because there were fewer than k records.
    """

    def __init__(self, space: Space, k: int, bound: bool) -> None:
        self.space, self.k = space, k
        self.group = np.full((len(space.points), len(space.columns)), -1, dtype=np.int64)
        self.sizes: list[Ints] = []
        self.count = 0
        self.sse = 0.0
        self.bound: float | None = 0.0 if bound else None
        self.notes: list[str] = []
        self.blanked = 0

    def add(
        self, rows: Ints, here: Sequence[int], points: Floats, group: Ints, method: str = "", *,
        note: str = "", bound: float | None = None,
    ) -> None:  # fmt: skip
        """Take the groups of some records over some columns."""
        self.group[np.ix_(rows, np.asarray(here))] = (self.count + group)[:, None]
        sizes = np.bincount(group)
        self.sizes.append(sizes)
        self.count += len(sizes)
        sse = sum_of_squares(points, group)
        self.sse += sse
        if self.bound is not None:
            proven = sse if method == "individual-optimal" else lower_bound(points, self.k)
            self.bound += min(sse, max(proven, bound or 0.0))
        if note and note not in self.notes:
            self.notes.append(note)

    def leave_out(self, rows: Ints, here: Sequence[int]) -> None:
        """Note records of which there are fewer than k."""
        self.blanked += len(rows) * len(here)

    def facts(self) -> dict[str, Any]:
        """Return what was found, in numbers: SSE and SST on the coordinates that distances are measured on."""
        sizes = np.concatenate(self.sizes) if self.sizes else np.zeros(0, dtype=np.int64)
        points = self.space.points
        there = ~self.space.missing[:, self.space.of]
        sums = np.where(there, points, 0.0).sum(axis=0) / np.maximum(there.sum(axis=0), 1)
        sst = float((np.where(there, points - sums, 0.0) ** 2).sum())
        facts: dict[str, Any] = {
            "groups": len(sizes), "smallest group": int(sizes.min()) if len(sizes) else 0,
            "largest group": int(sizes.max(initial=0)), "sse": self.sse, "sst": sst,
            "loss": self.sse / sst if sst > 0 else 0.0, "blanked values": self.blanked,
        }  # fmt: skip
        if self.bound is not None:
            facts["bound"] = self.bound
            facts["gap"] = (self.sse - self.bound) / self.sse if self.sse > 0 else 0.0
        return facts


def check_sizes(
    cells: Sequence[tuple[Ints, list[int]]], columns: Sequence[str], k: int, strata: Sequence[str], problems: Problems
) -> None:
    """Note parts with fewer than k records."""
    small = [(len(rows), int(rows[0]) + 1, here) for rows, here in cells if len(rows) < k]
    if not small:
        return
    size, row, here = min(small)
    where = f"in a stratum by {', '.join(strata)} " if strata else ""
    lacking = "" if len(here) == len(columns) or len(columns) == 1 else "with the same missing values "
    problems.add(
        f"{len(small)} parts have fewer than k={k} records; the smallest has {size} {where}{lacking}(record {row} is "
        "one of them). Lower k, merge strata, impute values, or blank them with too_small='missing'"
    )


def release(records: Records, outcome: Outcome, how: Mapping[str, str], most: int | None, *, alone: bool) -> Masking:
    """Replace values by the averages of their groups, and say what holds."""
    weights = records.weights()
    masked = records
    for j, (name, word) in enumerate(how.items()):
        masked = _average(masked, name, word, outcome.group[:, j], weights)
    notes = list(outcome.notes)
    if outcome.blanked:
        notes.append(
            f"{counted(outcome.blanked, 'value is', 'values are')} blanked: fewer than {outcome.k} records to "
            "average over"
        )
    claims = _claims(records, outcome, how, most, alone)
    return Masking(masked, outcome.facts(), claims, notes=tuple(notes))


def _average(records: Records, name: str, word: str, group: Ints, weights: Floats) -> Records:
    there = np.flatnonzero(group >= 0)
    if not len(there):
        return records.with_missing(name, ~records.missing(name))
    used = np.bincount(group[there]) > 0
    g = (np.cumsum(used) - 1)[group[there]]
    scale = records.scale(name)
    if scale is Scale.CONTINUOUS:
        old = records.numbers(name)[there]
        if word == "mode":
            values, index = np.unique(old, return_inverse=True)
            new = values[group_modes(index.ravel(), g, weights[there])]
        elif word == "median":
            new = group_medians(old, g, weights[there], between=True)
        else:
            new = group_means(old, g, weights[there])
        numbers = np.full(len(records), np.nan)
        numbers[there] = new[g]
        return records.with_numbers(name, numbers)
    categories = records.categories(name)
    old_index = categories.index[there]
    if word == "median":
        chosen = group_medians(old_index.astype(np.float64), g, weights[there], between=False).astype(np.int64)
    else:
        chosen = group_modes(old_index, g, weights[there])
    index = np.full(len(records), -1, dtype=np.int64)
    index[there] = chosen[g]
    return records.with_categories(name, Categories(categories.values, index))


def _claims(
    records: Records, outcome: Outcome, how: Mapping[str, str], most: int | None, alone: bool
) -> tuple[Claim, ...]:
    schema, k = records.schema, outcome.k
    strata = list(schema.strata)
    single = any(str(records.frame[name].dtype) == "Float32" for name in how)
    tolerance = FLOAT32 if single else ROUNDING
    sized = f"{k} to {most}" if most else f"{k} or more"
    within = f" within {', '.join(strata)}" if strata else ""
    extra = [schema.weight] if schema.weight else []
    claims = []
    parts = [[name] for name in how] if alone else [list(how)]
    for names in parts:
        group = outcome.group[:, list(how).index(names[0])]
        if not alone:
            group = outcome.group.max(axis=1)
        listed = ", ".join(f"'{name}'" for name in names)
        given = {
            "columns": {name: how[name] for name in names}, "group": pack(group), "least": k, "most": most,
            "strata": strata, "weight": schema.weight, "tolerance": tolerance,
        }  # fmt: skip
        statement = f"values of {listed} are averages over groups of {sized} records{within}"
        claims.append(Claim("aggregated-groups", tuple(names), statement, given, (*names, *strata, *extra)))
        shared = f"every combination of {listed} is shared by at least {k} records{within}"
        claims.append(Claim("shared-values", (*names, *strata), shared, {"columns": names, "strata": strata, "k": k}))
    means = [name for name, word in how.items() if word == "mean"]
    if means and not outcome.blanked:
        given = {"columns": means, "strata": strata, "weight": schema.weight, "tolerance": tolerance}
        listed = ", ".join(f"'{name}'" for name in means)
        statement = f"{'weighted ' if extra else ''}sums and means of {listed} are those of before{within}"
        claims.append(
            Claim(
                "same-sums",
                (*means, *strata, *extra),
                statement,
                given,
                tuple(dict.fromkeys((*means, *strata, *extra))),
            )
        )
    return tuple(claims)
