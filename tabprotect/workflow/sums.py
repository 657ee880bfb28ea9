"""Suppression when sums of hidden cells have to be protected, too: search, look which sums appear, search again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack.pool import Deviation
from tabprotect.attack.sums import with_sums
from tabprotect.methods.registry import PASSES
from tabprotect.methods.suppression import suppress
from tabprotect.methods.suppression.large.stages import local_in_stages
from tabprotect.methods.suppression.linked import suppress_linked
from tabprotect.methods.suppression.merge import with_bound_of
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.first import first_results
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.strategy import (
    EXACT_CELLS,
    SMALL_CELLS,
    because,
    begins_locally,
    by_root_solve,
    choose,
)
from tabprotect.methods.suppression.suppress import CLASSIC
from tabprotect.problem import Problem
from tabprotect.sensitivity.unions import UnionExposure
from tabprotect.solver.limits import Budget
from tabprotect.solver.tasks.pieces import Means
from tabprotect.workflow.monotone import one_progress

__all__ = ["Answer", "suppress_with_sums"]

LINKED = "linked"
"""What 'auto' does with linked tables: passes, and the exact engine from there."""

Exposed = Callable[[SuppressionResult], tuple[UnionExposure, ...]]

SLICE = 0.3
"""Part of the limits for a first safe pattern with its sums; it mostly takes much less, and everything hidden is judged
at once."""

OWN_SHARE = 0.6
"""Part of the limits after which a search that has no pattern yet goes on from that one, in tables that are large."""

FIRST_SHARE = 0.8
"""Part of the limits that the first safe pattern may use; it ends by itself, as a rule long before."""

LINKED_SHARE = 0.6
"""Part of the limits for linked tables before their sums are looked at."""

SHARE = 0.6
"""Part of what is left that one exact search may use; another one may be needed after it."""

TIDY_SHARE = 0.4
"""Part of what is left that may go into making a pattern cheaper that was completed for its sums: as a rule it gives
away others, which need the same again."""

GRACE_SECONDS = 20.0
"""What completing a pattern to a safe one may take after a time limit or a stop."""

ROUND_TIME = 5.0
"""What is left to do after a pattern was completed for its sums takes so many times as long as looking for sums."""

MOST_ROUNDS = 20
"""Rounds of protecting sums, each of which may make further sums computable."""

EXACT_ROUNDS = 3
"""Exact searches, each with the sums that the pattern before it would have given away."""


@dataclass(frozen=True, eq=False)
class Answer:
    """A result, the problem it solves (with sums as cells of their own), and the sums that are still exposed."""

    problem: Problem
    result: SuppressionResult
    sums: tuple[UnionExposure, ...]


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
    """
    with one_progress(budget, looks=repair) as progress:

        def look(result: SuppressionResult) -> tuple[UnionExposure, ...]:
            sums = exposed(result)
            if progress is not None and result.safe and not sums:
                progress.found(result.cost, result.bound)
            return sums

        answer = _search(problem, look, budget, repair, method, seed, engine, solver, means or Means(), tables or {})
    return replace(answer, result=replace(answer.result, seconds=budget.seconds, work=budget.work))


def _search(
    problem: Problem,
    exposed: Exposed,
    budget: Budget,
    repair: bool,
    method: str,
    seed: int,
    engine: str,
    solver: str | None,
    means: Means,
    tables: Mapping[str, npt.NDArray[np.int64]],
) -> Answer:
    how = {"engine": engine, "solver": solver}
    linked = method == "auto" and bool(tables) and engine == "scip" and SMALL_CELLS < problem.n_cells <= EXACT_CELLS
    near = method == "local" or (method == "auto" and not linked and _near(problem))
    rounds = _Rounds(exposed, budget, seed, how, means, near, tables)
    wanted = repair and method in ("auto", "exact") and engine == "scip" and not means and not linked
    large = problem.n_cells > SMALL_CELLS
    root = rounds.root(problem) if wanted and not large else None
    held = rounds.hold(problem, repair) if root is None else None
    if wanted and large:
        root = rounds.root(problem)
    if root is not None:
        return better_of(_cheaper(rounds, root, method), held, problem, rounds.bounds)
    own = OWN_SHARE if held is not None and held.result.safe and large else 1.0
    answer = _from_scratch(rounds, problem, method, linked, repair, own)
    if own < 1.0 and not _is_answer(answer) and answer.result.status != "infeasible" and not budget.exhausted:
        assert held is not None
        answer = rounds.close(held.problem, held.result, 1.0, restarts=0)
    return better_of(answer, held, problem, rounds.bounds, own=method in CLASSIC or method == PASSES)


