"""Build safe patterns: answer the questions one after the other, each at the least extra cost."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from contextlib import nullcontext
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from tabprotect.attack.keys import Key
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, ConstructionOptions
from tabprotect.methods.suppression.start.cheapest import Cheapest
from tabprotect.solver.credit import meter, meter_left
from tabprotect.solver.limits import Budget

__all__ = ["Constructor"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


class Constructor:
    """Makes patterns for one problem; a pattern is the union of what its witnesses move, so it is safe from birth.

    Parameters
    ----------
    judge : Witnesses
    dismiss : bool
        Let the judge no longer ask what turned out unattainable (never for a judge that has the last word).
    options : ConstructionOptions

    Attributes
    ----------
    unattainable : set of Key
        Questions that no pattern answers, even with everything hidden that may be.
    reached : ndarray of bool or None
        What the last construction hid, also where it ended before all was answered.
    """

    def __init__(
        self, judge: Witnesses, *, dismiss: bool = False, options: ConstructionOptions = DEFAULTS.construction
    ) -> None:
        self._options = options
        self.judge = judge
        self._dismiss = dismiss
        self.cheapest = Cheapest(judge, options)
        self.unattainable: set[Key] = set()
        self.reached: Bools | None = None
        q = judge.questions
        self.by_level: Ints = np.lexsort((np.arange(len(q.need)), -q.need))

    def build(
        self,
        cost: Floats,
        budget: Budget,
        *,
        order: Ints | None = None,
        start: Bools | None = None,
        allowed: Bools | None = None,
        stored: bool = False,
        patience: float = np.inf,
        speedup: float = 1.0,
    ) -> Bools | None:
        """Return a pattern in which every question is answered (unattainable ones apart), or None at a limit.

        Parameters
        ----------
        cost : ndarray of float, shape (cells,)
            What hiding a cell is charged while building; it may differ from the weights.
        order : ndarray of int, optional
            Questions in the order in which they are answered; by default largest level first, so that one witness
            answers many others on the way.
        start : ndarray of bool, optional
            Cells hidden from the beginning, besides primary and forced ones.
        allowed : ndarray of bool, optional
            Cells that may be hidden.
        stored : bool
            Answer a question by the cheapest of the deviations that the judge has stored, where one of them does, and
            solve no programme for it.
        patience : float
            Give up, as at a limit, where all questions would take so many times what the budget has, at the rate of
            those answered so far, and these are less than half: later no other start would be there sooner. Or where
            one of these takes more than a share of the limits (`question_limit_share`). Or where, later, the rate
            of late does not suffice for the rest (`late_limit_share`).
        speedup : float
            Factor by which the method that completes an unfinished pattern is faster: above 1 the construction ends
            once the questions left would exceed the budget even at that rate, however few were looked at.
        """
        judge, problem, q = self.judge, self.judge.problem, self.judge.questions
        self.reached = pattern = problem.must_hide.copy() if start is None else problem.must_hide | start
        price, course = np.where(pattern, 0.0, cost), _Course(budget, patience, speedup, self._options)
        free = problem.may_hide if allowed is None else problem.may_hide & allowed
        # most primaries protect each other
        answered = judge.sweep(pattern, budget)
        at_once, swept = int(answered.sum()), int(pattern.sum())
        asked = len(answered) - at_once
        questions = _Questions((self.by_level if order is None else order).tolist(), self._options.put_off_ratio)
        for question in questions:
            key = Key(-1, int(q.cell[question]), int(q.side[question]))
            if answered[question] or key in self.unattainable:
                continue
            if course.gives_up(int(answered.sum()) - at_once, asked):
                return None
            known = judge.pool.cheapest(question, np.where(free | pattern, price, np.inf)) if stored else ()
            with budget.part(self._options.question_limit_share) if course.early else nullcontext(budget) as part:
                found = known or self._find(key, price, part, allowed)
            if found is None:
                answered[question] = True
                continue
            if not found:
                return None
            moved = np.unique(np.concatenate([d.cells for d in found]))
            if questions.puts_off(question, int(np.sum(price[moved] > 0))):
                continue
            answered[self._hide(found, price, pattern)] = True
            answered[question] = True
            if pattern.sum() > swept * (1 + self._options.sweep_growth) + 20:
                swept = int(pattern.sum())
                answered |= judge.sweep(pattern, budget)
        return self._finish(pattern, price, budget, allowed)

    def _find(self, key: Key, price: Floats, budget: Budget, allowed: Bools | None) -> tuple[Deviation, ...] | None:
        """Return the cheapest deviation that answers a question; empty at a limit, None where there is none at all."""
        found = self.cheapest.find(key, price, budget, allowed=allowed)
        if found is None and allowed is not None:
            found = self.cheapest.find(key, price, budget)
        if found is None:
            self._give_up(key)
        return found

    def _hide(self, deviations: tuple[Deviation, ...], price: Floats, pattern: Bools) -> Ints:
        """Hide what deviations move; return the questions answered by that."""
        for deviation in deviations:
            pattern[deviation.cells] = True
            price[deviation.cells] = 0.0
        return self.judge.offer(*deviations)

    def _finish(self, pattern: Bools, price: Floats, budget: Budget, allowed: Bools | None) -> Bools | None:
        """Repeat for what an audit still finds exposed: attackers with known cells, and anything lost to rounding."""
        tried: set[Key] = set()
        while True:
            exposed = [e for e in self.judge.check(pattern, budget) if not self.is_unattainable(e.key)]
            if not exposed:
                return pattern
            if not all(e.decided for e in exposed) and budget.exhausted:
                return None
            for exposure in exposed:
                if exposure.key in tried:  # a second time: its witness was not accurate enough
                    self._give_up(exposure.key)
                    continue
                tried.add(exposure.key)
                if self.judge.witness(exposure.key, pattern):
                    continue
                found = self._find(exposure.key, price, budget, allowed)
                if found == ():
                    return None
                self._hide(found or (), price, pattern)

    def _give_up(self, key: Key) -> None:
        self.unattainable.add(key)
        if self._dismiss:
            self.judge.dismiss(key)

    def is_unattainable(self, key: Key) -> bool:
        """A question that no pattern answers for this attacker, or for the public already."""
        return key in self.unattainable or Key(-1, key.cell, key.side) in self.unattainable


class _Questions:
    """Questions in the order in which they are answered; one whose answer would hide far more than others waits once.

    Parameters
    ----------
    order : list of int
    ratio : float
        An answer that hides so many times as many more cells as the mean of those before is put off.
    """

    def __init__(self, order: list[int], ratio: float) -> None:
        self._left = deque(order)
        self._ratio = ratio
        self._waited: set[int] = set()
        self._hidden, self._answers = 0, 0

    def __iter__(self) -> Iterator[int]:
        while self._left:
            yield self._left.popleft()

    def puts_off(self, question: int, cells: int) -> bool:
        """Whether a question whose answer hides so many more cells waits for the others to be answered."""
        if question not in self._waited and self._answers * cells > self._ratio * self._hidden:
            self._waited.add(question)
            self._left.append(question)
            return True
        self._hidden += cells
        self._answers += cells > 0
        return False


class _Course:
    """How soon questions are answered, and whether the rest will be within the limits.

    Parameters
    ----------
    budget : Budget
    patience, speedup : float
        See `Constructor.build`.
    options : ConstructionOptions

    Attributes
    ----------
    early : bool
        Whether less than half is answered, and patience is limited.
    """

    def __init__(self, budget: Budget, patience: float, speedup: float, options: ConstructionOptions) -> None:
        self._budget, self._patience, self._speedup = budget, patience, speedup
        self._options = options
        self._begun, self._whole = meter(budget), meter_left(budget)
        self._points = [(0.0, 0)]
        self.early = False

    def gives_up(self, done: int, asked: int) -> bool:
        """Whether all that is asked would take too long, at the rate of what is done so far, or of late."""
        spent, options = meter(self._budget) - self._begun, self._options
        limited = math.isfinite(self._patience)
        self.early = 2 * done < asked and limited
        tried = spent > options.trial_limit_share * self._whole
        if self.early and tried and spent * asked > self._patience * self._whole * max(1, done):
            return True
        self._points.append((spent, done))
        late = spent > options.late_limit_share * self._whole and limited
        return late and _end(self._points, asked, options.late_questions, self._speedup) > self._whole


def _end(course: list[tuple[float, int]], asked: int, least: int, speedup: float) -> float:
    """Return when all questions will be answered, at the rate of the last half of what was spent, or the last quarter.

    Parameters
    ----------
    course : list of (float, int)
        What was spent until so many were answered, in order.
    asked : int
        All of them.
    least : int
        Questions that have to be looked at in that half, otherwise the answer is 0: few tell nothing. Of no meaning
        where the rest is answered otherwise.
    speedup : float
        Factor on the rate.
    """
    spent, done = course[-1]
    half, quarter = (bisect_right(course, share * spent, key=itemgetter(0)) - 1 for share in (0.5, 0.75))
    if speedup <= 1 and len(course) - half <= least:
        return 0.0
    rate = max((done - first) / max(spent - before, 1e-9) for before, first in (course[half], course[quarter]))
    return spent + (asked - done) / (speedup * rate) if rate else math.inf
