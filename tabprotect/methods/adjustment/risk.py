"""What an intruder makes of an adjusted table when he comes to know which way its sensitive cells went.

Castro (2012), "On assessing the disclosure risk of controlled adjustment methods for statistical tabular data",
Journal of the Royal Statistical Society A 175: he takes the adjusted table for a true one and adjusts it back, with the
opposite senses and the levels that he guesses. Where that lands near a true value, the sense pattern was worth keeping
secret.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.errors import InputError
from tabprotect.methods.adjustment.adjust import adjust
from tabprotect.methods.adjustment.result import AdjustmentResult
from tabprotect.solver.limits import Limits, Progress

__all__ = ["SenseRisk", "sense_risk"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SenseRisk:
    """An intruder's estimates of the sensitive values.

    Attributes
    ----------
    cells : ndarray of int
        Sensitive cells with a level.
    estimate : ndarray of float
        What he takes for their value; NaN when his adjustment has no answer.
    error : ndarray of float
        Distance of that from the true value, as a multiple of the protection level on the side where it lies.
    published_error : ndarray of float
        The same for somebody who takes the published value for the true one: at least 1 by design.
    message : str
    """

    cells: npt.NDArray[np.int64]
    estimate: Floats
    error: Floats
    published_error: Floats
    message: str = ""

    @property
    def disclosed(self) -> npt.NDArray[np.int64]:
        """Cells whose estimate lies within their protection levels of the true value."""
        return self.cells[self.error < 1 - 1e-9]

    @property
    def share(self) -> float:
        """Disclosed cells among all sensitive ones (0 when there are none)."""
        return len(self.disclosed) / len(self.cells) if len(self.cells) else 0.0

    @property
    def frame(self) -> pd.DataFrame:
        """One row a sensitive cell (confidential: `estimate` and the errors tell its true value)."""
        return pd.DataFrame(
            {
                "cell": self.cells,
                "estimate": self.estimate,
                "error": self.error,
                "published_error": self.published_error,
                "disclosed": self.error < 1 - 1e-9,
            }
        )


def sense_risk(
    result: AdjustmentResult,
    *,
    known_levels: bool = True,
    guess: float = 0.1,
    known_weights: bool = True,
    limits: Limits | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> SenseRisk:
    """Let an intruder who knows the senses adjust the published table back.

    Parameters
    ----------
    result : AdjustmentResult
        With values.
    known_levels : bool
        He knows the protection levels too; else he takes `guess` of the published value for both.
    guess : float
        Share of the published value.
    known_weights : bool
        He knows the weights of the objective; else he takes 1 / published value.
    limits, progress :
        See `tabprotect.methods.adjustment.adjust`.

    Raises
    ------
    InputError
        If the result has no values.

    Examples
    --------
    In one row of three cells the least change puts it all into one other cell, and the way back is the same:

    >>> from tabprotect.problem import Problem
    >>> p = Problem.from_arrays([[-1, 1, 1]], [9, 4, 5], primary=[1], lpl=1, upl=1, protected=[0])
    >>> sense_risk(adjust(p, senses="up")).share
    1.0
    """
    if result.values is None:
        raise InputError("there are no adjusted values to attack")
    p = result.problem
    primary = p.primaries
    asked = (p.lpl[primary] > 0) | (p.upl[primary] > 0)
    cells, senses = primary[asked], result.senses[asked]
    lpl, upl = p.lpl, p.upl
    if not known_levels:
        lpl = upl = guess * np.abs(result.values)
    # what went up by UPL comes down by it: his lower level is the holder's upper one
    seen = replace(
        p,
        values=result.values,
        lpl=upl,
        upl=lpl,
        lower=np.minimum(p.lower, result.values),
        upper=np.maximum(p.upper, result.values),
    )
    weights = result.weights if known_weights else "reciprocal"
    every = np.where(result.senses == 0, 1, -result.senses)
    back = adjust(seen, norm=result.norm, senses=every, weights=weights, limits=limits, progress=progress)
    estimate = np.full(len(cells), np.nan) if back.values is None else back.values[cells]
    return SenseRisk(
        cells,
        estimate,
        _in_levels(p.values[cells], estimate, p.lpl[cells], p.upl[cells]),
        _in_levels(p.values[cells], result.values[cells], p.lpl[cells], p.upl[cells]),
        _message(back, len(cells), senses),
    )


def _in_levels(true: Floats, estimate: Floats, lpl: Floats, upl: Floats) -> Floats:
    """Distances as multiples of the level on their side (of the other level where that one is 0)."""
    level = np.where(estimate >= true, np.where(upl > 0, upl, lpl), np.where(lpl > 0, lpl, upl))
    return np.where(np.isnan(estimate), np.inf, np.abs(estimate - true) / level)


def _message(back: AdjustmentResult, n: int, senses: npt.NDArray[np.int64]) -> str:
    if back.values is None:
        return f"the intruder's own adjustment has no answer ({back.status}): {back.message}"
    return f"{int(np.sum(senses > 0))} of {n} sensitive cells went up; the intruder's adjustment is {back.status}"
