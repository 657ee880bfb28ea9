"""Intervals of an intruder as a frame, and the levels that they do not reach as lines."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd

from tabprotect.attack.explore import Intervals
from tabprotect.attack.witness import Exposure
from tabprotect.errors import InputError
from tabprotect.problem import Problem, Status
from tabprotect.table.decimals import check_sign, written

__all__ = ["interval_rows", "shortfalls"]

Bools = npt.NDArray[np.bool_]


def interval_rows(
    problem: Problem, seen: Sequence[Intervals], exposures: Sequence[Exposure], *, changed: bool = False
) -> pd.DataFrame:
    """Return one row for each hidden cell that an intruder has an interval of; see `tabprotect.Audit.frame`.

    Parameters
    ----------
    problem : Problem
    seen : sequence of Intervals
        Of the intruders, each once.
    exposures : sequence of Exposure
        Of all intruders.
    changed : bool
        Values were changed, so that no cell is a secondary one.
    """
    cells = np.concatenate([np.zeros(0, np.int64), *(one.cells for one in seen)])
    value, lpl, upl, status = (a[cells] for a in (problem.values, problem.lpl, problem.upl, problem.status))
    missing, exposed = _shortfalls(problem, seen, exposures)
    asked = (status == Status.PRIMARY) & ~_unasked(problem, seen)
    names = ["public" if one.attacker < 0 else problem.attackers[one.attacker].name for one in seen]
    distinct, which = np.unique(cells, return_inverse=True)
    return pd.DataFrame(
        {
            "cell": cells,
            "label": np.array(problem.system.labels(distinct), dtype=object)[which],
            "attacker": np.repeat(np.array(names, dtype=object), [len(one.cells) for one in seen]),
            "status": _words(changed)[status],
            "value": value,
            "low": np.concatenate([np.zeros(0), *(one.low for one in seen)]),
            "high": np.concatenate([np.zeros(0), *(one.high for one in seen)]),
            "needed_low": np.where(asked & (lpl > 0), value - lpl, np.nan),
            "needed_high": np.where(asked & (upl > 0), value + upl, np.nan),
            "missing": missing,
            "exposed": exposed,
            "recomputable": np.concatenate([np.zeros(0, bool), *(one.exact for one in seen)]),
        }
    )


def _words(changed: bool) -> npt.NDArray[np.object_]:
    """Return the word for every status of a hidden cell."""
    words = np.empty(max(Status) + 1, dtype=object)
    for status in Status:
        words[status] = status.name.lower()
    if not changed:
        words[[Status.SAFE, Status.PROTECTED, Status.ZERO]] = "secondary"
    return words


def _unasked(problem: Problem, seen: Sequence[Intervals]) -> Bools:
    """Return which rows are of cells that an attacker is not asked about."""
    spared = [
        np.isin(one.cells, list(problem.attackers[one.attacker].unasked if one.attacker >= 0 else ())) for one in seen
    ]
    return np.concatenate([np.zeros(0, bool), *spared])


def _shortfalls(
    problem: Problem, seen: Sequence[Intervals], exposures: Sequence[Exposure]
) -> tuple[npt.NDArray[np.float64], Bools]:
    """Return by row the largest shortfall, and whether there is one: those of the public are everybody's."""
    own: dict[int, list[tuple[int, float]]] = {}
    for exposure in exposures:
        short = max(0.0, exposure.needed - exposure.reached)
        own.setdefault(exposure.key.attacker, []).append((exposure.key.cell, short))
    of_all = _by_cell(problem, own.get(-1, []))
    missing, exposed = [np.zeros(0)], [np.zeros(0, bool)]
    for one in seen:
        least = of_all[one.cells]
        if one.attacker >= 0 and one.attacker in own:
            least = np.fmax(least, _by_cell(problem, own[one.attacker])[one.cells])
        exposed.append(~np.isnan(least))
        missing.append(np.fmax(least, 0.0))
    return np.concatenate(missing), np.concatenate(exposed)


def _by_cell(problem: Problem, found: Sequence[tuple[int, float]]) -> npt.NDArray[np.float64]:
    """Return the largest shortfall of every cell, nan without one."""
    short = np.full(problem.n_cells, np.nan)
    for cell, by in found:
        short[cell] = np.fmax(short[cell], by)
    return short


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
