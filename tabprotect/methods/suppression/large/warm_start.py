"""A pattern to go on with: its questions rely on deviations that are known of it; nothing is looked for again."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.large.cover import Cover

__all__ = ["adopt"]

Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


def adopt(
    cover: Cover, judge: Witnesses, known: dict[int, Ints], pattern: Bools, deviations: Sequence[Deviation]
) -> bool:
    """Let questions rely on deviations that move only cells of a pattern; earlier ones come first.

    Parameters
    ----------
    cover : Cover
    judge : Witnesses
        Is offered the deviations, and checks them.
    known : dict of int to ndarray
        Cells that each attacker knows; groups of attackers are added under new numbers.
    pattern : ndarray of bool
    deviations : sequence of Deviation

    Returns
    -------
    bool
        Whether attackers rely on some of them.
    """
    judge.offer_many(deviations)
    pool = judge.pool
    valid = pool.valid(pattern | cover.problem.must_hide)
    via = {k: place for place, i in enumerate(valid.tolist()) for k in cover.take(pool[i])}
    if not cover.problem.attackers:
        return False
    touches = sparse.csc_array((judge.knows @ pool.supports(valid).T) > 0)
    answers = sparse.csc_array(pool.answers(valid))
    price = pool.supports(valid) @ cover.price
    knows = np.zeros(touches.shape[0], bool)
    watched = False
    for question, place in sorted(via.items()):
        cell = int(judge.questions.cell[question])
        attackers = np.array([k for k in _column(touches, place).tolist() if judge.asks(k, cell)], np.int64)
        if not len(attackers):
            continue
        watched = True
        places = _column(answers, question)
        left = attackers
        for k in places[np.argsort(price[places], kind="stable")].tolist():
            moved = _column(touches, k)
            knows[moved] = True
            served = ~knows[left]
            knows[moved] = False
            if served.any():
                _rely(cover, judge, known, question, left[served].tolist(), pool[int(valid[k])])
                left = left[~served]
            if not len(left):
                break
    return watched


def _column(matrix: sparse.csc_array, number: int) -> Ints:
    found: Ints = matrix.indices[matrix.indptr[number] : matrix.indptr[number + 1]].astype(np.int64)
    return found


def _rely(
    cover: Cover, judge: Witnesses, known: dict[int, Ints], question: int, attackers: list[int], deviation: Deviation
) -> None:
    """Let some attackers rely on a deviation in a question; together they are one who knows what each of them knows."""
    number = attackers[0]
    if len(attackers) > 1:
        number = len(known)
        known[number] = np.unique(np.concatenate([known[a] for a in attackers]))
    q = judge.questions
    key = Key(number, int(q.cell[question]), int(q.side[question]))
    cover.take(deviation, [cover.question(key, float(q.need[question]))])
