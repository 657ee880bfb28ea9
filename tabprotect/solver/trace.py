"""What a search knew when: cost and bound by work units, for the chart of the internal report. Confidential."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from tabprotect.solver.limits import Progress

__all__ = ["Known", "Trace"]

LEAST = 1e-3
"""A bound that rises by less than this share of it is no change worth keeping."""


@dataclass(frozen=True)
class Known:
    """What was known after so much work.

    Attributes
    ----------
    work : int
        Work units, which are counted and never clocked: two runs have the same.
    cost, bound : float or None
        Of the best answer, and no answer costs less.
    """

    work: int
    cost: float | None
    bound: float | None


@dataclass(eq=False)
class Trace:
    """Notes cost and bound when they change, and passes progress on.

    Parameters
    ----------
    listener : callable, optional
        Gets every line of progress.

    Examples
    --------
    >>> trace = Trace()
    >>> for work, cost, bound in [(1, None, 5.0), (4, 9.0, 5.0), (5, 9.0, 5.001), (8, 9.0, 7.0)]:
    ...     trace(Progress("tree", cost, bound, work=work))
    >>> [(k.work, k.cost, k.bound) for k in trace.until(9.0, 9.0, 20)]
    [(1, None, 5.0), (4, 9.0, 5.0), (8, 9.0, 7.0), (20, 9.0, 9.0)]
    """

    listener: Callable[[Progress], None] | None = None
    _known: list[Known] = field(default_factory=list, repr=False)
    _work: int = field(default=0, repr=False)

    def __call__(self, progress: Progress) -> None:
        """Note a line of progress; what it leaves open is as before."""
        self._work = max(self._work, progress.work)
        last = self._known[-1] if self._known else Known(0, None, None)
        cost = last.cost if progress.cost is None else progress.cost
        bound = last.bound if progress.bound is None else progress.bound
        if cost != last.cost or _rose(last.bound, bound):
            self._known.append(Known(self._work, cost, bound))
        if self.listener is not None:
            self.listener(progress)

    def until(self, cost: float | None, bound: float | None, work: int = 0) -> tuple[Known, ...]:
        """Return what was noted, and at last what is known at the end."""
        last = Known(max([work, self._work]), cost, bound)
        return tuple(self._known) if last in self._known[-1:] else (*self._known, last)


def _rose(before: float | None, now: float | None) -> bool:
    if before is None or now is None:
        return before != now
    return now != before and abs(now - before) >= LEAST * abs(now)
