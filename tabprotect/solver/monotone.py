"""Progress of several searches in a row as that of one: seconds, cost and bound each go one way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

from tabprotect.solver.limits import Budget, Progress

__all__ = ["Monotone", "one_progress"]

UNSEEN = "not yet looked at for sums"


@dataclass(eq=False)
class Monotone:
    """Passes progress on: seconds and work of the whole run, the highest bound, the cost of the best safe pattern.

    A bound of a problem holds for the same problem with more sums to protect, so that the highest one may stay. A cost
    that a search reports is only that of a pattern whose sums nobody has looked at; it goes into the message, and
    `found` reports the cost of a pattern that is safe with its sums.

    Attributes
    ----------
    budget : Budget
        Of the whole run.
    listener : callable
        Receives the progress.
    looks : bool
        Whether patterns are looked at for sums before they count; if not, the lowest reported cost is passed on.
    cost, bound : float or None
        The best so far.
    seconds, work : float and int
        What was reported last.

    Examples
    --------
    >>> heard = []
    >>> progress = Monotone(Budget(), heard.append, looks=True)
    >>> progress(Progress("greedy", cost=90.0, bound=70.0))
    >>> heard[-1].cost, heard[-1].bound, heard[-1].message
    (None, 70.0, 'a pattern of cost 90 is not yet looked at for sums')
    >>> progress.found(95.0, 60.0)
    >>> heard[-1].stage, heard[-1].cost, heard[-1].bound
    ('safe pattern', 95.0, 70.0)
    """

    budget: Budget
    listener: Callable[[Progress], None]
    looks: bool
    cost: float | None = None
    bound: float | None = None
    seconds: float = 0.0
    work: int = 0

    def __call__(self, progress: Progress) -> None:
        """Pass on what a search reports."""
        message = progress.message
        if not self.looks:
            self._take(progress.cost)
        elif progress.cost is not None and (self.cost is None or progress.cost < self.cost):
            unseen = f"a pattern of cost {progress.cost:,.10g} is {UNSEEN}"
            message = f"{message}; {unseen}" if message else unseen
        self._send(replace(progress, message=message))

    def found(self, cost: float | None, bound: float | None) -> None:
        """Report a pattern that is safe, its sums included."""
        self._take(cost)
        self._send(Progress("safe pattern", bound=bound))

    def _take(self, cost: float | None) -> None:
        if cost is not None:
            self.cost = cost if self.cost is None else min(self.cost, cost)

    def _send(self, progress: Progress) -> None:
        if progress.bound is not None:
            self.bound = progress.bound if self.bound is None else max(self.bound, progress.bound)
        self.seconds = max(self.seconds, self.budget.seconds)
        self.work = max(self.work, self.budget.work, progress.work)
        self.listener(replace(progress, cost=self.cost, bound=self.bound, seconds=self.seconds, work=self.work))


@contextmanager
def one_progress(budget: Budget, looks: bool) -> Iterator[Monotone | None]:
    """Within the block what a budget reports goes one way; None where nobody listens."""
    listener = budget.progress
    if listener is None:
        yield None
        return
    monotone = Monotone(budget, listener, looks)
    budget.progress = monotone
    try:
        yield monotone
    finally:
        budget.progress = listener
