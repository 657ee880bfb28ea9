"""What follows from sums by linear algebra: invariants of M x = t, found modulo a prime and verified in fractions."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.exact import solve_exactly

__all__ = ["Echelon", "combination"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PRIME: Final = 2**31 - 1

LARGEST: Final = 4_000_000
"""Entries up to which the echelon form is kept; beyond, queries are not tested for being inferable, which is safe."""


@dataclass(frozen=True, eq=False)
class Echelon:
    """The rows of M in reduced echelon form modulo a prime.

    A row that is independent modulo the prime is independent over the rationals, unless the prime divides a denominator
    of the combination; then it is kept though it says nothing new, which does no harm. That a row *depends* on others
    is never believed before `combination` has verified it.

    Attributes
    ----------
    rows : ndarray of int, shape (rank, classes)
    pivots : ndarray of int, shape (rank,)
        Column of the leading 1 of every row.

    Examples
    --------
    >>> e = Echelon.empty(3)
    >>> e = e.extended(np.array([1, 1, 0], bool)).extended(np.array([0, 1, 1], bool))
    >>> e.depends(np.array([1, 2, 1])), e.depends(np.array([1, 0, 0]))
    (True, False)
    """

    rows: Ints
    pivots: Ints

    @classmethod
    def empty(cls, n: int) -> Echelon:
        """Return the form of a matrix without rows."""
        return cls(np.zeros((0, n), np.int64), np.zeros(0, np.int64))

    def divided(self, parents: Ints) -> Echelon:
        """Append a copy of some columns: classes that were cut."""
        return Echelon(np.concatenate([self.rows, self.rows[:, parents]], axis=1), self.pivots)

    def remainder(self, row: npt.NDArray[np.generic]) -> Ints:
        """Return a row minus its part in the span, modulo the prime."""
        v = np.asarray(row, np.int64) % PRIME
        c = v[self.pivots]
        used = np.flatnonzero(c)
        if not len(used):
            return v
        high, low = c[used] >> 16, c[used] & 0xFFFF  # products of 31 and 16 bits: 2^15 of them fit into 63 bits
        part = self.rows[used]
        return np.asarray((v - ((high @ part % PRIME) << 16) % PRIME - low @ part % PRIME) % PRIME)

    def depends(self, row: npt.NDArray[np.generic]) -> bool:
        """Whether a row lies in the span modulo the prime."""
        return not bool(self.remainder(row).any())

    def extended(self, row: npt.NDArray[np.generic]) -> Echelon:
        """Add an independent row."""
        v = self.remainder(row)
        pivot = int(np.flatnonzero(v)[0])
        v = v * pow(int(v[pivot]), -1, PRIME) % PRIME
        rows = self.rows.copy()
        for i in np.flatnonzero(rows[:, pivot]).tolist():
            rows[i] = (rows[i] - rows[i, pivot] * v) % PRIME
        return Echelon(np.concatenate([rows, v[None]]), np.r_[self.pivots, pivot])

    def too_large(self) -> bool:
        """Whether another row would make it too large to keep."""
        return bool((self.rows.shape[0] + 1) * self.rows.shape[1] > LARGEST)


def combination(M: sparse.csr_array, target: Bools) -> list[tuple[int, Fraction]] | None:
    """Return exact coefficients of the rows whose sum is the target row, or None where there are none.

    Parameters
    ----------
    M : csr_array of int, shape (queries, classes)
        Independent rows.
    target : ndarray of bool, shape (classes,)
        Support of a sum expression x(A) (Malvestuto and Moscarini, definition 2).

    Examples
    --------
    >>> M = sparse.csr_array(np.array([[1, 0, 0], [0, 1, 0], [1, 1, 1]]))
    >>> [(i, str(c)) for i, c in combination(M, np.array([False, False, True]))]
    [(0, '-1'), (1, '-1'), (2, '1')]
    """
    found = solve_exactly(sparse.csr_array(M.T), np.asarray(target, np.int64))
    if found is None:
        return None
    return [(i, found[i]) for i in np.flatnonzero(found.numerators).tolist()]
