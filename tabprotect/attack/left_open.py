"""Hidden cells that no protection level is asked for, and that everybody can compute."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.attack.explore import Intervals
from tabprotect.counted import counted
from tabprotect.problem import Problem, Status

__all__ = ["NEARLY", "left_open", "left_open_words", "without_level"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

NEARLY: Final = 0.01
"""A hidden cell whose interval is narrower than this share of its value is as good as published."""


def left_open(problem: Problem, pattern: Bools, public: Intervals) -> Ints:
    """Return the hidden cells without level that the public intruder computes exactly, or to within `NEARLY`."""
    cells = public.cells
    bare = np.isin(cells, without_level(problem, pattern))
    near = public.high - public.low < NEARLY * np.abs(problem.values[cells])
    return cells[bare & (near | np.isin(cells, public.recomputable))]


def left_open_words(problem: Problem, cells: Ints, exact: int) -> list[str]:
    """Say which hidden cells without level can be computed, `exact` of them exactly; nothing where there are none."""
    if not len(cells):
        return []
    names = ", ".join(problem.system.label(int(i)) for i in cells[:10]) + (", ..." if len(cells) > 10 else "")
    found = f"{counted(len(cells), 'hidden cell')} without protection level can be computed by everybody"
    nearly = f"to within {100 * NEARLY:g} %"
    if len(cells) == 1:
        return [f"{found}, {'exactly' if exact else nearly}: {names}"]
    others = "" if exact == len(cells) else f" and the others {nearly}"
    return [f"{found}, {exact:,} of them exactly{others}: {names}"]


def without_level(problem: Problem, pattern: Bools) -> Ints:
    """Return the hidden cells that no protection level is asked for."""
    level = np.maximum(np.maximum(problem.lpl, problem.upl), problem.spl)
    return np.flatnonzero(pattern & ~((problem.status == Status.PRIMARY) & (level > 0)))
