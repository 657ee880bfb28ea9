"""Sums of hidden cells as cells of a problem: what can be asked for them, and which an intruder tells too closely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.insiders import LARGEST_ASKED, LevelForOthers, within_reach_each
from tabprotect.attack.pool import Deviation
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity.sums_as_cells import protect_against_others, protect_unions
from tabprotect.sensitivity.union_exposure import UnionExposure, written
from tabprotect.solver.limits import Budget

__all__ = [
    "LARGEST",
    "AskedSums",
    "LevelsForOthers",
    "asked_sums",
    "known_too_closely",
    "levels_for_others",
    "lowered_levels",
    "moved_with_sums",
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


def _grown(
    problem: Problem, sums: Sequence[UnionExposure], budget: Budget | None
) -> tuple[Problem, tuple[int, ...], bool]:
    """Return the problem with sums, for every new cell the sum that it is, and whether no limit left anything out."""
    n, own = problem.n_cells, tuple(range(len(sums)))
    grown = protect_unions(problem, sums)
    if not problem.attackers or grown.n_cells == n:
        return grown, own, True
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
    return protect_against_others(grown, levels, spared), own + again, found.complete


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


def known_too_closely(
    problem: Problem,
    pattern: npt.NDArray[np.bool_],
    candidates: Sequence[UnionExposure],
    budget: Budget | None = None,
    deviations: Sequence[Deviation] = (),
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
    deviations : sequence of Deviation
        What is known of the pattern: most sums move with its cells.
    """
    fresh = not_cells(problem, candidates)
    if not fresh or int(np.sum(pattern)) > LARGEST:
        return ()
    return asked_sums(problem, fresh, budget).exposed(pattern, budget, deviations)


@dataclass(frozen=True, eq=False)
class AskedSums:
    """Sums as cells of a problem, with the levels that each intruder is asked about, for any pattern.

    Attributes
    ----------
    problem : Problem
        Asks about these cells, the last ones, and no others.
    sums : tuple of UnionExposure
        What each of these cells is.
    complete : bool
        False where a limit may have left out levels or intruders.
    """

    problem: Problem
    sums: tuple[UnionExposure, ...]
    complete: bool

    def exposed(
        self,
        pattern: npt.NDArray[np.bool_],
        budget: Budget | None = None,
        deviations: Sequence[Deviation] = (),
    ) -> tuple[UnionExposure, ...]:
        """Return the sums whose interval does not reach their levels, by a pattern of the cells before them.

        What is not decided when a limit comes counts as known too closely. Deviations that are known of the pattern
        answer most questions at once; they are checked.
        """
        if not self.complete:
            return tuple(dict.fromkeys(self.sums))
        n, found = self.problem.n_cells - len(self.sums), dict[tuple[int, ...], UnionExposure]()
        hidden = np.concatenate([np.asarray(pattern, bool), np.ones(len(self.sums), bool)])
        judge = Witnesses(self.problem)
        judge.offer_all(moved_with_sums(deviations, self.problem, n))
        for exposure in judge.check(hidden, budget):
            sum_ = self.sums[exposure.key.cell - n]
            if sum_.cells not in found:
                found[sum_.cells] = _known_by(sum_, self.problem, exposure.key.attacker)
        return tuple(found[sum_.cells] for sum_ in dict.fromkeys(self.sums) if sum_.cells in found)


def asked_sums(problem: Problem, sums: Sequence[UnionExposure], budget: Budget | None = None) -> AskedSums:
    """Find out what each intruder can be asked about sums that are no cells of a problem yet.

    Parameters
    ----------
    problem : Problem
    sums : sequence of UnionExposure
    budget : Budget, optional
    """
    n = problem.n_cells
    grown, number, complete = _grown(_only_sums(problem, n), sums, budget)
    return AskedSums(_only_sums(grown, n), tuple(sums[i] for i in number), complete)


def moved_with_sums(deviations: Sequence[Deviation], problem: Problem, before: int) -> sparse.csr_array:
    """Return deviations of the cells before some position, one a row, with the sums after it that move with them.

    Parameters
    ----------
    deviations : sequence of Deviation
        Cells from that position on are left out of them.
    problem : Problem
        Its last equations say of which cells the last cells are sums.
    before : int
    """
    sums = problem.n_cells - before
    own = [d.cells < before for d in deviations]
    nothing = np.zeros(0, np.int64)
    cells = np.concatenate([nothing, *(d.cells[mine] for d, mine in zip(deviations, own, strict=True))])
    z = np.concatenate([nothing, *(d.z[mine] for d, mine in zip(deviations, own, strict=True))])
    ends = np.cumsum([0, *(int(mine.sum()) for mine in own)])
    moved = sparse.csr_array((z, cells, ends), shape=(len(deviations), before))
    members = problem.system.A[problem.system.n_equations - sums :, :before]
    moved = sparse.csr_array(sparse.hstack([moved, moved @ members.T]))
    moved.sum_duplicates()
    moved.eliminate_zeros()
    return moved


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
