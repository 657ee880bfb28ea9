"""Suppression when sums of hidden cells have to be protected, too: search, look which sums appear, search again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.methods.registry import PASSES
from tabprotect.methods.suppression.choice import begins, choose
from tabprotect.methods.suppression.lower_bound import with_lower_bound
from tabprotect.methods.suppression.merge import with_bound_of
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import with_stop_reason
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.strategy import because
from tabprotect.methods.suppression.suppress import CLASSIC, UNBOUNDED
from tabprotect.problem import Problem
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.solver.limits import Budget
from tabprotect.solver.monotone import one_progress
from tabprotect.solver.tasks.pieces import Means
from tabprotect.workflow.extended import extended
from tabprotect.workflow.first_answer import first_incumbent
from tabprotect.workflow.rounds import CLEANUP_SHARE, LINKED, Answer, Exposed, Rounds, is_answer

__all__ = ["Answer", "suppress_with_sums"]

OWN_SHARE = 0.6
"""Part of the limits after which a search that has no pattern yet goes on from that one, in tables that are large."""

FIRST_SHARE = 0.8
"""Part of the limits that the first safe pattern may use; it ends by itself, as a rule long before."""

LINKED_SHARE = 0.6
"""Part of the limits for linked tables before their sums are looked at."""

SHARE = 0.6
"""Part of what is left that one exact search may use; another one may be needed after it."""

EXACT_ROUNDS = 20
"""Exact searches, each with the sums that the pattern before it would have given away; as a rule a handful."""

MANY_SUMS = f"no more than {EXACT_ROUNDS} searches were made, and each gave away further sums of hidden cells"


def suppress_with_sums(
    problem: Problem,
    exposed: Exposed,
    budget: Budget,
    *,
    repair: bool = True,
    method: str = "auto",
    seed: int = 0,
    engine: str = "scip",
    solver: str | None = None,
    means: Means | None = None,
    tables: Mapping[str, npt.NDArray[np.int64]] | None = None,
    options: Options = DEFAULTS,
) -> Answer:
    """Suppress until no sensitive sum of hidden cells can be computed.

    First a quick pattern is made, with all sums protected that it gives away. The exact engine starts from it. Where
    the cheaper pattern that it finds gives away other sums, these become cells of the problem as well and the search
    goes on; when the limits end that, the last pattern without exposed sums is returned with the bound of its problem.

    Parameters
    ----------
    problem : Problem
    exposed : callable
        Tells which sensitive sums a safe result gives away.
    budget : Budget
        Shared by all rounds.
    repair : bool
        False: one search, and the sums that it gives away are only reported.
    method, seed, engine, solver
        As in `tabprotect.suppress`; and 'passes', for linked tables (`suppress_linked`).
    means : Means, optional
        Where independent pieces are worked on, and where their answers are kept.
    tables : mapping of str to ndarray of int, optional
        The cells of each of several linked tables.
    options : Options
        Of the suppression methods.
    """
    with one_progress(budget, looks=repair) as progress:

        def look(result: SuppressionResult, budget: Budget | None) -> tuple[UnionExposure, ...]:
            sums = exposed(result, budget)
            if progress is not None and result.safe and not sums:
                progress.found(result.cost, result.bound)
            return sums

        means = means or Means()
        unbounded = method in UNBOUNDED or method == PASSES
        with budget.part(1 - options.schedule.bound_limit_share) if unbounded else nullcontext(budget) as part:
            linked = method == "auto" and bool(tables) and engine == "scip" and _passes_first(problem, options)
            near = method == "local" or (method == "auto" and not linked and _near(problem, options))
            how = {"engine": engine, "solver": solver}
            rounds = Rounds(look, part, seed, how, means, near, tables or {}, options, budget.limits.seconds)
            answer = _after_the_limits(rounds, problem, _answer(rounds, problem, method, linked, repair), repair)
            answer = rounds.with_stop_reason(answer)
        result = with_lower_bound(answer.result, budget, means.executor, options)
    result = with_stop_reason(result, budget) if result.safe else result
    return replace(answer, result=replace(result, seconds=budget.seconds, work=budget.work))


def _passes_first(problem: Problem, options: Options) -> bool:
    """Whether linked tables are of a size for passes, and the exact engine from there."""
    choice = options.choice
    return choice.whole_cells < problem.n_cells <= choice.never_exact_cells


def _after_the_limits(rounds: Rounds, problem: Problem, found: Answer, repair: bool) -> Answer:
    """Return the first safe pattern after the limits where there was none within them."""
    budget = rounds.budget
    if found.result.status != "unknown" or budget.stopped in ("cancelled", "memory"):
        return found
    late = first_incumbent(rounds, problem, repair, late=True)
    if late is None or not (is_answer(late) or late.result.status == "infeasible"):
        return found
    return replace(late, result=replace(late.result, stopped=found.result.stopped or budget.stopped))


def _answer(rounds: Rounds, problem: Problem, method: str, linked: bool, repair: bool) -> Answer:
    """Search from the pattern of a root solve or from scratch, with a first safe pattern in hand."""
    budget, choice = rounds.budget, rounds.options.choice
    wanted = (
        repair and method in ("auto", "exact") and rounds.how["engine"] == "scip" and not rounds.means and not linked
    )
    large = problem.n_cells > choice.whole_cells
    root = rounds.root(problem) if wanted and not large else None
    held = first_incumbent(rounds, problem, repair) if root is None else None
    if wanted and large:
        root = rounds.root(problem)
    if root is not None:
        return better_of(_cheaper(rounds, root, method), held, problem, rounds.bounds)
    # from everything hidden there is nothing to go on from
    partly = held is not None and held.result.safe and not held.result.pattern[held.problem.may_hide].all()
    own = OWN_SHARE if partly and large else 1.0
    answer = _from_scratch(rounds, problem, method, linked, repair, own)
    if own < 1.0 and not is_answer(answer) and answer.result.status != "infeasible" and not budget.exhausted:
        assert held is not None
        answer = rounds.close(held.problem, held.result, 1.0, restarts=0)
    if not repair and answer.result.safe:
        return answer
    return better_of(answer, held, problem, rounds.bounds, own=method in CLASSIC or method == PASSES)


def _from_scratch(rounds: Rounds, problem: Problem, method: str, linked: bool, repair: bool, share: float) -> Answer:
    """Search by a method, as if there were no pattern yet; until it finds one, within a share of the limits."""
    if linked:
        return _linked(rounds, problem, repair, share)
    if not repair:
        result = rounds.run(problem, method, share)
        return Answer(problem, result, rounds.look(result))
    if method in CLASSIC or method == PASSES:
        return _once(rounds, problem, method, min(share, FIRST_SHARE))
    quick = method == "greedy"
    first = min(share, 1.0 if quick else FIRST_SHARE)
    best = rounds.close(problem, None, first, restarts=10 if quick else 0)
    return best if quick else _cheaper(rounds, best, method)


def better_of(
    found: Answer,
    held: Answer | None,
    problem: Problem,
    bounds: Sequence[SuppressionResult] = (),
    *,
    own: bool = False,
) -> Answer:
    """Return what a search found, or the pattern in hand where that is cheaper, or the only safe one.

    Parameters
    ----------
    found : Answer
    held : Answer or None
        Found before.
    problem : Problem
        Without sums: a bound of it holds for the pattern in hand, too, as does one of the problem which that solves.
    bounds : sequence of SuppressionResult
        Other results with a bound.
    own : bool
        A safe pattern that was found is returned, whatever it costs: it is that of a method which was asked for.
    """
    if held is None or found.result.status == "infeasible":
        return found
    if not is_answer(held):
        # named cells that nothing protects say more than a search that ran out of time
        return held if held.result.status == "infeasible" and found.result.status == "unknown" else found
    cost, paid = found.result.cost, held.result.cost
    assert paid is not None
    if is_answer(found) and cost is not None and (cost <= paid or own):
        return found
    result = replace(held.result, stopped=found.result.stopped)
    for other in (found.result, *bounds):
        if other.problem is problem or other.problem is held.problem:
            result = replace(with_bound_of(result, other), method=held.result.method)
    return replace(held, result=result)


def _near(problem: Problem, options: Options) -> bool:
    """Whether `auto` begins with local programmes."""
    return choose(problem, options)[0] == "local" or begins(problem, options) == "local"


def _cheaper(rounds: Rounds, best: Answer, method: str) -> Answer:
    """Look for cheaper patterns and a bound, from a pattern that gives no sums away."""
    if not best.result.safe or best.sums or (rounds.has_incumbent and rounds.budget.exhausted):
        return best
    share = SHARE
    for _ in range(EXACT_ROUNDS):
        start = best.result if rounds.how["engine"] != "pyomo" else None
        result = rounds.run(best.problem, method, share, start)
        sums = rounds.look(result)
        if result.safe and not sums:
            best = replace(best, result=with_bound_of(result, best.result))
            share = rounds.share_to_go_on(best.result) if share == SHARE else 0.0
            if not share:
                return best
            continue
        best = replace(best, result=with_bound_of(best.result, result))
        if not sums or rounds.budget.exhausted:
            break
        share, grown = SHARE, rounds.grow(best.problem, sums)
        better = rounds.close(grown, extended(result, grown), CLEANUP_SHARE, restarts=0)
        if not better.result.safe or better.sums:
            break
        best = replace(better, result=with_bound_of(better.result, best.result))
    else:
        best = replace(best, result=best.result.with_message(MANY_SUMS))
    return best


def _linked(rounds: Rounds, problem: Problem, repair: bool, share: float) -> Answer:
    """Passes over linked tables and the exact engine from there, and once more with the sums that are given away."""
    limits = rounds.budget.limits
    if not repair:
        result = rounds.run(problem, LINKED, share)
        best = Answer(problem, result, rounds.look(result))
        names = [result.method]
    else:
        # without limits the exact engine would first go to the end of a problem that is not the last one
        limited = limits.seconds is not None or limits.work is not None
        first = _once(rounds, problem, LINKED if limited else PASSES, min(share, LINKED_SHARE))
        best = first if rounds.budget.exhausted else _cheaper(rounds, first, "exact")
        names = [first.result.method, best.result.method]
    named = replace(best.result, method=", then ".join(dict.fromkeys(names)))
    return replace(best, result=because(named, f"{len(rounds.tables)} tables are linked"))


def _once(rounds: Rounds, problem: Problem, method: str, share: float) -> Answer:
    """One search, then what the sums need."""
    result = rounds.run(problem, method, share)
    sums = rounds.look(result)
    if not sums:
        return Answer(problem, result, sums)
    grown = rounds.grow(problem, sums)
    closed = rounds.close(grown, extended(result, grown), CLEANUP_SHARE, restarts=0)
    name = f"{result.method}, sums by {closed.result.method}"
    return replace(closed, result=replace(with_bound_of(closed.result, result), method=name))
