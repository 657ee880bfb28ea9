"""Good choices of the cells that go up: a guess, single cells, a relaxation rounded, neighbourhoods."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.methods.small_counts.statement import Statement
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import IMPROVEMENT, INTEGRALITY

__all__ = ["guess", "improved", "neighbourhoods", "rounded_relaxation"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

NEIGHBOURHOOD, MARGINS, NODES, FAILURES = 250, 8, 200, 20
"""Inner cells chosen anew at a time, the margins they come from at most, tree nodes spent on them, tries without
effect until the search ends."""

CELLS_A_WORK_UNIT: Final = 100
"""So many cells looked at in the improvement count as one unit of work."""


def guess(statement: Statement, rng: np.random.Generator) -> Bools:
    """Go up once for every `base` records met on the way through the cells: sums of neighbours are nearly right."""
    start = rng.integers(statement.base)
    passed = np.floor((start + np.cumsum(statement.a)) / statement.base)
    up = np.diff(passed, prepend=np.floor(start / statement.base)) > 0
    return _lifted(statement, np.asarray(up))


def _lifted(statement: Statement, up: Bools) -> Bools:
    """Let one cell go up in every published cell that would be small."""
    D, up = statement.D, up.copy()
    for row in np.flatnonzero(statement.at_least > D @ up):
        columns = D.indices[D.indptr[row] : D.indptr[row + 1]]
        if not up[columns].any():
            up[columns[statement.a[columns].argmax()]] = True
    return up


def improved(statement: Statement, up: Bools, budget: Budget) -> Bools:
    """Turn single cells over while that brings the table nearer."""
    if statement.norm == "linf":
        return up
    D = statement.D.tocsc()
    up = up.copy()
    k = statement.D @ up
    turned = 1
    while turned and not budget.exhausted:
        turned = 0
        gains = _gains(statement, up, k)
        for tried, j in enumerate(np.argsort(gains, kind="stable")[: int(np.sum(gains < 0))]):
            rows, d = D.indices[D.indptr[j] : D.indptr[j + 1]], D.data[D.indptr[j] : D.indptr[j + 1]]
            step = -d if up[j] else d
            before, after = (statement.far(rows, x).sum() for x in (k[rows], k[rows] + step))
            if after < before * (1 - IMPROVEMENT) and np.all(k[rows] + step >= statement.at_least[rows]):
                k[rows] += step
                up[j] = not up[j]
                turned += 1
            if tried % 1000 == 0 and budget.seconds_left <= 0:
                break
        budget.spend(1 + len(gains) // CELLS_A_WORK_UNIT)
    return up


def _gains(statement: Statement, up: Bools, k: Floats) -> Floats:
    """Return what turning each cell over adds to the distance."""
    entries = statement.D.tocoo()
    row, column = entries.coords
    step = np.where(up[column], -entries.data, entries.data)
    change = statement.far(row, k[row] + step) - statement.far(row, k[row])
    return np.asarray(np.bincount(column, weights=change, minlength=len(up)))


def rounded_relaxation(statement: Statement, budget: Budget) -> tuple[Bools | None, Ints, float | None]:
    """Solve with fractions, round, improve: (choice, cells that were fractions, bound)."""
    u, bound, _ = statement.programme(np.arange(len(statement.a)), None, budget, relaxed=True)
    if u is None:
        return None, np.zeros(0, np.int64), bound
    split = np.flatnonzero((u > INTEGRALITY) & (u < 1 - INTEGRALITY))
    return improved(statement, _lifted(statement, u > 0.5), budget), split, bound


def neighbourhoods(
    statement: Statement, up: Bools, doubtful: Ints, enough: float, budget: Budget, rng: np.random.Generator
) -> Bools:
    """Choose anew for a few cells at a time, all others held, while that finds anything.

    Every other time these are cells that the relaxation left open (`doubtful`), else those of a few margins.
    """
    lines = np.flatnonzero(np.diff(statement.D.indptr) > 1)
    cost, failures, turn = statement.cost(up), 0, 0
    while len(lines) and failures < FAILURES and cost > enough * (1 + IMPROVEMENT) and not budget.exhausted:
        turn += 1
        if len(doubtful) and turn % 2:
            columns = rng.permutation(doubtful)[:NEIGHBOURHOOD]
        else:
            columns = _of_margins(statement, rng.permutation(lines)[:MARGINS], rng)
        u, _, _ = statement.programme(np.sort(columns), up, budget, nodes=NODES)
        failures += 1
        found = None if u is None else u > 0.5
        if found is not None and statement.allowed(found) and statement.cost(found) < cost * (1 - IMPROVEMENT):
            up, cost, failures = found, statement.cost(found), 0
            budget.report("small counts", cost, enough)
    return up


def _of_margins(statement: Statement, rows: Ints, rng: np.random.Generator) -> Ints:
    D = statement.D
    columns = np.zeros(0, np.int64)
    for row in rows:
        columns = np.union1d(columns, D.indices[D.indptr[row] : D.indptr[row + 1]])
        if len(columns) >= NEIGHBOURHOOD:
            break
    return rng.permutation(columns)[:NEIGHBOURHOOD]
