"""From a problem to changed values, as the public will read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.sums import LevelsForOthers
from tabprotect.methods.base.method import Call, Changed, Method
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.table.decimals import decimals_of
from tabprotect.workflow.prepare import Prepared

__all__ = ["change"]


def change(prepared: Prepared, method: Method, asked: LevelsForOthers) -> Changed:
    """Carry a method out, within the limits of the request; values are the floats that published decimals read as."""
    request = prepared.request
    Budget(progress=request.progress).report(method.name)
    call = Call(asked.aimed, request.limits, prepared.seed, request.progress, None, prepared.table)
    changed = method.change(call)
    return (
        changed
        if changed.values is None
        else replace(changed, values=_as_printed(changed.values, asked.aimed, changed.claim["fixed"]))
    )


def _as_printed(values: npt.NDArray[np.float64], problem: Problem, fixed: Sequence[int]) -> npt.NDArray[np.float64]:
    """Return the floats that the published decimals read back as; fixed cells keep every digit."""
    places = decimals_of(values)
    printed = values.copy() if places is None else np.round(values, places) + 0.0
    printed[fixed] = problem.values[fixed]
    return printed
