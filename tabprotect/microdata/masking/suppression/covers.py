"""Fewest blanks of each record (or household) such that it states no unsafe combination: weighted set covers.

Records do not depend on each other here: all of them count by the values that they had before. So the cheapest set of
blanks of every pattern is found by looking at all sets of keys (up to `ENUMERATED` keys) or by integer programmes in
which patterns (or households) with the same unsafe sets are one block. Both are exact; `models.local_suppression` is
the statement.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.milp import solve_milp

__all__ = ["ENUMERATED", "Cover", "cover_by_enumeration", "cover_by_programmes", "cover_households", "masks_by_cost"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

ENUMERATED = 12
"""Up to so many keys all sets of blanks are looked at."""

_CHUNK = 50_000_000
_BLOCK_ROWS = 4_000


@dataclass(frozen=True, eq=False)
class Cover:
    """Which keys of which rows are blanked.

    Attributes
    ----------
    blanks : ndarray of bool, shape (rows, keys)
    bound : float
        No blanks that leave every row safe cost less, each row counted as often as given.
    """

    blanks: Flags
    bound: float


def masks_by_cost(cost: Floats) -> tuple[Ints, Floats]:
    """Return all sets of keys (bit j is key j) from the cheapest on; among equals the later keys come first.

    Examples
    --------
    >>> masks_by_cost(np.array([1.0, 1.0]))[0].tolist()
    [0, 2, 1, 3]
    """
    keys = len(cost)
    masks = np.arange(1 << keys, dtype=np.int64)
    bits = (masks[:, None] >> np.arange(keys)) & 1
    sums = bits @ cost
    order = np.lexsort((-masks, bits.sum(axis=1), np.round(sums, 9)))
    return masks[order], sums[order]


def _safe(unsafe: dict[tuple[int, ...], Flags], rows: Ints, keys: int) -> Flags:
    """Return which sets of stated keys hold no unsafe combination: shape (sets, rows)."""
    bad = np.zeros((1 << keys, len(rows)), dtype=bool)
    for chosen, flags in unsafe.items():
        bad[sum(1 << j for j in chosen)] = flags[rows]
    sets = np.arange(1 << keys)
    for j in range(keys):
        without = sets[(sets >> j) & 1 == 0]
        bad[without | (1 << j)] |= bad[without]
    return ~bad


def cover_by_enumeration(unsafe: dict[tuple[int, ...], Flags], counts: Ints, cost: Floats) -> Cover:
    """Find the cheapest blanks of every row by looking at all sets of keys.

    Parameters
    ----------
    unsafe : mapping of tuple of int to ndarray of bool, shape (rows,)
        For sets of keys which rows are unsafe in them.
    counts : ndarray of int, shape (rows,)
    cost : ndarray, shape (keys,)

    Examples
    --------
    >>> unsafe = {(0, 1): np.array([True, False]), (1, 2): np.array([True, True])}
    >>> cover = cover_by_enumeration(unsafe, np.array([1, 2]), np.ones(3))
    >>> cover.blanks.astype(int).tolist(), cover.bound
    ([[0, 1, 0], [0, 0, 1]], 3.0)
    """
    keys = len(cost)
    blanks = np.zeros((len(counts), keys), dtype=bool)
    masks, sums = masks_by_cost(cost)
    everything = (1 << keys) - 1
    risky = _risky(unsafe, len(counts))
    total = 0.0
    for rows in _chunks(risky, 1 << keys):
        safe = _safe(unsafe, rows, keys)
        todo = np.arange(len(rows))
        for mask, price in zip(masks.tolist(), sums.tolist(), strict=True):
            fits = safe[everything ^ mask, todo]
            chosen = rows[todo[fits]]
            blanks[chosen] = (mask >> np.arange(keys)) & 1
            total += price * float(counts[chosen].sum())
            todo = todo[~fits]
            if not len(todo):
                break
    return Cover(blanks, total)


def cover_households(
    unsafe: dict[tuple[int, ...], Flags], household: Ints, cost: Floats, together: Sequence[int]
) -> Cover:
    """Find the cheapest blanks where some keys are blanked in all records of a household or in none.

    Parameters
    ----------
    unsafe : mapping of tuple of int to ndarray of bool, shape (records,)
    household : ndarray of int, shape (records,)
        Numbers from 0 on.
    cost : ndarray, shape (keys,)
        Of every single blank.
    together : sequence of int
        The household's keys.

    Examples
    --------
    Blanking key 0 in both members is dearer than key 1 in the one that is unsafe.

    >>> unsafe = {(0, 1): np.array([True, False])}
    >>> cover_households(unsafe, np.array([0, 0]), np.array([1.0, 1.5]), [0]).blanks.astype(int).tolist()
    [[0, 1], [0, 0]]
    """
    keys = len(cost)
    risky_homes = np.unique(household[_risky(unsafe, len(household))])
    members = np.flatnonzero(np.isin(household, risky_homes))
    home = np.searchsorted(risky_homes, household[members])
    masks, sums = masks_by_cost(cost)
    shared = sum(1 << j for j in together)
    outer = [mask for mask in masks.tolist() if mask & ~shared == 0]
    best = np.full(len(risky_homes), np.inf)
    choice = np.zeros(len(members), dtype=np.int64)
    order = np.argsort(home, kind="stable")
    members, home = members[order], home[order]
    for part in _chunks(np.arange(len(risky_homes)), (1 << keys) * 4):
        low, high = np.searchsorted(home, [part[0], part[-1] + 1])
        rows, here = members[low:high], home[low:high] - part[0]
        safe = _safe(unsafe, rows, keys)
        for mask in outer:
            price, chosen = _cheapest(safe, masks, sums, shared, mask, keys)
            whole = np.bincount(here, weights=price, minlength=len(part))
            better = whole < best[part] - 1e-9
            best[part[better]] = whole[better]
            mine = better[here]
            choice[low:high][mine] = chosen[mine]
    blanks = np.zeros((len(household), keys), dtype=bool)
    blanks[members] = (choice[:, None] >> np.arange(keys)) & 1
    return Cover(blanks, float(best.sum()))


def _cheapest(safe: Flags, masks: Ints, sums: Floats, shared: int, mask: int, keys: int) -> tuple[Floats, Ints]:
    """Return the cheapest blanks of every row that agree with a mask on the shared keys."""
    price = np.full(safe.shape[1], np.inf)
    chosen = np.zeros(safe.shape[1], dtype=np.int64)
    agree = masks & shared == mask
    for one, cost in zip(masks[agree].tolist(), sums[agree].tolist(), strict=True):
        fits = safe[((1 << keys) - 1) ^ one] & np.isinf(price)
        price[fits], chosen[fits] = cost, one
    return price, chosen


def cover_by_programmes(
    unsafe: dict[tuple[int, ...], Flags],
    counts: Ints,
    cost: Floats,
    household: Ints | None = None,
    together: Sequence[int] = (),
    budget: Budget | None = None,
) -> Cover:
    """Find the same by integer programmes; for many keys.

    Each row (or, with keys that are blanked together, each household) is a block; equal blocks are solved once.
    """
    keys = len(cost)
    rows, where = _rows(unsafe)
    blocks = where if household is None else household[where]
    shared = np.isin(np.arange(keys), list(together)) & (household is not None)
    families: dict[tuple[object, ...], list[Ints]] = {}
    order = np.argsort(blocks, kind="stable")
    size_of = counts if household is None else np.bincount(household)
    for part in np.split(order, np.flatnonzero(np.diff(blocks[order])) + 1):
        if not len(part):
            continue
        members, local = np.unique(where[part], return_inverse=True)
        size = 1 if household is None else int(size_of[blocks[part[0]]])
        lines = tuple(sorted({(int(i), rows[j]) for i, j in zip(local, part, strict=True)}))
        families.setdefault((len(members), size, lines), []).append(members)
    blanks = np.zeros((len(counts), keys), dtype=bool)
    total, pending, lines_pending = 0.0, [], 0
    for signature, found in [*families.items(), (None, [])]:
        if signature is not None:
            pending.append((signature, found))
            lines_pending += len(signature[2])  # type: ignore[arg-type]
        if pending and (signature is None or lines_pending > _BLOCK_ROWS):
            total += _solve_blocks(pending, cost, shared, counts, blanks, budget)
            pending, lines_pending = [], 0
    if household is not None:
        homes = np.zeros((int(household.max(initial=0)) + 1, keys), dtype=bool)
        np.logical_or.at(homes, household, blanks)
        blanks[:, shared] = homes[household][:, shared]
    return Cover(blanks, total)


def _solve_blocks(
    blocks: list[tuple[tuple[object, ...], list[Ints]]],
    cost: Floats,
    shared: Flags,
    counts: Ints,
    blanks: Flags,
    budget: Budget | None,
) -> float:
    """Solve several blocks in one programme, write the blanks down and return the bound."""
    keys = len(cost)
    prices, line_of, column_of, starts = [], [], [], []
    lines = columns = 0
    for (members, size, given), found in blocks:
        assert isinstance(members, int)
        assert isinstance(size, int)
        assert isinstance(given, tuple)
        # a column for every key of every member; shared keys use those of the first one
        starts.append(columns)
        often = np.sum([counts[m] for m in found], axis=0) if not shared.any() else np.full(members, len(found))
        price = np.outer(often, cost)
        price[0, shared] = cost[shared] * size * len(found)
        prices.append(price.ravel())
        for member, chosen in given:
            for j in chosen:
                line_of.append(lines)
                column_of.append(columns + (0 if shared[j] else member) * keys + j)
            lines += 1
        columns += members * keys
    matrix = sparse.csr_array((np.ones(len(line_of)), (line_of, column_of)), shape=(lines, columns))
    weights = np.concatenate(prices)
    answer = solve_milp(
        matrix, np.ones(lines), np.full(lines, np.inf), np.zeros(columns), np.ones(columns), weights,
        np.ones(columns, dtype=bool), budget=budget,
    )  # fmt: skip
    if answer.x is None or answer.bound is None:
        raise SolverError(f"no set of blanks was found: {answer.message}")
    chosen = answer.x > 0.5
    if (matrix @ chosen < 1).any():
        raise SolverError("the solver returned blanks that leave a record unsafe")
    for ((members, _, _), found), start in zip(blocks, starts, strict=True):
        assert isinstance(members, int)
        block = chosen[start : start + members * keys].reshape(members, keys)
        for rows in found:
            blanks[rows] |= block
    return answer.bound


def _rows(unsafe: dict[tuple[int, ...], Flags]) -> tuple[list[tuple[int, ...]], Ints]:
    """Return every unsafe set of every row."""
    sets: list[tuple[int, ...]] = []
    rows: list[Ints] = []
    for keys, flags in unsafe.items():
        here = np.flatnonzero(flags)
        sets += [keys] * len(here)
        rows.append(here)
    return sets, np.concatenate(rows) if rows else np.zeros(0, np.int64)


def _risky(unsafe: dict[tuple[int, ...], Flags], rows: int) -> Ints:
    risky = np.zeros(rows, dtype=bool)
    for flags in unsafe.values():
        risky |= flags
    return np.flatnonzero(risky)


def _chunks(rows: Ints, width: int) -> list[Ints]:
    size = max(1, _CHUNK // width)
    return [rows[i : i + size] for i in range(0, len(rows), size)]
