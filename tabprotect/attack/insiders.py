"""What intruders who know cells are never in doubt about, so that nothing is asked for that no pattern can give."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import floor, log10

import numpy as np

from tabprotect.attack.keys import Key
from tabprotect.attack.near import Near
from tabprotect.attack.witness import Witnesses
from tabprotect.counted import counted
from tabprotect.problem import Attacker, Problem, Status
from tabprotect.solver.limits import Budget

__all__ = ["LARGEST_ASKED", "Eased", "LevelForOthers", "within_reach", "within_reach_each"]

LARGEST_ASKED = 1_000_000
"""Up to this many cells times attackers the intruders are played out; beyond, what equations near by imply decides."""

PASSES = 8
"""So often bounds that follow from equations are carried on to the next ones: a known cell is felt so far away."""


@dataclass(frozen=True)
class LevelForOthers:
    """A level that most attackers can be asked about, beside a lower one that all are.

    Attributes
    ----------
    cell : int
    side : int
        -1 for the lower level, 0 for the sliding one.
    level : float
        In the unit of the values.
    spared : frozenset of int
        The attackers against whom it is out of reach.
    """

    cell: int
    side: int
    level: float
    spared: frozenset[int]


@dataclass(frozen=True, eq=False)
class Eased:
    """A problem without levels that are out of reach against somebody, and what the others can be asked besides.

    Attributes
    ----------
    problem : Problem
    for_others : tuple of LevelForOthers
    complete : bool
        False where a limit may have left out levels or attackers.
    """

    problem: Problem
    for_others: tuple[LevelForOthers, ...]
    complete: bool = True


def within_reach(
    problem: Problem, budget: Budget | None = None, *, largest: int = LARGEST_ASKED, passes: int = PASSES
) -> Problem:
    """Lower the lower levels that nothing could provide against an intruder who knows parts of a cell.

    Whoever contributes 90 to a cell of 100 and knows so is never in doubt about these 90: against him a lower level of
    15 is out of reach whatever is hidden, just as one above the value is against everybody. What is asked for then is
    what he would be left with if the whole table were hidden, and no less. Only a cell that he could compute exactly
    even then, which has room neither down nor up, is one that he knows. Where the other contributors of a cell have 0
    he knows that it cannot be less than his own contribution, and is still asked whether it may be more. Upper levels
    stay; every change is noted in ``problem.notes``. Levels belong to cells, so a lower one is lowered against
    everybody; `within_reach_each` says what the others can still be asked.

    Parameters
    ----------
    problem : Problem
    budget : Budget, optional
        Levels that were not looked at when it is exhausted stay, and that is noted, too: a search may find some of them
        out of reach.
    largest : int
        Up to so many cells times attackers the intruders are played out; beyond, what equations near by imply decides.
    passes : int
        So often bounds that follow from equations are carried on to the next ones.

    Examples
    --------
    >>> from tabprotect.problem import Attacker
    >>> p = Problem.from_arrays([[-1, 1, 1]], [100, 90, 10], primary=[0, 1], lpl=15, upl=15,
    ...     attackers=[Attacker("a", (1,))])
    >>> within_reach(p).lpl.tolist()
    [9.999, 15.0, 15.0]

    With nothing beside his own contribution there is no room below, and all of that above:

    >>> p = Problem.from_arrays([[-1, 1, 1]], [100, 100, 0], primary=[0, 1], lpl=15, upl=15,
    ...     attackers=[Attacker("a", (1,))])
    >>> eased = within_reach(p)
    >>> eased.lpl.tolist(), eased.upl.tolist(), eased.attackers[0].known
    ([0.0, 15.0, 15.0], [15.0, 15.0, 15.0], (1,))
    """
    return _lowered(problem, budget, largest, passes)[0]


def within_reach_each(problem: Problem, budget: Budget | None = None) -> Eased:
    """Lower levels as `within_reach` does, and find the attackers against whom that was needed.

    Parameters
    ----------
    problem : Problem
    budget : Budget, optional
        Attackers who were not looked at when it is exhausted count as those against whom a level is out of reach.

    Examples
    --------
    >>> from tabprotect.problem import Attacker
    >>> p = Problem.from_arrays([[-1, 1, 1]], [100, 90, 10], primary=[0, 1], lpl=15, upl=15,
    ...     attackers=[Attacker("a", (1,)), Attacker("b", ())])
    >>> within_reach_each(p).for_others
    (LevelForOthers(cell=0, side=-1, level=15.0, spared=frozenset({0})),)
    """
    eased, left = _lowered(problem, budget, LARGEST_ASKED, PASSES)
    lower, sliding = eased.lpl < problem.lpl, (eased.spl < problem.spl) & (problem.spl > problem.lpl + problem.upl)
    # against whom a level was lowered need not be asked whether he is the reason
    reasons = {key for key, most in left.items() if key.side < 0 and lower[key.cell] and most <= eased.lpl[key.cell]}
    reasons = {key for key in reasons if not sliding[key.cell]}
    asked = replace(
        problem,
        status=np.where((problem.status == Status.PRIMARY) & ~(lower | sliding), Status.FORCED, problem.status).astype(
            np.int8
        ),
        lpl=np.where(lower, problem.lpl, 0.0),
        upl=np.zeros(problem.n_cells),
        spl=np.where(sliding, problem.spl, 0.0),
        attackers=_sparing(eased.attackers, reasons),
    )
    reach: dict[tuple[int, int], dict[int, float]] = {}
    for attacker, cell, side in reasons:
        reach.setdefault((cell, side), {})[attacker] = left[Key(attacker, cell, side)]
    open_ = Witnesses(asked).check(problem.may_hide, budget, every=True) if np.any(lower | sliding) else ()
    for exposure in open_:
        attacker, cell, side = exposure.key
        reach.setdefault((cell, side), {})[attacker] = _safely_below(exposure.reached) if exposure.decided else 0.0
    found = []
    for (cell, side), most in sorted(reach.items()):
        full, least = (problem.lpl, eased.lpl) if side else (problem.spl, eased.spl)
        # what the public cannot be kept from is asked all the same: that it was asked for is not dropped in silence
        found += _steps(cell, side, float(full[cell]), float(least[cell]), {k: r for k, r in most.items() if k >= 0})
    return Eased(eased, tuple(found), complete=budget is None or not budget.exhausted)


def _sparing(attackers: Sequence[Attacker], keys: Iterable[Key]) -> tuple[Attacker, ...]:
    more: dict[int, set[int]] = {}
    for attacker, cell, _ in keys:
        more.setdefault(attacker, set()).add(cell)
    return tuple(
        replace(a, spared=tuple(sorted({*a.spared, *more[k]}))) if k in more else a for k, a in enumerate(attackers)
    )


def _steps(cell: int, side: int, full: float, least: float, most: Mapping[int, float]) -> list[LevelForOthers]:
    """Every level above the least that some attackers, and not all, can be asked about, with those who cannot."""
    levels = sorted({level for level in (full, *most.values()) if level > least})
    return [LevelForOthers(cell, side, x, frozenset(a for a, m in most.items() if m < x)) for x in levels]


def _lowered(problem: Problem, budget: Budget | None, largest: int, passes: int) -> tuple[Problem, Mapping[Key, float]]:
    """Return a problem with lowered levels, and what the attackers leave of those that were lowered for their sake."""
    primary = problem.status == Status.PRIMARY
    if not problem.attackers or not np.any((problem.lpl + problem.upl + problem.spl)[primary] > 0):
        return problem, {}
    levels = _Levels(problem)
    at_bound = levels.at_bound
    near = Near(problem, passes)
    for attacker, cells in enumerate(levels.known):
        found, equations = near.reach(cells, near.equations(cells))
        short = {
            cell: room
            for cell, room in found.items()
            if room[0] < levels.lpl[cell] or (at_bound[cell] and room[1] < problem.upl[cell])
        }
        public = near.reach(set(), equations)[0] if short else {}
        for cell, (below, above) in short.items():
            # what nobody can be kept from is not lowered in silence
            down, up = public.get(cell, (np.inf, np.inf))
            if up >= problem.upl[cell] if at_bound[cell] else down >= levels.lpl[cell]:
                levels.lower(attacker, cell, -1, below, above)
        for cell, (below, _) in found.items():
            if cell not in short and below < problem.lpl[cell]:
                # a level that another one lowered already
                levels.left.setdefault(Key(attacker, cell, -1), _safely_below(below))
    eased = levels.applied()
    if problem.n_cells * len(problem.attackers) <= largest:
        exposures = {e.key: e.reached for e in Witnesses(eased).check(problem.may_hide, budget) if e.decided}
        for (attacker, cell, side), reached in exposures.items():
            if attacker >= 0 and side > 0 and at_bound[cell]:
                # there is no room below, so no exposure there: what is above decides whether he knows the cell
                levels.lower(attacker, cell, side, 0.0, reached)
            elif attacker >= 0 and side <= 0:
                # a width holds what is above; an upper level that is reached leaves no exposure
                above = reached if side == 0 else exposures.get(Key(attacker, cell, 1), np.inf)
                levels.lower(attacker, cell, side, reached, above)
        eased = levels.applied()
    notes = [*problem.notes, *levels.notes()]
    if budget is not None and budget.exhausted:
        notes.append("the limits ended the look for levels that are out of reach against respondents who know cells")
    return replace(eased, notes=tuple(notes)), levels.left


class _Levels:
    """Levels of a problem as they are lowered, and what its attackers know besides.

    Attributes
    ----------
    lpl, spl : ndarray of float, shape (cells,)
    known : list of set of int
        Cells that each attacker knows.
    at_bound : ndarray of bool, shape (cells,)
        Primary cells that can only move up.
    left : dict of Key to float
        What attackers leave of levels, where that is less than was asked for.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.lpl, self.spl = problem.lpl.copy(), problem.spl.copy()
        self.known = [set(a.known) for a in problem.attackers]
        primary = problem.status == Status.PRIMARY
        self.at_bound = primary & (problem.down <= 0) & (self.lpl + self.spl == 0)
        self.left: dict[Key, float] = {}
        self._lowered: set[int] = set()
        self._taught = 0

    def lower(self, attacker: int, cell: int, side: int, reached: float, above: float) -> None:
        """Lower a level to what an attacker leaves of it; a cell without room on either side is one that he knows."""
        most = _safely_below(reached)
        if most <= 0 and above < np.inf and _safely_below(above) <= 0:
            if cell not in self.known[attacker]:
                self.known[attacker].add(cell)
                self._taught += 1
            return
        level = self.lpl if side < 0 else self.spl
        key = Key(attacker, cell, side)
        self.left[key] = min(most, self.left.get(key, np.inf))
        if most < level[cell]:
            level[cell] = most
            self._lowered.add(cell)

    def applied(self) -> Problem:
        """Return the problem with these levels, and attackers who know these cells."""
        attackers = tuple(
            replace(a, known=tuple(sorted(k))) for a, k in zip(self.problem.attackers, self.known, strict=True)
        )
        return replace(self.problem, lpl=self.lpl.copy(), spl=self.spl.copy(), attackers=attackers)

    def notes(self) -> list[str]:
        """Return what was changed, in words."""
        notes = []
        if self._lowered:
            notes.append(
                f"the lower levels of {counted(len(self._lowered), 'cell')} were lowered to what a respondent who "
                "knows parts of them can be kept from"
            )
        if self._taught:
            notes.append(
                f"in {counted(self._taught, 'case')} a respondent who is alone in a cell can compute another one "
                "whatever is hidden, and so knows it"
            )
        return notes


def _safely_below(reached: float) -> float:
    """Return a level, of five significant digits, so far below that floating point finds witnesses of it."""
    if reached <= 0:
        return 0.0
    digits = 4 - floor(log10(reached))
    # not a product: 10139 * 0.1 has sixteen digits, and the problem a common denominator of 10^13
    return float(f"{max(0, floor(reached * 10.0**digits - 0.5))}e{-digits}")
