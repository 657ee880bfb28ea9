"""Fewest blanks where blanks of one record change what others match: 'both', 'stated' and 'own'.

With y_pS the number of records of pattern p whose keys S are blanked, classes c of equal released records, and M_c the
(p, S) that match class c:

    min   sum_pS w(S) y_pS
    s.t.  sum_S y_pS = n_p                              for every pattern p          (1)
          y_pS <= n_p z_c(p,S)                          z_c = 1 if class c is there  (2)
          sum_{(p,S) in M_c} y_pS >= k z_c              for every class c            (3)
          y whole, z binary

`models.local_suppression` states the same. Where counts do not depend on blanks ('any') it falls apart into one set
cover for every record (`covers`), whose optimum is a bound for 'stated' and 'own'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.errors import SolverError
from tabprotect.microdata.anonymity import Missing
from tabprotect.microdata.keys import Patterns, frequencies, match_counts, row_numbers
from tabprotect.microdata.masking.suppression.covers import masks_by_cost
from tabprotect.solver.limits import Budget
from tabprotect.solver.mip.milp import solve_milp

__all__ = ["Assigned", "assign_exactly", "assign_quickly", "released_counts"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]

#: programmes with more pairs of patterns and sets of blanks are not stated
_LARGEST = 60_000
_LARGEST_MATRIX = 20_000_000
_TRIES = 200_000_000


@dataclass(frozen=True, eq=False)
class Assigned:
    """How many records of which pattern get which blanks.

    Attributes
    ----------
    pattern, mask, count : ndarray of int, shape (parts,)
        Bit j of a mask is key j.
    cost : float
    bound : float
    """

    pattern: Ints
    mask: Ints
    count: Ints
    cost: float
    bound: float = 0.0

    def check(self, patterns: Patterns, k: int, missing: Missing) -> None:
        """Look at it as if somebody else had made it.

        Raises
        ------
        SolverError
            If a record is left with fewer than k matches.
        """
        sums = np.bincount(self.pattern, weights=self.count, minlength=len(patterns.counts))
        released = blanked(patterns.codes[self.pattern], self.mask)
        short = released_counts(released, self.count, patterns.sizes, missing) < k
        if (sums != patterns.counts).any() or short[self.count > 0].any():
            raise SolverError("blanks were found that leave a record with too few matches; nothing was made of them")

    def masks(self, patterns: Patterns) -> Ints:
        """Return the mask of every record; records of one pattern are taken in their order, blanks first."""
        order = np.lexsort((-self.mask, self.pattern))
        spread = np.zeros(len(patterns.index), dtype=np.int64)
        spread[np.argsort(patterns.index, kind="stable")] = np.repeat(self.mask[order], self.count[order])
        return spread


def blanked(codes: Ints, masks: Ints) -> Ints:
    """Return codes with the keys of a mask set to missing, row by row."""
    gone = (masks[:, None] >> np.arange(codes.shape[1])) & 1 > 0
    return np.where(gone, -1, codes)


def released_counts(codes: Ints, counts: Ints, sizes: tuple[int, ...], missing: Missing) -> Ints:
    """Return how many released records match each row; see `anonymity.key_counts`."""
    if missing == "own":
        return frequencies(codes, sizes, counts)
    return match_counts(codes, codes, sizes, counts, missing_matches=missing == "both")


def assign_quickly(
    codes: Ints, counts: Ints, sizes: tuple[int, ...], k: int, cost: Floats, missing: Missing, first: Ints
) -> Assigned:
    """Find blanks that leave every record at least k matches, fast, not always the fewest.

    Parameters
    ----------
    codes : ndarray of int, shape (patterns, keys)
    counts : ndarray of int, shape (patterns,)
    sizes : tuple of int
    k : int
        At most ``counts.sum()``.
    cost : ndarray, shape (keys,)
    missing : {'both', 'stated', 'own'}
    first : ndarray of int, shape (patterns,)
        The cheapest blanks for 'any'; those for 'both' begin with them.
    """
    numbers = np.arange(len(counts))
    if missing == "both":
        masks = _fewer(codes, counts, sizes, k, cost, first.copy())
        found = _priced(numbers, masks, counts, cost)
        # k - 1 records that state nothing match all others
        spread = _states_nothing(counts, k, len(cost), cost)
        return min(found, spread, key=lambda one: one.cost)
    masks, _ = masks_by_cost(cost)
    blanks = np.zeros(len(counts), dtype=np.int64)
    while True:
        released = blanked(codes, blanks)
        todo = np.flatnonzero(released_counts(released, counts, sizes, missing) < k)
        if not len(todo):
            return _priced(numbers, blanks, counts, cost)
        for mask in masks.tolist():
            mine = todo[(blanks[todo] & ~mask) == 0]
            mine = mine[blanks[mine] != mask] if missing == "stated" else mine
            fits = _supported(codes, counts, sizes, blanks, todo, mine, mask, missing) >= k
            blanks[mine[fits]] = mask
            todo = np.setdiff1d(todo, mine[fits], assume_unique=True)
            if not len(todo):
                break
        if len(todo):
            # fewer than k records state nothing: the smallest class joins them
            blanks[todo] = masks[-1]
            sums = released_counts(blanked(codes, blanks), counts, sizes, missing)
            sums[blanks == masks[-1]] = np.iinfo(np.int64).max
            smallest = np.argmin(sums)
            same = (blanked(codes, blanks) == blanked(codes, blanks)[smallest]).all(axis=1)
            blanks[same] = masks[-1]


def _supported(
    codes: Ints, counts: Ints, sizes: tuple[int, ...], blanks: Ints, todo: Ints, mine: Ints, mask: int, missing: Missing
) -> Ints:
    """Count the records that would match if a set of blanks were taken by these patterns, and by nobody else."""
    keep = np.flatnonzero((mask >> np.arange(codes.shape[1])) & 1 == 0)
    settled = np.ones(len(codes), dtype=bool)
    settled[todo] = False
    released = blanked(codes, blanks)
    gone = np.delete(released, keep, axis=1)
    settled &= (released[:, keep] == codes[:, keep]).all(axis=1)
    if missing == "own":
        settled &= (gone < 0).all(axis=1)
    else:
        settled &= (released[:, keep] >= 0).all(axis=1)
    others = np.concatenate([np.flatnonzero(settled), mine])
    numbers, _ = row_numbers(codes[np.ix_(others, keep)], [sizes[j] for j in keep])
    index = pd.factorize(numbers)[0]
    sums = np.bincount(index, weights=counts[others])
    found: Ints = sums[index[len(others) - len(mine) :]].astype(np.int64)
    return found


def _fewer(codes: Ints, counts: Ints, sizes: tuple[int, ...], k: int, cost: Floats, masks: Ints) -> Ints:
    """Take blanks back, the dearest first, where everybody keeps k matches under 'both'."""
    risky = np.flatnonzero(masks)
    if len(risky) * len(codes) * codes.shape[1] > _TRIES:
        return masks
    released = blanked(codes, masks)
    matches = released_counts(released, counts, sizes, "both")
    keys = codes.shape[1]
    price = ((masks[risky, None] >> np.arange(keys)) & 1) @ cost * counts[risky]
    for p in risky[np.argsort(-price, kind="stable")].tolist():
        for j in np.argsort(-cost, kind="stable").tolist():
            if not masks[p] >> j & 1 or codes[p, j] < 0:
                continue
            row = released[p].copy()
            other = (released == row) | (released < 0) | (row < 0)
            other[:, j] = True
            lost = other.all(axis=1) & (released[:, j] >= 0) & (released[:, j] != codes[p, j])
            if (matches[lost] - counts[p] < k).any() or matches[p] - counts[lost].sum() < k:
                continue
            masks[p] &= ~(1 << j)
            released[p, j] = codes[p, j]
            matches[lost] -= counts[p]
            matches[p] -= counts[lost].sum()
    return masks


def _states_nothing(counts: Ints, k: int, keys: int, cost: Floats) -> Assigned:
    """Blank k - 1 records wholly, those of the commonest patterns."""
    order = np.argsort(-counts, kind="stable")
    reached = np.minimum(np.cumsum(counts[order]), k - 1)
    part = np.diff(reached, prepend=0)
    whole = order[part > 0]
    blank = np.full(len(whole), (1 << keys) - 1)
    rest = counts.copy()
    rest[whole] -= part[part > 0]
    left = np.flatnonzero(rest)
    return Assigned(
        np.concatenate([whole, left]), np.concatenate([blank, np.zeros(len(left), np.int64)]),
        np.concatenate([part[part > 0], rest[left]]), float(cost.sum() * part.sum()),
    )  # fmt: skip


def _priced(pattern: Ints, masks: Ints, counts: Ints, cost: Floats) -> Assigned:
    bits = (masks[:, None] >> np.arange(len(cost))) & 1
    return Assigned(pattern, masks, counts, float((bits @ cost * counts).sum()))


def assign_exactly(
    codes: Ints,
    counts: Ints,
    sizes: tuple[int, ...],
    k: int,
    cost: Floats,
    missing: Missing,
    start: Assigned,
    budget: Budget,
) -> Assigned | None:
    """Solve the programme of this module, from a start; None where it would be too large to state.

    Returns
    -------
    Assigned or None
        The cheapest blanks found and the bound; what it says has to be checked as any claim.
    """
    keys = len(cost)
    if len(codes) << keys > _LARGEST:
        return None
    masks = np.arange(1 << keys, dtype=np.int64)
    pattern = np.repeat(np.arange(len(codes)), len(masks))
    mask = np.tile(masks, len(codes))
    # a blank of what is missing anyway is no other choice
    absent = (codes < 0) @ (1 << np.arange(keys))
    useful = mask & absent[pattern] == 0
    pattern, mask = pattern[useful], mask[useful]
    released = blanked(codes[pattern], mask)
    label = pd.factorize(row_numbers(released, sizes)[0])[0]
    classes = int(label.max()) + 1
    first = np.unique(label, return_index=True)[1]
    matrix = _matches(released[first], released, missing)
    if matrix is None:
        return None
    n, pairs = len(codes), len(pattern)
    ones = np.ones(pairs)
    own = sparse.csr_array((ones, (pattern, np.arange(pairs))), shape=(n, pairs))
    link = sparse.csr_array((-counts[pattern].astype(float), (np.arange(pairs), label)), shape=(pairs, classes))
    blocks: list[list[Any]] = [
        [own, sparse.csr_array((n, classes))],
        [sparse.eye_array(pairs), link],
        [matrix, -float(k) * sparse.eye_array(classes)],
    ]
    low = np.concatenate([counts, np.full(pairs, -np.inf), np.zeros(classes)])
    high = np.concatenate([counts, np.zeros(pairs), np.full(classes, np.inf)])
    price = ((mask[:, None] >> np.arange(keys)) & 1) @ cost
    x = np.zeros(pairs + classes)
    place = {(p, s): i for i, (p, s) in enumerate(zip(pattern.tolist(), mask.tolist(), strict=True))}
    for p, s, c in zip(start.pattern.tolist(), start.mask.tolist(), start.count.tolist(), strict=True):
        i = place[p, s & ~int(absent[p])]
        x[i] += c
        x[pairs + label[i]] = 1
    answer = solve_milp(
        sparse.block_array(blocks), low, high, np.zeros(pairs + classes),
        np.concatenate([counts[pattern].astype(float), np.ones(classes)]), np.concatenate([price, np.zeros(classes)]),
        np.ones(pairs + classes, dtype=bool), start=x, budget=budget,
    )  # fmt: skip
    bound = 0.0 if answer.bound is None else answer.bound
    if answer.x is None:
        return Assigned(start.pattern, start.mask, start.count, start.cost, bound)
    number = np.rint(answer.x[:pairs]).astype(np.int64)
    used = np.flatnonzero(number > 0)
    return Assigned(pattern[used], mask[used], number[used], float(price[used] @ number[used]), bound)


def _matches(classes: Ints, released: Ints, missing: Missing) -> sparse.csr_array | None:
    """Return which released rows match which classes; None where there are too many pairs."""
    rows, columns, entries = [], [], 0
    for c, row in enumerate(classes):
        stated = row >= 0
        theirs = released[:, stated]
        same = theirs == row[stated]
        if missing == "both":
            hit = (same | (theirs < 0)).all(axis=1)
        elif missing == "stated":
            hit = same.all(axis=1)
        else:
            hit = same.all(axis=1) & (released[:, ~stated] < 0).all(axis=1)
        found = np.flatnonzero(hit)
        entries += len(found)
        if entries > _LARGEST_MATRIX:
            return None
        rows.append(np.full(len(found), c))
        columns.append(found)
    where = (np.concatenate(rows), np.concatenate(columns))
    return sparse.csr_array((np.ones(entries), where), shape=(len(classes), len(released)))
