"""What follows from the rows of a pool for whole cells: cover cuts of single rows, zero-half cuts of several."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from tabprotect.methods.suppression.bound.cuts import Cover
from tabprotect.methods.suppression.options import RelaxationOptions
from tabprotect.methods.suppression.presolve.core import Core
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.mip.covers import cover_cuts
from tabprotect.solver.mip.rows import RowPool
from tabprotect.solver.mip.zerohalf import zero_half
from tabprotect.solver.tolerances import CUT_VIOLATION, ROUNDED_UP

__all__ = ["add_covers", "add_halves", "strengthen"]

Floats = npt.NDArray[np.float64]

ZERO_HALF_BYTES = 150_000_000
"""What the tables of zero-half cuts hold at most, about."""


def add_covers(pool: RowPool, x: Floats, options: RelaxationOptions) -> list[int]:
    """Add covers of single rows that a point violates to a pool; return their positions."""
    if not options.covers:
        return []
    cuts = cover_cuts(pool.matrix, pool.rhs, x, most=options.covers)
    return pool.add([cut.row for cut in cuts], [Cover(pool.origin(cut.parent), cut.others) for cut in cuts])


def add_halves(pool: RowPool, x: Floats, budget: Budget, options: RelaxationOptions) -> list[int]:
    """Add zero-half cuts over the integer rows of a pool that a point violates; return their positions."""
    if pool.n > options.zero_half_columns or not budget.fits(ZERO_HALF_BYTES):
        return []
    matrix = pool.matrix.copy()
    # rounding coefficients up keeps a row valid (x >= 0) and makes it integral
    matrix.data = np.ceil(matrix.data - ROUNDED_UP)
    cuts = zero_half(matrix, pool.rhs, x)
    return pool.add([cut.row for cut in cuts], cuts)


def strengthen(core: Core, pool: RowPool, x: Floats, budget: Budget, options: RelaxationOptions) -> Floats:
    """Add joint cuts to a pool as long as they lift the bound of its relaxation; return the solution at last.

    Parameters
    ----------
    core : Core
    pool : RowPool
        Gets the cuts.
    x : ndarray, shape (cells of the core,)
        A solution of the relaxation, or something near it.
    budget : Budget
    options : RelaxationOptions
    """
    active = np.flatnonzero(pool.slack(x) < options.loose_slack)
    no_end, hidden, one = np.full(len(active), np.inf), core.hidden.astype(np.float64), np.ones(core.n)
    lp = LinearProgram(pool.matrix[active], pool.rhs[active], no_end, hidden, one, core.weight, method="dual")
    known, last, halves = set(active.tolist()), -np.inf, options.proof_halves
    while not budget.exhausted:
        left = budget.seconds_left
        solution = lp.solve(max_seconds=None if math.isinf(left) else left)
        budget.spend(solution.iterations + 1)
        if solution.status != "optimal":
            break
        x = np.clip(solution.x, 0.0, 1.0)
        stalls, last = solution.objective <= last + options.progress * abs(last), solution.objective
        add_covers(pool, x, options)
        if stalls and halves:
            halves -= 1
            add_halves(pool, x, budget, options)
        elif stalls:
            break
        slack = pool.slack(x)
        new = [k for k in np.flatnonzero(slack < -CUT_VIOLATION).tolist() if k not in known]
        new = sorted(new, key=lambda k: float(slack[k]))[: options.round_cuts]
        lp.add_rows(pool.matrix[new], pool.rhs[new], np.full(len(new), np.inf))
        known.update(new)
    return x
