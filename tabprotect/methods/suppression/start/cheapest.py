"""The cheapest deviation that answers one question, and the cells that must be hidden for it."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.attackers import unit_of
from tabprotect.attack.keys import Key, needed
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.errors import SolverError
from tabprotect.methods.suppression.options import DEFAULTS, ConstructionOptions
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram, LpSolution
from tabprotect.solver.tolerances import LEVEL, LP_FEASIBILITY, MULTIPLIER

__all__ = ["Cheapest"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_CAPS = (2.0**20, 2.0**36, np.inf)
"""Bounds as multiples of the level, widened only when nothing is found."""


class Cheapest:
    """Minimise sum_i cost_i |z_i| over the deviations that bring one cell to its level.

    This is the linear relaxation of hiding the fewest cells: Kelly, Golden and Assad (1992); Castro (2002).
    All programmes are stated in a unit near the level and solved cold by the dual simplex method, for which the
    zero deviation is the natural start: warm bases were ten times slower on strongly linked tables.

    Parameters
    ----------
    judge : Witnesses
        Of the problem in question.
    options : ConstructionOptions
    """

    def __init__(self, judge: Witnesses, options: ConstructionOptions = DEFAULTS.construction) -> None:
        self._options = options
        problem = judge.problem
        self._judge = judge
        self._down, self._up = problem.down, problem.up
        self._fixed = ~problem.may_hide
        self._n = problem.n_cells
        self._lps: dict[str, LinearProgram] = {}
        self._order = np.arange(2 * self._n)
        self.solved = 0

    def _lp(self, method: str) -> LinearProgram:
        if method not in self._lps:
            A = sparse.csc_array(self._judge.problem.system.A)
            zeros, rows = np.zeros(2 * self._n), np.zeros(A.shape[0])
            self._lps[method] = LinearProgram(
                sparse.hstack((A, -A)),
                rows,
                rows,
                zeros,
                zeros,
                zeros,
                method="ipm" if method == "ipm" else "dual",
                presolve=method == "presolve",
                tolerance=LP_FEASIBILITY,
            )
        return self._lps[method]

    def find(
        self, key: Key, cost: Floats, budget: Budget, *, allowed: Bools | None = None
    ) -> tuple[Deviation, ...] | None:
        """Return the cheapest deviation for a question, or None when there is none.

        Parameters
        ----------
        key : Key
        cost : ndarray of float, shape (cells,)
            Cost per unit of deviation (>= 0); 0 for cells that are hidden already.
        budget : Budget
        allowed : ndarray of bool, optional
            Cells that may move; by default all that may be hidden.

        Returns
        -------
        tuple of Deviation or None
            One; an upper and a lower one for a sliding level. Empty when a limit ended the work.
        """
        if key.side:
            return self._one(key, key.side, needed(self._judge.problem, key), cost, budget, allowed)
        return self._slide(key, cost, budget, allowed)

    def _slide(self, key: Key, cost: Floats, budget: Budget, allowed: Bools | None) -> tuple[Deviation, ...] | None:
        """Up as far as the cell goes, then down for the rest of the width; or the other way round."""
        need = needed(self._judge.problem, key)
        nothing = Deviation(np.zeros(0, np.int64), np.zeros(0))
        best: tuple[Deviation, ...] | None = None
        price = math.inf
        for first, room in ((1, self._up[key.cell]), (-1, self._down[key.cell])):
            start, rest, paid = nothing, need, cost
            if room > 0:
                found = self._one(key, first, min(need, float(room)), cost, budget, allowed, most=True)
                if not found:
                    return found
                start = found[0]
                rest -= float(np.abs(start.z[start.cells == key.cell]).sum())
                paid = cost.copy()
                paid[start.cells] = 0.0
            end = nothing
            if rest > LEVEL * need:
                found = self._one(key, -first, rest, paid, budget, allowed)
                if found is None:
                    continue
                if not found:
                    return found
                end = found[0]
            total = float(cost[np.union1d(start.cells, end.cells)].sum())
            if total < price:
                price, best = total, (start, end) if first > 0 else (end, start)
        return best

    def _one(
        self,
        key: Key,
        side: int,
        level: float,
        cost: Floats,
        budget: Budget,
        allowed: Bools | None,
        *,
        most: bool = False,
    ) -> tuple[Deviation] | tuple[()] | None:
        """Reach one level on one side; with `most`, as much of it as can be reached."""
        known = self._judge.known(key.attacker)
        unit = unit_of(level)
        shut = self._fixed if allowed is None else self._fixed | ~allowed
        n, p = self._n, key.cell
        scale = cost[cost > 0].mean() if (cost > 0).any() else 1.0
        price = np.concatenate((cost, cost)) / scale
        for cap in _CAPS:
            up, down = np.minimum(self._up, cap * level) / unit, np.minimum(self._down, cap * level) / unit
            up[shut], down[shut] = 0.0, 0.0
            up[known], down[known] = 0.0, 0.0
            room = up[p] if side > 0 else down[p]
            goal = min(level / unit, room)
            if goal < level / unit and not most:
                return None
            upper = np.concatenate((up, down))
            lower = np.zeros(2 * n)
            target, other = (p, n + p) if side > 0 else (n + p, p)
            lower[target], upper[target], upper[other] = goal, goal, 0.0
            if most:
                lower[target] = 0.0
                price[target] = -1e6 * max(1.0, price.max())
            solution = self._solve(lower, upper, price, budget)
            if solution is None:
                return ()
            if solution.status == "optimal":
                z = (solution.x[:n] - solution.x[n:]) * unit
                cells = np.flatnonzero(np.abs(z) > MULTIPLIER * unit)
                return (Deviation(cells, z[cells]),)
            if not ((up >= cap * level / unit) | (down >= cap * level / unit)).any():
                return None
        return None

    def _solve(self, lower: Floats, upper: Floats, price: Floats, budget: Budget) -> LpSolution | None:
        """Dual simplex; interior point when that takes long; None at a limit."""
        patience = self._options.simplex_iterations + self._options.simplex_iterations * self._n // 5000
        self.solved += 1
        for method in ("dual", "ipm", "presolve"):
            lp = self._lp(method)
            lp.set_bounds(self._order, lower, upper)
            lp.set_costs(self._order, price)
            lp.clear_basis()
            left, seconds = budget.work_left, budget.seconds_left
            most = min(left, patience) if method == "dual" else left
            try:
                solution = lp.solve(
                    max_iterations=None if math.isinf(most) else int(most),
                    max_seconds=None if math.isinf(seconds) else seconds,
                )
            except SolverError:
                if method == "presolve":
                    raise
                continue
            budget.spend(max(1, solution.iterations))
            if solution.status in ("optimal", "infeasible"):
                return solution
            if budget.exhausted:
                return None
        return None
