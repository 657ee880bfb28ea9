"""What follows from the rows of a pool for whole cells: cover cuts of single rows, zero-half cuts of several."""

from __future__ import annotations

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
from tabprotect.solver.tolerances import CUT_VIOLATION

__all__ = ["add_joint_cuts", "strengthen"]

Floats = npt.NDArray[np.float64]

ZERO_HALF_BYTES = 150_000_000
"""What the tables of zero-half cuts hold at most, about."""


def add_joint_cuts(pool: RowPool, x: Floats, budget: Budget, options: RelaxationOptions) -> list[int]:
    """Add cuts that a point violates to a pool; return their positions."""
    covers = cover_cuts(pool.matrix, pool.rhs, x)
    new = pool.add([cut.row for cut in covers], [Cover(pool.origin(cut.parent), cut.others) for cut in covers])
    if pool.n > options.zero_half_columns or not budget.fits(ZERO_HALF_BYTES):
        return new
    matrix = pool.matrix.copy()
    # rounding coefficients up keeps a row valid (x >= 0) and makes it integral
    matrix.data = np.ceil(matrix.data - 1e-9)
    halves = zero_half(matrix, pool.rhs, x)
    return [*new, *pool.add([cut.row for cut in halves], halves)]


def strengthen(core: Core, pool: RowPool, x: Floats, options: RelaxationOptions) -> Floats:
    """Add joint cuts to a pool as long as they lift the bound of its relaxation; return the solution at last.

    Parameters
    ----------
    core : Core
    pool : RowPool
        Gets the cuts.
    x : ndarray, shape (cells of the core,)
        A solution of the relaxation, or something near it.
    options : RelaxationOptions
    """
    active = np.flatnonzero(pool.slack(x) < options.loose_slack)
    lower, one = core.hidden.astype(np.float64), np.ones(core.n)
    lp = LinearProgram(
        pool.matrix[active], pool.rhs[active], np.full(len(active), np.inf), lower, one, core.weight, method="dual"
    )
    known, last, stalls = set(active.tolist()), -np.inf, 0
    for _ in range(options.proof_rounds):
        solution = lp.solve()
        if solution.status != "optimal":
            return x
        x = np.clip(solution.x, 0.0, 1.0)
        stalls = 0 if solution.objective > last + options.progress * abs(last) else stalls + 1
        last = solution.objective
        if stalls >= options.stalls:
            break
        add_joint_cuts(pool, x, Budget(), options)
        slack = pool.slack(x)
        new = [k for k in np.flatnonzero(slack < -CUT_VIOLATION).tolist() if k not in known]
        new = sorted(new, key=lambda k: float(slack[k]))[: options.round_cuts]
        if not new:
            break
        lp.add_rows(pool.matrix[new], pool.rhs[new], np.full(len(new), np.inf))
        known.update(new)
    return x
