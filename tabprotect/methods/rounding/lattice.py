"""Roundings of strongly linked tables: a walk over all tables of multiples that add up.

Where most cells follow from a few others, hardly any choice of neighbouring multiples adds up, and trees find none. But
the additive tables of multiples are a lattice: with pivots of 1 the equations give cells that may be chosen freely, and
every other cell as a whole-number combination of them, ``u = K t``. From the rounded free cells the walk goes down in
``sum w (K t - a)^2`` by single and paired changes of t (a greedy search for a near lattice vector, after Babai 1986),
and where multiples stay out of their bounds it goes on with larger weights there.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.rounding.programme import Programme
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import IMPROVEMENT

__all__ = ["free_cells", "walk"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: more free cells than this are too many for pairs
_MOST_FREE = 2500

#: more groups or equations than this are not worth the elimination
_LARGEST_TABLE = 30_000

#: largest coefficient of a combination: beyond, elimination has gone astray
_LARGEST = 10**6

#: times that weights are raised where bounds are broken, the factor, and changes in one descent
_ROUNDS, _RAISE, _CHANGES = 40, 2.0, 5000

#: share of groups out of their bounds after a descent that larger weights will not put right
_HOPELESS = 0.05


def free_cells(A: sparse.csr_array) -> tuple[Ints, sparse.csr_array] | None:
    """Return columns that may be chosen freely, and all columns as whole-number combinations of them.

    Parameters
    ----------
    A : sparse array
        Whole numbers.

    Returns
    -------
    (free, K) or None
        ``A @ K == 0``; the lattice of all whole solutions is ``K t``. None where no pivot of 1 is left, or coefficients
        grow.

    Examples
    --------
    >>> free, K = free_cells(sparse.csr_array([[-1.0, 1, 1, 0], [0, -1, 0, 1]]))
    >>> len(free), abs(sparse.csr_array([[-1.0, 1, 1, 0], [0, -1, 0, 1]]) @ K).max()
    (2, np.float64(0.0))
    """
    n = A.shape[1]
    if not np.array_equal(A.data, np.rint(A.data)):
        return None
    ends = A.indptr.tolist()
    index, data = A.indices.tolist(), A.data.astype(np.int64).tolist()
    rows = [{j: c for j, c in zip(index[lo:hi], data[lo:hi], strict=True) if c} for lo, hi in itertools.pairwise(ends)]
    columns: defaultdict[int, set[int]] = defaultdict(set)
    for i, row in enumerate(rows):
        for j in row:
            columns[j].add(i)
    waiting = [(len(row), i) for i, row in enumerate(rows)]
    heapq.heapify(waiting)
    given: dict[int, dict[int, int]] = {}
    while waiting:
        size, i = heapq.heappop(waiting)
        row = rows[i]
        if not row or size != len(row):
            continue
        pivots = [j for j, c in row.items() if abs(c) == 1]
        if not pivots:
            return None
        pivot = min(pivots, key=lambda j: (len(columns[j]), j))
        sign = row[pivot]
        given[pivot] = {j: -c * sign for j, c in row.items() if j != pivot}
        for j in row:
            columns[j].discard(i)
        rows[i] = {}
        for other in sorted(columns.pop(pivot, ())):
            line = rows[other]
            factor = line.pop(pivot)
            for j, c in given[pivot].items():
                total = line.get(j, 0) + factor * c
                if total:
                    line[j] = total
                    columns[j].add(other)
                else:
                    line.pop(j, None)
                    columns[j].discard(other)
            heapq.heappush(waiting, (len(line), other))
    return _combinations(n, given)


def _combinations(n: int, given: dict[int, dict[int, int]]) -> tuple[Ints, sparse.csr_array] | None:
    """Put the pivots together, the last first: each is given by columns that were no pivots before it."""
    free = [j for j in range(n) if j not in given]
    lines: dict[int, dict[int, int]] = {j: {k: 1} for k, j in enumerate(free)}
    for j in reversed(given):
        line: defaultdict[int, int] = defaultdict(int)
        for part, factor in given[j].items():
            for k, c in lines[part].items():
                line[k] += factor * c
        lines[j] = {k: c for k, c in line.items() if c}
        if any(abs(c) > _LARGEST for c in lines[j].values()):
            return None
    row = [j for j in range(n) for _ in lines[j]]
    column = [k for j in range(n) for k in lines[j]]
    data = [float(c) for j in range(n) for c in lines[j].values()]
    K = sparse.csr_array((data, (row, column)), shape=(n, len(free)))
    return np.array(free, np.int64), K


def walk(programme: Programme, budget: Budget) -> Ints | None:
    """Return multiples of the groups within their bounds that add up, near the true values; None if none were found.

    Parameters
    ----------
    programme : Programme
        Whose equations have no constants.
    budget : Budget
    """
    if np.any(programme.total) or not programme.possible or max(programme.A.shape) > _LARGEST_TABLE:
        return None
    found = free_cells(sparse.csr_array(programme.A))
    if found is None or len(found[0]) > _MOST_FREE:
        return None
    free, K = found
    near, weight = programme.target()
    t = np.rint(near[free])
    gram = _gram(K, weight)
    for _ in range(_ROUNDS):
        slope = np.asarray(K.T @ (weight * (K @ t - near)))
        t = _descend(gram, slope, t, budget)
        u = np.rint(K @ t).astype(np.int64)
        outside = (u < programme.low) | (u > programme.high)
        if not outside.any():
            return u if programme.meets_cuts(u) else None
        if budget.exhausted or outside.mean() > _HOPELESS:
            return None
        more = (_RAISE - 1) * weight[outside]
        weight[outside] += more
        gram += _gram(K[np.flatnonzero(outside)], more)
    return None


def _gram(K: sparse.csr_array, weight: Floats) -> Floats:
    return np.asarray((K.T @ (sparse.diags_array(weight) @ K)).todense())


def _descend(gram: Floats, slope: Floats, t: Floats, budget: Budget) -> Floats:
    """Change one or two free cells by 1 as long as the weighted squares fall, the best change first."""
    n = len(t)
    own = np.diag(gram).copy()
    t = t.copy()
    pair = own[:, None] + own[None, :]
    for _ in range(_CHANGES):
        if budget.exhausted:
            break
        alone = own - 2 * np.abs(slope)
        first = int(alone.argmin())
        best, changes = float(alone[first]), [(first, -1 if slope[first] > 0 else 1)]
        for one, other in ((1, 1), (1, -1), (-1, -1)):
            values = pair + (2.0 * one * other) * gram
            values += (2.0 * one) * slope[:, None]
            values += (2.0 * other) * slope[None, :]
            np.fill_diagonal(values, 0.0)
            at = int(values.argmin())
            if values.flat[at] < best:
                i, j = divmod(at, n)
                best, changes = float(values.flat[at]), [(i, one), (j, other)]
        if best >= -IMPROVEMENT * float(own.max(initial=1.0)):
            break
        for cell, change in changes:
            t[cell] += change
            slope += change * gram[:, cell]
        budget.spend(1)
    return t
