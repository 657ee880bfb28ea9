"""Moves that answer single questions: as far as a level, with room to spare where a vertex stays inexact, or integral.

Programmes are solved in floating point; what they give goes into a store of exact witnesses, or it does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import optimize, sparse

from tabprotect.attack.answers import Answers, View
from tabprotect.attack.attackers import AttackProgramme, unit_of
from tabprotect.attack.components import components
from tabprotect.attack.exact_problem import ExactProblem
from tabprotect.attack.keys import Key
from tabprotect.attack.pool import Deviation
from tabprotect.attack.region import Region, open_region
from tabprotect.attack.witness import Witnesses
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LpSolution
from tabprotect.solver.tolerances import LEVEL, MULTIPLIER, TIGHTENING

__all__ = ["FEW", "Moves"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

MILP_NODES = 5_000
"""Limit of the search for one integral witness; without one the pattern is only safe for real numbers."""

FEW = 5
"""So many open questions are answered one by one."""

_CAPS = (2.0**10, 2.0**20, np.inf)
"""Deviations in which no cell moves further than so many levels come first: with bounds of all sizes the simplex
method may go on for minutes where it takes a tenth of a second then."""

FORCED = 10
"""So many times the cells that stop another one with room to spare are let go to their ends."""

_SLIDING = 1000
"""An end of a sliding level is sought within this many levels."""


class Moves:
    """Programmes for the questions about one pattern.

    Parameters
    ----------
    exact : ExactProblem
    hidden : ndarray of bool
        Hidden cells that can move.
    judge : Witnesses
        Says what attackers know.
    budget : Budget
    store : Answers
        Gets what is found.
    keep : callable
        Stores exact witnesses near deviations.
    """

    def __init__(
        self,
        exact: ExactProblem,
        hidden: Bools,
        judge: Witnesses,
        budget: Budget,
        store: Answers,
        keep: Callable[[Sequence[Deviation]], object],
    ) -> None:
        self.exact = exact
        self.problem = exact.problem
        self.hidden = hidden
        self.judge = judge
        self.budget = budget
        self.store = store
        self._keep = keep
        self._region: tuple[bytes, Region] | None = None

    def roomy(self, known: Ints, left: Ints, view: View, least: int = FEW) -> None:
        """Answer many levels at once, and with room to spare, as long as that answers half of them.

        Parameters
        ----------
        known : ndarray of int
            Cells that one intruder knows, or several of them together.
        left : ndarray of int
            Questions that are open.
        view : View
            What the store answers to whoever knows these cells.
        least : int
            Fewer questions are left to others.
        """
        q, tight = self.exact.questions, TIGHTENING[0]
        region = self._without(known)
        inside = region.places(q.cell[left])[1]
        asked = left[inside & (q.side[left] != 0)]
        if len(asked) < least:
            return
        cells, need = region.cells, float(q.need[asked].min())
        down, up = self.problem.down[cells] * (1 - tight), self.problem.up[cells] * (1 - tight)
        columns = np.arange(len(cells))
        programme = AttackProgramme(region, columns, down, up, unit_of(need), _CAPS[1] * need)
        side, idle = 1, 0
        while idle < 2 and not self.budget.exhausted:
            open_ = np.array([k for k in asked.tolist() if q.side[k] == side and not view.holds(k)], np.int64)
            if not len(open_):
                idle, side = idle + 1, -side
                continue
            open_ = open_[np.argsort(q.cell[open_])]
            place = np.searchsorted(cells, q.cell[open_])
            solution = programme.solve(place, np.full(len(place), side), q.need[open_] * (1 + tight), self.budget)
            if solution.status == "optimal":
                moved = np.abs(solution.x) > MULTIPLIER
                z = solution.x[moved] * programme.unit
                for part in components(self.problem, cells[moved]):
                    at = np.searchsorted(cells[moved], part.cells)
                    if (witness := self.exact.slackened(Deviation(part.cells, z[at]))) is not None:
                        self.store.add(witness)
            held = sum(view.holds(k) for k in open_.tolist())
            idle = 0 if 2 * held > len(open_) else idle + 1
            side = -side

    def furthest(self, key: Key, question: int, side: int, need: float, view: View) -> tuple[float, bool]:
        """Move one cell as far as its level; return how far it got, and whether that is the last word."""
        region = self._without(self.judge.known(key.attacker))
        place = int(np.searchsorted(region.cells, key.cell))
        if place == len(region.cells) or region.cells[place] != key.cell:
            return 0.0, True
        columns = np.flatnonzero(region.component == region.component[place])
        cells, reached = region.cells[columns], 0.0
        # what is at a cap is at no bound of the problem: where there is no room to spare, the last try has none
        for tight, caps in ((0.0, _CAPS), *((t, _CAPS) for t in TIGHTENING), (0.0, (np.inf,))):
            programme, solution = self._with_room(region, columns, place, key, side, need, tight, caps)
            if solution.status != "optimal":
                continue
            short = key.side != 0 and solution.objective * (1 + tight) < 1 - LEVEL
            if tight == 0.0:
                reached = solution.objective * need
            elif short:
                continue
            z = solution.x * programme.unit
            if self.problem.integer:
                self._keep([self._piece(cells, z, key.cell)])
                if view.holds(question):
                    return reached, True
                return self._integral(cells, int(np.searchsorted(columns, place)), side, key)
            piece = self._piece(cells, z, key.cell)
            if tight == 0.0:
                self._keep([piece])
            elif (witness := self.exact.slackened(piece)) is not None:
                self.store.add(witness)
            if short or view.holds(question):
                break
        if self.problem.integer or view.holds(question) or self.budget.exhausted:
            return reached, False
        found = self.exact.furthest(cells, key.cell, side)
        if found is None:
            return reached, False
        witness, _ = found
        self.store.add(witness)
        place = int(np.searchsorted(witness.cells, key.cell))
        moved = place < len(witness.cells) and witness.cells[place] == key.cell
        return abs(float(witness.z[place])) if moved else 0.0, True

    def _with_room(
        self, region: Region, columns: Ints, place: int, key: Key, side: int, need: float, tight: float,
        caps: tuple[float, ...],
    ) -> tuple[AttackProgramme, LpSolution]:  # fmt: skip
        """Move one cell beyond its level by a share `tight`, while no cell goes to the last such share of its bounds.

        What stops it short of its level has to go to its very end: then the others alone have room to spare.
        """
        cells, target = region.cells[columns], np.searchsorted(columns, [place])
        room, level = np.full(len(cells), 1 - tight), np.array([need * (1 + tight)])
        for _ in range(FORCED if tight and key.side else 1):
            down, up = self.problem.down[cells] * room, self.problem.up[cells] * room
            for cap in caps:
                programme = AttackProgramme(region, columns, down, up, unit_of(need), cap * need)
                solution = programme.solve(target, np.array([side]), level, self.budget, both=key.side == 0)
                reached = solution.status == "optimal" and solution.objective * (1 + tight) >= 1 - LEVEL
                if reached:
                    break
            stops = (np.abs(solution.reduced) > MULTIPLIER) & (room < 1)
            if reached or solution.status != "optimal" or not stops.any():
                break
            room[stops] = 1.0
        return programme, solution

    def _integral(self, cells: Ints, target: int, side: int, key: Key) -> tuple[float, bool]:
        """Move one cell by integral deviations only; it may have to go beyond its level."""
        need = int(self.exact.need[key.side][key.cell])
        low, high = -self.problem.down[cells], self.problem.up[cells]
        if key.side and need <= (high[target] if side > 0 else -low[target]):
            beyond = (low.copy(), high.copy())
            beyond[0 if side > 0 else 1][target] = side * need
            z, certain = self._milp(cells, *beyond, target, side)
            if z is not None or not certain:
                return (0.0 if z is None else abs(float(z[target]))), certain
        reach = need - 1 if key.side else _SLIDING * need
        low[target], high[target] = max(low[target], -reach), min(high[target], reach)
        z, certain = self._milp(cells, low, high, target, -side)
        return (0.0 if z is None else abs(float(z[target]))), certain and z is not None

    def _milp(self, cells: Ints, low: Floats, high: Floats, target: int, cost: int) -> tuple[Floats | None, bool]:
        """Minimise cost * z[target] over integral deviations; store what is found, say whether that is final."""
        objective = np.zeros(len(cells))
        objective[target] = cost
        A = sparse.csc_array(self.exact.polyhedron.A[:, cells], dtype=np.float64)
        result = optimize.milp(
            objective,
            integrality=np.ones(len(cells), dtype=np.int64),
            bounds=optimize.Bounds(low, high),
            constraints=optimize.LinearConstraint(A, 0, 0),
            options={
                "node_limit": MILP_NODES,
                "time_limit": self.budget.seconds_left,
                "mip_rel_gap": 0.0,
            },
        )
        if result.x is None:
            return None, result.status == 2
        z = np.rint(result.x)
        self._keep([self._piece(cells, z, int(cells[target]))])
        return z, result.status == 0

    def _without(self, known: Ints) -> Region:
        """Return what is open to whoever knows some cells."""
        key = known.tobytes()
        if self._region is None or self._region[0] != key:
            hidden = self.hidden.copy()
            hidden[known] = False
            region = open_region(sparse.csc_array(self.problem.system.A), np.flatnonzero(hidden))
            self._region = (key, region)
        return self._region[1]

    def _piece(self, cells: Ints, z: Floats, cell: int) -> Deviation:
        """Leave out all cells that do not move, or not together with the one given."""
        moved = np.abs(z) > MULTIPLIER
        cells, z = cells[moved], z[moved]
        for part in components(self.problem, cells):
            if cell in part.cells:
                return Deviation(part.cells, z[np.searchsorted(cells, part.cells)])
        return Deviation(cells[:0], z[:0])
