"""What an intruder knows of noise with known parameters."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt
from scipy import stats

from tabprotect.errors import InputError
from tabprotect.kinds import check_fields
from tabprotect.microdata.risk.knowledge import need_coverage

__all__ = ["AddedNoise", "MultipliedNoise"]

Floats = npt.NDArray[np.float64]


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
    shrunk : bool
        Whether sums were drawn to the mean afterwards, so that the variance is that of before (Kim 1986).
    """

    deviation: float
    distribution: Literal["normal", "uniform"] = "normal"
    coverage: float = 0.999
    shrunk: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.deviation > 0 or not math.isfinite(self.deviation):
            raise InputError(f"the deviation of noise must be above 0, not {self.deviation!r}")
        if self.distribution not in ("normal", "uniform"):
            raise InputError(f"noise is 'normal' or 'uniform', not {self.distribution!r}")
        need_coverage(self.coverage)

    def centre(self, values: Floats, masked: Floats) -> Floats:
        """Return where the best guess of a masked value is: nearest to it is the most probable record.

        Of the masked records, that of x is the one with the largest density given x over its density among all masked
        records. With normal values and errors of ``deviation^2 = a`` that is the one nearest to
        ``mean + (1 + a) (x - mean)``, after drawing to the mean ``mean + sqrt(1 + a) (x - mean)``: masked values
        further out have fewer rivals.

        Examples
        --------
        >>> AddedNoise(1.0).centre(np.array([3.0]), np.array([0.0, 2.0])).tolist()
        [5.0]
        """
        middle = float(masked.mean())
        return np.asarray(middle + (values - middle) * (1 + self.deviation**2) ** (0.5 if self.shrunk else 1.0))

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return the values as far away as noise goes, and half a unit further where masked values are whole."""
        spread = float(masked.std(ddof=1)) if len(masked) > 1 else 0.0
        deviation = self.deviation * spread / math.sqrt(1 + self.deviation**2)
        if self.distribution == "uniform":
            # the share is that of the expected variance; the one of a sample differs
            reach = math.sqrt(3) * deviation * (1 + 3 / math.sqrt(max(len(masked), 1)))
        else:
            reach = float(stats.norm.ppf(0.5 + self.coverage / 2)) * deviation
        reach += _rounding(masked)
        middle = values
        if self.shrunk:
            mean = float(masked.mean())
            middle = mean + (values - mean) / math.sqrt(1 + self.deviation**2)
        return middle - reach, middle + reach


@dataclass(frozen=True)
class MultipliedNoise:
    """Values multiplied by a random factor of mean 1.

    Parameters
    ----------
    alpha : float
        Variance of a lognormal factor; not looked at where `most` is given.
    most : float, optional
        The factor is within 1 - most and 1 + most for certain.
    coverage : float
        Probability that a lognormal factor is within the limits.
    """

    alpha: float
    most: float | None = None
    coverage: float = 0.999

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.alpha > 0 or not math.isfinite(self.alpha):
            raise InputError(f"the variance of a factor must be above 0, not {self.alpha!r}")
        if self.most is not None and not 0 < self.most < 1:
            raise InputError(f"most must be between 0 and 1, not {self.most!r}")
        need_coverage(self.coverage)

    def limits(self, values: Floats, masked: Floats) -> tuple[Floats, Floats]:
        """Return the products with the least and the largest factor.

        Examples
        --------
        >>> low, high = MultipliedNoise(0.1, most=0.5).limits(np.array([-2.0, 4.5]), np.array([0.1, 7.3]))
        >>> low.round(6).tolist(), high.round(6).tolist()
        ([-3.0, 2.25], [-1.0, 6.75])
        """
        if self.most is not None:
            factors = (1 - self.most) * (1 - 1e-9), (1 + self.most) * (1 + 1e-9)
        else:
            spread = math.sqrt(math.log1p(self.alpha))
            reach = float(stats.norm.ppf(0.5 + self.coverage / 2)) * spread
            factors = math.exp(-reach - spread**2 / 2), math.exp(reach - spread**2 / 2)
        ends = np.stack([values * factors[0], values * factors[1]])
        rounding = _rounding(masked)
        return ends.min(axis=0) - rounding, ends.max(axis=0) + rounding


def _rounding(masked: Floats) -> float:
    """Return how far rounding can have moved a masked value: columns of whole numbers stay whole."""
    return 0.5 if bool((masked == np.rint(masked)).all()) else 0.0
