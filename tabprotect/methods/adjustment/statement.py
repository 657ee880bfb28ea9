"""The adjustment problem as numbers: one unit in which levels are near 1, only the cells that may move."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.errors import InfeasibleError, InputError, collect
from tabprotect.methods.adjustment.preserve import Linear, Preserve
from tabprotect.methods.distance import Norm
from tabprotect.problem import Problem, Status
from tabprotect.solver.exact import scaled_integers
from tabprotect.solver.qp import Cone
from tabprotect.solver.tolerances import INTEGRALITY, STEP_ROUNDING

__all__ = ["Statement", "state"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

MOST_DECIMALS = 15
"""A float has no more digits that mean anything."""


@dataclass(frozen=True, eq=False)
class Statement:
    """Find deviations z of the cells that may move, each primary to one of two sides.

    Everything is in units of `unit` (a power of two, so that scaling is exact); `cells` maps back.

    Attributes
    ----------
    A, row_lower, row_upper :
        Equations A z = 0 with all-zero rows dropped, then linear conditions of the caller.
    lower, upper : ndarray, shape (n,)
        Bounds of z (may be infinite).
    weights : ndarray, shape (n,)
        Scaled by a power of two; `cost` undoes it.
    primaries : ndarray of int, shape (k,)
        Positions among the n cells.
    up, down : ndarray, shape (k,)
        How far a primary must move; inf on a side that is not allowed.
    norm : {'l1', 'l2', 'linf'}
    cones : tuple of Cone
    step : float or None
        z is a whole multiple of this.
    cells : ndarray of int, shape (n,)
        Positions in the problem.
    unit, weight_unit : float
    """

    A: sparse.csr_array
    row_lower: Floats
    row_upper: Floats
    lower: Floats
    upper: Floats
    weights: Floats
    primaries: Ints
    up: Floats
    down: Floats
    norm: Norm
    cones: tuple[Cone, ...]
    step: float | None
    cells: Ints
    unit: float
    weight_unit: float

    @property
    def n(self) -> int:
        """Cells that may move."""
        return len(self.cells)

    @property
    def k(self) -> int:
        """Primaries with a level."""
        return len(self.primaries)

    @property
    def forced(self) -> Ints:
        """The sense of every primary that has only one (+1, -1); 0 where both are allowed."""
        room_up = np.isfinite(self.up) & (self.up <= self.upper[self.primaries])
        room_down = np.isfinite(self.down) & (self.down <= -self.lower[self.primaries])
        return np.where(room_up & room_down, 0, np.where(room_up, 1, -1))

    def bounds(self, senses: npt.NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return bounds of z once every primary has its sense."""
        lower, upper = self.lower.copy(), self.upper.copy()
        to_up = senses > 0
        lower[self.primaries[to_up]] = self.up[to_up]
        upper[self.primaries[~to_up]] = -self.down[~to_up]
        return lower, upper

    def cost(self, z: Floats) -> float:
        """The objective, in the caller's units."""
        size = np.abs(z) * self.unit
        weights = self.weights * self.weight_unit
        if self.norm == "l2":
            return float(np.sum(weights * size**2))
        return float(np.sum(weights * size)) if self.norm == "l1" else float(np.max(weights * size, initial=0.0))

    @property
    def objective_unit(self) -> float:
        """What one unit of the objective in our numbers is in the caller's."""
        return self.weight_unit * (self.unit**2 if self.norm == "l2" else self.unit)

    def spread(self, z: Floats, n_cells: int) -> Floats:
        """Put deviations back to all cells of the problem, in its unit."""
        full = np.zeros(n_cells)
        full[self.cells] = z * self.unit
        return full


def state(
    problem: Problem,
    weights: Floats,
    norm: Norm,
    *,
    fixed: Bools,
    preserve: Sequence[Preserve] = (),
    decimals: int | None = None,
) -> Statement:
    """Turn a problem into numbers.

    Raises
    ------
    InputError
        Sliding levels that lower and upper ones do not cover, conditions of wrong length, values that are no multiples
        of the step asked for.
    InfeasibleError
        Names every primary that its bounds do not let move far enough to either side.
    """
    if decimals is not None and not (isinstance(decimals, Integral) and -MOST_DECIMALS <= decimals <= MOST_DECIMALS):
        raise InputError(f"decimals must be from {-MOST_DECIMALS} to {MOST_DECIMALS}, not {decimals!r}")
    step = None if decimals is None else 10.0**-decimals
    _check(problem, preserve, decimals, step)
    primary = problem.primaries
    primary = primary[(problem.lpl[primary] > 0) | (problem.upl[primary] > 0)]
    fixed = fixed | (problem.status == Status.PROTECTED) | (problem.status == Status.ZERO)
    lower, upper, up, down = _sides(problem, primary, fixed, step)
    unit = _power_of_two(np.concatenate((up, down))) if step is None else step
    lower, upper, up, down = (side / unit for side in (lower, upper, up, down))
    if step is not None:
        lower, upper, up, down = (np.rint(side) for side in (lower, upper, up, down))
    cells = np.flatnonzero(~fixed & (lower < upper))
    place = np.full(problem.n_cells, -1, np.int64)
    place[cells] = np.arange(len(cells))
    at_primary = weights[primary][weights[primary] > 0]
    weight_unit = _power_of_two(at_primary if len(at_primary) else weights[weights > 0])
    return Statement(
        *_rows(problem, preserve, cells, unit),
        lower[cells],
        upper[cells],
        weights[cells] / weight_unit,
        place[primary],
        up,
        down,
        norm,
        tuple(
            Cone(sparse.csr_array(c.F[:, cells]), c.offset / unit, c.radius / unit, c.slope[cells])
            for c in preserve
            if isinstance(c, Cone)
        ),
        None if step is None else 1.0,
        cells,
        unit,
        weight_unit,
    )


