"""Which stored deviations are made exact: those that answer what is open, and no more of them than needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.check import Open
from tabprotect.attack.keys import Questions
from tabprotect.attack.pool import Deviation, Pool
from tabprotect.solver.ranges import ranges
from tabprotect.solver.tolerances import LEVEL

__all__ = ["for_everybody", "for_insiders"]

Ints = npt.NDArray[np.int64]


def for_everybody(q: Questions, pool: Pool, valid: Ints, missing: Sequence[Open]) -> list[Deviation]:
    """Return stored deviations that answer what is left, those that answer most first, without those that add nothing.

    Parameters
    ----------
    q : Questions
    pool : Pool
    valid : ndarray of int
        Stored deviations that move hidden cells only.
    missing : sequence of (int, ndarray of int)
        Intruders, and the questions that nothing exact answers for them.
    """
    answers = []
    for i in valid.tolist():
        deviation, found = pool[i], []
        for side in (1, -1):
            place = q.place[side][deviation.cells]
            asked = np.flatnonzero(place >= 0)
            found.append(place[asked[side * deviation.z[asked] >= q.need[place[asked]] * (1 - LEVEL)]])
        answers.append(np.concatenate(found))
    done = np.ones(len(q.cell), dtype=bool)
    for _, questions in missing:
        done[questions] = False
    chosen = []
    for k in sorted(range(len(valid)), key=lambda k: -len(answers[k])):
        if not done[answers[k]].all():
            done[answers[k]] = True
            chosen.append(int(valid[k]))
    deviations = [pool[i] for i in chosen]
    for question in np.flatnonzero(q.side == 0).tolist():
        deviations += [d for d in pool.best(valid, question) if len(d.cells)]
    return deviations


def for_insiders(
    pool: Pool, fresh: Ints, knows: sparse.csr_array, missing: Callable[[], Sequence[Open]]
) -> list[Deviation]:
    """Return for each attacker and question left a stored deviation that moves nothing he knows.

    Parameters
    ----------
    pool : Pool
    fresh : ndarray of int
        Stored deviations that move hidden cells only and were not tried yet.
    knows : csr_array, shape (attackers, cells)
        1 where an attacker knows a cell.
    missing : callable
        Returns for the public, and then for every attacker, the questions that nothing exact answers.
    """
    if not knows.shape[0] or not len(fresh):
        return []
    answers = pool.answers(fresh)
    most = np.argsort(-np.diff(answers.indptr), kind="stable")
    which, none = fresh[most], len(fresh)
    by_question = sparse.csc_array(answers[most])
    touches = sparse.csr_array(knows @ pool.supports(which).T)
    chosen = np.zeros(none + 1, bool)
    for attacker, questions in missing()[1:]:
        length = np.diff(by_question.indptr)[questions]
        questions, length = questions[length > 0], length[length > 0]
        if not len(questions):
            continue
        moved = np.zeros(none, bool)
        moved[touches.indices[touches.indptr[attacker] : touches.indptr[attacker + 1]]] = True
        starts = np.cumsum(length) - length
        entry = ranges(by_question.indptr[questions], length)
        rows = by_question.indices[entry]
        chosen[np.minimum.reduceat(np.where(moved[rows], none, rows), starts)] = True
    return [pool[i] for i in which[chosen[:none]].tolist()]
