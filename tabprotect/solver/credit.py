"""Credit of operators that compete for a limit: what was spent on each, and what that brought."""

from __future__ import annotations

from dataclasses import dataclass

from tabprotect.solver.limits import Budget

__all__ = ["Credit", "Pace", "Stall", "is_first", "meter", "meter_left"]

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


def is_first(one: Credit, other: Credit, fair: float, least: float = 0.0) -> bool:
    """Tell whether the first is next: time follows the gains; both keep a fair share, the first at least another one.

    Examples
    --------
    >>> is_first(Credit(spent=3.0, gain=1.0, lately=1.0), Credit(spent=2.0, gain=1.0, lately=3.0), 0.25)
    True
    >>> is_first(Credit(spent=3.0, lately=1.0), Credit(spent=4.0, gain=1.0, lately=3.0), 0.25, least=0.5)
    True
    """
    rates = one.rate + other.rate
    share = min(1 - fair, max(fair, least, one.rate / rates)) if rates > 0 else 0.5
    return one.spent <= share * (one.spent + other.spent)


def meter(budget: Budget) -> float:
    """Return what is spent, in the unit of the limit; never clocked where work alone is limited."""
    return float(budget.work) if budget.limits.seconds is None else budget.seconds


def meter_left(budget: Budget) -> float:
    """Return what is left, in the same unit."""
    return budget.work_left if budget.limits.seconds is None else budget.seconds_left


class Pace:
    """Whether a search gains enough in each slice of its limits.

    Parameters
    ----------
    budget : Budget
    cost : float
        Of the pattern that the search begins with.
    share : float
        Length of a slice, as a share of what is left of the limits.
    least : float
        What a slice has to gain, as a share of the cost.

    Examples
    --------
    >>> from tabprotect.solver.limits import Limits
    >>> budget = Budget(Limits(work=100))
    >>> pace = Pace(budget, 50.0, 0.1, 0.02)
    >>> budget.spend(12)
    >>> pace.keeps_up(40.0), pace.keeps_up(40.0)
    (True, True)
    >>> budget.spend(12)
    >>> pace.keeps_up(39.9)
    False
    """

    def __init__(self, budget: Budget, cost: float, share: float, least: float) -> None:
        self._budget, self._cost, self._least = budget, cost, least
        self._slice = share * meter_left(budget)
        self._end = meter(budget) + self._slice

    def keeps_up(self, cost: float) -> bool:
        """Return whether the last slice gained enough, or is not over."""
        if meter(self._budget) < self._end:
            return True
        before, self._cost = self._cost, cost
        self._end += self._slice
        return before - cost >= self._least * before


class Stall:
    """Whether a search has gained nothing for long: as long again as its last gain took, and a share of its limits.

    Parameters
    ----------
    budget : Budget
    cost : float
        Of the pattern that the search begins with.
    share : float
        Share of what is left of the limits for which it may gain nothing besides.
    least : float
        What counts as a gain, as a share of the cost.

    Examples
    --------
    >>> from tabprotect.solver.limits import Limits
    >>> budget = Budget(Limits(work=100))
    >>> stall = Stall(budget, 50.0, 0.1, 0.02)
    >>> budget.spend(9)
    >>> stall.reached(50.0), stall.reached(40.0)
    (False, False)
    >>> budget.spend(18)
    >>> stall.reached(39.9)
    False
    >>> budget.spend(2)
    >>> stall.reached(39.9)
    True
    """

    def __init__(self, budget: Budget, cost: float, share: float, least: float) -> None:
        self._budget, self._cost, self._least = budget, cost, least
        self._begun = self._last = meter(budget)
        self._grace = share * meter_left(budget)

    def reached(self, cost: float) -> bool:
        """Return whether it has stalled, given what its pattern costs now."""
        now = meter(self._budget)
        if self._cost - cost >= self._least * self._cost:
            self._cost, self._last = cost, now
        return now > 2 * self._last - self._begun + self._grace
