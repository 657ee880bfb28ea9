"""Zero cells with contributors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from tabprotect.sensitivity.concentration import counts, everybody_waived
from tabprotect.sensitivity.rule import Needs, Spoken, Verdict, percentage
from tabprotect.table.decimals import written
from tabprotect.table.table import Table

__all__ = ["ZeroUnsafe"]


@dataclass(frozen=True)
class ZeroUnsafe(Spoken):
    """A cell of value zero that has contributors is sensitive: publishing it tells that each of them has zero.

    Levels: UPL = `range` in the unit of the values (a percentage of zero would be zero), LPL = 0, since everybody knows
    that nothing lies below zero; where the cell has a lower bound below zero, give levels of your own.
    Empty cells (no contributors) are not concerned.

    Parameters
    ----------
    range : float
        Upper protection level, in the unit of the values.

    References
    ----------
    tau-ARGUS 4.1 manual, section 4.4.4 (zero unsafe).
    """

    range: float = 1.0
    keywords: ClassVar[tuple[str, ...]] = ("zero", "ZERO")

    def __post_init__(self) -> None:
        percentage(self, "range", self.range)

    def needs(self) -> Needs:
        """Return what the table must carry."""
        return Needs(counts=True)

    def judge(self, table: Table) -> Verdict:
        """Return the sensitive cells and their levels."""
        cells = np.flatnonzero((table.values == 0) & (counts(table) > 0) & ~everybody_waived(table))
        return Verdict(cells, np.zeros(len(cells)), np.full(len(cells), float(self.range)))

    def explain(self, table: Table, cell: int) -> str:
        """Say how the rule reads one cell."""
        value, count = (written(one[cell], table.decimal) for one in (table.values, counts(table)))
        return f"value {value} from {count} contributors"
