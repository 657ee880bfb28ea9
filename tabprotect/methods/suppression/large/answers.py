"""What one question is answered by, in the pattern as it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Deviation
from tabprotect.methods.suppression.large.cover import Cover
from tabprotect.methods.suppression.large.nearby import Nearby, Search
from tabprotect.methods.suppression.large.programme import Move
from tabprotect.solver.limits import Budget

__all__ = ["Answers", "Proposal"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


class Proposal(NamedTuple):
    """A deviation and the questions that are to rely on it.

    Attributes
    ----------
    deviation : Deviation
    question : int
    other : int or None
        Its other side, which relies on the deviation turned round.
    end : bool
        One of the two ends of a sliding level, which answers nothing else.
    """

    deviation: Deviation
    question: int
    other: int | None = None
    end: bool = False


class Answers:
    """Looks for deviations that answer questions; nothing is changed.

    Parameters
    ----------
    cover : Cover
    nearby : Nearby
    known : dict of int to ndarray
        Cells that each attacker knows, by his number.
    price : ndarray of float, shape (cells,)
        What hiding a cell costs. It is written to while a question is looked at, and is then as before.
    """

    def __init__(self, cover: Cover, nearby: Nearby, known: dict[int, Ints], price: Floats) -> None:
        self.cover = cover
        self.nearby = nearby
        self.known = known
        self.price = price

    def twin(self) -> Answers:
        """Return what does the same beside this one, in another thread, at prices of its own."""
        return Answers(self.cover, self.nearby.twin(), self.known, self.price.copy())

    def propose(self, question: int, budget: Budget, search: Search) -> tuple[Proposal, ...]:
        """Return what answers a question, and its other side where that is open too; nothing if nothing was found."""
        cover, key = self.cover, self.cover.keys[question]
        if key.side == 0:
            return self._slide(question, budget, search)
        other = cover.number.get(Key(key.attacker, key.cell, -key.side))
        if other is None or cover.relies[other]:
            found = self._find(question, key.side, cover.need[question], budget, search)
            return () if found is None else (Proposal(found, question),)
        level = max(cover.need[question], cover.need[other])
        both = self._find(question, 0, level, budget, search._replace(widen=False))
        if both is not None and (cost := float(self.price[both.cells].sum())) <= search.enough:
            return (Proposal(both, question, other),)
        # bounds are tighter for a deviation that must fit both ways
        first = self._find(question, key.side, cover.need[question], budget, search)
        if first is None:
            return () if both is None else (Proposal(both, question, other),)
        saved = self.price[first.cells]
        self.price[first.cells] = 0.0
        second = self._find(other, -key.side, cover.need[other], budget, search)
        self.price[first.cells] = saved
        if both is not None and (second is None or self.price[np.union1d(first.cells, second.cells)].sum() >= cost):
            return (Proposal(both, question, other),)
        return (Proposal(first, question), *(() if second is None else (Proposal(second, other),)))

    def _find(self, question: int, side: int, level: float, budget: Budget, search: Search) -> Deviation | None:
        key = self.cover.keys[question]
        known = self.known.get(key.attacker)
        return self.nearby.find(Move(key.cell, side, level), self.price, budget, search, known)

    def _slide(self, question: int, budget: Budget, search: Search) -> tuple[Proposal, ...]:
        """Up for one part of the width, down for the rest: the cheapest of a few ways."""
        cover, nearby, key = self.cover, self.nearby, self.cover.keys[question]
        need, known = cover.need[question] * (1 + 1e-9), self.known.get(key.attacker)
        up, down = float(nearby.up[key.cell]), float(nearby.down[key.cell])
        near = Search(search.hops, far=search.far, quick=search.quick, rough=search.rough)
        best: list[Deviation] = []
        least = np.inf
        for rise in (need, 0.0, need / 2, up, need - down):
            if not (max(0.0, need - down) <= rise <= min(need, up)):
                continue
            ends: list[Deviation] = []
            price = self.price.copy()
            for side, level in ((1, rise), (-1, need - rise)):
                if level > 0:
                    found = nearby.find(Move(key.cell, side, level), price, budget, near, known)
                    if found is None:
                        break
                    ends.append(found)
                    price[found.cells] = 0.0
            else:
                total = float(self.price[np.unique(np.concatenate([e.cells for e in ends]))].sum())
                if total < least:
                    least, best = total, ends
                if search.rough:
                    break
        return tuple(Proposal(end, question, end=True) for end in best)
