"""What cells are charged while deviations are looked for: by what they cost, or also by how far they can move."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tabprotect.methods.suppression.large.cover import Cover, Witness
from tabprotect.methods.suppression.large.programme import BlockProgramme
from tabprotect.methods.suppression.options.local import RebuildOptions
from tabprotect.solver.limits import Budget

__all__ = ["choose"]


def choose(
    cover: Cover,
    programme: BlockProgramme,
    order: Sequence[int],
    options: RebuildOptions,
    budget: Budget,
    answer: Callable[[int, Budget], object],
) -> float:
    """Set the power of a programme by trial on some questions, and leave these answered.

    Charged by what they cost divided by how far they can move, few cells move, which is cheapest for one question; but
    each question then has cells of its own. Charged by what they cost alone, many move, most of them cheap ones that
    the next questions use again.

    Parameters
    ----------
    cover : Cover
    programme : BlockProgramme
        Its `power` is set.
    order : sequence of int
        The open questions, largest level first.
    options : RebuildOptions
        Powers and trials, which share the time; what is compared are the questions that all of them came to. The first
        power holds where there are none, or another gains little of the cost for each question that is answered.
    budget : Budget
    answer : callable
        Answers a question within a budget.

    Returns
    -------
    float
        What is hidden for each question answered, as a share of that with the first power; 1 where that holds.
    """
    most = options.trial_targets
    some = [*order[:most], *order[most :: max(1, len(order) // most)]]
    trials: list[_Trial] = []
    with budget.part(options.trial_limit_share) as part:
        for number, power in enumerate(options.charge_powers):
            programme.power = power
            course: list[float] = []
            whole: set[int] = set()
            with part.part(1 / (len(options.charge_powers) - number)) as own:
                for k in some:
                    if own.exhausted:
                        break
                    if not cover.relies[k] and not answer(k, own) and own.exhausted:
                        break
                    answered = {k for k in order if cover.relies[k]}
                    course.append(cover.cost / max(1, len(answered)))
                    # a search that the limits cut short may have found something dear
                    whole = whole if own.exhausted else answered
            answers = {k: cover.release(k) for k in order if cover.relies[k]}
            trials.append(_Trial(power, course, {k: kept for k, kept in answers.items() if k in whole}))
    first, chosen, share = trials[0], trials[0], 1.0
    common = min(len(trial.course) for trial in trials)
    if common:
        best = min(trials, key=lambda trial: trial.course[common - 1])
        if best.course[common - 1] < options.trial_gain * first.course[common - 1]:
            chosen, share = best, best.course[common - 1] / first.course[common - 1]
    programme.power = chosen.power
    cover.reinstate(chosen.answers)
    return share


class _Trial(NamedTuple):
    """What came of one power: cost for each question answered, after one question after the other, and the answers."""

    power: float
    course: list[float]
    answers: dict[int, tuple[Witness, ...]]
