"""Suppression in large tables: a safe pattern within minutes for a million cells, then better ones, with a bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.large.bound import LocalBound
from tabprotect.methods.suppression.large.cover import Cover, Witness
from tabprotect.methods.suppression.large.insiders import Insiders
from tabprotect.methods.suppression.large.nearby import Nearby
from tabprotect.methods.suppression.large.rebuild import Rebuilder
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.large.warm_start import adopt
from tabprotect.methods.suppression.large.windows import Windows
from tabprotect.methods.suppression.merge import NOTHING_FOUND, with_bound
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.methods.suppression.postsolve.finish import finish, stopped
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.problem import Problem
from tabprotect.solver.credit import Credit, is_first
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.tasks.pieces import Means, processors
from tabprotect.solver.tolerances import OPTIMAL

__all__ = ["charge_power", "local"]

Bools = npt.NDArray[np.bool_]


def local(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int = 0,
    progress: Callable[[Progress], None] | None = None,
    start: Bools | None = None,
    passes: int | None = None,
    engine: str = "scip",
    deviations: Sequence[Deviation] = (),
    executor: Executor | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Protect by cheapest deviations within a few equations of each primary, and bound the cost by attacks as narrow.

    Whatever is done costs as much as its neighbourhood, not as the table. The pattern is the union of one deviation a
    question, so it is safe at every moment; better patterns come from taking a secondary away and answering anew the
    questions that relied on it (ruin and recreate). The bound is that of `LocalBound`, with its proof in `cuts`. In the
    end the whole pattern is judged on the whole system.

    Parameters
    ----------
    problem : Problem
    limits : Limits or Budget, optional
        Any-time. Without limits the search ends when a pass over all secondaries gained less than a thousandth.
    seed : int
    progress : callable, optional
    start : ndarray of bool, shape (cells,), optional
        Cells hidden to begin with; those that no question relies on are published again. A safe pattern is returned
        as it is when nothing cheaper is found.
    passes : int, optional
        How often every secondary is tried again after the first pattern (0: the first pattern, without a bound).
    engine : {'scip', 'highs'}
        What solves small windows of the pattern exactly.
    deviations : sequence of Deviation
        What is known of the pattern to start from (`SuppressionResult.deviations`), so that it need not be found again.
    executor : concurrent.futures.Executor, optional
        Solves attacks for the bound side by side; by default they are solved here, one after the other.
        Questions about the pattern are looked at in threads, which share the table: as many as it has workers, at most
        and by default one a processor. The answer depends on none of that, unless the limit is one of time.
    options : Options

    Returns
    -------
    SuppressionResult

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0, 0, 0, 0, 0], [0, 0, 0, -1, 1, 1, 0, 0, 0],
    ...      [0, 0, 0, 0, 0, 0, -1, 1, 1], [-1, 0, 0, 1, 0, 0, 1, 0, 0],
    ...      [0, -1, 0, 0, 1, 0, 0, 1, 0], [0, 0, -1, 0, 0, 1, 0, 0, 1]]
    >>> p = Problem.from_arrays(A, [20, 9, 11, 8, 3, 5, 12, 6, 6], primary=[4], lpl=1, upl=1)
    >>> result = local(p)
    >>> result.suppressed.tolist(), result.cost, round(result.bound, 6)
    ([4, 5, 7, 8], 17.0, 17.0)
    """
    budget = Budget.of(limits, progress)
    with cancel_on_interrupt(budget):
        search = _Search(problem, seed, budget, engine, executor, options)
        if not search.first(start, deviations):
            result = finish(problem, search.judge, _cheapest(search.judge, start, None), budget, "local", options)
            return result if result.safe else replace(result, pattern=search.cover.pattern)
        search.refine()
        if passes != 0:
            search.improve(passes)
        ended = stopped(budget)
        found = _cheapest(search.judge, start, search.last())
        result = finish(problem, search.judge, found, budget, "local", options)
        result = replace(result, deviations=search.known_about(result.pattern))
        bound, proof = (None, None) if passes == 0 else (search.bound.bound, search.bound.proof())
    result = replace(result, stopped=result.stopped or ended)
    if result.cost is None or bound is None:
        return result
    if not bound and result.cost:
        result = replace(result, message="; ".join(filter(None, (result.message, NOTHING_FOUND))))
    return with_bound(replace(result, cuts=proof), bound)