def _from_scratch(rounds: _Rounds, problem: Problem, method: str, linked: bool, repair: bool, share: float) -> Answer:
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


def _is_answer(found: Answer) -> bool:
    """Whether a pattern is safe, its sums included."""
    return found.result.safe and not found.sums


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
    if not _is_answer(held):
        # named cells that nothing protects say more than a search that ran out of time
        return held if held.result.status == "infeasible" and found.result.status == "unknown" else found
    cost, paid = found.result.cost, held.result.cost
    assert paid is not None
    if _is_answer(found) and cost is not None and (cost <= paid or own):
        return found
    result = replace(held.result, stopped=found.result.stopped)
    for other in (found.result, *bounds):
        if other.problem is problem or other.problem is held.problem:
            result = replace(with_bound_of(result, other), method=held.result.method)
    return replace(held, result=result)


def _near(problem: Problem) -> bool:
    """Whether `auto` begins with local programmes."""
    return choose(problem)[0] == "local" or begins_locally(problem)


def _cheaper(rounds: _Rounds, best: Answer, method: str) -> Answer:
    """Look for cheaper patterns and a bound, from a pattern that gives no sums away."""
    if not best.result.safe or best.sums or (rounds.holds and rounds.budget.exhausted):
        return best
    for _ in range(EXACT_ROUNDS):
        start = best.result if rounds.how["engine"] != "pyomo" else None
        result = rounds.run(best.problem, method, SHARE, start)
        sums = rounds.look(result)
        if result.safe and not sums:
            return replace(best, result=with_bound_of(result, best.result))
        best = replace(best, result=with_bound_of(best.result, result))
        if not sums or rounds.budget.exhausted:
            break
        grown = rounds.grow(best.problem, sums)
        better = rounds.close(grown, _extended(result, grown), TIDY_SHARE, restarts=0)
        if not better.result.safe or better.sums:
            break
        best = replace(better, result=with_bound_of(better.result, best.result))
    return best


def _linked(rounds: _Rounds, problem: Problem, repair: bool, share: float) -> Answer:
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


def _once(rounds: _Rounds, problem: Problem, method: str, share: float) -> Answer:
    """One search, then what the sums need."""
    result = rounds.run(problem, method, share)
    sums = rounds.look(result)
    if not sums:
        return Answer(problem, result, sums)
    grown = rounds.grow(problem, sums)
    closed = rounds.close(grown, _extended(result, grown), TIDY_SHARE, restarts=0)
    name = f"{result.method}, sums by {closed.result.method}"
    return replace(closed, result=replace(with_bound_of(closed.result, result), method=name))


