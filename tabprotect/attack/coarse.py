"""Deviations on a decimal grid: bounds a little narrower, levels a little higher, so that vertices are short decimals.

Values with many decimals and levels in percent of them have no small common denominator, and a vertex between such
bounds has to be computed by solving a system exactly. Where a bound or a level is not tight, rounding it to its safe
side on a grid of some ten-thousandths of the level asks for hardly more, and vertices of the rounded problem are
multiples of the grid (or of simple fractions of it).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Questions
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import LEVEL
from tabprotect.table.system import LinearSystem

__all__ = ["on_grids"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FINENESS = (4, 7)
"""Grids of 10^-4 of the smallest level in question, or up to ten times finer; then a finer one for what is left."""

RANGE = (1e2, 1e1)
"""Levels within this ratio share a grid."""

FURTHEST = (1e9, 1e12)
"""No cell moves further than this many steps of the grid, so that floating point can tell them apart."""


def on_grids(
    problem: Problem,
    hidden: Bools,
    questions: Ints,
    asked: Questions,
    budget: Budget,
    attempt: int = 0,
    *,
    few: bool = False,
) -> Iterator[tuple[int, list[Deviation]]]:
    """Answer questions, if possible, by deviations on decimal grids.

    Parameters
    ----------
    problem : Problem
    hidden : ndarray of bool
        The pattern.
    questions : ndarray of int
        Which of `asked` are open, for the public or for some attacker.
    asked : Questions
    budget : Budget
    attempt : int
        0, or 1 for what is left then.
    few : bool
        Programmes for many questions of the public at once only, and no more deviations than needed.

    Yields
    ------
    (digits, deviations)
        Deviations (floating point) whose entries are near multiples of 10^-digits or of simple fractions of that.
    """
    order = questions[np.argsort(asked.need[questions], kind="stable")]
    while len(order) and not budget.exhausted:
        smallest = float(asked.need[order[0]])
        group = order[asked.need[order] <= RANGE[attempt] * smallest]
        order = order[len(group) :]
        digits = FINENESS[attempt] - math.floor(math.log10(smallest))
        judge = Witnesses(_rounded(problem, asked, group, digits, FURTHEST[attempt]), presolve=True)
        if few:
            judge.sweep(hidden, budget)
        else:
            judge.check(hidden, budget)
        yield digits, judge.deviations(hidden, few=few)


def _rounded(problem: Problem, asked: Questions, group: Ints, digits: int, furthest: float) -> Problem:
    """The problem with the levels of some questions only; levels rounded up and bounds rounded down to the grid."""
    grid, system = 10.0**-digits, problem.system
    level: dict[int, Floats] = {side: np.zeros(problem.n_cells) for side in (1, -1, 0)}
    for question in group.tolist():
        side, cell = int(asked.side[question]), int(asked.cell[question])
        level[side][cell] = math.ceil(asked.need[question] * (1 + LEVEL) / grid) * grid
    return replace(
        problem,
        values=np.zeros(problem.n_cells),
        system=LinearSystem(system.A, np.zeros(system.n_equations), system.cells),
        lower=-_floor(problem.down, grid, furthest),
        upper=_floor(problem.up, grid, furthest),
        upl=level[1],
        lpl=level[-1],
        spl=level[0],
    )


def _floor(bound: Floats, grid: float, furthest: float) -> Floats:
    """Round down to the grid, a little less than the bound."""
    return np.asarray(
        np.minimum(np.floor(np.minimum(bound, 2 * furthest * grid) * (1 - LEVEL) / grid), furthest) * grid
    )
