"""What `auto` does: the method that suits a problem, others beside it where limits allow, and the best of them all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tabprotect.attack.witness import Deviation, Witnesses
from tabprotect.methods.suppression.choice import begins, choose
from tabprotect.methods.suppression.large.method import charge_power
from tabprotect.methods.suppression.large.stages import local_in_stages
from tabprotect.methods.suppression.merge import joined
from tabprotect.methods.suppression.options import DEFAULTS, Options, changed
from tabprotect.methods.suppression.postsolve.finish import finish
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.methods.suppression.search.exact import exact
from tabprotect.methods.suppression.search.greedy import greedy
from tabprotect.methods.suppression.search.recombination import recombined
from tabprotect.methods.suppression.start.root_solve import root_solve
from tabprotect.problem import Problem
from tabprotect.solver.credit import meter, meter_left
from tabprotect.solver.interrupts import cancel_on_interrupt
from tabprotect.solver.limits import Budget, Limits, Progress
from tabprotect.solver.mip.pool import pool_solver
from tabprotect.solver.mip.rows import Inequalities
from tabprotect.solver.tasks.pieces import Means

__all__ = ["automatic", "because", "by_root_solve", "ended"]

Bools = npt.NDArray[np.bool_]


def automatic(
    problem: Problem,
    *,
    limits: Limits | Budget | None = None,
    seed: int,
    progress: Callable[[Progress], None] | None = None,
    engine: str,
    start: Bools | None,
    deviations: Sequence[Deviation] = (),
    rows: Inequalities | None = None,
    means: Means | None = None,
    options: Options = DEFAULTS,
) -> SuppressionResult:
    """Choose by size, dimensions and how far equations reach; the `method` of the result says what and why.

    Where cost and local bound come close to each other, relaxations are tight, and the exact engine goes on from there.
    Under a limit it takes tables that it is chosen for from there, too. Where cost and bound stay far from each other,
    it first looks among the cells of that pattern, and of one by another method where there is time for it. Where
    attackers know cells, local programmes make their pattern cheaper for as long as they gain enough before that.

    Parameters
    ----------
    As in `tabprotect.methods.suppression.suppress`.
    """
    budget = Budget.of(limits, progress)
    run = _Run(problem, budget, seed, engine, means, options)
    method, why = choose(problem, options)
    if method == "exact" and begins(problem, options) == "exact":
        return because(run.exact(start, rows, deviations), why)
    if start is None and means is None and problem.n_cells <= options.choice.never_exact_cells:
        first = by_root_solve(problem, budget, engine, options)
        if first.safe:
            return because(joined(first, run.exact(first.pattern, rows)), "its relaxation leaves little open")
    limited = start is None and not math.isinf(meter_left(budget)) and _may_search_inside(problem, method, options)
    gap = budget.limits.gap
    if method == "exact" and begins(problem, options) == "greedy":
        first, other = run.by_witnesses(1.0, start, run.patience, in_bulk=True), ""
    else:
        alone = method == "local" and (problem.n_cells > options.choice.never_exact_cells or bool(problem.attackers))
        if limited or (method == "local" and not alone):
            gap = max(gap, 1 - 1 / options.choice.tight_ratio)
        first, other = run.first(method, start, deviations, gap, limited)
        loose = first.gap is None or first.gap > gap
        inside = limited and first.safe and run.has_time()
        near = first.gap is not None and first.gap <= budget.limits.gap
        spent = limited and first.safe and bool(problem.attackers) and not inside
        if alone or near or spent or first.status == "optimal" or (method == "local" and loose and not inside):
            return because(first, why)
    # a search among the cells of the pattern has no bound: what is left may be needed for one
    limited = limited and (first.bound is not None or run.has_time(2 * options.schedule.bound_limit_share))
    if limited and first.safe and not ended(first) and (first.gap is None or first.gap > gap):
        first = run.recombined(first, other)
    if ended(first):
        return because(first, why)
    rest = run.exact(first.pattern, rows, first.deviations) if first.safe else run.exact(start, rows, deviations)
    return because(joined(first, rest), why)


@dataclass(frozen=True, eq=False)
class _Run:
    """One problem with its budget and all that the methods share, and what they contribute to a pattern."""

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

    def exact(
        self, start: Bools | None, rows: Inequalities | None, deviations: Sequence[Deviation] = ()
    ) -> SuppressionResult:
        """Search with a bound, as far as the limits go."""
        with self.budget.run() as rest:
            return exact(
                self.problem,
                limits=rest,
                seed=self.seed,
                engine=self.engine,
                start=start,
                deviations=deviations,
                rows=rows,
                means=self.means or Means(),
                options=self.options,
            )

    def first(
        self, method: str, start: Bools | None, deviations: Sequence[Deviation], gap: float, limited: bool
    ) -> tuple[SuppressionResult, str]:
        """Return a first pattern, of local programmes unless a trial says otherwise, and the method for another one."""
        choice, powers = self.options.choice, self.options.local.rebuild.charge_powers
        if not limited:
            share = choice.probe_limit_share if method == "exact" else 1.0
            return self.local(start, deviations, share, gap, method == "local", powers), ""
        slices = {"slice_limit_share": choice.local_slice_share}
        if method == "local":
            return self.local(start, deviations, 1.0, gap, True, powers, slices), ""
        if self.problem.attackers:
            # their clean-up gains more there than a search among the cells of a pattern
            within = {**slices, "first_limit_share": 1 - choice.probe_limit_share}
            first = self.local(start, deviations, 1.0, gap, True, powers, within)
            return (first if first.safe or ended(first) else self._completed(first)), "greedy" if first.safe else ""
        before, limit = meter(self.budget), meter(self.budget) + meter_left(self.budget)
        tried, powers = self._by_trial()
        if tried is not None:
            return tried, "local" if meter(self.budget) - before <= choice.second_after_share * limit else ""
        first = self.local(start, deviations, choice.probe_limit_share, gap, False, powers)
        if ended(first):
            return first, ""
        if not first.safe:
            return self._completed(first), ""
        # it is not cleaned up yet, which takes as long again
        soon = 2 * (meter(self.budget) - before) <= choice.second_after_share * limit
        share = choice.local_limit_share if soon else choice.gap_limit_share
        first = joined(first, self.local(first.pattern, first.deviations, share, gap, True, powers))
        return first, "greedy" if soon else ""

    def local(
        self,
        start: Bools | None,
        deviations: Sequence[Deviation],
        share: float,
        gap: float,
        improve: bool,
        powers: tuple[float, ...],
        search: Mapping[str, float] | None = None,
    ) -> SuppressionResult:
        """Return a pattern of local programmes, made cheaper until the limits or a gap if asked for.

        `search` has further options of theirs, by name.
        """
        work = math.inf if share == 1.0 else self.options.choice.probe_work
        options = changed(self.options, "local.rebuild.charge_powers", powers)
        for name, value in (search or {}).items():
            options = changed(options, f"local.search.{name}", value)
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

    def _by_trial(self) -> tuple[SuppressionResult | None, tuple[float, ...]]:
        """Return a pattern of cheapest witnesses where a trial finds that cells are best charged by their cost alone.

        Local programmes would do the same there, and take longer. Where there is none, the power that they are to take:
        the first one, which is the fastest, where cheapest witnesses take too long.
        """
        choice, powers = self.options.choice, self.options.local.rebuild.charge_powers
        with self.budget.run() as part:
            power, hidden = charge_power(self.problem, part, self.options)
        if power or hidden >= choice.trial_gain:
            return None, (power,)
        # a search among the cells of a pattern gains less than the clean-up of one that is not cleaned up
        cleanup = 1 - self.options.schedule.bound_limit_share
        first = self.by_witnesses(1.0, None, self.patience, cleanup=cleanup)
        return first if first.safe or ended(first) else None, powers[:1]

    def _completed(self, first: SuppressionResult) -> SuppressionResult:
        """Return a pattern in which cheapest witnesses answer what local programmes left open, or removal in bulk."""
        patience = self.options.choice.completion_patience
        second = self.by_witnesses(1.0, first.pattern, patience, in_bulk=True)
        return replace(joined(first, second), method=f"{first.method}, then {second.method}")

    def by_witnesses(
        self,
        share: float,
        start: Bools | None,
        patience: float = 1.0,
        *,
        restarts: int = 0,
        cleanup: float | None = None,
        in_bulk: bool = False,
    ) -> SuppressionResult:
        """Return a pattern of cheapest witnesses; unknown where it takes longer than a share, or seems to.

        With `in_bulk` it is one of removal in bulk then.
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
            powers = self.options.local.rebuild.charge_powers
            second = self.local(None, (), choice.local_limit_share, budget.limits.gap, True, powers)
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
                deviations=[d for one in parents for d in one.deviations],
                options=self.options,
            )
        return joined(best, found)


def by_root_solve(problem: Problem, budget: Budget, engine: str, options: Options = DEFAULTS) -> SuppressionResult:
    """Return the pattern of the root solve alone, without a bound; unknown where that takes more than a moment."""
    judge = Witnesses(problem)
    with budget.run() as part, cancel_on_interrupt(part):
        pattern = root_solve(problem, judge, pool_solver(engine), part, options.root_solve)
        return finish(problem, judge, pattern, part, "root solve", options)


def _may_search_inside(problem: Problem, method: str, options: Options) -> bool:
    """Whether the exact engine may search among the cells of a pattern; audits of what it finds take longer."""
    return method == "exact" or (not problem.attackers and problem.n_cells <= options.choice.inside_cells)


def ended(result: SuppressionResult) -> bool:
    """Whether nothing more should be begun."""
    return result.stopped in ("cancelled", "memory")


def because(result: SuppressionResult, why: str) -> SuppressionResult:
    """Return a result that says why its method was chosen."""
    return replace(result, method=f"auto: {result.method}, since {why}")
