"""What an intruder knows of a masking method and its parameters, as limits of the masked value of a record."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from scipy import stats

from tabprotect.errors import InputError

__all__ = ["AddedNoise", "ConsecutiveGroups", "FuzzyDraw", "Knowledge", "RankWindow"]

Floats = npt.NDArray[np.float64]


@runtime_checkable
class Knowledge(Protocol):
    """Anything that limits the masked value by the original one, by column (sets B_j of Torra, section 4)."""

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

    percent: float

    def __post_init__(self) -> None:
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
        n = len(masked)
        window = math.floor(self.percent / 100 * n + 1e-9)
        first = np.searchsorted(masked, values, side="left")
        last = np.maximum(np.searchsorted(masked, values, side="right") - 1, first)
        return masked[np.clip(first - window, 0, n - 1)], masked[np.clip(last + window, 0, n - 1)]


@dataclass(frozen=True)
class AddedNoise:
    """Additive noise of a known standard deviation.

    Parameters
    ----------
    deviation : float
        Standard deviation of the noise, as a share of that of the column (which follows from that of the masked column:
        its variance is ``1 + deviation^2`` times as large).
    distribution : {'normal', 'uniform'}
        Uniform noise has certain limits, normal noise those of `coverage`.
    coverage : float
        Probability that the masked value of a column is within the limits.
    """

    deviation: float
    distribution: Literal["normal", "uniform"] = "normal"
    coverage: float = 0.999

    def __post_init__(self) -> None:
        if not self.deviation > 0 or not math.isfinite(self.deviation):
            raise InputError(f"the deviation of noise must be above 0, not {self.deviation!r}")
        if self.distribution not in ("normal", "uniform"):
            raise InputError(f"noise is 'normal' or 'uniform', not {self.distribution!r}")
        if not 0 < self.coverage < 1:
            raise InputError(f"coverage must be between 0 and 1, not {self.coverage!r}")

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return the values as far away as noise goes."""
        spread = float(masked.std(ddof=1)) if len(masked) > 1 else 0.0
        deviation = self.deviation * spread / math.sqrt(1 + self.deviation**2)
        if self.distribution == "uniform":
            # the share is that of the expected variance; the one of a sample differs
            reach = math.sqrt(3) * deviation * (1 + 3 / math.sqrt(max(len(masked), 1)))
        else:
            reach = float(stats.norm.ppf(0.5 + self.coverage / 2)) * deviation
        return values - reach, values + reach


@dataclass(frozen=True)
class FuzzyDraw:
    """Fuzzy microaggregation with a known exponent: any centre may have been drawn, with known probability.

    Parameters
    ----------
    m2 : float
        Exponent of the memberships, at least 1.
    """

    m2: float

    def __post_init__(self) -> None:
        if not self.m2 >= 1:
            raise InputError(f"m2 must be at least 1, not {self.m2!r}")

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return no limits: no masked record can be excluded."""
        return np.full(len(values), -np.inf), np.full(len(values), np.inf)
