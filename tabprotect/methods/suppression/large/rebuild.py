"""Build a pattern out of witnesses found nearby, and rebuild parts of it more cheaply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Deviation
from tabprotect.methods.suppression.large.answers import Answers, Proposal
from tabprotect.methods.suppression.large.charges import choose
from tabprotect.methods.suppression.large.cover import Cover, Witness
from tabprotect.methods.suppression.large.nearby import Nearby, Search
from tabprotect.methods.suppression.large.parallel import ParallelSearch
from tabprotect.methods.suppression.large.programme import Move
from tabprotect.methods.suppression.options import DEFAULTS
from tabprotect.methods.suppression.options.local import LocalOptions
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import COST_NOISE

__all__ = ["Rebuilder"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Rebuilder:
    """Answers the open questions of a cover, and ruins and recreates parts of it.

    Parameters
    ----------
    cover : Cover
    nearby : Nearby
    known : dict of int to ndarray
        Cells that each attacker knows, by his number.
    seed : int
    threads : int
        So many look at questions side by side (see `ParallelSearch`).

    Attributes
    ----------
    unattainable : set of int
        Questions for which nothing was found, however far away.
    rough : list of int
        Questions that came last, where some of them were answered quickly or roughly, and those whose search the limits
        cut short.
    x : ndarray of float or None
        A point of a relaxation, which makes cells that it hides cheaper in some of the trials.
    """

    def __init__(
        self,
        cover: Cover,
        nearby: Nearby,
        known: dict[int, Ints],
        seed: int,
        threads: int = 1,
        options: LocalOptions = DEFAULTS.local,
    ) -> None:
        self._options = options.rebuild
        self._first = options.parallel.batch[0]
        self.cover = cover
        self.nearby = nearby
        self.unattainable: set[int] = set()
        self.rough: list[int] = []
        self._answers = Answers(cover, nearby, known, cover.price)
        self._parallel = ParallelSearch(self._answers, threads, options.parallel)
        self.x: Floats | None = None
        self._rng = np.random.default_rng(seed)
        self._pass: list[int] = []
        self._passes, self._length = 0, 1

    def build(self, budget: Budget) -> bool:
        """Answer what is open, largest level first; False when the budget ended that.

        What has no answer nearby comes last, and quickly; roughly, where a share of what is left is spent.
        """
        cover, search = self.cover, self._careful()
        waiting = self._in_order(k for k in cover.open().tolist() if k not in self.unattainable)
        with budget.part(self._options.careful_limit_share) as part:
            self._answer_all(waiting, search._replace(far=False), part)
        late = [k for k in waiting if not cover.relies[k]]
        left, cut = self._answer_all(late, search._replace(quick=True, rough=part.exhausted), budget, self._first)
        # what even a quick answer was not found for is looked for with patience
        left, _ = self._answer_all(left, search, budget, self._first) if cut else (left, cut)
        if budget.exhausted and not all(cover.relies[k] for k in waiting):
            return False
        self.unattainable.update(k for k in left if not cover.relies[k])
        if cut:
            self.rough += [k for k in late if k not in self.unattainable]
        return True

    def choose_charges(self, budget: Budget) -> float:
        """Charge cells in the way that hides least for some of the open questions, and answer these; see `choose`."""
        search = self._careful()._replace(far=False)
        order = self._in_order(self.cover.open().tolist())
        return choose(
            self.cover,
            self.nearby.programme,
            order,
            self._options,
            budget,
            lambda k, part: self._answer(k, part, search),
        )

    def _answer_all(
        self, order: Sequence[int], search: Search, budget: Budget, batch: int | None = None
    ) -> tuple[list[int], bool]:
        """Answer what is open of some questions; return those without an answer, and whether any search was cut short.

        At most so many are looked at in the same pattern. The budget may end it anywhere.
        """
        missing: list[int] = []
        rough = False
        with self._parallel.open() as pool:
            for questions in self._parallel.batches(order, batch):
                if budget.exhausted:
                    break
                looked = self._parallel.look(questions, search, budget, pool)
                for one in looked:
                    self._accept(one.proposals)
                    rough |= one.rough
                self._parallel.moved(looked)
                missing += [one.question for one in looked if not self.cover.relies[one.question]]
                # what the limits cut short may have found something dear
                self.rough += [k for k in questions if budget.exhausted and self.cover.relies[k]]
        return missing, rough

    def _in_order(self, questions: Iterable[int]) -> list[int]:
        """Largest levels first."""
        return sorted(questions, key=lambda k: (-self.cover.need[k], k))

    def reuse(self, pattern: Bools, budget: Budget) -> None:
        """Answer what a pattern answers by itself, near each cell, light secondaries rather than heavy ones."""
        cover = self.cover
        price = np.where(pattern, 0.0, cover.weight)
        for k in self._in_order(cover.open().tolist()):
            if budget.exhausted:
                return
            if not cover.relies[k]:
                self.inside([k], budget, price)

    def _answer(self, question: int, budget: Budget, search: Search) -> bool:
        """Answer a question, and its other side where that is open too."""
        proposals = self._answers.propose(question, budget, search)
        self._accept(proposals)
        return bool(proposals)

    def _accept(self, proposals: Iterable[Proposal]) -> None:
        """Rely on deviations for what is open still."""
        ends = [p for p in proposals if p.end]
        if ends and not self.cover.relies[ends[0].question]:
            for one in ends:
                self.cover.take(one.deviation, [one.question])
        for one in proposals:
            if not one.end and not self.cover.relies[one.question]:
                self._take(one.deviation, one.question, one.other)

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

    def refine(self, budget: Budget) -> None:
        """Answer anew, with patience, all questions that came last, if some of them were answered quickly.

        What the budget leaves no time for keeps its answer.
        """
        cover, before = self.cover, self.cover.cost
        asked = {k for late in self.rough for witness in cover.relies[late] for k in witness.asked}
        self.rough = []
        old = {k: cover.release(k) for k in sorted(asked)}
        self._answer_all(self._in_order(old), self._careful(), budget)
        cover.reinstate({k: witnesses for k, witnesses in old.items() if not cover.relies[k]})
        self._settle(old, before, True)

    def _careful(self) -> Search:
        problem = self.cover.problem
        weights = problem.weights[problem.may_hide & (self.cover.weight > 0)]
        usual = self._options.usual_cells * float(np.median(weights)) if len(weights) else 0.0
        return Search(0, usual, usual)

    def step(self, budget: Budget) -> float:
        """Try to do without one secondary, all of them in random order, pass by pass; return what that gained."""
        if not self._pass:
            self._pass = self._rng.permutation(self.cover.secondaries).tolist()
            self._passes, self._length = self._passes + 1, max(1, len(self._pass))
        budget.spend(1)
        if not self._pass:
            return 0.0
        cell = self._pass.pop()
        if not 0 < len(self.cover.users(cell)) <= self._options.most_users:
            return 0.0
        return self._without(cell, self._passes > 1, budget)

    @property
    def rounds(self) -> float:
        """How often every secondary was tried, on average."""
        return self._passes - len(self._pass) / self._length

    def _without(self, cell: int, again: bool, budget: Budget) -> float:
        """Release all witnesses that move a secondary, and more around it in later passes; answer their questions."""
        cover, rng, programme = self.cover, self._rng, self.nearby.programme
        before = cover.cost
        asked = {k for witness in cover.users(cell) for k in witness.asked}
        if again and rng.random() < 0.7:
            asked |= self.around(cell, int(rng.choice(self._options.reopened)))
            alpha = float(rng.choice(self._options.trust))
            programme.guide = None if self.x is None or not alpha else 1 - alpha * self.x
        old: dict[int, tuple[Witness, ...]] = {k: cover.release(k) for k in sorted(asked)}
        kind = int(rng.integers(4)) if again else 0
        freed = float(cover.price[cell])
        if freed > 0 and kind < 2:
            cover.price[cell] = self._options.avoided_price * freed
        order = self._in_order(old)
        if kind % 2:
            order = [order[i] for i in rng.permutation(len(order)).tolist()]
        mean = cover.cost / max(1, len(cover.keys))
        self.inside(order, budget)
        search = Search(int(rng.integers(0, 2)), mean, mean)
        done = self._recreate(order, before, search, budget)
        programme.guide = None
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
            if slack < 0 or not self._answer(k, budget, search._replace(limit=slack * (1 + 1e-9) + COST_NOISE)):
                return False
        return True

    def _settle(self, old: dict[int, tuple[Witness, ...]], before: float, done: bool) -> float:
        """Return what was gained; what costs more is undone."""
        cover = self.cover
        if done and cover.cost <= before + COST_NOISE:
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
                found = nearby.inside(block, Move(key.cell, 0, level), charge, budget)
                if found is not None:
                    self._take(found, k, other)
                    continue
            found = nearby.inside(block, Move(key.cell, key.side, cover.need[k]), charge, budget)
            if found is not None:
                self._take(found, k, None)

    def around(self, cell: int, most: int) -> set[int]:
        """Questions of witnesses that share cells with those of a secondary, and so on, until there are enough."""
        cover, rng = self.cover, self._rng
        asked: set[int] = set()
        waiting, seen = [cell], {cell}
        while waiting and len(asked) < most:
            users = cover.users(waiting.pop(int(rng.integers(len(waiting)))))
            if len(users) > self._options.most_users // 2:
                continue
            for witness in users:
                asked |= set(witness.asked)
                if len(witness.paid) < self._options.most_users:
                    fresh = [c for c in witness.paid if c not in seen]
                    seen.update(fresh)
                    waiting += fresh
        return asked
