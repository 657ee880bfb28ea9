"""`local` in stages whose outcome is kept: the first pattern, then rounds that begin with the best pattern so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tabprotect.attack.proof_rows import BoundProof
from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.large import local
from tabprotect.methods.suppression.merge import with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import finish, stopped
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.tasks.pieces import Means
from tabprotect.solver.tasks.store import digest

__all__ = ["local_in_stages", "parts_of"]

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Stage:
    """What a stage leaves; the piece of `Means`."""

    pattern: Bools | None
    cost: float
    bound: float
    proof: BoundProof | None
    optimal: bool
    work: int
    stopped: str
    deviations: tuple[Deviation, ...]


def parts_of(problem: Problem) -> tuple[Any, ...]:
    """Return what an answer depends on: everything but the labels."""
    mine = [getattr(problem, field.name) for field in fields(problem) if field.name != "system"]
    return (problem.system.A, problem.system.b, *mine)


def local_in_stages(
    problem: Problem,
    *,
    means: Means,
    limits: Limits | Budget | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    start: Bools | None = None,
    passes: int | None = None,
    engine: str = "scip",
    deviations: Sequence[Deviation] = (),
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Do what `local` does, in stages that are kept in the folder of `means`; without one, in one go.

    Parameters
    ----------
    means : Means
        Stages build on each other; an executor is of use within them.
    problem, limits, seed, progress, start, passes, engine, deviations, options
        As for `local`; `passes` may be 0 or None.
    """
    if means.store is None:
        return local(
            problem,
            limits=limits,
            seed=seed,
            progress=progress,
            start=start,
            passes=passes,
            engine=engine,
            deviations=deviations,
            executor=means.executor,
            options=options,
        )
    budget = Budget.of(limits, progress)
    name = digest("local", parts_of(problem), start, tuple(deviations), seed, engine, budget.limits.gap, options)
    best, bound, proof, optimal, work = None, 0.0, None, False, 0
    with cancel_on_interrupt(budget):
        while best is None or (passes is None and not optimal and not _reached(best, bound, budget)):
            if best is not None and budget.exhausted:
                break
            most = budget.work_left if best is None else min(work, budget.work_left)
            name = digest(name, None if math.isinf(most) else int(most))
            from_ = (best.pattern, best.deviations) if best else (start, deviations)
            stage = _stage(problem, budget, means, name, most, seed, *from_, best is None, engine, options)
            if stage is None or stage.pattern is None:
                break
            gain = options.local.search.stage_gain
            still = best is not None and stage.cost > best.cost * (1 - gain) and stage.bound < bound * (1 + gain)
            if best is None or stage.cost < best.cost:
                best = stage
            if stage.proof is not None and stage.bound >= bound:
                bound, proof = stage.bound, stage.proof
            optimal = optimal or stage.optimal
            if still and budget.limits.seconds is None and budget.limits.work is None:
                break
            work = options.local.search.stage_work if not work else 2 * work
        ended = stopped(budget)
        judge = Witnesses(problem)
        judge.offer_many(best.deviations if best else ())
        result = finish(problem, judge, best.pattern if best else None, budget, "local", options)
    result = replace(result, stopped=result.stopped or ended, deviations=judge.known_about(result.pattern))
    if result.cost is None or passes == 0:
        return result
    return with_bound(replace(result, cuts=proof), result.cost if optimal else min(bound, result.cost))


def _reached(best: Stage, bound: float, budget: Budget) -> bool:
    return best.cost - bound <= budget.limits.gap * best.cost


def _stage(
    problem: Problem,
    budget: Budget,
    means: Means,
    name: str,
    most: float,
    seed: int,
    start: Bools | None,
    deviations: Sequence[Deviation],
    first: bool,
    engine: str,
    options: Options,
) -> Stage | None:
    """Do one stage, unless it is kept already; None when the limits left no time."""
    limits = budget.left(work=most)

    def work(_: str) -> Stage:
        passes = 0 if first else None
        found = local(
            problem,
            limits=limits,
            seed=seed,
            progress=budget.progress,
            start=start,
            passes=passes,
            engine=engine,
            deviations=deviations,
            executor=means.executor,
            options=options,
        )
        pattern = None if found.status == "unknown" else found.pattern
        proof = found.cuts if isinstance(found.cuts, BoundProof) else None
        optimal = found.status == "optimal"
        cost = problem.cost(found.pattern)
        bound, used = found.bound or 0.0, found.deviations
        careful, ended = options.local.rebuild.careful_limit_share, found.stopped
        if first and limits.seconds is not None and found.seconds > careful * limits.seconds:
            ended = ended or "time"  # some answers may be rough, which is nothing to keep
        return Stage(pattern, cost, bound, proof, optimal, found.work, ended, used)

    (stage,) = means.answers(work, [name], [name], budget)
    if stage is not None:
        budget.spend(stage.work)
    return stage
