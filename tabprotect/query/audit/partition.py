"""The partition of the records by the query sets that were answered, and the matrix M of the system M x = t."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.query.audit.groups import Groups, distinct

__all__ = ["Partition", "Split"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_BITS: Final = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
"""The bits of every byte."""


@dataclass(frozen=True, eq=False)
class Split:
    """How a new query set cuts the classes.

    Attributes
    ----------
    inside : ndarray of bool, shape (classes after,)
        The classes that make up the query set.
    parents : ndarray of int
        Classes that were cut; each keeps its number for the part outside the set.
    children : ndarray of int
        The new numbers of the parts inside, in the order of `parents`.
    """

    inside: Bools
    parents: Ints
    children: Ints

    @classmethod
    def of(cls, n: int, inside: Ints, parents: Ints) -> Split:
        """Return how n classes came about, the last of them by cutting `parents`; `inside` are those of the set."""
        mask = np.zeros(n, bool)
        mask[inside] = True
        return cls(mask, parents, n - len(parents) + np.arange(len(parents)))


@dataclass(frozen=True, eq=False)
class Partition:
    """Classes of records that no query of the basis tells apart.

    Attributes
    ----------
    class_of : ndarray of int32, shape (records,)
        Class of every record.
    bits : ndarray of uint8, shape (classes, bytes)
        For every class the queries of the basis that contain it, eight to a byte: the edges of the query diagram, and
        the columns of M.
    n_queries : int
        Queries in the basis.
    """

    class_of: npt.NDArray[np.int32]
    bits: npt.NDArray[np.uint8]
    n_queries: int

    @classmethod
    def whole(cls, n: int) -> Partition:
        """Return the partition before any answer: one class.

        Examples
        --------
        >>> p, split = Partition.whole(3).refined(np.array([True, False, True]))
        >>> p.class_of.tolist(), p.rows().toarray().tolist(), split.inside.tolist()
        ([1, 0, 1], [[0, 1]], [False, True])
        """
        return cls(np.zeros(n, np.int32), np.zeros((1, 1), np.uint8), 0)

    @property
    def n_classes(self) -> int:
        """Number of classes; one of them may lie in no query set."""
        return len(self.bits)

    @cached_property
    def asked(self) -> Bools:
        """The classes that lie in some query set."""
        return np.asarray(self.bits.any(axis=1))

    def covers(self, members: Bools) -> Bools | None:
        """Return the classes whose union a query set is, or None: the covering property.

        Records in no query set of the basis belong to none of its classes.
        """
        touched = np.bincount(self.class_of[members], minlength=self.n_classes)
        sizes = np.bincount(self.class_of, minlength=self.n_classes)
        some = touched > 0
        whole = np.array_equal(touched[some], sizes[some]) and bool(self.asked[some].all())
        return np.asarray(some) if whole else None

    def refined(self, members: Bools) -> tuple[Partition, Split]:
        """Add a query to the basis: cut the classes by its query set."""
        n = self.n_classes
        touched = np.bincount(self.class_of[members], minlength=n)
        left = np.bincount(self.class_of, minlength=n) - touched
        parents = np.flatnonzero((touched > 0) & (left > 0))
        children = n + np.arange(len(parents))
        number = np.arange(n, dtype=np.int32)
        number[parents] = children
        class_of = self.class_of.copy()
        class_of[members] = number[class_of[members]]
        byte, bit = divmod(self.n_queries, 8)
        bits = np.zeros((n + len(parents), self._width(self.n_queries + 1)), np.uint8)
        bits[:n, : self.bits.shape[1]] = self.bits
        bits[n:] = bits[parents]
        split = Split.of(len(bits), np.r_[np.flatnonzero((touched > 0) & (left == 0)), children], parents)
        bits[split.inside, byte] |= np.uint8(1 << bit)
        return Partition(class_of, bits, self.n_queries + 1), split

    def refined_by(self, label: Ints, query: Ints) -> tuple[Partition, list[Split]]:
        """Add several disjoint queries to the basis: what `refined` does for one after another.

        Parameters
        ----------
        label : ndarray of int, shape (records,)
            The query of every record as a position in `query`, -1 for none.
        query : ndarray of int
            The number that each gets, ascending from `n_queries` on; -1 for those that are not added, which must not
            cut a class.

        Returns
        -------
        partition : Partition
        splits : list of Split
            One for every query that is added.

        Examples
        --------
        >>> p, splits = Partition.whole(4).refined_by(np.array([0, 1, 1, 1]), np.array([0, 1]))
        >>> p.class_of.tolist(), p.rows().toarray().tolist(), splits[1].inside.tolist()
        ([1, 0, 0, 0], [[0, 1], [1, 0]], [True, False])
        """
        n, record = self.n_classes, np.lexsort((self.class_of, label))
        # what is in no query keeps the number of its class, or else the part in the last query
        keeps = np.full(n, -1, np.int64)
        keeps[self.class_of[record]] = label[record]
        keeps[self.class_of[label < 0]] = -1
        there = record[label[record] >= 0]
        part, first = distinct(label[there] * np.int64(n) + self.class_of[there], len(query) * n)
        of, parent = label[there[first]], self.class_of[there[first]]
        cut = keeps[parent] != of
        number = np.where(cut, n + np.cumsum(cut) - 1, parent)
        class_of = self.class_of.copy()
        class_of[there] = number[part]
        n_queries = self.n_queries + int(np.count_nonzero(query >= 0))
        bits = np.zeros((n + int(cut.sum()), self._width(n_queries)), np.uint8)
        bits[:n, : self.bits.shape[1]] = self.bits
        bits[n:] = bits[parent[cut]]
        added = query[of] >= 0
        byte, bit = np.divmod(query[of[added]], 8)
        bits[number[added], byte] |= np.uint8(1) << bit.astype(np.uint8)
        splits = [
            Split.of(n + int(np.count_nonzero(cut & (of <= k))), number[of == k], parent[cut & (of == k)])
            for k in np.flatnonzero(query >= 0)
        ]
        return Partition(class_of, bits, n_queries), splits

    def _width(self, n_queries: int) -> int:
        """Return how many bytes a row of bits takes; twice as many whenever they are used up."""
        width = int(self.bits.shape[1])
        return width if 8 * width >= n_queries else max(2 * width, -(-n_queries // 8))

    def rows(self, columns: Ints | None = None) -> sparse.csr_array:
        """Return M, or some of its columns: one row a query of the basis, one column a class."""
        some = self.bits if columns is None else self.bits[columns]
        dense = np.unpackbits(some, axis=1, count=self.n_queries, bitorder="little")
        row, column = np.nonzero(dense.T)
        starts = np.r_[0, np.cumsum(np.bincount(row, minlength=self.n_queries))]
        return sparse.csr_array((np.ones(len(row), np.int64), column, starts), shape=dense.T.shape)

    def some(self, queries: Ints, columns: Ints | None = None) -> npt.NDArray[np.uint8]:
        """Return some rows of M, or some of their columns, dense.

        Examples
        --------
        >>> p, _ = Partition.whole(3).refined(np.array([True, False, True]))
        >>> p.some(np.array([0])).tolist()
        [[0, 1]]
        """
        bits = self.bits if columns is None else self.bits[columns]
        byte, bit = np.divmod(queries, 8)
        return np.asarray((bits[:, byte] >> bit.astype(np.uint8)) & np.uint8(1)).T

    def weighted(self, weights: npt.NDArray[Any], columns: Ints | None = None) -> npt.NDArray[Any]:
        """Return the sum over all rows of M, each times a weight, for every class or for some.

        The type is that of the weights: integers are exact below 2^63.

        Examples
        --------
        >>> p, _ = Partition.whole(3).refined(np.array([True, False, True]))
        >>> p.refined(np.array([True, True, False]))[0].weighted(np.array([5, 7])).tolist()
        [7, 5, 12]
        """
        bits = self.bits if columns is None else self.bits[columns]
        result = np.zeros(len(bits), weights.dtype)
        for byte in np.unique(np.flatnonzero(weights) // 8).tolist():
            part = weights[8 * byte : 8 * byte + 8]
            result += (_BITS[:, : len(part)].astype(weights.dtype) @ part)[bits[:, byte]]
        return result

    def atoms(self, groups: Groups) -> tuple[Ints, Ints]:
        """Cut all classes by disjoint query sets at once.

        Returns
        -------
        atom_of, first : ndarray of int
            The part that every record is in, and the first record of every part.

        Examples
        --------
        >>> atom_of, first = Partition.whole(4).atoms(Groups(np.array([0, 1, 1, -1]), 2))
        >>> atom_of.tolist(), first.tolist()
        ([1, 2, 2, 0], [3, 0, 1])
        """
        if self._cut.get("groups") is not groups:
            width = groups.n + 1
            parts = distinct(self.class_of * np.int64(width) + groups.label + 1, self.n_classes * width)
            self._cut.update(groups=groups, parts=parts)
        part_of, first = self._cut["parts"]
        return part_of, first

    @cached_property
    def _cut(self) -> dict[str, Any]:
        """The last groups and their parts: a table is looked at several times."""
        return {}
