"""What is said of a result of suppression beside its status: how much is proven, and what can be recomputed."""

from __future__ import annotations

from fractions import Fraction
from typing import Protocol

import numpy as np

from tabprotect.attack.explore import explore
from tabprotect.attack.left_open import left_open_words, without_level
from tabprotect.attack.proof_rows import BoundProof
from tabprotect.certificate.extent import extent, within
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.solver.exact import exact
from tabprotect.solver.limits import Budget

__all__ = ["Claimed", "hidden_warnings", "optimality"]


class Claimed(Protocol):
    """What any method says of its answer."""

    @property
    def status(self) -> str:
        """Such as 'optimal'."""

    @property
    def cost(self) -> float | None:
        """Of the answer."""

    @property
    def bound(self) -> float | None:
        """What no other answer falls below, as the search says."""


def optimality(result: Claimed) -> str:
    """Return the status of a search; where its bound says more than the proof, how far exact arithmetic confirms it.

    The one source of these words, for terminals, JSON, pages and comparisons. Of distances nothing is proven.

    Examples
    --------
    >>> import tabprotect as tp
    >>> problem = tp.instances.load("eustat-investment")
    >>> optimality(tp.suppress(problem))
    'optimal'
    >>> optimality(tp.round(problem, 5))
    'optimal by the solver; no bound is proven in exact arithmetic'
    """
    claimed, cost = result.bound, _cost(result)
    if claimed is None or not cost or not claimed > 0:
        return result.status
    proof = result.cuts if isinstance(result, SuppressionResult) and isinstance(result.cuts, BoundProof) else None
    proven = extent(
        cost, cost if result.status == "optimal" else exact(claimed), None if proof is None else proof.bound
    )
    if not proven:
        return result.status
    by = getattr(getattr(result, "result", result), "bounded_by", "the solver")
    if result.status == "optimal":
        return f"optimal by {by}; {proven}"
    return f"{result.status}; by {by} within {within(cost, exact(claimed))}; {proven}"


def _cost(result: Claimed) -> Fraction | None:
    """Return the cost; of a pattern exactly."""
    if result.cost is None:
        return None
    if not isinstance(result, SuppressionResult):
        return exact(result.cost)
    secondaries = np.flatnonzero(result.pattern & ~result.problem.must_hide)
    return sum((exact(w) for w in result.problem.weights[secondaries].tolist()), Fraction(0))


def hidden_warnings(result: SuppressionResult) -> list[str]:
    """Return a warning of hidden cells without protection level that everybody can recompute exactly; confidential.

    Intervals that are merely narrow are a question for `tabprotect.audit`.

    Examples
    --------
    >>> import tabprotect as tp
    >>> p = tp.Problem.from_arrays([[-1, 1, 1]], [5, 2, 3], [], forced=[1], lpl=0, upl=0, cells=list("tab"))
    >>> hidden_warnings(tp.suppress(p))
    ['1 hidden cell without protection level can be computed by everybody, exactly: a']
    """
    problem, pattern = result.problem, result.pattern
    bare = without_level(problem, pattern)
    if not result.safe or not len(bare):
        return []
    public, _ = explore(problem, pattern, bare, False, False, Budget(), None)
    found = np.intersect1d(bare, public.recomputable)
    return left_open_words(problem, found, len(found)) if len(found) else []
