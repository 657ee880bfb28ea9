"""How large the noise on magnitudes is, and how far it can carry a value at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.errors import InputError

__all__ = ["Flex"]

Floats = npt.NDArray[np.float64]

GRID: Final = np.append(0.0, np.geomspace(1.0, 1e5, 582))
"""Corners of `Flex.reach` in flex points: two per cent apart, where the share is nearly `large`."""

BETWEEN: Final = 10
"""Points between two corners at which the polygon is compared with the true curve."""


@dataclass(frozen=True)
class Flex:
    """How large the noise is, as a share of the contribution: larger for small ones, smaller for large ones.

    With x the contribution: `small` below `point` (and everywhere if `large` is the same); above it falls towards
    `large` as

        m(x) = large (1 + (small x - large point) / (large point) (2 point / (point + x)) ^ power).

    Parameters
    ----------
    small, large : float
        Shares, 0 < large <= small <= 1.
    point : float
        The flex point, in the unit of the values.
    power : float
        At least 1; how fast it falls. Below 2 small / (small - large) it first rises.
    weights : sequence of float
        For the largest, the second largest, ... contribution: share of m that it gets, the first 1. Their number
        says how many contributions make noise.

    References
    ----------
    Deliverable D4.2, part I, of the project Open Source tools for perturbative confidentiality methods (2019); the R
    package cellKey has the same function.

    Examples
    --------
    >>> flex = Flex(0.3, 0.03, 1000.0, 3.0)
    >>> flex.share(np.array([10.0, 1000.0, 1e6])).round(4).tolist()
    [0.3, 0.3, 0.03]
    """

    small: float
    large: float
    point: float
    power: float = 3.0
    weights: tuple[float, ...] = (1.0,)

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", tuple(float(w) for w in self.weights))
        if not 0 < self.large <= self.small <= 1:
            raise InputError(f"Flex: shares must satisfy 0 < large <= small <= 1, not {self.large!r}, {self.small!r}")
        if not (self.point > 0 and self.power >= 1):
            raise InputError(f"Flex: point must be above 0 and power at least 1, not {self.point!r}, {self.power!r}")
        falling = all(a >= b for a, b in zip(self.weights, self.weights[1:], strict=False))
        if not self.weights or self.weights[0] != 1 or not falling or self.weights[-1] < 0:
            raise InputError(f"Flex: weights must start with 1 and fall, down to 0 at most, not {self.weights}")

    def share(self, x: Floats) -> Floats:
        """Return m(x) for contributions x >= 0."""
        x = np.asarray(x, np.float64)
        rise = (self.small * x - self.large * self.point) / (self.large * self.point)
        above = self.large * (1 + rise * (2 * self.point / (self.point + x)) ** self.power)
        return np.where((x < self.point) | (self.small == self.large), self.small, above)

    def reach(self, deviation: float, more: float = 0.0) -> tuple[list[tuple[float, float]], float]:
        """Return the largest change that noise can make, by the size of the true value.

        With contributions x_1 >= x_2 >= ... >= 0 of sum a the change is at most ``deviation sum_j w_j m(x_j) x_j``,
        where x_j <= a / j. This is the tightest such function of a for one weight, up to a few parts in 10,000.

        Parameters
        ----------
        deviation : float
            The largest noise of the perturbation table.
        more : float
            Half a digit, where values are rounded in the end.

        Returns
        -------
        corners : list of (float, float)
            True values, and the largest change there; it is linear between them.
        slope : float
            Of the change after the last corner.

        Examples
        --------
        >>> corners, slope = Flex(0.1, 0.1, 1.0).reach(3.0)
        >>> corners, round(slope, 6)
        ([(0.0, 0.0)], 0.3)
        """
        if self.small == self.large:
            return [(0.0, more)], deviation * self.small * _SAFE
        at = GRID * self.point
        fine = np.interp(np.arange(BETWEEN * (len(at) - 1) + 1) / BETWEEN, np.arange(len(at)), at)
        most = np.maximum.accumulate(self.share(fine) * fine)
        parts = [w * np.interp(fine / (j + 1), fine, most) for j, w in enumerate(self.weights)]
        curve = np.minimum(np.sum(parts, axis=0), self.share(fine).max() * fine)
        curve[-1] = sum(part[-1] for part in parts)
        far = curve[::BETWEEN]
        lift = 2 * max(0.0, float((curve[1:] / np.interp(fine, at, far)[1:]).max()) - 1) + _SAFE
        # beyond the grid m(x) x rises by this at most
        tails = [self.large + self.small * 2**self.power * (GRID[-1] / (j + 1)) ** (1 - self.power)
                 for j in range(len(self.weights))]  # fmt: skip
        slope = sum(w * tail / (j + 1) for j, (w, tail) in enumerate(zip(self.weights, tails, strict=True)))
        corners = zip(at.tolist(), (deviation * lift * far + more).tolist(), strict=True)
        return list(corners), float(deviation * lift * slope)


_SAFE: Final = 1 + 1e-9
"""More than what floating-point sums are off."""
