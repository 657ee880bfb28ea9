"""What the methods contribute to a pattern of `auto`: first patterns, completion, and a search among their cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.large.method import charge_power
from tabprotect.methods.suppression.large.stages import local_in_stages
from tabprotect.methods.suppression.merge import joined
from tabprotect.methods.suppression.options import Options, changed
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.search.known import Known
from tabprotect.methods.suppression.search.recombination import recombined
from tabprotect.problem import Problem
from tabprotect.solver.credit import meter, meter_left
from tabprotect.solver.limits import Budget
from tabprotect.solver.tasks.pieces import Means

__all__ = ["Portfolio", "ended"]

Bools = npt.NDArray[np.bool_]

CAREFULLY: Final = {"rebuild.careful_limit_share": 1.0}
"""Options of local programmes whose pattern is completed otherwise, better than roughly."""

ROUGHLY: Final = {"rebuild.careful_limit_share": 0.0, "rebuild.refine_limit_share": 0.0}
"""Options of local programmes that only have to be ready in time: a clean-up gains as much as answering again."""


@dataclass(frozen=True, eq=False)
class Portfolio:
    """One problem with its budget and all that the methods share, and what they contribute to a pattern.

    Parameters
    ----------
    problem : Problem
    budget : Budget
    seed, engine, means, options
        As for `tabprotect.methods.suppression.suppress`.
    """

    problem: Problem
    budget: Budget
    seed: int
    engine: str
    means: Means | None
    options: Options

    @property
    def patience(self) -> float:
        """Share of the limits that a first pattern of cheapest witnesses may seem to take."""
        return self.options.choice.probe_patience * self.options.choice.probe_limit_share

    def has_time(self, least: float | None = None) -> bool:
        """Whether more than a share of the limits is left; by default what a search inside of a pattern leaves.

        Where attackers know cells, whether there is a slice for it: its audits take longer.
        """
        choice, left = self.options.choice, meter_left(self.budget)
        if least is None:
            least = choice.local_slice_share if self.problem.attackers else 1 - choice.inside_limit_share
        return left > least * (meter(self.budget) + left)

    def exact(self, known: Known) -> SuppressionResult:
        """Search with a bound, as far as the limits go."""
        with self.budget.run() as rest:
            return exact(
                self.problem,
                limits=rest,
                seed=self.seed,
                engine=self.engine,
                known=known,
                means=self.means or Means(),
                options=self.options,
            )

    def first(
        self, method: str, start: Bools | None, deviations: Sequence[Deviation], gap: float, limited: bool
    ) -> tuple[SuppressionResult, str]:
        """Return a first pattern, of local programmes unless a trial says otherwise, and the method for another one."""
        choice = self.options.choice
        if not limited and method == "exact":
            return self.local(start, deviations, choice.probe_limit_share, gap, False, CAREFULLY), ""
        if not limited:
            return self.local(start, deviations, 1.0, gap, method == "local"), ""
        slices = {"search.slice_limit_share": choice.local_slice_share}
        if method == "local":
            return self.local(start, deviations, 1.0, gap, True, slices), ""
        if self.problem.attackers:
            # their clean-up gains more there than a search among the cells of a pattern
            within = {**slices, "search.first_limit_share": 1 - choice.probe_limit_share}
            first = self.local(start, deviations, 1.0, gap, True, within)
            if first.safe or ended(first):
                return first, "greedy" if first.safe else ""
            return self._completed(first, False), ""
        before, limit = meter(self.budget), meter(self.budget) + meter_left(self.budget)
        tried, powers, by_cost = self._by_trial()
        if tried is not None:
            return tried, "local" if meter(self.budget) - before <= choice.second_after_share * limit else ""
        charged = {"rebuild.charge_powers": powers}
        first = self.local(start, deviations, choice.probe_limit_share, gap, False, {**charged, **CAREFULLY})
        if ended(first):
            return first, ""
        if not first.safe:
            return self._completed(first, by_cost), ""
        # it is not cleaned up yet, which takes as long again
        soon = 2 * (meter(self.budget) - before) <= choice.second_after_share * limit
        share = choice.local_limit_share if soon else choice.gap_limit_share
        first = joined(first, self.local(first.pattern, first.deviations, share, gap, True, charged))
        return first, "greedy" if soon else ""

    def local(
        self,
        start: Bools | None,
        deviations: Sequence[Deviation],
        share: float,
        gap: float,
        improve: bool,
        changes: Mapping[str, Any] | None = None,
    ) -> SuppressionResult:
        """Return a pattern of local programmes, made cheaper until the limits or a gap if asked for.

        `changes` are options of theirs, by stage and name.
        """
        work = math.inf if share == 1.0 else self.options.choice.probe_work
        options = self.options
        for name, value in (changes or {}).items():
            options = changed(options, f"local.{name}", value)
        with self.budget.run(share, work=work, gap=gap) as part:
            return local_in_stages(
                self.problem,
                means=self.means or Means(),
                limits=part,
                seed=self.seed,
                start=start,
                passes=None if improve else 0,
                engine=self.engine,
                deviations=deviations,
                options=options,
            )

    def _by_trial(self) -> tuple[SuppressionResult | None, tuple[float, ...], bool]:
        """Return a pattern of cheapest witnesses where a trial finds that cells are best charged by their cost alone.

        Local programmes would do the same there, and take longer. Where there is none, the power that they are to take:
        the first one, which is the fastest, where cheapest witnesses take too long. And whether cells are best charged
        by their cost alone.
        """
        choice, powers = self.options.choice, self.options.local.rebuild.charge_powers
        with self.budget.run() as part:
            power, hidden = charge_power(self.problem, part, self.options)
        if power or hidden >= choice.trial_gain:
            return None, (power,), not power
        # a search among the cells of a pattern gains less than the clean-up of one that is not cleaned up
        cleanup = 1 - self.options.schedule.bound_limit_share
        before, left = meter(self.budget), meter_left(self.budget)
        left = left if self.budget.limits.seconds is not None else min(left, choice.probe_work)
        first = self.by_witnesses(1.0, None, self.patience, cleanup=cleanup, roughly=True)
        late = self.options.construction.late_limit_share * choice.witness_limit_share
        if first.status == "unknown" and not ended(first) and meter(self.budget) - before >= late * left:
            first = self._roughly(first)
        return first if first.safe or ended(first) else None, powers[:1], True

    def _completed(self, first: SuppressionResult, by_cost: bool) -> SuppressionResult:
        """Return a pattern in which what local programmes left open is answered, roughly at last.

        They go on themselves where that is little, unless they are too slow for the rest; otherwise, and where cells
        are best charged `by_cost` alone, cheapest witnesses do it.
        """
        if not by_cost and self._nearly_complete(first):
            return self._continued(first)
        second = self.by_witnesses(1.0, first.pattern, self.options.choice.completion_patience, roughly=True)
        if second.status == "unknown" and not ended(second):
            second = self._roughly(replace(second, deviations=(*first.deviations, *second.deviations)))
        return replace(joined(first, second), method=f"{first.method}, then {second.method}")

    def _continued(self, first: SuppressionResult) -> SuppressionResult:
        """Return a pattern that local programmes go on with; one of removal in bulk where they would not end in time.

        That is dear, but needs few programmes: it is better than everything hidden.
        """
        charged = {"rebuild.charge_powers": self.options.local.rebuild.charge_powers[:1]}
        share, gap = 1 - self.options.schedule.bound_limit_share, self.budget.limits.gap
        left = self._open(first)
        for slices in (2, 1):
            part = self.local(first.pattern, first.deviations, share / slices, gap, False, charged)
            first = joined(first, part)
            if first.safe or ended(first) or self.budget.exhausted:
                return first
            before, left = left, self._open(first)
            if self.options.choice.rough_speedup * (before - left) < left:
                break
        bulk = replace(self, options=changed(self.options, "start.before_bulk_limit_share", 0.0))
        return joined(first, bulk.by_witnesses(1.0, None, in_bulk=True))

    def _open(self, result: SuppressionResult) -> int:
        """Return how many questions the deviations of a result leave open under its pattern."""
        judge = Witnesses(self.problem)
        judge.offer_many(result.deviations)
        return int((~judge.sweep(result.pattern, self.budget)).sum())

    def _nearly_complete(self, first: SuppressionResult) -> bool:
        """Whether a pattern leaves little open of what primaries alone leave open, and answers enough to say so."""
        choice = self.options.choice
        at_first = int((~Witnesses(self.problem).sweep(self.problem.must_hide, self.budget)).sum())
        left = self._open(first)
        return at_first - left >= choice.answered_questions and left < choice.open_share * at_first

    def _roughly(self, first: SuppressionResult) -> SuppressionResult:
        """Return a pattern in which local programmes answer roughly what was left open, if there is time."""
        if self.budget.exhausted:
            return first
        roughly = {**ROUGHLY, "rebuild.charge_powers": self.options.local.rebuild.charge_powers[:1]}
        second = self.local(first.pattern, first.deviations, 1.0, self.budget.limits.gap, False, roughly)
        return replace(joined(first, second), method=f"{first.method}, then {second.method}")

    def by_witnesses(
        self,
        share: float,
        start: Bools | None,
        patience: float = 1.0,
        *,
        restarts: int = 0,
        cleanup: float | None = None,
        roughly: bool = False,
        in_bulk: bool = False,
    ) -> SuppressionResult:
        """Return a pattern of cheapest witnesses; unknown where it takes longer than a share, or seems to.

        With `in_bulk` it is one of removal in bulk then; with `roughly` it ends while there is time for rough answers
        to what is open, which are up to the caller.
        """
        choice = self.options.choice
        with self.budget.run(min(1.0, share), work=choice.probe_work) as part:
            return greedy(
                self.problem,
                limits=part,
                seed=self.seed,
                restarts=restarts,
                cleanup=choice.probe_cleanup_share if cleanup is None else cleanup,
                patience=patience,
                within=choice.witness_limit_share if roughly else 1.0,
                speedup=choice.rough_speedup if roughly else 1.0,
                in_bulk=in_bulk,
                start=start,
                means=self.means,
                options=self.options,
            )

    def recombined(self, first: SuppressionResult, other: str) -> SuppressionResult:
        """Return the cheapest pattern found among the cells of a first one, and of one by another method if named."""
        choice, budget = self.options.choice, self.budget
        second = first
        if other == "local":
            second = self.local(None, (), choice.local_limit_share, budget.limits.gap, True, CAREFULLY)
        elif other:
            second = self.by_witnesses(choice.second_limit_share, None, restarts=choice.second_restarts, cleanup=1.0)
        parents = [first, second] if second.safe and second is not first else [first]
        best = joined(*parents) if len(parents) > 1 else first
        if ended(second) or budget.exhausted:
            return best
        share = choice.recombination_limit_share if other else choice.inside_limit_share
        with budget.run(share) as part:
            found = recombined(
                self.problem,
                [one.pattern for one in parents],
                part,
                seed=self.seed,
                engine=self.engine,
                known=Known(
                    deviations=[d for one in parents for d in one.deviations], attacker_cuts=best.attacker_cuts
                ),
                options=changed(self.options, "schedule.stall_limit_share", choice.inside_stall_share),
            )
        return joined(best, found)


def ended(result: SuppressionResult) -> bool:
    """Whether nothing more should be begun."""
    return result.stopped in ("cancelled", "memory")
