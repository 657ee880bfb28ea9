"""What follows from sums by linear algebra: invariants of M x = t, found modulo a prime and verified in integers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.query.audit.partition import Partition
from tabprotect.solver.exact import solve_exactly

__all__ = ["Basis", "combination"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PRIME: Final = 2**31 - 1

LARGEST: Final = 2000
"""Rank up to which the inverse is kept; beyond, queries are not tested for being inferable, which is safe."""

SMALL: Final = 20_000
"""Entries of M up to which combinations that modular arithmetic did not settle are looked for in fractions."""

SAMPLE: Final = 256
"""Columns that are compared before all are."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Independent rows of M, with the inverse of a square part of them modulo a prime.

    With one pivot column for every row, the coefficients of a row v in the span are c = v[pivots] M[rows, pivots]^-1,
    so that a test costs the square of the rank, whatever the number of classes, and one more row changes the inverse
    by a matrix of rank one. Classes that are cut keep their number for the part outside, and so do the pivots.

    A row that is independent modulo the prime is independent over the rationals, unless the prime divides a
    denominator; then it is kept though it says nothing new, which does no harm. That a row *depends* on others is
    believed only after the combination has been verified in integers.

    Attributes
    ----------
    rows : ndarray of int, shape (rank,)
        Queries of the partition.
    pivots : ndarray of int, shape (rank,)
        Classes.
    inverse : ndarray of int, shape (rank, rank)
        Of M[rows, pivots] modulo the prime: one row a pivot, one column a query.

    Examples
    --------
    >>> whole = Partition.whole(3)
    >>> p, _ = whole.refined(np.array([True, True, False]))
    >>> basis = Basis.empty().with_last(p)
    >>> p, _ = p.refined(np.array([False, True, True]))
    >>> basis = basis.with_last(p)
    >>> [basis.combination(p, np.array(v, bool)) is not None for v in ([1, 0, 0], p.rows().toarray()[1])]
    [False, True]
    """

    rows: Ints
    pivots: Ints
    inverse: Ints

    @classmethod
    def empty(cls) -> Basis:
        """Return the basis of a matrix without rows."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, np.zeros((0, 0), np.int64))

    def too_large(self) -> bool:
        """Whether another row would make the inverse too large to keep."""
        return len(self.rows) >= LARGEST

    def coefficients(self, v: npt.NDArray[np.generic]) -> Ints:
        """Return the only coefficients that a row can have, modulo the prime."""
        return _product(np.asarray(v[self.pivots], np.int64), self.inverse)

    def combination(self, partition: Partition, v: Bools) -> list[tuple[int, Fraction]] | None:
        """Return the queries whose combination gives a row, with their coefficients, or None if it is not in the span.

        None also where the coefficients are no fractions of small numbers and M is large.
        """
        c = self.coefficients(v)
        if self._differs(partition, v, c, _some(partition.n_classes)) is not None:
            return None
        used = np.flatnonzero(c)
        terms = [(int(self.rows[k]), _rational(int(c[k]))) for k in used.tolist()]
        known = [(i, f) for i, f in terms if f is not None]
        if len(known) == len(terms) and _verified(partition, known, v):
            return known
        if partition.n_classes * len(self.rows) > SMALL:
            return None
        found = combination(sparse.csr_array(partition.rows()[self.rows]), v)
        return None if found is None else [(int(self.rows[i]), f) for i, f in found]

    def determined(self, partition: Partition, classes: Ints) -> Bools:
        """Return which single classes follow from the answers: whose unit row lies in the span (verified)."""
        result = np.zeros(len(classes), bool)
        place = np.full(partition.n_classes, -1, np.int64)
        place[self.pivots] = np.arange(len(self.pivots))
        where = np.flatnonzero(place[classes] >= 0)
        if not len(where):
            return result
        columns = _some(partition.n_classes)
        M = partition.some(self.rows, columns).astype(np.int64)
        parts = self.inverse[place[classes[where]]]
        unit = columns[None, :] == classes[where, None]
        for k in np.flatnonzero((_product(parts, M) == unit).all(axis=1)).tolist():
            row = np.zeros(partition.n_classes, bool)
            row[classes[where[k]]] = True
            result[where[k]] = self.combination(partition, row) is not None
        return result

    def with_last(self, partition: Partition) -> Basis:
        """Return the basis with the last query of a partition, if that is independent."""
        last = partition.n_queries - 1
        v = partition.some(np.array([last]))[0]
        c = self.coefficients(v)
        every = np.arange(partition.n_classes)
        pivot = self._differs(partition, v, c, _some(partition.n_classes))
        pivot = self._differs(partition, v, c, every) if pivot is None else pivot
        if pivot is None:
            return self
        column = partition.some(self.rows, np.array([pivot]))[:, 0].astype(np.int64)
        f = _product(column, self.inverse.T)
        s = (int(v[pivot]) - int(_product(c, column[:, None])[0])) % PRIME
        over = pow(s, -1, PRIME)
        r = len(self.rows)
        inverse = np.empty((r + 1, r + 1), np.int64)
        scaled = c * over % PRIME
        inverse[:r, :r] = (self.inverse + f[:, None] * scaled[None, :]) % PRIME
        inverse[:r, r] = -(f * over) % PRIME
        inverse[r, :r] = -scaled % PRIME
        inverse[r, r] = over
        return Basis(np.r_[self.rows, last], np.r_[self.pivots, pivot], inverse)

    def _differs(self, partition: Partition, v: npt.NDArray[np.generic], c: Ints, columns: Ints) -> int | None:
        """Return a column in which a combination differs from a row, modulo the prime."""
        used = np.flatnonzero(c)
        step = max(1, 4_000_000 // max(1, len(used)))
        for start in range(0, len(columns), step):
            some = columns[start : start + step]
            M = partition.some(self.rows[used], some).astype(np.int64)
            different = np.flatnonzero(_product(c[used], M) != np.asarray(v[some], np.int64))
            if len(different):
                return int(some[different[0]])
        return None


def _product(a: Ints, b: Ints) -> Ints:
    """Return a @ b modulo the prime; products of 31 and 16 bits: 2^15 of them fit into 63 bits."""
    high, low = a >> 16, a & 0xFFFF
    return np.asarray((((high @ b % PRIME) << 16) + low @ b) % PRIME)


def _some(n: int) -> Ints:
    """Return a fixed choice of columns."""
    return np.arange(n) if n <= SAMPLE else np.unique(np.linspace(0, n - 1, SAMPLE).astype(np.int64))


def _rational(c: int, most: int = 2**15 - 1) -> Fraction | None:
    """Return the fraction of small numbers that a residue stands for (Wang's algorithm), or None.

    Examples
    --------
    >>> str(_rational(-3 * pow(4, -1, PRIME) % PRIME))
    '-3/4'
    """
    (a, x), (b, y) = (PRIME, 0), (c, 1)
    while b > most:
        q = a // b
        (a, x), (b, y) = (b, y), (a - q * b, x - q * y)
    return Fraction(b, y) if 0 < abs(y) <= most else None


def _verified(partition: Partition, terms: list[tuple[int, Fraction]], v: Bools) -> bool:
    """Whether a combination gives a row, in integers, over all classes."""
    common = lcm(1, *(f.denominator for _, f in terms))
    weights = [int(f * common) for _, f in terms]
    if common >= 2**40 or sum(map(abs, weights)) >= 2**40:
        return False
    left: Ints = -common * np.asarray(v, np.int64)
    for start in range(0, len(terms), 64):
        M = partition.some(np.array([i for i, _ in terms[start : start + 64]])).astype(np.int64)
        left += np.array(weights[start : start + 64], np.int64) @ M
    return not left.any()


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
