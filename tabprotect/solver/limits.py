"""Limits, cancelling and progress: one small object handed through every long computation."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from numbers import Real

from tabprotect.errors import InputError
from tabprotect.solver.gap import relative_gap
from tabprotect.solver.memory import held_memory

__all__ = ["Budget", "Limits", "Progress"]

LOOK = 0.05
"""Seconds between two looks at the memory."""


@dataclass(frozen=True)
class Progress:
    """One line of progress: what is going on, the best answer, the bound, what was spent."""

    stage: str
    cost: float | None = None
    bound: float | None = None
    seconds: float = 0.0
    work: int = 0
    message: str = ""

    @property
    def gap(self) -> float | None:
        """(cost - bound) / cost, a fraction; None without both."""
        return relative_gap(self.cost, self.bound)


@dataclass(frozen=True)
class Limits:
    """When to stop.

    Parameters
    ----------
    seconds : float, optional
        Wall-clock seconds.
    work : int, optional
        Work units (simplex iterations and tree nodes, counted, never clocked): the same limit gives the
        same answer on every machine.
    gap : float
        Stop when (cost - bound) / cost is at most this fraction (0: proven optimal).
    stop : callable, optional
        Polled often; returning True ends the run with the best answer so far.
    memory : int, optional
        Bytes that this process may hold (resident, all of it, not only the solver's share). Looked at now and then, so
        it is overshot by what one step takes.

    Raises
    ------
    InputError
        If a limit is no number or negative, or memory cannot be measured on this system.
    """

    seconds: float | None = None
    work: int | None = None
    gap: float = 0.0
    stop: Callable[[], bool] | None = None
    memory: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "work", "gap"):
            limit = getattr(self, name)
            if limit is not None and not (isinstance(limit, Real) and float(limit) >= 0):
                raise InputError(f"the limit '{name}' must be a number of at least 0, not {limit!r}")
        if self.stop is not None and not callable(self.stop):
            raise InputError(f"the limit 'stop' must be a function that says whether to stop, not {self.stop!r}")
        if self.memory is None:
            return
        if isinstance(self.memory, bool) or not isinstance(self.memory, Real) or not float(self.memory) > 0:
            raise InputError(f"the limit of memory must be a positive number of bytes, not {self.memory!r}")
        if held_memory() is None:
            raise InputError("the memory of a process cannot be measured on this system; leave that limit out")


def as_limits(given: Limits | float | None, name: str = "limits") -> Limits:
    """Return limits; a number is one of seconds, None is no limit.

    Raises
    ------
    InputError
        If it is none of these.

    Examples
    --------
    >>> as_limits(5).seconds, as_limits(None).seconds
    (5, None)
    >>> as_limits("5 s")
    Traceback (most recent call last):
    ...
    tabprotect.errors.InputError: limits must be tabprotect.Limits or a number of seconds, not '5 s'
    """
    if given is None or isinstance(given, Limits):
        return given or Limits()
    if isinstance(given, Real) and not isinstance(given, bool):
        return Limits(seconds=given)
    raise InputError(f"{name} must be tabprotect.Limits or a number of seconds, not {given!r}")


def check_progress(given: object) -> None:
    """Refuse what cannot be called with a `Progress`."""
    if given is not None and not callable(given):
        raise InputError(f"progress must be a function that is called with a tabprotect.Progress, not {given!r}")


@dataclass
class Budget:
    """A running account against `Limits`; create one per solve and pass it down.

    Examples
    --------
    >>> budget = Budget(Limits(work=10))
    >>> budget.spend(12)
    >>> budget.exhausted
    True
    """

    limits: Limits = field(default_factory=Limits)
    progress: Callable[[Progress], None] | None = None
    started: float = field(default_factory=lambda: time.monotonic())
    work: int = 0
    cancelled: bool = False
    over_memory: bool = field(default=False, init=False)
    seconds_before: float = field(default=0.0, init=False, repr=False)
    work_before: int = field(default=0, init=False, repr=False)
    _looked: float = field(default=-math.inf, init=False, repr=False)

    def __post_init__(self) -> None:
        check_progress(self.progress)

    def spend(self, work: int) -> None:
        """Add work units."""
        self.work += int(work)

    @property
    def seconds(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.started

    @property
    def seconds_left(self) -> float:
        """Seconds until the limit (inf without one, never below 0)."""
        if self.limits.seconds is None:
            return float("inf")
        return max(0.0, self.limits.seconds - self.seconds)

    @property
    def work_left(self) -> float:
        """Work units until the limit (inf without one)."""
        return float("inf") if self.limits.work is None else max(0, self.limits.work - self.work)

    @property
    def exhausted(self) -> bool:
        """True when a limit is reached or somebody cancelled."""
        if not self.cancelled and self.limits.stop is not None and self.limits.stop():
            self.cancelled = True
        self._look()
        return bool(self.stopped)

    @property
    def stopped(self) -> str:
        """What ended the work: 'cancelled', 'memory', 'time', 'work', or nothing (an empty string)."""
        if self.over_memory:
            return "memory"
        if self.cancelled:
            return "cancelled"
        if self.seconds_left <= 0:
            return "time"
        return "work" if self.work_left <= 0 else ""

    def _look(self) -> None:
        """Measure memory, but not all the time; once over the limit stays over it."""
        if self.limits.memory is None or self.over_memory:
            return
        now = time.monotonic()
        if now - self._looked >= LOOK:
            self._looked = now
            self.over_memory = (held_memory() or 0) > self.limits.memory
            self.cancelled |= self.over_memory  # those who tell time, work and cancelling apart need to know no more

    def fits(self, size: float) -> bool:
        """Tell whether a step that needs so many more bytes stays within the limit of memory; if not, work is over."""
        if self.limits.memory is not None and (held_memory() or 0) + size > self.limits.memory:
            self.over_memory = self.cancelled = True
        return not self.over_memory

    def cancel(self) -> None:
        """Ask the computation to end soon with its best answer so far."""
        self.cancelled = True

    @classmethod
    def of(
        cls,
        limits: Limits | Budget | float | None,
        progress: Callable[[Progress], None] | None = None,
        name: str = "limits",
    ) -> Budget:
        """Return a budget of these limits; that of a larger run as it is, with its own progress."""
        return limits if isinstance(limits, Budget) else cls(as_limits(limits, name), progress)

    def left(self, share: float = 1.0, *, gap: float | None = None, work: float = math.inf) -> Limits:
        """Return limits of a share of what is left, which end when somebody cancels this budget, too.

        Parameters
        ----------
        share : float
            Of the seconds and work that are left. Of work it is a unit at least: who goes on until the whole is spent
            gets there.
        gap : float, optional
            By default that of the limits.
        work : float
            Work units at most.

        Examples
        --------
        >>> budget = Budget(Limits(work=10))
        >>> budget.spend(4)
        >>> budget.left(0.5).work, budget.left(work=2).work
        (3, 2)
        """
        share = min(1.0, share)
        # nothing of an endless budget is nothing
        seconds, units = (left * share if share > 0 else 0.0 for left in (self.seconds_left, self.work_left))
        units = min(units, work)
        return Limits(
            None if math.isinf(seconds) else seconds,
            None if math.isinf(units) else math.ceil(units),
            self.limits.gap if gap is None else gap,
            lambda: bool(self.exhausted and self.stopped in ("cancelled", "memory")),
            self.limits.memory,
        )

    @contextmanager
    def part(self, share: float) -> Iterator[Budget]:
        """Within the block a budget of its own: a share of what is `left`, on the same clock, its work spent here."""
        limits = self.left(share)
        seconds = None if limits.seconds is None else limits.seconds + self.seconds
        with self._spending(Budget(replace(limits, seconds=seconds), self.progress, self.started)) as inner:
            inner.seconds_before = self.seconds_before
            yield inner

    @contextmanager
    def run(self, share: float = 1.0, *, gap: float | None = None, work: float = math.inf) -> Iterator[Budget]:
        """Within the block the budget of a search of its own, whose clock begins at 0; for the rest as `part`.

        What it reports is counted from the beginning of the whole.
        """
        with self._spending(Budget(self.left(share, gap=gap, work=work), self.progress)) as inner:
            inner.seconds_before = self.seconds_before + self.seconds
            yield inner

    @contextmanager
    def beyond(self, seconds: float | None, work: int | None) -> Iterator[Budget]:
        """Within the block a budget of its own as in `run`, with these limits, whatever is left of this one.

        For what has to be done after a limit or a stop; a stop within it is one of the whole.
        """
        with self._spending(Budget(Limits(seconds, work), self.progress)) as inner:
            inner.seconds_before = self.seconds_before + self.seconds
            yield inner

    @contextmanager
    def _spending(self, inner: Budget) -> Iterator[Budget]:
        inner.work_before = self.work_before + self.work
        try:
            yield inner
        finally:
            self.spend(inner.work)
            self.over_memory |= inner.over_memory
            self.cancelled |= inner.cancelled

    def report(self, stage: str, cost: float | None = None, bound: float | None = None, message: str = "") -> None:
        """Send one line of progress to whoever listens."""
        if self.progress is not None:
            seconds, work = self.seconds_before + self.seconds, self.work_before + self.work
            self.progress(Progress(stage, cost, bound, seconds, work, message))
