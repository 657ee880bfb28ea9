"""One search of the method for large tables: a first pattern, its clean-up, ruin and recreate, and a local bound."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.large.bound import LocalBound
from tabprotect.methods.suppression.large.cover import Cover, Witness
from tabprotect.methods.suppression.large.insiders import Insiders, answer_exposed
from tabprotect.methods.suppression.large.nearby import Nearby
from tabprotect.methods.suppression.large.rebuild import Rebuilder
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.large.warm_start import adopt
from tabprotect.methods.suppression.large.windows import Windows
from tabprotect.methods.suppression.options import Options
from tabprotect.methods.suppression.postsolve.finish import stopped
from tabprotect.methods.suppression.search.improvement import Improver
from tabprotect.methods.suppression.start.cheapest import Cheapest
from tabprotect.methods.suppression.start.cleanup import Cleaner
from tabprotect.problem import Problem
from tabprotect.solver.credit import Credit, Pace, is_first, meter, meter_left
from tabprotect.solver.limits import Budget, Limits
from tabprotect.solver.tasks.pieces import Means, processors
from tabprotect.solver.tolerances import OPTIMAL

__all__ = ["LocalSearch"]

Bools = npt.NDArray[np.bool_]


class LocalSearch:
    """One search of `local`.

    Parameters
    ----------
    problem : Problem
    seed : int
    budget : Budget
    engine, executor
        As for `local`.
    options : Options

    Attributes
    ----------
    judged : ndarray of bool or None
        The cheapest pattern that the judge found safe.
    """

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
        self._seed, self._stages = seed, options
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
        self.stopped = ""
        self.judged: Bools | None = None
        self._cleaned = False
        self._cheapest = Cheapest(self.judge, options.construction)

    def first(self, start: Bools | None, deviations: Sequence[Deviation] = ()) -> bool:
        """Make the first safe pattern; False when the limits, or its share of them, ended that."""
        whole = self.budget
        with whole.part(self._options.first_limit_share) as self.budget:
            done = self._built(start, deviations) and self._judged()
            self.stopped = "" if done else stopped(self.budget)
        self.budget = whole
        return done

    def _built(self, start: Bools | None, deviations: Sequence[Deviation]) -> bool:
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
        return done

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
                budget.report("first" if self.judged is None else "incumbent", cover.cost, self.bound.bound)
                if self.judged is None or cover.cost <= self.problem.cost(self.judged):
                    self.judged = cover.pattern
                return True
            if self.problem.n_cells <= self._stages.local.insiders.whole_cells:
                attackers = [k for k in left if cover.keys[k].attacker >= 0]
                answer_exposed(cover, self.judge, self._cheapest, attackers, budget)
            if budget.exhausted or not self.rebuilder.build(budget):
                return False
        return True

    def _insiders(self) -> bool:
        """Whether so many attackers are in doubt that it pays to answer them near each cell."""
        return bool(self.problem.attackers) and self.insiders.needed

    def last(self) -> Bools | None:
        """Return the pattern in hand; the one that was judged before if time ends while attackers are answered anew."""
        self.hand_over()
        if self._cleaned:
            return self.judged
        if self.judged is None or not self._insiders():
            return self.cover.pattern
        left = 0.0 if stopped(self.budget) in ("cancelled", "memory") else self.budget.seconds_left
        grace = Budget(Limits(None if left == float("inf") else max(left, self._options.grace_seconds)))
        return self.cover.pattern if self.insiders.answer(grace) else self.judged

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
        share = self._stages.local.rebuild.refine_limit_share
        if self.rebuilder.rough and share and not self._over():
            with self.budget.part(self._share() * share) as part:
                self.rebuilder.refine(part)
            self.budget.report("incumbent", self._safe_cost, 0.0)

    @property
    def to_clean_up(self) -> bool:
        """Whether attackers know cells, so that a clean-up finds what ruin and recreate does not.

        That answers the public, and attackers only where the judge found that they need an answer of their own.
        """
        return bool(self.problem.attackers) and self._options.cleanup_limit_share > 0

    @property
    def _safe_cost(self) -> float:
        """Cost of the pattern in hand, or of the one judged last where attackers know cells: they may find more now."""
        judged = self.judged if self.problem.attackers else None
        return self.cover.cost if judged is None else self.problem.cost(judged)

    def improve_at_first(self, most: int | None = None) -> None:
        """Do what `improve` does until a share of the limits is spent."""
        whole = self.budget
        spent, left = meter(whole), meter_left(whole)
        end = self._options.improve_limit_share * (spent + left)
        share = 1.0 if math.isinf(left) else max(0.0, end - spent) / max(left, 1e-9)
        with whole.part(share) as self.budget:
            self.improve(most)
        self.budget = whole

    def clean_up(self, *, further: bool) -> None:
        """Judge the pattern, and take out what nobody needs; `further`: then look for others until the limits."""
        if self.budget.exhausted or self.rebuilder.unattainable or self.judged is None:
            return
        if not np.array_equal(self.judged, self.cover.pattern):
            self._judged()
        self._cleaned = True
        if self._near_enough(self._safe_cost):
            return
        construction = self._stages.construction
        cleaner = Cleaner(self.judge, self.judged, least=self.bound.bound, options=construction)
        # safe at every moment: nothing is set aside for a judgement
        share = self._options.cleanup_limit_share - (0.0 if self.bound.bound else self._options.bound_limit_share)
        with self.budget.part(max(0.0, share)) as whole:
            for left in range(self._options.cleanup_slices, 0, -1):
                with whole.part(1 / left) as part:
                    self._take(cleaner.run(part), "clean-up")
                if cleaner.finished or whole.exhausted or self._near_enough(self._safe_cost):
                    break
            if further and cleaner.finished and not self._unlimited():
                self._look_further(whole)
        if not self.bound.bound:
            self.bound.step(self.budget)

    def _look_further(self, budget: Budget) -> None:
        """Build and clean up others near the pattern, which is as small as can be by itself."""
        improver = Improver(
            self.problem, self.judge, self._seed, best=self.judged, easy_first=True, options=self._stages
        )
        pace = Pace(budget, self._safe_cost, self._options.slice_limit_share, self._options.slice_gain)
        while not budget.exhausted and not self._near_enough(self._safe_cost) and pace.keeps_up(self._safe_cost):
            found = improver.step(budget, self.bound.x if self.bound.bound else None, least=self.bound.bound)
            if found is not None:
                self._take(found, "incumbent")

    def _take(self, pattern: Bools, stage: str) -> None:
        self.judged = pattern.copy()
        self.budget.report(stage, self.problem.cost(pattern), self.bound.bound)

    def improve(self, most: int | None = None) -> None:
        """Work on the bound and on the pattern in turn: time follows the gains, and both keep a fair share."""
        budget, cover, bound = self.budget, self.cover, self.bound
        credit = {"bound": Credit(), "incumbent": Credit()}
        rounds, cost, length = 0.0, cover.cost, 0.0
        pace = Pace(self.budget, cover.cost, self._options.slice_limit_share, self._options.slice_gain)
        while not self._over() and pace.keeps_up(cover.cost):
            side = self._side(credit)
            before, known = meter(self.budget), (cover.cost, bound.bound)
            if side == "bound":
                with budget.part(self._share()) as part:
                    bound.step(part)
                self.rebuilder.x = bound.x if bound.bound > 0 else None
                length = meter(self.budget) - before
            else:
                while not self._over():
                    self._cheaper()
                    if not cover.cost or meter(self.budget) >= before + length:
                        break
            closed = known[0] - cover.cost + bound.bound - known[1]
            credit[side].record(closed / ((known[0] - known[1]) or 1.0), meter(self.budget) - before)
            if known != (cover.cost, bound.bound):
                budget.report(side, self._safe_cost, bound.bound)
            if self._near_enough(cover.cost):
                return
            if most is not None and self.rebuilder.rounds > most:
                return
            if self.rebuilder.rounds > rounds + 1:
                if bound.finished and self._unlimited() and cover.cost > cost * (1 - self._options.stage_gain):
                    return
                rounds, cost = self.rebuilder.rounds, cover.cost

    def _side(self, credit: dict[str, Credit]) -> str:
        """Return what is next: the 'bound', which begins, or the 'incumbent'."""
        if self.bound.finished or (credit["bound"].spent and not credit["incumbent"].spent):
            return "incumbent"
        fair = self._stages.schedule.fair_share
        return "bound" if is_first(credit["bound"], credit["incumbent"], fair) else "incumbent"

    def _cheaper(self) -> None:
        """Ruin and recreate a part; once all were tried a few times, windows too, whatever gained more lately."""
        if self.rebuilder.rounds < self._options.rounds_before_windows:
            self.rebuilder.step(self.budget)
            return
        ruin, window = self._credit
        cost, start = self.cover.cost, meter(self.budget)
        side = window if is_first(window, ruin, self._options.fair_share) else ruin
        if side is window:
            self.windows.step(self.budget)
        else:
            self.rebuilder.step(self.budget)
        side.record(cost - self.cover.cost, meter(self.budget) - start)

    def _near_enough(self, cost: float) -> bool:
        """Whether the bound is as near to a cost as was asked for."""
        return not cost or self.bound.bound >= cost * (1 - max(OPTIMAL, self.budget.limits.gap))

    def _unlimited(self) -> bool:
        limits = self.budget.limits
        return limits.seconds is None and limits.work is None

    def _share(self) -> float:
        left = self.budget.seconds_left
        return 1.0 if left == float("inf") or left <= 0 else max(0.0, 1.0 - self.reserve / left)

    def _over(self) -> bool:
        return self.budget.exhausted or self.budget.seconds_left <= self.reserve
