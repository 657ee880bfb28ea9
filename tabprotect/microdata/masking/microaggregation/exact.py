"""The partition with the least sum of squares, proven, for few records: set partitioning by a MILP.

The compact statement is `tabprotect.models.microaggregation`. Here every group of k to 2k - 1 records that a partition
better than a known one can have is a column. The shares of `nearest_shares` are prices that no group undercuts, so a
group whose sum of squares exceeds its prices by more than the known partition exceeds all prices is in no better one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.microdata.masking.microaggregation.bound import lower_bound, nearest_shares
from tabprotect.microdata.masking.microaggregation.partition import renumber, sum_of_squares
from tabprotect.microdata.masking.microaggregation.segments import best_segments
from tabprotect.solver.mip.milp import solve_milp

__all__ = ["Exact", "exact_partition"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

COLUMNS = 60_000
"""Most groups (and parts of groups) that are kept."""

SLACK = 1e-9
"""Relative room for rounding when groups are left out, and when a bound counts as reached."""


@dataclass(frozen=True, eq=False)
class Exact:
    """A partition and what is known of the best one.

    Attributes
    ----------
    group : ndarray of int, shape (records,)
    bound : float
        No partition into groups of at least k has a lower sum of squares.
    proven : bool
        Whether the partition is a best one.
    message : str
        Why it is not proven; empty if it is.
    """

    group: Ints
    bound: float
    proven: bool
    message: str = ""


def exact_partition(points: Floats, k: int, start: Ints, seconds: float | None = None) -> Exact:
    """Return the best partition of a few dozen records, or the best known one and a bound.

    Parameters
    ----------
    points : ndarray of float, shape (records, coordinates)
        At least k records.
    k : int
    start : ndarray of int, shape (records,)
        A partition into groups of k to 2k - 1; a good one leaves few columns.
    seconds : float, optional
        Limit of the MILP.

    Examples
    --------
    >>> points = np.array([[0.0, 0.0], [0.0, 1.0], [5.0, 5.0], [5.0, 6.0], [6.0, 5.0]])
    >>> found = exact_partition(points, 2, np.array([0, 1, 0, 1, 1]))
    >>> found.group.tolist(), found.proven
    ([0, 0, 1, 1, 1], True)
    """
    start = renumber(start)
    if len(points) < 2 * k:
        whole = np.zeros(len(points), dtype=np.int64)
        return Exact(whole, sum_of_squares(points, whole), True)
    if points.shape[1] == 1:
        order = np.argsort(points[:, 0], kind="stable")
        group = np.empty(len(points), dtype=np.int64)
        group[order] = best_segments(points[order], k)
        return Exact(renumber(group), sum_of_squares(points, group), True)
    known = sum_of_squares(points, start)
    bound = lower_bound(points, k)
    columns = _columns(points, k, known)
    if columns is None:
        return Exact(start, bound, False, f"more than {COLUMNS:,} groups are possible")
    return _choose(points, start, columns, bound, seconds)


def _choose(points: Floats, start: Ints, columns: list[Ints], bound: float, seconds: float | None) -> Exact:
    """Choose groups that hold every record once, at least cost."""
    known = sum_of_squares(points, start)
    own = [np.flatnonzero(start == g) for g in range(int(start.max()) + 1)]
    held = [members for table in columns for members in table]
    cost = np.concatenate([_losses(points, table) for table in columns] + [[_loss(points, m) for m in own]])
    held += own
    lengths = np.array([len(m) for m in held])
    matrix = sparse.csc_array(
        (np.ones(int(lengths.sum())), np.concatenate(held), np.concatenate([[0], np.cumsum(lengths)])),
        shape=(len(points), len(held)),
    )
    first = np.zeros(len(held))
    first[-len(own) :] = 1
    ones = np.ones(len(points))
    scale = max(known, 1e-300)
    answer = solve_milp(
        matrix, ones, ones, np.zeros(len(held)), np.ones(len(held)), cost / scale, np.ones(len(held), dtype=bool),
        start=first, seconds=seconds,
    )  # fmt: skip
    group = start
    if answer.x is not None:
        chosen = np.flatnonzero(answer.x > 0.5)
        found = np.full(len(points), -1, dtype=np.int64)
        for g, column in enumerate(chosen):
            found[held[column]] = g
        # the solver proposes; that it is a partition, and its cost, are seen here
        whole = (found >= 0).all() and int(lengths[chosen].sum()) == len(points)
        if whole and sum_of_squares(points, found) < known:
            group = renumber(found)
    value = sum_of_squares(points, group)
    if answer.bound is not None:
        bound = max(bound, min(answer.bound * scale, value))
    proven = answer.status == "optimal" and value <= bound + SLACK * scale
    return Exact(group, bound, proven, "" if proven else f"the search for a proof ended with '{answer.message}'")


def _loss(points: Floats, members: Ints) -> float:
    return float(_losses(points, members[None, :])[0])


def _losses(points: Floats, table: Ints) -> Floats:
    """Return the sum of squares of many groups of one size."""
    inside = points[table]
    apart = inside - inside.mean(axis=1, keepdims=True)
    losses: Floats = (apart * apart).sum(axis=(1, 2))
    return losses


def _columns(points: Floats, k: int, known: float) -> list[Ints] | None:
    """Return every group that a partition better than a known one can have, by size; None if there are too many."""
    n = len(points)
    price = nearest_shares(points, k)
    room = known - float(price.sum()) + SLACK * max(known, 1e-300)
    apart = ((points[:, None, :] - points) ** 2).sum(axis=2)
    ordered = np.sort(apart, axis=1)
    # reach[i, r]: the r smallest squared distances from i to others
    reach = np.concatenate([np.zeros((n, 1)), np.cumsum(ordered[:, 1:], axis=1)], axis=1)
    table = np.arange(n)[:, None]
    inner = np.zeros((n, 1))
    found: list[Ints] = []
    for size in range(2, min(2 * k - 1, n) + 1):
        bigger, sums = [], []
        step = max(1, 4_000_000 // n)
        held = 0
        for at in range(0, len(table), step):
            grown, within = _grow(table[at : at + step], inner[at : at + step], apart)
            fits = _excess(grown, within, reach, price, k, n) <= room
            bigger.append(grown[fits])
            sums.append(within[fits])
            held += int(fits.sum())
            if held > COLUMNS:
                return None
        table, inner = np.concatenate(bigger), np.concatenate(sums)
        if size >= k:
            complete = inner.sum(axis=1) / (2 * size) - price[table].sum(axis=1) <= room
            found.append(table[complete])
            if sum(map(len, found)) > COLUMNS:
                return None
    return found


def _grow(table: Ints, inner: Floats, apart: Floats) -> tuple[Ints, Floats]:
    """Add every later record to every set; return the sets and each member's squared distances to the others."""
    n = len(apart)
    which, more = np.nonzero(np.arange(n)[None, :] > table[:, -1:])
    grown = np.column_stack([table[which], more])
    to_new = apart[table[which], more[:, None]]
    within = np.column_stack([inner[which] + to_new, to_new.sum(axis=1)])
    return grown, within


def _excess(table: Ints, within: Floats, reach: Floats, price: Floats, k: int, n: int) -> Floats:
    """Return by how much any group of k to 2k - 1 records around each set exceeds its prices at least."""
    size = table.shape[1]
    least = np.full(len(table), np.inf)
    for s in range(max(k, size), min(2 * k - 1, n) + 1):
        share = np.maximum(within + reach[table, s - size], reach[table, s - 1]) / (2 * s)
        least = np.minimum(least, np.maximum(share - price[table], 0.0).sum(axis=1))
    return least
