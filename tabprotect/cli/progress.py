"""Progress on standard error for anything that takes more than a few seconds."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console
from rich.live import Live
from rich.text import Text

from tabprotect.cli.exits import EndedAtOnce
from tabprotect.cli.opening import over
from tabprotect.solver.interrupts import Asks
from tabprotect.solver.limits import Budget, Progress

if TYPE_CHECKING:
    from tabprotect.formats.dialect import Dialect
    from tabprotect.report.numbers import Numbers

__all__ = ["Display", "describe", "interruptible", "working"]

QUIET_SECONDS = 0.8
"""Nothing is shown before."""

LINE_SECONDS = 4.0
"""Where the screen cannot be redrawn, a line is printed this often, whether there is news or not."""

LOOK_SECONDS = 0.25
"""Between two looks at how long nothing was printed."""


def describe(progress: Progress, numbers: Numbers | None = None) -> str:
    """Say in one line what is going on; costs are written as in the data where these say how.

    Examples
    --------
    >>> describe(Progress("root", cost=1200.0, bound=1080.0, seconds=3.2))
    'root  cost 1,200  bound 1,080  gap 10.00 %  3 s'
    """
    n = format if numbers is None else numbers
    words = [progress.stage]
    if progress.cost is not None:
        words.append(f"cost {n(progress.cost, ',.10g')}")
    if progress.bound is not None:
        words.append(f"bound {n(progress.bound, ',.10g')}")
    if progress.gap is not None:
        words.append(f"gap {n(100 * progress.gap, '.2f')} %")
    words.append(f"{n(progress.seconds, ',.0f')} s")
    if progress.message:
        words.append(progress.message if numbers is None else numbers.said(progress.message))
    return "  ".join(words)


class Display:
    """Shows the latest `Progress`: one line that is redrawn on a terminal, else a line now and then.

    Use it as a context manager and hand it as ``progress=`` to a long computation. A thread of its own shows the last
    one again, and before there is any says that work begins, so that nobody waits for longer than `LINE_SECONDS`.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self.started = time.monotonic()
        self._live: Live | None = None
        self._printed = self.started + QUIET_SECONDS - LINE_SECONDS
        self._last = (self.started, Progress("start"))
        self._over = threading.Event()
        self._lock = threading.RLock()
        self._thread: threading.Thread | None = None
        self._numbers: Numbers | None = None

    def write_as(self, dialect: Dialect) -> None:
        """Write numbers from now on in a dialect: once it is known how the data are written."""
        from tabprotect.report.numbers import Numbers

        self._numbers = Numbers.of(dialect)

    def __enter__(self) -> Display:
        over()
        self._thread = threading.Thread(target=self._go, name="tabprotect display", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        if self._live is not None:
            self._live.stop()

    def __call__(self, progress: Progress) -> None:
        """Show it, if enough time has gone by."""
        with self._lock:
            self._last = (time.monotonic(), progress)
            self._show(progress)

    def _go(self) -> None:
        while not self._over.wait(LOOK_SECONDS):
            with self._lock:
                since, last = self._last
                try:
                    self._show(replace(last, seconds=last.seconds + time.monotonic() - since))
                except Exception:
                    # whoever read the lines has gone
                    return

    def _show(self, progress: Progress) -> None:
        now = time.monotonic()
        if now - self.started < QUIET_SECONDS:
            return
        line = Text(describe(progress, self._numbers), overflow="ellipsis", no_wrap=True)
        if self.console.is_terminal:
            if self._live is None:
                self._live = Live(line, console=self.console, transient=True, refresh_per_second=4)
                self._live.start()
            self._live.update(line)
        elif now - self._printed >= LINE_SECONDS:
            self._printed = now
            self.console.print(line, soft_wrap=True)


@contextmanager
def working(console: Console, stage: str) -> Iterator[Display]:
    """Within the block it is said what goes on, now and then; for work that says nothing of its own."""
    with Display(console) as display:
        Budget(progress=display).report(stage)
        yield display


class _Asking(Asks):
    """Asks by an event, and gives the signals back to whom they belonged."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self.asked = threading.Event()
        self.before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def __call__(self, _number: int, _frame: object) -> None:
        self.give_back()
        if self.asked.is_set():
            raise EndedAtOnce
        self.asked.set()
        self.console.print("Stopping with the best answer so far; once more to end at once.", style="yellow")

    def give_back(self) -> None:
        for number, usual in self.before.items():
            signal.signal(number, usual)


@contextmanager
def interruptible(console: Console) -> Iterator[threading.Event]:
    """Within the block the first Ctrl-C (or SIGTERM) asks for the best answer so far; a second one ends the program.

    Yields
    ------
    threading.Event
        Set once somebody asked; hand its ``is_set`` as ``Limits(stop=...)``.

    Raises
    ------
    EndedAtOnce
        In the place of the second `KeyboardInterrupt`.
    """
    asking = _Asking(console)
    for number in asking.before:
        signal.signal(number, asking)
    try:
        yield asking.asked
    except KeyboardInterrupt as error:
        if asking.asked.is_set():
            raise EndedAtOnce from error
        raise
    finally:
        asking.give_back()
