"""The p% rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.sensitivity.rule import Needs, Spoken, Verdict, percentage, whole
from tabprotect.sensitivity.rules.pq import PQ
from tabprotect.table.table import Table

__all__ = ["PPercent"]


@dataclass(frozen=True)
class PPercent(Spoken):
    """A cell is sensitive when a coalition of `n` contributors can estimate the largest one to within p per cent.

    Sensitive: X - x_1 - ... - x_{n+1} < p/100 x_1, with X the cell total and x_1 >= x_2 >= ... the contributions.
    Levels: UPL = p/100 x_1 - (X - x_1 - ... - x_{n+1}), LPL = UPL: with an upper bound X + UPL the coalition
    2, ..., n+1 gets an estimate of x_1 that is p per cent too high.

    Sampling weights, holdings and waivers enter as `tabprotect.sensitivity.concentration.coalition` says. Negative
    contributions count by their absolute value (X too); where they are common the Handbook advises a smaller p or a
    minimum frequency rule instead. One contributor alone is always sensitive, with level p/100 x_1.

    Parameters
    ----------
    p : float
        Per cent of the largest contribution (> 0).
    n : int
        Size of the coalition of guessing contributors.

    References
    ----------
    Hundepool et al., Handbook on Statistical Disclosure Control, section 4.2, tables of sensitivity rules and of upper
    protection levels; Loeve (2001), Notes on sensitivity measures and protection levels, for coalitions.

    Examples
    --------
    >>> PPercent(15).n, str(PPercent(15)), str(PPercent(15, 2))
    (1, 'p%=15', 'p%=15,2')
    """

    p: float
    n: int = 1
    keywords: ClassVar[tuple[str, ...]] = ("p%", "P")
    among_respondents: ClassVar[bool] = True

    def __post_init__(self) -> None:
        percentage(self, "p", self.p)
        whole(self, "n", self.n)

    def needs(self) -> Needs:
        """Return what the table must carry."""
        return Needs(top=self.n + 1)

    def measure(self, table: Table) -> npt.NDArray[np.float64]:
        """Return the sensitivity measure of every cell; see `tabprotect.sensitivity.rule.measure`."""
        return PQ(self.p, 100.0, self.n).measure(table)

    def judge(self, table: Table) -> Verdict:
        """Return the sensitive cells and their levels."""
        return PQ(self.p, 100.0, self.n).judge(table)

    def explain(self, table: Table, cell: int) -> str:
        """Say how the rule reads one cell."""
        return PQ(self.p, 100.0, self.n).explain(table, cell)
