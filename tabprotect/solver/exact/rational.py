"""Exact rational arithmetic: decimals as written, vectors over one denominator, sparse linear systems.

Whole arrays are kept as integers over one common denominator: 64-bit where they fit, Python integers (dtype object)
where they do not. Nothing here trusts a floating-point number: it proposes, integer arithmetic decides.
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import linalg

from tabprotect.solver.exact.elimination import Stopped, eliminate
from tabprotect.solver.stops import Stop

__all__ = [
    "ExactSolver",
    "Integers",
    "RationalVector",
    "compact",
    "exact",
    "integer_rows",
    "product",
    "scaled_integers",
    "solve_exactly",
    "times",
]

Integers = npt.NDArray[Any]  # int64, or object holding Python integers
Floats = npt.NDArray[np.float64]

_SAFE = 2**62
_MAX_BITS = 4096
_BITS_A_STEP = 42


def exact(value: float) -> Fraction:
    """Return the number that a float stands for: the shortest decimal that reads back as the same float.

    Examples
    --------
    >>> exact(0.1), exact(18262444.0)
    (Fraction(1, 10), Fraction(18262444, 1))
    """
    return Fraction(repr(float(value)))


def scaled_integers(*arrays: npt.ArrayLike) -> tuple[int, list[Integers]]:
    """Write arrays of floats, decimals as written, as integers over one common denominator.

    Parameters
    ----------
    *arrays : array of float
        Infinite entries become 0; look at the floats to know them.

    Returns
    -------
    scale : int
    integers : list of ndarray
        ``integers / scale`` are the exact numbers; int64 where all of them are below 2^62, else Python integers.

    Examples
    --------
    >>> scaled_integers([0.25, 3.0], [np.inf])
    (100, [array([ 25, 300]), array([0])])
    """
    floats = [np.asarray(array, np.float64) for array in arrays]
    values = np.concatenate([f.ravel() for f in floats])
    values = np.where(np.isfinite(values), values, 0.0)
    numerators = np.zeros(len(values), dtype=object)
    denominators = np.zeros(len(values), dtype=object)
    open_ = np.arange(len(values))
    for k in range(10):
        # a decimal of at most 15 digits is the only such decimal of its float, so the test by division is exact
        with np.errstate(over="ignore"):
            shifted = np.rint(values[open_] * 10.0**k)
        fits = (np.abs(shifted) < 1e15) & (shifted / 10.0**k == values[open_])
        numerators[open_[fits]] = shifted[fits].astype(np.int64)
        denominators[open_[fits]] = 10**k
        open_ = open_[~fits]
        if not len(open_):
            break
    for i in open_.tolist():
        numerators[i], denominators[i] = exact(values[i]).as_integer_ratio()
    scale = math.lcm(*set(denominators.tolist()))
    result = compact(numerators * (scale // denominators))
    ends = np.cumsum([f.size for f in floats])[:-1]
    return scale, [part.reshape(f.shape) for part, f in zip(np.split(result, ends), floats, strict=True)]


def integer_rows(A: sparse.csr_array) -> sparse.csr_array:
    """Multiply the rows of an equation matrix A z = 0 up to integers, decimals as written.

    Examples
    --------
    >>> integer_rows(sparse.csr_array([[0.5, -1.0], [1.0, 1.0]])).toarray().tolist()
    [[5, -10], [1, 1]]
    """
    if np.array_equal(A.data, np.rint(A.data)):
        return A.astype(np.int64)
    A = sparse.csr_array(A)
    data = np.zeros(len(A.data), dtype=np.int64)
    for row in range(A.shape[0]):
        part = slice(A.indptr[row], A.indptr[row + 1])
        data[part] = scaled_integers(A.data[part])[1][0]
    return sparse.csr_array((data, A.indices, A.indptr), shape=A.shape)


@dataclass(frozen=True, eq=False)
class RationalVector:
    """A vector of rational numbers over one denominator.

    Attributes
    ----------
    numerators : ndarray
        int64, or Python integers.
    denominator : int
        Positive.
    """

    numerators: Integers
    denominator: int

    def __getitem__(self, i: int) -> Fraction:
        return Fraction(int(self.numerators[i]), self.denominator)


def compact(array: Integers) -> Integers:
    """Turn Python integers into int64 where they fit."""
    if array.dtype == object and _largest(array) < _SAFE:
        return array.astype(np.int64)
    return array


def _largest(array: Integers) -> int:
    return int(np.abs(array).max(initial=0)) if len(array) else 0


def times(array: Integers, factor: int) -> Integers:
    """Multiply without overflow."""
    if array.dtype == object or max(1, _largest(array)) * abs(factor) >= _SAFE:
        return compact(array.astype(object) * factor)
    return array * factor


def product(A: sparse.csr_array, x: Integers) -> Integers:
    """A @ x for an int64 matrix, without overflow."""
    if x.dtype != object:
        norm = int(np.abs(A.data).max(initial=0)) * int(np.diff(A.indptr).max(initial=0))
        if _largest(x) * norm < _SAFE:
            return np.asarray(A @ x)
    terms = np.append(A.data.astype(object) * x[A.indices], 0)
    sums = np.add.reduceat(terms, A.indptr[:-1]) if A.shape[0] else np.zeros(0, dtype=object)
    sums[np.diff(A.indptr) == 0] = 0
    return compact(sums)


def solve_exactly(A: sparse.csr_array, rhs: Integers, stop: Stop | None = None) -> RationalVector | None:
    """Solve A x = rhs in rational numbers; see `ExactSolver`.

    Examples
    --------
    >>> A = sparse.csr_array(np.array([[1, 1], [1, -1], [2, 0]]))
    >>> x = solve_exactly(A, np.array([3, 2, 5]))
    >>> x[0], x[1]
    (Fraction(5, 2), Fraction(1, 2))
    >>> solve_exactly(A, np.array([3, 2, 6])) is None
    True
    """
    return ExactSolver(A, stop).solve(rhs)


class ExactSolver:
    """Solves A x = rhs in rational numbers, for many right-hand sides.

    A floating-point factorisation gives the leading digits, the exact integer residual is solved for again for the next
    ones (Wan 2006, "An algorithm to solve integer linear systems exactly using numerical methods"), until a small
    common denominator fits all entries; the answer is then verified in integers. Being solved are the rows that
    elimination finds independent; those that depend on them are looked at in the end.

    Parameters
    ----------
    A : csr_array of int64, shape (m, n)
        Of full column rank.
    stop : callable, optional
        Polled often; once it says so there is no solution any more.
    """

    def __init__(self, A: sparse.csr_array, stop: Stop | None = None) -> None:
        self.A = A
        self._factors: Any = None
        self._stop = stop
        try:
            self._rows = eliminate(A, stop=stop).independent
        except Stopped:
            return
        # (SuperLU writes beyond its arrays where a matrix is singular by its pattern alone, which these rows are not)
        if 0 < len(self._rows) == A.shape[1]:
            self._square = sparse.csr_array(A[self._rows])
            with contextlib.suppress(RuntimeError):  # singular as far as floating point can tell
                self._factors = linalg.splu(sparse.csc_array(self._square, dtype=np.float64), permc_spec="COLAMD")

    def solve(self, rhs: Integers) -> RationalVector | None:
        """Return the solution for a right-hand side of integers.

        Returns
        -------
        RationalVector or None
            None when the columns are dependent (or too nearly so), no solution exists, or it was stopped.
        """
        n = self.A.shape[1]
        if n == 0:
            return RationalVector(np.zeros(0, np.int64), 1) if not np.any(rhs) else None
        if self._factors is None:
            return None
        # invariant: square found = 2^shift right - residual
        right: Integers = rhs[self._rows]
        residual, found = right, np.zeros(n, np.int64)
        shift, last = 0, math.inf
        while shift <= _MAX_BITS and not (self._stop is not None and self._stop()):
            try:
                step = self._factors.solve(residual.astype(np.float64))
            except OverflowError:
                return None
            largest = float(np.abs(step).max(initial=0.0))
            exponent = math.frexp(largest or 2.0**-99)[1] if math.isfinite(largest) else 1024
            error = exponent - shift  # log2 of the distance to the solution
            if error > last - 4 or exponent > 900:
                return None
            x = _common_denominator(found, shift, exponent) if error < -4 else None
            if x is not None and np.array_equal(product(self._square, x.numerators), times(right, x.denominator)):
                whole = np.array_equal(product(self.A, x.numerators), times(rhs, x.denominator))
                return x if whole else None
            if largest == 0.0:
                return None
            last = error
            bits = max(0, _BITS_A_STEP - exponent)
            digits = _integers(np.rint(np.ldexp(step, bits)))
            residual = times(residual, 2**bits) - product(self._square, digits)
            found = compact(times(found, 2**bits) + digits)
            shift += bits
        return None


def _integers(values: Floats) -> Integers:
    """Turn integral floats of any size into integers."""
    if np.abs(values).max(initial=0.0) < _SAFE:
        return values.astype(np.int64)
    return np.array([int(v) for v in values], dtype=object)


def _common_denominator(found: Integers, shift: int, exponent: int) -> RationalVector | None:
    """Return fractions over a small common denominator within 2^exponent / 2^shift of found / 2^shift."""
    limit = math.isqrt(1 << max(0, shift - exponent - 2))
    q = 1
    while q <= limit:
        scaled = times(found, q).astype(object)
        nearest = (scaled + (1 << shift >> 1)) >> shift
        off = np.abs(scaled - (nearest << shift))
        worst = int(np.argmax(off))
        if off[worst] <= q << max(0, exponent + 1):
            return RationalVector(compact(nearest), q)
        step = Fraction(int(off[worst]), 1 << shift).limit_denominator(max(1, limit // q)).denominator
        if step == 1:
            return None
        q *= step
    return None
