"""The kind of a table, and its cells of unknown codes, however the table is made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.errors import among
from tabprotect.table.dimension import Dimension
from tabprotect.table.grid import Grid

__all__ = ["check_kind", "missing_cells"]

Ints = npt.NDArray[np.int64]

_NOT_ADDITIVE = ("average", "averages", "mean", "median", "percentage", "percent", "ratio", "rate", "index")


def check_kind(kind: str | None, complain: Any) -> None:
    """Note a kind of table that there is not, with the reason why averages are none."""
    if among(kind, _NOT_ADDITIVE):
        complain(
            f"kind='{kind}': a table of averages, percentages or ratios cannot be protected, since the total is not "
            "the sum of its parts; protect the tables of numerators and denominators, then divide what is published"
        )
    elif not among(kind, (None, "magnitude", "frequency")):
        complain(f"kind must be 'magnitude' or 'frequency', not {kind!r}")


def missing_cells(dimensions: Sequence[Dimension], grid: Grid, keys: Ints | None) -> npt.NDArray[np.bool_] | None:
    """Return the cells that belong to a missing code, or None when no dimension has one."""
    marked = [dimension.missing_codes() for dimension in dimensions]
    if not any(codes.any() for codes in marked):
        return None
    codes = grid.codes_of(np.arange(grid.size) if keys is None else keys)
    missing = np.zeros(len(codes[0]), dtype=bool)
    for mark, code in zip(marked, codes, strict=True):
        missing |= mark[code]
    return missing
