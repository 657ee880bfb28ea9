"""Who contributes how much to the cells of a level: counts, and the largest contributions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tabprotect.table.levels import Level, Measures, add_up
from tabprotect.table.tabulate.entries import LONGEST, Entries, by_number, starts_of

__all__ = ["NO_REQUEST", "Candidates", "Ranking", "rank"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NO_REQUEST: Final = 3
"""Request code of a contributor without request, so that the smallest code of several records is the one to use."""


@dataclass(frozen=True, eq=False)
class Candidates:
    """The largest contributions, one a row: to which cell, by whom, and what is known of him there."""

    cell: npt.NDArray[Any]
    holder: Ints
    size: Floats
    weight: Floats
    waived: Bools
    requested: npt.NDArray[np.int8]

    def at(self, which: npt.NDArray[Any], cell: npt.NDArray[Any] | None = None) -> Candidates:
        """Return some of the rows, possibly moved to other cells."""
        moved = (self.cell if cell is None else cell)[which]
        others = (np.take(getattr(self, name), which) for name in ("holder", "size", "weight", "waived", "requested"))
        return Candidates(moved, *others)

    def best(self, n: int, top: int) -> Candidates:
        """Return the `top` largest of each of the cells 0..n-1 and the first without waiver; by cell, then size."""
        order = by_number(self.cell, n)
        waived = self.waived[order] if self.waived.any() else None
        starts = starts_of(self.cell[order])
        return self.at(order[_largest(self.size[order], self.holder[order], starts, top, waived)])

    @classmethod
    def joined(cls, parts: Sequence[Candidates]) -> Candidates:
        """Put tables of candidates below each other."""
        if len(parts) == 1:
            return parts[0]
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in cls.__dataclass_fields__))


@dataclass(frozen=True, eq=False)
class Ranking:
    """What depends on who contributes to the cells 0..n-1.

    Parameters
    ----------
    count : ndarray of int, shape (n,)
        Number of holders.
    weight, size : ndarray, shape (n, limbs)
        Sums of the weights of the holders, and of their weighted contributions (only where these are needed).
    best : Candidates
        The largest contributions, by cell and size.
    """

    count: Ints
    weight: Floats
    size: Floats
    best: Candidates

    @classmethod
    def nothing(cls, n: int, measures: Measures) -> Ranking:
        """Return the ranking of `n` cells that nobody contributes to."""
        no, zeros = np.zeros(0, np.int64), np.zeros(0)
        best = Candidates(no, no, zeros, zeros, zeros.astype(bool), zeros.astype(np.int8))
        weight = np.zeros((n, len(measures.weight.quanta) if measures.weighted else 0))
        size = np.zeros((n, len(measures.size.quanta) if measures.signed else 0))
        return cls(np.zeros(n, np.int64), weight, size, best)

    def least(self, top: int) -> Floats:
        """Return for every cell the size of its contribution number `top`, 0 where there are fewer."""
        cell = self.best.cell
        last = np.flatnonzero(np.arange(len(cell)) - np.searchsorted(cell, cell) == top - 1)
        least = np.zeros(len(self.count))
        least[cell[last]] = self.best.size[last]
        return least

    def at(self, cells: Ints) -> Ranking:
        """Return the ranking of some of the cells, in the given order."""
        place = np.full(len(self.count), -1, dtype=np.int64)
        place[cells] = np.arange(len(cells))
        cell = place[self.best.cell]
        kept = np.flatnonzero(cell >= 0)
        best = self.best.at(kept, cell)
        return Ranking(self.count[cells], self.weight[cells], self.size[cells], best)

    def moved(self, level: Level, top: int) -> Ranking:
        """Return the ranking of the cells above, if no holder is in several cells."""
        n = len(level.keys)
        cell = level.of_leaf[self.best.cell]
        return Ranking(
            np.bincount(level.of_leaf, self.count, minlength=n)[:n].astype(np.int64),
            add_up(level.of_leaf, self.weight, n),
            add_up(level.of_leaf, self.size, n),
            replace(self.best, cell=cell).best(n, top),
        )

    @classmethod
    def merge(cls, rankings: Sequence[Ranking], top: int) -> Ranking:
        """Merge rankings of the same cells over disjoint sets of holders."""
        count, weight, size = (sum(getattr(r, name) for r in rankings) for name in ("count", "weight", "size"))
        n = len(rankings[0].count)
        several = np.zeros(n, dtype=np.int8)
        for r in rankings:
            several[r.best.cell[starts_of(r.best.cell)]] += 1
        mixed = [r.best.at(np.flatnonzero(several[r.best.cell] > 1)) for r in rankings]
        whole = [r.best.at(np.flatnonzero(several[r.best.cell] == 1)) for r in rankings]
        best = Candidates.joined([*whole, Candidates.joined(mixed).best(n, top)])
        return cls(np.asarray(count), np.asarray(weight), np.asarray(size), best.at(by_number(best.cell, n)))


def _largest(size: Floats, holder: Ints, starts: Ints, top: int, waived: Bools | None) -> Ints:
    """Return where the `top` largest of every group are, and the largest without waiver; by group, then size.

    Ties go to the smallest holder. Looking for one after the other is faster than sorting, since `top` is small.
    """
    n = len(starts)
    place = np.full((n, top + 1), -1, dtype=np.int64)
    if not top or not n:
        return place[:0, 0]
    group = np.repeat(np.arange(n, dtype=np.int32), np.diff(np.append(starts, len(size))))
    left = size.copy()
    for step in range(top + (waived is not None)):
        if step == top and waived is not None:
            left = np.where(waived, -1.0, size)
        largest = np.maximum.reduceat(left, starts)
        hit = np.flatnonzero(left == largest[group])
        hit = hit[left[hit] >= 0]
        first = starts_of(group[hit])
        if len(first) < len(hit):
            hit = hit[np.lexsort((holder[hit], group[hit]))]
        hit = hit[first]
        if step == top:
            hit = hit[(place[group[hit], :top] != hit[:, None]).all(axis=1)]
        left[hit] = -1.0
        place[group[hit], step] = hit
    return place[place >= 0]


def _rank_short(entries: Entries, cell: npt.NDArray[np.int32], n: int, measures: Measures, known: Ranking) -> Ranking:
    """Rank holders with few entries: these are compared with each other, and only rivals of the known are sorted."""
    sums, holder, here = entries.columns["shadow"], entries.holder, cell < n
    first = np.arange(len(cell), dtype=np.int32)
    again = np.zeros(len(cell), dtype=bool)
    for at, before in entries.earlier:
        same = np.take(cell, at) == np.take(cell, before)
        first[at[same]] = before[same]  # larger distances come later: the first of all stays
        again[at[same]] = True
    twice = np.flatnonzero(again)
    if len(twice):
        more = [np.bincount(first[twice], sums[twice, i], minlength=len(cell)) for i in range(sums.shape[1])]
        sums = sums + np.column_stack(more)
        here &= ~again
    if not here.all():
        own = np.flatnonzero(here)
        cell, holder, sums = np.take(cell, own), np.take(holder, own), np.take(sums, own, axis=0)
    contribution = np.abs(measures.shadow.join(sums))
    rival = np.flatnonzero(contribution >= np.take(known.least(measures.top), cell))
    rival = rival[by_number(cell[rival], n)]
    best = rival[_largest(contribution[rival], holder[rival], starts_of(cell[rival]), measures.top, None)]
    found = Candidates(
        cell[best],
        holder[best],
        contribution[best],
        np.ones(len(best)),
        np.zeros(len(best), dtype=bool),
        np.full(len(best), NO_REQUEST, np.int8),
    )
    none = np.zeros((n, 0))
    return Ranking(np.bincount(cell, minlength=n), none, none, found)


def rank(
    entries: Entries, cell: npt.NDArray[np.int32], n: int, measures: Measures, known: Ranking | None = None
) -> Ranking:
    """Return the ranking of cells 0..n-1.

    Parameters
    ----------
    entries : Entries
    cell : ndarray of int, shape (entries,)
        The cell that every entry goes to; those of cells from `n` on are left out.
    known : Ranking, optional
        Of other holders in the same cells; then the ranking over both is returned.
    """
    if set(entries.columns) == {"shadow"} and len(entries.earlier) <= LONGEST and known is not None:
        return Ranking.merge([known, _rank_short(entries, cell, n, measures, known)], measures.top)
    grouped = entries.grouped(cell, n)
    cell, columns = grouped.cell, grouped.columns
    contribution = np.abs(measures.shadow.join(columns["shadow"]))
    weight, size = np.ones(len(cell)), contribution
    if measures.weighted:
        light, heavy = columns["light"], columns["heavy"]
        absolute = measures.shadow.join(columns["absolute"])
        size = measures.weighted_shadow.join(columns["weighted"])
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = np.where(absolute > 0, size / absolute, (light + heavy) / 2)
        weight = np.where(light == heavy, light, mean)
        if measures.signed:
            size = np.where(columns["below"] & columns["above"], weight * contribution, size)
    none = np.zeros((len(cell), 0))
    waived = columns.get("waived")
    if known is None or waived is not None:
        top = _largest(contribution, grouped.holder, starts_of(cell), measures.top, waived)
    else:
        # what is smaller than enough of the others need not be looked at
        rival = np.flatnonzero(contribution >= known.least(measures.top)[cell])
        top = rival[_largest(contribution[rival], grouped.holder[rival], starts_of(cell[rival]), measures.top, None)]
    best = Candidates(
        cell[top],
        grouped.holder[top],
        contribution[top],
        weight[top],
        np.zeros(len(top), dtype=bool) if waived is None else waived[top],
        columns["requested"][top] if "requested" in columns else np.full(len(top), NO_REQUEST, np.int8),
    )
    found = Ranking(
        np.bincount(cell, minlength=n),
        add_up(cell, measures.weight.split(weight) if measures.weighted else none, n),
        add_up(cell, measures.size.split(size) if measures.signed else none, n),
        best,
    )
    return found if known is None else Ranking.merge([known, found], measures.top)
