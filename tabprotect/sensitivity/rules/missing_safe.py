"""Cells of unknown codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabprotect.problem import Status
from tabprotect.sensitivity.rule import Decisions, Spoken
from tabprotect.table.table import Table

__all__ = ["MissingSafe"]


@dataclass(frozen=True)
class MissingSafe(Spoken):
    """A cell with a missing ("unknown") code is safe whatever the rules say: its contributors cannot be recognised.

    A table without missing codes is left as it is. A status column or an a-priori file may still mark such a cell.

    References
    ----------
    tau-ARGUS 4.1 manual, section 4.4.4 (missing = safe).
    """

    keywords: ClassVar[tuple[str, ...]] = ("missing", "MIS")
    rank: ClassVar[int] = 1

    def decide(self, table: Table) -> Decisions:
        """Return SAFE for all cells with a missing code."""
        decisions = Decisions.none(table.n_cells)
        if table.missing is not None:
            decisions.status[np.asarray(table.missing, dtype=bool)] = Status.SAFE
        return decisions
