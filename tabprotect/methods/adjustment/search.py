"""Good senses for many primaries: plain patterns, a rounded relaxation, turns, fix-and-relax, block-coordinate descent.

Gonzalez and Castro (2011), "A heuristic block coordinate descent approach for controlled tabular adjustment", Computers
& Operations Research 38; fix-and-relax: Baena, Castro and Gonzalez (2015), the same journal 57.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.adjustment.descent import Session
from tabprotect.methods.adjustment.fixed import solve_fixed
from tabprotect.methods.adjustment.options import DEFAULTS
from tabprotect.methods.adjustment.programme import Programme
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tolerances import IMPROVEMENT, INTEGRALITY

__all__ = ["Search"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

#: free primaries in one block, at first and at most
_BLOCK = (12, 96)

#: tree nodes for one block or one step of fix-and-relax; then its better of old and new is kept
_NODES = 300

#: squared distances: rounds of weighted absolute ones, and the least size (in levels) that a weight is made of
_SURROGATES = 3
_LEAST_SIZE = 0.05

#: share of the seconds left that one block may take
_SECONDS_SHARE = 0.15

#: share of the primaries that one step of fix-and-relax decides, at least
_SHARE = 0.1

#: for the last linear programme, which may come after the time limit
_FINISH_SECONDS = 2.0


@dataclass
class Search:
    """The best deviations so far, and ways to better ones.

    Attributes
    ----------
    statement : Statement
    budget : Budget
    rng : numpy.random.Generator
    z, senses : ndarray or None
        The best so far.
    cost : float
        Of the best (the caller's unit; inf without one).
    solved : bool
        The best is what `solve_fixed` has for its senses.
    plain_cells : int
        See `tabprotect.methods.adjustment.options.Options`.
    """

    statement: Statement
    budget: Budget
    rng: np.random.Generator
    z: Floats | None = None
    senses: Ints | None = None
    cost: float = np.inf
    solved: bool = False
    tried: set[bytes] = field(default_factory=set)
    plain_cells: int = DEFAULTS.plain_cells

    def offer(self, z: Floats | None, senses: Ints, *, solved: bool = False) -> bool:
        """Take deviations if they are the best; `solved` says that they are the best for these senses."""
        if z is None:
            return False
        cost = self.statement.cost(z)
        if cost >= self.cost * (1 - IMPROVEMENT):
            return False
        self.z, self.senses, self.cost, self.solved = z, senses.copy(), cost, solved
        self.budget.report("adjust", cost=cost)
        return True

    def try_senses(self, senses: Ints) -> bool:
        """Solve for given senses, unless they were tried before."""
        senses = np.where(self.statement.forced != 0, self.statement.forced, senses)
        if senses.tobytes() in self.tried or self.budget.exhausted:
            return False
        self.tried.add(senses.tobytes())
        return self.offer(solve_fixed(self.statement, senses, self.budget).z, senses, solved=True)

    def patterns(self, first: Ints | None = None) -> None:
        """Senses given; all up, all down, alternating by size: for large tables only while there is no answer."""
        st = self.statement
        if first is not None and self.try_senses(first) and st.n > self.plain_cells:
            return
        self.try_senses(np.ones(st.k, np.int64))
        self.try_senses(-np.ones(st.k, np.int64))
        order = np.argsort(st.weights[st.primaries] * np.minimum(st.up, st.down), kind="stable")
        turns = np.ones(st.k, np.int64)
        turns[order[::2]] = -1
        self.try_senses(turns)

    def farthest(self) -> Floats:
        """How far any cell of a better answer can move (the statement's unit); infinite without an answer."""
        st = self.statement
        if self.z is None:
            return np.full(st.n, _FARTHEST * float(np.max(np.where(np.isfinite(st.up), st.up, st.down), initial=1.0)))
        allowed = self.cost / st.objective_unit * (1 + 1e-6)
        with np.errstate(divide="ignore"):
            each = allowed / st.weights
        each = np.sqrt(each) if st.norm == "l2" else each
        return np.where(np.isfinite(each), np.ceil(each), _FARTHEST * max(1.0, float(np.abs(self.z).max(initial=0.0))))

    def fix_and_relax(self, programme: Programme, first: Ints | None = None) -> None:
        """Decide the senses block by block, later ones relaxed, by the programme of each step."""
        st, budget = self.statement, self.budget
        decided = np.zeros(st.k, np.int64)
        order = np.argsort(-st.weights[st.primaries] * np.minimum(st.up, st.down), kind="stable")
        size = max(_BLOCK[0], int(np.ceil(_SHARE * st.k)))
        integer = programme.integer.copy()
        sense = slice(2 * st.n, 2 * st.n + st.k)
        for begin in range(0, st.k, size):
            if budget.exhausted:
                break
            block = order[begin : begin + size]
            programme.integer[:] = False
            programme.integer[sense][block] = True
            answer = programme.solve(budget, senses=decided, seconds=self._seconds(), nodes=_NODES, gap=1e-3)
            if answer.x is None:
                break
            decided[block] = programme.deviations(answer.x)[1][block]
        programme.integer[:] = integer
        if np.all(decided != 0):
            self.try_senses(decided)

    def turns(self, patience: int, ends: float) -> None:
        """Turn primaries round where prices promise a gain, shake, and again; stop after `patience` vain shakes."""
        st = self.statement
        if self.senses is None or self.z is None or st.cones or not st.k:
            return
        for _ in range(_SURROGATES if st.norm == "l2" else 1):
            weights = st.weights * np.maximum(np.abs(self.z), _LEAST_SIZE) if st.norm == "l2" else None
            session = Session(st, self.budget, weights)
            found = session.descend(self.senses, self.rng, ends)
            vain = 0
            while found is not None and vain < patience and not self.budget.exhausted and self.budget.seconds < ends:
                self._take(found)
                next_one = session.descend(session.shaken(found[2], self.rng), self.rng, ends)
                if next_one is not None and next_one[0] < found[0] * (1 - IMPROVEMENT):
                    found, vain = next_one, 0
                else:
                    vain += 1
            if found is not None:
                self._take(found)

    def _take(self, found: tuple[float, Floats, Ints]) -> None:
        if self.statement.norm == "l2":
            self.try_senses(found[2])
        else:
            self.polish(found[1], found[2])

    def blocks(self, programme: Programme, patience: int, ends: float) -> None:
        """Free the senses near one primary after the other, until `patience` vain tries in a row or `ends` seconds."""
        st, budget = self.statement, self.budget
        if self.z is None or self.senses is None or not st.k:
            return
        near = _Neighbourhood(st)
        vain, size = 0, min(_BLOCK[0], st.k)
        while vain < patience and not budget.exhausted and budget.seconds < ends:
            free = near.primaries(int(self.rng.integers(st.k)), size, self.rng)
            answer = programme.solve(
                budget,
                senses=np.where(free, 0, self.senses),
                start=(self.z, self.senses),
                seconds=self._seconds(),
                nodes=_NODES,
            )
            better = answer.x is not None and self.polish(*programme.deviations(answer.x))
            vain = 0 if better else vain + 1
            if vain and vain % 8 == 0:
                size = min(2 * size, _BLOCK[1], st.k)
            if free.all() and answer.status == "optimal":
                break

    def _seconds(self) -> float | None:
        """A share of what the clock leaves; None without a clock."""
        left = self.budget.seconds_left
        return _SECONDS_SHARE * left if np.isfinite(left) else None

    def polish(self, z: Floats, senses: Ints) -> bool:
        """Take a programme's answer; where it is not exact (squares, cones, a time limit) solve for its senses."""
        st = self.statement
        if st.norm == "l2" or st.cones:
            return self.try_senses(senses)
        lower, upper = st.bounds(senses)
        z = np.clip(z, lower, upper)
        if st.step is not None:
            if np.any(np.abs(z - np.rint(z)) > INTEGRALITY):
                return self.try_senses(senses)
            z = np.rint(z)
            off = st.A @ z
            if np.any((off < st.row_lower) | (off > st.row_upper)):
                return self.try_senses(senses)
        return self.offer(z, senses)

    def finish(self) -> None:
        """End at a vertex: an answer put together from blocks is good, but no point that can be found exactly again."""
        if self.senses is not None and self.statement.step is None and not self.solved:
            z = solve_fixed(self.statement, self.senses, Budget(Limits(seconds=_FINISH_SECONDS))).z
            if z is not None and self.statement.cost(z) <= self.cost * (1 + IMPROVEMENT):
                self.z, self.cost = z, self.statement.cost(z)


class _Neighbourhood:
    """Primaries near a primary, equation by equation."""

    def __init__(self, statement: Statement) -> None:
        self.statement = statement
        self.rows = sparse.csr_array(statement.A)
        self.columns = sparse.csc_array(statement.A)

    def primaries(self, centre: int, size: int, rng: np.random.Generator) -> Bools:
        """Return the `size` primaries first met on a walk through equations, in random order ring by ring."""
        st = self.statement
        place = np.full(st.n, -1, np.int64)
        place[st.primaries] = np.arange(st.k)
        chosen = np.zeros(st.k, bool)
        chosen[centre] = True
        cells, seen = np.array([st.primaries[centre]]), np.zeros(self.rows.shape[0], bool)
        while chosen.sum() < size and len(cells):
            rows = np.unique(self.columns[:, cells].indices)
            rows = rows[~seen[rows]]
            seen[rows] = True
            cells = np.unique(self.rows[rows].indices)
            ring = place[cells]
            ring = rng.permutation(ring[(ring >= 0) & ~chosen[ring]])
            chosen[ring[: size - int(chosen.sum())]] = True
        return chosen


#: infinite bounds of cells without weight, as a multiple of the largest level or known deviation
_FARTHEST = 1e4
