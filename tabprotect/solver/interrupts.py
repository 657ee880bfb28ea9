"""Ctrl-C in a long computation: the first one asks for the best answer so far."""

from __future__ import annotations

import signal
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager

from tabprotect.solver.limits import Budget

__all__ = ["Asks", "cancel_on_interrupt"]


class Asks(ABC):
    """A handler of Ctrl-C that asks for the best answer so far the first time; solvers pass interrupts on to it."""

    @abstractmethod
    def __call__(self, number: int, frame: object) -> None:
        """Ask, or end the program where that was asked before."""


class _Cancels(Asks):
    """Cancels a budget, and those of the blocks around it: not every search hands on that its own was cancelled."""

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self.before = signal.getsignal(signal.SIGINT)
        self.asked = False

    def __call__(self, number: int, frame: object) -> None:
        self.asked = True
        self._budget.cancel()
        signal.signal(signal.SIGINT, self.before)
        if isinstance(self.before, Asks):
            self.before(number, frame)


@contextmanager
def cancel_on_interrupt(budget: Budget) -> Iterator[None]:
    """Within the block the first Ctrl-C cancels the budget; a second one interrupts as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    handler = _Cancels(budget)
    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        if not handler.asked:
            signal.signal(signal.SIGINT, handler.before)
