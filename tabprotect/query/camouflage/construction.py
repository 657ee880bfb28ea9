"""Building the protecting vectors: a pattern for every value that keeps declared sums of all vectors together.

Row i of the vectors is p_i = L_i + (U_i - L_i) q_i. The *pattern* q_i has k entries in [0, 1], one of them 0 and one 1,
so that the row reaches both ends of its range; a placement (`bounds`) finds [L_i, U_i] such that the secret weights
w > 0, sum 1, give the true value: w p_i = a_i, with t_i = w q_i as its position in the range.

**Which entry goes to which vector** decides how wide answers are. With R_S the sums of the rows built so far over a
declared set S (k entries each), the next row is to make

    sum over S containing i of c_S |R_S + p_i - mean|^2,   c_S = 1 / (number of records in S)^2

as small as possible. As the rest does not depend on the order of the entries, this is to minimise
sum_S c_S R_S p_i: the largest entry goes to the vector with the least c-weighted sum, and so on. Neither the value nor
the width of its range is needed for that. So every decision is a function of rows that exist already, and

    building with P w' in place of a = P w, and w' in place of w, gives P again, for all positive w' with sum 1.   (*)

Whoever has found all vectors and knows the construction, all public columns and every random number but the weights,
has learned nothing about the weights. ``models/camouflage.py`` states the choice of patterns as algebra.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.query.camouflage.bounds import Place

__all__ = ["Groups", "draw_patterns", "draw_weights", "exchange", "group_sums", "rows_in_order", "spread"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Groups:
    """Declared sums: for every grouping the group of each record.

    Attributes
    ----------
    codes : ndarray of int, shape (groupings, records)
        0, 1, ...; numbers of different groupings differ.
    sizes : ndarray of int, shape (groups,)
        Number of records in every group.
    """

    codes: Ints
    sizes: Ints

    @property
    def charges(self) -> Floats:
        """The factors c_S."""
        return np.asarray(1.0 / np.maximum(self.sizes, 1) ** 2)


def draw_weights(k: int, rng: np.random.Generator) -> Floats:
    """Draw weights, all positive vectors of sum 1 with the same density: no value of the hull is likelier by them."""
    drawn = rng.exponential(size=k)
    return np.asarray(drawn / drawn.sum())


def draw_patterns(n: int, k: int, rng: np.random.Generator) -> Floats:
    """Draw the entries of n patterns, ascending: 0, k - 2 uniform ones, 1. Shape (n, k)."""
    entries = np.ones((n, k))
    entries[:, 0] = 0.0
    entries[:, 1:-1] = np.sort(rng.random((n, k - 2)), axis=1)
    return entries


def rows_in_order(
    values: Floats,
    weights: Floats,
    patterns: Floats,
    place: Place,
    groups: Groups,
    order: Sequence[int],
    sums: Floats | None = None,
    old: Floats | None = None,
) -> Floats:
    """Build the rows of some records one after the other.

    Parameters
    ----------
    values : ndarray, shape (records,)
    weights : ndarray, shape (k,)
    patterns : ndarray, shape (records, k)
        Entries, ascending.
    place : Place
    groups : Groups
    order : sequence of int
        The records whose rows are to be built.
    sums : ndarray, shape (groups, k), optional
        Sums of rows that exist already; 0 by default.
    old : ndarray, shape (records, k), optional
        Rows that are replaced. The new ones have their entries in the opposite order, whatever the sums are: the change
        p_i - old_i is then as open as both values together, U - L of the one plus U - L of the other.

    Returns
    -------
    ndarray, shape (len(order), k)

    Examples
    --------
    >>> from tabprotect.query.camouflage.bounds import Absolute
    >>> total = Groups(np.zeros((1, 2), int), np.array([2]))
    >>> q, place = np.array([[0, 0.5, 1]] * 2), Absolute(4.0).placement(np.zeros(2), {}, "x")
    >>> rows_in_order(np.array([10.0, 20.0]), np.full(3, 1 / 3), q, place, total, [0, 1]).round(9).tolist()
    [[8.0, 10.0, 12.0], [22.0, 20.0, 18.0]]
    """
    k = len(weights)
    found = np.empty((len(order), k))
    state = (np.zeros((len(groups.sizes), k)) if sums is None else sums).tolist()
    charges, codes = groups.charges.tolist(), groups.codes.T.tolist()
    entries, a, w, vectors = patterns.tolist(), values.tolist(), weights.tolist(), range(k)
    for at, i in enumerate(order):
        mine, entry = [state[s] for s in codes[i]], entries[i]
        if old is None:
            charge = [charges[s] for s in codes[i]]
            level = [sum(c * total[j] for c, total in zip(charge, mine, strict=True)) for j in vectors]
        else:
            level = old[i].tolist()
        row = _opposed(level, entry)
        low, width = place(i, a[i], sum(w[j] * row[j] for j in vectors))
        row = [low + width * q for q in row]
        found[at] = row
        for total in mine:
            for j in vectors:
                total[j] += row[j]
    return found


def exchange(rows: Floats, groups: Groups, sweeps: int = 20) -> Floats:
    """Improve rows of given widths: every record in its turn gets the best order of its entries, given all others.

    The widths must not depend on the values (`Absolute`): only then (*) holds for what comes out.

    Parameters
    ----------
    rows : ndarray, shape (records, k)
        Only differences within rows matter.
    groups : Groups
    sweeps : int
        Most passes over all records.

    Returns
    -------
    ndarray, shape (records, k)
        The same entries; the sum over declared sets of c_S |R_S - mean|^2 is not above that of the rows given.
    """
    codes, charges = groups.codes.T.tolist(), groups.charges.tolist()
    state, current, vectors = group_sums(rows, groups).tolist(), rows.tolist(), range(rows.shape[1])
    for _ in range(sweeps):
        changed = False
        for row, mine in zip(current, codes, strict=True):
            level = [sum(charges[s] * (state[s][j] - row[j]) for s in mine) for j in vectors]
            new = _opposed(level, sorted(row))
            before = sum(level[j] * row[j] for j in vectors)
            if sum(level[j] * new[j] for j in vectors) < before - IMPROVEMENT * abs(before):
                changed = True
                for s in mine:
                    for j in vectors:
                        state[s][j] += new[j] - row[j]
                row[:] = new
        if not changed:
            break
    return np.array(current).reshape(rows.shape)


def _opposed(level: Sequence[float], entries: Sequence[float]) -> list[float]:
    """Give the least of ascending entries to the vector of the highest level, and so on."""
    row = [0.0] * len(entries)
    for entry, j in zip(entries, sorted(range(len(level)), key=level.__getitem__, reverse=True), strict=True):
        row[j] = entry
    return row


IMPROVEMENT = 1e-12
"""Relative improvement below which an exchange is rounding noise, and would go on for ever."""


def group_sums(rows: Floats, groups: Groups) -> Floats:
    """Return the sums of all vectors over declared sets: shape (groups, k)."""
    sums = np.zeros((len(groups.sizes), rows.shape[1]))
    for codes in groups.codes:
        np.add.at(sums, codes, rows)
    return sums


def spread(rows: Floats, groups: Groups) -> float:
    """Return the sum over declared sets of the width of the answer, relative to the widths of all values in it."""
    sums = group_sums(rows, groups)
    widths = group_sums(np.ptp(rows, axis=1)[:, None], groups)[:, 0]
    return float(np.sum(np.ptp(sums, axis=1)[widths > 0] / widths[widths > 0]))
