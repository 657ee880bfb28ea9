"""A small frame with a column of every scale and role, calls of methods with it, and what an error must say."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import tabprotect as tp
import tabprotect.microdata as md

TREE = tp.Hierarchy((("all", ("north", "south")), ("north", ("n1", "n2")), ("south", ("s1", "s2"))))
SIZES = ("small", "medium", "large")
Call = Callable[[pd.DataFrame], object]


def people() -> pd.DataFrame:
    """Forty records with a column of every scale and role."""
    rng = np.random.default_rng(7)
    n = 40
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(n)],
            "region": rng.choice(TREE.leaves, n),
            "size": rng.choice(SIZES, n),
            "sex": rng.choice(["f", "m"], n),
            "age": rng.integers(0, 90, n),
            "pay": rng.lognormal(7, 0.6, n).round(2),
            "debt": rng.lognormal(5, 1, n).round(1),
            "w": rng.integers(1, 20, n).astype(float),
            "hid": np.repeat(np.arange(n // 2), 2),
            "day": pd.to_datetime([f"2020-{1 + i % 12:02}-01" for i in range(n)]),
        }
    )
    frame.loc[3, "pay"] = np.nan
    return frame


def masked(*steps: Any, **schema: Any) -> Call:
    """Mask the frame under a schema."""
    return lambda frame: md.mask(frame, md.Schema(**schema), list(steps), seed=1)


def changed(change: Callable[[pd.DataFrame], pd.DataFrame], *steps: Any, **schema: Any) -> Call:
    """Mask a frame that was made wrong."""
    return lambda frame: md.mask(change(frame), md.Schema(**schema), list(steps), seed=1)


def made(make: Callable[[], object]) -> Call:
    """Make something that needs no frame."""
    return lambda frame: make()


def put(column: str, row: int, value: Any) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Put one value into a column."""

    def change(frame: pd.DataFrame) -> pd.DataFrame:
        values = frame[column].astype(object).tolist()
        values[row] = value
        return frame.assign(**{column: values})

    return change


TOP = md.TopCoding("pay", threshold=1000)
SUPPRESS = md.LocalSuppression(k=2)


def says(message: str, parts: tuple[str, ...]) -> None:
    """Each part is in the message; one with a bar is a pattern."""
    for part in parts:
        found = re.search(part, message) if "|" in part else part in message
        assert found, f"'{part}' is not in: {message}"
    assert "Traceback" not in message
    assert " object at 0x" not in message
