"""A core of a reduced problem as a problem of its own, and its deviations back in the cells of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import sparse

from tabprotect.attack.witness import Deviation
from tabprotect.methods.suppression.presolve.core import Core
from tabprotect.problem import Attacker, Problem, Status
from tabprotect.table.system import LinearSystem

__all__ = ["Part"]


class Part:
    """One core as a `Problem`, so that everything made for problems works on it.

    Attributes
    ----------
    core : Core
    problem : Problem
        Stated around zero: values 0, external bounds -down and up. Cells without targets that are hidden in every
        pattern are forced ones.
    """

    def __init__(self, core: Core) -> None:
        self.core = core
        n, targets = core.n, core.targets
        status = np.where(core.hidden, np.int8(Status.FORCED), np.int8(Status.SAFE))
        status[targets.cell] = Status.PRIMARY
        level = {side: np.zeros(n) for side in (1, -1, 0)}
        for side, array in level.items():
            mine = targets.side == side
            np.maximum.at(array, targets.cell[mine], targets.level[mine])
        self.problem = Problem(
            LinearSystem(core.A, np.zeros(core.A.shape[0]), pd.RangeIndex(n)),
            np.zeros(n),
            status,
            level[-1],
            level[1],
            level[0],
            core.weight,
            -core.down,
            core.up,
            tuple(
                Attacker(str(k), tuple(known.tolist()), spared=tuple(spared.tolist()))
                for k, (known, spared) in enumerate(zip(core.attackers, core.spared, strict=True))
            ),
        )
        ends = np.cumsum([0, *(len(cells) for cells, _ in core.members)])
        cells = np.concatenate([cells for cells, _ in core.members])
        scale = np.concatenate([scale for _, scale in core.members])
        self._lift = sparse.csr_array((scale, cells, ends), shape=(n, 1 + int(cells.max(initial=0))))
        self._first, self._scale = cells[ends[:-1]], scale[ends[:-1]]

    def lift(self, deviations: Sequence[Deviation]) -> sparse.csr_array:
        """Return deviations of this part as those of the whole problem, one a row."""
        ends = np.concatenate(([0], np.cumsum([len(d.cells) for d in deviations])))
        cells = np.concatenate([np.zeros(0, np.int64), *(d.cells for d in deviations)])
        z = np.concatenate([np.zeros(0), *(d.z for d in deviations)])
        return sparse.csr_array((z, cells, ends), shape=(len(deviations), self.core.n)) @ self._lift

    def restrict(self, deviations: Sequence[Deviation]) -> sparse.csr_array:
        """Return what deviations of the whole problem do in this part, one a row."""
        width = self._lift.shape[1]
        place = np.full(width, -1)
        place[self._first] = np.arange(self.core.n)
        which = np.repeat(np.arange(len(deviations)), [len(d.cells) for d in deviations])
        cells = np.concatenate([np.zeros(0, np.int64), *(d.cells for d in deviations)])
        z = np.concatenate([np.zeros(0), *(d.z for d in deviations)])
        mine = cells < width
        mine[mine] = place[cells[mine]] >= 0
        column = place[cells[mine]]
        z = z[mine] / self._scale[column]
        return sparse.coo_array((z, (which[mine], column)), shape=(len(deviations), self.core.n)).tocsr()
