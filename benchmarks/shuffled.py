"""The same problem in another guise: cells and equations in another order, weights in another unit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from tabprotect.problem import Problem
from tabprotect.table.system import LinearSystem

__all__ = ["shuffled", "weight_factor"]


def weight_factor(seed: int) -> float:
    """Return the factor of the weights: a power of two, so that costs are turned back exactly."""
    return 2.0 ** int(np.random.default_rng([seed, 1]).integers(-8, 9))


def shuffled(problem: Problem, seed: int) -> Problem:
    """Permute cells and equations, and multiply the weights by `weight_factor`.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> q = shuffled(p, 3)
    >>> sorted(q.values.tolist()), q.values[q.primaries].tolist()
    ([5.0, 6.0, 9.0, 20.0], [9.0])
    """
    rng = np.random.default_rng([seed, 0])
    cells, rows = rng.permutation(problem.n_cells), rng.permutation(problem.system.n_equations)
    place = np.argsort(cells)
    A = problem.system.A[rows][:, cells]
    names = ("values", "status", "lpl", "upl", "spl", "weights", "lower", "upper")
    moved = {name: getattr(problem, name)[cells] for name in names}
    moved["weights"] = moved["weights"] * weight_factor(seed)
    attackers = tuple(
        replace(a, **{of: tuple(int(place[k]) for k in getattr(a, of)) for of in ("known", "spared")})
        for a in problem.attackers
    )
    system = LinearSystem(A, problem.system.b[rows], pd.RangeIndex(problem.n_cells))
    return replace(problem, system=system, attackers=attackers, **moved)
