"""One line of a comparison: a method, what it publishes, what that loses and what it still tells."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tabprotect.comparison.approaches import Approach
from tabprotect.comparison.measures import Risk
from tabprotect.methods.loss import Loss
from tabprotect.solver.gap import relative_gap

__all__ = ["Line"]


@dataclass(frozen=True)
class Line:
    """One method.

    Attributes
    ----------
    approach : Approach
    status : str
        Of its result; 'not possible' where it does not apply to this table, 'not run' where the
        comparison was stopped before.
    seconds : float
        Of the method (without the judgement).
    cost, bound : float or None
        In the method's own measure: not comparable between methods.
    loss : Loss or None
        None without published values.
    risk : Risk or None
    message : str
    stopped : bool
        Whether a limit ended the method or its judgement.
    optimality : str
        The status, and how far exact arithmetic confirms it.
    values : ndarray of float or None
        What would be published of every cell, nan where it is hidden.
    """

    approach: Approach
    status: str
    seconds: float
    cost: float | None = None
    bound: float | None = None
    loss: Loss | None = None
    risk: Risk | None = None
    message: str = ""
    stopped: bool = False
    optimality: str = ""
    values: npt.NDArray[np.float64] | None = field(default=None, repr=False, compare=False)

    @property
    def hides(self) -> bool:
        """Whether the method leaves cells out; otherwise it changes values, and hidden value does not apply."""
        return self.approach.name in ("suppress", "recode") or (self.loss is not None and self.loss.hidden > 0)

    @property
    def words(self) -> str:
        """The status, and how far it is proven."""
        return self.optimality or self.status

    @property
    def gap(self) -> float | None:
        """(cost - bound) / cost; None without one of them."""
        return relative_gap(self.cost, self.bound)

    def hidden_value(self, values: npt.NDArray[np.float64]) -> float | None:
        """Return the sum of the absolute true values of hidden cells; None where the method hides none by design."""
        if self.values is None or not self.hides:
            return None
        return float(np.abs(values[np.isnan(self.values)]).sum())
