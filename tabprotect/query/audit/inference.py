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

__all__ = ["Basis", "Terms", "combination"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Terms = list[tuple[int, Fraction]]
"""A combination of rows: their numbers and factors."""

PRIME: Final = 2**31 - 1

LARGEST: Final = 2000
"""Rank up to which the inverse is kept; beyond, queries are not tested for being inferable, which is safe."""

PENDING: Final = 64
"""Rows after which the inverse is worked out again."""

TOGETHER: Final = 256
"""Rows whose combinations are worked out together."""

SMALL: Final = 20_000
"""Entries of M up to which combinations that modular arithmetic did not settle are looked for in fractions."""

SAMPLE: Final = 256
"""Columns that are compared before all are."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Independent rows of M, with the inverse of a square part of them modulo a prime.

    With one pivot column for every row, the coefficients of a row v in the span are c = v[pivots] M[rows, pivots]^-1,
    so that a test costs the square of the rank, whatever the number of classes, and one more row changes the inverse
    by a matrix of rank one. Classes that are cut keep their number for the part outside, and so do the pivots. These
    changes are kept as factors, and `PENDING` of them are worked into the inverse together.

    A row that is independent modulo the prime is independent over the rationals, unless the prime divides a
    denominator; then it is kept though it says nothing new, which does no harm. That a row *depends* on others is
    believed only after the combination has been verified in integers.

    Attributes
    ----------
    rows : ndarray of int, shape (rank,)
        Queries of the partition.
    pivots : ndarray of int, shape (rank,)
        Classes.
    settled : ndarray of int, shape (settled rank, settled rank)
        The inverse of M[rows, pivots] modulo the prime as it was last worked out: one row a pivot, one column a query.
    left, right : ndarray of int, shape (rank, changes) and (changes, rank)
        Changes since then: the inverse is `settled`, filled up with zeros, plus left @ right.

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
    settled: Ints
    left: Ints
    right: Ints

    @classmethod
    def of(cls, rows: Ints, pivots: Ints, inverse: Ints) -> Basis:
        """Return the basis with an inverse that is worked out."""
        return cls(rows, pivots, inverse, np.zeros((len(rows), 0), np.int64), np.zeros((0, len(rows)), np.int64))

    @classmethod
    def empty(cls) -> Basis:
        """Return the basis of a matrix without rows."""
        nothing = np.zeros(0, np.int64)
        return cls.of(nothing, nothing, np.zeros((0, 0), np.int64))

    @property
    def inverse(self) -> Ints:
        """The inverse of M[rows, pivots] modulo the prime."""
        more = len(self.rows) - len(self.settled)
        settled = np.pad(self.settled, (0, more))
        return np.asarray((settled + _product(self.left, self.right)) % PRIME)

    def too_large(self) -> bool:
        """Whether another row would make the inverse too large to keep."""
        return len(self.rows) >= LARGEST

    def coefficients(self, v: npt.NDArray[np.generic]) -> Ints:
        """Return the only coefficients that a row can have, modulo the prime."""
        (sums,) = self._sums(np.asarray(v[self.pivots], bool)[None, :])
        return np.asarray(sums)

    def _sums(self, some: Bools) -> Ints:
        """Return sums of rows of the inverse, modulo the prime."""
        r = len(self.settled)
        sums = np.zeros((len(some), len(self.rows)), np.int64)
        for k, these in enumerate(some):
            sums[k, :r] = self.settled[these[:r]].sum(axis=0)
        return np.asarray((sums + _product(some.astype(np.int64) @ self.left % PRIME, self.right)) % PRIME)

    def combinations(self, partition: Partition, label: Ints, n: int) -> list[Terms | None]:
        """Return the `combination` of every one of n disjoint rows: row k is 1 where `label` is k, and not empty."""
        found: list[Terms | None] = [None] * n
        there, first = np.unique(label[label >= 0], return_index=True)
        columns = np.union1d(_some(partition.n_classes), np.flatnonzero(label >= 0)[first])
        M = partition.some(self.rows, columns).astype(np.int64)
        for some in (there[i : i + TOGETHER] for i in range(0, len(there), TOGETHER)):
            c = self._sums(label[self.pivots] == some[:, None])
            fits = (_product(c, M) == (label[columns] == some[:, None])).all(axis=1)
            for i in np.flatnonzero(fits).tolist():
                found[some[i]] = self._believed(partition, label == some[i], c[i])
        return found

    def combination(self, partition: Partition, v: Bools) -> Terms | None:
        """Return the queries whose combination gives a row, with their coefficients, or None if it is not in the span.

        None also where the coefficients are no fractions of small numbers and M is large.
        """
        c = self.coefficients(v)
        if self._differs(partition, v, c, _likely(v)) is not None:
            return None
        return self._believed(partition, v, c)

    def _believed(self, partition: Partition, v: Bools, c: Ints) -> Terms | None:
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
        parts = self._sums(place[classes[where]][:, None] == np.arange(len(self.pivots)))
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
        pivot = self._differs(partition, v, c, _likely(v))
        pivot = self._differs(partition, v, c, every) if pivot is None else pivot
        if pivot is None:
            return self
        column = partition.some(self.rows, np.array([pivot]))[:, 0].astype(np.int64)
        r, done = len(self.rows), len(self.settled)
        f = _product(self.left, _product(self.right, column))
        f[:done] = (f[:done] + self.settled @ column[:done]) % PRIME
        s = (int(v[pivot]) - int(_product(c, column[:, None])[0])) % PRIME
        over = pow(s, -1, PRIME)
        left = np.zeros((r + 1, self.left.shape[1] + 1), np.int64)
        left[:r, :-1], left[:r, -1], left[r, -1] = self.left, f, PRIME - 1
        right = np.zeros((left.shape[1], r + 1), np.int64)
        right[:-1, :r], right[-1, :r], right[-1, r] = self.right, c * over % PRIME, PRIME - over
        basis = Basis(np.r_[self.rows, last], np.r_[self.pivots, pivot], self.settled, left, right)
        return basis if left.shape[1] < PENDING else Basis.of(basis.rows, basis.pivots, basis.inverse)

    def _differs(self, partition: Partition, v: npt.NDArray[np.generic], c: Ints, columns: Ints) -> int | None:
        """Return a column in which a combination differs from a row, modulo the prime."""
        weights = np.zeros(partition.n_queries, np.int64)
        weights[self.rows] = c
        different = np.flatnonzero(partition.weighted(weights, columns) % PRIME != np.asarray(v[columns], np.int64))
        return int(columns[different[0]]) if len(different) else None


def _product(a: Ints, b: Ints) -> Ints:
    """Return a @ b modulo the prime, by halves of 16 bits: sums of 2^21 of their products are exact in floats."""
    a_high, a_low = (a >> 16).astype(float), (a & 0xFFFF).astype(float)
    b_high, b_low = b >> 16, (b & 0xFFFF).astype(float)
    high = middle = np.zeros(1, np.int64)
    if b_high.any():
        b_high = b_high.astype(float)
        high, middle = (a_high @ b_high).astype(np.int64) % PRIME, (a_low @ b_high).astype(np.int64)
    middle = (high << 16) + middle + (a_high @ b_low).astype(np.int64)
    return np.asarray(((middle % PRIME << 16) + (a_low @ b_low).astype(np.int64)) % PRIME)


def _some(n: int) -> Ints:
    """Return a fixed choice of columns."""
    return np.arange(n) if n <= SAMPLE else np.linspace(0, n - 1, SAMPLE).astype(np.int64)


def _likely(v: npt.NDArray[np.generic]) -> Ints:
    """Return a fixed choice of columns and some in which a row is 1: most rows outside the span differ in these."""
    inside = np.flatnonzero(v)
    return np.union1d(_some(len(v)), inside[_some(len(inside))])


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


def _verified(partition: Partition, terms: Terms, v: Bools) -> bool:
    """Whether a combination gives a row, in integers, over all classes."""
    common = lcm(1, *(f.denominator for _, f in terms))
    weights = [int(f * common) for _, f in terms]
    if common >= 2**40 or sum(map(abs, weights)) >= 2**40:
        return False
    row = np.zeros(partition.n_queries, np.int64)
    row[[i for i, _ in terms]] = weights
    return np.array_equal(partition.weighted(row), common * np.asarray(v, np.int64))


def combination(M: sparse.csr_array, target: Bools) -> Terms | None:
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
