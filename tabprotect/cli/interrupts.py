"""Ctrl-C at any moment: where it would be lost, it is raised again a moment later."""

from __future__ import annotations

import _thread
import signal
import sys
import threading
from importlib.machinery import ExtensionFileLoader
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

__all__ = ["handle_interrupts"]

SECONDS = 0.02
"""Until an interrupt is raised again."""

LOADING = (ExtensionFileLoader.create_module.__code__, ExtensionFileLoader.exec_module.__code__)
"""Frames below which a library starts whose errors become an ImportError, or nothing."""

NAMING = "__set_name__"
"""The method whose errors become a RuntimeError before Python 3.12."""


def handle_interrupts() -> None:
    """Lose no interrupt from now on, unless whoever started the program ignores them."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
        sys.unraisablehook = _unraisable


def _interrupt(number: int, frame: FrameType | None) -> None:
    if not _loses(frame):
        raise KeyboardInterrupt
    _again()


def _again() -> None:
    again = threading.Timer(SECONDS, _thread.interrupt_main)
    again.daemon = True
    again.start()


def _loses(frame: FrameType | None) -> bool:
    """Whether what is raised here becomes another error, or none."""
    while frame is not None:
        if frame.f_code in LOADING or frame.f_code.co_name == NAMING:
            return True
        frame = frame.f_back
    return False


def _unraisable(lost: UnraisableHookArgs) -> None:
    """Interrupt once more where that was in the middle of the end of an object, which lets no error out."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        _again()
    else:
        sys.__unraisablehook__(lost)
