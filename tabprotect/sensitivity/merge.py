"""Sums of cells as cells: whose contributions they hold, as far as the kept ones tell, and in the worst case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.sensitivity.holders import Kept, Sets, Slots, by_holder, sums_by
from tabprotect.sensitivity.rule import TIE
from tabprotect.sensitivity.rule import plain as counts_once
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Contributions, Table

__all__ = ["merged", "with_respondent"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def merged(table: Table, sets: Sequence[Ints], top: int) -> tuple[Table, Table]:
    """Return one cell for every set of cells: with what is known of its contributors, and in the worst case.

    Let a cell keep its k largest contributions and have R left beyond them. A holder who is not among them has at most
    c = min(smallest kept, R) in it. For m holders of a set, together, that gives the bound

        P_m = min(sum of the m largest (kept + c of the cells where he is not kept), m largest kept sums + sum of R,
        total)

    and the worst case has P_1, P_2 - P_1, ... as its contributions. P is concave, so they are sorted, and every
    rule that grows with the shares of the largest contributors judges it at least as severely as the truth. Where
    everything is kept (R = 0) both are equal.

    With sampling weights a holder has the mean of his weights, weighted by his contributions, as in a cell. The weights
    of those who are not kept are unknown, so that in the worst case everybody contributes as much as anybody can:
    P_m = min(m max(kept + c), total), c being the smallest kept.

    Parameters
    ----------
    table : Table
    sets : sequence of ndarray of int
        Disjoint cells within each set.
    top : int
        Number of contributions that the rules need.

    Returns
    -------
    known, worst : Table
        Without equations.
    """
    n = len(sets)
    cells = Sets(np.concatenate(sets), np.repeat(np.arange(n), [len(mine) for mine in sets]), n)
    weighted = table.weighted_counts
    base = Table(
        LinearSystem(sparse.csr_array((0, n)), np.zeros(0), pd.RangeIndex(n)),
        cells.sum(table.values),
        counts=None if table.counts is None else cells.sum(table.counts),
        weighted_counts=None if weighted is None else cells.sum(weighted),
        kind=table.kind,
    )
    if table.contributions is None:
        return base, base
    return _with_contributions(table, base, table.contributions, cells, top)


def with_respondent(table: Table, holder: Ints) -> Table:
    """Return sums as a respondent sees them who knows his own part.

    He becomes one more contributor, as large as the largest other one. His contributions leave the sum, and rules that
    protect respondents from each other count him among those who guess. Where he may be among the contributors that
    the table does not keep, nothing is taken off.

    Parameters
    ----------
    table : Table
        Without equations, as `merged` returns it.
    holder : ndarray of int, shape (cells,)
        The respondent who knows each sum: a position in the names of the contributions; -1 for unknown.
    """
    c = table.contributions
    if c is None:
        counts, weighted = (None if n is None else n + 1 for n in (table.counts, table.weighted_counts))
        values = table.values + (counts is None and weighted is None)
        return replace(table, values=values, counts=counts, weighted_counts=weighted)
    own = (c.holders == holder[:, None]) & (holder >= 0)[:, None] & (c.weights > 0)
    others = np.where(own, 0.0, c.values * (c.weights > 0))
    largest = others.max(axis=1, initial=0.0)
    left = c.total - np.where(own, c.values * c.weights, 0.0).sum(axis=1)
    new = ~own.any(axis=1)

    def first(array: npt.NDArray[Any], what: Any) -> npt.NDArray[Any]:
        column = np.full(len(largest), what, array.dtype) if np.ndim(what) == 0 else what
        return np.asarray(np.column_stack([column, array]))

    def one_more(counts: Floats | None) -> Floats | None:
        return None if counts is None else counts + new

    seen = replace(
        c,
        total=left + largest,
        values=first(others, largest),
        weights=first(np.where(own, 0.0, c.weights), 1.0),
        holders=first(np.where(own, -1, c.holders), holder),
        # he is not the one who is guessed
        waived=first(c.waived & ~own, True),
        requested=first(np.where(own, 0, c.requested).astype(np.int8), 0),
    )
    return replace(
        table, contributions=seen, counts=one_more(table.counts), weighted_counts=one_more(table.weighted_counts)
    )


def _with_contributions(table: Table, base: Table, c: Contributions, sets: Sets, top: int) -> tuple[Table, Table]:
    slots, plain = Slots.of(c), counts_once(c)
    rest, beyond = _not_kept(table, c, slots, plain)
    kept = by_holder(c, slots, sets, beyond, plain)
    sum_total, sum_rest, all_beyond = (sets.sum(a) for a in (c.total, rest, beyond))
    width = max(top, c.values.shape[1], 1)
    known = _top(c, kept, kept.value, width, sum_total)
    worst = _worst(c, kept, known, sum_rest, all_beyond, plain)
    (most, fewest), (weighted_most, weighted_least) = _counts(table, base, c, slots, sets, kept, plain)

    def cells(counts: Floats | None, weighted: Floats | None, contributions: Contributions) -> Table:
        return Table(
            base.system,
            base.values,
            counts=counts,
            weighted_counts=weighted,
            contributions=contributions,
            kind=base.kind,
        )

    return cells(most, weighted_most, known), cells(fewest, weighted_least, worst)


def _not_kept(table: Table, c: Contributions, slots: Slots, plain: bool) -> tuple[Floats, Floats]:
    """Return what every cell has left beyond its kept contributions, and how much of that one holder has at most."""
    k = c.values.shape[1]
    kept = (slots.values * slots.weights).sum(axis=1)
    rest = np.maximum(c.total - kept, 0.0) if k else np.zeros(table.n_cells)
    rest[rest <= TIE * c.total] = 0.0
    if not k:
        return rest, rest
    # a weight below 1 makes a contribution larger than its part of the total
    return rest, np.minimum(rest, c.values[:, -1]) if plain else np.where(rest > 0, c.values[:, -1], 0.0)


def _counts(
    table: Table, base: Table, c: Contributions, slots: Slots, sets: Sets, kept: Kept, plain: bool
) -> tuple[tuple[Floats | None, Floats | None], tuple[Floats | None, Floats | None]]:
    """Return how many contributors every set has at most and at least, and the same by their weights."""
    most, weighted = base.counts, None if plain else base.weighted_counts
    if table.counts is None or most is None:
        return (most, None), (weighted, weighted)
    if not np.any(c.holders >= 0):
        return (most, most), (weighted, weighted)
    full = sets.sum(table.counts > (slots.weights > 0).sum(axis=1)) == 0
    distinct = sums_by(kept.group, np.ones(len(kept.group)), sets.n)
    fewest = np.where(full, distinct, np.maximum(sets.largest(table.counts), distinct))
    most = np.where(full, distinct, most)
    if weighted is None or table.weighted_counts is None:
        return (most, fewest), (weighted, weighted)
    apart = sums_by(kept.group, kept.columns["weights"], sets.n)
    # a mean of weights may be below that of one cell
    least = np.where(full, apart, np.minimum(sets.largest(table.weighted_counts), apart))
    return (most, fewest), (np.where(full, apart, weighted), least)


def _worst(
    c: Contributions, kept: Kept, known: Contributions, rest: Floats, beyond: Floats, plain: bool
) -> Contributions:
    """Return contributions by which every rule judges the sums at least as severely as the truth; see `merged`."""
    width = known.values.shape[1]
    at_most = np.asarray(kept.value) + beyond[kept.group] - np.asarray(kept.beyond)
    worst = _top(c, kept, at_most, width, known.total)
    raised = -np.sort(-np.c_[worst.values * worst.weights, np.repeat(beyond[:, None], width, axis=1)], axis=1)
    bound = np.minimum(np.cumsum(raised[:, :width], axis=1), np.cumsum(known.values, axis=1) + rest[:, None])
    if not plain:
        highest = np.maximum(worst.values.max(axis=1, initial=0.0), beyond)
        bound = highest[:, None] * np.arange(1, width + 1)
    bound = np.minimum(bound, known.total[:, None])
    size = np.maximum(np.diff(bound, axis=1, prepend=0.0), 0.0)
    open_end = rest > 0
    return replace(
        known,
        values=np.where(open_end[:, None], size, known.values),
        weights=np.where(open_end[:, None], (size > 0).astype(np.float64), known.weights),
        holders=np.where(open_end[:, None], -1, known.holders),
        waived=known.waived & ~open_end[:, None],
        requested=np.where(open_end[:, None], worst.requested, known.requested),
        unwaived=np.where(open_end, size[:, 0], known.unwaived),
        unwaived_holder=np.where(open_end, -1, known.unwaived_holder),
    )


def _top(c: Contributions, kept: Kept, value: npt.NDArray[Any], width: int, total: Floats) -> Contributions:
    """Put the largest of every set side by side, by values that may be others than the kept ones."""
    m, columns = len(total), kept.columns
    order = np.lexsort((-np.asarray(value, np.float64), kept.group))
    group = kept.group[order]
    rank = np.arange(len(group)) - np.searchsorted(group, group)
    near = rank < width

    def spread(array: npt.NDArray[Any], padding: float = 0) -> npt.NDArray[Any]:
        wide = np.full((m, width), padding, dtype=array.dtype)
        wide[group[near], rank[near]] = array[order][near]
        return wide

    free = np.flatnonzero(~np.asarray(columns["waived"], bool)[order])
    first = free[np.unique(group[free], return_index=True)[1]]
    unwaived, unwaived_holder = np.zeros(m), np.full(m, -1, np.int64)
    unwaived[group[first]] = np.asarray(value, np.float64)[order][first]
    unwaived_holder[group[first]] = np.asarray(columns["holders"], np.int64)[order][first]
    return Contributions(
        total=total,
        values=np.asarray(spread(value), np.float64),
        weights=np.asarray(spread(columns["weights"]), np.float64),
        holders=np.asarray(spread(columns["holders"], -1), np.int64),
        waived=np.asarray(spread(columns["waived"]), bool),
        requested=np.asarray(spread(columns["requested"]), np.int8),
        unwaived=unwaived,
        unwaived_holder=unwaived_holder,
        names=c.names,
        shadow=c.shadow,
        lightest=c.lightest,
    )
