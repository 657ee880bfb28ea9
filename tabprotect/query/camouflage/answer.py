"""What a camouflaged query returns: an interval, a point in it and a guarantee."""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["Answer"]


@dataclass(frozen=True)
class Answer:
    """An interval that holds the true answer: a function of the protecting vectors, never of the true values.

    Attributes
    ----------
    low, high : float
        The interval [r-, r+], in units of the answer; infinite where the query has no bound on the hull.
    exact : bool
        True: the least and the largest answer of the vectors of the hull, up to rounding errors (which the interval
        includes). False: a safe outer bound, which may be wider than the hull requires.
    may_be_empty : bool
        Whether some vectors of the hull have no record that meets the conditions, so that they give no answer.

    Examples
    --------
    >>> answer = Answer(10.0, 14.0, True)
    >>> answer.point, answer.guarantee, answer.width, 11.5 in answer
    (12.0, 2.0, 4.0, True)
    """

    low: float
    high: float
    exact: bool
    may_be_empty: bool = False

    @property
    def point(self) -> float:
        """The point answer r, the middle of the interval; nan where the interval is infinite."""
        if math.isfinite(self.low) and math.isfinite(self.high):
            return self.low + (self.high - self.low) / 2
        return math.nan

    @property
    def guarantee(self) -> float:
        """The guarantee g: the true answer lies in [r - g, r + g]."""
        point = self.point
        return math.inf if math.isnan(point) else max(self.high - point, point - self.low)

    @property
    def width(self) -> float:
        """Upper minus lower end."""
        return self.high - self.low

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high
