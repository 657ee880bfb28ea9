"""The nearest masked record of every original one, ties shared out, without a table of all pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.spatial import cKDTree

from tabprotect.microdata.records import Records
from tabprotect.microdata.risk.agreement import joint_codes
from tabprotect.microdata.scales import Scale

__all__ = ["SAME", "Space", "by_blocks", "by_tree", "gower_space", "workers"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SAME = 1e-9
"""Relative difference of two distances that counts as a tie."""

ROUNDING = 1e-12
"""Absolute difference of two Gower distances that counts as a tie; these are at most 1."""

MOST = 256
"""Coordinates of a search tree; with more categories than these hold, all pairs are compared."""

ALONE = 5_000
"""Up to so many records are searched for by one thread."""

BLOCK = 2_000_000
"""Distances that are held in memory at a time where there is no tree."""


@dataclass(frozen=True, eq=False)
class Space:
    """Two files as points.

    Attributes
    ----------
    original, masked : ndarray of float, shape (records, coordinates)
        nan in records that miss a value.
    column : ndarray of int, shape (coordinates,)
        Position of the column that each coordinate is of.
    power : {1, 2}
        Distances are sums of absolute differences, or roots of sums of squares.
    """

    original: Floats
    masked: Floats
    column: Ints
    power: int

    def weighted(self, weights: Floats) -> Space:
        """Multiply the absolute or squared differences of every column by its weight."""
        factor = (weights if self.power == 1 else np.sqrt(weights))[self.column]
        return Space(self.original * factor, self.masked * factor, self.column, self.power)

    def linked(self, links: Ints) -> Floats:
        """Return for each original record the probability that its nearest masked record is its own."""
        return by_tree(self.original, self.masked, links, len(self.original), self.power)


def by_tree(x: Floats, y: Floats, links: Ints, n: int, power: int = 2) -> Floats:
    """Return for each original record the probability that its nearest masked record is its own.

    Parameters
    ----------
    x, y : ndarray of float, shape (records, coordinates)
        Of the original and the masked file; records with nan are left out.
    links : ndarray of int, shape (masked records,)
    n : int
        Original records.
    power : {1, 2}

    Examples
    --------
    >>> x, y = np.array([[0.0], [1.0], [5.0]]), np.array([[0.5], [0.5], [5.0]])
    >>> by_tree(x, y, np.arange(3), 3, power=1)
    array([0.5, 0.5, 1. ])
    """
    found = np.zeros(n)
    theirs = np.flatnonzero(~np.isnan(y).any(axis=1))
    mine = np.flatnonzero(~np.isnan(x).any(axis=1))
    if not len(theirs) or not len(mine):
        return found
    # equal masked records are one point with several records
    points, times = np.unique(y[theirs], axis=0, return_counts=True)
    tree = cKDTree(points)
    slack = ROUNDING if power == 1 else np.finfo(float).tiny
    # equal original records have the same distance
    asked, place = np.unique(x[mine], axis=0, return_inverse=True)
    reach = np.full(n, -np.inf)
    nearest = np.asarray(tree.query(asked, p=power, workers=workers(len(asked)))[0])
    reach[mine] = (nearest * (1 + SAME) + slack)[place.reshape(-1)]
    linked = theirs[links[theirs] >= 0]
    apart = np.abs(x[links[linked]] - y[linked])
    to_own = apart.sum(axis=1) if power == 1 else np.sqrt((apart**2).sum(axis=1))
    # several masked records may come from one original
    right = np.bincount(links[linked[to_own <= reach[links[linked]]]], minlength=n)
    hit = np.flatnonzero(right)
    tied = tree.query_ball_point(x[hit], reach[hit], p=power, workers=workers(len(hit)))
    near = np.array([times[list(one)].sum() for one in tied], dtype=np.float64)
    found[hit] = right[hit] / np.maximum(near, right[hit])
    return found


def workers(records: int) -> int:
    """Return how many threads search for so many records; for few of them threads cost more than they save."""
    return -1 if records > ALONE else 1


def gower_space(first: Records, second: Records, names: Sequence[str]) -> Space | None:
    """Return two files as points whose sums of absolute differences are sums of Gower's differences by column.

    A column of numbers is one coordinate, over its range in both files. The categories of another one are the corners
    of a cross-polytope, two to a coordinate: +1/2 or -1/2 there, 0 in all others; any two are at distance 1.

    Returns
    -------
    Space or None
        None where there are too many categories for a tree.
    """
    sides: tuple[list[Floats], list[Floats]] = ([], [])
    column: list[int] = []
    for j, name in enumerate(names):
        numbers = _over_range(first, second, name)
        if numbers is not None:
            coordinates = 1
            pair = [side[:, None] for side in numbers]
        else:
            codes = joint_codes(first, second, name)
            coordinates = max((int(max(side.max(initial=-1) for side in codes)) + 2) // 2, 1)
            if len(column) + coordinates > MOST:
                return None
            pair = [_corners(side, coordinates) for side in codes]
        column += [j] * coordinates
        for side, one in zip(sides, pair, strict=True):
            side.append(one)
    return Space(np.hstack(sides[0]), np.hstack(sides[1]), np.array(column, dtype=np.int64), 1)


def _corners(codes: Ints, coordinates: int) -> Floats:
    found = np.zeros((len(codes), coordinates))
    found[np.arange(len(codes)), codes // 2] = 0.5 - codes % 2
    found[codes < 0] = np.nan
    return found


def _over_range(first: Records, second: Records, name: str) -> tuple[Floats, Floats] | None:
    """Return a column of numbers over its range in both files; None for categories."""
    if first.scale(name) is not Scale.CONTINUOUS or not second.frame[name].dtype.is_numeric():
        return None
    x, y = first.numbers(name), second.numbers(name)
    both = np.concatenate([x, y])
    there = both[~np.isnan(both)]
    width = float(np.ptp(there)) if len(there) else 0.0
    low = float(there.min()) if len(there) else 0.0
    return (x - low) / (width or 1.0), (y - low) / (width or 1.0)


def by_blocks(first: Records, second: Records, names: Sequence[str], weights: Floats, links: Ints) -> Floats:
    """Link by Gower distances as `by_tree` does, comparing all pairs, a block of original records at a time."""
    n, m = len(first), len(second)
    parts: list[tuple[bool, Floats | Ints, Floats | Ints]] = []
    for name in names:
        numbers = _over_range(first, second, name)
        parts.append((False, *joint_codes(first, second, name)) if numbers is None else (True, *numbers))
    gone_first = np.any([first.missing(name) for name in names], axis=0)
    gone_second = np.any([second.missing(name) for name in names], axis=0)
    found = np.zeros(n)
    mine = np.flatnonzero(~gone_first)
    for rows in np.array_split(mine, max(1, len(mine) * m // BLOCK + 1)):
        distance = np.zeros((len(rows), m))
        for (numeric, x, y), weight in zip(parts, weights, strict=True):
            apart = np.abs(x[rows, None] - y[None, :]) if numeric else x[rows, None] != y[None, :]
            distance += weight * apart
        distance[:, gone_second] = np.inf
        least = distance.min(axis=1) * (1 + SAME) + ROUNDING
        near = (distance <= least[:, None]) & ~gone_second
        found[rows] = (near & (links[None, :] == rows[:, None])).sum(axis=1) / np.maximum(near.sum(axis=1), 1)
    return found
