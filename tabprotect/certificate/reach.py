"""How far noise in proportion may carry a value, and what a published value says of the true one then.

The standard library only, in exact fractions.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import accumulate, pairwise
from typing import Any

from tabprotect.certificate.document import fraction, list_of, require

__all__ = ["Reach"]

_DIGITS = 400


@dataclass(frozen=True)
class Reach:
    """The largest change N(a) of a true value a >= 0: a polygon through points, then a straight line.

    Attributes
    ----------
    at, far : tuple of Fraction
        Corners: true values, the first 0, ascending; and the largest change there, never falling.
    slope : Fraction
        Of the line after the last corner.
    """

    at: tuple[Fraction, ...]
    far: tuple[Fraction, ...]
    slope: Fraction
    _most: tuple[Fraction, ...] = field(init=False, repr=False)
    _least: tuple[Fraction, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # a + N(a) rises; a - N(a) need not, so its smallest value from each corner on is kept
        object.__setattr__(self, "_most", tuple(a + n for a, n in zip(self.at, self.far, strict=True)))
        falling = (a - n for a, n in zip(reversed(self.at), reversed(self.far), strict=True))
        object.__setattr__(self, "_least", tuple(accumulate(falling, min))[::-1])

    @classmethod
    def read(cls, corners: Any, slope: Any) -> Reach:
        """Read pairs of numbers written as text; `Malformed` says what is wrong with them."""
        pairs = [list_of(pair, "reach") for pair in list_of(corners, "reach")]
        require(bool(pairs) and all(len(pair) == 2 for pair in pairs), "'reach' must be pairs: a true value, a change")
        at, far = ([fraction(pair[k], "reach", _DIGITS) for pair in pairs] for k in (0, 1))
        rising = all(x < y for x, y in pairwise(at))
        rising &= all(x <= y for x, y in pairwise(far))
        require(at[0] == 0 and far[0] >= 0 and rising, "'reach' must start at 0 and rise")
        line = fraction(slope, "slope", _DIGITS)
        require(line >= 0, "'slope' must be at least 0")
        return cls(tuple(at), tuple(far), line)

    def __call__(self, a: Fraction) -> Fraction:
        """Return the largest change of a true value.

        Examples
        --------
        >>> reach = Reach.read([["0", "0"], ["10", "3"]], "0.1")
        >>> [str(reach(Fraction(a))) for a in (5, 10, 30)]
        ['3/2', '3', '5']
        """
        k = bisect_right(self.at, a) - 1
        return self.far[k] + self._rise(k) * (a - self.at[k])

    def known(self, v: Fraction) -> tuple[Fraction, Fraction | None]:
        """Return the smallest and largest true value that may become a published value; None: no limit.

        Examples
        --------
        >>> low, high = Reach.read([["0", "0"]], "0.25").known(Fraction(75))
        >>> int(low), int(high)
        (60, 100)
        """
        k = bisect_left(self._most, v) - 1
        low = Fraction(0) if k < 0 else self.at[k] + (v - self._most[k]) / (1 + self._rise(k))
        k = bisect_right(self._least, v) - 1
        if self.slope > 1 or (self.slope == 1 and k == len(self.at) - 1):
            return low, None
        if k < 0:
            return low, Fraction(0)
        return low, self.at[k] + (v - self.at[k] + self.far[k]) / (1 - self._rise(k))

    def _rise(self, k: int) -> Fraction:
        if k == len(self.at) - 1:
            return self.slope
        return (self.far[k + 1] - self.far[k]) / (self.at[k + 1] - self.at[k])
