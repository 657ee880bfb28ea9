"""Sums of hidden cells as cells of a problem: what can be asked for them, and which an intruder tells too closely."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from tabprotect.attack.insiders import within_reach
from tabprotect.attack.witness import Witnesses
from tabprotect.problem import Problem, Status
from tabprotect.sensitivity.sums_as_cells import protect_unions
from tabprotect.sensitivity.unions import UnionExposure
from tabprotect.solver.limits import Budget

__all__ = ["LARGEST", "known_too_closely", "with_sums"]

LARGEST: Final = 20_000
"""Hidden cells, at most, of a pattern whose sums that one contributor dominates are put to the audit."""


def with_sums(problem: Problem, sums: Sequence[UnionExposure], budget: Budget | None = None) -> Problem:
    """Add sums as cells to protect, with levels that the whole table, hidden, would leave every intruder.

    Levels of the cells that were there stay as they are.

    Parameters
    ----------
    problem : Problem
    sums : sequence of UnionExposure
    budget : Budget, optional
        For finding out which levels are out of reach against respondents who know cells.
    """
    n = problem.n_cells
    grown = protect_unions(problem, sums)
    if not problem.attackers or grown.n_cells == n:
        return grown
    eased = within_reach(_only_sums(grown, n), budget)
    old = np.arange(grown.n_cells) < n
    attackers = tuple(
        replace(a, known=(*a.known, *sorted({cell for cell in b.known if cell >= n} - set(a.known))))
        for a, b in zip(grown.attackers, eased.attackers, strict=True)
    )
    return replace(
        grown,
        lpl=np.where(old, grown.lpl, eased.lpl),
        spl=np.where(old, grown.spl, eased.spl),
        attackers=attackers,
        notes=tuple(dict.fromkeys((*grown.notes, *eased.notes))),
    )


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
    known = _sums_of(problem)
    fresh = [sum_ for sum_ in candidates if sum_.cells not in known]
    n = problem.n_cells
    if not fresh or int(np.sum(pattern)) > LARGEST:
        return ()
    grown = _only_sums(with_sums(_only_sums(problem, n), fresh, budget), n)
    hidden = np.concatenate([np.asarray(pattern, bool), np.ones(grown.n_cells - n, bool)])
    found: dict[int, UnionExposure] = {}
    for exposure in Witnesses(grown).check(hidden, budget):
        attacker, cell, _ = exposure.key
        if cell - n not in found:
            name = grown.attackers[attacker].name if attacker >= 0 else ""
            who = f" by {name}" if name else ""
            sum_ = fresh[cell - n]
            words = sum_.reason.replace(
                "can be computed", f"can be known{who} more closely than its protection level", 1
            )
            found[cell - n] = replace(sum_, reason=words, attacker=name)
    return tuple(found[i] for i in sorted(found))


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
