"""Building the protecting vectors: a row for every value, such that declared sums of all vectors stay together.

The secret weights are w = r / N, with N = `steps` and r whole, positive numbers of sum N. Row i is
p_i = L_i + unit N s_i with whole s_i, 0 and S_i among them (`bounds`), and L_i such that w p_i = a_i. Any other r'
gives another table P r' / N, whose values differ from the true ones by whole units. With weights and rows that are not
on such a lattice, a table of whole numbers would be found out: two records leave few pairs of whole numbers, each pair
has its weights, and with wrong weights a third record is hardly ever a whole number.

**Which entry goes to which vector** decides how wide answers are. With R_S the sums of the rows built so far over a
declared set S (k entries each), the next row is to make

    sum over S containing i of c_S |R_S + p_i - mean|^2,   c_S = 1 / (number of records in S)^2

as small as possible. As the rest does not depend on the order of the entries, this is to minimise
sum_S c_S R_S p_i: the largest entry goes to the vector with the least c-weighted sum, and so on. Neither the value nor
the width of its row is needed for that. So every decision but the choice among admitted rows is a function of rows that
exist already, and with (*) of `bounds`:

    building with P r' / N in place of a, and r' in place of r, may give P again, for all whole, positive r' of sum N.

Whoever has found all vectors and knows the construction, all public columns and every random number but the weights can
exclude no weights. ``models/camouflage.py`` states the choice of the order as algebra.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.query.camouflage.bounds import Row, Rule

__all__ = ["Choose", "Groups", "draw_patterns", "draw_weights", "exchange", "group_sums", "rows_in_order", "spread"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Choose = Callable[[int, list[Row]], Row]


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


def draw_weights(k: int, steps: int, rng: np.random.Generator) -> Ints:
    """Draw k positive whole numbers of sum `steps`, all of them equally likely."""
    cuts = np.sort(rng.choice(steps - 1, k - 1, replace=False)) + 1
    return np.diff(np.concatenate([[0], cuts, [steps]])).astype(np.int64)


def draw_patterns(n: int, k: int, rng: np.random.Generator) -> Floats:
    """Draw n patterns, ascending: 0, k - 2 uniform numbers that `Lattice.row` makes whole, 1. Shape (n, k)."""
    entries = np.ones((n, k))
    entries[:, 0] = 0.0
    entries[:, 1:-1] = np.sort(rng.random((n, k - 2)), axis=1)
    return entries


def rows_in_order(
    values: Floats,
    weights: Ints,
    patterns: Floats,
    rule: Rule,
    groups: Groups,
    order: Sequence[int],
    choose: Choose,
    sums: Floats | None = None,
    old: Floats | None = None,
) -> Floats:
    """Build the rows of some records one after the other.

    Parameters
    ----------
    values : ndarray, shape (records,)
    weights : ndarray of int, shape (k,)
    patterns : ndarray, shape (records, k)
        Entries, ascending.
    rule : Rule
    groups : Groups
    order : sequence of int
        The records whose rows are to be built.
    choose : callable
        Takes one of the admitted rows of a record.
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
    >>> from tabprotect.query.camouflage.bounds import Absolute, Lattice
    >>> total = Groups(np.zeros((1, 2), int), np.array([2]))
    >>> rule = Absolute(16.0).rows(np.zeros(2), {}, "x", Lattice(1.0, 12, 3))
    >>> q, w = np.array([[0, 0.5, 1]] * 2), np.array([4, 4, 4])
    >>> rows_in_order(np.array([10.0, 20.0]), w, q, rule, total, [0, 1], lambda i, rows: rows[0]).tolist()
    [[-2.0, 10.0, 22.0], [32.0, 20.0, 8.0]]
    """
    k = len(weights)
    found = np.empty((len(order), k))
    state = (np.zeros((len(groups.sizes), k)) if sums is None else sums).tolist()
    charges, codes = groups.charges.tolist(), groups.codes.T.tolist()
    entries, a, w, vectors = patterns.tolist(), values.tolist(), weights.tolist(), range(k)
    for at, i in enumerate(order):
        mine = [state[s] for s in codes[i]]
        if old is None:
            charge = [charges[s] for s in codes[i]]
            level = [sum(c * total[j] for c, total in zip(charge, mine, strict=True)) for j in vectors]
        else:
            level = old[i].tolist()
        ranks = sorted(vectors, key=level.__getitem__, reverse=True)
        low, above = choose(i, rule(i, a[i], entries[i], [w[j] for j in ranks]))
        row = [0.0] * k
        for j, entry in zip(ranks, above, strict=True):
            row[j] = low + entry
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
            new = [0.0] * len(row)
            ranks = sorted(vectors, key=level.__getitem__, reverse=True)
            for j, entry in zip(ranks, sorted(row), strict=True):
                new[j] = entry
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
