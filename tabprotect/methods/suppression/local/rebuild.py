"""Build a pattern out of witnesses found nearby, and rebuild parts of it more cheaply."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Deviation
from tabprotect.methods.suppression.local.cover import Cover, Witness
from tabprotect.methods.suppression.local.nearby import Nearby
from tabprotect.methods.suppression.local.turns import Turns
from tabprotect.solver.limits import Budget

__all__ = ["Rebuilder"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]

CROWD = 40
"""A cell with more witnesses than this is not tried: taking it out would ruin too much."""

FEW = 6
"""So many cells of median weight are the usual cost of a question, before there is a pattern."""

EFFORT = (1.0, 0.3, 0.1)
"""Deviations that cost less than so many times the mean cost of a question are not looked for further away."""

RUINED = (3, 6, 12, 25)
"""So many questions around a secondary are opened again, about."""

TRUST = (0.0, 0.7, 0.9, 0.97)
"""How much a cell is cheaper that the relaxation hides."""

NOISE = (0.0, 0.1, 0.3)
"""Standard deviations of the logarithm of random factors on the prices."""

STALE = 0.02
"""The list of secondaries is made anew after this share of it had a turn."""

TINY = 1e-9
"""What a rebuilt part may cost more, for rounding errors."""

NEVER = 1e3
"""A cell to be avoided is charged so many times its weight."""


class Search(NamedTuple):
    """How hard to look for a deviation: see `Nearby.find`."""

    hops: int
    enough: float
    usual: float
    limit: float = np.inf
    widen: bool = True
    far: bool = True
    quick: bool = False


class Rebuilder:
    """Answers the open questions of a cover, and ruins and recreates parts of it.

    Parameters
    ----------
    cover : Cover
    nearby : Nearby
    known : dict of int to ndarray
        Cells that each attacker knows, by his number.
    seed : int

    Attributes
    ----------
    hopeless : set of int
        Questions for which nothing was found, however far away.
    rough : list of int
        Questions that came last, where some of them were answered quickly rather than well.
    x : ndarray of float or None
        A point of a relaxation, which makes cells that it hides cheaper in some of the trials.
    """

    def __init__(self, cover: Cover, nearby: Nearby, known: dict[int, Ints], seed: int) -> None:
        self.cover = cover
        self.nearby = nearby
        self.hopeless: set[int] = set()
        self.rough: list[int] = []
        self._known = known
        self.x: Floats | None = None
        self._rng = np.random.default_rng(seed)
        self._turns = Turns(seed)
        self._secondaries: Ints = np.zeros(0, np.int64)
        self._stale = 0

    def build(self, budget: Budget) -> bool:
        """Answer what is open, largest level first; False when the budget ended that.

        What has no answer nearby comes last, and quickly.
        """
        cover = self.cover
        waiting = [k for k in cover.open().tolist() if k not in self.hopeless]
        search, late, cut = self._careful(), [], False
        for k in sorted(waiting, key=lambda k: (-cover.need[k], k)):
            if budget.exhausted:
                return False
            if not cover.relies[k] and not self._answer(k, budget, search._replace(far=False)):
                late.append(k)
        for k in late:
            if cover.relies[k]:
                continue
            self.nearby.rough = False
            done = self._answer(k, budget, search._replace(quick=True))
            cut = cut or self.nearby.rough
            if not done and self.nearby.rough:
                done = self._answer(k, budget, search)
            if not done and budget.exhausted:
                return False
            if not done:
                self.hopeless.add(k)
        if cut:
            self.rough += [k for k in late if k not in self.hopeless]
        return True

    def reuse(self, pattern: Bools, budget: Budget) -> None:
        """Answer what a pattern answers by itself, near each cell, light secondaries rather than heavy ones."""
        cover = self.cover
        price = np.where(pattern, 0.0, cover.weight)
        for k in sorted(cover.open().tolist(), key=lambda k: (-cover.need[k], k)):
            if budget.exhausted:
                return
            if not cover.relies[k]:
                self.inside([k], budget, price)

    def _answer(self, question: int, budget: Budget, search: Search) -> bool:
        """Answer a question, and its other side where that is open too."""
        cover, key = self.cover, self.cover.keys[question]
        if key.side == 0:
            return self._slide(question, budget, search)
        other = cover.number.get(Key(key.attacker, key.cell, -key.side))
        if other is None or cover.relies[other]:
            found = self._find(question, key.side, cover.need[question], budget, search)
            if found is not None:
                self._take(found, question, None)
            return found is not None
        level = max(cover.need[question], cover.need[other])
        both = self._find(question, 0, level, budget, search._replace(widen=False))
        if both is None or (cost := float(cover.price[both.cells].sum())) > search.enough:
            # bounds are tighter for a deviation that must fit both ways
            first = self._find(question, key.side, cover.need[question], budget, search)
            if first is None:
                if both is not None:
                    self._take(both, question, other)
                return both is not None
            saved = cover.price[first.cells]
            cover.price[first.cells] = 0.0
            second = self._find(other, -key.side, cover.need[other], budget, search)
            cover.price[first.cells] = saved
            if both is None or (second is not None and cover.price[np.union1d(first.cells, second.cells)].sum() < cost):
                self._take(first, question, None)
                if second is not None and not cover.relies[other]:
                    self._take(second, other, None)
                return True
        self._take(both, question, other)
        return True

    def _find(self, question: int, side: int, level: float, budget: Budget, search: Search) -> Deviation | None:
        key = self.cover.keys[question]
        return self.nearby.find(
            key.cell,
            side,
            level,
            self.cover.price,
            budget,
            hops=search.hops,
            widen=search.widen,
            far=search.far,
            quick=search.quick,
            known=self._known.get(key.attacker),
            enough=search.enough,
            usual=search.usual,
            limit=search.limit,
        )

    def _take(self, deviation: Deviation, question: int, other: int | None) -> None:
        cover = self.cover
        if cover.keys[question].attacker < 0:
            cover.take(deviation)
        if not cover.relies[question]:
            side = cover.keys[question].side
            own = deviation.z[deviation.cells == cover.keys[question].cell][0]
            turned = Deviation(deviation.cells, -deviation.z)
            cover.take(deviation if side * own > 0 else turned, [question])
            if other is not None and not cover.relies[other]:
                cover.take(turned if side * own > 0 else deviation, [other])

    def _slide(self, question: int, budget: Budget, search: Search) -> bool:
        """Up for one part of the width, down for the rest: the cheapest of a few ways."""
        cover, nearby, key = self.cover, self.nearby, self.cover.keys[question]
        need, known = cover.need[question] * (1 + 1e-9), self._known.get(key.attacker)
        up, down = float(nearby.up[key.cell]), float(nearby.down[key.cell])
        best: list[Deviation] = []
        least = np.inf
        for rise in (need, 0.0, need / 2, up, need - down):
            if not (max(0.0, need - down) <= rise <= min(need, up)):
                continue
            ends: list[Deviation] = []
            price = cover.price.copy()
            for side, level in ((1, rise), (-1, need - rise)):
                if level > 0:
                    found = nearby.find(key.cell, side, level, price, budget, hops=search.hops, known=known)
                    if found is None:
                        break
                    ends.append(found)
                    price[found.cells] = 0.0
            else:
                total = float(cover.price[np.unique(np.concatenate([e.cells for e in ends]))].sum())
                if total < least:
                    least, best = total, ends
        for end in best:
            cover.take(end, [question])
        return bool(best)

    def refine(self, budget: Budget) -> None:
        """Answer anew, with patience, all questions that came last, if some of them were answered quickly."""
        cover, before = self.cover, self.cover.cost
        asked = {k for late in self.rough for witness in cover.relies[late] for k in witness.asked}
        self.rough = []
        old = {k: cover.release(k) for k in sorted(asked)}
        order = sorted(old, key=lambda k: (-cover.need[k], k))
        self._settle(old, before, self._recreate(order, before, self._careful(), budget))

    def _careful(self) -> Search:
        problem = self.cover.problem
        weights = problem.weights[problem.may_hide & (self.cover.weight > 0)]
        usual = FEW * float(np.median(weights)) if len(weights) else 0.0
        return Search(0, usual, usual)

    def step(self, budget: Budget) -> float:
        """Try to do without one secondary; return what that gained."""
        cover, before = self.cover, budget.work
        if not len(self._secondaries) or self._stale > STALE * len(self._secondaries):
            self._secondaries, self._stale = cover.secondaries, 0
        self._stale += 1
        budget.spend(1)
        cell, passes = self._turns.next(self._secondaries, cover.problem.weights)
        if cell < 0:
            return 0.0
        gain = self._without(cell, passes, budget) if 0 < len(cover.users(cell)) <= CROWD else 0.0
        self._turns.record(gain, budget.work - before)
        return gain

    @property
    def rounds(self) -> float:
        """How often every secondary was tried, on average."""
        return self._turns.rounds

    def _without(self, cell: int, passes: int, budget: Budget) -> float:
        """Release all witnesses that move a secondary, and more around it now and then; answer their questions anew."""
        cover, rng = self.cover, self._rng
        before = cover.cost
        asked = {k for witness in cover.users(cell) for k in witness.asked}
        if passes and rng.random() < 0.7:
            asked |= self.around(cell, int(rng.choice(RUINED)))
            alpha = float(rng.choice(TRUST))
            self.nearby.guide = None if self.x is None or not alpha else 1 - alpha * self.x
            self.nearby.noise = float(rng.choice(NOISE))
        old: dict[int, tuple[Witness, ...]] = {k: cover.release(k) for k in sorted(asked)}
        kind = int(rng.integers(4)) if passes else 0
        freed = float(cover.price[cell])
        if freed > 0 and kind < 2:
            cover.price[cell] = NEVER * freed
        order = sorted(old, key=lambda k: (-cover.need[k], k))
        if kind % 2:
            order = [order[i] for i in rng.permutation(len(order)).tolist()]
        mean = cover.cost / max(1, len(cover.keys))
        effort = EFFORT[0] if not passes else float(rng.choice(EFFORT))
        self.inside(order, budget)
        search = Search(int(rng.integers(0, 2)), effort * mean, mean)
        done = self._recreate(order, before, search, budget)
        self.nearby.guide, self.nearby.noise = None, 0.0
        if freed > 0 and cover.price[cell] > 0:
            cover.price[cell] = freed
        return self._settle(old, before, done)

    def _recreate(self, order: list[int], before: float, search: Search, budget: Budget) -> bool:
        """Answer released questions anew; False as soon as that costs more than before."""
        cover = self.cover
        for k in order:
            if cover.relies[k]:
                continue
            slack = before - cover.cost
            if slack < 0 or not self._answer(k, budget, search._replace(limit=slack * (1 + 1e-9) + TINY)):
                return False
        return True

    def _settle(self, old: dict[int, tuple[Witness, ...]], before: float, done: bool) -> float:
        """Return what was gained; what costs more is undone."""
        cover = self.cover
        if done and cover.cost <= before + TINY:
            return before - cover.cost
        cover.reinstate(old, before)
        return 0.0

    def inside(self, order: list[int], budget: Budget, price: Floats | None = None) -> None:
        """Answer questions by what is hidden anyway, as far as that goes; light secondaries rather than heavy ones."""
        cover, nearby = self.cover, self.nearby
        cells = np.unique([cover.keys[k].cell for k in order])
        block = nearby.hidden(cells, cover.price if price is None else price)
        charge = cover.weight if price is None else cover.price
        for k in order:
            key = cover.keys[k]
            if cover.relies[k] or key.side == 0 or key.attacker >= 0:
                continue
            other = cover.number.get(Key(-1, key.cell, -key.side))
            if other is not None and not cover.relies[other]:
                level = max(cover.need[k], cover.need[other])
                found = nearby.inside(block, key.cell, 0, level, charge, budget)
                if found is not None:
                    self._take(found, k, other)
                    continue
            found = nearby.inside(block, key.cell, key.side, cover.need[k], charge, budget)
            if found is not None:
                self._take(found, k, None)

    def around(self, cell: int, most: int) -> set[int]:
        """Questions of witnesses that share cells with those of a secondary, and so on, until there are enough."""
        cover, rng = self.cover, self._rng
        asked: set[int] = set()
        waiting, seen = [cell], {cell}
        while waiting and len(asked) < most:
            users = cover.users(waiting.pop(int(rng.integers(len(waiting)))))
            if len(users) > CROWD // 2:
                continue
            for witness in users:
                asked |= set(witness.asked)
                if len(witness.paid) < CROWD:
                    fresh = [c for c in witness.paid if c not in seen]
                    seen.update(fresh)
                    waiting += fresh
        return asked
