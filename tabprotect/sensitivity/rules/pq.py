"""The prior-posterior rule."""

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

__all__ = ["PQ"]


@dataclass(frozen=True)
class PQ(Spoken):
    """As the p% rule, against guessers who could estimate every other contribution to within q per cent before.

    Sensitive: q/100 (X - x_1 - ... - x_{n+1}) < p/100 x_1.
    Levels: UPL = p/q x_1 - (X - x_1 - ... - x_{n+1}), LPL = UPL.

    With q = 100 this is `PPercent`; only the ratio p/q matters (Handbook on Statistical Disclosure Control, section
    4.2).

    Parameters
    ----------
    p, q : float
        Per cent, 0 < p < q: a publication must not sharpen the guess from q to p.
    n : int
        Size of the coalition of guessing contributors.

    Examples
    --------
    >>> str(PQ(10, 50))
    'pq=10,50'
    """

    p: float
    q: float
    n: int = 1
    keywords: ClassVar[tuple[str, ...]] = ("pq",)
    among_respondents: ClassVar[bool] = True

    def __post_init__(self) -> None:
        percentage(self, "p", self.p)
        percentage(self, "q", self.q)
        whole(self, "n", self.n)
        if self.q != 100 and self.p >= self.q:
            raise InputError(f"PQ: p must be below q (the guess before publication); p is {self.p:g}, q is {self.q:g}")

    def needs(self) -> Needs:
        """Return what the table must carry."""
        return Needs(top=self.n + 1)

    def measure(self, table: Table) -> npt.NDArray[np.float64]:
        """Return the sensitivity measure of every cell; see `tabprotect.sensitivity.rule.measure`."""
        who = coalition(contributions(table), self.n + 1)
        return np.asarray((self.p * who.target - self.q * who.rest) / self.q)

    def judge(self, table: Table) -> Verdict:
        """Return the sensitive cells and their levels."""
        return verdict(table, self.measure(table), TIE * contributions(table).total)

    def explain(self, table: Table, cell: int) -> str:
        """Say how the rule reads one cell."""
        c = contributions(table)
        who = coalition(c, self.n + 1)
        target, rest = float(who.target[cell]), float(who.rest[cell])
        others = float(who.together[cell]) - target
        if abs(rest) <= max(table.residual, TIE * c.total[cell]):
            rest = 0.0
        name = f" ({c.names[who.holder[cell]]})" if who.holder[cell] >= 0 else ""
        share = self.p / self.q
        number = partial(written, decimal=table.decimal)
        sign = "<" if self.p * target - self.q * rest > TIE * self.q * c.total[cell] else ">="
        return (
            f"of the total {number(c.total[cell])} the largest contributor{name} has {number(target)}, the next "
            f"{self.n} together {number(others)}; the rest {number(rest)} {sign} {number(100 * share, form='g')} % of "
            f"{number(target)} = {number(share * target)}"
        )
