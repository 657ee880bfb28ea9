"""Credit of operators that compete for a limit: what was spent on each, and what that brought."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.solver.limits import Budget

__all__ = ["Credit", "is_first", "meter", "meter_left"]

FADE = 0.7
"""What a gain counts for after the next slice of the same kind."""


@dataclass
class Credit:
    """What was spent on one of several operators, and what that brought lately.

    Examples
    --------
    >>> credit = Credit()
    >>> credit.record(gain=0.2, spent=2.0)
    >>> credit.rate
    0.1
    """

    spent: float = 0.0
    gain: float = 0.0
    lately: float = 0.0
    fade: float = FADE

    def record(self, gain: float, spent: float) -> None:
        """Add one slice."""
        self.spent += spent
        self.gain = self.fade * self.gain + gain
        self.lately = self.fade * self.lately + spent

    @property
    def rate(self) -> float:
        """Gain for what was spent; 0 before the first slice."""
        return self.gain / self.lately if self.lately else 0.0


def is_first(one: Credit, other: Credit, fair: float) -> bool:
    """Tell whether the first is next: time follows the gains; both keep a fair share.

    Examples
    --------
    >>> is_first(Credit(spent=3.0, gain=1.0, lately=1.0), Credit(spent=2.0, gain=1.0, lately=3.0), 0.25)
    True
    """
    rates = one.rate + other.rate
    share = min(1 - fair, max(fair, one.rate / rates)) if rates > 0 else 0.5
    return one.spent <= share * (one.spent + other.spent)


def meter(budget: Budget) -> float:
    """Return what is spent, in the unit of the limit; never clocked where work alone is limited."""
    return float(budget.work) if budget.limits.seconds is None else budget.seconds


def meter_left(budget: Budget) -> float:
    """Return what is left, in the same unit."""
    return budget.work_left if budget.limits.seconds is None else budget.seconds_left
