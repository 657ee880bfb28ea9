"""The intervals that each intruder is left with, the public one and those who know cells."""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tabprotect.attack.components import Component, components
from tabprotect.attack.intervals import Question, reach
from tabprotect.counted import counted
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import WIDTH

__all__ = ["Intervals", "explore"]

Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

BATCH = 2_000_000
"""Programmes of attackers are stated and solved in batches of about so many coefficients."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """What one intruder can conclude.

    Attributes
    ----------
    attacker : int
        Position in ``problem.attackers``; -1 is the intruder who knows only what is published.
    cells : ndarray of int
        Hidden cells, ascending: for the public intruder all that were asked for; for another one the primaries that
        he does not know himself and about which his knowledge may tell more than the public knows.
    low, high : ndarray of float
        Smallest and largest value that the cell may have in his eyes, in the unit of the values (may be infinite); NaN
        where that was not computed.
    """

    attacker: int
    cells: Ints
    low: Floats
    high: Floats

    def __repr__(self) -> str:
        return f"Intervals({counted(len(self.cells), 'cell')})"

    @property
    def exact(self) -> Bools:
        """Which of the cells have a value that follows exactly."""
        size = np.maximum(np.abs(self.low), np.abs(self.high))
        found = np.isfinite(size)
        found[found] = (self.high - self.low)[found] <= WIDTH * size[found]
        return found

    @property
    def recomputable(self) -> Ints:
        """Cells whose value follows exactly."""
        return self.cells[self.exact]

    def computed(self) -> Intervals:
        """Return the intervals that limits did not leave out."""
        there = ~np.isnan(self.low)
        return Intervals(self.attacker, self.cells[there], self.low[there], self.high[there])


def explore(
    problem: Problem,
    hidden: Bools,
    cells: Ints,
    everybody: bool,
    intervals: bool,
    budget: Budget,
    executor: Executor | None,
) -> tuple[Intervals, tuple[Intervals, ...]]:
    """Compute the intervals of some hidden cells for the public intruder, and what the others see if asked for."""
    parts = list(components(problem, hidden))
    movable = np.concatenate([np.zeros(0, np.int64), *(part.cells for part in parts)])
    low = np.where(np.isin(cells, movable), np.nan, problem.values[cells])
    high = low.copy()
    if not intervals:
        return Intervals(-1, cells, low, high), ()
    wanted = np.zeros(problem.n_cells, bool)
    wanted[cells] = True
    targeted = [(part, np.flatnonzero(wanted[part.cells])) for part in parts]
    whole = [_question(problem, part, targets) for part, targets in targeted if len(targets)]
    down, up = -problem.down, problem.up.copy()
    for question, answer in zip(whole, reach(whole, budget, executor), strict=True):
        asked_of = question.component.cells[question.targets]
        place = np.searchsorted(cells, asked_of)
        low[place], high[place] = _absolute(problem, asked_of, answer)
        down[asked_of], up[asked_of] = np.fmax(down[asked_of], answer[0]), np.fmin(up[asked_of], answer[1])
    if not everybody:
        return Intervals(-1, cells, low, high), ()
    # whoever knows more does not see a wider interval than the public
    return Intervals(-1, cells, low, high), _insiders(problem, parts, down, up, budget, executor)


def _insiders(
    problem: Problem, parts: list[Component], down: Floats, up: Floats, budget: Budget, executor: Executor | None
) -> tuple[Intervals, ...]:
    """Compute the intervals that attackers see of primaries which they do not know, within those of the public."""
    found: dict[int, Intervals] = {}
    asked: list[tuple[int, Question]] = []

    def answer() -> None:
        for (attacker, question), ends in zip(asked, reach([q for _, q in asked], budget, executor), strict=True):
            targets = question.component.cells[question.targets]
            place = np.searchsorted(found[attacker].cells, targets)
            found[attacker].low[place], found[attacker].high[place] = _absolute(problem, targets, ends)
        asked.clear()

    where = np.full(problem.n_cells, -1)
    for number, part in enumerate(parts):
        where[part.cells] = number
    for number, attacker in enumerate(problem.attackers):
        known = np.unique(np.asarray(attacker.known, np.int64))
        felt = [parts[k].cells for k in np.unique(where[known]).tolist() if k >= 0]
        cells = np.sort(np.concatenate([np.zeros(0, np.int64), *felt]))
        primaries = cells[(problem.status[cells] == Status.PRIMARY) & ~np.isin(cells, known)]
        if not len(primaries):
            continue
        late = budget.exhausted
        value = np.where(late, np.nan, problem.values[primaries])
        found[number] = Intervals(number, primaries, value, value.copy())
        for part in components(problem, cells, known.tolist()) if not late else ():
            if len(targets := np.flatnonzero(np.isin(part.cells, primaries))):
                limits = down[part.cells[targets]], up[part.cells[targets]]
                asked.append((number, _question(problem, part, targets, *limits)))
        if sum(question.component.A.nnz for _, question in asked) > BATCH:
            answer()
    answer()
    return tuple(found.values())


def _question(
    problem: Problem, part: Component, targets: Ints, low: Floats | None = None, high: Floats | None = None
) -> Question:
    down, up = problem.down[part.cells], problem.up[part.cells]
    low, high = -down[targets] if low is None else low, up[targets] if high is None else high
    return Question(part, down, up, targets, low, high)


def _absolute(problem: Problem, cells: Ints, answer: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """Values instead of deviations (NaN where there is none); at an external bound exactly that."""
    value, lower, upper = problem.values[cells], problem.lower[cells], problem.upper[cells]
    low = np.where(answer[0] <= -problem.down[cells], lower, value + answer[0])
    high = np.where(answer[1] >= problem.up[cells], upper, value + answer[1])
    if problem.integer:
        low, high = np.ceil(low - WIDTH), np.floor(high + WIDTH)
    return np.maximum(low, lower), np.minimum(high, upper)
