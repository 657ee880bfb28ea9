"""Points of polyhedra in exact arithmetic, from floating-point points near them: rounded, completed, or as vertices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.solver.exact.rational import Integers, RationalVector, compact, product, solve_exactly, times
from tabprotect.solver.stops import Stop
from tabprotect.solver.tolerances import AT_BOUND, ROUNDING

__all__ = ["Polyhedron"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

_DENOMINATORS = (1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 18, 24, 36, 48, 60, 144)


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """Points z with A z = 0 and lower <= z <= upper, in exact arithmetic.

    Parameters
    ----------
    A : csr_array of int64, shape (m, n)
        Rows multiplied up to integers; see `integer_rows`.
    lower, upper : ndarray of integers, shape (n,)
        Times `scale`; what stands at infinite bounds is not looked at.
    lower_finite, upper_finite : ndarray of bool
    scale : int
    """

    A: sparse.csr_array
    lower: Integers
    upper: Integers
    lower_finite: Bools
    upper_finite: Bools
    scale: int

    def part(self, columns: npt.NDArray[np.int64], A: sparse.csr_array) -> Polyhedron:
        """Return the polyhedron of some columns, with the equations given, all other columns held at 0."""
        return Polyhedron(
            A,
            self.lower[columns],
            self.upper[columns],
            self.lower_finite[columns],
            self.upper_finite[columns],
            self.scale,
        )

    def within(self, z: RationalVector) -> Bools:
        """Which entries of z keep their bounds."""
        scaled = times(z.numerators, self.scale)
        low = ~self.lower_finite | (scaled >= times(self.lower, z.denominator))
        high = ~self.upper_finite | (scaled <= times(self.upper, z.denominator))
        return np.asarray(low & high, dtype=bool)

    def residuals(self, z: RationalVector) -> Integers:
        """Return A z, times the denominator of z."""
        return product(self.A, z.numerators)

    def contains(self, z: RationalVector) -> bool:
        """Whether z satisfies all equations and bounds."""
        return bool(not self.residuals(z).any() and self.within(z).all())

    def rounded(
        self, z: Floats, block: npt.NDArray[np.int64], unit: int | None = None, near: float = ROUNDING
    ) -> list[tuple[Bools, RationalVector]]:
        """Round a point to small denominators, block by block.

        Parameters
        ----------
        z : ndarray of float, shape (n,)
            Satisfies the equations and bounds up to floating-point error.
        block : ndarray of int, shape (n,)
            Columns of one block share equations with each other only, and so are rounded alike.
        unit : int, optional
            Try small multiples of this denominator; by default of `scale`, and 1.
        near : float
            How near all entries must be to a grid, in units of the grid.

        Returns
        -------
        list of (columns, point)
            Points of the polyhedron that are 0 outside `columns`; blocks that no denominator suits are left out.

        Examples
        --------
        >>> A = sparse.csr_array(np.array([[1, -1, 0, 0], [0, 0, 1, -2]]))
        >>> yes = np.ones(4, bool)
        >>> p = Polyhedron(A, np.full(4, -5), np.full(4, 5), yes, yes, 1)
        >>> [(c.tolist(), z[0], z[3]) for c, z in p.rounded(np.array([2 - 1e-12, 2, 1, 0.5]), np.array([0, 0, 1, 1]))]
        [([True, True, False, False], Fraction(2, 1), Fraction(0, 1)),
         ([False, False, True, True], Fraction(0, 1), Fraction(1, 2))]
        """
        done = []
        n_blocks = int(block.max(initial=-1)) + 1
        waiting = np.ones(n_blocks, dtype=bool)
        some = np.diff(self.A.indptr) > 0
        row_block = np.zeros(self.A.shape[0], dtype=np.int64)
        row_block[some] = block[self.A.indices[self.A.indptr[:-1][some]]]
        base = self.scale if unit is None else unit
        grids = _DENOMINATORS if base == 1 else (1, *(base * d for d in _DENOMINATORS))
        for denominator in grids:
            columns = waiting[block]
            if not columns.any() or float(np.abs(z[columns]).max()) * denominator >= 2.0**53:
                break
            point = RationalVector(np.where(columns, np.rint(z * denominator), 0.0).astype(np.int64), denominator)
            bad = np.zeros(n_blocks, dtype=bool)
            bad[block[np.abs(z * denominator - point.numerators) > near]] = True
            bad[block[~self.within(point)]] = True
            bad[row_block[self.residuals(point) != 0]] = True
            if (good := waiting & ~bad).any():
                columns = good[block]
                done.append((columns, RationalVector(np.where(columns, point.numerators, 0), denominator)))
                waiting &= bad
        return done

    def vertex(
        self, z: Floats, levels: Sequence[tuple[Integers, Bools]] = (), stop: Stop | None = None
    ) -> RationalVector | None:
        """Compute exactly the basic solution that a floating-point vertex stands for.

        Entries at a bound (or at a level) are put there exactly, the equations are solved for the others.

        Parameters
        ----------
        z : ndarray of float, shape (n,)
        levels : sequence of (ndarray of integers, ndarray of bool)
            Further values, times `scale`, at which an entry may have been stopped, and where they apply.
        stop : callable, optional
            Polled often; says that there is no time to look on.

        Returns
        -------
        RationalVector or None
            None when that solution does not exist or breaks a bound, or it was stopped.

        Examples
        --------
        >>> A = sparse.csr_array(np.array([[2, -1]]))
        >>> yes = np.ones(2, bool)
        >>> p = Polyhedron(A, np.array([-7, -7]), np.array([7, 7]), yes, yes, 3)
        >>> p.vertex(np.array([1.16666667, 2.33333333333]))
        RationalVector(numerators=array([ 7, 14]), denominator=6)
        """
        ends = [(self.lower, self.lower_finite), (self.upper, self.upper_finite), *levels]
        for tolerance in AT_BOUND:
            held = np.zeros(len(z), dtype=bool)
            value: Integers = np.zeros(len(z), dtype=object)
            for end, applies in ends:
                at = end.astype(np.float64) / self.scale
                here = applies & (np.abs(z - at) <= tolerance * np.maximum(1.0, np.abs(at)))
                value[here] = end[here]
                held |= here
            point = self.completed(held, RationalVector(compact(value), self.scale), stop)
            if point is not None:
                return point
            if stop is not None and stop():
                break
        return None

    def completed(self, held: Bools, point: RationalVector, stop: Stop | None = None) -> RationalVector | None:
        """Keep the `held` entries of a point and solve the equations for the others; None unless that stays inside.

        Once `stop` says so it is None, too.
        """
        kept = RationalVector(np.where(held, point.numerators, 0), point.denominator)
        free = np.flatnonzero(~held)
        columns = sparse.csr_array(self.A[:, free])
        x = solve_exactly(columns, -self.residuals(kept), stop)
        if x is None:
            return None
        numerators = times(kept.numerators, x.denominator).astype(object)
        numerators[free] = x.numerators
        denominator = kept.denominator * x.denominator
        divisor = math.gcd(denominator, *numerators.tolist())
        result = RationalVector(compact(numerators // divisor), denominator // divisor)
        return result if self.contains(result) else None
