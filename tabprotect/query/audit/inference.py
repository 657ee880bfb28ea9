"""What follows from sums by linear algebra: invariants of M x = t, found modulo a prime and verified in integers."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.combinations import PRIME, Terms, believed, fractions, product, verified
from tabprotect.query.audit.partition import Partition

__all__ = ["Basis"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

PENDING: Final = 64
"""Rows after which the inverse is worked out again."""

TOGETHER: Final = 256
"""Rows whose combinations are worked out together."""

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
        return np.asarray((settled + product(self.left, self.right)) % PRIME)

    def up_to(self, rank: int) -> Basis | None:
        """Return this basis, or None if it is too large to be kept."""
        return self if len(self.rows) <= rank else None

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
        return np.asarray((sums + product(some.astype(np.int64) @ self.left % PRIME, self.right)) % PRIME)

    def combinations(self, partition: Partition, label: Ints, n: int) -> list[Terms | None]:
        """Return the `combination` of every one of n disjoint rows: row k is 1 where `label` is k, and not empty."""
        found: list[Terms | None] = [None] * n
        there, first = np.unique(label[label >= 0], return_index=True)
        columns = np.union1d(_some(partition.n_classes), np.flatnonzero(label >= 0)[first])
        M = partition.some(self.rows, columns).astype(np.int64)
        for some in (there[i : i + TOGETHER] for i in range(0, len(there), TOGETHER)):
            c = self._sums(label[self.pivots] == some[:, None])
            fits = (product(c, M) == (label[columns] == some[:, None])).all(axis=1)
            for i in np.flatnonzero(fits).tolist():
                found[some[i]] = believed(partition, self.rows, label == some[i], c[i])
        return found

    def combination(self, partition: Partition, v: Bools) -> Terms | None:
        """Return the queries whose combination gives a row, with their coefficients, or None if it is not in the span.

        None also where the coefficients are no fractions of small numbers and M is large.
        """
        c = self.coefficients(v)
        if self._differs(partition, v, c, _likely(v)) is not None:
            return None
        return believed(partition, self.rows, v, c)

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
        for k in np.flatnonzero((product(parts, M) == unit).all(axis=1)).tolist():
            row = np.zeros(partition.n_classes, bool)
            row[classes[where[k]]] = True
            result[where[k]] = self.combination(partition, row) is not None
        return result

    def with_last(self, partition: Partition) -> Basis:
        """Return the basis with the last query of a partition, if that is independent."""
        return self.with_rows(partition, partition.n_queries - 1)[0]

    def with_rows(self, partition: Partition, first: int) -> tuple[Basis, list[int]]:
        """Return the basis with those queries of a partition, from number `first` on, that are independent.

        They are taken in their order, each if it does not depend on the rows before it. With A the square part of M so
        far, B its rows in the new pivots, C the coefficients of the new rows and S what A leaves of these in the new
        pivots, the inverse changes by (A^-1 B; -I) (S^-1 C, -S^-1).

        Returns
        -------
        basis : Basis
        dependent : list of int
            Queries that are combinations of the rows before them (verified).
        """
        rows = _Elimination.of(self, partition, np.arange(first, partition.n_queries))
        for i in range(len(rows.new)):
            rows.eliminate(i)
        dependent = rows.new[rows.dependent].tolist()
        if not rows.kept:
            return self, dependent
        kept, r = rows.kept, len(self.rows)
        pivots = np.array(rows.pivots, np.int64)
        inverse, c = rows.factors[np.ix_(kept, kept)], rows.coefficients[kept]
        old, change = self.left.shape[1], len(kept)
        left = np.zeros((r + change, old + change), np.int64)
        left[:r, :old], left[:r, old:] = self.left, self._times(partition.some(self.rows, pivots).astype(np.int64))
        left[r:, old:] = (PRIME - 1) * np.eye(change, dtype=np.int64)
        right = np.zeros((old + change, r + change), np.int64)
        right[:old, :r], right[old:, :r], right[old:, r:] = self.right, product(inverse, c), -inverse % PRIME
        basis = Basis(np.r_[self.rows, rows.new[kept]], np.r_[self.pivots, pivots], self.settled, left, right)
        done = left.shape[1] < PENDING
        return basis if done else Basis.of(basis.rows, basis.pivots, basis.inverse), dependent

    def renumbered(self, number: Ints) -> Basis:
        """Return the basis with other numbers for the queries; itself if they stay."""
        rows = number[self.rows]
        return self if np.array_equal(rows, self.rows) else replace(self, rows=rows)

    def _times(self, columns: Ints) -> Ints:
        """Return the inverse times some columns, modulo the prime."""
        done = len(self.settled)
        result = product(self.left, product(self.right, columns))
        result[:done] = (result[:done] + product(self.settled, columns[:done])) % PRIME
        return result

    def _differs(self, partition: Partition, v: npt.NDArray[np.generic], c: Ints, columns: Ints) -> int | None:
        """Return a column in which a combination differs from a row, modulo the prime."""
        weights = np.zeros(partition.n_queries, np.int64)
        weights[self.rows] = c
        different = np.flatnonzero(partition.weighted(weights, columns) % PRIME != np.asarray(v[columns], np.int64))
        return int(columns[different[0]]) if len(different) else None


@dataclass(eq=False)
class _Elimination:
    """Elimination of new rows by those of a basis and by each other, modulo the prime.

    Attributes
    ----------
    basis : Basis
    partition : Partition
    new : ndarray of int
        The queries.
    values : ndarray of uint8, shape (new, classes)
        Their rows of M.
    coefficients : ndarray of int, shape (new, rank)
        Those of the basis that agree with the rows in its pivots.
    columns : list of int
        Classes that are looked at.
    rest : ndarray of int, shape (new, columns)
        What is left of the rows in these.
    factors : ndarray of int, shape (new, new)
        How what is left is combined of the rows less their coefficients times the basis.
    kept, pivots : list of int
        Rows that are independent, and the class of the pivot of each.
    dependent : list of int
        Rows that are combinations of those before them, verified in integers.
    """

    basis: Basis
    partition: Partition
    new: Ints
    values: npt.NDArray[np.uint8]
    coefficients: Ints
    columns: list[int]
    rest: Ints
    factors: Ints
    kept: list[int] = field(default_factory=list)
    pivots: list[int] = field(default_factory=list)
    dependent: list[int] = field(default_factory=list)

    @classmethod
    def of(cls, basis: Basis, partition: Partition, new: Ints) -> _Elimination:
        """Begin with a choice of classes: most rows outside the span differ in these."""
        values = partition.some(new)
        c = basis._sums(values[:, basis.pivots].astype(bool))
        inside = [np.flatnonzero(row) for row in values]
        few = max(1, SAMPLE // max(1, len(new)))
        columns = np.unique(
            np.concatenate([_some(values.shape[1], few), *(some[_some(len(some), few)] for some in inside)])
        )
        rest = (values[:, columns] - product(c, partition.some(basis.rows, columns).astype(np.int64))) % PRIME
        return cls(basis, partition, new, values, c, columns.tolist(), rest, np.eye(len(new), dtype=np.int64))

    def eliminate(self, i: int) -> None:
        """Take the next row, and eliminate its pivot from all others."""
        there = np.flatnonzero(self.rest[i])
        where = int(there[0]) if len(there) else self._further(i)
        if where is None:
            return
        self.kept.append(i)
        self.pivots.append(self.columns[where])
        over = pow(int(self.rest[i, where]), -1, PRIME)
        for part in (self.rest, self.factors):
            part[i] = part[i] * over % PRIME
        others = np.flatnonzero(self.rest[:, where])
        others = others[others != i]
        factor = self.rest[others, where][:, None]
        for part in (self.rest, self.factors):
            some = np.flatnonzero(part[i])
            part[np.ix_(others, some)] = (part[np.ix_(others, some)] - factor * part[i, some]) % PRIME

    def _further(self, i: int) -> int | None:
        """Look for a class in which something is left of a row where nothing is in those looked at so far."""
        partition, old, v = self.partition, self.basis.rows, self.values[i].astype(bool)
        before = product(self.factors[i : i + 1], self.coefficients)[0]
        rows, c = np.r_[old, self.new[self.kept]], np.r_[before, -self.factors[i, self.kept] % PRIME]
        terms = fractions(rows, c)
        if terms is not None and verified(partition, terms, v):
            self.dependent.append(i)
            return None
        weights = np.zeros(partition.n_queries, np.int64)
        weights[rows], weights[self.new[i]] = -c % PRIME, 1
        left = np.flatnonzero(partition.weighted(weights) % PRIME)[:1]
        if not len(left):
            self.dependent += [i] if believed(partition, rows, v, c) is not None else []
            return None
        rest = self.values[:, left] - product(self.coefficients, partition.some(old, left).astype(np.int64))
        self.columns.append(int(left[0]))
        self.rest = np.c_[self.rest, product(self.factors, rest % PRIME)]
        return len(self.columns) - 1


def _some(n: int, size: int = SAMPLE) -> Ints:
    """Return a fixed choice of columns."""
    return np.arange(n) if n <= size else np.linspace(0, n - 1, size).astype(np.int64)


def _likely(v: npt.NDArray[np.generic]) -> Ints:
    """Return a fixed choice of columns and some in which a row is 1: most rows outside the span differ in these."""
    inside = np.flatnonzero(v)
    return np.union1d(_some(len(v)), inside[_some(len(inside))])
