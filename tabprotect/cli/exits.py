"""What the exit code of every command means."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

__all__ = ["EndedAtOnce", "Exit", "ended"]


class Exit(IntEnum):
    """What the exit code of every command means."""

    DONE = 0  #: done; where there is a pattern, it is safe
    UNSAFE = 1  #: a verdict: not safe, infeasible, or no safe answer within the limits
    INPUT = 2  #: the input is wrong
    LIMIT = 3  #: a limit was reached or Ctrl-C pressed; the answer given, if there is one, is safe
    FAULT = 70  #: the program failed, and says nothing about the data
    INTERRUPTED = 130  #: ended at once, by a second Ctrl-C
    UNREAD = 141  #: the reader of the output went away, so nothing was said of the outcome


class EndedAtOnce(KeyboardInterrupt):
    """A second Ctrl-C, after the one that asked for the best answer so far."""


JUDGES = ("audit", "verify")
"""Commands that say nothing but whether something is safe: without a verdict, 3 would call it so."""


def ended(arguments: Sequence[str]) -> Exit:
    """Return the code of a command that Ctrl-C ended before there was an answer.

    Examples
    --------
    >>> ended(["demo", "--out", "x"]).name, ended(["verify", "x"]).name
    ('LIMIT', 'UNSAFE')
    """
    return Exit.UNSAFE if arguments and arguments[0] in JUDGES else Exit.LIMIT
