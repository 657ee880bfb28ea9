"""The independent parts of a reduced problem: what must be protected in them, what that can cost, and the way back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.problem import Problem
from tabprotect.solver.tolerances import INTEGRALITY, OPTIMAL

__all__ = ["Core", "Reduction", "Targets", "next_cost", "unit_of_costs"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Targets:
    """What must be protected: `cell[t]` must reach `level[t]` on `side[t]` against `attacker[t]`.

    Attributes
    ----------
    cell : ndarray of int
    side : ndarray of int
        +1 up, -1 down, 0 the width of the interval (sliding level).
    level : ndarray of float
        In the unit of the cell's deviation; positive.
    attacker : ndarray of int
        Position in the attackers of the core; -1 knows only what is published.
    """

    cell: Ints
    side: Ints
    level: Floats
    attacker: Ints

    def __len__(self) -> int:
        return len(self.cell)

    def __getitem__(self, which: Ints | Bools | slice) -> Targets:
        return Targets(self.cell[which], self.side[which], self.level[which], self.attacker[which])


@dataclass(frozen=True, eq=False)
class Core:
    """One independent part of a problem after reduction, stated in deviations.

    Attributes
    ----------
    A : scipy.sparse.csr_array, shape (m, n)
        Independent equations A z = 0.
    rows : ndarray of int
        The original equation behind every row.
    implied : scipy.sparse.csr_array, shape (k, n)
        Equations that follow from those of A: they tell an intruder nothing new, but each gives inequalities of its
        own.
    implied_rows : ndarray of int
        The original equation behind each of them.
    down, up : ndarray of float
        -down_i x_i <= z_i <= up_i x_i; may be infinite.
    weight : ndarray of float
        Cost of hiding; zero where `hidden`.
    hidden : ndarray of bool
        Cells that are hidden in every pattern (primary, forced, or free of charge).
    targets : Targets
    attackers : tuple of ndarray
        Positions of the cells that each attacker knows.
    spared : tuple of ndarray
        Positions of the cells that each of these attackers is not asked about although he does not know them.
    members : tuple of (ndarray, ndarray)
        For every cell the original cells it stands for and their scales: z_original = scale * z.
    """

    A: sparse.csr_array
    rows: Ints
    implied: sparse.csr_array
    implied_rows: Ints
    down: Floats
    up: Floats
    weight: Floats
    hidden: Bools
    targets: Targets
    attackers: tuple[Ints, ...]
    spared: tuple[Ints, ...]
    members: tuple[tuple[Ints, Floats], ...] = field(repr=False)

    @property
    def n(self) -> int:
        """Number of cells."""
        return len(self.weight)

    def cost(self, x: Bools) -> float:
        """Return the weight of a pattern."""
        return float(self.weight[x].sum())


@dataclass(frozen=True, eq=False)
class Reduction:
    """The independent cores of a problem and the way back.

    Attributes
    ----------
    cores : tuple of Core
    base : ndarray of bool
        Original cells hidden in every pattern made here: the primaries and forced cells, and the safe cells tied to a
        primary.
    group, factor : ndarray
        For every original cell the group of cells that it moves with (-1: it never moves), and its scale there.
    """

    problem: Problem
    cores: tuple[Core, ...]
    base: Bools
    group: Ints
    factor: Floats

    @property
    def constant(self) -> float:
        """Weight of the safe cells that every pattern hides."""
        return self.problem.cost(self.base)

    def pattern(self, patterns: Sequence[Bools]) -> Bools:
        """Translate patterns of cores into a pattern of the original problem.

        Cells that are free of charge and hidden by the pattern of a core are hidden in the pattern too.
        """
        pattern = self.base.copy()
        for core, x in zip(self.cores, patterns, strict=True):
            if x.any():
                pattern[np.concatenate([core.members[i][0] for i in np.flatnonzero(x)])] = True
        return pattern

    def patterns(self, pattern: Bools) -> list[Bools]:
        """Translate a pattern into those of the cores: a cell of a core is hidden when all that it stands for is."""
        return [np.array([pattern[cells].all() for cells, _ in core.members], dtype=bool) for core in self.cores]


def unit_of_costs(weights: npt.NDArray[np.float64]) -> float:
    """Return the greatest common divisor of whole weights; 0 when there are others (or they are too large to be exact).

    Examples
    --------
    >>> unit_of_costs(np.array([6.0, 0, 9])), unit_of_costs(np.array([6, 0.5]))
    (3.0, 0.0)
    """
    positive = weights[weights > 0]
    if not len(positive) or np.any(positive != np.rint(positive)) or positive.sum() > 2.0**50:
        return 0.0
    return float(np.gcd.reduce(positive.astype(np.int64)))


def next_cost(bound: float, unit: float) -> float:
    """Raise a lower bound to the next multiple of the unit, if there is one, but for what may be a rounding error.

    Examples
    --------
    >>> next_cost(6.1, 3.0), next_cost(6.0000000001, 3.0), next_cost(6.1, 0.0)
    (9.0, 6.0, 6.1)
    """
    if not unit or not math.isfinite(bound):
        return bound
    return math.ceil(bound / unit - INTEGRALITY - OPTIMAL * abs(bound) / unit) * unit
