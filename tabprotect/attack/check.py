"""One judgement of one pattern: for the public, then for attackers, for whom few questions are open by then."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.asking import Asking
from tabprotect.attack.exposure import Exposure
from tabprotect.attack.judge import Judge
from tabprotect.attack.region import open_region
from tabprotect.attack.shortest import offer_shortest
from tabprotect.solver.limits import Budget

__all__ = ["Check", "Open", "in_groups"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

TOGETHER = 8
"""More attackers than this are first played as one."""

_CONTESTED, _ALL_CONTESTED = 0.1, 5.0
"""Where there are more pairs of an attacker and a question than so many times the hidden cells, circuits answer first,
as far as these go: of pairs that public witnesses leave open, and of all that may be open before there are any."""

_CIRCUIT_CELLS = 30_000
"""Circuits of more hidden cells take too long: their number times that of the equations is computed."""


Open = tuple[int, Ints]
"""An attacker, and the questions that nothing answers for him."""


def in_groups(
    left: list[Open], answer: Callable[[list[Open]], None], still: Callable[[], list[Open]], budget: Budget
) -> list[Open]:
    """Play attackers as one who knows what each of them knows, then halves of them; return what is left.

    Parameters
    ----------
    left : list of (int, ndarray of int)
        Attackers with open questions.
    answer : callable
        Answers what it can for some of them together.
    still : callable
        Returns what is left after that.
    budget : Budget
    """
    size = len(left)
    while size > TOGETHER and not budget.exhausted:
        for k in range(0, len(left), size):
            if not budget.exhausted:
                answer(left[k : k + size])
        left, size = still(), -(-size // 2)
    return left


class Check(Asking):
    """One run of `Witnesses.check`."""

    def __init__(
        self,
        judge: Judge,
        hidden: Bools,
        budget: Budget,
        stop_at_first: bool,
        *,
        alone: bool = True,
        every: bool = False,
    ) -> None:
        super().__init__(judge, hidden, budget, stop_at_first, alone=alone)
        self._every = every
        self._searched = False

    def public(self) -> list[tuple[int, Exposure]]:
        """Answer everything for the intruder who knows only what is published."""
        left = np.flatnonzero(~self.answered)
        if self._circuits(len(left) * len(self.judge._known), _ALL_CONTESTED):
            self.valid = self.judge.pool.valid(self.hidden)
            left = left[~self.judge.pool.answered(self.valid)[left]]
        if not len(left):
            return []
        none = np.zeros(0, np.int64)
        return sorted(self._ask(left, -1, none), key=lambda item: item[0])

    def attackers(self, exposed: list[int]) -> list[tuple[int, Exposure]]:
        """Answer what the attackers with known cells add to that."""
        judge, q = self.judge, self.judge.questions
        if not judge._known:
            return []
        self.valid = judge.pool.valid(self.hidden)
        skip = np.zeros(len(q.cell), bool)
        skip[exposed] = True
        if -1 in judge._dismissed:
            skip |= judge._dismissed[-1]
        found: list[tuple[int, Exposure]] = []
        contested = list(self._contested(skip))
        pairs = [left for _, left in contested]
        if self._circuits(sum(map(len, pairs)), _CONTESTED, pairs):
            self.valid = judge.pool.valid(self.hidden)
            contested = list(self._contested(skip))
        if self._shortest(contested):
            self.valid = judge.pool.valid(self.hidden)
            contested = list(self._contested(skip))

        def still() -> list[Open]:
            self.valid = judge.pool.valid(self.hidden)
            return list(self._contested(skip))

        named = np.zeros(len(q.cell), bool)
        for attacker, left in in_groups(contested, self._together, still, self.budget):
            if attacker in judge._dismissed:
                left = left[~judge._dismissed[attacker][left]]
            if self.budget.exhausted:
                if not self._every:
                    # of thousands of attackers and questions there are too many pairs to name each
                    left = left[~named[left]]
                    named[left] = True
                found += [(question, self._undecided(question, attacker)) for question in left.tolist()]
                continue
            known = judge._known[attacker]
            valid = judge.pool.avoiding(judge.pool.valid(self.hidden), known)
            left = left[~judge.pool.answered(valid)[left]]
            if not len(left):
                continue
            found += sorted(self._ask(left, attacker, known), key=lambda item: item[0])
            if found and self.stop:
                break
        return found

    def _circuits(self, pairs: int, share: float, asked: list[Ints] | None = None) -> bool:
        """Find circuits where many pairs of an attacker and a question may be open; tell whether that was done.

        The deviations of simultaneous programmes move many cells, so that nearly every attacker knows one of them.
        """
        most = int(self.hidden.sum())
        if self._searched or pairs <= share * most or most > _CIRCUIT_CELLS or self.budget.exhausted:
            return False
        self._searched = True
        only = None if asked is None else np.unique(np.concatenate(asked))
        self.judge.offer_circuits(self.hidden, self.budget, asked=only)
        return True

    def _shortest(self, contested: list[Open]) -> bool:
        """Find a deviation of few cells for each question that many attackers ask; tell whether any was looked for."""
        if len(contested) <= TOGETHER or self.hidden.sum() > _CIRCUIT_CELLS or self.budget.exhausted:
            return False
        region = open_region(self.judge._columns, np.flatnonzero(self.hidden))
        asked, attackers = np.unique(np.concatenate([left for _, left in contested]), return_counts=True)
        known = np.unique(np.concatenate([self.judge._known[attacker] for attacker, _ in contested]))
        return offer_shortest(self.judge, region, asked[attackers > TOGETHER], known, self.budget)

    def contested(self) -> Iterator[Open]:
        """Attackers and the questions that no stored witness answers for them."""
        return self._contested(np.zeros(len(self.judge.questions.cell), bool))

    def _together(self, group: list[Open]) -> None:
        """Play some attackers as one who knows what each of them knows: his witnesses are witnesses of all of them."""
        judge, pool = self.judge, self.judge.pool
        known = np.unique(np.concatenate([judge._known[a] for a, _ in group]))
        asked = np.unique(np.concatenate([left for _, left in group]))
        asked = asked[~np.isin(judge.questions.cell[asked], known)]
        asked = asked[~pool.answered(pool.avoiding(pool.valid(self.hidden), known))[asked]]
        alone, self.alone = self.alone, False
        for _ in self._ask(asked, group[0][0], known):
            pass
        self.alone = alone

    def _contested(self, skip: Bools) -> Iterator[Open]:
        """Attackers and those questions whose every stored public witness moves a cell that they know."""
        judge, q, pool = self.judge, self.judge.questions, self.judge.pool
        touches = (judge.knows @ pool.supports(self.valid).T).tocsr()
        touches.data[:] = 1
        answers = pool.answers(self.valid)
        total = np.bincount(answers.indices, minlength=len(q.cell))
        lost = sparse.csr_array(touches @ answers)
        sliding = np.flatnonzero((q.side == 0) & ~skip)
        asks = np.zeros(len(q.cell), bool)
        for attacker, unasked in enumerate(judge._unasked):
            lo, hi = lost.indptr[attacker], lost.indptr[attacker + 1]
            asked = lost.indices[lo:hi]
            gone = asked[lost.data[lo:hi] == total[asked]]
            gone = gone[(q.side[gone] != 0) & ~skip[gone]]
            if len(sliding) and touches.indptr[attacker] < touches.indptr[attacker + 1]:
                gone = np.concatenate((gone, sliding))
            asks[gone], asks[q.about(unasked)] = True, False
            gone = np.flatnonzero(asks)
            asks[gone] = False
            if len(gone):
                yield attacker, gone
