"""Sums of hidden cells that an intruder tells too closely, for any pattern."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.pool import Deviation
from tabprotect.attack.sums import grown_by, not_cells, only_sums
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Problem
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget

__all__ = ["LARGEST", "AskedSums", "asked_sums", "known_too_closely", "moved_with_sums"]

LARGEST: Final = 20_000
"""Hidden cells, at most, of a pattern whose sums that one contributor dominates are put to the audit."""


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
    grown, number, complete = grown_by(only_sums(problem, n), sums, budget)
    return AskedSums(only_sums(grown, n), tuple(sums[i] for i in number), complete)


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
