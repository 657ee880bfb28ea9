"""Holding tables of a synthetic file: of many candidates those records are chosen whose margins come nearest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.claims import Claim, claim_kind
from tabprotect.microdata.records import Records

__all__ = ["hold_margins", "margins_claim"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

SWEEPS = 40
"""Rounds of raking, and of exchanging records."""


def hold_margins(
    original: Records, candidates: Records, margins: Sequence[Sequence[str]], n: int, rng: np.random.Generator
) -> tuple[Ints, float]:
    """Choose n candidates whose tables are those of the original (scaled to n), as nearly as can be.

    Candidates are raked to the margins, drawn systematically with the raked weights, and then exchanged one for another
    while that brings the tables nearer.

    Returns
    -------
    rows : ndarray of int, shape (n,)
        Candidates; one may come more than once.
    off : float
        Largest difference between a cell of a table and what it should be, in records.
    """
    cells = [_cells(original, candidates, names, n) for names in margins]
    weights = np.full(len(candidates), n / len(candidates))
    for _ in range(SWEEPS):
        for index, wanted in cells:
            have = np.bincount(index, weights=weights, minlength=len(wanted))
            weights = weights * np.where(have > 0, wanted / np.where(have > 0, have, 1), 0)[index]
    order = rng.permutation(len(candidates))
    reached = np.cumsum(weights[order])
    if reached[-1] <= 0:
        return np.sort(order[:n]), float(max(w.max() for _, w in cells))
    marks = (rng.random() + np.arange(n)) / n * reached[-1]
    rows = order[np.minimum(np.searchsorted(reached, marks, side="right"), len(order) - 1)]
    rows = _exchange(rows, cells, rng)
    off = max(float(np.abs(np.bincount(i[rows], minlength=len(w)) - w).max()) for i, w in cells)
    return rows, off


def _cells(original: Records, candidates: Records, names: Sequence[str], n: int) -> tuple[Ints, Floats]:
    """Return the cell of every candidate, and how many records each cell should have."""
    key = [tuple(map(str, row)) for row in zip(*(candidates.frame[c].to_list() for c in names), strict=True)]
    want = [tuple(map(str, row)) for row in zip(*(original.frame[c].to_list() for c in names), strict=True)]
    place: dict[tuple[str, ...], int] = {}
    target = np.array([place.setdefault(cell, len(place)) for cell in want])
    index = np.array([place.setdefault(cell, len(place)) for cell in key])
    wanted = np.bincount(target, weights=original.weights(), minlength=len(place))
    return index, wanted * n / wanted.sum()


def _exchange(rows: Ints, cells: Sequence[tuple[Ints, Floats]], rng: np.random.Generator) -> Ints:
    """Exchange chosen records for candidates while the sum of squared differences falls."""
    rows = rows.copy()
    over = [np.bincount(i[rows], minlength=len(w)) - w for i, w in cells]
    for _ in range(SWEEPS):
        # what the sum of squares loses when a record leaves, and gains when a candidate comes
        leave = np.sum([1 - 2 * d[i[rows]] for (i, _), d in zip(cells, over, strict=True)], axis=0)
        enter = np.sum([1 + 2 * d[i] for (i, _), d in zip(cells, over, strict=True)], axis=0)
        out = np.lexsort((rng.random(len(rows)), leave))[: max(1, len(rows) // 20)]
        into = np.lexsort((rng.random(len(enter)), enter))[: len(out)]
        changed = False
        for a, b in zip(out, into, strict=True):
            gain = sum(
                0.0 if i[rows[a]] == i[b] else 2 - 2 * d[i[rows[a]]] + 2 * d[i[b]]
                for (i, _), d in zip(cells, over, strict=True)
            )
            if gain < -1e-9:
                for (i, _), d in zip(cells, over, strict=True):
                    d[i[rows[a]]] -= 1
                    d[i[b]] += 1
                rows[a] = b
                changed = True
        if not changed:
            break
    return rows


def margins_claim(original: Records, margins: Sequence[Sequence[str]], n: int, off: float) -> tuple[Claim, ...]:
    """Claim that tables of the released file are those of the original to within so many records."""
    claims = []
    for names in margins:
        counts: dict[tuple[str, ...], float] = {}
        rows = zip(*(original.frame[c].to_list() for c in names), strict=True)
        weights = original.weights()
        for row, weight in zip(rows, weights, strict=True):
            cell = tuple(map(str, row))
            counts[cell] = counts.get(cell, 0.0) + float(weight) * n / float(weights.sum())
        given = {"columns": list(names), "cells": [[*cell, count] for cell, count in counts.items()], "within": off}
        text = f"the table of {', '.join(names)} is that of the original to within {off:.3g} records"
        claims.append(Claim("margins", tuple(names), text, given))
    return tuple(claims)


@claim_kind("margins")
def _margins(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """Cells of a table of the released records are given numbers to within a difference."""
    wanted = {tuple(cell[:-1]): float(cell[-1]) for cell in given["cells"]}
    found: dict[tuple[str, ...], int] = {}
    for row in zip(*(after.frame[c].to_list() for c in given["columns"]), strict=True):
        cell = tuple(map(str, row))
        found[cell] = found.get(cell, 0) + 1
    off = max(abs(found.get(cell, 0) - wanted.get(cell, 0.0)) for cell in {*wanted, *found})
    return f"a cell differs by {off:.3g} records" if off > given["within"] * (1 + 1e-9) + 1e-9 else ""
