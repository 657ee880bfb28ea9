"""Searches of one release in rounds: a search, the sums that it gives away, and a search with these protected."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.sums import with_sums
from tabprotect.counted import counted
from tabprotect.methods.registry import PASSES
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.large.stages import local_in_stages
from tabprotect.methods.suppression.linked import suppress_linked
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import near_enough
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.strategy import by_root_solve
from tabprotect.methods.suppression.suppress import CLASSIC
from tabprotect.problem import Problem
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget
from tabprotect.solver.tasks.pieces import Means
from tabprotect.workflow.extended import extended, extends

__all__ = ["CLEANUP_SHARE", "GRACE_SECONDS", "LINKED", "MOST_ROUNDS", "Answer", "Exposed", "Rounds", "is_answer"]

Exposed = Callable[[SuppressionResult, Budget | None], tuple[UnionExposure, ...]]

LINKED = "linked"
"""What 'auto' does with linked tables: passes, and the exact engine from there."""

CLEANUP_SHARE = 0.4
"""Part of what is left that may go into making a pattern cheaper that was completed for its sums: as a rule it gives
away others, which need the same again."""

GRACE_SECONDS = 20.0
"""What completing a pattern to a safe one may take after a time limit or a stop."""

LATE_SHARE = 0.1
"""Part of a time limit that protecting sums, and looking at them, may take beyond it with a safe incumbent."""

ROUND_TIME = 5.0
"""What is left to do after a pattern was completed for its sums takes so many times as long as looking for sums."""

SPENT_SHARE = 0.75
"""Share of its limits from which a search counts as ended by them; it keeps some for its judgement."""

MOST_ROUNDS = 20
"""Rounds of protecting sums, each of which may make further sums computable."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A result, the problem it solves (with sums as cells of their own), and the sums that are still exposed."""

    problem: Problem
    result: SuppressionResult
    sums: tuple[UnionExposure, ...]


def is_answer(found: Answer) -> bool:
    """Whether a pattern is safe, its sums included."""
    return found.result.safe and not found.sums


