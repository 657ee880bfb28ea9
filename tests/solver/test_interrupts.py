"""Ctrl-C reaches every search that is under way, the outer ones too."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget


@pytest.fixture(autouse=True)
def usual() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_an_interrupt_within_a_search_of_its_own_budget_ends_the_search_around_it() -> None:
    outer, inner = Budget(), Budget()
    with cancel_on_interrupt(outer):
        with cancel_on_interrupt(inner):
            interrupt()
            assert inner.stopped == outer.stopped == "cancelled"
        with pytest.raises(KeyboardInterrupt):
            interrupt()
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_without_an_interrupt_the_handler_is_that_of_before() -> None:
    outer, inner = Budget(), Budget()
    with cancel_on_interrupt(outer):
        around = signal.getsignal(signal.SIGINT)
        with cancel_on_interrupt(inner):
            assert signal.getsignal(signal.SIGINT) is not around
        assert signal.getsignal(signal.SIGINT) is around
        interrupt()
    assert outer.stopped == "cancelled"
    assert not inner.stopped
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
