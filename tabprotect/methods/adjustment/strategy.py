"""What is tried in which order: given senses, and the ladder of bounds, patterns, turns and proofs for free ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tabprotect.counted import counted
from tabprotect.methods.adjustment.balance import balanced_senses
from tabprotect.methods.adjustment.bound import outer_approximation, root_bound
from tabprotect.methods.adjustment.fixed import solve_fixed
from tabprotect.methods.adjustment.options import Options
from tabprotect.methods.adjustment.programme import Programme
from tabprotect.methods.adjustment.reduce import reduce
from tabprotect.methods.adjustment.search import Search
from tabprotect.methods.adjustment.senses import enumerate_senses
from tabprotect.methods.adjustment.sizes import sizes_bound
from tabprotect.methods.adjustment.statement import Statement
from tabprotect.methods.adjustment.whole import enumerate_whole, grain, of_given_senses, raised
from tabprotect.problem import Problem
from tabprotect.solver.limits import Budget
from tabprotect.solver.tolerances import PROVEN

__all__ = ["METHODS", "Found", "Method", "for_free", "for_given"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

Method = Literal["auto", "exact", "turns", "blocks", "fix-and-relax", "patterns"]
METHODS: tuple[Method, ...] = ("auto", "exact", "turns", "blocks", "fix-and-relax", "patterns")


@dataclass(frozen=True, eq=False)
class Found:
    """What was found, in the numbers of the full statement.

    Attributes
    ----------
    z : ndarray of float or None
        Deviations of the moving cells.
    senses : ndarray of int, shape (primaries,)
    bound : float
    infeasible : bool
    method : str
        What found it.
    """

    z: Floats | None
    senses: Ints
    bound: float
    infeasible: bool
    method: str


def for_given(st: Statement, senses: Ints, proven_senses: int, budget: Budget, options: Options) -> Found:
    """Return the best deviations for given senses."""
    answer, name = solve_fixed(st, senses, budget), "given senses"
    if st.step is not None and proven_senses and _small_squares(st, options) and not answer.infeasible:
        with budget.part(options.senses_share) as part:
            answer, closed = of_given_senses(st, senses, answer, part)
        name += ", bounded by multipliers" if closed else ""
    return Found(answer.z, senses, answer.bound, answer.infeasible, name)


def _small_squares(st: Statement, options: Options) -> bool:
    """Whether branch and bound by multipliers is for a statement."""
    return st.norm == "l2" and not st.cones and st.n <= options.exact_cells


def for_free(
    problem: Problem,
    st: Statement,
    weight: Floats,
    method: Method,
    proven_senses: int,
    budget: Budget,
    seed: int,
    options: Options,
) -> Found:
    """Choose the senses of primaries, in a statement without cells that follow from others.

    Parameters
    ----------
    problem : Problem
    st : Statement
    weight : ndarray of float, shape (cells,)
    method, proven_senses
        As for `tabprotect.methods.adjustment.adjust.adjust`.
    budget : Budget
    seed : int
    options : Options
    """
    smaller = reduce(st, problem.system.label, options.reduced_cells, lambda: budget.exhausted)
    rng = np.random.default_rng(seed)
    search = Search(smaller.statement, budget, rng, plain_cells=options.plain_cells)
    first = balanced_senses(problem, st, weight, budget, rng)
    leading = None if first is None else smaller.leading(first)
    name, bound, infeasible = _searched(search, leading, method, proven_senses, budget, seed, options)
    search.finish()
    z = None if search.z is None else smaller.back @ search.z
    senses = np.zeros(st.k, np.int64) if search.senses is None else smaller.senses(search.senses)
    return Found(z, senses, bound, infeasible, name)


def _searched(
    search: Search,
    first: Ints | None,
    method: Method,
    proven_senses: int,
    budget: Budget,
    seed: int,
    options: Options,
) -> tuple[str, float, bool]:
    st = search.statement
    share = budget.seconds_left
    bound = sizes_bound(st, search.farthest(), budget, options.bound_share * share)
    if st.step is not None and st.norm != "linf":
        bound = raised(bound, grain(st.weights))
    search.patterns(first)
    if method == "patterns" or _proven(search, bound, budget.limits.gap):
        return "patterns (bounded by multipliers)" if st.norm == "l2" else "patterns", bound, False
    small = st.n <= options.exact_cells and st.k <= options.exact_senses
    large = st.n > options.relaxed_cells
    few = method in ("auto", "exact") and np.sum(st.forced == 0) <= proven_senses
    if few and _small_squares(st, options):
        with budget.part(options.senses_share) as part:
            found = (enumerate_senses if st.step is None else enumerate_whole)(search, part)
        bound = max(bound, found.bound)
        if found.infeasible or _proven(search, bound, budget.limits.gap):
            kind = "quadratic programme" if st.step is None else "linear programme"
            senses, programmes = counted(found.senses, "free sense"), counted(found.programmes, kind)
            return f"exact ({senses} by {programmes}, bounded by multipliers)", bound, found.infeasible
    programme = Programme(st, search.farthest())
    if not large:
        relaxed, x = root_bound(programme, budget, options.bound_share * share, bound)
        bound = max(bound, relaxed)
        if x is not None:
            search.try_senses(programme.deviations(x)[1])
    if method == "fix-and-relax":
        search.fix_and_relax(programme)
        return "fix-and-relax", bound, False
    if _proven(search, bound, budget.limits.gap):
        return "relaxation", bound, False
    until = np.inf if large and method == "auto" else budget.seconds + options.turns_share * share
    search.turns(options.patience, until)
    if method == "blocks":
        search.blocks(programme, options.patience, np.inf)
    exact = method == "exact" or (method == "auto" and (small or (np.isfinite(budget.seconds_left) and not large)))
    if not exact:
        return method if method == "blocks" else "turns", bound, False
    if _proven(search, bound, budget.limits.gap):
        return "turns", bound, False
    if st.norm == "l2" or st.cones:
        outer, infeasible = outer_approximation(programme, search, budget, budget.limits.gap, seed)
        return "exact (outer approximation)", max(bound, outer), infeasible
    start = None if search.z is None or search.senses is None else (search.z, search.senses)
    answer = programme.solve(budget, start=start, gap=budget.limits.gap, seed=seed)
    if answer.x is not None:
        search.polish(*programme.deviations(answer.x))
    return "exact", max(bound, -np.inf if answer.bound is None else answer.bound), answer.status == "infeasible"


def _proven(search: Search, bound: float, gap: float) -> bool:
    return bound * search.statement.objective_unit >= search.cost * (1 - max(gap, PROVEN))
