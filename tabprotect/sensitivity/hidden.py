"""Protection levels for hidden cells that no rule asks any for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity.assess import Levels, shape_levels, smallest_level
from tabprotect.sensitivity.assessment import Assessment
from tabprotect.sensitivity.rules.manual import Manual

__all__ = ["HIDDEN_BEFORE", "levels_for_hidden", "published_instead", "widths_for_hidden"]

HIDDEN_BEFORE = "suppressed already"
"""The reason, in an assessment, why such a cell is protected."""


def levels_for_hidden(assessment: Assessment, levels: Levels = "symmetric") -> Assessment:
    """Return an assessment in which cells that are suppressed already (status 'm') are sensitive.

    Their levels are those of cells that are marked sensitive by hand: so many per cent of the value as `Manual` says
    (20 by default, as in tau-ARGUS), and at least the smallest level.

    Parameters
    ----------
    assessment : Assessment
    levels : {'symmetric', 'upper', 'sliding'}
        As it was made with.
    """
    forced = assessment.status == Status.FORCED
    if not forced.any():
        return assessment
    table = assessment.table
    manual = next((rule for rule in assessment.rules if isinstance(rule, Manual)), Manual())
    level = np.maximum(np.abs(table.values) * manual.range / 100, smallest_level(table))
    shaped = shape_levels(np.where(table.values == 0, 0.0, level), level, levels)
    lpl, upl, spl = (
        np.where(forced, new, old)
        for new, old in zip(shaped, (assessment.lpl, assessment.upl, assessment.spl), strict=True)
    )
    status = np.where(forced, Status.PRIMARY, assessment.status).astype(np.int8)
    reasons = {**assessment.reasons, HIDDEN_BEFORE: forced}
    return replace(assessment, status=status, lpl=lpl, upl=upl, spl=spl, reasons=reasons)


def widths_for_hidden(problem: Problem, cells: npt.NDArray[np.int64], share: float, smallest: float) -> Problem:
    """Return a problem in which some secondary cells stay hidden, with an interval that is not too narrow.

    Parameters
    ----------
    problem : Problem
    cells : ndarray of int
    share : float
        Least width of their intervals (sliding level) as a share of the value.
    smallest : float
        The least such level.
    """
    status, spl = problem.status.copy(), problem.spl.copy()
    status[cells] = Status.PRIMARY
    spl[cells] = np.maximum(share * np.abs(problem.values[cells]), smallest)
    if problem.integer:
        spl[cells] = np.ceil(spl[cells])
    note = f"{len(cells)} hidden cells that could be computed were given a level, as protect_hidden asks"
    return replace(problem, status=status, spl=spl, notes=(*problem.notes, note))


def published_instead(problem: Problem, cells: npt.NDArray[np.int64]) -> Problem:
    """Return a problem in which cells that got a width and cannot have it are published; hidden they protect nobody.

    Parameters
    ----------
    problem : Problem
    cells : ndarray of int
        Cells that `widths_for_hidden` gave a level.
    """
    status, spl = problem.status.copy(), problem.spl.copy()
    status[cells], spl[cells] = Status.PROTECTED, 0.0
    note = (
        f"{counted(len(cells), 'cell')} that everybody could compute even with everything hidden "
        f"{'is' if len(cells) == 1 else 'are'} not hidden"
    )
    return replace(problem, status=status, spl=spl, notes=(*problem.notes, note))
