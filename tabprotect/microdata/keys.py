"""Combinations of key variables as numbers: patterns, their frequencies, and what a missing value matches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd

if TYPE_CHECKING:
    from tabprotect.microdata.records import Records

__all__ = [
    "DENSE",
    "KeyCodes",
    "Patterns",
    "frequencies",
    "key_codes",
    "match_counts",
    "row_numbers",
    "same_codes",
    "subsets",
]

Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

DENSE = 4_000_000
"""Up to so many possible combinations are counted in an array, more by hashing."""


@dataclass(frozen=True, eq=False)
class KeyCodes:
    """Some columns of a file as whole numbers.

    Attributes
    ----------
    names : tuple of str
    values : tuple of tuple
        The different values of each column.
    codes : ndarray of int, shape (records, columns)
        Position of every value, -1 where it is missing.
    """

    names: tuple[str, ...]
    values: tuple[tuple[Any, ...], ...]
    codes: Ints

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many different values each column has."""
        return tuple(len(values) for values in self.values)

    def patterns(self) -> Patterns:
        """Return the different rows, and how many records have each."""
        numbers, _ = row_numbers(self.codes, self.sizes)
        index, found = pd.factorize(numbers)
        first = np.full(len(found), -1, dtype=np.int64)
        first[index[::-1]] = np.arange(len(index))[::-1]
        counts = np.bincount(index, minlength=len(found)).astype(np.int64)
        return Patterns(self.codes[first], counts, index.astype(np.int64), self.sizes)


@dataclass(frozen=True, eq=False)
class Patterns:
    """The different combinations of keys in a file.

    Attributes
    ----------
    codes : ndarray of int, shape (patterns, keys)
        -1 where a value is missing.
    counts : ndarray of int, shape (patterns,)
        How many records have each.
    index : ndarray of int, shape (records,)
        The pattern of every record.
    sizes : tuple of int
        How many different values each key has.
    """

    codes: Ints
    counts: Ints
    index: Ints
    sizes: tuple[int, ...]


def key_codes(records: Records, names: Sequence[str]) -> KeyCodes:
    """Return columns as whole numbers.

    Examples
    --------
    >>> import tabprotect.microdata as md
    >>> frame = pd.DataFrame({"a": ["x", "y", "x", None], "b": [1, 1, 1, 2]})
    >>> coded = key_codes(md.read_records(frame, md.Schema()), ["a", "b"])
    >>> coded.codes.T.tolist(), coded.patterns().counts.tolist()
    ([[0, 1, 0, -1], [0, 0, 0, 1]], [2, 1, 1])
    """
    found = [records.categories(name) for name in names]
    codes = np.column_stack([c.index for c in found]) if found else np.empty((len(records), 0), np.int64)
    return KeyCodes(tuple(names), tuple(c.values for c in found), codes)


def same_codes(first: KeyCodes, second: KeyCodes) -> tuple[Ints, Ints, tuple[int, ...]]:
    """Return the codes of the same columns in two files such that equal values have equal codes, and their sizes."""
    columns, sizes = [], []
    for j in range(len(first.names)):
        place = {value: i for i, value in enumerate(first.values[j])}
        to = np.array([place.setdefault(v, len(place)) for v in second.values[j]] + [-1], dtype=np.int64)
        columns.append(to[second.codes[:, j]])
        sizes.append(len(place))
    other = np.column_stack(columns) if columns else np.empty((len(second.codes), 0), np.int64)
    return first.codes, other, tuple(sizes)


def row_numbers(codes: Ints, sizes: Sequence[int]) -> tuple[Ints, int]:
    """Return a number for every row, equal for equal rows (-1 is a value like any other), and what all are below.

    Examples
    --------
    >>> row_numbers(np.array([[0, 1], [0, -1], [0, 1]]), (2, 2))
    (array([5, 3, 5]), 9)
    """
    numbers = np.zeros(len(codes), dtype=np.int64)
    bound = 1
    for j, size in enumerate(sizes):
        if bound * (size + 1) > 2**62:
            index, found = pd.factorize(numbers)
            numbers, bound = index.astype(np.int64), len(found)
        numbers = numbers * (size + 1) + codes[:, j] + 1
        bound *= size + 1
    return numbers, bound


