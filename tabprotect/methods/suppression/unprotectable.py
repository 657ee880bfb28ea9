"""Primaries that no pattern protects: which, how far they get with everything hidden, and why."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tabprotect.attack.components import components
from tabprotect.attack.intervals import Question, reach
from tabprotect.attack.keys import Key, needed
from tabprotect.methods.suppression.result import Unprotectable
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import LEVEL

__all__ = ["explain", "extremes", "out_of_reach"]


Reachable = dict[tuple[int, int], tuple[float, float]]
"""(attacker, cell) -> lowest (<= 0) and highest (>= 0) deviation when everything is hidden that may be."""


def extremes(problem: Problem, keys: Iterable[Key], budget: Budget) -> Reachable:
    """Return how far the cells of some questions can go when everything is hidden that may be.

    Parameters
    ----------
    problem : Problem
    keys : iterable of Key
    budget : Budget
        When it is exhausted the interval is NaN.
    """
    asked: dict[int, set[int]] = {}
    for key in keys:
        asked.setdefault(key.attacker, set()).add(key.cell)
    found: Reachable = {}
    for attacker, cells in sorted(asked.items()):
        known = problem.attackers[attacker].known if attacker >= 0 else ()
        found.update({(attacker, cell): (0.0, 0.0) for cell in sorted(cells)})
        for part in components(problem, problem.may_hide, known):
            targets = np.flatnonzero(np.isin(part.cells, sorted(cells)))
            if not len(targets):
                continue
            down, up = problem.down[part.cells], problem.up[part.cells]
            question = Question(part, down, up, targets, -down[targets], up[targets])
            (answer,) = reach([question], budget)
            low, high = answer if answer is not None else (np.full(len(targets), np.nan),) * 2
            for i, target in enumerate(targets.tolist()):
                found[attacker, int(part.cells[target])] = (float(low[i]), float(high[i]))
    return found


def out_of_reach(problem: Problem, keys: Iterable[Key], reachable: Reachable) -> list[Key]:
    """Return the questions that hiding everything does not answer."""
    lost = []
    for key in keys:
        low, high = reachable[key.attacker, key.cell]
        moved = {1: high, -1: -low, 0: high - low}[key.side]
        if not moved >= needed(problem, key) * (1 - LEVEL):
            lost.append(key)
    return lost


def explain(problem: Problem, keys: Iterable[Key], reachable: Reachable) -> tuple[Unprotectable, ...]:
    """Describe the cells behind questions that are out of reach."""
    found = []
    for attacker, cell in sorted({(key.attacker, key.cell) for key in keys}):
        low, high = reachable[attacker, cell]
        value = float(problem.values[cell])
        lpl, upl, spl = (float(level[cell]) for level in (problem.lpl, problem.upl, problem.spl))
        reason = _reason(problem, cell, attacker, low, high, spl)
        found.append(Unprotectable(cell, attacker, (value + low, value + high), (value - lpl, value + upl), reason))
    return tuple(found)


def _reason(problem: Problem, cell: int, attacker: int, low: float, high: float, spl: float) -> str:
    who = "" if attacker < 0 else f" for attacker '{problem.attackers[attacker].name}'"
    if problem.upl[cell] > problem.up[cell] or problem.lpl[cell] > problem.down[cell]:
        return f"its external bounds are closer than its protection level{who}; widen the bounds or lower the level"
    if low == 0 and high == 0:
        return f"its value follows from cells that may not be hidden{who}; let more cells be hidden"
    if spl > problem.lpl[cell] + problem.upl[cell] and high - low < spl:
        return f"even with everything hidden its interval is narrower than the sliding level {spl:g}{who}"
    return f"even with everything hidden its interval does not reach its protection levels{who}"
