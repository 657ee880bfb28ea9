"""What a pattern leaves exposed, and the multipliers that prove it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key
from tabprotect.problem import Problem
from tabprotect.solver.tolerances import MULTIPLIER

__all__ = ["Exposure", "Multipliers", "capacity"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Multipliers(NamedTuple):
    """A proof that an attack ends below its level.

    With d = side * e_p - A' lambda every deviation has side * z_p = d z <= sum of UB_i max(d_i, 0) + LB_i max(-d_i, 0).

    Attributes
    ----------
    side : int
        +1 or -1.
    rows : ndarray of int
    values : ndarray of float
        The multipliers lambda of these equations; 0 elsewhere.
    """

    side: int
    rows: Ints
    values: Floats


@dataclass(frozen=True, eq=False)
class Exposure:
    """A question that a pattern answers with no.

    Attributes
    ----------
    key : Key
    reached : float
        How far the intruder's view of the cell reaches to that side (or how wide it is), in the unit of the values.
    needed : float
        The level asked for.
    proofs : tuple of Multipliers
        One; an upper and a lower one for a sliding level; none when the limits ended the work before the question was
        decided (it counts as exposed then).
    decided : bool
        False when `reached` is only what had been found at the limit, or within floating-point reach of the level.
    """

    key: Key
    reached: float
    needed: float
    proofs: tuple[Multipliers, ...] = ()
    decided: bool = True

    def __repr__(self) -> str:
        return f"Exposure(cell {self.key.cell}{'' if self.decided else ', not decided'})"


def capacity(problem: Problem, cell: int, proof: Multipliers, known: Ints, *, box: bool = False) -> tuple[Ints, Floats]:
    """Return the capacities of the cut sum c_i x_i >= level that a proof of exposure gives.

    Fischetti and Salazar-Gonzalez (2000): c_i = UB_i max(d_i, 0) + LB_i max(-d_i, 0), 0 for known cells.

    Parameters
    ----------
    known : ndarray of int
        Cells that the attacker knows.
    box : bool
        Keep the term of the cell itself (sliding levels, intervals). For one-sided levels it is dropped, which is
        right as long as the level lies within the external bounds of the cell.

    Returns
    -------
    cells : ndarray of int
    capacities : ndarray of float
        Not truncated at the level; may be infinite.
    """
    A = problem.system.A
    multiplier = np.zeros(A.shape[0])
    multiplier[proof.rows] = proof.values
    d = -(A.T @ multiplier)
    d[cell] += proof.side
    d[np.abs(d) < MULTIPLIER] = 0.0
    d[known] = 0.0
    if not box:
        d[cell] = 0.0
    cells = np.flatnonzero(d)
    size = d[cells]
    return cells, np.abs(size) * np.where(size > 0, problem.up[cells], problem.down[cells])
