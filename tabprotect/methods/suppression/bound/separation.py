"""Find inequalities that a point violates, by playing the intruder on one core."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.suppression.bound.cuts import Capacity, Cover, capacity, potential, reduced
from tabprotect.methods.suppression.options import DEFAULTS, SeparationOptions
from tabprotect.methods.suppression.presolve.core import Core
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.mip.rows import Row
from tabprotect.solver.tolerances import REACHED

__all__ = ["Attack", "Attacks", "Found"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Attack(NamedTuple):
    """What an attack found, in the unit of the level (level = 1).

    Attributes
    ----------
    reach : float
        How far the cell moves (at most the level).
    z : ndarray
        The deviation.
    multipliers : ndarray
        Duals of the equations.
    """

    reach: float
    z: Floats
    multipliers: Floats


class Found(NamedTuple):
    """A violated inequality and its origin."""

    row: Row
    origin: Capacity | Cover
    slack: float


class _Programme:
    """max side z_p over the equations `rows` of a core and the cells in them."""

    def __init__(self, core: Core, rows: Ints, cell: int | None) -> None:
        block = sparse.csr_array(core.A[rows]) if len(rows) < core.A.shape[0] else core.A
        self.rows = rows
        self.cells = np.arange(core.n) if cell is None else np.union1d(block.indices, [cell]).astype(np.int64)
        self.entries = int(block.nnz)
        place = np.full(core.n, -1)
        place[self.cells] = np.arange(len(self.cells))
        local = sparse.csr_array((block.data, place[block.indices], block.indptr), shape=(len(rows), len(self.cells)))
        zeros, nothing = np.zeros(len(self.cells)), np.zeros(len(rows))
        self.lp = LinearProgram(local, nothing, nothing, zeros, zeros, zeros, maximise=True, method="primal")
        self.columns = np.arange(len(self.cells), dtype=np.int32)
        self.at = -1
        self.place = place if cell is None else None
        self.own = -1 if cell is None else int(place[cell])

    def aim(self, cell: int, side: int) -> int:
        """Set the objective and return the column of the cell."""
        column = self.own if self.place is None else int(self.place[cell])
        if self.at >= 0 and self.at != column:
            self.lp.set_costs([self.at], [0.0])
        self.lp.set_costs([column], [float(side)])
        self.at = column
        return column


class Attacks:
    """Attack programmes of one core: max side z_p subject to A z = 0 and bounds that a point x allows.

    All programmes are stated in the unit of the level, so that levels of 10^-3 and of 10^9 are solved alike.
    """

    def __init__(self, core: Core, budget: Budget, options: SeparationOptions = DEFAULTS.separation) -> None:
        self.core = core
        self.budget = budget
        self._options = options
        self._links = sparse.csr_array((np.ones(core.A.nnz), core.A.indices, core.A.indptr), shape=core.A.shape)
        self._whole: _Programme | None = None
        self._local: dict[tuple[int, int], _Programme] = {}
        self._entries = 0
        self.count = 0

    def programme(self, cell: int, radius: int) -> _Programme:
        """Return the programme of the equations around a cell."""
        if (cell, radius) in self._local:
            return self._local[cell, radius]
        m = self.core.A.shape[0]
        rows = self._around(cell, radius) if radius else None
        if rows is None or len(rows) > 0.8 * m:
            self._whole = self._whole or _Programme(self.core, np.arange(m), None)
            self._local[cell, radius] = self._whole
            return self._whole
        programme = _Programme(self.core, rows, cell)
        if self._entries < self._options.kept_entries:
            self._entries += programme.entries
            self._local[cell, radius] = programme
        return programme

    def _around(self, cell: int, most: int) -> Ints:
        """Equations of the cell, those of the cells in them, and so on, until there are enough."""
        near = np.zeros(self.core.A.shape[0])
        seen = np.zeros(self.core.n)
        seen[cell] = 1.0
        reached, count = 1, 0
        while count < reached and near.sum() < most:
            count = reached
            near = np.minimum(np.asarray(self._links @ seen), 1.0)
            seen = np.minimum(np.asarray(self._links.T @ near), 1.0)
            reached = int(seen.sum())
        return np.flatnonzero(near)

    def attack(
        self,
        cell: int,
        side: int,
        level: float,
        room_down: Floats,
        room_up: Floats,
        *,
        boxed: bool = False,
        radius: int = 0,
    ) -> Attack:
        """Solve one attack.

        Parameters
        ----------
        cell, side, level :
            What is attacked, how, and how far is enough.
        room_down, room_up : ndarray
            Largest deviations downwards and upwards (>= 0, the unit of the cells).
        boxed : bool
            Keep the bounds of the cell itself (sliding levels); otherwise only the level stops it.
        radius : int
            How many equations around the cell hold at least; 0 for all. Cells in no other equation do not move.
        """
        programme = self.programme(cell, radius)
        lower, upper = -room_down[programme.cells] / level, room_up[programme.cells] / level
        column = programme.aim(cell, side)
        if not boxed:
            lower[column], upper[column] = (-np.inf, 1.0) if side > 0 else (-1.0, np.inf)
        programme.lp.set_bounds(programme.columns, lower, upper)
        solution = programme.lp.solve(max_seconds=None if math.isinf(left := self.budget.seconds_left) else left)
        self.count += 1
        self.budget.spend(solution.iterations + 1)
        z, multipliers = np.zeros(self.core.n), np.zeros(self.core.A.shape[0])
        z[programme.cells] = solution.x
        multipliers[programme.rows] = solution.duals
        reach = side * float(solution.x[column]) if solution.status == "optimal" else np.inf
        return Attack(reach, z, multipliers)


class Separation:
    """Capacity cuts of one core that a point violates.

    Parameters
    ----------
    core : Core
    budget : Budget
    options : SeparationOptions
    """

    def __init__(self, core: Core, budget: Budget, options: SeparationOptions = DEFAULTS.separation) -> None:
        self.core = core
        self.attacks = Attacks(core, budget, options)
        self.budget = budget
        self._known = [np.zeros(core.n, dtype=bool) for _ in core.attackers]
        for mask, cells in zip(self._known, core.attackers, strict=True):
            mask[cells] = True
        t = core.targets
        at = list(zip(t.cell.tolist(), t.attacker.tolist(), t.side.tolist(), strict=True))
        where = {key: t for t, key in enumerate(at)}
        self.opposite = [where.get((cell, k, -side), -1) if side else -1 for cell, k, side in at]
        """For every target the same cell and attacker on the other side; -1 without."""

    def _room(self, t: int, x: Floats, cap: float) -> tuple[Floats, Floats]:
        """Largest deviations that x allows when no cell may move more than cap levels."""
        core, targets = self.core, self.core.targets
        most = cap * targets.level[t]
        down, up = np.minimum(core.down, most), np.minimum(core.up, most)
        with np.errstate(invalid="ignore"):  # an infinite bound where x = 0
            down, up = np.where(x > 0, down * x, 0.0), np.where(x > 0, up * x, 0.0)
        if targets.side[t] == 0:
            p = targets.cell[t]
            down[p], up[p] = core.down[p], core.up[p]
        if (k := int(targets.attacker[t])) >= 0:
            down[self._known[k]] = 0.0
            up[self._known[k]] = 0.0
        return down, up

    def radii(self, t: int, radii: Sequence[int]) -> list[int]:
        """Return those radii around a target that differ in the equations that they see."""
        cell = int(self.core.targets.cell[t])
        return list({id(self.attacks.programme(cell, radius)): radius for radius in reversed(radii)}.values())[::-1]

    def cut(self, t: int, x: Floats, cap: float = np.inf, rounds: int = 0, radius: int = 0) -> Found | None:
        """Return a capacity cut for target t that x violates, if this attack shows one.

        The attack may be capped: then no cell moves more than `cap` levels. The multipliers are those of the capped
        attack, the cut is made from the true bounds, so the cap steers the search and never the validity. A cell whose
        coefficient reaches the right-hand side pays in full
        whatever happens, so further `rounds` look for better multipliers with
        such cells free of charge.
        """
        core, targets = self.core, self.core.targets
        p, side, level = int(targets.cell[t]), int(targets.side[t]), float(targets.level[t])
        k = int(targets.attacker[t])
        known = core.attackers[k] if k >= 0 else None
        down, up = self._room(t, x, cap)
        best: Found | None = None
        for _ in range(rounds + 1):
            if side:
                attack = self.attacks.attack(p, side, level, down, up, radius=radius)
                if attack.reach >= 1.0 - REACHED:
                    return best
                d = reduced(core, p, side, attack.multipliers)
                if d[p] != 0.0:
                    return best
                row = capacity(core, potential(core, d, known), p, level)
                origin = Capacity(
                    t, k, attack.multipliers if side > 0 else None, attack.multipliers if side < 0 else None
                )
            else:
                rise = self.attacks.attack(p, 1, level, down, up, boxed=True, radius=radius)
                fall = self.attacks.attack(p, -1, level, down, up, boxed=True, radius=radius)
                if rise.reach + fall.reach >= 1.0 - REACHED:
                    return best
                both = potential(core, reduced(core, p, 1, rise.multipliers), known)
                both += potential(core, reduced(core, p, -1, fall.multipliers), known)
                row = capacity(core, both, p, level, kept=float(both[p]))
                origin = Capacity(t, k, rise.multipliers, fall.multipliers)
            if row is None:
                return best
            found = Found(row, origin, row.slack(x))
            if best is not None and found.slack >= best.slack - 1e-6:
                return best
            best = found
            if rounds:
                full = row.index[row.values >= 1.0]
                if not len(full):
                    return best
                down[full], up[full] = 0.0, 0.0
        return best

    def mirror(self, found: Found, x: Floats) -> Found | None:
        """Return the cut of the opposite target whose multipliers are those of a cut, turned round."""
        origin, core = found.origin, self.core
        if not isinstance(origin, Capacity) or (t := self.opposite[origin.target]) < 0:
            return None
        p, side, level = int(core.targets.cell[t]), int(core.targets.side[t]), float(core.targets.level[t])
        multipliers = origin.up if side < 0 else origin.down
        assert multipliers is not None
        known = core.attackers[origin.attacker] if origin.attacker >= 0 else None
        row = capacity(core, potential(core, reduced(core, p, side, -multipliers), known), p, level)
        if row is None:
            return None
        turned = Capacity(t, origin.attacker, -multipliers if side > 0 else None, -multipliers if side < 0 else None)
        return Found(row, turned, row.slack(x))
