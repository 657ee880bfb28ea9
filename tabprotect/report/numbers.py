"""How pages write numbers: the decimal sign, the sign between thousands, and how many decimals."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from tabprotect.counted import counted
from tabprotect.formats.dialect import Dialect
from tabprotect.table.decimals import MOST_DECIMALS

__all__ = ["STANDARD", "Numbers"]


_LONG: Final = 1e5
"""From here on six digits are too few to show the decimals of a value."""

_SHARE: Final = re.compile(r"(?<![\w.,])\d+\.\d+(?= ?%(?!=))")
"""A percentage in a text."""

_COST: Final = re.compile(r"(?:(?<=\bcost )|(?<=\bby up to )|(?<=\bbase ))\d[\d,]*(?:\.\d+)?(?![\d.,]*\w)")
"""A cost in a text, the base of a rounding, or how far sums are off."""

_COUNT: Final = re.compile(r"(?<![\w.,-])\d{1,3}(?:,\d{3})+(?![\w-]|[.,]\d)")
"""A whole number with commas between thousands in a text."""


@dataclass(frozen=True)
class Numbers:
    r"""Signs of numbers that people read.

    Parameters
    ----------
    decimal, thousands : str

    Examples
    --------
    >>> german = Numbers(",", ".")
    >>> german(1234.5, ",.2f"), german.fixed(1234.5, 2), german.fixed(1 / 8, None), german.counted(2000, "cell")
    ('1.234,50', '1.234,50', '0,125', '2.000 cells')
    """

    decimal: str = "."
    thousands: str = ","

    @classmethod
    def of(cls, dialect: Dialect) -> Numbers:
        """Return the signs of a dialect."""
        return cls(dialect.decimal, dialect.between_thousands)

    def __call__(self, value: float, form: str = ",") -> str:
        """Return a number in a form of Python's, with these signs."""
        return format(value, form).translate({ord("."): self.decimal, ord(","): self.thousands})

    def fixed(self, value: float, decimals: int | None) -> str:
        """Return a number with so many decimals; None: those that it has, at most six."""
        if decimals is not None:
            return self(value, f",.{max(0, decimals)}f")
        text = format(value, f",.{MOST_DECIMALS}f").rstrip("0").rstrip(".")
        return text.translate({ord("."): self.decimal, ord(","): self.thousands})

    def plain(self, value: float) -> str:
        """Return a number with the decimals that it has: a cost, a bound.

        Examples
        --------
        >>> Numbers(",", ".").plain(301632.0), STANDARD.plain(0.125)
        ('301.632', '0.125')
        """
        return self(value, ",.0f" if float(value).is_integer() else ",.10g")

    def said(self, text: str) -> str:
        """Return a sentence of the program, which names no cells, with these signs: its percentages, costs and counts.

        Examples
        --------
        >>> Numbers(",", ".").said("1,200 cells are at most 3,000, optimal to within 9.88 %")
        '1.200 cells are at most 3.000, optimal to within 9,88 %'
        >>> Numbers(",", ".").said("a pattern of cost 3,286,278.42 is not looked at")
        'a pattern of cost 3.286.278,42 is not looked at'
        >>> Numbers(",", ".").said("base 0.5; 1,200 of 3,000 sums do not hold, by up to 12.4")
        'base 0,5; 1.200 of 3.000 sums do not hold, by up to 12,4'
        """
        signs = {ord("."): self.decimal, ord(","): self.thousands}
        kept: list[str] = []

        def cost(found: re.Match[str]) -> str:
            kept.append(found[0].translate(signs))
            return "\0"

        counts = _COUNT.sub(lambda found: found[0].replace(",", self.thousands), self.words(_COST.sub(cost, text)))
        return re.sub("\0", lambda _: kept.pop(0), counts)

    def counted(self, number: int, one: str, several: str = "") -> str:
        """Return a number and what is counted."""
        return f"{self(number)} {counted(number, one, several).partition(' ')[2]}"

    def words(self, value: Any) -> str:
        """Return what a table of facts shows; percentages in words have the decimal sign, too.

        Examples
        --------
        >>> Numbers(",", ".").words(301632.2), Numbers(",", ".").words("proven to within 9.88 %, rule p%=2.5")
        ('301.632,2', 'proven to within 9,88 %, rule p%=2.5')
        """
        if value is None:
            return "–"
        if isinstance(value, float):
            return self(value, ",.6g" if abs(value) < _LONG else ",.10g")
        if isinstance(value, str):
            return _SHARE.sub(lambda found: found[0].replace(".", self.decimal), value)
        return self(value) if isinstance(value, int) and not isinstance(value, bool) else str(value)


STANDARD: Final = Numbers()
"""Point, and commas between thousands."""