@dataclass
class _Rounds:
    exposed: Exposed
    budget: Budget
    seed: int
    how: dict[str, Any]
    means: Means
    near: bool
    tables: Mapping[str, npt.NDArray[np.int64]]
    looking: float = 0.0
    """Seconds that looking for sums took the last time."""
    bounds: list[SuppressionResult] = field(default_factory=list)
    """Results of searches that gave a bound."""
    holds: bool = False
    """Whether a safe pattern is in hand, so that nothing may take longer than the limits."""

    def hold(self, problem: Problem, repair: bool) -> Answer | None:
        """Return a first safe pattern, its sums protected; what cannot be protected; None where a slice is too short.

        Where everything hidden gives no sums away that is the pattern in hand, until a cheaper one with its sums is.
        """
        held: Answer | None = None
        start: SuppressionResult | None = None
        with self.budget.part(SLICE) as whole:
            for _ in range(MOST_ROUNDS):
                answers = self._held(problem, whole, start, held is None or not _is_answer(held))
                if answers and (_is_answer(answers[-1]) or held is None or not held.result.safe):
                    held = next((a for a in reversed(answers) if _is_answer(a)), answers[-1])
                if not answers or not answers[-1].sums or not repair or whole.exhausted:
                    break
                problem = self.grow(problem, answers[-1].sums)
                start = _extended(answers[-1].result, problem)
        self.holds = held is not None and _is_answer(held)
        return held

    def _held(
        self, problem: Problem, budget: Budget, start: SuppressionResult | None, everything: bool
    ) -> list[Answer]:
        """Return the first patterns of a problem, with the sums that they give away."""
        found = []
        for result in first_results(problem, budget, start):
            if everything or not result.pattern[problem.may_hide].all():
                found.append(Answer(problem, result, self.look(result)))
                self.budget.report("first pattern", result.cost)
        return found

    def look(self, result: SuppressionResult) -> tuple[UnionExposure, ...]:
        """Return the sums that a result gives away."""
        before = self.budget.seconds
        sums = self.exposed(result) if result.safe else ()
        self.looking = self.budget.seconds - before
        return sums

    def run(
        self, problem: Problem, method: str, share: float = 1.0, start: SuppressionResult | None = None
    ) -> SuppressionResult:
        """Search within a share of what is left."""
        with self.budget.run(share) as part:
            if method in (PASSES, LINKED):
                together = EXACT_CELLS if method == LINKED else 0
                means = self.means if self.means else None
                result = suppress_linked(
                    problem, self.tables, limits=part, seed=self.seed, together=together, means=means
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
                    **self.how,
                )
        if result.bound is not None:
            self.bounds.append(result)
        return result

    def root(self, problem: Problem) -> Answer | None:
        """Return the pattern of the root solve, its sums protected; None where that finds none within a moment."""
        result = by_root_solve(problem, self.budget, "scip")
        if not result.safe:
            return None
        sums = self.look(result)
        if not sums:
            return Answer(problem, result, ())
        grown = self.grow(problem, sums)
        return self.close(grown, _extended(result, grown), TIDY_SHARE, restarts=0)

    def grow(self, problem: Problem, sums: tuple[UnionExposure, ...]) -> Problem:
        self.budget.report("sums", message=f"{len(sums)} sums of hidden cells are protected, too")
        return with_sums(problem, sums, self.budget)

    def close(self, problem: Problem, start: SuppressionResult | None, share: float, *, restarts: int) -> Answer:
        """Make patterns quickly until none of the sums that they give away is sensitive."""
        first = start is None
        for _ in range(MOST_ROUNDS):
            # the pattern in hand is not safe, and an answer is worth a moment
            with self._within(share, first) as (part, tidy):
                result = self._quickly(problem, start, part, restarts, tidy)
            sums = self.look(result)
            if not sums:
                break
            problem = self.grow(problem, sums)
            start, restarts, first = _extended(result, problem), 0, False
        return Answer(problem, result, sums)

    def _quickly(
        self, problem: Problem, start: SuppressionResult | None, part: Budget, restarts: int, tidy: float
    ) -> SuppressionResult:
        pattern = None if start is None else start.pattern
        shared: dict[str, Any] = {"limits": part, "seed": self.seed, "start": pattern, "means": self.means}
        if self.near:
            deviations = () if start is None else start.deviations
            return local_in_stages(problem, passes=0, deviations=deviations, **shared)
        return greedy(problem, restarts=restarts, tidy=tidy, **shared)

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
        seconds, tidy = None, 1.0 if share else 0.0
        if own.work is not None:
            tidy = share * budget.work_left / max(1, own.work)
        elif own.seconds is not None:
            left = share * max(0.0, budget.seconds_left - ROUND_TIME * self.looking)
            seconds = max(min(GRACE_SECONDS, budget.seconds_left) if self.holds else GRACE_SECONDS, left)
            tidy = min(1.0, left / seconds) if seconds else 0.0
        with budget.beyond(seconds, own.work) as part:
            yield part, tidy


def _extended(result: SuppressionResult, problem: Problem) -> SuppressionResult:
    """Return what was found for a problem before its last sums, which are hidden anyway, as found with them."""
    before, n = result.problem.system.n_equations, result.problem.n_cells
    more = problem.n_cells - n
    pattern = np.concatenate([result.pattern, np.ones(more, dtype=bool)])
    members = problem.system.A[before:, :n]
    known = result.deviations
    ends = np.cumsum([0, *(len(d.cells) for d in known)])
    cells, z = (np.concatenate([np.zeros(0, t), *(d[k] for d in known)]) for k, t in ((0, np.int64), (1, np.float64)))
    moved = sparse.csr_array((z, cells, ends), shape=(len(known), n))
    moved = sparse.csr_array(sparse.hstack([moved, moved @ members.T]))
    moved.sum_duplicates()
    moved.eliminate_zeros()
    parts = zip(moved.indptr[:-1].tolist(), moved.indptr[1:].tolist(), strict=True)
    deviations = tuple(Deviation(moved.indices[i:j].astype(np.int64), moved.data[i:j]) for i, j in parts)
    return replace(result, problem=problem, pattern=pattern, deviations=deviations)
