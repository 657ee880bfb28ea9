"""What single equations near a known cell say about how far other cells can go."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tabprotect.problem import Problem, Status
from tabprotect.solver.ranges import entries_of
from tabprotect.solver.tolerances import NARROWED

__all__ = ["Near"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Near:
    """How far cells can go with everything hidden, by single equations near the cells that somebody knows.

    Parameters
    ----------
    problem : Problem
    passes : int
        So often bounds that follow from equations are carried on to the next ones.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [100, 90, 10], primary=[0, 1], lpl=15, upl=15)
    >>> near = Near(p, passes=8)
    >>> near.reach({1}, near.equations({1}))[0]
    {0: (10.0, inf)}
    """

    def __init__(self, problem: Problem, passes: int) -> None:
        self._passes = passes
        self.A = problem.system.A
        self.columns = self.A.tocsc()
        self.primary = problem.status == Status.PRIMARY
        free = problem.may_hide
        self._least, self._most = np.where(free, problem.down, 0.0), np.where(free, problem.up, 0.0)
        self.down, self.up = self._least.copy(), self._most.copy()

    def equations(self, cells: Iterable[int]) -> Ints:
        """Equations that hold one of some cells."""
        found, _ = entries_of(self.columns.indptr, np.array(sorted(cells), np.int64))
        return np.unique(self.columns.indices[found]).astype(np.int64)

    def reach(self, known: set[int], rows: Ints) -> tuple[dict[int, tuple[float, float]], Ints]:
        """Return how far down and up primary cells can go that have less room than their bounds allow.

        The search begins with some equations; those of cells that lose room come next. All that were looked at are
        returned, too.

        In sum a_i z_i = 0 no term goes further than all others together go the other way, each as far as its bounds
        allow. A known cell has no room, so others may lose some.
        """
        mine, down, up = np.array(sorted(known), dtype=np.int64), self.down, self.up
        down[mine] = up[mine] = 0.0
        met, seen = np.zeros(0, np.int64), rows
        for _ in range(self._passes):
            entries, length = entries_of(self.A.indptr, rows)
            index, data = self.A.indices[entries], self.A.data[entries]
            size = np.abs(data)
            lower, higher = np.where(data > 0, (down[index], up[index]), (up[index], down[index])) * size
            room = np.array((_of_others(higher, length), _of_others(lower, length))) / size
            least, most = np.where(data > 0, room, room[::-1])
            less = (least < down[index] * (1 - NARROWED)) | (most < up[index] * (1 - NARROWED))
            np.minimum.at(down, index[less], least[less])
            np.minimum.at(up, index[less], most[less])
            narrower = np.unique(index[less])
            if not len(narrower):
                break
            met = np.union1d(met, narrower)
            rows = self.equations(narrower.tolist())
            seen = np.union1d(seen, rows)
        found = {c: (float(down[c]), float(up[c])) for c in met.tolist() if self.primary[c] and c not in known}
        # the arrays are as long as the table, what was touched is not
        touched = np.union1d(met, mine).astype(np.int64)
        down[touched], up[touched] = self._least[touched], self._most[touched]
        return found, seen


def _of_others(room: Floats, length: Ints) -> Floats:
    """For each term the sum of all other ones of its row (at least 0), which may be infinite."""
    row = np.repeat(np.arange(len(length)), length)
    endless = np.isinf(room)
    finite = np.where(endless, 0.0, room)
    total, many = np.bincount(row, finite, len(length))[row], np.bincount(row, endless, len(length))[row]
    return np.where(many > endless, np.inf, np.maximum(total - finite, 0.0))
