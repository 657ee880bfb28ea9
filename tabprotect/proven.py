"""What is said of a result of suppression beside its status: how much is proven, and what can be recomputed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from tabprotect.attack.audit import left_open_words, without_level
from tabprotect.attack.explore import explore
from tabprotect.attack.proof import BoundProof
from tabprotect.methods.suppression.result import SuppressionResult
from tabprotect.solver.exact import exact
from tabprotect.solver.limits import Budget

__all__ = ["hidden_warnings", "optimality"]


def optimality(result: SuppressionResult) -> str:
    """Return the status of a search; where it says more than the proof, how far exact arithmetic confirms it.

    Examples
    --------
    >>> import tabprotect as tp
    >>> optimality(tp.suppress(tp.instances.load("eustat-investment")))
    'optimal'
    """
    if result.status != "optimal" or result.cost is None:
        return result.status
    proof = result.cuts if isinstance(result.cuts, BoundProof) else None
    if proof is None:
        return "optimal" if not result.cost else "optimal by the solver; no bound is proven in exact arithmetic"
    secondaries = np.flatnonzero(result.pattern & ~result.problem.must_hide)
    cost = sum((exact(w) for w in result.problem.weights[secondaries].tolist()), Fraction(0))
    if proof.bound >= cost:
        return "optimal"
    share = float(100 * (cost - proof.bound) / cost)
    return f"optimal by the solver; proven in exact arithmetic to within {share:.2f} %"


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
