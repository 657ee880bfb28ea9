"""From contributions to cells: sums, counts and the largest contributions over all codes of all hierarchies.

The microdata are first compacted to one entry per leaf cell and holder (contributor or holding). Sums of the cells
above are those of their leaf cells (`Totals`). Counts and largest contributions need the entries of a holder added up
in every cell (`Ranking`); rankings of disjoint sets of holders can be merged, so that data of any size can be taken in
pieces. All sums go through `Limbs` and depend neither on the order nor on the pieces.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.table.levels import Level, Measures, Totals
from tabprotect.table.tabulate.entries import Entries, by_number
from tabprotect.table.tabulate.ranking import Candidates, Ranking, rank

__all__ = ["Summary", "beside", "roll_up"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

WORKERS: Final = min(4, os.cpu_count() or 1)
"""Threads that tabulate different levels at the same time; numpy lets go of the lock in its long loops."""


@dataclass(frozen=True, eq=False)
class Summary:
    """All cells that hold records, by their keys in the grid; sums in limbs, shape (cells, limbs)."""

    key: Ints
    value: Floats
    cost: Floats
    total: Floats
    weight: Floats
    count: Ints
    negative: Bools
    best: Candidates


def roll_up(
    totals: Totals, alone: Ranking | None, shared: Iterable[Entries], levels: Sequence[Level], measures: Measures
) -> Summary:
    """Return all cells of the grid that hold records.

    Parameters
    ----------
    totals : Totals
    alone : Ranking, optional
        Of the leaf cells, over holders that contribute to one leaf cell only: they are the same contributors in every
        cell above it.
    shared : iterable of Entries
        Of the holders that contribute to several leaf cells; in the cells above, these have to be added up first.
        All entries of one holder must come in one piece.
    levels : sequence of Level
    measures : Measures
    """
    top = measures.top
    with ThreadPoolExecutor(WORKERS) as workers:
        rankings: list[Ranking] = []
        if alone is not None:
            rankings = list(workers.map(lambda level: alone.moved(level, top), levels))
        for piece in (part for whole in shared for part in whole.by_length()):

            def add(level: Level, known: Ranking | None, piece: Entries = piece) -> Ranking:
                return rank(piece, np.take(level.of_leaf, piece.cell), len(level.keys), measures, known)

            rankings = list(workers.map(add, levels, rankings or [None] * len(levels)))
        sums = list(workers.map(totals.at, levels))
    return beside(levels, sums, rankings, measures)


def beside(levels: Sequence[Level], sums: Sequence[Totals], rankings: Sequence[Ranking], measures: Measures) -> Summary:
    """Put the cells of all levels together, sorted by key."""
    keys = np.concatenate([level.keys for level in levels])
    order = np.argsort(keys)
    starts = np.cumsum([0, *(len(level.keys) for level in levels)])
    number = np.empty(len(keys), dtype=np.int64)
    number[order] = np.arange(len(keys))
    moved = [replace(r.best, cell=number[r.best.cell + start]) for r, start in zip(rankings, starts[:-1], strict=True)]
    best = Candidates.joined(moved)
    total = [r.size if measures.signed else s.total for r, s in zip(rankings, sums, strict=True)]
    return Summary(
        keys[order],
        np.concatenate([s.value for s in sums])[order],
        np.concatenate([s.cost for s in sums])[order],
        np.concatenate(total)[order],
        np.concatenate([r.weight for r in rankings])[order],
        np.concatenate([r.count for r in rankings])[order],
        np.concatenate([s.negative for s in sums])[order],
        best.at(by_number(best.cell, len(keys))),
    )
