"""From floating-point deviations to adjusted values that add up as decimals."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tabprotect.methods.adjustment.statement import Statement
from tabprotect.problem import Problem
from tabprotect.solver.exact import Polyhedron, RationalVector, integer_rows, scaled_integers
from tabprotect.solver.stops import Stop

__all__ = ["values_of"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

#: an exact vertex is computed for at most so many cells
_LARGEST = 30_000

#: sums of more steps may be beyond 64 bits
_MOST_STEPS = 2.0**40


def values_of(problem: Problem, statement: Statement, z: Floats, senses: Ints, stop: Stop | None = None) -> Floats:
    """Return adjusted values: exact decimals where z is near such a point, else the nearest floats.

    Linear and quadratic programmes end at points that are known to about nine digits. A vertex of the equations and
    bounds is found again exactly (`Polyhedron`); an interior optimum (L2, cones) is left as it is, but put exactly on
    the bounds and levels that it touches.

    Parameters
    ----------
    problem : Problem
    statement : Statement
    z : ndarray, shape (n,)
        Deviations in the statement's unit.
    senses : ndarray of int, shape (k,)
    stop : callable, optional
        Polled often; once it says so exact decimals are not looked for any more.
    """
    if statement.step is not None and (values := _in_whole_steps(problem, statement, z)) is not None:
        return values
    full = statement.spread(z, problem.n_cells)
    moving = np.zeros(problem.n_cells, bool)
    moving[statement.cells] = True
    scale, (a, low, high, upl, lpl) = scaled_integers(
        problem.values, problem.lower, problem.upper, problem.upl, problem.lpl
    )
    a, low, high, upl, lpl = (part.astype(object) for part in (a, low, high, upl, lpl))
    lower, upper = np.where(moving, low - a, 0), np.where(moving, high - a, 0)
    has_lower, has_upper = np.isfinite(problem.lower) | ~moving, np.isfinite(problem.upper) | ~moving
    primary = statement.cells[statement.primaries]
    up, down = primary[senses > 0], primary[senses < 0]
    lower[up], has_lower[up] = upl[up], True
    upper[down], has_upper[down] = -lpl[down], True
    region = Polyhedron(integer_rows(problem.system.A), lower, upper, has_lower, has_upper, scale)
    point = None
    if statement.norm != "l2" and not statement.cones:
        point = _exact_point(region, full, statement.norm == "l1", stop)
    if point is None and statement.step is not None:
        point = RationalVector(np.rint(z).astype(object), 1)
        whole = np.zeros(problem.n_cells, object)
        whole[statement.cells] = point.numerators
        step_scale, (step,) = scaled_integers([statement.unit])
        point = RationalVector(whole * int(step[0]), step_scale)
    if point is None:
        return _snapped(problem, full, (lower, has_lower), (upper, has_upper), scale)
    numerators = a * point.denominator + point.numerators.astype(object) * scale
    return np.array([int(v) / (scale * point.denominator) for v in numerators], np.float64)


def _in_whole_steps(problem: Problem, statement: Statement, z: Floats) -> Floats | None:
    """Return the values that whole steps lead to, None where these break an equation.

    A point of the grid is exact by itself, whereas a vertex of the equations and levels may be off the grid, as levels
    have more decimals than the values.
    """
    moves = np.rint(statement.spread(z / statement.unit, problem.n_cells))
    if np.any(np.abs(moves) > _MOST_STEPS) or np.any(integer_rows(problem.system.A) @ moves.astype(np.int64)):
        return None
    scale, (a, step) = scaled_integers(problem.values, np.full(problem.n_cells, statement.unit))
    steps = moves.astype(np.int64).astype(object) * step.astype(object)
    return np.array([int(v) / scale for v in a.astype(object) + steps], np.float64)


def _exact_point(region: Polyhedron, z: Floats, is_vertex: bool, stop: Stop | None) -> RationalVector | None:
    for columns, point in region.rounded(z, np.zeros(len(z), np.int64)):
        if columns.all():
            return point
    if not is_vertex or len(z) > _LARGEST:
        return None
    zeros = np.zeros(len(z), object)
    return region.vertex(z, levels=[(zeros, np.ones(len(z), bool))], stop=stop)


def _snapped(
    problem: Problem,
    z: Floats,
    lower: tuple[npt.NDArray[np.object_], npt.NDArray[np.bool_]],
    upper: tuple[npt.NDArray[np.object_], npt.NDArray[np.bool_]],
    scale: int,
) -> Floats:
    """Add z to the values, never beyond the exact bounds."""
    _, (a,) = scaled_integers(problem.values)
    own_scale, _ = scaled_integers(problem.values)
    values = problem.values + z
    for (bound, finite), keep in ((lower, np.maximum), (upper, np.minimum)):
        exact = np.array(
            [(int(v) * scale + int(b) * own_scale) / (scale * own_scale) for v, b in zip(a, bound, strict=True)]
        )
        values = np.where(finite, keep(values, exact), values)
    return values
