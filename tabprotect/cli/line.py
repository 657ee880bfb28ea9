"""The command line that is being carried out, for the provenance of what it writes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from contextvars import ContextVar

__all__ = ["command_line", "remember"]

_LINE: ContextVar[str | None] = ContextVar("command line", default=None)


def remember(arguments: Sequence[str]) -> None:
    """Keep the arguments of the program.

    Examples
    --------
    >>> remember(["demo", "--seed", "1"])
    >>> command_line()
    'tabprotect demo --seed 1'
    """
    _LINE.set(shlex.join(["tabprotect", *arguments]))


def command_line() -> str | None:
    """Return the command line as a shell takes it; None outside of the program."""
    return _LINE.get()
