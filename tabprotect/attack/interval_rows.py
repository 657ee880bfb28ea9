"""Intervals of an intruder as a frame, and the levels that they do not reach as lines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd

from tabprotect.attack.explore import Intervals
from tabprotect.attack.witness import Exposure
from tabprotect.errors import InputError
from tabprotect.problem import Problem, Status
from tabprotect.table.decimals import check_sign, written

__all__ = ["interval_rows", "shortfalls"]


def interval_rows(
    problem: Problem, intervals: Intervals, exposures: Sequence[Exposure], *, changed: bool = False
) -> pd.DataFrame:
    """Return one row for each hidden cell that an intruder has an interval of; see `tabprotect.Audit.frame`.

    Parameters
    ----------
    problem : Problem
    intervals : Intervals
        Of one intruder.
    exposures : sequence of Exposure
        Of all intruders.
    changed : bool
        Values were changed, so that no cell is a secondary one.
    """
    cells = intervals.cells
    asked = problem.status[cells] == Status.PRIMARY
    if intervals.attacker >= 0:
        asked &= ~np.isin(cells, list(problem.attackers[intervals.attacker].unasked))
    value, lpl, upl = (a[cells] for a in (problem.values, problem.lpl, problem.upl))
    missing = np.zeros(len(cells))
    exposed = np.zeros(len(cells), dtype=bool)
    for exposure in exposures:
        if exposure.key.attacker in (-1, intervals.attacker):
            here = cells == exposure.key.cell
            exposed |= here
            missing[here] = np.maximum(missing[here], exposure.needed - exposure.reached)
    words = np.array([Status(s).name.lower() for s in problem.status[cells]], dtype=object)
    if not changed:
        words[np.isin(problem.status[cells], (Status.SAFE, Status.PROTECTED, Status.ZERO))] = "secondary"
    name = "public" if intervals.attacker < 0 else problem.attackers[intervals.attacker].name
    return pd.DataFrame(
        {
            "cell": cells,
            "label": [problem.system.label(int(i)) for i in cells],
            "attacker": np.full(len(cells), name, dtype=object),
            "status": words,
            "value": value,
            "low": intervals.low,
            "high": intervals.high,
            "needed_low": np.where(asked & (lpl > 0), value - lpl, np.nan),
            "needed_high": np.where(asked & (upl > 0), value + upl, np.nan),
            "missing": missing,
            "exposed": exposed,
            "recomputable": np.isin(cells, intervals.recomputable),
        }
    )


def shortfalls(problem: Problem, exposures: Sequence[Exposure], most: int, decimal: str) -> list[str]:
    """Return a line an exposure, up to so many, and one for all others; confidential."""
    check_sign(decimal)
    if isinstance(most, bool) or not isinstance(most, int) or most < 0:
        raise InputError(f"most must be a whole number, 0 or more, not {most!r}")
    lines, number = [], partial(written, decimal=decimal, form=".15g")
    for e in exposures[:most]:
        who = "" if e.key.attacker < 0 else f" for {problem.attackers[e.key.attacker].name}"
        way = {1: "upwards", -1: "downwards", 0: "in width"}[e.key.side]
        doubt = "" if e.decided else " (not decided)"
        label = problem.system.label(e.key.cell)
        lines.append(f"{label} moves {number(e.reached)} {way}{who}, needs {number(e.needed)}{doubt}")
    if len(exposures) > most:
        lines.append(f"... and {len(exposures) - most} more")
    return lines
