"""The first words of a command that works long: before its libraries are there."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

__all__ = ["opening", "over"]

SECONDS = 0.7
"""What has said nothing until then says that it has begun."""

LONG = (
    "apply", "arb", "audit", "compare", "compare-masks", "demo", "develop", "mask", "protect", "risk", "solve",
    "unsafe", "verify",
)  # fmt: skip
"""Commands that may work for more than a moment."""

_LINE = "start  1 s"

_over = threading.Event()
_over.set()


@contextmanager
def opening(arguments: Sequence[str], seconds: float = SECONDS) -> Iterator[None]:
    """Within the block long work says on standard error that it has begun, unless something else was written before.

    Parameters
    ----------
    arguments : sequence of str
        Of the command line.
    seconds : float
        How long it says nothing.
    """
    if not arguments or arguments[0] not in LONG or {"-h", "--help"} & set(arguments):
        yield
        return
    _over.clear()
    # no thread of the import of anything: what it writes needs nothing but the standard library
    thread = threading.Thread(target=_say, args=(seconds,), name="tabprotect opening", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over()
        thread.join()


def over() -> None:
    """Say no more that work begins: something else speaks."""
    _over.set()


def _say(seconds: float) -> None:
    if _over.wait(seconds) or sys.stderr is None:
        return
    if not sys.stderr.isatty():
        sys.stderr.write(f"{_LINE}\n")
        sys.stderr.flush()
        return
    # on a terminal the line goes as it came
    sys.stderr.write(_LINE)
    sys.stderr.flush()
    _over.wait()
    sys.stderr.write("\r\x1b[K")
    sys.stderr.flush()
