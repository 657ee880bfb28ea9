"""What one run of a check reads of the judge that it works for."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.attackers import AttackProgramme, Patience
from tabprotect.attack.kept import KeptProgrammes
from tabprotect.attack.keys import Questions
from tabprotect.attack.pool import Deviation, Pool
from tabprotect.attack.region import Region
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget

__all__ = ["Judge"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]


class Judge(Protocol):
    """The part of `tabprotect.attack.witness.Witnesses` that `tabprotect.attack.check.Check` works with.

    Attributes
    ----------
    problem : Problem
    questions : Questions
    pool : Pool
        Stored witnesses.
    knows : csr_array, shape (attackers, cells)
        1 where an attacker knows a cell.
    presolve : bool
    patience : Patience
    programmes : int
        Linear programmes stated so far.
    """

    problem: Problem
    questions: Questions
    pool: Pool
    knows: sparse.csr_array
    presolve: bool
    patience: Patience
    programmes: int
    _columns: sparse.csc_array
    _down: Floats
    _up: Floats
    _known: tuple[Ints, ...]
    _unasked: tuple[Ints, ...]
    _dismissed: dict[int, Bools]

    def kept(self, hidden: Bools) -> KeptProgrammes:
        """Return the programmes of a pattern, or of one around it."""
        ...

    def offer_circuits(self, pattern: Bools, budget: Budget | None = None, *, asked: Ints | None = None) -> None:
        """Store circuits of the hidden cells, all or those that move the cell of one of some questions."""
        ...

    def offer(self, *deviations: Deviation) -> Ints:
        """Store deviations after checking them; return the questions that one part of them answers alone."""
        ...

    def _take(self, region: Region, programme: AttackProgramme, x: Floats, *, turned: bool) -> Ints: ...
