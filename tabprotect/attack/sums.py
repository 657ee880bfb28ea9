"""Sums of hidden cells as cells of a problem, and what can be asked for them and for lowered levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tabprotect.attack.insiders import LARGEST_ASKED, LevelForOthers, within_reach_each
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity.sums_as_cells import protect_against_others, protect_unions
from tabprotect.sensitivity.union_exposure import UnionExposure, written
from tabprotect.solver.limits import Budget

__all__ = ["LevelsForOthers", "grown_by", "levels_for_others", "lowered_levels", "not_cells", "only_sums", "with_sums"]


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
    return grown_by(problem, sums, budget)[0]


def grown_by(
    problem: Problem, sums: Sequence[UnionExposure], budget: Budget | None
) -> tuple[Problem, tuple[int, ...], bool]:
    """Return the problem with sums, for every new cell the sum that it is, and whether no limit left anything out."""
    n, own = problem.n_cells, tuple(range(len(sums)))
    grown = protect_unions(problem, sums)
    if not problem.attackers or grown.n_cells == n:
        return grown, own, True
    found = within_reach_each(only_sums(grown, n), budget)
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
    return protect_against_others(grown, levels, spared), own + again, found.complete


def _for_others(sum_: UnionExposure, level: LevelForOthers) -> UnionExposure:
    lower, sliding = (level.level, 0.0) if level.side else (0.0, level.level)
    return replace(sum_, lpl=lower, upl=0.0, spl=sliding)


def lowered_levels(problem: Problem, eased: Problem) -> tuple[UnionExposure, ...]:
    """Return the cells whose levels were lowered for the sake of some attackers, with those that they had.

    As sums of one cell they can be asked about once a pattern is there (see `tabprotect.attack.asked_sums`), and
    protected (`with_sums`). Where there are too many to ask every attacker about each, none are returned.

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
        words = f"{problem.system.label(i)} = {written(value)} can be computed"
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
    """

    aimed: Problem
    judged: Problem


def levels_for_others(
    problem: Problem, lowered: Sequence[UnionExposure], budget: Budget | None = None
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
    found = within_reach_each(replace(problem, status=status, lpl=lpl, spl=spl), budget).for_others
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
    return LevelsForOthers(replace(problem, lpl=lpl, spl=spl, attackers=attackers), judged)


def not_cells(problem: Problem, sums: Sequence[UnionExposure]) -> list[UnionExposure]:
    """Return the sums that are no cells of a problem yet."""
    there = _sums_of(problem)
    return [sum_ for sum_ in sums if sum_.cells not in there]


def only_sums(problem: Problem, first: int) -> Problem:
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
