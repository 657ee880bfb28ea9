"""Protection by rounding: what an intruder concludes who knows the base and how far cells may be rounded.

He sees v and knows that every true value lies within D of it (D = base (steps + 1)) and within the external bounds, and
that the true table adds up. That is the intruder of cell suppression when all cells are hidden and ``[v - D, v + D]``
are external bounds too, so the audit is the same (Salazar-Gonzalez 2006, "Controlled rounding and cell perturbation",
Mathematical Programming 105). His multipliers give a linear inequality in v: with d = s e_p - A' lambda,

    s z_p = d z <= sum_i max(d_i, 0) U_i(v) + max(-d_i, 0) L_i(v),   U_i = min(upper_i, v_i + D) - a_i  and L_i alike,

and since a minimum is at most either of its parts, the parts that hold at the present v make an inequality for all v.
The interval is closed here, though a cell is never rounded by D itself: levels are reached in the limit. Where values
are known to be integers, D is one less. Where multiples may rise (`rise`), a rounded value may be above the true one by
the whole ``base (steps + 1)``, so that D is that downwards, for integers, too.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Exposure, Witnesses
from tabprotect.methods.rounding.grid import Grid
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import STEP_ROUNDING

__all__ = ["cut", "exposures", "intruder", "reach", "seeing_near", "within_levels"]

Floats = npt.NDArray[np.float64]


def reach(problem: Problem, base: float, steps: int, rise: bool = False) -> tuple[float, float]:
    """Return D: how far a true value can lie below its rounded one, and how far above, as an intruder sees it."""
    far = base * (steps + 1)
    less = far - (1.0 if problem.integer else 0.0)
    return far if rise else less, less


def intruder(problem: Problem, values: Floats, base: float, steps: int, rise: bool = False) -> Problem:
    """State the problem that an intruder faces who sees rounded values: audit it with every cell hidden.

    Examples
    --------
    >>> from tabprotect.attack.audit import audit
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> seen = intruder(p, np.array([10.0, 5, 5]), 5, 0)
    >>> audit(seen, seen.may_hide).public.low.tolist()
    [5.0, 0.0, 0.0]
    """
    down, up = reach(problem, base, steps, rise)
    return seeing_near(problem, values, up, down)


def seeing_near(problem: Problem, values: Floats, far: float | Floats, below: float | Floats | None = None) -> Problem:
    """State the problem of an intruder who knows that every true value lies within `far` of the published one.

    He also knows the external bounds, the structural zeros, and that the true table adds up. Audit the result with
    every cell hidden.

    Parameters
    ----------
    problem : Problem
    values : ndarray, shape (cells,)
        What is published.
    far : float or ndarray
        Largest distance, in the unit of the values; infinite where nothing is known.
    below : float or ndarray, optional
        Largest distance of a true value below the published one, where that is another.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1)
    >>> seen = seeing_near(p, np.array([10.0, 5, 5]), 2)
    >>> seen.lower.tolist(), seen.upper.tolist()
    ([8.0, 3.0, 3.0], [12.0, 7.0, 7.0])
    """
    known = (problem.status == Status.ZERO) & (problem.values == 0)
    status = np.where(problem.status == Status.PRIMARY, Status.PRIMARY, Status.SAFE)
    return replace(
        problem,
        status=np.where(known, Status.ZERO, status).astype(np.int8),
        lower=np.minimum(np.maximum(problem.lower, values - (far if below is None else below)), problem.values),
        upper=np.maximum(np.minimum(problem.upper, values + far), problem.values),
    )


def within_levels(problem: Problem, grid: Grid, steps: int, rise: bool = False) -> Grid:
    """Narrow the multiples of sensitive cells to those whose own interval is wide enough."""
    down, up = reach(problem, grid.base, steps, rise)
    primary = problem.status == Status.PRIMARY
    a = problem.values
    least = np.ceil((a + problem.upl - up) / grid.base - STEP_ROUNDING).astype(np.int64)
    most = np.floor((a - problem.lpl + down) / grid.base + STEP_ROUNDING).astype(np.int64)
    low = np.where(primary, np.maximum(grid.low, least), grid.low)
    high = np.where(primary, np.minimum(grid.high, most), grid.high)
    return replace(grid, low=low, high=high)


def exposures(
    problem: Problem, values: Floats, base: float, steps: int, budget: Budget, rise: bool = False
) -> tuple[Exposure, ...]:
    """Return the protection levels that the intruder breaks."""
    seen = intruder(problem, values, base, steps, rise)
    return Witnesses(seen).check(seen.may_hide, budget)


def cut(
    problem: Problem, values: Floats, base: float, steps: int, exposure: Exposure, rise: bool = False
) -> tuple[Floats, float] | None:
    """Return (row, least): ``row @ v >= least`` for every rounding v that meets the level; None without proof."""
    if not exposure.proofs:
        return None
    down, up = reach(problem, base, steps, rise)
    a = problem.values
    held = (problem.status == Status.ZERO) & (a == 0)
    if exposure.key.attacker >= 0:
        held[list(problem.attackers[exposure.key.attacker].known)] = True
    row, constant = np.zeros(problem.n_cells), 0.0
    for proof in exposure.proofs:
        multipliers = np.zeros(problem.system.n_equations)
        multipliers[proof.rows] = proof.values
        d = -np.asarray(problem.system.A.T @ multipliers)
        d[exposure.key.cell] += proof.side
        d[np.abs(d) < STEP_ROUNDING] = 0.0
        d[held] = 0.0
        rises, falls = np.maximum(d, 0.0), np.maximum(-d, 0.0)
        by_value = values + up < problem.upper
        row += np.where(by_value, rises, 0.0)
        constant += float(rises @ np.where(by_value, up - a, np.where(rises > 0, problem.upper - a, 0.0)))
        by_value = values - down > problem.lower
        row -= np.where(by_value, falls, 0.0)
        constant += float(falls @ np.where(by_value, down + a, np.where(falls > 0, a - problem.lower, 0.0)))
    return row, exposure.needed - constant
