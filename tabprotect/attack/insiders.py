"""What intruders who know cells are never in doubt about, so that nothing is asked for that no pattern can give."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import floor, log10

import numpy as np

from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Attacker, Problem, Status

__all__ = ["within_reach"]

LARGEST_ASKED = 1_000_000
"""Up to this many cells times attackers the intruders are played out; beyond, one equation at a time decides."""


def within_reach(problem: Problem) -> Problem:
    """Lower the lower levels that nothing could provide against an intruder who knows parts of a cell.

    Whoever contributes 90 to a cell of 100 and knows so is never in doubt about these 90: against him a lower level of
    15 is out of reach whatever is hidden, just as one above the value is against everybody. A cell that he can always
    compute is one that he knows. Upper levels stay; every change is noted in ``problem.notes``.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1]], [100, 90, 10], primary=[0, 1], lpl=15, upl=15,
    ...     attackers=[Attacker("a", (1,))])
    >>> within_reach(p).lpl.tolist()
    [9.999, 15.0, 15.0]
    """
    primary = problem.status == Status.PRIMARY
    if not problem.attackers or not np.any((problem.lpl + problem.spl)[primary] > 0):
        return problem
    lpl, spl = problem.lpl.copy(), problem.spl.copy()
    known = [set(a.known) for a in problem.attackers]
    lowered: set[int] = set()
    taught = 0

    def lower(attacker: int, cell: int, side: int, reached: float) -> None:
        nonlocal taught
        most = _safely_below(reached)
        if most <= 0:
            if cell not in known[attacker]:
                known[attacker].add(cell)
                taught += 1
            return
        level = lpl if side < 0 else spl
        if most < level[cell]:
            level[cell] = most
            lowered.add(cell)

    for attacker, cell, reached in _by_equation(problem, known):
        if reached < lpl[cell]:
            lower(attacker, cell, -1, reached)
    eased = _changed(problem, lpl, spl, known)
    if problem.n_cells * len(problem.attackers) <= LARGEST_ASKED:
        for exposure in Witnesses(eased).check(problem.may_hide):
            attacker, cell, side = exposure.key
            if attacker >= 0 and side <= 0 and exposure.decided:
                lower(attacker, cell, side, exposure.reached)
        eased = _changed(problem, lpl, spl, known)
    notes = list(problem.notes)
    if lowered:
        notes.append(
            f"the lower levels of {len(lowered)} cells were lowered to what a respondent who knows parts of them can "
            "be kept from"
        )
    if taught:
        notes.append(f"in {taught} cases a respondent who is alone in a cell can compute another one, and so knows it")
    return replace(eased, notes=tuple(notes))


def _changed(
    problem: Problem, lpl: np.typing.NDArray[np.float64], spl: np.typing.NDArray[np.float64], known: list[set[int]]
) -> Problem:
    attackers = tuple(Attacker(a.name, tuple(sorted(k))) for a, k in zip(problem.attackers, known, strict=True))
    return replace(problem, lpl=lpl.copy(), spl=spl.copy(), attackers=attackers)


def _by_equation(problem: Problem, known: list[set[int]]) -> Iterator[tuple[int, int, float]]:
    """(attacker, cell, how far down the cell can go) by single equations that hold a known cell."""
    A = problem.system.A
    columns = A.tocsc()
    free = problem.may_hide
    down, up = np.where(free, problem.down, 0.0), np.where(free, problem.up, 0.0)
    primary = problem.status == Status.PRIMARY
    for attacker, cells in enumerate(known):
        mine = np.array(sorted(cells), dtype=np.int64)
        if not len(mine):
            continue
        for row in np.unique(columns[:, mine].indices).tolist():
            part = slice(A.indptr[row], A.indptr[row + 1])
            index, data = A.indices[part], A.data[part]
            blind = np.isin(index, mine)
            for k in np.flatnonzero(primary[index] & ~blind).tolist():
                # z_p = - sum of the other terms / A_rp, each as far as its bounds allow
                weight = -data / data[k]
                with np.errstate(invalid="ignore"):
                    room = np.where(weight > 0, weight * down[index], -weight * up[index])
                room[blind] = 0.0
                room[k] = 0.0
                yield attacker, int(index[k]), float(room.sum())


def _safely_below(reached: float) -> float:
    """Return a level, of five significant digits, so far below that floating point finds witnesses of it."""
    if reached <= 0:
        return 0.0
    digits = 4 - floor(log10(reached))
    # not a product: 10139 * 0.1 has sixteen digits, and the problem a common denominator of 10^13
    return float(f"{max(0, floor(reached * 10.0**digits - 0.5))}e{-digits}")
