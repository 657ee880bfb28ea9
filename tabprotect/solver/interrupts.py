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


@contextmanager
def cancel_on_interrupt(budget: Budget) -> Iterator[None]:
    """Within the block the first Ctrl-C cancels the budget; a second one interrupts as usual."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGINT)

    def handler(number: int, frame: object) -> None:
        budget.cancel()
        signal.signal(signal.SIGINT, before)
        if isinstance(before, Asks):
            before(number, frame)

    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
