"""Sums of hidden cells as cells of a problem, which any method protects."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.errors import InputError, as_items
from tabprotect.problem import Attacker, Problem, Status, need_problem
from tabprotect.sensitivity.rule import TIE
from tabprotect.sensitivity.union_exposure import UnionExposure
from tabprotect.table.system import LinearSystem

__all__ = ["protect_unions", "values_with_sums"]


def protect_unions(problem: Problem, exposures: Sequence[UnionExposure]) -> Problem:
    """Add every exposed sum to a problem as a cell of its own, so that any method protects it.

    A new cell y_U = sum of the cells of U is a primary with the levels of the rules; it is hidden anyway and costs
    nothing. Its external bounds are the sums of those of its cells; above a bound of y >= 0, or of at least 1
    a cell, the lower level is capped as in `make_problem`. The new cells come last, so that
    ``pattern[:problem.n_cells]`` is the pattern of the problem given. Hiding more cells makes other, larger sums
    determined, so repeat `union_exposures` until there are none::

        while exposures := union_exposures(table, rules, result.pattern):
            problem = protect_unions(problem, exposures)
            result = suppress(problem)

    Every round adds only sums that were not protected before, and there are finitely many.

    Parameters
    ----------
    problem : Problem
        Of the table, possibly with sums already.
    exposures : sequence of UnionExposure

    Returns
    -------
    Problem

    Raises
    ------
    InputError
        If a sum is in the problem already: it was protected, so the pattern is not one that solves the problem.

    Notes
    -----
    An attacker who knows all cells of a sum knows the sum. One who knows some of them is tried on the sum too,
    which asks for a little more than needed, since the rule has its own idea of who guesses.

    Examples
    --------
    >>> A = [[-1, 1, 1, 1]]
    >>> p = Problem.from_arrays(A, [9, 3, 4, 2], primary=[1], lpl=1, upl=1, cells=["t", "a", "b", "c"])
    >>> exposure = UnionExposure((1, 2), 7.0, ("p%=15",), 0.5, 0.5, 0.0, True, "")
    >>> q = protect_unions(p, [exposure])
    >>> q.system.equation(1), q.primaries.tolist(), q.weights.tolist()
    ('sum of a + b = a + b', [1, 4], [9.0, 3.0, 4.0, 2.0, 0.0])
    """
    need_problem(problem, "protect_unions")
    exposures = as_items(exposures, UnionExposure, "exposures", "what tabprotect.union_exposures returns")
    names = ["sum of " + " + ".join(map(problem.system.label, e.cells)) for e in exposures]
    return _added(problem, exposures, names)


def protect_against_others(
    problem: Problem, exposures: Sequence[UnionExposure], spared: Sequence[Collection[int]]
) -> Problem:
    """Add sums that are in a problem once more, with levels that some attackers are not asked about.

    Parameters
    ----------
    problem : Problem
    exposures : sequence of UnionExposure
        The sums, with the levels that all others are asked about.
    spared : sequence of collection of int
        For every sum the positions of the attackers who are not asked.

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [9, 3, 4, 2], primary=[1], lpl=1, upl=1, cells=["t", "a", "b", "c"],
    ...     attackers=[Attacker("a", (1,))])
    >>> q = protect_against_others(p, [UnionExposure((1, 2), 7.0, ("p%=15",), 4.0, 0.0, 0.0, True, "")], [[0]])
    >>> q.system.label(4), q.attackers[0].spared
    ('sum of a + b for others (1)', (4,))
    """
    n = problem.n_cells
    names = [
        "sum of " + " + ".join(map(problem.system.label, e.cells)) + f" for others ({k})"
        for k, e in enumerate(exposures, start=problem.sums + 1)
    ]
    grown = _added(problem, exposures, names)
    attackers = tuple(
        replace(a, spared=(*a.spared, *(n + i for i, who in enumerate(spared) if k in who)))
        for k, a in enumerate(grown.attackers)
    )
    return replace(grown, attackers=attackers)


def values_with_sums(problem: Problem, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return values of the cells of a table, and behind them those of the sums that are cells of its problem.

    Parameters
    ----------
    problem : Problem
    values : ndarray, shape (cells of the table,)

    Examples
    --------
    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [9, 3, 4, 2], primary=[1], lpl=1, upl=1)
    >>> q = protect_unions(p, [UnionExposure((1, 2), 7.0, ("p%=15",), 0.5, 0.5, 0.0, True, "")])
    >>> values_with_sums(q, np.array([10.0, 5, 5, 0])).tolist()
    [10.0, 5.0, 5.0, 0.0, 10.0]
    """
    if not problem.sums:
        return values
    n = problem.n_cells - problem.sums
    return np.concatenate([values, problem.system.A[-problem.sums :, :n] @ values])


