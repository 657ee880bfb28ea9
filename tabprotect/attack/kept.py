"""The programmes of one pattern, kept for patterns inside it: what is published there is fixed."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.attackers import AttackProgramme
from tabprotect.attack.region import open_region

__all__ = ["KeptProgrammes"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

_KEPT = 16
"""So many programmes are kept."""

_CELLS = 30_000
"""Programmes of larger patterns serve one check only, for the memory that they take."""

_PUBLISHED = 0.1
"""A pattern with a larger share of the cells published has programmes of its own, of fewer cells."""


class KeptProgrammes:
    """What can move under a pattern, and the last programmes about it.

    From the basis of another intruder, or of another pattern inside this one, a programme takes a few iterations, from
    none as many as there are equations.

    Parameters
    ----------
    columns : scipy.sparse.csc_array
        All equations.
    hidden : ndarray of bool
        The pattern.

    Attributes
    ----------
    region : Region
    """

    def __init__(self, columns: sparse.csc_array, hidden: Bools) -> None:
        self.region = open_region(columns, np.flatnonzero(hidden))
        self._hidden = hidden.copy()
        self._size = int(hidden.sum())
        self._programmes: dict[tuple[bytes, bool], AttackProgramme] = {}

    @property
    def lasting(self) -> bool:
        """Whether the next check may use them."""
        return self._size <= _CELLS

    def serves(self, hidden: Bools) -> bool:
        """Whether a pattern lies inside, and is nearly as large."""
        return int(hidden.sum()) >= (1 - _PUBLISHED) * self._size and not bool((hidden & ~self._hidden).any())

    def published(self, hidden: Bools) -> Ints:
        """Cells that can move here, and that a pattern inside does not hide."""
        return np.asarray(self.region.cells[~hidden[self.region.cells]], np.int64)

    def drop_slow(self) -> None:
        """Give up programmes that would go on from the last basis however long that takes."""
        self._programmes = {key: programme for key, programme in self._programmes.items() if not programme.slow}

    def find(self, columns: Ints, capped: bool) -> AttackProgramme | None:
        """Return the last programme of some columns of the region."""
        found = self._programmes.pop((columns.tobytes(), capped), None)
        if found is not None:
            self.keep(found, capped)
        return found

    def keep(self, programme: AttackProgramme, capped: bool) -> None:
        """Keep a programme in place of the one that was not used for longest."""
        if len(self._programmes) >= _KEPT:
            self._programmes.pop(next(iter(self._programmes)))
        self._programmes[programme.columns.tobytes(), capped] = programme