def _check(problem: Problem, preserve: Sequence[Preserve], decimals: int | None, step: float | None) -> None:
    """Refuse what adjustment cannot do, all of it at once."""
    label, primary = problem.system.label, problem.primaries
    with collect() as problems:
        sliding = primary[problem.spl[primary] > problem.lpl[primary] + problem.upl[primary]]
        if len(sliding):
            problems.add(
                "adjustment moves a value up or down, so a sliding level needs a lower or upper one that covers it: "
                + _names(sliding, label)
            )
        for condition in preserve:
            width = len(condition.coefficients) if isinstance(condition, Linear) else condition.F.shape[1]
            if width != problem.n_cells:
                problems.add(f"a condition to keep is over {width} cells; the problem has {problem.n_cells}")
        if step is not None:
            off = np.abs(problem.values / step - np.rint(problem.values / step)) > INTEGRALITY
            if off.any():
                problems.add(
                    f"values must have at most {decimals} decimals to be adjusted to that many; more have "
                    + _names(np.flatnonzero(off), label)
                )


def _sides(problem: Problem, primary: Ints, fixed: Bools, step: float | None) -> tuple[Floats, Floats, Floats, Floats]:
    """Return the room of all cells down and up, and how far primaries have to move up and down, in whole steps."""
    up = np.where(problem.upl[primary] > 0, problem.upl[primary], np.inf)
    down = np.where(problem.lpl[primary] > 0, problem.lpl[primary], np.inf)
    lower, upper = _room(problem)
    if step is not None:
        up, down = np.ceil(up / step - STEP_ROUNDING) * step, np.ceil(down / step - STEP_ROUNDING) * step
        lower, upper = np.ceil(lower / step - STEP_ROUNDING) * step, np.floor(upper / step + STEP_ROUNDING) * step
    no_room_up = np.isinf(up) | (up > upper[primary])
    no_room_down = np.isinf(down) | (down > -lower[primary])
    stuck = primary[fixed[primary] | (no_room_up & no_room_down)]
    if len(stuck):
        raise InfeasibleError(
            "the bounds let these cells move to neither side by their level, or keep them fixed: "
            + _names(stuck, problem.system.label)
        )
    return lower, upper, up, down


def _rows(
    problem: Problem, preserve: Sequence[Preserve], cells: Ints, unit: float
) -> tuple[sparse.csr_array, Floats, Floats]:
    """Return the equations between cells that may move, then linear conditions, with their limits."""
    A = sparse.csr_array(problem.system.A[:, cells])
    A = A[np.diff(A.indptr) > 0]
    linear = [c for c in preserve if isinstance(c, Linear)]
    rows = sparse.vstack([A, *(sparse.csr_array(c.coefficients[None, cells]) for c in linear)], format="csr")
    conditions = np.array([[c.low, c.high] for c in linear]).reshape(-1, 2) / unit
    zeros = np.zeros(A.shape[0])
    return (
        sparse.csr_array(rows),
        np.concatenate((zeros, conditions[:, 0])),
        np.concatenate((zeros, conditions[:, 1])),
    )


def _room(problem: Problem) -> tuple[Floats, Floats]:
    """Bounds of the deviations as differences of decimals, so that a level which ends at a bound does not miss it."""
    scale, (a, low, high) = scaled_integers(problem.values, problem.lower, problem.upper)

    def difference(bound: npt.NDArray[np.float64], integers: npt.NDArray[np.object_]) -> Floats:
        exact = np.array([int(v) / scale for v in integers.astype(object) - a], np.float64)
        return np.where(np.isfinite(bound), exact, bound)

    return difference(problem.lower, low), difference(problem.upper, high)


def _power_of_two(values: Floats) -> float:
    positive = values[np.isfinite(values) & (values > 0)]
    return 2.0 ** round(math.log2(float(np.median(positive)))) if len(positive) else 1.0


def _names(cells: Ints, label: object) -> str:
    assert callable(label)
    names = ", ".join(label(int(i)) for i in cells[:5])
    return f"{names} and {len(cells) - 5} more" if len(cells) > 5 else names