def charge_power(problem: Problem, budget: Budget, options: Options = DEFAULTS) -> tuple[float, float]:
    """Return how `local` would charge cells, chosen by trial, and what is hidden so, as a share of the first power.

    Parameters
    ----------
    problem : Problem
    budget : Budget
        Of which a trial takes a share (`RebuildOptions`).
    options : Options

    Returns
    -------
    power : float
        Of how far a cell can move, by which its charge is divided.
    share : float
    """
    search = _Search(problem, 0, budget, "scip", None, options)
    search.known_before()
    share = search.rebuilder.choose_charges(budget)
    return search.rebuilder.nearby.programme.power, share


def _cheapest(judge: Witnesses, start: Bools | None, found: Bools | None) -> Bools | None:
    """Return the pattern to start from where it is safe and nothing cheaper was found."""
    if start is None:
        return found
    problem = judge.problem
    whole = start | problem.must_hide
    if found is not None and problem.cost(found | problem.must_hide) <= problem.cost(whole):
        return found
    return found if judge.check(whole, stop_at_first=True) else start


class _Search:
    """One run of `local`."""

    def __init__(
        self,
        problem: Problem,
        seed: int,
        budget: Budget,
        engine: str,
        executor: Executor | None,
        options: Options,
    ) -> None:
        local = options.local
        self._options = local.search
        self.problem = problem
        self.budget = budget
        self.judge = Witnesses(problem)
        near = Surroundings(problem.system)
        self.cover = Cover(problem)
        threads = processors() if executor is None else Means(executor).width
        known = {k: self.judge.known(k) for k in range(len(problem.attackers))}
        self.rebuilder = Rebuilder(self.cover, Nearby(problem, near, local.nearby), known, seed, threads, local)
        self.insiders = Insiders(self.cover, self.rebuilder.nearby, self.judge, known, local.insiders)
        self.windows = Windows(self.rebuilder, near, seed, engine, options)
        self._credit = (Credit(fade=local.search.ruin_fade), Credit(fade=local.search.window_fade))
        self.bound = LocalBound(problem, near, executor, local.bound)
        self.reserve = 0.0
        self._judged_first: Bools | None = None

    def first(self, start: Bools | None, deviations: Sequence[Deviation] = ()) -> bool:
        """Make the first safe pattern; False when the limits ended that."""
        budget, cover = self.budget, self.cover
        self.known_before()
        if start is not None:
            if deviations and adopt(cover, self.judge, self.insiders.known, start, deviations):
                self.insiders.go_on()
            self.rebuilder.reuse(start, budget)
            cover.price[start] *= self._options.start_price
        else:
            self.rebuilder.choose_charges(budget)
        done = self.rebuilder.build(budget)
        if start is not None:
            cover.reset_prices()
        return done and self._judged()

    def known_before(self) -> None:
        """Take the questions that primaries answer for each other as answered."""
        answered = self.judge.sweep(self.problem.must_hide, self.budget)
        nothing = Witness(Deviation(np.zeros(0, np.int64), np.zeros(0)), [], [])
        self.cover.restore(nothing, np.flatnonzero(answered).tolist())

    def _judged(self) -> bool:
        """Answer what the judge finds exposed (attackers with known cells, above all); False at a limit."""
        budget, cover, judging = self.budget, self.cover, 0.0
        for _ in range(self._options.repairs):
            start = budget.seconds
            self.hand_over()
            watched = self._insiders()
            if watched and not self.insiders.answer(budget):
                return False
            before = budget.seconds
            exposed = self.judge.check(cover.pattern, budget)
            again = self._options.attacker_time_share * (before - start)
            least = min(self._options.grace_seconds, self._options.grace_limit_share * budget.seconds_left)
            again = max(again, least) if watched else 0.0
            last = budget.seconds - before
            judging += last
            self.reserve = again + max(
                self._options.judgement_multiple * last, self._options.judgement_time_share * judging
            )
            left = [cover.question(e.key, e.needed) for e in exposed]
            left = [k for k in left if k not in self.rebuilder.unattainable]
            for k in left:
                if cover.relies[k]:
                    cover.release(k)
            if not left:
                budget.report("first", cover.cost, 0.0)
                self._judged_first = cover.pattern
                return True
            if budget.exhausted or not self.rebuilder.build(budget):
                return False
        return True

    def _insiders(self) -> bool:
        """Whether so many attackers are in doubt that it pays to answer them near each cell."""
        return bool(self.problem.attackers) and self.insiders.needed

    def last(self) -> Bools:
        """Return the pattern in hand; the one that was judged before if time ends while attackers are answered anew."""
        self.hand_over()
        if self._judged_first is None or not self._insiders():
            return self.cover.pattern
        left = 0.0 if stopped(self.budget) in ("cancelled", "memory") else self.budget.seconds_left
        grace = Budget(Limits(None if left == float("inf") else max(left, self._options.grace_seconds)))
        return self.cover.pattern if self.insiders.answer(grace) else self._judged_first

    def known_about(self, pattern: Bools) -> tuple[Deviation, ...]:
        """Return deviations that move cells of a pattern only, those in use first."""
        used = (w.deviation for w in self.cover.witnesses() if pattern[w.deviation.cells].all())
        each = {(d.cells.tobytes(), d.z.tobytes()): d for d in (*used, *self.judge.known_about(pattern))}
        return tuple(each.values())

    def hand_over(self) -> None:
        """Give the judge the witnesses in use; it checks them."""
        self.judge.offer_many([w.deviation for w in self.cover.witnesses() if len(w.deviation.cells)])

    def refine(self) -> None:
        """Look with patience for what the first pattern answered quickly."""
        if self.rebuilder.rough and not self._over():
            with self.budget.part(self._share()) as part:
                self.rebuilder.refine(part)
            self.budget.report("incumbent", self.cover.cost, 0.0)

    def improve(self, most: int | None = None) -> None:
        """Work on the bound and on the pattern in turn, as much on one as on the other."""
        budget, cover, bound = self.budget, self.cover, self.bound
        spent = {"bound": 0.0, "incumbent": 0.0}
        rounds, cost = 0.0, cover.cost
        while not self._over():
            side = "bound" if not bound.finished and spent["bound"] <= spent["incumbent"] else "incumbent"
            before, known = self._meter(), (cover.cost, bound.bound)
            if side == "bound":
                with budget.part(self._share()) as part:
                    bound.step(part)
                self.rebuilder.x = bound.x if bound.bound > 0 else None
            else:
                end = before + spent["bound"] - spent["incumbent"]
                while not self._over():
                    self._cheaper()
                    if not cover.cost or self._meter() >= end:
                        break
            spent[side] += self._meter() - before
            if known != (cover.cost, bound.bound):
                budget.report(side, cover.cost, bound.bound)
            if not cover.cost or bound.bound >= cover.cost * (1 - max(OPTIMAL, budget.limits.gap)):
                return
            if most is not None and self.rebuilder.rounds > most:
                return
            if self.rebuilder.rounds > rounds + 1:
                if bound.finished and self._unlimited() and cover.cost > cost * (1 - 1e-3):
                    return
                rounds, cost = self.rebuilder.rounds, cover.cost

    def _cheaper(self) -> None:
        """Ruin and recreate a part; once all were tried a few times, windows too, whatever gained more lately."""
        if self.rebuilder.rounds < self._options.rounds_before_windows:
            self.rebuilder.step(self.budget)
            return
        ruin, window = self._credit
        cost, start = self.cover.cost, self._meter()
        side = window if is_first(window, ruin, self._options.fair_share) else ruin
        if side is window:
            self.windows.step(self.budget)
        else:
            self.rebuilder.step(self.budget)
        side.record(cost - self.cover.cost, self._meter() - start)

    def _meter(self) -> float:
        """What is spent, in the unit of the limit; never clocked where work alone is limited."""
        return float(self.budget.work) if self.budget.limits.seconds is None else self.budget.seconds

    def _unlimited(self) -> bool:
        limits = self.budget.limits
        return limits.seconds is None and limits.work is None

    def _share(self) -> float:
        left = self.budget.seconds_left
        return 1.0 if left == float("inf") or left <= 0 else max(0.0, 1.0 - self.reserve / left)

    def _over(self) -> bool:
        return self.budget.exhausted or self.budget.seconds_left <= self.reserve
