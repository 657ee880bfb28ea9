"""How searches of several cores share a limit, and each its time between incumbent and bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tabprotect.methods.suppression.options import DEFAULTS, ScheduleOptions
from tabprotect.methods.suppression.search.branch_and_cut import Search
from tabprotect.solver.credit import Credit, Stall, is_first, meter, meter_left
from tabprotect.solver.limits import Budget

__all__ = ["go_on", "reporter"]


def reporter(searches: list[Search], constant: float, budget: Budget) -> Callable[[str], None]:
    """Return what reports cost and bound of the whole problem, given the name of a stage."""

    def report(stage: str) -> None:
        cost = _cost(searches, constant)
        bound = constant + sum(s.bound for s in searches)
        budget.report(stage, cost if np.isfinite(cost) else None, bound)

    return report


def go_on(
    searches: list[Search], constant: float, budget: Budget, options: ScheduleOptions = DEFAULTS.schedule
) -> None:
    """Bring cost and bound of started searches together, as far as the budget goes; `constant` is paid in any case.

    It ends before that where it stalls (`stall_limit_share`), after patterns that are not cleaned up yet are.
    """
    report = reporter(searches, constant, budget)
    report("start")
    stall = Stall(budget, _cost(searches, constant), options.stall_limit_share, options.stall_gain)
    for k, s in enumerate(searches):
        with budget.part(options.cleanup_limit_share / (len(searches) - k)) as part:
            s.clean_up(part)
    report("clean-up")
    credit = {"bound": Credit(), "incumbent": Credit()}
    side = "bound"
    while not budget.exhausted:
        open_ = [s for s in searches if not s.done and s.relaxation is not None]
        gap = sum(s.cost - s.bound for s in open_)
        cost = _cost(searches, constant)
        stalled, unclean = stall.reached(cost), [s for s in open_ if not s.is_clean]
        if not open_ or gap <= budget.limits.gap * cost or (stalled and not unclean):
            return
        worst = max(unclean if stalled else open_, key=lambda s: s.cost - s.bound)
        before = meter(budget)
        far = worst.to_clean_up and before <= options.far_cleanup_limit_share * (before + meter_left(budget))
        if stalled or far:
            side = "incumbent"
        length = _slice(budget, options)
        while True:
            most = length * worst.slices(side)
            if side == "bound" and worst.stays_with_master:
                pool = min(options.pool_spent_multiple * meter(budget), options.pool_limit_share * meter_left(budget))
                most = max(most, pool)
            with budget.part(most / max(length, meter_left(budget)) if length else 1.0) as part:
                if side == "bound":
                    worst.lift(part)
                else:
                    worst.improve(part)
            if budget.exhausted or worst.done or not meter(budget) < before + length:
                break
        report(side)
        left = sum(s.cost - s.bound for s in open_)
        unread = side == "bound" and not credit["bound"].spent and left >= gap and worst.primed
        credit[side].record((gap - left) / gap, meter(budget) - before)
        late = meter(budget) > options.pool_limit_share * (meter(budget) + meter_left(budget))
        stays = unread or (worst.stays_with_master and not late)
        least = options.incumbent_share if left > options.close_gap * cost else 0.0
        first = is_first(credit["incumbent"], credit["bound"], options.fair_share, least)
        side = "incumbent" if first and not stays else "bound"


def _cost(searches: list[Search], constant: float) -> float:
    return constant + sum(s.cost for s in searches)


def _slice(budget: Budget, options: ScheduleOptions) -> float:
    """Return the length of the next slice in the unit of the limit; 0 (no end) without a limit."""
    limit = budget.limits.work if budget.limits.seconds is None else budget.limits.seconds
    longest = options.slice_limit_share * float(limit or 0.0)
    return max(options.least_slice * longest, min(longest, options.slice_spent_share * meter(budget)))
