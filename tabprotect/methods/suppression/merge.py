"""How results of several runs on one problem become one: the pattern of one, the best bound of all."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tabprotect.attack.proof_rows import BoundProof
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.solver.gap import is_optimal

__all__ = ["NOTHING_FOUND", "joined", "with_bound", "with_bound_of"]

NOTHING_FOUND: Final = "no lower bound above 0 was found, which is what the primaries alone cost"
"""What a result says whose bound is that of no secondary cell at all, although it was looked for."""


def with_bound(result: SuppressionResult, bound: float) -> SuppressionResult:
    """Return a result with a bound: optimal when the bound meets the cost, and then nothing stopped it.

    Without a pattern the bound is that of an unknown answer; an infeasible problem has none.
    """
    if result.cost is None:
        return replace(result, bound=bound if result.status == "unknown" else None)
    if is_optimal(result.cost, bound):
        return replace(result, bound=result.cost, status="optimal", stopped="")
    return replace(result, bound=bound)


def with_bound_of(result: SuppressionResult, other: SuppressionResult) -> SuppressionResult:
    """Return a result with the bound of another run, if that is better: of this problem or of one with fewer sums.

    A problem with more sums to protect has the equations and questions of the other one and some more, so that the
    other's bound and its proof hold for it.
    """
    if other.bound is None or result.cost is None or (result.bound is not None and result.bound >= other.bound):
        return result
    known = replace(result, cuts=_proof(result, other), method=other.method, stopped=other.stopped)
    return with_bound(known, other.bound)


def joined(first: SuppressionResult, second: SuppressionResult) -> SuppressionResult:
    """Return the cheaper pattern of two runs, the second of which began with what the first left.

    The bound is the better one of both, seconds and work are those of both, and what ended the second ended all.
    """
    seconds, work = first.seconds + second.seconds, first.work + second.work
    if second.status == "infeasible" or not first.safe:
        return replace(second, seconds=seconds, work=work)
    best = second if second.cost is not None and second.cost <= (first.cost or 0.0) else first
    name = second.method if first.method == second.method else f"{first.method}, then {second.method}"
    stopped = "" if second.status == "optimal" else second.stopped
    rows = first.rows if second.rows is None else second.rows
    attacker_cuts = first.attacker_cuts if second.attacker_cuts is None else second.attacker_cuts
    both = replace(best, cuts=_proof(first, second), rows=rows, attacker_cuts=attacker_cuts, method=name)
    both = replace(both, stopped=stopped, seconds=seconds, work=work)
    bounds = [b for b in (first.bound, second.bound) if b is not None]
    return with_bound(both, max(bounds)) if bounds else replace(both, bound=None)


def _proof(*results: SuppressionResult) -> BoundProof | None:
    proofs = [result.cuts for result in results if isinstance(result.cuts, BoundProof)]
    return max(proofs, key=lambda proof: proof.bound, default=None)
