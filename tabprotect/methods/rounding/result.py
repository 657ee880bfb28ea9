"""What rounding a table returns."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Exposure
from tabprotect.methods.deviations import Deviations
from tabprotect.methods.distance import Norm
from tabprotect.methods.rounding.verdict import Verdict
from tabprotect.problem import Problem

__all__ = ["Diagnosis", "RoundingResult"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """Why a table cannot be rounded to neighbouring multiples, and what is enough.

    Attributes
    ----------
    steps : int or None
        Fewest further bases with which a rounding exists; None when none was found within the limits.
    proven : bool
        Fewer steps are proven not to be enough.
    cells : ndarray of int
        A set of cells, as small as the limits allowed, which alone need the further steps.
    taken, least : int
        Further steps of these cells together, and a bound: no rounding takes fewer (0 where nothing is proven).
    smallest : bool
        The two agree.
    gap : float
        (taken - least) / taken; 0 without steps.
    values : ndarray or None
        The rounding in which they take them: the smallest relaxation that works, by number of further steps (its
        distance is not minimised; for that, round with `steps`).
    """

    steps: int | None
    proven: bool
    cells: Ints
    taken: int = 0
    least: int = 0
    values: Floats | None = field(default=None, repr=False)

    @property
    def smallest(self) -> bool:
        """Whether the further steps are proven to be as few as can be."""
        return self.steps is not None and self.taken <= self.least

    @property
    def gap(self) -> float:
        """How far the further steps can be from the fewest."""
        return (self.taken - self.least) / self.taken if self.taken else 0.0


@dataclass(frozen=True, eq=False)
class RoundingResult(Deviations):
    """Rounded values, what they cost, how far that can be from the optimum.

    Attributes
    ----------
    problem : Problem
    base : float
    values : ndarray or None
        Multiples of the base; None when there are none.
    steps : int
        Whole bases by which cells were allowed beyond their neighbouring multiples.
    cost : float or None
        sum w|v - a| ('l1'), sum w (v - a)^2 ('l2') or max w|v - a| ('linf').
    bound : float or None
        No rounding of that kind costs less.
    status : {'optimal', 'feasible', 'infeasible', 'unknown'}
        'feasible' also for methods that do not minimise (random rounding).
    loss : float
        Largest |A v - b|, in the unit of the values: 0 for controlled rounding, the price of the plain methods.
    verdict : Verdict or None
        What exact arithmetic says of the values; None without values.
    exposed : tuple of Exposure or None
        Protection levels that an intruder who knows base and steps breaks; None when levels were not asked for.
    diagnosis : Diagnosis or None
        When neighbouring multiples are not enough.
    norm, weights, method, seconds, work, message, stopped_by :
        As in the result of an adjustment.
    seed : int or None
        What values that were drawn at random follow from, which is confidential.
    rise : bool
        Multiples of the base could rise to the following one.
    """

    problem: Problem = field(repr=False)
    base: float
    values: Floats | None = field(repr=False)
    steps: int
    cost: float | None
    bound: float | None
    status: Literal["optimal", "feasible", "infeasible", "unknown"]
    loss: float
    norm: Norm
    weights: Floats = field(repr=False)
    verdict: Verdict | None = None
    exposed: tuple[Exposure, ...] | None = field(default=None, repr=False)
    diagnosis: Diagnosis | None = None
    method: str = ""
    seconds: float = 0.0
    work: int = 0
    message: str = ""
    stopped_by: Literal["", "time", "work", "user"] = ""
    seed: int | None = field(default=None, repr=False)
    rise: bool = False

    @property
    def additive(self) -> bool:
        """The rounded table adds up exactly."""
        return self.values is not None and self.loss == 0

    @property
    def jump(self) -> float | None:
        """Largest distance between a rounded and a true value."""
        return None if self.values is None else float(np.max(np.abs(self.values - self.problem.values), initial=0.0))
