"""Successive rounding of three-dimensional tables: layer by layer, always possible, never two bases off.

The sums S_k = A_1 + ... + A_k of the first layers are two-dimensional tables, and each has a controlled rounding R_k to
neighbouring multiples (Cox and Ernst 1982). The differences R_k - R_{k-1} then add up in all three dimensions and are
less than two bases from A_k; this is the way of Ernst (1989), "Further applications of linear programming to sampling
problems". R_k is chosen by a network flow, so that its own layer is as near to A_k as R_{k-1} still allows.
"""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError, SolverError
from tabprotect.methods.distance import Norm, Weights, distance_weights
from tabprotect.methods.rounding.grid import Grid, on_grid
from tabprotect.methods.rounding.plain import reported
from tabprotect.methods.rounding.programme import Programme
from tabprotect.methods.rounding.result import RoundingResult
from tabprotect.problem import Problem, need_problem
from tabprotect.solver.limits import Budget, Limits, as_limits
from tabprotect.solver.tolerances import INTEGRALITY
from tabprotect.table.system import LinearSystem

__all__ = ["successive_rounding"]

Ints = npt.NDArray[np.int64]


def successive_rounding(
    problem: Problem,
    base: float,
    *,
    along: int = 0,
    norm: Norm = "l1",
    weights: Weights | npt.ArrayLike = "unit",
    limits: Limits | float | None = None,
) -> RoundingResult:
    """Round a three-dimensional table layer by layer: additive, each cell less than two bases from its value.

    Parameters
    ----------
    problem : Problem
        Of a complete table of three dimensions: cells are a `pandas.MultiIndex` of three codes. Of the other two
        dimensions at most one has a hierarchy.
    base : float
    along : int
        The dimension (without hierarchy) whose codes are the layers.
    norm, weights :
        How the distance is measured; layers are chosen by the absolute one.
    limits : Limits or float, optional

    Returns
    -------
    RoundingResult
        With ``steps`` 0 if all cells happen to be at neighbouring multiples, else 1.

    Raises
    ------
    InputError
        If the table is no such table, or does not add up.

    Examples
    --------
    >>> from tabprotect.table.hierarchy import Hierarchy
    >>> s = LinearSystem.from_hierarchies([Hierarchy.flat(["a", "b"])] * 3)
    >>> inner = np.array([[[3.0, 1], [4, 1]], [[2, 2], [7, 6]]])
    >>> for k in range(3):
    ...     inner = np.concatenate([inner.sum(k, keepdims=True), inner], k)
    >>> p = Problem.from_arrays(s.A, inner.ravel(), primary=[], lpl=0, upl=0, cells=s.cells)
    >>> result = successive_rounding(p, 5)
    >>> result.additive, result.jump < 10
    (True, True)
    """
    need_problem(problem, "successive_rounding")
    started = time.monotonic()
    weight = distance_weights(problem, weights)
    budget = Budget(as_limits(limits))
    layers, rows = _layers(problem, along)
    every = on_grid(problem, base, 1)
    multiples = np.zeros(problem.n_cells, np.int64)
    so_far, sums = np.zeros(len(layers[0]), np.int64), np.zeros(len(layers[0]))
    layer = LinearSystem(problem.system.A[rows][:, layers[0]], problem.system.b[rows], pd.RangeIndex(len(layers[0])))
    for cells in layers[1:]:
        sums = sums + every.below[cells] + every.part[cells]
        grid = _next(every, cells, so_far, sums)
        part = Problem(layer, *(getattr(problem, name)[cells] for name in _ARRAYS))
        now = _rounded(Programme(part, grid, weight[cells], "l1"), budget)
        multiples[cells] = now - so_far
        so_far = now
    multiples[layers[0]] = so_far
    beyond = (multiples < every.below) | (multiples > every.below + (every.part > 0))
    result = reported(problem, base, multiples, "successive", norm, weights, started, steps=int(beyond.any()))
    if result.verdict is None or not result.verdict.ok:
        raise InputError("successive rounding needs a complete table of three dimensions that adds up")
    return result


_ARRAYS = ("values", "status", "lpl", "upl", "spl", "weights", "lower", "upper")


def _layers(problem: Problem, along: int) -> tuple[list[Ints], Ints]:
    """Cells of the total and of every layer, in one order, and the equations within the total's layer."""
    cells, A = problem.system.cells, problem.system.A
    wrong = InputError("successive rounding needs a complete table of three dimensions, with layers without hierarchy")
    if not isinstance(cells, pd.MultiIndex) or cells.nlevels != 3 or along not in (0, 1, 2):
        raise wrong
    codes, names = pd.factorize(cells.get_level_values(along))
    others = cells.droplevel(along)
    entry = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    code = codes[A.indices]
    least = np.full(A.shape[0], len(names))
    most = np.full(A.shape[0], -1)
    np.minimum.at(least, entry, code)
    np.maximum.at(most, entry, code)
    across = least < most
    margins = np.unique(code[across[entry] & (A.data < 0)])
    if len(margins) != 1 or problem.n_cells % len(names) or np.any(np.diff(A.indptr)[across] != len(names)):
        raise wrong
    total = int(margins[0])
    first = np.flatnonzero(codes == total)
    order = others[first]
    layers = [first]
    for k in range(len(names)):
        if k == total:
            continue
        here = np.flatnonzero(codes == k)
        at = others[here].get_indexer(order)
        if len(here) != len(first) or np.any(at < 0):
            raise wrong
        layers.append(here[at])
    return layers, np.flatnonzero(~across & (least == total))


def _next(every: Grid, cells: Ints, so_far: Ints, sums: npt.NDArray[np.float64]) -> Grid:
    """Neighbouring multiples of the sum so far, measured by how near the layer itself comes to its values."""
    low = np.floor(sums + INTEGRALITY).astype(np.int64)
    high = np.ceil(sums - INTEGRALITY).astype(np.int64)
    return replace(
        every,
        below=so_far + every.below[cells],
        part=every.part[cells],
        low=low,
        high=np.maximum(low, high),
        total=np.zeros_like(every.total),
    )


def _rounded(programme: Programme, budget: Budget) -> Ints:
    if not programme.possible:
        raise InputError("successive rounding needs values that add up exactly")
    answer, multiples = programme.solve(budget, relax=True)
    if budget.exhausted:
        raise SolverError("successive rounding was ended by its limits before the last layer")
    if answer.status != "optimal" or multiples is None:
        raise InputError("successive rounding needs values that add up exactly")
    if np.any(np.abs(multiples - np.rint(multiples)) > INTEGRALITY):
        raise InputError("successive rounding needs layers of which at most one dimension has a hierarchy")
    return np.asarray(np.rint(multiples).astype(np.int64)[programme.own])
