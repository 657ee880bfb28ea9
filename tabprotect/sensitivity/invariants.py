"""Sums of hidden cells that several equations determine together: invariants of everything that fits the publication.

Published values leave the hidden cells free along the null space of their equations. A sum of hidden cells is
determined exactly if the sum of their rows in a basis of that space is zero. The search looks for such sets that a
sensitivity measure does not clear: for all of up to four cells (`tabprotect.sensitivity.few_cells`), and for larger
ones of up to `MOST` cells that hold no smaller one. A disjoint union of determined sums is sensitive only if one of
these is where measures are subadditive; with sampling weights it may be although none is, which is looked at for up to
four cells.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.problem import Attacker
from tabprotect.sensitivity.few_cells import FEW, determined_sets
from tabprotect.sensitivity.more_cells import Steps, larger_sets
from tabprotect.sensitivity.null_space import Part, View, parts_of, views_of

__all__ = ["MOST", "Invariants", "Reach", "disjoint", "invariant_sums"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

MOST: Final = 8
"""The largest number of cells in a sum that is looked for over several equations."""


@dataclass(frozen=True)
class Reach:
    """How far the search goes.

    Attributes
    ----------
    steps : int
        Partial sums that are looked at in all connected parts together, for the public and for respondents each.
    pairs : int
        Pairs of cells that are looked up in all connected parts together, for the public and for respondents each.
    largest : int
        Hidden cells that equations connect, at most: the null space of more is not computed.
    altogether : int
        Hidden cells in all parts together, at most; parts beyond are left out.
    """

    steps: int = 60_000
    pairs: int = 20_000_000
    largest: int = 800
    altogether: int = 8000


REACH: Final = Reach()


@dataclass(frozen=True)
class Invariants:
    """The determined sums found, and how far the search went.

    Attributes
    ----------
    sums : tuple of (int, ndarray of int)
        Attacker who can compute the sum (-1: everybody), and the hidden cells, ascending.
    size : int
        All sums of up to so many cells were looked at.
    left_out : int
        Hidden cells in parts that are too large; only sums of few equations are known there.
    """

    sums: tuple[tuple[int, Ints], ...]
    size: int
    left_out: int

    def shortcomings(self) -> list[str]:
        """Say what was not looked at."""
        found = []
        if self.size < MOST:
            found.append(f"sums of hidden cells over more than three equations were looked for up to {self.size} cells")
        if self.left_out:
            found.append(
                f"{self.left_out:,} hidden cells are in parts too large for sums over more than three equations"
            )
        return found


def invariant_sums(
    A: sparse.csr_array,
    pattern: Bools,
    measures: Sequence[Floats],
    attackers: Sequence[Attacker] = (),
    reach: Reach = REACH,
) -> Invariants:
    """Find the sums of two or more hidden cells that are determined and may be sensitive.

    Parameters
    ----------
    A : csr_array, shape (equations, cells)
    pattern : ndarray of bool, shape (cells,)
        True where a cell is hidden.
    measures : sequence of ndarray, shape (cells,)
        Of every rule; see `tabprotect.sensitivity.rule.measure`. Only sets whose measures add up to more than 0 for one
        rule are returned.
    attackers : sequence of Attacker
        What each of them can compute is looked for as well, beyond what everybody can; his own cells are left out.
    reach : Reach

    Returns
    -------
    Invariants

    Examples
    --------
    Three rows and columns, hidden cells in a ring around it: row 1 + row 2 - column 3 is the sum of two of them.

    >>> A = sparse.csr_array([[1.0, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1], [1, 0, 0, 0, 1, 0],
    ...     [0, 0, 1, 0, 0, 1], [0, 1, 0, 1, 0, 0]])
    >>> measure = np.array([5.0, -9, 5, -9, -9, -9])
    >>> [(who, cells.tolist()) for who, cells in invariant_sums(A, np.ones(6, bool), [measure]).sums]
    [(-1, [0, 2])]
    """
    hidden = np.flatnonzero(pattern)
    sensitive = np.any([m > 0 for m in measures], axis=0) if measures else pattern & False
    parts, left_out = parts_of(A, hidden, sensitive, reach.largest, reach.altogether)
    found: dict[tuple[int, ...], int] = {}
    public: list[View] = [(-1, part, [], None) for part in parts]
    respondents = [view for part in parts for view in views_of(part, attackers)]
    sizes = [_looked(views, measures, found, reach) for views in (public, respondents)]
    sums = tuple((who, np.array(cells, np.int64)) for cells, who in sorted(found.items()))
    return Invariants(sums, min(sizes), left_out)


def _looked(views: Sequence[View], measures: Sequence[Floats], found: dict[tuple[int, ...], int], reach: Reach) -> int:
    """Look for sums in the eyes of somebody, and return up to how many cells all of them were."""

    def each() -> Iterator[tuple[int, Part, Floats, list[int], list[bool]]]:
        for who, part, known, changed in views:
            for measure in measures:
                local = measure[part.cells]
                anchors = np.flatnonzero(local > 0).tolist() if changed is None else changed
                yield who, part, local, anchors, _shut(part, local, known)

    least = 2
    if sum(_pairs(part, anchors, shut) for _, part, _, anchors, shut in each()) <= reach.pairs:
        for who, part, local, anchors, shut in each():
            for chosen in determined_sets(part, local, anchors, shut):
                found.setdefault(tuple(sorted(part.cells[list(chosen)].tolist())), who)
        least = FEW + 2
    steps = Steps(reach.steps)
    for size in range(least, MOST + 1, 2):
        for who, part, local, anchors, shut in each():
            for cells in larger_sets(part, local, anchors, shut, size, steps):
                found.setdefault(cells, who)
        if steps.left <= 0:
            return size - 2
    return MOST


def _pairs(part: Part, anchors: Sequence[int], shut: Sequence[bool]) -> int:
    """Return how many pairs of cells are looked up: all, or those with a cell that somebody's knowledge changes."""
    n = len(shut) - sum(shut)
    return n * (n - 1) // 2 if part.everybody is None else n * sum(not shut[i] for i in anchors)


