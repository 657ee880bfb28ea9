"""How `Microaggregation` forms groups: every method of the literature under its name, with the options it takes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.masking.microaggregation.exact import exact_partition
from tabprotect.microdata.masking.microaggregation.genetic import genetic
from tabprotect.microdata.masking.microaggregation.improve import improve
from tabprotect.microdata.masking.microaggregation.mdav import mdav, v_mdav
from tabprotect.microdata.masking.microaggregation.orders import (
    nearest_point_next,
    principal_component,
    sum_of_scores,
)
from tabprotect.microdata.masking.microaggregation.partition import renumber, split_large
from tabprotect.microdata.masking.microaggregation.renew import renew
from tabprotect.microdata.masking.microaggregation.segments import best_segments, fixed_segments
from tabprotect.microdata.masking.microaggregation.ward import modified_ward

__all__ = ["METHODS", "ORDERS", "Found", "Settings", "form_groups"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

METHODS: dict[str, tuple[str, ...]] = {
    "mdav": ("improve", "trials"),
    "v-mdav": ("gamma", "improve", "trials"),
    "ward": ("order", "by", "improve", "trials"),
    "single-axis": ("order", "by", "improve", "trials"),
    "mhm": ("order", "by", "improve", "trials"),
    "genetic": ("order", "by", "population", "generations", "improve", "trials"),
    "exact": ("seconds",),
    "given": ("by",),
    "individual": (),
    "individual-optimal": (),
}
"""The methods, and which options each of them takes."""

ORDERS = ("principal-component", "z-scores", "variable", "nearest-point")
"""What records may be ordered by."""

ROUNDS = 1_000
"""Most rounds of local search."""


@dataclass(frozen=True, eq=False)
class Settings:
    """What a partition is made with; see `Microaggregation`."""

    method: str
    k: int
    order: str | None
    gamma: float
    population: int
    generations: int
    improve: bool
    trials: int
    seconds: float | None
    rng: np.random.Generator


@dataclass(frozen=True, eq=False)
class Found:
    """A partition of some records.

    Attributes
    ----------
    group : ndarray of int, shape (records,)
    note : str
        What the user should know; empty if nothing.
    bound : float or None
        A lower bound that the method has proven on the way.
    """

    group: Ints
    note: str = ""
    bound: float | None = None


def form_groups(points: Floats, axis: Floats | None, s: Settings) -> Found:
    """Form groups of k to 2k - 1 records (all records if there are fewer than 2k).

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
        At least k records.
    axis : ndarray of float, shape (records,), optional
        The variable for ``order='variable'``.
    s : Settings
    """
    if len(points) < 2 * s.k:
        return Found(np.zeros(len(points), dtype=np.int64), bound=None)
    if s.method == "exact":
        start = improve(points, mdav(points, s.k), s.k, ROUNDS).group
        found = exact_partition(points, s.k, renew(points, start, s.k, 100, s.rng), s.seconds)
        return Found(
            found.group, found.message and f"the partition is not proven to be best: {found.message}", found.bound
        )
    group = split_large(points, _START[s.method](points, axis, s), s.k, mdav)
    note = ""
    if s.improve or s.trials:
        improved = improve(points, group, s.k, ROUNDS)
        group = renew(points, improved.group, s.k, s.trials, s.rng)
        note = "" if improved.settled else f"local search ended after {ROUNDS:,} rounds"
    return Found(renumber(group), note)


def _sorted(points: Floats, axis: Floats | None, s: Settings) -> Ints:
    """Return the records in the order that was asked for."""
    if s.order == "variable":
        assert axis is not None
        return np.argsort(axis, kind="stable")
    orders = {
        "principal-component": principal_component, "z-scores": sum_of_scores, "nearest-point": nearest_point_next,
    }  # fmt: skip
    return orders[str(s.order)](points)


def _in_order(points: Floats, axis: Floats | None, s: Settings) -> Ints:
    """Form groups of consecutive records."""
    order = _sorted(points, axis, s)
    group = np.empty(len(points), dtype=np.int64)
    if s.method == "single-axis":
        group[order] = fixed_segments(len(points), s.k)
    elif s.method == "mhm":
        group[order] = best_segments(points[order], s.k)
    else:
        group[order] = genetic(points[order], s.k, s.population, s.generations, s.rng)
    return group


_START: dict[str, Any] = {
    "mdav": lambda points, axis, s: mdav(points, s.k),
    "v-mdav": lambda points, axis, s: v_mdav(points, s.k, s.gamma),
    "ward": lambda points, axis, s: modified_ward(points, s.k, _sorted(points, axis, s) if s.order else None),
    "single-axis": _in_order,
    "mhm": _in_order,
    "genetic": _in_order,
}
