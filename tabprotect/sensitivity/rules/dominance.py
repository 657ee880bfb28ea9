"""The (n, k) dominance rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError
from tabprotect.sensitivity.concentration import coalition, contributions, verdict
from tabprotect.sensitivity.rule import TIE, Needs, Spoken, Verdict, percentage, whole
from tabprotect.table.decimals import written
from tabprotect.table.table import Table

__all__ = ["Dominance"]


@dataclass(frozen=True)
class Dominance(Spoken):
    """A cell is sensitive when its `n` largest contributors make up more than `k` per cent of it.

    Sensitive: x_1 + ... + x_n > k/100 X. Levels: UPL = 100/k (x_1 + ... + x_n) - X, LPL = UPL: at a total of X +
    UPL the n largest would make up k per cent exactly.

    Sampling weights, holdings and waivers enter as `tabprotect.sensitivity.concentration.coalition` says; negative
    contributions count by their absolute value (X too).

    Parameters
    ----------
    n : int
        Number of largest contributors.
    k : float
        Per cent of the cell total, 0 < k < 100.

    References
    ----------
    Hundepool et al., Handbook on Statistical Disclosure Control, section 4.2.

    Examples
    --------
    >>> str(Dominance(2, 85))
    'nk=2,85'
    """

    n: int
    k: float
    keywords: ClassVar[tuple[str, ...]] = ("nk", "NK", "dominance")

    def __post_init__(self) -> None:
        whole(self, "n", self.n)
        percentage(self, "k", self.k, most=100)
        if self.k == 100:
            raise InputError("Dominance: k = 100 marks no cell; give a percentage below 100, or use threshold=")

    def needs(self) -> Needs:
        """Return what the table must carry."""
        return Needs(top=self.n)

    def measure(self, table: Table) -> npt.NDArray[np.float64]:
        """Return the sensitivity measure of every cell; see `tabprotect.sensitivity.rule.measure`."""
        c = contributions(table)
        return np.asarray((100 * coalition(c, self.n).together - self.k * c.total) / self.k)

    def judge(self, table: Table) -> Verdict:
        """Return the sensitive cells and their levels."""
        return verdict(table, self.measure(table), TIE * contributions(table).total)

    def explain(self, table: Table, cell: int) -> str:
        """Say how the rule reads one cell."""
        c = contributions(table)
        total, together = float(c.total[cell]), float(coalition(c, self.n).together[cell])
        share = 100 * together / total if total else 0.0
        sign = ">" if 100 * together - self.k * total > TIE * self.k * total else "<="
        number = partial(written, decimal=table.decimal)
        per_cent = f"{number(share, form='.4g')} % {sign} {number(self.k, form='g')} %"
        return f"the {self.n} largest contributors have {number(together)} of {number(total)}, {per_cent}"
