"""Which codes are rolled up into their parents, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.methods.recoding.fewer_codes import without_cells
from tabprotect.solver.gap import relative_gap
from tabprotect.table.hierarchy import Hierarchy
from tabprotect.table.table import Table

__all__ = ["RecodingResult"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RecodingResult:
    """Which codes are rolled up into their parents.

    Attributes
    ----------
    table : Table
        Before recoding.
    collapsed : dict of str to tuple of str
        For every dimension the codes whose parts are given up.
    removed : ndarray of bool
        Cells that the recoded table does not have.
    cost, bound : float or None
        Sum of the weights of the removed cells, and what no other roll-up can fall below.
    status : {'optimal', 'feasible', 'infeasible', 'unknown'}
        'infeasible': some sensitive cell has no code that may be given up; the message names it.
    seconds, work :
        What was spent.
    message : str
    """

    table: Table = field(repr=False)
    collapsed: Mapping[str, tuple[str, ...]]
    removed: Bools = field(repr=False)
    cost: float | None
    bound: float | None
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    seconds: float = 0.0
    work: int = 0
    message: str = ""

    @property
    def gap(self) -> float | None:
        """(cost - bound) / cost as a fraction; None without both numbers."""
        return relative_gap(self.cost, self.bound)

    def hierarchies(self) -> dict[str, Hierarchy]:
        """Return the hierarchies without the codes that are given up, for tabulating the records anew."""
        found = {}
        for dimension in self.table.dimensions:
            given_up = set(self.collapsed.get(dimension.name, ()))
            splits, kept = [], [dimension.hierarchy.total]
            for parent, parts in dimension.hierarchy.splits:
                if parent in kept and parent not in given_up:
                    splits.append((parent, parts))
                    kept.extend(parts)
            hierarchy = dimension.hierarchy
            found[dimension.name] = Hierarchy(tuple(splits), (hierarchy.total,), hierarchy.labels)
        return found

    def recoded(self) -> Table:
        """Return the table without the cells that are given up."""
        return without_cells(self.table, self.removed, self.hierarchies())
