"""Cases of which the first run with the unit tests, and the others with the slow ones."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["first"]


def first(count: int, cases: Iterable[Any]) -> list[Any]:
    """Mark all cases but the first ``count`` as slow; a tuple holds the values of several arguments."""
    return [
        case if k < count else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for k, case in enumerate(cases)
    ]
