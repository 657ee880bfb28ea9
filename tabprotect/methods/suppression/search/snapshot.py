"""What a search knows at a moment, to go on from in another process or at another time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key
from tabprotect.methods.suppression.search.bound_credit import BoundCredit
from tabprotect.solver.mip.rows import RowPool

__all__ = ["NOTHING", "Rows", "Snapshot"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Rows:
    """The relaxation of a core: its rows with their origins, its solution and bound, and what it is separated for."""

    pool: RowPool
    x: Floats
    targets: Ints
    bound: float
    finished: bool


@dataclass(frozen=True, eq=False)
class Snapshot:
    """What a search knows at a moment: everything of `Search` that later steps depend on, apart from caches."""

    best: Bools | None
    bound: float
    unattainable: frozenset[Key]
    rows: Rows | None
    cleaned: bool
    gap: float
    needed: Ints
    credit: BoundCredit


NOTHING = Snapshot(None, 0.0, frozenset(), None, False, 1.0, np.zeros(0, np.int64), BoundCredit())
"""What is known before the start."""