def _added(problem: Problem, exposures: Sequence[UnionExposure], names: Sequence[str]) -> Problem:
    if not exposures:
        return problem
    n, m = problem.n_cells, len(exposures)
    indptr = np.cumsum([0, *(len(e.cells) for e in exposures)])
    members = sparse.csr_array(
        (np.ones(indptr[-1]), np.concatenate([e.cells for e in exposures]), indptr), shape=(m, n), dtype=np.float64
    )
    nothing = sparse.csr_array((problem.system.n_equations, m))
    A = sparse.block_array([[problem.system.A, nothing], [members, -sparse.eye_array(m)]], format="csr")
    system = LinearSystem(A, np.r_[problem.system.b, np.zeros(m)], _ids(problem, names))
    values, lower, upper = (np.r_[array, members @ array] for array in (problem.values, problem.lower, problem.upper))
    levels = np.array([(e.lpl, e.upl, e.spl) for e in exposures]).T
    if problem.integer:
        levels = np.ceil(levels - TIE) + 0.0
    # at most 1 a cell is what everybody knows, and no bound that somebody gave
    known = (lower[n:] >= 0) & (lower[n:] <= np.diff(indptr))
    levels[0] = np.where(known, np.minimum(levels[0], values[n:] - lower[n:]), levels[0])
    lpl, upl, spl = (np.r_[a, b] for a, b in zip((problem.lpl, problem.upl, problem.spl), levels, strict=True))
    return replace(
        problem,
        system=system,
        values=values,
        status=np.r_[problem.status, np.full(m, Status.PRIMARY, np.int8)],
        lpl=lpl,
        upl=upl,
        spl=spl,
        weights=np.r_[problem.weights, np.zeros(m)],
        lower=lower,
        upper=upper,
        attackers=_who_know_sums(problem.attackers, members),
        sums=problem.sums + m,
    )


def _who_know_sums(attackers: Sequence[Attacker], members: sparse.csr_array) -> tuple[Attacker, ...]:
    """Return the attackers; who knows every cell of a sum knows the sum."""
    n = members.shape[1]
    indptr = np.cumsum([0, *(len(a.known) for a in attackers)])
    cells = np.concatenate([np.zeros(0, np.int64), *(np.asarray(a.known, np.int64) for a in attackers)])
    knows = sparse.csr_array((np.ones(len(cells)), cells, indptr), shape=(len(attackers), n))
    common = (knows @ members.T).tocoo()
    whole = common.data == np.diff(members.indptr)[common.coords[1]]
    more = list(attackers)
    for k, i in zip(common.coords[0][whole].tolist(), common.coords[1][whole].tolist(), strict=True):
        more[k] = replace(more[k], known=(*more[k].known, n + i))
    return tuple(more)


def _ids(problem: Problem, sums: Sequence[str]) -> pd.Index:
    """Return the ids of the cells and of the sums."""
    cells = problem.system.cells
    several = isinstance(cells, pd.MultiIndex)  # with one level, too
    new: list[Any] = [(name, *[""] * (cells.nlevels - 1)) if several else name for name in sums]
    if known := [name for name, key in zip(sums, new, strict=True) if key in cells]:
        raise InputError(f"{known[0]} is in the problem already; its pattern does not protect it")
    if several:
        return pd.MultiIndex.from_tuples([*cells.tolist(), *new], names=cells.names)
    ids: pd.Index = pd.Index([*cells.tolist(), *new], dtype=object, name=cells.name)
    return ids
