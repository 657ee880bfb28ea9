"""What cells are charged while deviations are looked for: by what they cost, or also by how far they can move."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
        Powers and trials. The first power holds where the limits end a trial, or another gains little of the cost for
        each question that is answered.
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
    found: list[tuple[float, float, dict[int, tuple[Witness, ...]]]] = []
    with budget.part(options.trial_limit_share) as part:
        for power in options.charge_powers:
            programme.power = power
            for k in some:
                if not cover.relies[k] and not part.exhausted:
                    answer(k, part)
            cost = cover.cost
            answers = {k: cover.release(k) for k in order if cover.relies[k]}
            found.append((cost / max(1, len(answers)), power, answers))
        whole = not part.exhausted
    first, best = found[0], min(found, key=lambda one: one[0])
    chosen = best if whole and best[0] < options.trial_gain * first[0] else first
    _, programme.power, answers = chosen
    cover.reinstate(answers)
    return chosen[0] / first[0] if chosen is not first else 1.0
