"""Primaries that no pattern protects: which, how far they get with everything hidden, and why."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from tabprotect.attack.components import components
from tabprotect.attack.exposure import Exposure
from tabprotect.attack.intervals import Question, reach
from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.result import Unprotectable
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import LEVEL

__all__ = ["explain", "out_of_reach"]

Reachable = dict[tuple[int, int], tuple[float, float]]
"""(attacker, cell) -> lowest (<= 0) and highest (>= 0) deviation when everything is hidden that may be."""


def out_of_reach(problem: Problem, keys: Iterable[Key], budget: Budget) -> list[Exposure]:
    """Return the questions that hiding everything does not answer, with how far that gets.

    Parameters
    ----------
    problem : Problem
    keys : iterable of Key
    budget : Budget
        What is not decided when it is exhausted is left out.
    """
    keys = set(keys)
    if not keys:
        return []
    lpl, upl, spl = (np.zeros(problem.n_cells) for _ in range(3))
    for key in keys:
        of, level = {1: (upl, problem.upl), -1: (lpl, problem.lpl), 0: (spl, problem.spl)}[key.side]
        of[key.cell] = level[key.cell]
    names = sorted({key.attacker for key in keys if key.attacker >= 0})
    asked = replace(problem, lpl=lpl, upl=upl, spl=spl, attackers=tuple(problem.attackers[a] for a in names))
    lost = []
    for exposure in Witnesses(asked).check(problem.may_hide, budget):
        attacker, cell, side = exposure.key
        key = Key(names[attacker] if attacker >= 0 else -1, cell, side)
        if key in keys and _decided(exposure, budget):
            lost.append(replace(exposure, key=key))
    return sorted(lost, key=lambda e: e.key)


def _decided(exposure: Exposure, budget: Budget) -> bool:
    """Whether an exposure is one for certain, not within floating-point reach of its level, nor cut short."""
    return exposure.decided or not (budget.exhausted or exposure.reached >= exposure.needed * (1 - LEVEL))


def explain(problem: Problem, lost: Iterable[Exposure], budget: Budget) -> tuple[Unprotectable, ...]:
    """Describe the cells behind questions that are out of reach; when a limit comes first, by what decided them."""
    sides: dict[tuple[int, int], dict[int, float]] = {}
    for exposure in lost:
        sides.setdefault((exposure.key.attacker, exposure.key.cell), {})[exposure.key.side] = exposure.reached
    reachable = _extremes(problem, sides, budget)
    found = []
    for (attacker, cell), reached in sorted(sides.items()):
        low, high = reachable[attacker, cell]
        value = float(problem.values[cell])
        lpl, upl, spl = (float(level[cell]) for level in (problem.lpl, problem.upl, problem.spl))
        if np.isnan(low):
            low, high = -reached.get(-1, lpl), reached.get(1, upl)
        reason = _reason(problem, cell, attacker, low, high, spl)
        found.append(Unprotectable(cell, attacker, (value + low, value + high), (value - lpl, value + upl), reason))
    return tuple(found)


def _extremes(problem: Problem, pairs: Iterable[tuple[int, int]], budget: Budget) -> Reachable:
    """Return how far cells can go in the eyes of attackers when everything is hidden; NaN when a limit comes first."""
    asked: dict[int, list[int]] = {}
    for attacker, cell in sorted(pairs):
        asked.setdefault(attacker, []).append(cell)
    found: Reachable = {}
    for attacker, cells in asked.items():
        known = problem.attackers[attacker].known if attacker >= 0 else ()
        found.update({(attacker, cell): (0.0, 0.0) for cell in cells})
        for part in components(problem, problem.may_hide, known):
            targets = np.flatnonzero(np.isin(part.cells, cells))
            if not len(targets):
                continue
            down, up = problem.down[part.cells], problem.up[part.cells]
            question = Question(part, down, up, targets, -down[targets], up[targets])
            ((low, high),) = reach([question], budget)
            for i, target in enumerate(targets.tolist()):
                found[attacker, int(part.cells[target])] = (float(low[i]), float(high[i]))
    return found


def _reason(problem: Problem, cell: int, attacker: int, low: float, high: float, spl: float) -> str:
    who = "" if attacker < 0 else f" for attacker '{problem.attackers[attacker].name}'"
    if problem.upl[cell] > problem.up[cell] or problem.lpl[cell] > problem.down[cell]:
        return f"its external bounds are closer than its protection level{who}; widen the bounds or lower the level"
    if low == 0 and high == 0:
        return f"its value follows from cells that may not be hidden{who}; let more cells be hidden"
    if spl > problem.lpl[cell] + problem.upl[cell] and high - low < spl:
        return f"even with everything hidden its interval is narrower than the sliding level {spl:g}{who}"
    return f"even with everything hidden its interval does not reach its protection levels{who}"
