"""Ways to spend a limit that compete for it: what was spent on each, and what that brought."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.solver.limits import Budget

__all__ = ["Side", "meter"]

FADE = 0.7
"""What a gain counts for after the next slice of the same kind."""


@dataclass
class Side:
    """What was spent on one of several ways, and what that brought lately.

    Examples
    --------
    >>> side = Side()
    >>> side.record(gain=0.2, spent=2.0)
    >>> side.rate
    0.1
    """

    spent: float = 0.0
    gain: float = 0.0
    lately: float = 0.0

    def record(self, gain: float, spent: float) -> None:
        """Add one slice."""
        self.spent += spent
        self.gain = FADE * self.gain + gain
        self.lately = FADE * self.lately + spent

    @property
    def rate(self) -> float:
        """Gain for what was spent; 0 before the first slice."""
        return self.gain / self.lately if self.lately else 0.0


def meter(budget: Budget) -> float:
    """Return what is spent, in the unit of the limit; never clocked where work alone is limited."""
    return float(budget.work) if budget.limits.seconds is None else budget.seconds
