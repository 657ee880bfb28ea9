"""Combining rules: one estimate and its variance from several synthetic files."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from tabprotect.errors import InputError
from tabprotect.kinds import of_kinds

__all__ = ["CombinedEstimate", "combine_fully_synthetic", "combine_partially_synthetic"]


@dataclass(frozen=True)
class CombinedEstimate:
    """What several synthetic files say of one quantity.

    Attributes
    ----------
    estimate, variance : float
    between, within : float
        Variance of the estimates, and mean of their own variances.
    degrees_of_freedom : float
        Of the t distribution of intervals.
    adjusted : bool
        The variance formula gave a negative number, and a conservative one was taken (Reiter 2002).
    """

    estimate: float
    variance: float
    between: float
    within: float
    degrees_of_freedom: float
    adjusted: bool = False

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return a confidence interval."""
        half = float(stats.t.ppf((1 + level) / 2, self.degrees_of_freedom)) * math.sqrt(self.variance)
        return self.estimate - half, self.estimate + half


def _parts(estimates: Sequence[float], variances: Sequence[float]) -> tuple[int, float, float, float]:
    q, u = np.asarray(estimates, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    if q.ndim != 1 or q.shape != u.shape or len(q) < 2:
        raise InputError("give one estimate and one variance of each of at least two files")
    if not (np.isfinite(q).all() and np.isfinite(u).all() and (u >= 0).all()):
        raise InputError("estimates and variances must be finite, and variances at least 0")
    return len(q), float(q.mean()), float(q.var(ddof=1)), float(u.mean())


@of_kinds()
def combine_partially_synthetic(estimates: Sequence[float], variances: Sequence[float]) -> CombinedEstimate:
    """Combine estimates from partially synthetic files: variance ``within + between / m`` (Reiter 2003).

    Parameters
    ----------
    estimates, variances : sequence of float, length m
        One of each file.

    Examples
    --------
    >>> combine_partially_synthetic([10.0, 12.0], [1.0, 1.0]).variance
    2.0
    """
    m, mean, between, within = _parts(estimates, variances)
    total = within + between / m
    freedom = (m - 1) * (1 + within / (between / m)) ** 2 if between > 0 else math.inf
    return CombinedEstimate(mean, total, between, within, freedom)


@of_kinds()
def combine_fully_synthetic(
    estimates: Sequence[float], variances: Sequence[float], n: int | None = None, original: int | None = None
) -> CombinedEstimate:
    """Combine estimates from fully synthetic files: ``(1 + 1/m) between - within`` (Raghunathan, Reiter, Rubin 2003).

    Where that is negative, ``n / original * within`` is taken instead (Reiter 2002).

    Parameters
    ----------
    estimates, variances : sequence of float, length m
        One of each file.
    n, original : int, optional
        Records of each synthetic file, and of the original one; 1 to 1 by default.

    Examples
    --------
    >>> combine_fully_synthetic([10.0, 14.0, 12.0], [1.0, 1.0, 1.0]).variance.__round__(6)
    4.333333
    """
    m, mean, between, within = _parts(estimates, variances)
    total = (1 + 1 / m) * between - within
    if total <= 0:
        share = 1.0 if n is None or original is None else n / original
        return CombinedEstimate(mean, share * within, between, within, math.inf, adjusted=True)
    freedom = (m - 1) * (1 - within / ((1 + 1 / m) * between)) ** 2
    return CombinedEstimate(mean, total, between, within, max(freedom, 1.0))
