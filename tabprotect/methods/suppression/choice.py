"""Which suppression method suits a problem, and why."""

from __future__ import annotations

import numpy as np

from tabprotect.counted import counted
from tabprotect.methods.suppression.large.surroundings import Surroundings
from tabprotect.methods.suppression.options import DEFAULTS, Options
from tabprotect.problem import Problem

__all__ = ["begins", "choose", "nearness"]


def nearness(problem: Problem, options: Options = DEFAULTS) -> float:
    """Return the median share of cells within a few equations of a primary.

    Examples
    --------
    >>> A = [[-1, 1, 1, 0, 0], [0, 0, -1, 1, 1]]
    >>> nearness(Problem.from_arrays(A, [9, 4, 5, 2, 3], primary=[1], lpl=1, upl=1))
    1.0
    """
    primaries = problem.primaries
    if not len(primaries):
        return 0.0
    some = primaries[np.unique(np.linspace(0, len(primaries) - 1, options.choice.near_primaries).astype(np.int64))]
    near = Surroundings(problem.system)
    sizes = [len(near.ball(np.array([p]), options.choice.near_equations, problem.may_hide)) for p in some.tolist()]
    return float(np.median(sizes)) / problem.n_cells


def choose(problem: Problem, options: Options = DEFAULTS) -> tuple[str, str]:
    """Return the method that suits a problem, and why.

    Examples
    --------
    >>> choose(Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2))
    ('exact', '4 cells are at most 3,000')
    """
    n = problem.n_cells
    size = counted(n - problem.sums, "cell")
    if problem.sums:
        # later rounds may find more
        size += f" and {counted(problem.sums, 'sum')} found until then"
    if n <= options.choice.always_exact_cells:
        return "exact", f"{size} {'is' if n == 1 else 'are'} at most {options.choice.always_exact_cells:,}"
    if n > options.choice.never_exact_cells:
        return "local", f"{size} {'is' if n == 1 else 'are'} more than {options.choice.never_exact_cells:,}"
    links = problem.system.A.nnz / n
    if links > options.choice.linked_equations:
        return "exact", f"each of {size} is in {links:.1f} equations on average"
    watched = problem.attackers and n > options.choice.attacker_cells
    few = len(problem.primaries) <= options.choice.two_way_primaries
    if links <= options.choice.two_way_equations and not watched and (few or _is_dense(problem, options)):
        return "exact", f"each of {size} is in only {links:.1f} equations on average"
    share = nearness(problem, options)
    why = f"{options.choice.near_equations} equations lead from a primary to {100 * share:.0f} % of {size}"
    return "local" if share <= options.choice.near_share else "exact", why


def begins(problem: Problem, options: Options = DEFAULTS) -> str:
    """Return the method whose first pattern is a better start for the exact engine than that of its own first pool."""
    n = problem.n_cells
    if n <= options.choice.own_start_cells or (_is_dense(problem, options) and not problem.attackers):
        return "exact"
    return "greedy" if problem.system.A.nnz > options.choice.linked_equations * n else "local"


def _is_dense(problem: Problem, options: Options) -> bool:
    return len(problem.primaries) > options.choice.dense_primaries * problem.n_cells
