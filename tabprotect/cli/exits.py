"""What the exit code of every command means."""

from __future__ import annotations

from enum import IntEnum

__all__ = ["Exit"]


class Exit(IntEnum):
    """What the exit code of every command means."""

    DONE = 0  #: done; where there is a pattern, it is safe
    UNSAFE = 1  #: a verdict: not safe, infeasible, or no safe answer within the limits
    INPUT = 2  #: the input is wrong
    LIMIT = 3  #: a limit was reached (or Ctrl-C pressed); the answer given is safe
    FAULT = 70  #: the program failed, and says nothing about the data
    INTERRUPTED = 130  #: ended by a second Ctrl-C, or by the first where no part of the work is an answer
