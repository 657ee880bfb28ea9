"""Calibration of weights to totals by raking (Deville and Sarndal 1992), and the claim that totals hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tabprotect.microdata.claims import claim_kind

if TYPE_CHECKING:
    from tabprotect.microdata.records import Records

__all__ = ["TOLERANCE", "rake"]

Floats = npt.NDArray[np.float64]

TOLERANCE = 1e-8
"""Relative difference by which a weighted total may miss its value."""


def rake(weights: Floats, values: Floats, totals: Floats, steps: int = 100) -> Floats | None:
    """Return weights ``w exp(values @ b)`` that give totals exactly, or None if no positive weights do.

    Of all weights with these totals they have the smallest relative entropy to the given ones.

    Examples
    --------
    >>> rake(np.ones(3), np.array([[1.0, 0], [1, 0], [1, 1]]), np.array([4.0, 2.0])).round(6).tolist()
    [1.0, 1.0, 2.0]
    """
    scale = np.abs(values).max(axis=0)
    used = scale > 0
    if (np.abs(totals[~used]) > 0).any():
        return None
    x, target = values[:, used] / scale[used], totals[used] / scale[used]
    b = np.zeros(x.shape[1])

    def dual(b: Floats) -> float:
        return float((weights * np.exp(np.minimum(x @ b, 700))).sum() - b @ target)

    for _ in range(steps):
        now = weights * np.exp(np.minimum(x @ b, 700))
        miss = target - now @ x
        if (np.abs(miss) <= TOLERANCE / 100 * np.maximum(np.abs(target), 1e-300)).all():
            break
        step = np.linalg.lstsq(x.T @ (x * now[:, None]), miss, rcond=1e-12)[0]
        size, here = 1.0, dual(b)
        while dual(b + size * step) > here - 1e-4 * size * float(step @ miss) and size > 1e-8:
            size /= 2
        b = b + size * step
    found = weights * np.exp(np.minimum(x @ b, 700))
    exact = np.abs(found @ x - target) <= TOLERANCE * np.maximum(np.abs(target), 1e-300)
    return np.asarray(found) if exact.all() and np.isfinite(found).all() and (found > 0).all() else None


@claim_kind("calibrated-totals")
def _calibrated(after: Records, before: Records | None, given: Mapping[str, Any]) -> str:
    """The weighted totals of released records are those of the original file."""
    from tabprotect.microdata.masking.massc.strata import Totals, totals_of

    weights = after.numbers(given["weight"])
    if not (weights > 0).all():
        return "a weight is missing or not above 0"
    names = tuple((str(a), str(b), str(c), str(d)) for a, b, c, d in given["names"])
    values = totals_of(after, given["outcomes"], given["domains"], like=Totals(names, np.empty((0, 0)))).values
    totals = np.asarray(given["totals"], dtype=np.float64)
    off = np.abs(weights @ values - totals)
    wrong = np.flatnonzero(off > TOLERANCE * 10 * np.abs(totals))
    if len(wrong):
        return f"the total of {names[wrong[0]]} is {weights @ values[:, wrong[0]]:.12g}, not {totals[wrong[0]]:.12g}"
    return ""
