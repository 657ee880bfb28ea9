"""A first safe pattern of one release, its sums included, before anything searches for a cheap one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.first import first_results
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.workflow.extended import extended
from tabprotect.workflow.rounds import GRACE_SECONDS, MOST_ROUNDS, Answer, Rounds, is_answer

__all__ = ["first_incumbent"]

SLICE = 0.3
"""Part of the limits for a first safe pattern with its sums; it mostly takes much less, and everything hidden is judged
at once."""

LOOK_SHARE = 0.8
"""Part of what is left for looking at the sums of everything hidden, which all else falls back on."""

REPAIR_SHARE = 1 / 3
"""Part of that slice within which sums of a cheaper one are protected, too, where everything hidden is safe: the search
needs the rest."""

NEXT_TIME = 5.0
"""A cheaper pattern and its sums take so many times as long as everything hidden did."""

MOMENT = 0.5
"""Seconds of a look at sums from which on it is asked whether another one fits in."""


@dataclass(frozen=True)
class _Slice:
    """A part of the limits, and what was left of it in the beginning."""

    budget: Budget
    seconds: float
    work: float
    late: bool

    def spent(self, share: float) -> bool:
        """Whether more than a share of it is."""
        return self.budget.seconds_left < (1 - share) * self.seconds or self.budget.work_left < (1 - share) * self.work


def first_incumbent(rounds: Rounds, problem: Problem, repair: bool, *, late: bool = False) -> Answer | None:
    """Return a first safe pattern, its sums protected; what cannot be protected; None where a slice is too short.

    Where everything hidden gives no sums away that is the incumbent, until there is a cheaper one with its sums.

    Parameters
    ----------
    rounds : Rounds
        Its `has_incumbent` is set.
    problem : Problem
    repair : bool
        Whether sums that a pattern gives away are protected.
    late : bool
        The limits have ended, and the slice is what an answer is worth after them.
    """
    incumbent: Answer | None = None
    start: SuppressionResult | None = None
    with _slice(rounds, late) as whole:
        for _ in range(MOST_ROUNDS):
            answers = _first_answers(rounds, problem, whole, start, incumbent is None or not is_answer(incumbent))
            if answers and (is_answer(answers[-1]) or incumbent is None or not incumbent.result.safe):
                incumbent = next((a for a in reversed(answers) if is_answer(a)), answers[-1])
            if not answers or not answers[-1].sums or not repair or whole.budget.exhausted:
                break
            if incumbent is not None and is_answer(incumbent) and whole.spent(REPAIR_SHARE):
                break
            problem = rounds.grow(problem, answers[-1].sums)
            start = extended(answers[-1].result, problem)
    rounds.has_incumbent = incumbent is not None and is_answer(incumbent)
    return incumbent


@contextmanager
def _slice(rounds: Rounds, late: bool) -> Iterator[_Slice]:
    budget, work = rounds.budget, rounds.budget.limits.work
    beyond = budget.beyond(None if work is not None else GRACE_SECONDS, work)
    with beyond if late else budget.part(SLICE) as part:
        yield _Slice(part, part.seconds_left, part.work_left, late)


def _first_answers(
    rounds: Rounds, problem: Problem, whole: _Slice, start: SuppressionResult | None, everything: bool
) -> list[Answer]:
    """Return the first patterns of a problem, with the sums that they give away, looked at within the slice."""
    found: list[Answer] = []
    budget, timed = whole.budget, rounds.budget.limits.work is None
    if problem.n_cells > rounds.options.circuits.most_cells:
        # a look at the sums of everything hidden takes too long
        return found
    for result in first_results(problem, budget, start, rounds.options):
        if everything or not result.pattern[problem.may_hide].all():
            # of the slice, whose work the whole does not know yet
            budget.report("first pattern", result.cost)
            with rounds.budget.part(LOOK_SHARE) as part:
                # a first answer is worth more than the slice; the search would have nothing left without an end of it
                within = part if everything and not found else budget
                found.append(Answer(problem, result, rounds.look(result, within if timed and not whole.late else None)))
        if not found or not timed or rounds.looking <= MOMENT:
            continue
        answered = is_answer(found[-1])
        if budget.exhausted or (answered and (whole.late or (everything and whole.spent(REPAIR_SHARE / NEXT_TIME)))):
            break
    return found
