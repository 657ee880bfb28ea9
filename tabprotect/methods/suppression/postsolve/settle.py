"""Where exact arithmetic does not find a level reached that floating point took for reached, more is hidden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tabprotect.attack.exposure import Exposure
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.merge import with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget

__all__ = ["settle"]


def settle(
    result: SuppressionResult,
    exposures: Sequence[Exposure],
    tight: float,
    budget: Budget,
    options: Options = DEFAULTS,
) -> SuppressionResult | None:
    """Hide what some levels need to be reached with room to spare.

    Parameters
    ----------
    result : SuppressionResult
        Whose search calls the pattern safe.
    exposures : sequence of Exposure
        What an audit of that pattern found exposed, or could not decide.
    tight : float
        The levels in question have to be reached although no cell moves further than 1 - tight of what its external
        bounds allow (but for levels beyond that), so that deviations are left which exact arithmetic can find.
    budget : Budget
    options : Options

    Returns
    -------
    SuppressionResult or None
        With the cells of the pattern and others hidden, for the audit to judge; None if no more cells help or a limit
        ends the search for them.

    Examples
    --------
    Cell 2 can go down by a hair less than cell 1 has to go up:

    >>> from tabprotect.attack.audit import audit
    >>> from tabprotect.methods.suppression import suppress
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2, weights=[20, 9, 1, 5],
    ...     lower=[0, 0, 4 + 1e-8, 0])
    >>> result = suppress(p)
    >>> result.suppressed.tolist(), [e.key.side for e in audit(p, result.pattern).exposures]
    ([1, 2], [1])
    >>> settled = settle(result, audit(p, result.pattern).exposures, 1e-6, Budget())
    >>> settled.suppressed.tolist(), settled.cost, audit(p, settled.pattern).safe
    ([1, 2, 3], 6.0, True)
    """
    harder = _with_room(result.problem, exposures, tight)
    judge = Witnesses(harder)
    judge.offer_many(result.deviations)
    constructor = Constructor(judge, dismiss=True, options=options.construction)
    pattern = constructor.build(harder.weights, budget, start=result.pattern)
    if pattern is None or np.array_equal(pattern, result.pattern):
        return None
    problem, more = result.problem, int(np.sum(pattern & ~result.pattern))
    cost = problem.cost(pattern)
    note = f"{more} cells are hidden for {len(exposures)} levels that were reached in floating point only"
    settled = replace(
        result.with_message(note),
        pattern=pattern,
        cost=cost,
        status="feasible",
        deviations=(*result.deviations, *judge.known_about(pattern)),
    )
    return settled if result.bound is None else with_bound(settled, result.bound)


def _with_room(problem: Problem, exposures: Sequence[Exposure], tight: float) -> Problem:
    """Return the problem with these questions alone and narrower bounds; no bound comes below a level."""
    levels = {1: problem.upl, -1: problem.lpl, 0: problem.spl}
    asked = {side: np.zeros(problem.n_cells) for side in levels}
    for cell, side in {(e.key.cell, e.key.side) for e in exposures}:
        asked[side][cell] = levels[side][cell]
    up = np.minimum(problem.up, np.maximum(problem.up * (1 - tight), np.maximum(asked[1], asked[0])))
    down = np.minimum(problem.down, np.maximum(problem.down * (1 - tight), np.maximum(asked[-1], asked[0])))
    return replace(
        problem,
        upl=asked[1],
        lpl=asked[-1],
        spl=asked[0],
        lower=problem.values - down,
        upper=problem.values + up,
    )
