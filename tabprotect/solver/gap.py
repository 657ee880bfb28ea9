"""The gap between what a pattern costs and the bound, and whether it leaves anything to gain."""

from __future__ import annotations

from tabprotect.solver.tolerances import OPTIMAL

__all__ = ["is_optimal", "relative_gap"]


def relative_gap(cost: float | None, bound: float | None) -> float | None:
    """Return (cost - bound) / cost as a fraction; None without both numbers, 0 where nothing is to be paid.

    Examples
    --------
    >>> relative_gap(20.0, 15.0), relative_gap(0.0, 0.0), relative_gap(None, 3.0)
    (0.25, 0.0, None)
    """
    if cost is None or bound is None:
        return None
    return 0.0 if cost <= 0 else max(0.0, (cost - bound) / cost)


def is_optimal(cost: float | None, bound: float | None) -> bool:
    """Whether a bound leaves nothing to gain: the one test for optimality of patterns.

    Examples
    --------
    >>> is_optimal(20.0, 20.0 - 1e-9), is_optimal(20.0, 19.9), is_optimal(20.0, None)
    (True, False, False)
    """
    return cost is not None and bound is not None and bound >= cost - OPTIMAL * abs(cost)
