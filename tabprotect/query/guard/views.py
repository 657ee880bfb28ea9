"""SQL of views that make a table fit for the guard, for messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.query.audit.records import LARGEST
from tabprotect.table.duck import quoted

__all__ = ["keyed_view", "rounded_view"]

MOST: Final = 6
"""Decimals that are proposed at most."""


def keyed_view(table: str, columns: Sequence[str]) -> str:
    """Return SQL of a view in which several columns are one key.

    Examples
    --------
    >>> print(keyed_view("lineitem", ["order", "line"]))
    CREATE VIEW "lineitem_keyed" AS SELECT "order" || '-' || "line" AS "row", * FROM "lineitem"
    """
    key = " || '-' || ".join(map(quoted, columns))
    return f'CREATE VIEW {quoted(f"{table}_keyed")} AS SELECT {key} AS "row", * FROM {quoted(table)}'


def rounded_view(table: str, columns: Sequence[str], values: dict[str, npt.NDArray[np.float64]]) -> str | None:
    """Return SQL of a view with columns rounded to as many decimals as exact sums have room for, None for no room.

    Parameters
    ----------
    table : str
    columns : sequence of str
        All that the view has.
    values : dict of str to ndarray of float
        Those to be rounded.

    Examples
    --------
    >>> print(rounded_view("emp", ["id", "salary"], {"salary": np.array([1 / 3, 1e9])}))
    CREATE VIEW "emp_rounded" AS SELECT "id", CAST("salary" AS DECIMAL(18, 6)) AS "salary" FROM "emp"
    """
    decimals = {}
    for name, numbers in values.items():
        # bounds and rounding take a part of the room, too
        room = math.floor(math.log10(LARGEST / (4 * float(np.abs(numbers).sum()) + 1)))
        if room < 0:
            return None
        decimals[name] = min(room, MOST)
    shown = [
        f"CAST({quoted(name)} AS DECIMAL(18, {decimals[name]})) AS {quoted(name)}" if name in decimals else quoted(name)
        for name in columns
    ]
    return f"CREATE VIEW {quoted(f'{table}_rounded')} AS SELECT {', '.join(shown)} FROM {quoted(table)}"
