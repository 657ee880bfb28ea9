"""Progress on standard error for anything that takes more than a few seconds."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.live import Live
from rich.text import Text

from tabprotect.solver.limits import Progress

__all__ = ["Display", "describe", "interruptible"]

QUIET_SECONDS = 2.0
"""Nothing is shown before."""

LINE_SECONDS = 10.0
"""Where the screen cannot be redrawn, a line is printed this often."""


def describe(progress: Progress) -> str:
    """Say in one line what is going on.

    Examples
    --------
    >>> describe(Progress("root", cost=1200.0, bound=1080.0, seconds=3.2))
    'root  cost 1,200  bound 1,080  gap 10.00 %  3 s'
    """
    words = [progress.stage]
    if progress.cost is not None:
        words.append(f"cost {progress.cost:,.10g}")
    if progress.bound is not None:
        words.append(f"bound {progress.bound:,.10g}")
    if progress.gap is not None:
        words.append(f"gap {100 * progress.gap:.2f} %")
    words.append(f"{progress.seconds:,.0f} s")
    if progress.message:
        words.append(progress.message)
    return "  ".join(words)


class Display:
    """Shows the latest `Progress`: one line that is redrawn on a terminal, else a line now and then.

    Use it as a context manager and hand it as ``progress=`` to a long computation.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.started = time.monotonic()
        self._live: Live | None = None
        self._printed = self.started + QUIET_SECONDS - LINE_SECONDS

    def __enter__(self) -> Display:
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show it, if enough time has gone by."""
        now = time.monotonic()
        if now - self.started < QUIET_SECONDS:
            return
        line = Text(describe(progress), overflow="ellipsis", no_wrap=True)
        if self.console.is_terminal:
            if self._live is None:
                self._live = Live(line, console=self.console, transient=True, refresh_per_second=4)
                self._live.start()
            self._live.update(line)
        elif now - self._printed >= LINE_SECONDS:
            self._printed = now
            self.console.print(line, soft_wrap=True)


@contextmanager
def interruptible(console: Console) -> Iterator[threading.Event]:
    """Within the block the first Ctrl-C (or SIGTERM) asks for the best answer so far; a second one ends the program.

    Yields
    ------
    threading.Event
        Set once somebody asked; hand its ``is_set`` as ``Limits(stop=...)``.
    """
    asked = threading.Event()
    watched = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in watched}

    def handler(_number: int, _frame: object) -> None:
        asked.set()
        for number, usual in before.items():
            signal.signal(number, usual)
        console.print("Stopping with the best answer so far; once more to end at once.", style="yellow")

    for number in watched:
        signal.signal(number, handler)
    try:
        yield asked
    finally:
        for number, usual in before.items():
            signal.signal(number, usual)
