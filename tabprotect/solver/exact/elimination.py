"""Sparse elimination modulo a prime: which equations depend on others, and which unknowns are tied together."""

from __future__ import annotations

import heapq
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.stops import Stop

__all__ = ["PRIME", "Elimination", "Stopped", "eliminate", "signed"]

Ints = npt.NDArray[np.int64]

PRIME = (1 << 61) - 1

SIMPLE = 10**4
"""Denominators up to this one are recognised in an entry."""

ROUNDED = Fraction(1, 10**13)
"""Relative error of an entry that went through several operations."""


class Stopped(Exception):
    """An elimination was asked to end before its end: nothing of it can be used."""


class Elimination:
    """A sparse matrix brought to echelon form modulo the prime 2^61 - 1.

    The rank modulo a prime never exceeds the rank over the rationals and equals it unless the prime divides one of
    the minors met on the way, which for a prime of this size does not happen by chance.

    Attributes
    ----------
    independent : ndarray of int
        Positions of a maximal set of independent rows, ascending.
    """

    def __init__(self, shape: tuple[int, int], pivots: list[tuple[int, int, dict[int, int]]]) -> None:
        self._shape = shape
        self._pivots = pivots
        self.independent: Ints = np.array(sorted(row for row, _, _ in pivots), dtype=np.int64)

    @property
    def rank(self) -> int:
        """The rank of the matrix."""
        return len(self._pivots)

    @property
    def pivots(self) -> Ints:
        """The column of every pivot."""
        return np.array([column for _, column, _ in self._pivots], dtype=np.int64)

    def null_vector(self, rng: np.random.Generator) -> list[int]:
        """Return a random z with A z = 0 modulo the prime."""
        z = [int(v) for v in rng.integers(1, PRIME, self._shape[1])]
        for _, column, row in reversed(self._pivots):
            total = 0
            for j, v in row.items():
                if j != column:
                    total += v * z[j]
            z[column] = (-total * pow(row[column], -1, PRIME)) % PRIME
        return z

    def null_space(self) -> list[dict[int, int]]:
        """Return every unknown of a solution of A z = 0 as a combination of the free unknowns.

        Returns
        -------
        list of dict of int to int
            For every unknown the coefficients of free unknowns, as residues between -p/2 and p/2: small whole numbers
            appear as what they are. Unknowns that are zero in every solution have none.

        Examples
        --------
        >>> eliminate(sparse.csr_array([[1.0, 1, 0], [0, 1, 1]])).null_space()
        [{2: 1}, {2: -1}, {2: 1}]
        """
        free: list[dict[int, int]] = [{j: 1} for j in range(self._shape[1])]
        for _, column, row in reversed(self._pivots):
            combined: dict[int, int] = {}
            for j, v in row.items():
                if j != column:
                    for f, c in free[j].items():
                        combined[f] = combined.get(f, 0) + v * c
            factor = -pow(row[column], -1, PRIME)
            residues = {f: signed(c * factor) for f, c in combined.items()}
            free[column] = {f: c for f, c in residues.items() if c}
        return free

    def ties(self, rng: np.random.Generator) -> tuple[list[int], list[tuple[int, int, Fraction]]]:
        """Return the unknowns that are zero in every solution of A z = 0, and those that are multiples of another.

        Two random solutions decide: unknowns whose ratio is the same in both are proportional in all solutions (the
        chance of an accident is about n^2 / 2^61). Only ratios that are fractions of small integers are reported.

        Returns
        -------
        zero : list of int
        tied : list of (j, i, s)
            z_j = s z_i in every solution; i is the first unknown of its class.
        """
        first, second = self.null_vector(rng), self.null_vector(rng)
        zero = [j for j, (u, v) in enumerate(zip(first, second, strict=True)) if u == 0 and v == 0]
        leader: dict[int, int] = {}
        tied = []
        inverse = _inverses(first)
        for j, (u, v) in enumerate(zip(first, second, strict=True)):
            if u == 0 or v == 0:
                continue
            i = leader.setdefault(v * inverse[j] % PRIME, j)
            if i != j and (ratio := _small_fraction(u * inverse[i] % PRIME)) is not None:
                tied.append((j, i, ratio))
        return zero, tied


