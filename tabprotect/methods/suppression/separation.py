"""Find inequalities that a point violates, by playing the intruder on one core."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.methods.suppression.cuts import Capacity, Cover, capacity, potential, reduced
from tabprotect.methods.suppression.presolve import Core
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.rows import Row

__all__ = ["Attack", "Attacks", "Found"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
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


class Attacks:
    """Attack programmes of one core: max side z_p subject to A z = 0 and bounds that a point x allows.

    All programmes are stated in the unit of the level, so that levels of 10^-3 and of 10^9 are solved alike.
    """

    def __init__(self, core: Core, budget: Budget) -> None:
        self.core = core
        self.budget = budget
        n, m = core.n, core.A.shape[0]
        self._all = np.arange(n, dtype=np.int32)
        zeros = np.zeros(n)
        self._lp = LinearProgram(core.A, np.zeros(m), np.zeros(m), zeros, zeros, zeros, maximise=True, method="dual")
        self._cost_at = -1
        self.count = 0

    def attack(
        self, cell: int, side: int, level: float, room_down: Floats, room_up: Floats, *, boxed: bool = False
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
        """
        lp = self._lp
        lower, upper = -room_down / level, room_up / level
        if not boxed:
            lower[cell], upper[cell] = (-np.inf, 1.0) if side > 0 else (-1.0, np.inf)
        lp.set_bounds(self._all, lower, upper)
        if self._cost_at >= 0 and self._cost_at != cell:
            lp.set_costs([self._cost_at], [0.0])
        lp.set_costs([cell], [float(side)])
        self._cost_at = cell
        solution = lp.solve()
        self.count += 1
        self.budget.spend(solution.iterations + 1)
        return Attack(side * float(solution.x[cell]), solution.x, solution.duals)


class Separation:
    """Capacity cuts of one core that a point violates.

    Parameters
    ----------
    core : Core
    budget : Budget
    """

    def __init__(self, core: Core, budget: Budget) -> None:
        self.core = core
        self.attacks = Attacks(core, budget)
        self.budget = budget
        self._known = [np.zeros(core.n, dtype=bool) for _ in core.attackers]
        for mask, cells in zip(self._known, core.attackers, strict=True):
            mask[cells] = True

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

    def cut(self, t: int, x: Floats, cap: float = np.inf, rounds: int = 0) -> Found | None:
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
                attack = self.attacks.attack(p, side, level, down, up)
                if attack.reach >= 1.0 - 1e-9:
                    return best
                d = reduced(core, p, side, attack.multipliers)
                if d[p] != 0.0:
                    return best
                row = capacity(core, potential(core, d, known), p, level)
                origin = Capacity(
                    t, k, attack.multipliers if side > 0 else None, attack.multipliers if side < 0 else None
                )
            else:
                rise = self.attacks.attack(p, 1, level, down, up, boxed=True)
                fall = self.attacks.attack(p, -1, level, down, up, boxed=True)
                if rise.reach + fall.reach >= 1.0 - 1e-9:
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
