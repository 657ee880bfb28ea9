"""How searches of several cores share a limit, and each its time between incumbent and bound."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tabprotect.methods.suppression.search.branch_and_cut import Search
from tabprotect.solver.credit import Credit, is_first, meter, meter_left
from tabprotect.solver.limits import Budget

__all__ = ["go_on", "reporter"]

FIRST_SHARE = 0.05
"""Share of the limit for making the first patterns of small cores cheaper before their trees."""

TREE_SHARE = 0.25
"""Share of the limit for one tree on small cores, before pools."""

SLICE = 0.04
"""Largest share of the limit after which it is decided anew whether to look for cheaper patterns or for a better
bound."""

GROWTH = 0.15
"""Slices are this share of what was spent so far, if that is less: easy problems do not wait for a long limit."""

LEAST = 0.02
"""But they are no smaller than this share of the largest ones."""

FAIR = 0.25
"""Each of the two gets at least this share."""

FLOW_SHARE = 0.2
"""Pools that are of use go on for this share of the limit before anything else."""

FLOW_GROWTH = 2.0
"""Such a pool may take so many times of what was spent so far, since one that is cut short has to start again."""


def reporter(searches: list[Search], constant: float, budget: Budget) -> Callable[[str], None]:
    """Return what reports cost and bound of the whole problem, given the name of a stage."""

    def report(stage: str) -> None:
        cost = constant + sum(s.cost for s in searches)
        bound = constant + sum(s.bound for s in searches)
        budget.report(stage, cost if np.isfinite(cost) else None, bound)

    return report


def go_on(searches: list[Search], constant: float, budget: Budget, engine: str) -> None:
    """Bring cost and bound of started searches together, as far as the budget goes; `constant` is paid in any case."""
    report = reporter(searches, constant, budget)
    report("start")
    if engine == "scip":
        for k, s in enumerate(searches):
            with budget.part(FIRST_SHARE / max(1, len(searches) - k)) as part:
                s.clean_up(part)
            with budget.part(TREE_SHARE / max(1, len(searches) - k)) as part:
                s.tree(part)
        report("tree")
    credit = {"bound": Credit(), "incumbent": Credit()}
    side = "bound"
    while not budget.exhausted:
        open_ = [s for s in searches if not s.done and s.relaxation is not None]
        gap = sum(s.cost - s.bound for s in open_)
        cost = constant + sum(s.cost for s in searches)
        if not open_ or gap <= budget.limits.gap * cost:
            return
        worst = max(open_, key=lambda s: s.cost - s.bound)
        before = meter(budget)
        length = _slice(budget)
        while True:
            most = length * worst.slices(side)
            if side == "bound" and worst.stays_with_master:
                most = max(most, min(FLOW_GROWTH * meter(budget), FLOW_SHARE * meter_left(budget)))
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
        stays = unread or (
            worst.stays_with_master and not meter(budget) > FLOW_SHARE * (meter(budget) + meter_left(budget))
        )
        side = "bound" if stays else _next(credit)


def _next(credit: dict[str, Credit]) -> str:
    """Time follows the gains; both sides keep a fair share."""
    return "incumbent" if is_first(credit["incumbent"], credit["bound"], FAIR) else "bound"


def _slice(budget: Budget) -> float:
    """Return the length of the next slice in the unit of the limit; 0 (no end) without a limit."""
    limit = budget.limits.work if budget.limits.seconds is None else budget.limits.seconds
    longest = SLICE * float(limit or 0.0)
    return max(LEAST * longest, min(longest, GROWTH * meter(budget)))
