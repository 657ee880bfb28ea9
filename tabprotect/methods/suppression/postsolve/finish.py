"""The end of every search: a pattern judged on the problem itself, repaired where that is possible, and reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.exposure import Exposure
from tabprotect.attack.witness import Witnesses
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.presolve.unprotectable import explain, out_of_reach
from tabprotect.methods.suppression.result import SolveStatus, SuppressionResult, Unprotectable
from tabprotect.methods.suppression.start.construct import Constructor
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget, Limits

__all__ = ["finish", "near_enough", "stopped", "with_stop_reason"]

Bools = npt.NDArray[np.bool_]


def finish(
    problem: Problem,
    judge: Witnesses,
    pattern: Bools | None,
    budget: Budget,
    method: str,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Judge a pattern on the problem itself, repair it where that is possible, and say what was reached.

    The judgement is not subject to the limits: what leaves here as safe has been checked to the end. Repairs, and
    proofs that there are none, take what is left of the limits, or `options.finish.grace_seconds` seconds.
    """
    hidden = problem.must_hide if pattern is None else pattern | problem.must_hide
    messages = [] if pattern is not None else ["no safe pattern was found within the limits"]
    status: SolveStatus = "unknown"
    unprotectable: tuple[Unprotectable, ...] = ()
    if pattern is not None:
        exposed = judge.check(hidden)
        status = "feasible"
        if exposed:
            after = _after(budget, options.finish.grace_seconds)
            hidden, exposed, lost = _repaired(problem, judge, hidden, exposed, after, options)
            left = len(exposed) - len(lost)
            if lost:
                hidden = _keep_sliding(problem, lost, hidden, after, options)
                unprotectable = explain(problem, lost, after)
                messages.append(
                    f"{len({u.cell for u in unprotectable})} primary cells cannot be protected by any pattern"
                )
            if left:
                why = "when the limits ended the work" if after.exhausted else "within floating-point accuracy"
                messages.append(f"{left} {'other ' if lost else ''}protection levels are not reached {why}")
            status = "infeasible" if lost else "unknown" if left else "feasible"
    safe = status == "feasible"
    return SuppressionResult(
        problem,
        hidden,
        status,
        safe,
        problem.cost(hidden) if safe else None,
        None,
        unprotectable,
        method,
        budget.seconds,
        budget.work,
        "; ".join(messages),
        stopped=stopped(budget),
    )


def _after(budget: Budget, grace: float) -> Budget:
    """Return what may be spent once a search is over; it ends when somebody cancels only now, too."""
    ended = stopped(budget) in ("cancelled", "memory")
    left = 0.0 if ended else budget.seconds_left
    seconds = None if left == float("inf") else max(left, grace)
    return Budget(Limits(seconds, stop=lambda: not ended and budget.exhausted and budget.cancelled))


def _repaired(
    problem: Problem,
    judge: Witnesses,
    hidden: Bools,
    exposed: tuple[Exposure, ...],
    budget: Budget,
    options: Options,
) -> tuple[Bools, tuple[Exposure, ...], list[Exposure]]:
    """Return a pattern, what it leaves exposed, and which of that no pattern protects."""
    lost = out_of_reach(problem, [e.key for e in exposed], budget)
    if len(lost) < len(exposed) and not budget.exhausted:
        repaired = Constructor(judge, options=options.construction).build(problem.weights, budget, start=hidden)
        if repaired is not None:
            hidden, exposed = repaired, judge.check(repaired)
            # what is hidden from the public now may still be computed by an attacker
            lost = out_of_reach(problem, [e.key for e in exposed], budget)
    return hidden, exposed, lost


def _keep_sliding(problem: Problem, lost: list[Exposure], hidden: Bools, budget: Budget, options: Options) -> Bools:
    """Hide what a sliding level asks for that a lost level on one side had implied."""
    cells = np.unique([e.key.cell for e in lost])
    if not np.any(problem.spl[cells] > 0):
        return hidden
    lpl, upl = problem.lpl.copy(), problem.upl.copy()
    for key in (e.key for e in lost):
        if key.side:
            (upl if key.side > 0 else lpl)[key.cell] = 0.0
    rest = Witnesses(replace(problem, lpl=lpl, upl=upl))
    if not rest.check(hidden, budget):
        return hidden
    constructor = Constructor(rest, dismiss=True, options=options.construction)
    repaired = constructor.build(problem.weights, budget, start=hidden)
    return hidden if repaired is None else repaired


def stopped(budget: Budget) -> str:
    """Return what ended the work of a budget; empty when nothing did."""
    return budget.stopped if budget.exhausted else ""


def near_enough(result: SuppressionResult, budget: Budget) -> bool:
    """Whether the bound of a result is as near to its cost as was asked for."""
    return result.status == "optimal" or (result.gap is not None and result.gap <= budget.limits.gap)


def with_stop_reason(result: SuppressionResult, budget: Budget) -> SuppressionResult:
    """Return a result that says what ended the work, where that left more of a gap than was asked for."""
    if result.stopped or result.status == "infeasible" or near_enough(result, budget):
        return result
    return replace(result, stopped=stopped(budget))
