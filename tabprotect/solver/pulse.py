"""Progress that is never silent for long, whatever works: the last line again where nobody says anything."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from tabprotect.solver.limits import Progress

__all__ = ["Pulse", "never_silent"]

SILENCE = 4.0
"""Seconds without progress after which the last line is said again."""

LOOK = 0.5
"""Seconds between two looks at how long that was."""


@dataclass(eq=False)
class Pulse:
    """Passes progress on, and says the last of it again after a silence.

    What a line leaves open is as in the line before: a step that knows no cost has not lost the pattern in hand.
    Seconds never go back.

    Parameters
    ----------
    listener : callable
        Is called by one thread at a time, though not always by the same one.
    clock : callable
        Seconds of a monotonic clock.

    Examples
    --------
    >>> heard, now = [], [0.0]
    >>> pulse = Pulse(heard.append, clock=lambda: now[0])
    >>> pulse(Progress("audit", cost=9.0, seconds=2.0))
    >>> now[0] = 3.0
    >>> pulse.beat()
    >>> now[0] = 4.5
    >>> pulse.beat()
    >>> [(p.stage, p.cost, p.seconds, p.message) for p in heard]
    [('audit', 9.0, 2.0, ''), ('audit', 9.0, 6.5, 'still at work')]
    """

    listener: Callable[[Progress], None]
    clock: Callable[[], float] = time.monotonic
    _last: Progress = field(default_factory=lambda: Progress("start"))
    _said: float = field(init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    def __post_init__(self) -> None:
        self._said = self.clock()

    def __call__(self, progress: Progress) -> None:
        """Pass progress on."""
        with self._lock:
            last = self._last
            self._last = replace(
                progress,
                cost=last.cost if progress.cost is None else progress.cost,
                bound=last.bound if progress.bound is None else progress.bound,
                seconds=max(progress.seconds, last.seconds),
                work=max(progress.work, last.work),
            )
            self._said = self.clock()
            self.listener(self._last)

    def beat(self) -> None:
        """Say the last line again if nobody said anything for `SILENCE`."""
        with self._lock:
            now = self.clock()
            if now - self._said < SILENCE:
                return
            self._last = replace(self._last, seconds=self._last.seconds + now - self._said, message="still at work")
            self._said = now
            self.listener(self._last)


@contextmanager
def never_silent(listener: Callable[[Progress], None] | None) -> Iterator[Pulse | None]:
    """Within the block progress is said again by a thread of its own; None where nobody listens.

    Whatever the listener raises there ends the repetitions, and nothing else.
    """
    if listener is None:
        yield None
        return
    pulse, over = Pulse(listener), threading.Event()

    def go() -> None:
        while not over.wait(LOOK):
            try:
                pulse.beat()
            except Exception:
                return

    thread = threading.Thread(target=go, name="tabprotect progress", daemon=True)
    thread.start()
    try:
        yield pulse
    finally:
        over.set()
        thread.join()
