"""The numbers of a problem as integers, and deviations in rational numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Questions
from tabprotect.attack.pool import Deviation
from tabprotect.errors import InputError
from tabprotect.problem import Problem
from tabprotect.solver.exact import Integers, Polyhedron, RationalVector, integer_rows, scaled_integers
from tabprotect.solver.exact.elimination import eliminate
from tabprotect.solver.exact.simplex import furthest
from tabprotect.solver.tolerances import LITTLE_ROOM, WITNESS_ROUNDING

__all__ = ["ExactProblem", "ExactWitness"]

Ints = npt.NDArray[np.int64]


SMALL = 300
"""Up to so many cells that move together the simplex method in rational numbers is asked."""

DIGITS = (12, 15)
"""So many digits of the largest step are kept; more where the room of a small cell is lost in the last of them."""


@dataclass(frozen=True, eq=False)
class ExactWitness:
    """Another table that the intruder cannot rule out, in rational numbers: values + z, with z = 0 outside `cells`.

    Attributes
    ----------
    cells : ndarray of int
        Ascending.
    z : RationalVector
        In the unit of the values, none of them 0.
    """

    cells: Ints
    z: RationalVector

    @classmethod
    def of(cls, cells: Ints, z: RationalVector) -> ExactWitness:
        """Leave out zeros and common factors."""
        moved = np.flatnonzero(z.numerators != 0)
        order = moved[np.argsort(cells[moved])]
        numerators = z.numerators[order]
        divisor = math.gcd(z.denominator, *numerators.tolist())
        return cls(cells[order], RationalVector(numerators // divisor, z.denominator // divisor))

    @property
    def deviation(self) -> Deviation:
        """The nearest numbers in floating point."""
        return Deviation(self.cells, np.array([n / self.z.denominator for n in self.z.numerators.tolist()]))


class ExactProblem:
    """The numbers of a problem as integers over one denominator.

    Levels and external bounds of integer problems are rounded to integers, which changes nothing for an intruder who
    knows that the values are.

    Attributes
    ----------
    problem : Problem
        With rounded levels and bounds if it is an integer problem.
    scale : int
    need : dict of int to ndarray
        For side +1, -1, 0: UPL, LPL, SPL times `scale`.
    polyhedron : Polyhedron
        All deviations that external bounds and equations allow when everything is hidden.
    """

    def __init__(self, problem: Problem) -> None:
        fields = ("values", "lower", "upper", "lpl", "upl", "spl")
        scale, (value, lower, upper, lpl, upl, spl) = scaled_integers(*(getattr(problem, f) for f in fields))
        low, high = lower - value, upper - value
        if problem.integer:
            odd = np.flatnonzero(value % scale != 0)
            if len(odd):
                names = ", ".join(problem.system.label(int(i)) for i in odd[:5])
                raise InputError(f"the problem is declared integer, but these values are not: {names}")
            low, high = -(-low // scale), high // scale
            lpl, upl, spl = (-(-level // scale) for level in (lpl, upl, spl))
            problem = replace(
                problem,
                lower=np.where(np.isfinite(problem.lower), np.ceil(problem.lower), -np.inf),
                upper=np.where(np.isfinite(problem.upper), np.floor(problem.upper), np.inf),
                lpl=lpl.astype(np.float64),
                upl=upl.astype(np.float64),
                spl=spl.astype(np.float64),
            )
            scale = 1
        self.problem = problem
        self.scale = scale
        self.questions = Questions.of(problem)
        self.need: dict[int, Integers] = {1: upl, -1: lpl, 0: spl}
        A = integer_rows(problem.system.A)
        self.polyhedron = Polyhedron(A, low, high, np.isfinite(problem.lower), np.isfinite(problem.upper), scale)
        self.columns = sparse.csc_array(A)
        primary = np.zeros(problem.n_cells, dtype=bool)
        primary[problem.primaries] = True
        self._levels = [(upl, primary & (upl > 0)), (-lpl, primary & (lpl > 0))]

    def exactly(
        self, deviations: Sequence[Deviation], digits: int | None = None, most: float = math.inf
    ) -> list[ExactWitness | None]:
        """Turn deviations into exact witnesses close by; None where that fails.

        With `digits`, only by rounding to multiples of 10^-digits and simple fractions of them; those that move more
        cells than `most` are rounded only, too.
        """
        if not deviations:
            return []
        cells = np.concatenate([d.cells for d in deviations])
        z = np.concatenate([d.z for d in deviations])
        block = np.repeat(np.arange(len(deviations)), [len(d.cells) for d in deviations])
        part = self.polyhedron.part(cells, self._stacked(cells, block))
        found: list[ExactWitness | None] = [None] * len(deviations)
        ends = np.searchsorted(block, np.arange(len(deviations) + 1))
        unit = None if digits is None else 10 ** max(0, digits)
        for columns, point in part.rounded(z, block, unit, WITNESS_ROUNDING):
            if self.problem.integer and point.denominator != 1:
                continue
            for k in np.unique(block[columns]).tolist():
                own = slice(ends[k], ends[k + 1])
                found[k] = ExactWitness.of(cells[own], RationalVector(point.numerators[own], point.denominator))
        for k, (deviation, done) in enumerate(zip(deviations, found, strict=True)):
            if done is None and digits is None and not self.problem.integer and len(deviation.cells) <= most:
                found[k] = self._vertex(deviation)
        return found

    def _stacked(self, cells: Ints, block: Ints) -> sparse.csr_array:
        """The equations of each block between its own cells only, one below the other."""
        columns = self.columns[:, cells]
        rows = np.repeat(block, np.diff(columns.indptr)) * columns.shape[0] + columns.indices
        distinct, row = np.unique(rows, return_inverse=True)
        return sparse.csr_array(
            sparse.csc_array((columns.data, row, columns.indptr), shape=(len(distinct), len(cells)))
        )

    def _vertex(self, deviation: Deviation) -> ExactWitness | None:
        cells = deviation.cells
        part = self.polyhedron.part(cells, self._stacked(cells, np.zeros(len(cells), np.int64)))
        levels = [(level[cells], applies[cells]) for level, applies in self._levels]
        # an entry may be near a level by chance: levels come with 16 digits
        for stops in (levels, ()):
            if (point := part.vertex(deviation.z, stops)) is not None:
                return ExactWitness.of(cells, point)
        return None

    def furthest(self, cells: Ints, cell: int, side: int) -> tuple[ExactWitness, bool] | None:
        """Move a cell towards its level in rational numbers, other cells than those given held; None where too large.

        Returns
        -------
        (ExactWitness, bool) or None
            And whether it reaches the level; if not, nothing takes it further.
        """
        if len(cells) > SMALL:
            return None
        part = self.polyhedron.part(cells, self._stacked(cells, np.zeros(len(cells), np.int64)))
        level = int(self.need[side][cell] if self.need[side][cell] else self.need[0][cell])
        found = furthest(part, int(np.searchsorted(cells, cell)), side, level)
        return None if found is None else (ExactWitness.of(cells, found[0]), found[1])

    def slackened(self, deviation: Deviation) -> ExactWitness | None:
        """Turn a deviation with room at its bounds into an exact witness, by small steps of as few cells as suffice."""
        cells, z = deviation.cells, deviation.z
        part = self.polyhedron.part(cells, self._stacked(cells, np.zeros(len(cells), np.int64)))
        size = float(np.abs(z).max(initial=0.0))
        room = np.minimum(z + self.problem.down[cells], self.problem.up[cells] - z)
        held = np.ones(len(cells), bool)
        held[eliminate(sparse.csr_array(part.A.T), room < LITTLE_ROOM * size).independent] = False
        for digits in DIGITS:
            grid = 10 ** max(0, digits - (math.frexp(size)[1] * 3) // 10)
            if size * grid >= 2.0**62:
                break
            if (point := part.completed(held, RationalVector(np.rint(z * grid).astype(np.int64), grid))) is not None:
                return ExactWitness.of(cells, point)
        return None
