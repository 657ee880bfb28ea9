"""Combinations of rows: coefficients modulo a prime, the fractions that they stand for, and their check in integers."""

from __future__ import annotations

from fractions import Fraction
from math import lcm
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.query.audit.partition import Partition
from tabprotect.solver.exact import solve_exactly

__all__ = ["PRIME", "Terms", "believed", "combination", "fractions", "product", "verified"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

Terms = list[tuple[int, Fraction]]
"""A combination of rows: their numbers and factors."""

PRIME: Final = 2**31 - 1

SMALL: Final = 20_000
"""Entries of M up to which combinations that modular arithmetic did not settle are looked for in fractions."""


def product(a: Ints, b: Ints) -> Ints:
    """Return a @ b modulo the prime, by halves of 16 bits: sums of 2^21 of their products are exact in floats."""
    a_high, a_low = (a >> 16).astype(float), (a & 0xFFFF).astype(float)
    b_high, b_low = b >> 16, (b & 0xFFFF).astype(float)
    high = middle = np.zeros(1, np.int64)
    if b_high.any():
        b_high = b_high.astype(float)
        high, middle = (a_high @ b_high).astype(np.int64) % PRIME, (a_low @ b_high).astype(np.int64)
    middle = (high << 16) + middle + (a_high @ b_low).astype(np.int64)
    return np.asarray(((middle % PRIME << 16) + (a_low @ b_low).astype(np.int64)) % PRIME)


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


def fractions(rows: Ints, c: Ints) -> Terms | None:
    """Return rows with the fractions that their coefficients modulo the prime stand for, or None if one has none."""
    used = np.flatnonzero(c)
    known = [(i, f) for i, k in zip(rows[used].tolist(), c[used].tolist(), strict=True) if (f := _rational(k))]
    return known if len(known) == len(used) else None


def believed(partition: Partition, rows: Ints, v: Bools, c: Ints) -> Terms | None:
    """Return the combination of independent rows that gives a row, verified, or None."""
    terms = fractions(rows, c)
    if terms is not None and verified(partition, terms, v):
        return terms
    if partition.n_classes * len(rows) > SMALL:
        return None
    found = combination(sparse.csr_array(partition.rows()[rows]), v)
    return None if found is None else [(int(rows[i]), f) for i, f in found]


def verified(partition: Partition, terms: Terms, v: Bools) -> bool:
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