def _shut(part: Part, measure: Floats, known: Sequence[int]) -> list[bool]:
    """Which cells of a part are in no sum: those that are known, or determined by themselves."""
    shut = [g == -np.inf or not row for g, row in zip(measure.tolist(), part.rows, strict=True)]
    for k in known:
        shut[k] = True
    return shut


def disjoint(A: sparse.csr_array, cells: Sequence[Ints]) -> list[bool]:
    """Return for every set of cells whether no two of them have a part in common.

    A margin has the parts of its parts, down to cells that no equation splits.

    Parameters
    ----------
    A : csr_array
        Equations of a margin (coefficient -1) and its parts (+1), or turned over; others are passed over.
    cells : sequence of ndarray of int

    Examples
    --------
    >>> A = sparse.csr_array([[-1.0, 1, 1, 0, 0], [0, -1, 0, 1, 1]])
    >>> disjoint(A, [np.array([1, 2]), np.array([1, 3])])
    [True, False]
    """
    columns = sparse.csc_array(A)

    def parts_of(cell: int) -> list[int]:
        """Return the parts of a cell by the first equation that splits it."""
        at = slice(columns.indptr[cell], columns.indptr[cell + 1])
        for row, sign in zip(columns.indices[at].tolist(), columns.data[at].tolist(), strict=True):
            whole = slice(A.indptr[row], A.indptr[row + 1])
            others = A.indices[whole] != cell
            if abs(sign) == 1 and np.sum(others) and np.all(A.data[whole][others] == -sign):
                return [int(j) for j in A.indices[whole][others]]
        return []

    known: dict[int, frozenset[int]] = {}

    def below(cell: int) -> frozenset[int]:
        if cell not in known:
            known[cell] = frozenset((cell,))  # where equations go in a circle
            if inner := parts_of(cell):
                known[cell] = frozenset().union(*map(below, inner))
        return known[cell]

    found = []
    for one in cells:
        parts = [below(cell) for cell in one.tolist()]
        found.append(len(frozenset().union(*parts)) == sum(map(len, parts)))
    return found