@dataclass
class Rounds:
    """Searches of one release, one after the other, and what they share.

    Attributes
    ----------
    exposed : callable
        Says which sensitive sums a safe result gives away.
    budget : Budget
        Of all of them.
    seed : int
    how : mapping
        The engine, and its solver.
    means : Means
    near : bool
        Whether quick patterns are made by local programmes.
    tables : mapping of str to ndarray of int
        The cells of each of several linked tables.
    options : Options
        Of the suppression methods.
    limit : float, optional
        Seconds that everything may take, the work after the searches included.
    """

    exposed: Exposed
    budget: Budget
    seed: int
    how: dict[str, Any]
    means: Means
    near: bool
    tables: Mapping[str, npt.NDArray[np.int64]]
    options: Options = DEFAULTS
    limit: float | None = None
    looking: float = 0.0
    """Seconds that looking for sums took the last time."""
    spent: float = 0.0
    """Share of its limits that the last search took."""
    bounds: list[SuppressionResult] = field(default_factory=list)
    """Results of searches that gave a bound."""
    last: SuppressionResult | None = None
    """Of an exact search; its inequalities hold with more sums, too."""
    has_incumbent: bool = False
    """Whether there is a safe pattern, its sums included, so that nothing may take longer than the limits."""
    _fine: SuppressionResult | None = field(default=None, init=False, repr=False)
    ended: str = ""
    """What ended one of the searches, or the work on its pattern, before its time: 'time', 'work', ..."""

    def look(self, result: SuppressionResult, budget: Budget | None = None) -> tuple[UnionExposure, ...]:
        """Return the sums that a result gives away; within a budget, what is not decided by then, too."""
        if self._is_fine(result):
            return ()
        before = self.budget.seconds
        sums: tuple[UnionExposure, ...] = ()
        if result.safe:
            with nullcontext(budget) if budget is not None else self._late() as part:
                sums = self.exposed(result, part)
        self.looking = self.budget.seconds - before
        if result.safe and not sums:
            self._fine = result
        return sums

    @contextmanager
    def _late(self) -> Iterator[Budget | None]:
        """Yield what a look may take with a safe incumbent; else it takes what it needs."""
        if self.limit is None or not self.has_incumbent:
            yield None
            return
        with self.budget.beyond(self._late_seconds, None) as part:
            yield part

    @property
    def _late_seconds(self) -> float:
        """What is left of the limit and the share beyond it that may be taken with a safe incumbent."""
        return math.inf if self.limit is None else max(0.0, (1 + LATE_SHARE) * self.limit - self.budget.seconds)

    def _is_fine(self, result: SuppressionResult) -> bool:
        """Whether this is the pattern, of the same problem, that gave nothing away the last time."""
        fine = self._fine
        if fine is None or not result.safe or result.problem is not fine.problem:
            return False
        return np.array_equal(result.pattern, fine.pattern)

    def run(
        self, problem: Problem, method: str, share: float = 1.0, start: SuppressionResult | None = None
    ) -> SuppressionResult:
        """Search within a share of what is left."""
        if start is not None and self.last is not None and extends(problem, self.last.problem):
            assert self.last.rows is not None
            start = replace(start, rows=self.last.rows.over(problem.n_cells))
        with self.budget.run(share) as part:
            if method in (PASSES, LINKED):
                together = None if method == LINKED else 0
                means = self.means if self.means else None
                result = suppress_linked(
                    problem,
                    self.tables,
                    limits=part,
                    seed=self.seed,
                    together=together,
                    means=means,
                    options=self.options,
                )
            else:
                result = suppress(
                    problem,
                    method=method,
                    limits=part,
                    seed=self.seed,
                    start=start,
                    # these have no pieces; the intruder's intervals have
                    executor=None if method in CLASSIC else self.means.executor,
                    resume=self.means.store,
                    options=self.options,
                    **self.how,
                )
        limited = [(part.seconds, part.limits.seconds), (part.work, part.limits.work)]
        self.spent = max([spent / most for spent, most in limited if most], default=0.0)
        if result.bound is not None:
            self.bounds.append(result)
        if result.rows is not None:
            self.last = result
        self.ended = result.stopped or self.ended
        return result

    def share_to_go_on(self, result: SuppressionResult) -> float:
        """Return the share of what is left for a search to go on that its own share ended; the rest is for sums.

        0 where the search ended by itself, or there is no time for sums.
        """
        budget = self.budget
        if near_enough(result, budget) or self.spent < SPENT_SHARE or budget.exhausted:
            return 0.0
        return max(0.0, 1.0 - ROUND_TIME * self.looking / budget.seconds_left)

    def root(self, problem: Problem) -> Answer | None:
        """Return the pattern of the root solve, its sums protected; None where that finds none within a moment."""
        result = by_root_solve(problem, self.budget, "scip", self.options)
        if not result.safe:
            return None
        sums = self.look(result)
        if not sums:
            return Answer(problem, result, ())
        grown = self.grow(problem, sums)
        return self.close(grown, extended(result, grown), CLEANUP_SHARE, restarts=0)

    def grow(self, problem: Problem, sums: tuple[UnionExposure, ...]) -> Problem:
        """Return the problem with sums as cells of their own."""
        self.budget.report("sums", message=f"{counted(len(sums), 'sum')} of hidden cells protected, too")
        return with_sums(problem, sums, self.budget)

    def close(self, problem: Problem, start: SuppressionResult | None, share: float, *, restarts: int) -> Answer:
        """Make patterns quickly until none of the sums that they give away is sensitive."""
        first = start is None
        for _ in range(MOST_ROUNDS):
            # the pattern in hand is not safe, and an answer is worth a moment
            with self._within(share, first) as (part, cleanup):
                result = self._quickly(problem, start, part, restarts, cleanup)
            self.ended = result.stopped or self.ended
            sums = self.look(result)
            if not sums or (self.has_incumbent and not self._late_seconds):
                break
            problem = self.grow(problem, sums)
            start, restarts, first = extended(result, problem), 0, False
        return Answer(problem, result, sums)

    def _quickly(
        self, problem: Problem, start: SuppressionResult | None, part: Budget, restarts: int, cleanup: float
    ) -> SuppressionResult:
        pattern = None if start is None else start.pattern
        shared: dict[str, Any] = {
            "limits": part,
            "seed": self.seed,
            "start": pattern,
            "means": self.means,
            "options": self.options,
        }
        if self.near:
            deviations = () if start is None else start.deviations
            return local_in_stages(problem, passes=0, deviations=deviations, **shared)
        return greedy(problem, restarts=restarts, cleanup=cleanup, **shared)

    def with_stop_reason(self, found: Answer) -> Answer:
        """Return an answer that says what ended a search, where that leaves more of a gap than was asked for."""
        result = found.result
        if not result.safe or result.stopped or near_enough(result, self.budget):
            return found
        return replace(found, result=replace(result, stopped=self.ended))

    @contextmanager
    def _within(self, share: float, first: bool) -> Iterator[tuple[Budget, float]]:
        """Yield a budget for one pattern, and the share of it to make that cheaper.

        The first has its share of what is left. Any other one is needed for a safe answer: it may go beyond the limits.
        """
        if first:
            with self.budget.run(share) as part:
                yield part, 1.0
            return
        budget, own = self.budget, self.budget.limits
        share = 0.0 if budget.stopped == "cancelled" else share
        seconds, cleanup = None, 1.0 if share else 0.0
        left, units = math.inf, math.inf
        if own.work is not None:
            units = share * budget.work_left
            cleanup = units / max(1, own.work)
        elif own.seconds is not None:
            left = share * max(0.0, budget.seconds_left - ROUND_TIME * self.looking)
            seconds = max(min(GRACE_SECONDS, self._late_seconds) if self.has_incumbent else GRACE_SECONDS, left)
            cleanup = min(1.0, left / seconds) if seconds else 0.0
        with budget.beyond(seconds, own.work) as part:
            yield part, cleanup
            if part.work >= units or part.seconds >= left:
                self.ended = "work" if part.work >= units else "time"
