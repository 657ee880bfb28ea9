"""From any pattern to a safe one: what is still exposed is repaired, what is hidden without need is taken back."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import finish
from tabprotect.methods.suppression.presolve.parts import Part
from tabprotect.methods.suppression.presolve.reduce import reduce_problem
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.start.bulk import from_everything
from tabprotect.methods.suppression.start.cleanup import clean
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget

__all__ = ["complete"]

Bools = npt.NDArray[np.bool_]


def complete(
    problem: Problem,
    pattern: Bools,
    budget: Budget,
    method: str,
    *,
    repair: Budget | None = None,
    witnesses: Iterable[Deviation] = (),
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Make a safe pattern of one that need not be: cheapest witnesses for what it leaves open, then clean-up.

    Parameters
    ----------
    problem : Problem
    pattern : ndarray of bool
        Cells hidden to begin with.
    budget : Budget
        Any-time once a safe pattern is there; at a limit before that the status is 'unknown'.
    method : str
        Name for the result.
    repair : Budget, optional
        Another one for the safe pattern; `budget` has what is left of it for the clean-up.
    witnesses : iterable of Deviation
        What the pattern was built on, to spare the judge that work.
    options : Options

    Returns
    -------
    SuppressionResult
        Judged on the whole problem; without a bound.
    """
    judge, repair = Witnesses(problem), repair or budget
    judge.offer(*witnesses)
    reduction = reduce_problem(problem)
    start = pattern & problem.may_hide
    opened = int((start & ~problem.must_hide).sum())
    budget.report(method, message=f"{opened} cells hidden before the repair")
    built: list[tuple[Part, Constructor, Bools]] = []
    # everything is made safe before anything is made cheaper
    for core, hint in zip(reduction.cores, reduction.patterns(start), strict=True):
        part = Part(core)
        constructor = Constructor(Witnesses(part.problem), dismiss=True, options=options.construction)
        with repair.part(options.finish.build_limit_share) as share:
            x = constructor.build(part.problem.weights, share, start=hint)
        if x is None:
            x = from_everything(constructor.judge, repair, options.finish.bulk_limit_share, options.construction)
        if x is None:
            # with time left some levels are out of reach: which ones is for the end to say
            return finish(problem, judge, None if repair.exhausted else problem.may_hide, repair, method, options)
        built.append((part, constructor, x))
    patterns: list[Bools] = []
    for left, (part, constructor, x) in zip(range(len(built), 0, -1), built, strict=True):
        ignore = constructor.is_unattainable if constructor.unattainable else None
        with budget.part(1 / left) as share:
            x = clean(constructor.judge, x, share, ignore=ignore, options=options.construction)
        judge.offer_all(part.lift(constructor.judge.deviations(x)))
        patterns.append(x)
        budget.report(method, message=f"{left - 1} parts to clean up")
    return finish(problem, judge, reduction.pattern(patterns), budget, method, options)
