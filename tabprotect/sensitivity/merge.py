"""Sums of cells as cells: whose contributions they hold, as far as the kept ones tell, and in the worst case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.sensitivity.rule import TIE
from tabprotect.sensitivity.rule import plain as counts_once
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Contributions, Table

__all__ = ["merged", "with_respondent"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
_NO_REQUEST = 9


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
    m = len(sets)
    member = np.concatenate(sets)
    owner = np.repeat(np.arange(m), [len(cells) for cells in sets])

    def total(array: Floats) -> Floats:
        return _sums(owner, array[member], m)

    weighted = table.weighted_counts
    base = Table(
        LinearSystem(sparse.csr_array((0, m)), np.zeros(0), pd.RangeIndex(m)),
        total(table.values),
        counts=None if table.counts is None else total(table.counts),
        weighted_counts=None if weighted is None else total(weighted),
        kind=table.kind,
    )
    if table.contributions is None:
        return base, base
    return _with_contributions(table, base, table.contributions, member, owner, top)


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


def _with_contributions(
    table: Table, base: Table, c: Contributions, member: Ints, owner: Ints, top: int
) -> tuple[Table, Table]:
    m = base.n_cells
    values, weights, holders, waived, requested = _slots(c)
    k = c.values.shape[1]
    plain = counts_once(c)
    kept = (values * weights).sum(axis=1)
    rest = np.maximum(c.total - kept, 0.0) if k else np.zeros(table.n_cells)
    rest[rest <= TIE * c.total] = 0.0
    # a weight below 1 makes a contribution larger than its part of the total
    beyond = (np.minimum(rest, c.values[:, -1]) if plain else np.where(rest > 0, c.values[:, -1], 0.0)) if k else rest

    slot_cell, slot = np.nonzero(weights[member] > 0)
    union, cell = owner[slot_cell], member[slot_cell]
    who = holders[cell, slot]
    alone = who < 0
    who = np.where(alone, len(c.names) + np.arange(len(who)), who)
    order = np.lexsort((who, union))
    start = np.flatnonzero(np.r_[True, (np.diff(union[order]) != 0) | (np.diff(who[order]) != 0)])
    start = start[: len(order)]

    def grouped(how: np.ufunc, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return how.reduceat(array[order], start) if len(start) else array[:0]

    group = union[order][start]
    value = grouped(np.add, values[cell, slot])
    parts, each = weights[cell, slot], values[cell, slot]
    weighty = grouped(np.add, parts * each)
    weight = np.divide(weighty, value, out=parts[order][start].copy(), where=value > 0)
    if plain:
        weight = parts[order][start]
    request = np.where(requested[cell, slot] == 0, _NO_REQUEST, requested[cell, slot])
    columns = {
        "weights": weight,
        "holders": np.where(alone[order][start], holders[cell, slot][order][start], who[order][start]),
        "waived": grouped(np.logical_and, waived[cell, slot]),
        "requested": grouped(np.minimum, request) % _NO_REQUEST,
    }
    sum_total, sum_rest, all_beyond = (_sums(owner, a[member], m) for a in (c.total, rest, beyond))
    width = max(top, k, 1)
    known = _top(c, group, value, columns, m, width, sum_total)
    distinct = _sums(group, np.ones(len(group)), m)
    most = base.counts
    fewest = None
    weighted_most = weighted_least = None if plain else base.weighted_counts
    if table.counts is not None and most is not None:
        full = _sums(owner, table.counts[member] > (weights[member] > 0).sum(axis=1), m) == 0
        named = bool(np.any(c.holders >= 0))
        largest = _most(owner, table.counts[member], m)
        most = np.where(full, distinct, most) if named else most
        fewest = np.where(full, distinct, np.maximum(largest, distinct)) if named else most
        if weighted_most is not None and table.weighted_counts is not None and named:
            apart = _sums(group, weight, m)
            weighted_most = np.where(full, apart, weighted_most)
            # a mean of weights may be below that of one cell
            heaviest = _most(owner, table.weighted_counts[member], m)
            weighted_least = np.where(full, apart, np.minimum(heaviest, apart))

    at_most = np.asarray(value) + all_beyond[group] - np.asarray(grouped(np.add, beyond[cell]))
    worst = _top(c, group, at_most, columns, m, width, sum_total)
    raised = -np.sort(-np.c_[worst.values * worst.weights, np.repeat(all_beyond[:, None], width, axis=1)], axis=1)
    bound = np.minimum(np.cumsum(raised[:, :width], axis=1), np.cumsum(known.values, axis=1) + sum_rest[:, None])
    if not plain:
        highest = np.maximum(worst.values.max(axis=1, initial=0.0), all_beyond)
        bound = highest[:, None] * np.arange(1, width + 1)
    bound = np.minimum(bound, sum_total[:, None])
    size = np.maximum(np.diff(bound, axis=1, prepend=0.0), 0.0)
    open_end = sum_rest > 0
    guessed = Contributions(
        total=sum_total,
        values=np.where(open_end[:, None], size, known.values),
        weights=np.where(open_end[:, None], (size > 0).astype(np.float64), known.weights),
        holders=np.where(open_end[:, None], -1, known.holders),
        waived=known.waived & ~open_end[:, None],
        requested=np.where(open_end[:, None], worst.requested, known.requested),
        unwaived=np.where(open_end, size[:, 0], known.unwaived),
        unwaived_holder=np.where(open_end, -1, known.unwaived_holder),
        names=c.names,
        shadow=c.shadow,
        lightest=c.lightest,
    )

    def cells(counts: Floats | None, weighted: Floats | None, contributions: Contributions) -> Table:
        return Table(
            base.system,
            base.values,
            counts=counts,
            weighted_counts=weighted,
            contributions=contributions,
            kind=base.kind,
        )

    return cells(most, weighted_most, known), cells(fewest, weighted_least, guessed)


def _most(owner: Ints, array: Floats, m: int) -> Floats:
    found = np.zeros(m)
    np.maximum.at(found, owner, array)
    return found


def _sums(owner: Ints, array: npt.NDArray[Any], m: int) -> Floats:
    return np.asarray(np.bincount(owner, weights=array, minlength=m), np.float64)


def _slots(c: Contributions) -> tuple[Floats, Floats, Ints, npt.NDArray[np.bool_], npt.NDArray[np.int8]]:
    """Return the kept contributions, and as one more the largest without waiver where it is not among them."""
    inside = ((c.weights > 0) & ~c.waived).any(axis=1)
    extra = ~inside & (c.unwaived > 0)
    return (
        np.c_[c.values, np.where(extra, c.unwaived, 0.0)],
        np.c_[c.weights, extra.astype(np.float64)],
        np.c_[c.holders, np.where(extra, c.unwaived_holder, -1)],
        np.c_[c.waived, np.zeros(len(extra), bool)],
        np.c_[c.requested, np.zeros(len(extra), np.int8)],
    )


def _top(
    c: Contributions,
    group: Ints,
    value: npt.NDArray[Any],
    columns: dict[str, npt.NDArray[Any]],
    m: int,
    width: int,
    total: Floats,
) -> Contributions:
    """Put the largest of every group side by side."""
    order = np.lexsort((-np.asarray(value, np.float64), group))
    group = group[order]
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