def frequencies(codes: Ints, sizes: Sequence[int], counts: Ints) -> Ints:
    """Return for every row how many records have equal rows; a missing value is a value of its own.

    Parameters
    ----------
    codes : ndarray of int, shape (rows, keys)
    sizes : sequence of int
    counts : ndarray of int, shape (rows,)
        How many records each row stands for.

    Examples
    --------
    >>> frequencies(np.array([[0], [1], [0]]), (2,), np.array([5, 1, 2]))
    array([7, 1, 7])
    """
    numbers, bound = row_numbers(codes, sizes)
    if bound > max(DENSE, 4 * len(codes)):
        numbers = pd.factorize(numbers)[0].astype(np.int64)
    return np.bincount(numbers, weights=counts)[numbers].astype(np.int64) if len(codes) else np.zeros(0, np.int64)


def match_counts(rows: Ints, others: Ints, sizes: Sequence[int], counts: Ints, *, missing_matches: bool = True) -> Ints:
    """Return for every row how many records match it: a missing value in the row matches every value.

    Parameters
    ----------
    rows : ndarray of int, shape (rows, keys)
        -1 where missing.
    others : ndarray of int, shape (others, keys)
    sizes : sequence of int
    counts : ndarray of int, shape (others,)
        How many records each of the others stands for.
    missing_matches : bool
        Whether a value that is missing in the others matches, too; else such a record only matches rows that do not
        state this key.

    Examples
    --------
    >>> rows = np.array([[0, 1], [0, -1], [1, 1]])
    >>> one = np.ones(3, dtype=int)
    >>> match_counts(rows, rows, (2, 2), one), match_counts(rows, rows, (2, 2), one, missing_matches=False)
    (array([2, 2, 1]), array([1, 2, 1]))
    """
    found = np.zeros(len(rows), dtype=np.int64)
    theirs = list(_by_blanks(others))
    for blank, here in _by_blanks(rows):
        for gone, there in theirs:
            if not missing_matches and (gone & ~blank).any():
                continue
            keep = np.flatnonzero(~(blank | gone))
            found[here] += _lookup(rows[np.ix_(here, keep)], others[np.ix_(there, keep)], counts[there], sizes, keep)
    return found


def _by_blanks(codes: Ints) -> Iterator[tuple[Flags, Ints]]:
    """Return the rows with each set of missing values."""
    blank = codes < 0
    if not blank.any():
        yield np.zeros(codes.shape[1], dtype=bool), np.arange(len(codes))
        return
    numbers, _ = row_numbers(blank.astype(np.int64), [2] * codes.shape[1])
    index, found = pd.factorize(numbers)
    order = np.argsort(index, kind="stable")
    for here in np.split(order, np.searchsorted(index[order], np.arange(1, len(found)))):
        yield blank[here[0]], here


def _lookup(mine: Ints, theirs: Ints, counts: Ints, sizes: Sequence[int], keep: Ints) -> Ints:
    numbers, bound = row_numbers(np.concatenate([mine, theirs]), [sizes[j] for j in keep])
    if bound > max(DENSE // 8, 4 * len(numbers)):
        index, found = pd.factorize(numbers)
        numbers, bound = index.astype(np.int64), len(found)
    sums = np.bincount(numbers[len(mine) :], weights=counts, minlength=bound)
    return sums[numbers[: len(mine)]].astype(np.int64)


def subsets(keys: int, up_to: int) -> Iterator[tuple[int, ...]]:
    """Return the sets of 1 to `up_to` of so many keys, small ones first.

    Examples
    --------
    >>> list(subsets(3, 2))
    [(0,), (1,), (2,), (0, 1), (0, 2), (1, 2)]
    """
    for size in range(1, min(up_to, keys) + 1):
        yield from combinations(range(keys), size)
