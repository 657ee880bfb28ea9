"""Targeted record swapping.

Shlomo, Tudor and Groom (2010), "Data swapping for protecting census tables", Privacy in Statistical Databases;
Centre of Excellence on SDC (2019), "Recommendations for the protection of the 2021 census". A household at risk in an
area exchanges its place with a similar household elsewhere in the next larger area, so that tables of that larger area
stay as they are, and so do all tables of the variables in which the two are alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import collect, did_you_mean
from tabprotect.seeds import Seed, secret_seed

__all__ = ["SwapResult", "swap_records"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SwapResult:
    """Records after swapping. Which were swapped is confidential.

    Attributes
    ----------
    frame : pandas.DataFrame
        The records, in their order; only the columns of the geography differ.
    pairs : pandas.DataFrame
        One row a swap: ``first``, ``second`` (households), ``level`` (of the geography) and ``reason`` ('risk': the
        first one was at risk there; 'rate': drawn to reach the rate).
    households : int
    risky : int
        Households at risk at some level.
    unmatched : tuple
        Households at risk for which no similar one was left to swap with.
    seed : int
        What the draws follow from: as confidential as the swaps.
    """

    frame: pd.DataFrame = field(repr=False)
    pairs: pd.DataFrame = field(repr=False)
    households: int
    risky: int
    unmatched: tuple[Any, ...] = field(repr=False)
    seed: int = field(repr=False)

    @property
    def rate(self) -> float:
        """Share of the households that were swapped."""
        return 2 * len(self.pairs) / self.households if self.households else 0.0


def swap_records(
    data: pd.DataFrame,
    *,
    geography: Sequence[str],
    risk: Sequence[str],
    similar: Sequence[Sequence[str]],
    household: str | None = None,
    k: int = 3,
    rate: float = 0.0,
    seed: Seed | None = None,
) -> SwapResult:
    """Swap households at risk with similar ones, and more of them until a rate is reached.

    A household is at risk at a level of the geography when, in its area, fewer than `k` households have a member with
    the same values of all risk variables as one of its own. It is swapped at the largest areas where it is at risk
    (there it is rarest), with a household of another area of that level within the same area of the level above.

    Parameters
    ----------
    data : DataFrame
        One row a record.
    geography : sequence of str
        Columns of nested areas, the largest first. These are exchanged.
    risk : sequence of str
        Columns whose combination makes somebody rare.
    similar : sequence of sequences of str
        In what two households must be alike: they have the same number of records with the same values in these
        columns. The first list is tried first, later (coarser) ones where it finds nobody. An empty list asks for
        the same number of records only.
    household : str, optional
        Column of the household; without it every record is one.
    k : int
        At least 1; 1 takes nobody for risky.
    rate : float
        At least this share of the households of every smallest area takes part, as far as there are partners.
    seed : int or numpy.random.Generator, optional
        A fresh secret one by default. Whoever knows it can undo the protection, so it is confidential.

    Returns
    -------
    SwapResult

    Raises
    ------
    InputError
        Columns that are not there, areas that are not nested, households in several areas, numbers out of range.

    Examples
    --------
    >>> people = pd.DataFrame({"region": list("nnnnssss"), "town": list("aabbccdd"),
    ...     "age": [1, 1, 1, 9, 1, 1, 1, 1], "sex": list("mmmmffff")})
    >>> result = swap_records(people, geography=["region", "town"], risk=["age"], similar=[["sex"]], k=2)
    >>> result.risky, len(result.pairs), len(result.unmatched)
    (2, 1, 1)
    >>> result.pairs[["level", "reason"]].values.tolist(), result.rate
    ([['town', 'risk']], 0.25)
    """
    _check(data, geography, risk, similar, household, k, rate)
    who = data[household] if household is not None else pd.Series(np.arange(len(data)), index=data.index)
    member, names = pd.factorize(who)
    areas = _areas(data, geography, member, len(names))
    level = _risky_level(data, risk, member, areas, k)
    profiles = [_profiles(data, columns, member, len(names)) for columns in similar]
    rarity = _rarity(data, risk, member, areas[-1])
    market = _Market(areas, profiles, np.random.default_rng(drawn := secret_seed(seed)))
    for depth in range(len(geography)):
        for one in market.rng.permutation(np.flatnonzero(level == depth)).tolist():
            market.swap(one, depth, "risk")
    unmatched = tuple(names[int(i)] for i in np.flatnonzero((level >= 0) & (market.partner < 0)))
    market.fill(rate, rarity)
    place = np.where(market.partner >= 0, market.partner, np.arange(len(names)))
    first = np.zeros(len(names), np.int64)
    first[member[::-1]] = np.arange(len(data))[::-1]
    frame = data.copy()
    source = first[place[member]]
    for column in geography:
        frame[column] = data[column].to_numpy()[source]
    rows = [(names[i], names[j], geography[depth], why) for i, j, depth, why in market.swaps]
    pairs = pd.DataFrame(rows, columns=["first", "second", "level", "reason"])
    return SwapResult(frame, pairs, len(names), int(np.sum(level >= 0)), unmatched, drawn)


def _check(
    data: pd.DataFrame,
    geography: Sequence[str],
    risk: Sequence[str],
    similar: Sequence[Sequence[str]],
    household: str | None,
    k: int,
    rate: float,
) -> None:
    with collect() as problems:
        wanted = [*geography, *risk, *(c for columns in similar for c in columns)]
        wanted += [household] if household is not None else []
        for column in dict.fromkeys(wanted):
            if column not in data.columns:
                problems.add(f"column '{column}' is not in the data{did_you_mean(column, data.columns)}")
            elif data[column].isna().any():
                problems.add(f"column '{column}' has missing values; give them a code of their own")
        for name, what in (("geography", geography), ("risk", risk), ("similar", similar)):
            if isinstance(what, str) or not len(what):
                problems.add(f"{name} must be a list with at least one entry")
        for column in set(geography) & {*risk, *(c for columns in similar for c in columns)}:
            problems.add(f"column '{column}' is swapped, so it cannot be a risk variable or one of likeness")
        if isinstance(k, bool) or k != int(k) or k < 1:
            problems.add(f"k must be a whole number of at least 1, not {k!r}")
        if not 0 <= rate <= 1:
            problems.add(f"rate is a share from 0 to 1, not {rate!r}")
    with collect() as problems:
        for above, below in pairwise(geography):
            nested = data.groupby(below, observed=True)[above].nunique()
            for area in nested.index[nested > 1][:3]:
                problems.add(f"areas are not nested: '{below}' {area!r} is in several '{above}'")
        if household is not None:
            several = data.groupby(household, observed=True)[list(geography)].nunique().max(axis=1)
            for one in several.index[several > 1][:3]:
                problems.add(f"household {one!r} is in several areas")


def _areas(data: pd.DataFrame, geography: Sequence[str], member: Ints, n: int) -> list[Ints]:
    """Area of every household at every level, as codes."""
    areas = []
    for column in geography:
        codes = pd.factorize(data[column])[0]
        of = np.zeros(n, np.int64)
        of[member] = codes
        areas.append(of)
    return areas


def _combination(columns: Sequence[npt.NDArray[Any]]) -> Ints:
    """One code for every combination of several codes."""
    code = np.zeros(len(columns[0]), np.int64)
    for column in columns:
        part = pd.factorize(column)[0].astype(np.int64)
        code = pd.factorize(code * (int(part.max(initial=0)) + 1) + part)[0].astype(np.int64)
    return code


def _fewest(data: pd.DataFrame, risk: Sequence[str], member: Ints, area: Ints) -> Ints:
    """For every household: how many households of its area share the rarest combination in it."""
    code = _combination([area[member], *(data[column].to_numpy() for column in risk)])
    pairs = np.unique(np.column_stack((code, member)), axis=0)
    households = np.bincount(pairs[:, 0], minlength=int(code.max(initial=-1)) + 1)
    fewest = np.full(len(area), np.iinfo(np.int64).max)
    np.minimum.at(fewest, member, households[code])
    return fewest


def _risky_level(data: pd.DataFrame, risk: Sequence[str], member: Ints, areas: list[Ints], k: int) -> Ints:
    """The largest areas (first level) in which each household is at risk; -1 for none."""
    level = np.full(len(areas[0]), -1, np.int64)
    for depth in range(len(areas) - 1, -1, -1):
        level[_fewest(data, risk, member, areas[depth]) < k] = depth
    return level


def _rarity(data: pd.DataFrame, risk: Sequence[str], member: Ints, area: Ints) -> Floats:
    return 1.0 / _fewest(data, risk, member, area)


def _profiles(data: pd.DataFrame, columns: Sequence[str], member: Ints, n: int) -> Ints:
    """Households with the same profile have records alike in these columns, in any order."""
    if columns:
        code = _combination([data[column].to_numpy() for column in columns])
    else:
        code = np.zeros(len(data), np.int64)
    order = np.lexsort((code, member))
    ends = np.searchsorted(member[order], np.arange(n + 1))
    seen: dict[bytes, int] = {}
    sorted_codes = np.ascontiguousarray(code[order])
    return np.array([seen.setdefault(sorted_codes[a:b].tobytes(), len(seen)) for a, b in pairwise(ends)])


class _Market:
    """Who is still there to swap with whom."""

    def __init__(self, areas: list[Ints], profiles: list[Ints], rng: np.random.Generator) -> None:
        self.areas, self.profiles, self.rng = areas, profiles, rng
        self.partner = np.full(len(areas[0]), -1, np.int64)
        self.swaps: list[tuple[int, int, int, str]] = []
        self._stalls: dict[tuple[int, int], dict[tuple[int, int], dict[int, list[int]]]] = {}

    def swap(self, one: int, depth: int, why: str) -> bool:
        """Find a partner in another area of this level, within the same area of the level above."""
        if self.partner[one] >= 0:
            return True
        for which in range(len(self.profiles)):
            other = self._offer(one, depth, which)
            if other is not None:
                self.partner[one], self.partner[other] = other, one
                self.swaps.append((one, other, depth, why))
                return True
        return False

    def fill(self, rate: float, rarity: Floats) -> None:
        """Swap further households, rare ones rather, until every smallest area has its share."""
        smallest, depth = self.areas[-1], len(self.areas) - 1
        for area in range(int(smallest.max(initial=-1)) + 1 if rate > 0 else 0):
            inside = np.flatnonzero(smallest == area)
            wanted = int(np.ceil(rate * len(inside))) - int(np.sum(self.partner[inside] >= 0))
            free = inside[self.partner[inside] < 0]
            if wanted <= 0 or not len(free):
                continue
            # a random order in which rare households come first more often (Efraimidis and Spirakis 2006)
            order = free[np.argsort(self.rng.exponential(size=len(free)) / rarity[free], kind="stable")]
            for one in order.tolist():
                if wanted <= 0:
                    break
                wanted -= self.swap(one, depth, "rate")

    def _offer(self, one: int, depth: int, which: int) -> int | None:
        stall = self._stall(depth, which)
        above = int(self.areas[depth - 1][one]) if depth else 0
        by_area = stall.get((int(self.profiles[which][one]), above), {})
        own = int(self.areas[depth][one])
        for area in list(by_area):
            while by_area[area] and self.partner[by_area[area][-1]] >= 0:
                by_area[area].pop()
            if not by_area[area]:
                del by_area[area]
        others = [area for area in by_area if area != own]
        if not others:
            return None
        sizes = np.array([len(by_area[area]) for area in others], np.float64)
        return by_area[others[int(self.rng.choice(len(others), p=sizes / sizes.sum()))]].pop()

    def _stall(self, depth: int, which: int) -> dict[tuple[int, int], dict[int, list[int]]]:
        """Households by profile and area above, then by area, in random order."""
        if (depth, which) not in self._stalls:
            stall: dict[tuple[int, int], dict[int, list[int]]] = {}
            for i in self.rng.permutation(len(self.partner)).tolist():
                above = int(self.areas[depth - 1][i]) if depth else 0
                key = (int(self.profiles[which][i]), above)
                stall.setdefault(key, {}).setdefault(int(self.areas[depth][i]), []).append(i)
            self._stalls[depth, which] = stall
        return self._stalls[depth, which]
