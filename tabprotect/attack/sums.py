"""Sums of hidden cells as cells of a problem: what can be asked for them, and which an intruder tells too closely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.attack.insiders import LARGEST_ASKED, LevelForOthers, within_reach_each
from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity.sums_as_cells import protect_against_others, protect_unions
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget

__all__ = [
    "LARGEST",
    "LevelsForOthers",
    "known_too_closely",
    "levels_for_others",
    "lowered_levels",
    "not_cells",
    "with_sums",
]

LARGEST: Final = 20_000
"""Hidden cells, at most, of a pattern whose sums that one contributor dominates are put to the audit."""


def with_sums(problem: Problem, sums: Sequence[UnionExposure], budget: Budget | None = None) -> Problem:
    """Add sums as cells to protect, with levels that the whole table, hidden, would leave every intruder.

    Levels of the cells that were there stay as they are. A sum of which a respondent knows a part may have a lower
    level against him; then it is added once more, with the level for everybody else.

    Parameters
    ----------
    problem : Problem
    sums : sequence of UnionExposure
    budget : Budget, optional
        For finding out which levels are out of reach against respondents who know cells.
    """
    return _grown(problem, sums, budget)[0]


def _grown(problem: Problem, sums: Sequence[UnionExposure], budget: Budget | None) -> tuple[Problem, tuple[int, ...]]:
    """Return the problem with sums, and for every new cell the sum that it is."""
    n, own = problem.n_cells, tuple(range(len(sums)))
    grown = protect_unions(problem, sums)
    if not problem.attackers or grown.n_cells == n:
        return grown, own
    found = within_reach_each(_only_sums(grown, n), budget)
    eased = found.problem
    old = np.arange(grown.n_cells) < n
    attackers = tuple(
        replace(a, known=(*a.known, *sorted({cell for cell in b.known if cell >= n} - set(a.known))))
        for a, b in zip(grown.attackers, eased.attackers, strict=True)
    )
    grown = replace(
        grown,
        lpl=np.where(old, grown.lpl, eased.lpl),
        spl=np.where(old, grown.spl, eased.spl),
        attackers=attackers,
        notes=tuple(dict.fromkeys((*grown.notes, *eased.notes))),
    )
    again = tuple(level.cell - n for level in found.for_others)
    levels = [_for_others(sums[i], level) for i, level in zip(again, found.for_others, strict=True)]
    who_know = [{k for k, a in enumerate(attackers) if level.cell in a.known} for level in found.for_others]
    spared = [level.spared | known for level, known in zip(found.for_others, who_know, strict=True)]
    return protect_against_others(grown, levels, spared), own + again


def _for_others(sum_: UnionExposure, level: LevelForOthers) -> UnionExposure:
    lower, sliding = (level.level, 0.0) if level.side else (0.0, level.level)
    return replace(sum_, lpl=lower, upl=0.0, spl=sliding)


def lowered_levels(problem: Problem, eased: Problem) -> tuple[UnionExposure, ...]:
    """Return the cells whose levels were lowered for the sake of some attackers, with those that they had.

    As sums of one cell they can be asked about once a pattern is there (`known_too_closely`), and protected
    (`with_sums`). Where there are too many to ask every attacker about each, none are returned.

    Parameters
    ----------
    problem, eased : Problem
        Before and after `tabprotect.attack.insiders.within_reach`.
    """
    lowered = np.flatnonzero((eased.lpl < problem.lpl) | (eased.spl < problem.spl)).tolist()
    if len(lowered) * len(problem.attackers) > LARGEST_ASKED:
        return ()
    found = []
    for i in lowered:
        value, lpl, upl, spl = (float(of[i]) for of in (problem.values, problem.lpl, problem.upl, problem.spl))
        words = f"{problem.system.label(i)} = {value:g} can be computed"
        found.append(UnionExposure((i,), value, (), lpl, upl, spl, True, words))
    return tuple(found)


@dataclass(frozen=True, eq=False)
class LevelsForOthers:
    """A problem of which some levels hold for most attackers and not for all, as methods and as judges need it.

    Attributes
    ----------
    aimed : Problem
        The same cells, each with the largest of its levels, which values have to be away from the truth. Who is spared
        it is not asked about the cell: whether his lower level is reached is for the judge to say.
    judged : Problem
        These levels as cells of their own behind the others, with the attackers who are spared.
    complete : bool
        False where a limit left some attackers out, who are spared then.
    """

    aimed: Problem
    judged: Problem
    complete: bool = True

    def exposed(
        self, pattern: npt.NDArray[np.bool_], lowered: Sequence[UnionExposure], budget: Budget | None = None
    ) -> tuple[UnionExposure, ...]:
        """Return the cells of which somebody comes nearer than a level that he is asked about.

        Parameters
        ----------
        pattern : ndarray of bool, shape (cells,)
            Of the cells that are not sums.
        lowered : sequence of UnionExposure
            Of the problem; see `lowered_levels`.
        budget : Budget, optional
            What is not decided when it is exhausted counts as known too closely.
        """
        n = self.aimed.n_cells
        asked = _only_sums(self.judged, n)
        hidden = np.concatenate([np.asarray(pattern, bool), np.ones(asked.n_cells - n, bool)])
        A = asked.system.A
        added = range(A.shape[0] - (asked.n_cells - n), A.shape[0])
        cells = [int(A.indices[A.indptr[row] : A.indptr[row + 1]].min()) for row in added]
        by_cell = {sum_.cells[0]: sum_ for sum_ in lowered}
        found: dict[int, UnionExposure] = {}
        for exposure in Witnesses(asked).check(hidden, budget) if len(cells) else ():
            attacker, cell, _ = exposure.key
            place = cells[cell - n]
            if place not in found:
                found[place] = _known_by(by_cell[place], asked, attacker)
        return tuple(found[place] for place in sorted(found))


def levels_for_others(
    problem: Problem,
    lowered: Sequence[UnionExposure],
    budget: Budget | None = None,
    *,
    reached: dict[Key, float] | None = None,
) -> LevelsForOthers:
    """Return what is asked where levels were lowered for the sake of some attackers: they hold for all the others.

    Parameters
    ----------
    problem : Problem
        With the lowered levels.
    lowered : sequence of UnionExposure
        See `lowered_levels`.
    budget : Budget, optional
        Attackers who were not looked at when it is exhausted are spared.
    reached : dict of Key to float, optional
        What earlier calls for the same problem found out; see `tabprotect.attack.insiders.within_reach_each`.

    Examples
    --------
    >>> from tabprotect.attack.insiders import within_reach
    >>> from tabprotect.problem import Attacker
    >>> p = Problem.from_arrays([[-1, 1, 1]], [100, 90, 10], primary=[0], lpl=15, upl=15,
    ...     attackers=[Attacker("a", (1,))])
    >>> eased = within_reach(p)
    >>> found = levels_for_others(eased, lowered_levels(p, eased))
    >>> found.aimed.lpl.tolist(), found.judged.lpl.tolist(), found.judged.attackers[0].spared
    ([15.0, 15.0, 15.0], [9.999, 15.0, 15.0, 15.0], (3,))
    """
    if not lowered:
        return LevelsForOthers(problem, problem)
    cells = [sum_.cells[0] for sum_ in lowered]
    lpl, spl = problem.lpl.copy(), problem.spl.copy()
    lpl[cells], spl[cells] = [sum_.lpl for sum_ in lowered], [sum_.spl for sum_ in lowered]
    others = (problem.status == Status.PRIMARY) & ~np.isin(np.arange(problem.n_cells), cells)
    status = np.where(others, Status.FORCED, problem.status).astype(np.int8)
    eased = within_reach_each(replace(problem, status=status, lpl=lpl, spl=spl), budget, reached=reached)
    found = eased.for_others
    lpl, spl, spared = problem.lpl.copy(), problem.spl.copy(), [set(a.spared) for a in problem.attackers]
    for level in found:
        asked = lpl if level.side else spl
        asked[level.cell] = max(asked[level.cell], level.level)
        for k in level.spared:
            spared[k].add(level.cell)
    by_cell = {sum_.cells[0]: sum_ for sum_ in lowered}
    # who is away from a cell by its level is so on either side: the upper level goes with the lower one
    sums = [
        replace(_for_others(by_cell[level.cell], level), upl=by_cell[level.cell].upl if level.side else 0.0)
        for level in found
    ]
    judged = protect_against_others(problem, sums, [level.spared for level in found])
    attackers = tuple(replace(a, spared=tuple(sorted(s))) for a, s in zip(problem.attackers, spared, strict=True))
    return LevelsForOthers(replace(problem, lpl=lpl, spl=spl, attackers=attackers), judged, eased.complete)


def known_too_closely(
    problem: Problem,
    pattern: npt.NDArray[np.bool_],
    candidates: Sequence[UnionExposure],
    budget: Budget | None = None,
) -> tuple[UnionExposure, ...]:
    """Return the sums whose interval, in the eyes of the public or of a respondent, does not reach their levels.

    Parameters
    ----------
    problem : Problem
        Of the pattern; sums that are cells of it already are not asked about again.
    pattern : ndarray of bool, shape (cells,)
    candidates : sequence of UnionExposure
    budget : Budget, optional
        What is not decided when it is exhausted counts as known too closely.
    """
    fresh = not_cells(problem, candidates)
    n = problem.n_cells
    if not fresh or int(np.sum(pattern)) > LARGEST:
        return ()
    grown, number = _grown(_only_sums(problem, n), fresh, budget)
    grown = _only_sums(grown, n)
    hidden = np.concatenate([np.asarray(pattern, bool), np.ones(grown.n_cells - n, bool)])
    found: dict[int, UnionExposure] = {}
    for exposure in Witnesses(grown).check(hidden, budget):
        attacker, cell, _ = exposure.key
        place = number[cell - n]
        if place not in found:
            found[place] = _known_by(fresh[place], grown, attacker)
    return tuple(found[i] for i in sorted(found))


def _known_by(sum_: UnionExposure, problem: Problem, attacker: int) -> UnionExposure:
    name = problem.attackers[attacker].name if attacker >= 0 else ""
    who = f" by {name}" if name else ""
    words = sum_.reason.replace("can be computed", f"can be known{who} more closely than its protection level", 1)
    return replace(sum_, reason=words, attacker=name)


def not_cells(problem: Problem, sums: Sequence[UnionExposure]) -> list[UnionExposure]:
    """Return the sums that are no cells of a problem yet."""
    there = _sums_of(problem)
    return [sum_ for sum_ in sums if sum_.cells not in there]


def _only_sums(problem: Problem, first: int) -> Problem:
    """Return a problem that asks about the cells from a position on, and about no others."""
    primary = (problem.status == Status.PRIMARY) & (np.arange(problem.n_cells) < first)
    return replace(problem, status=np.where(primary, Status.FORCED, problem.status).astype(np.int8))


def _sums_of(problem: Problem) -> set[tuple[int, ...]]:
    """Return the cells of every equation that adds them up to one of the cells after them."""
    A = problem.system.A
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    last = np.full(A.shape[0], -1)
    np.maximum.at(last, row, A.indices)
    minus = np.bincount(row[A.data == -1], minlength=A.shape[0])
    ends = (A.indices == last[row]) & (A.data == -1) & (minus[row] == 1)
    found = set()
    for r in row[ends].tolist():
        part = slice(A.indptr[r], A.indptr[r + 1])
        others = A.indices[part] != last[r]
        if np.all(A.data[part][others] == 1):
            found.add(tuple(sorted(A.indices[part][others].tolist())))
    return found
