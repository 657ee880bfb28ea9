"""What an intruder knows of a masking method and its parameters, as limits of the masked value of a record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import stats

from tabprotect.errors import InputError
from tabprotect.kinds import check_fields

__all__ = [
    "ConsecutiveGroups",
    "FuzzyDraw",
    "Knowledge",
    "RankDraw",
    "RankWindow",
    "ValueWindow",
    "need_coverage",
]

Floats = npt.NDArray[np.float64]


@runtime_checkable
class Knowledge(Protocol):
    """Anything that limits the masked value by the original one, by column (sets B_j of Torra, section 4).

    Limits do not fall as values grow. With ``same_values = True`` the masked column holds the original values in
    another order.
    """

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest masked value of each record.

        Parameters
        ----------
        values : ndarray of float, shape (records,)
            Original values that the intruder knows, without missing ones.
        masked : ndarray of float, shape (masked records,)
            The released column, in ascending order, without missing values.
        """
        ...


@dataclass(frozen=True)
class ConsecutiveGroups:
    """Univariate microaggregation, fixed or optimal: groups are consecutive in the order of the column.

    The masked value of x is the smallest one above x, the largest one below x, or x itself. Torra states it for
    columns without repeated values as ``v_n = min of masked values >= x`` and ``v_x = max of masked values <= x``; with
    repeated values, records of one value may be in groups on both sides of a group whose average it is, so all three
    are kept. Averages may be means, medians or modes.

    Examples
    --------
    >>> low, high = ConsecutiveGroups().limits(np.array([4.0]), np.array([2.0, 2.0, 5.0, 5.0, 9.0, 9.0]))
    >>> low.tolist(), high.tolist()
    ([2.0], [5.0])
    """

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return the neighbouring masked values; rounding of averages is allowed for."""
        slack = 1e-9 * np.maximum(np.abs(values), 1e-300)
        below = np.searchsorted(masked, values - slack, side="left") - 1
        above = np.searchsorted(masked, values + slack, side="right")
        low = masked[np.maximum(below, 0)]
        high = masked[np.minimum(above, len(masked) - 1)]
        return low, high


@dataclass(frozen=True)
class RankWindow:
    """Rank swapping: a value is exchanged for one whose rank is at most so many percent of the records away.

    Ranks are those in the masked column, which holds the same values; equal values have all of their ranks.

    Parameters
    ----------
    percent : float
        Above 0, at most 100.
    """

    same_values: ClassVar[bool] = True

    percent: float

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 < self.percent <= 100:
            raise InputError(
                f"rank swapping exchanges within above 0 to 100 percent of the ranks, not {self.percent!r}"
            )

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return the values at both ends of the window.

        Examples
        --------
        >>> low, high = RankWindow(20).limits(np.array([3.0]), np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
        >>> low.tolist(), high.tolist()
        ([2.0], [4.0])
        """
        return _window(values, masked, math.floor(self.percent / 100 * len(masked) + 1e-9))


@dataclass(frozen=True)
class RankDraw:
    """Rank swapping with a random distance of ranks (p-distribution rank swapping of Nin, Herranz and Torra).

    Distances are the size of a normal number whose mean and standard deviation are half of `percent`; partners that are
    taken already move some further, so that no limit is certain.

    Parameters
    ----------
    percent : float
        Above 0, at most 100: the parameter p of the method.
    coverage : float
        Probability that a distance as drawn is within the limits.
    """

    same_values: ClassVar[bool] = True

    percent: float
    coverage: float = 0.999

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 < self.percent <= 100:
            raise InputError(f"p of rank swapping is above 0 to 100 percent of the ranks, not {self.percent!r}")
        need_coverage(self.coverage)

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return the values at both ends of the likely distances.

        Examples
        --------
        >>> low, high = RankDraw(20, coverage=0.5).limits(np.array([3.0]), np.arange(1.0, 11.0))
        >>> low.tolist(), high.tolist()
        ([1.0], [5.0])
        """
        reach = self.percent / 200 * (1 + float(stats.norm.isf((1 - self.coverage) / 2)))
        return _window(values, masked, math.ceil(reach * len(masked)))


@dataclass(frozen=True)
class ValueWindow:
    """Rank swapping by range: a value is exchanged for one at most so many percent of the range away.

    The range is that of the masked column, which holds the same values.

    Parameters
    ----------
    percent : float
        Above 0, at most 100.
    """

    same_values: ClassVar[bool] = True

    percent: float

    def __post_init__(self) -> None:
        check_fields(self)
        if not 0 < self.percent <= 100:
            raise InputError(f"values are exchanged within above 0 to 100 percent of the range, not {self.percent!r}")

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return the values as far away as exchanges go.

        Examples
        --------
        >>> low, high = ValueWindow(10).limits(np.array([30.0]), np.array([0.0, 30.0, 100.0]))
        >>> low.round(6).tolist(), high.round(6).tolist()
        ([20.0], [40.0])
        """
        reach = self.percent / 100 * float(masked[-1] - masked[0]) * (1 + 1e-9)
        return values - reach, values + reach


@dataclass(frozen=True)
class FuzzyDraw:
    """Fuzzy microaggregation with a known exponent: any centre may have been drawn, with known probability.

    Parameters
    ----------
    m2 : float
        Exponent of the memberships, at least 1.
    columns : tuple of str
        Those whose centres were drawn together; by default all that are known of.
    """

    m2: float
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.m2 >= 1:
            raise InputError(f"m2 must be at least 1, not {self.m2!r}")

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return no limits: no masked record can be excluded."""
        return np.full(len(values), -np.inf), np.full(len(values), np.inf)


def _window(values: Floats, masked: Floats, reach: int) -> tuple[Floats, Floats]:
    """Return the masked values so many ranks below the first and above the last rank of each value."""
    n = len(masked)
    first = np.searchsorted(masked, values, side="left")
    last = np.maximum(np.searchsorted(masked, values, side="right") - 1, first)
    return masked[np.clip(first - reach, 0, n - 1)], masked[np.clip(last + reach, 0, n - 1)]


def need_coverage(coverage: float) -> None:
    """Refuse what is no probability of a limit."""
    if not 0 < coverage < 1:
        raise InputError(f"coverage must be between 0 and 1, not {coverage!r}")
