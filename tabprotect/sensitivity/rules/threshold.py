"""The minimum frequency (threshold) rule."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np
import numpy.typing as npt

from tabprotect.sensitivity.concentration import counts, everybody_waived
from tabprotect.sensitivity.rule import Needs, Spoken, Verdict, percentage, plain, ranged, whole
from tabprotect.table.decimals import written
from tabprotect.table.table import Table

__all__ = ["Threshold"]

NOISE: Final = 1e-9
"""Sums of sampling weights that are this near to the threshold have reached it."""


@dataclass(frozen=True)
class Threshold(Spoken):
    """A cell is sensitive when it has contributors, but fewer than `n`.

    The rule gives no protection levels of its own; both are `range` per cent of the value (the Handbook, section
    4.2, and the safety range of tau-ARGUS), at least the smallest level of `tabprotect.sensitivity.assess`.
    Holdings count once. A record of sampling weight w counts as w contributors. Cells in which everybody has waived
    are safe. Empty cells are.

    Parameters
    ----------
    n : int
        Smallest number of contributors of a safe cell: "two or fewer are sensitive" is n = 3.
    range : float
        Protection levels in per cent of the cell value.

    Examples
    --------
    >>> str(Threshold(3)), str(Threshold(3, 30))
    ('threshold=3', 'threshold=3,30')
    """

    n: int
    range: float = 10.0
    keywords: ClassVar[tuple[str, ...]] = ("threshold", "FREQ")
    among_respondents: ClassVar[bool] = True

    def __post_init__(self) -> None:
        whole(self, "n", self.n)
        percentage(self, "range", self.range, zero=True)

    def needs(self) -> Needs:
        """Return what the table must carry."""
        return Needs(counts=True)

    def measure(self, table: Table) -> npt.NDArray[np.float64]:
        """Return the sensitivity measure of every cell; see `tabprotect.sensitivity.rule.measure`.

        A sum is sensitive only if each of its cells is, or is empty. With sampling weights a holder of several cells
        has a mean of his weights, no less than the smallest of all, that of contributions that are not kept included.
        """
        count = counts(table)
        c = table.contributions
        if table.weighted_counts is not None and table.counts is not None and c is not None and not plain(c):
            kept = float(np.min(c.weights[c.weights > 0], initial=1.0))
            count = table.counts * min(kept, kept if c.lightest is None else c.lightest)
        return np.where(count >= self.n - NOISE, -np.inf, (count > 0).astype(np.float64))

    def judge(self, table: Table) -> Verdict:
        """Return the sensitive cells and their levels."""
        count = counts(table)
        few = (count > 0) & (count < self.n - NOISE) & ~everybody_waived(table)
        return ranged(table, np.flatnonzero(few), self.range)

    def explain(self, table: Table, cell: int) -> str:
        """Say how the rule reads one cell."""
        count = float(counts(table)[cell])
        sign = "<" if count < self.n - NOISE else ">="
        return f"{written(count, table.decimal, 'g')} contributor{'' if count == 1 else 's'} {sign} {self.n}"