def signed(number: int) -> int:
    """Return a number modulo the prime as a residue between -p/2 and p/2."""
    residue = number % PRIME
    return residue - PRIME if residue > PRIME // 2 else residue


def _inverses(residues: list[int]) -> list[int]:
    """Invert all residues that are not 0 by one inversion and three products each."""
    before, product = [], 1
    for u in residues:
        before.append(product)
        product = product * (u or 1) % PRIME
    inverse = pow(product, -1, PRIME)
    found = [0] * len(residues)
    for j in range(len(residues) - 1, -1, -1):
        if u := residues[j]:
            found[j] = inverse * before[j] % PRIME
            inverse = inverse * u % PRIME
    return found


def _small_fraction(residue: int) -> Fraction | None:
    """Rational reconstruction: the fraction with parts below 2^29 that equals the residue, if there is one."""
    r0, r1, t0, t1 = PRIME, residue, 0, 1
    while r1 >= 1 << 29:
        quotient = r0 // r1
        r0, r1, t0, t1 = r1, r0 - quotient * r1, t1, t0 - quotient * t1
    return Fraction(r1, t1) if t1 and abs(t1) < 1 << 29 else None


def _meant(value: float) -> Fraction:
    """The decimal as written, or the simple fraction that it stands for: sums of thirds are not to differ in a bit."""
    written = Fraction(repr(value))
    simple = written.limit_denominator(SIMPLE)
    return simple if abs(simple - written) <= abs(written) * ROUNDED else written


def _residues(values: npt.NDArray[np.float64]) -> list[int]:
    """What entries stand for, modulo the prime."""
    distinct, which = np.unique(values, return_inverse=True)
    meant = [_meant(v) for v in distinct.tolist()]
    known = [v.numerator * pow(v.denominator, -1, PRIME) % PRIME for v in meant]
    return [known[k] for k in which.tolist()]


def _go_on(stop: Stop | None) -> None:
    if stop is not None and stop():
        raise Stopped


def eliminate(A: sparse.csr_array, last: npt.NDArray[np.bool_] | None = None, stop: Stop | None = None) -> Elimination:
    """Bring A to echelon form modulo the prime, choosing short rows and rare columns first to stay sparse.

    Parameters
    ----------
    A : scipy.sparse.csr_array, shape (m, n)
    last : ndarray of bool, shape (m,), optional
        Rows that are not among the independent ones unless all others do not suffice.
    stop : callable, optional
        Polled often: where rows fill up an elimination has no end.

    Raises
    ------
    Stopped
        If `stop` says so.

    Examples
    --------
    >>> eliminate(sparse.csr_array([[1.0, 1, 0], [0, 1, 1], [1, 2, 1]])).rank
    2
    """
    m = int(A.shape[0])
    data = _residues(A.data)
    rows: list[dict[int, int]] = []
    where: dict[int, set[int]] = {}
    ends, columns = A.indptr.tolist(), A.indices.tolist()
    for r in range(m):
        lo, hi = ends[r], ends[r + 1]
        row = {j: v for j, v in zip(columns[lo:hi], data[lo:hi], strict=True) if v}
        rows.append(row)
        for j in row:
            where.setdefault(j, set()).add(r)
    pivots: list[tuple[int, int, dict[int, int]]] = []
    late = [False] * m if last is None else last.tolist()
    queue = [(late[r], len(row), r) for r, row in enumerate(rows)]
    heapq.heapify(queue)
    done = [False] * m
    while queue:
        _, length, r = heapq.heappop(queue)
        _go_on(stop)
        row = rows[r]
        if done[r] or length != len(row):
            continue
        done[r] = True
        if not row:
            continue
        column = min([(len(where[j]), j) for j in row])[1]
        inverse = pow(row[column], -1, PRIME)
        for j in row:
            where[j].discard(r)
        for other in where[column]:
            _go_on(stop)
            target = rows[other]
            factor = target.pop(column) * inverse % PRIME
            for j, v in row.items():
                if j == column:
                    continue
                value = (target.get(j, 0) - factor * v) % PRIME
                if value:
                    if j not in target:
                        where[j].add(other)
                    target[j] = value
                elif j in target:
                    del target[j]
                    where[j].discard(other)
            heapq.heappush(queue, (late[other], len(target), other))
        where[column] = set()
        pivots.append((r, column, row))
    return Elimination((m, int(A.shape[1])), pivots)
