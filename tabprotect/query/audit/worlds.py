"""Other data sets that give the same answers: the proof that sums can move, in integers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.query.audit.needs import Needs, Target
from tabprotect.query.audit.options import DEFAULTS
from tabprotect.query.audit.records import FREE
from tabprotect.solver.exact import Polyhedron, RationalVector
from tabprotect.solver.lp import LinearProgram

__all__ = ["Box", "Programme", "World"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

LIMIT = 2**61

SOLVE = 50
"""What the set-up of a small programme counts as, in simplex iterations."""

SETTING_UP = 250
"""Entries of M whose set-up counts as one more."""

ITERATING = 6_000
"""Entries of M for which an iteration counts as one more."""

FEASIBLE = 1e-7
"""The answers count as kept up to this share of the largest demand; integers decide afterwards."""

STILL = 1e-6
"""Moves up to this are taken for none when a solution is made exact."""


@dataclass(frozen=True, eq=False)
class World:
    """Class totals X + moves / denominator of a data set that gives the same answers.

    Attributes
    ----------
    moves : ndarray of int, shape (classes,)
    denominator : int
    """

    moves: Ints
    denominator: int = 1


@dataclass(frozen=True, eq=False)
class Box:
    """Bounds on the moves of classes; -`FREE` and `FREE` where there is none."""

    lower: Ints
    upper: Ints

    def contains(self, world: World) -> Bools:
        """Which classes keep their bounds."""
        below = (self.lower > -FREE) & (world.moves < times(self.lower, world.denominator))
        above = (self.upper < FREE) & (world.moves > times(self.upper, world.denominator))
        return np.asarray(~(below | above))


def times(bounds: Ints, factor: int | Ints) -> Ints:
    return np.asarray(np.where(np.abs(bounds) >= FREE, 0, bounds) * factor, np.int64)


def demands(need: Needs, target: Target, whole: Box, elsewhere: Ints) -> Box:
    """Return the bounds of a world that protects a target (see `tabprotect.query.audit.needs`).

    Parameters
    ----------
    need : Needs
    target : Target
    whole : Box
        What the known bounds allow, or the bounds of a world that protects other targets already.
    elsewhere : ndarray of int
        Further classes with records of the target's unit; these may not move against its side.
    """
    # classes outside all query sets do not move: nobody knows anything of them
    still = (whole.lower == 0) & (whole.upper == 0)
    least = np.where(still, 0, -need.room)
    least[elsewhere] = np.maximum(least[elsewhere], np.where(still, 0, need.beside)[elsewhere])
    least[target.classes] = np.maximum(least[target.classes], target.needs)
    if need.side > 0:
        return Box(np.maximum(whole.lower, least), whole.upper)
    return Box(whole.lower, np.minimum(whole.upper, -least))


@dataclass(eq=False)
class Programme:
    """Finds worlds: moves d with M d = 0 inside a box, of least sum of absolute moves.

    The answer of the linear programme is a proposal; a world is returned only after integers have shown that it has
    all properties.

    Parameters
    ----------
    M : csr_array of int, shape (queries, classes)
    box : Box
        The known bounds.
    exact : int
        See `tabprotect.query.audit.options.Options`.
    """

    M: sparse.csr_array
    box: Box
    exact: int = DEFAULTS.exact
    iterations: int = 0
    _lp: LinearProgram | None = field(default=None, init=False, repr=False)

    def find(self, box: Box, most_iterations: int, also: tuple[Ints, int] | None = None) -> World | None:
        """Return a world inside a box, or None where none was found.

        Parameters
        ----------
        box : Box
        most_iterations : int
            Work, in iterations of a small programme.
        also : tuple of (ndarray of int, int), optional
            Classes whose moves add up to at least so much (at most, if it is negative).
        """
        if np.any(box.lower > box.upper):
            return None
        if also is not None or self._lp is None:
            self.iterations += self.M.nnz // SETTING_UP
        unit = self._unit(box, also)
        z = self._solve(box, unit, most_iterations, also)
        if z is None:
            return None
        world = self._exactly(z * unit, box, also)
        return world if world is not None and _adds_up(world, also) else None

    def duals(self, box: Box, most_iterations: int) -> Floats | None:
        """Return duals of the answers where no moves inside a box keep them; all 0 where some do; None at the limit.

        The least sum of |M d| is looked for. With its duals y a class j that is not among these can lessen it only if
        its column has M_j y > 0 and it can rise, or M_j y < 0 and it can fall.
        """
        if np.any(box.lower > box.upper):
            return None
        unit, (m, n) = self._unit(box, None), self.M.shape
        lower = np.where(box.lower <= -FREE, -np.inf, box.lower / unit)
        upper = np.where(box.upper >= FREE, np.inf, box.upper / unit)
        missed = sparse.eye_array(m)
        lp = LinearProgram(
            sparse.hstack([self.M, missed, -missed]),
            np.zeros(m),
            np.zeros(m),
            np.r_[lower, np.zeros(2 * m)],
            np.r_[upper, np.full(2 * m, np.inf)],
            np.r_[np.zeros(n), np.ones(2 * m)],
        )
        one = 1 + self.M.nnz // ITERATING
        solution = lp.solve(max_iterations=most_iterations // one)
        self.iterations += SOLVE + one * solution.iterations
        if solution.status != "optimal":
            return None
        return solution.duals if solution.objective > FEASIBLE else np.zeros(m)

    def _unit(self, box: Box, also: tuple[Ints, int] | None) -> float:
        wanted = np.r_[box.lower[box.lower > 0], -box.upper[box.upper < 0]]
        if also is not None:
            wanted = np.r_[wanted, abs(also[1])]
        return float(max(1, wanted.max(initial=0)))

    def _solve(self, box: Box, unit: float, most: int, also: tuple[Ints, int] | None) -> Floats | None:
        n = self.M.shape[1]
        lower = np.where(box.lower <= -FREE, -np.inf, box.lower / unit)
        upper = np.where(box.upper >= FREE, np.inf, box.upper / unit)
        # d = p - q with p, q >= 0
        p = np.maximum(lower, 0), np.maximum(upper, 0)
        q = np.maximum(-upper, 0), np.maximum(-lower, 0)
        bounds = np.r_[p[0], q[0]], np.r_[p[1], q[1]]
        if also is not None or self._lp is None:
            rows: Any = sparse.csr_array(sparse.hstack([self.M, -self.M])).astype(np.float64)
            low = high = np.zeros(rows.shape[0])
            if also is not None:
                some = np.zeros((1, n))
                some[0, also[0]] = np.sign(also[1]) or 1
                extra: Any = sparse.csr_array(np.c_[some, -some])
                rows = sparse.csr_array(sparse.vstack([rows, extra]))
                low, high = np.r_[low, abs(also[1]) / unit], np.r_[high, np.inf]
            lp = LinearProgram(rows, low, high, *bounds, np.ones(2 * n), presolve=n > 2000)
            self._lp = lp if also is None else self._lp
        else:
            lp = self._lp
            lp.set_bounds(np.arange(2 * n), *bounds)
        one = 1 + self.M.nnz // ITERATING
        solution = lp.solve(max_iterations=most // one)
        self.iterations += SOLVE + one * solution.iterations
        if solution.status != "optimal":
            return None
        return np.asarray(solution.x[:n] - solution.x[n:])

    def _exactly(self, z: Floats, box: Box, also: tuple[Ints, int] | None) -> World | None:
        whole = World(np.rint(z).astype(np.int64)) if float(np.abs(z).max(initial=0)) < LIMIT else None
        if whole is not None and self.holds(whole) and box.contains(whole).all() and _adds_up(whole, also):
            return whole
        if self.M.shape[1] > self.exact:
            return None if also is not None else self._where_it_moves(z, box)
        M, lower, upper = self.M, box.lower, box.upper
        if also is not None:  # the sum over these classes is one more unknown
            row = np.zeros((1, len(z) + 1), np.int64)
            row[0, also[0]], row[0, -1] = 1, -1
            nothing: Any = sparse.csr_array((M.shape[0], 1), dtype=np.int64)
            last: Any = sparse.csr_array(row)
            M = sparse.csr_array(sparse.vstack([sparse.hstack([M, nothing]), last]))
            lower = np.r_[lower, also[1] if also[1] > 0 else -FREE]
            upper = np.r_[upper, also[1] if also[1] < 0 else FREE]
            z = np.r_[z, z[also[0]].sum()]
        finite = lower > -FREE, upper < FREE
        inside = Polyhedron(M, np.where(finite[0], lower, 0), np.where(finite[1], upper, 0), *finite, 1)
        point = inside.vertex(z, [(np.zeros(len(z), np.int64), np.ones(len(z), bool))])
        if point is None:
            return None
        return self._checked(RationalVector(point.numerators[: len(box.lower)], point.denominator), box)

    def _where_it_moves(self, z: Floats, box: Box) -> World | None:
        """Make a solution over many classes exact with all that do not move in it held."""
        some = np.flatnonzero(np.abs(z) > STILL)
        if not 0 < len(some) <= self.exact:
            return None
        part = Programme(self.M[:, some], Box(self.box.lower[some], self.box.upper[some]), self.exact)
        world = part._exactly(z[some], Box(box.lower[some], box.upper[some]), None)
        if world is None:
            return None
        moves = np.zeros(len(z), np.int64)
        moves[some] = world.moves
        whole = World(moves, world.denominator)
        return whole if self.holds(whole) and box.contains(whole).all() else None

    def _checked(self, point: RationalVector, box: Box) -> World | None:
        largest = max(int(np.abs(box.lower[box.lower > -FREE]).max(initial=0)), 1)
        largest = max(largest, int(np.abs(box.upper[box.upper < FREE]).max(initial=0)))
        if point.numerators.dtype == object or largest * point.denominator >= LIMIT:
            return None
        world = World(point.numerators, point.denominator)
        return world if self.holds(world) and box.contains(world).all() else None

    def holds(self, world: World) -> bool:
        """Whether a world gives all the same answers, in integers."""
        if float(np.abs(world.moves.astype(np.float64)).sum()) >= LIMIT:
            return False
        return not np.any(self.M @ world.moves)


def _adds_up(world: World, also: tuple[Ints, int] | None) -> bool:
    if also is None:
        return True
    moved = int(world.moves[also[0]].sum())
    wanted = also[1] * world.denominator
    return moved >= wanted if also[1] > 0 else moved <= wanted
