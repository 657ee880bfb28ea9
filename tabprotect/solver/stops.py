"""Stops that come some time after others: for what has to be ended well once a computation was asked to end."""

from __future__ import annotations

import time
from collections.abc import Callable

__all__ = ["Stop", "seconds_after"]

Stop = Callable[[], bool]
"""Says whether to stop; polled often."""


def seconds_after(stop: Stop, seconds: float) -> Stop:
    """Return a stop that says so some seconds after another one was first seen to.

    Examples
    --------
    >>> seconds_after(lambda: True, 0)(), seconds_after(lambda: True, 60)(), seconds_after(lambda: False, 0)()
    (True, False, False)
    """
    asked: list[float] = []

    def later() -> bool:
        if not asked and stop():
            asked.append(time.monotonic())
        return bool(asked) and time.monotonic() - asked[0] >= seconds

    return later
