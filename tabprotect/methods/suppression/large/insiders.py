"""Witnesses that leave alone what attackers know, looked for near each cell before the judge asks about the table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.large.cover import Cover
from tabprotect.methods.suppression.large.nearby import Nearby, Search
from tabprotect.methods.suppression.large.programme import Move
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.options.local import InsiderOptions
from tabprotect.methods.suppression.start.cheapest import Cheapest
from tabprotect.solver.limits import Budget

__all__ = ["Insiders", "answer_exposed"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Insiders:
    """Answers questions of attackers by deviations near the cell in question.

    Deviations made for the public answer many questions at once and move many cells, so that nearly every attacker
    knows one of them. Each question that somebody asks gets one of few cells first. The attackers who know a cell of
    that are played together: a deviation that moves nothing any of them knows answers the question for each. Where
    there is none, or only a dear one, they are halved.

    Parameters
    ----------
    cover : Cover
        Takes the deviations, and the cells that they hide.
    nearby : Nearby
    judge : Witnesses
    known : dict of int to ndarray
        Cells that each attacker knows; groups of attackers are added under new numbers.
    options : InsiderOptions
    """

    def __init__(
        self,
        cover: Cover,
        nearby: Nearby,
        judge: Witnesses,
        known: dict[int, Ints],
        options: InsiderOptions = DEFAULTS.local.insiders,
    ) -> None:
        self._options = options
        self.cover = cover
        self.nearby = nearby
        self.judge = judge
        self.known = known
        self._used = self._slim = False
        weights = cover.weight[cover.weight > 0]
        self._usual = self._options.usual_cells * float(np.median(weights)) if len(weights) else 1.0

    @property
    def needed(self) -> bool:
        """Whether there is more to ask than the judge should ask, or was."""
        self._used = self._used or len(self.judge.contested(self.cover.pattern)) > self._options.many
        return self._used

    def go_on(self) -> None:
        """Take it that a search before this one has looked for deviations of few cells."""
        self._used = self._slim = True

    def answer(self, budget: Budget) -> bool:
        """Answer what stored witnesses do not, as far as that is possible near by; False at a limit."""
        if not self._slim:
            self._few_cells(budget)
        for _ in range(self._options.rounds):
            found, price = 0, self._price()
            for (cell, sides), attackers in self._contested().items():
                if budget.exhausted:
                    return False
                found += self._for_all(cell, sides, attackers, price, budget)
            if not found:
                break
        return not budget.exhausted

    def _contested(self) -> dict[tuple[int, tuple[int, ...]], list[int]]:
        """For every cell the sides in question, and the attackers who ask about one of them."""
        asked: dict[int, tuple[set[int], set[int]]] = {}
        for key in self.judge.contested(self.cover.pattern):
            if key.side:
                sides, attackers = asked.setdefault(key.cell, (set(), set()))
                sides.add(key.side)
                attackers.add(key.attacker)
        return {(cell, tuple(sorted(of[0]))): sorted(of[1]) for cell, of in sorted(asked.items())}

    def _price(self) -> Floats:
        price = self.cover.price
        return np.where(price > 0, price, self._options.hidden_price * self._usual)

    def _few_cells(self, budget: Budget) -> None:
        """Let each question that some attacker asks rely on a deviation of few cells, all of them hidden anyway."""
        cover, nearby = self.cover, self.nearby
        price, pattern = np.ones(cover.problem.n_cells), cover.pattern
        price[np.unique(np.concatenate(list(self.known.values())))] = self._options.known_price
        everything = nearby.allowed, nearby.mirrored
        nearby.allowed, nearby.mirrored = nearby.allowed & pattern, nearby.mirrored & pattern
        for cell, sides in self._contested():
            if budget.exhausted:
                break
            for side, deviation in self._find(cell, sides, np.zeros(0, np.int64), price, np.inf, budget).items():
                question = cover.question(Key(-1, cell, side), self._need(cell, side))
                cover.release(question)
                cover.take(deviation, [question])
                self.judge.offer(deviation)
        nearby.allowed, nearby.mirrored = everything
        self._slim = True

    def _for_all(
        self, cell: int, sides: tuple[int, ...], attackers: Sequence[int], price: Floats, budget: Budget
    ) -> int:
        """Take deviations for some attackers together, or for halves of them; return how many were found."""
        known = np.unique(np.concatenate([self.known[a] for a in attackers]))
        found = self._find(cell, sides, known[known != cell], price, self._usual, budget)
        dear = len(found) < len(sides) or sum(float(price[d.cells].sum()) for d in found.values()) > self._usual
        if dear and len(attackers) > 1 and not budget.exhausted:
            half = len(attackers) // 2
            return sum(self._for_all(cell, sides, part, price, budget) for part in (attackers[:half], attackers[half:]))
        number = attackers[0]
        if len(attackers) > 1:
            number = len(self.known)
            self.known[number] = known
        for side, deviation in found.items():
            question = self.cover.question(Key(number, cell, side), self._need(cell, side))
            if self.cover.relies[question]:
                self.cover.release(question)
            self.cover.take(deviation, [question])
            self.judge.offer(deviation)
            price[deviation.cells] = np.minimum(price[deviation.cells], self._options.hidden_price * self._usual)
        return len(found)

    def _find(
        self, cell: int, sides: tuple[int, ...], known: Ints, price: Floats, enough: float, budget: Budget
    ) -> dict[int, Deviation]:
        """Return a deviation for every side that has one: one and the same turned round if that is not dear."""
        needs = {side: self._need(cell, side) for side in sides}
        own, price[cell] = price[cell], 0.0

        def one(side: int, level: float) -> Deviation | None:
            search = Search(hops=1, enough=min(enough, float(np.finfo(np.float64).max)))
            return self.nearby.find(Move(cell, side, level), price, budget, search, known)

        both = one(0, max(needs.values())) if len(sides) > 1 else None
        found: dict[int, Deviation] = {}
        if both is not None and float(price[both.cells].sum()) <= enough:
            turned = Deviation(both.cells, -both.z)
            up = float(both.z[both.cells == cell][0]) > 0
            found = {1: both if up else turned, -1: turned if up else both}
        else:
            found = {side: d for side, need in needs.items() if (d := one(side, need)) is not None}
        price[cell] = own
        return found

    def _need(self, cell: int, side: int) -> float:
        q = self.judge.questions
        return float(q.need[q.place[side][cell]])


def answer_exposed(
    cover: Cover, judge: Witnesses, cheapest: Cheapest, questions: Sequence[int], budget: Budget
) -> None:
    """Answer what the judge found exposed by the cheapest deviations of the whole table, as far as limits go.

    What an attacker knows lies around the cells that he asks about: the way round it is cheaper in the whole table.

    Parameters
    ----------
    cover : Cover
    judge : Witnesses
    cheapest : Cheapest
    questions : sequence of int
        Of the cover; those for which nothing is found stay open.
    budget : Budget
    """
    for question in questions:
        key = cover.keys[question]
        # an answer for another attacker may do
        found = judge.witness(key, cover.pattern) or cheapest.find(key, cover.price, budget)
        if budget.exhausted and not found:
            return
        for deviation in found or ():
            judge.offer(deviation)
            cover.take(deviation, [question])
