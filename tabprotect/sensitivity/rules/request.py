"""The request rule of foreign trade statistics."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.sensitivity.concentration import contributions, counts, everybody_waived
from tabprotect.sensitivity.rule import TIE, Needs, Spoken, Verdict, percentage, ranged, whole
from tabprotect.table.decimals import written
from tabprotect.table.table import Table

__all__ = ["Request"]


@dataclass(frozen=True)
class Request(Spoken):
    """A cell is sensitive when a contributor who asked for protection has more than a percentage of it.

    A contributor with request code c in {1, 2} makes the cell sensitive if x > p_c/100 X. With `n` given, a cell with a
    request and fewer than n contributors is sensitive too, since a large contributor who did not ask could reveal a
    small one who did. Levels are `range` per cent of the value.

    Parameters
    ----------
    p1 : float
        Per cent of the cell total for contributors with request code 1.
    p2 : float, optional
        The same for code 2; by default as `p1`.
    range : float
        Protection levels in per cent of the cell value.
    n : int
        Smallest number of contributors of a safe cell with a request (0: not asked for).

    References
    ----------
    tau-ARGUS 4.1 manual, section 4.4.4; Regulation (EC) 638/2004 on foreign trade statistics.

    Examples
    --------
    >>> str(Request(70, 85))
    'request=70,85'
    """

    p1: float
    p2: float | None = None
    range: float = 10.0
    n: int = 0
    keywords: ClassVar[tuple[str, ...]] = ("request", "REQ")

    def __post_init__(self) -> None:
        percentage(self, "p1", self.p1, most=100)
        if self.p2 is not None:
            percentage(self, "p2", self.p2, most=100)
        percentage(self, "range", self.range, zero=True)
        whole(self, "n", self.n, least=0)

    @property
    def _percent(self) -> tuple[float, float]:
        return self.p1, self.p1 if self.p2 is None else self.p2

    def needs(self) -> Needs:
        """Return what the table must carry: fewer than 100/p contributors can have more than p per cent."""
        return Needs(top=max(1, math.ceil(100 / min(self._percent)) - 1, self.n - 1), counts=self.n > 0, requests=True)

    def _asking(self, table: Table) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
        """Per kept contribution: its limit (inf without request), and whether it is above."""
        c = contributions(table)
        code = np.where(c.weights > 0, c.requested, 0)
        limit = np.where(code > 0, np.array([0.0, *self._percent])[code] * c.total[:, None], np.inf)
        return limit, 100 * c.values > limit * (1 + TIE)

    def judge(self, table: Table) -> Verdict:
        """Return the sensitive cells and their levels."""
        limit, above = self._asking(table)
        sensitive = above.any(axis=1)
        if self.n:
            sensitive |= np.isfinite(limit).any(axis=1) & (counts(table) < self.n)
        return ranged(table, np.flatnonzero(sensitive & ~everybody_waived(table)), self.range)

    def explain(self, table: Table, cell: int) -> str:
        """Say how the rule reads one cell."""
        c = contributions(table)
        limit, above = self._asking(table)
        asking = np.flatnonzero(np.isfinite(limit[cell]))
        if not len(asking):
            return "none of the largest contributors asked for protection"
        first = int(asking[np.argmax(above[cell, asking])])
        share = 100 * float(c.values[cell, first]) / float(c.total[cell]) if c.total[cell] else 0.0
        percent = self._percent[int(c.requested[cell, first]) - 1]
        number = partial(written, decimal=table.decimal)
        sign = ">" if above[cell, first] else "<="
        words = f"a contributor who asked has {number(share, form='.4g')} % {sign} {number(percent, form='g')} %"
        return words + (f"; {number(counts(table)[cell])} contributors, {self.n} wanted" if self.n else "")
