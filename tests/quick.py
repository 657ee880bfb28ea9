"""How many cases run with the unit tests; `make test-all` runs all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import pytest

__all__ = ["examples", "first"]


def first(count: int, cases: Iterable[Any]) -> list[Any]:
    """Mark all cases but the first ``count`` as slow; a tuple holds the values of several arguments."""
    return [
        case if k < count else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)
        for k, case in enumerate(cases)
    ]


def examples(few: int, all_of_them: int) -> int:
    """Return how many examples are drawn: few, or all of them where the environment says TABPROTECT_EXAMPLES=all."""
    return all_of_them if os.environ.get("TABPROTECT_EXAMPLES") == "all" else few
