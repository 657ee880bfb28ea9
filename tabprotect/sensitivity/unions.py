"""Sums of hidden cells that the published rest gives away, judged like cells of their own.

Two hidden cells of one row, whose sum is what the published cells leave of the margin, are each uncertain, but
their sum is published in all but name. If one contributor dominates that sum, he is exposed although both intervals
are wide. The interval audit of single cells cannot see this (Cox 2001; Handbook on Statistical Disclosure Control,
section 4.2: the protection level is "a necessary, but not always sufficient criterion").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import sparse

from tabprotect.errors import InputError
from tabprotect.problem import Attacker, Problem, Status
from tabprotect.sensitivity.assess import Levels, Rules, shape_levels, smallest_level
from tabprotect.sensitivity.merge import merged
from tabprotect.sensitivity.parse import as_rules
from tabprotect.sensitivity.rule import NOTHING, TIE, Override, Rule
from tabprotect.table.system import LinearSystem
from tabprotect.table.table import Table

__all__ = ["UnionExposure", "determined_unions", "protect_unions", "union_exposures"]

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]

DEPTH: Final = 2
"""How many hidden margins one after the other are replaced by their parts."""


@dataclass(frozen=True)
class UnionExposure:
    """A determined sum of hidden cells that a rule finds sensitive. Internal.

    Attributes
    ----------
    cells : tuple of int
        Positions of the hidden cells, ascending.
    value : float
        Their sum, which everybody can compute.
    rules : tuple of str
        The rules that it violates.
    lpl, upl, spl : float
        The levels that these rules ask for.
    decided : bool
        False when the largest contributions that the table keeps leave it open: it may be sensitive, so it counts
        as it. More of them (``tabulate(top=...)``) may clear it.
    reason : str
    """

    cells: tuple[int, ...]
    value: float
    rules: tuple[str, ...]
    lpl: float
    upl: float
    spl: float
    decided: bool
    reason: str


def determined_unions(system: LinearSystem, pattern: Bools) -> tuple[Ints, ...]:
    """Return the sets of two or more hidden cells whose sum the published cells determine.

    These are (1) the hidden parts of every equation whose margin is published; (2) such a set in which a hidden
    margin is replaced by its hidden parts, up to `DEPTH` times (the sum of two or three equations); (3) the
    difference of two such sets, one inside the other. Longer combinations of equations are not looked for, nor are
    equations with coefficients other than +1 and -1. Single cells that are determined are the business of the
    interval audit.

    Parameters
    ----------
    system : LinearSystem
    pattern : ndarray of bool, shape (cells,)
        True where a cell is hidden.

    Examples
    --------
    >>> s = LinearSystem.from_equations([("t", ["a", "b", "c", "d"]), ("b", ["e", "f", "g"])])
    >>> hidden = np.isin(s.cells, ["a", "b", "e", "f"])
    >>> [s.cells[u].tolist() for u in determined_unions(s, hidden)]
    [['a', 'b'], ['a', 'e', 'f']]
    """
    hidden = np.flatnonzero(pattern)
    rows = sparse.csr_array(_margins_negative(system.A)[:, hidden])
    plus, minus = _count(rows, 1.0), _count(rows, -1.0)
    usual = plus + minus == np.diff(rows.indptr)
    base = sparse.vstack(
        [rows[usual & (minus == 0) & (plus > 0)], -rows[usual & (plus == 0) & (minus > 0)]], format="csr"
    )
    margins = sparse.csr_array(rows[usual & (minus == 1) & (plus > 0)])
    found: dict[bytes, Ints] = {}
    frontier = _new(base, found)
    for _ in range(DEPTH):
        frontier = _new(_replaced(frontier, margins), found)
    sets = [cells for cells in found.values() if len(cells)]
    _new(_differences(sets, len(hidden)), found)
    unions = (hidden[cells] for cells in found.values() if len(cells) > 1)
    return tuple(sorted(unions, key=lambda cells: cells.tolist()))


def _count(A: sparse.csr_array, sign: float) -> Floats:
    """Return how often every row has the coefficient `sign`."""
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    return np.asarray(np.bincount(row, weights=A.data == sign, minlength=A.shape[0]), np.float64)


def _margins_negative(A: sparse.csr_array) -> sparse.csr_array:
    """Return A with every equation that has one cell of coefficient +1 and several of -1 turned over."""
    plus, minus = _count(A, 1.0), _count(A, -1.0)
    turn = np.where((plus == 1) & (minus > 1), -1.0, 1.0)
    return sparse.csr_array(sparse.diags_array(turn) @ A)


def _new(sets: sparse.csr_array, found: dict[bytes, Ints]) -> sparse.csr_array:
    """Note the rows that are not known yet; return them."""
    sets.sort_indices()
    fresh = []
    for row in range(sets.shape[0]):
        cells = sets.indices[sets.indptr[row] : sets.indptr[row + 1]].astype(np.int64)
        if found.setdefault(cells.tobytes(), cells) is cells:
            fresh.append(row)
    return sparse.csr_array(sets[fresh])


def _replaced(sets: sparse.csr_array, margins: sparse.csr_array) -> sparse.csr_array:
    """Return every set with one of its cells, a hidden margin, replaced by its hidden parts."""
    heads = margins.copy()
    heads.data = (margins.data == -1).astype(np.float64)
    heads.eliminate_zeros()
    pairs = (sets @ heads.T).tocoo()
    both = sparse.csr_array(sets[pairs.coords[0]] + margins[pairs.coords[1]])
    both.eliminate_zeros()
    return sparse.csr_array(both[_count(both, 1.0) == np.diff(both.indptr)])


def _differences(sets: Sequence[Ints], n: int) -> sparse.csr_array:
    """Return what is left of every set without another one that lies inside it."""
    indptr = np.cumsum([0, *map(len, sets)])
    indices = np.concatenate([np.zeros(0, np.int64), *sets])
    rows = sparse.csr_array((np.ones(len(indices)), indices, indptr), shape=(len(sets), n))
    sizes = np.diff(indptr)
    # a set lies only in such that have its rarest cell
    order = np.lexsort((np.bincount(indices, minlength=n)[indices], np.repeat(np.arange(len(sets)), sizes)))
    rarest = indices[order[indptr[:-1]]]
    having = sparse.csr_array(rows.T)
    inner = np.repeat(np.arange(len(sets)), np.diff(having.indptr)[rarest])
    outer = having[rarest].indices
    larger = sizes[inner] < sizes[outer]
    outer, inner = outer[larger], inner[larger]
    inside = (rows[outer].multiply(rows[inner]).sum(axis=1) == sizes[inner]) if len(inner) else larger[larger]
    left = sparse.csr_array(rows[outer[inside]] - rows[inner[inside]])
    left.eliminate_zeros()
    return left


def union_exposures(
    table: Table, rules: Rules, pattern: Bools, *, levels: Levels = "symmetric", minimum: float | None = None
) -> tuple[UnionExposure, ...]:
    """Find the determined sums of hidden cells that the rules would not let pass as cells.

    Contributions of one holder in several cells of a sum are added up. A contributor whom the table does not name
    counts as a different one in every cell, as do all contributors with sampling weights (Handbook, section 4.2).
    Where a cell has more contributors than the table keeps, the worst case that is consistent with its total
    decides; exposures that exist in the worst case only have ``decided=False``.

    Parameters
    ----------
    table : Table
    rules : rules
        As `assess` takes them. Sums of cells all of which an override declares safe (missing codes, an a-priori
        file) are passed over; the other overrides do not concern sums.
    pattern : ndarray of bool, shape (cells,)
        True where a cell is hidden; longer patterns (of a problem with unions) are cut.
    levels, minimum
        As in `assess`.

    Returns
    -------
    tuple of UnionExposure
        In the order of their cells.

    Notes
    -----
    Which sums are looked at is said in `determined_unions`. Requests of contributors beyond the kept ones are
    unknown and not guessed.

    Examples
    --------
    Each of two hidden cells has one contributor. Their sum is published minus published:

    >>> from tabprotect.table.tabulate import tabulate
    >>> data = pd.DataFrame({"region": list("nssw"), "firm": list("abcd"), "turnover": [80.0, 10, 10, 5]})
    >>> table = tabulate(data, ["region"], "turnover", contributor="firm")
    >>> hidden = np.isin(table.system.cells.get_level_values("region"), ["n", "w"])
    >>> for exposure in union_exposures(table, "p%=15", hidden):
    ...     print(exposure.cells, exposure.value, exposure.upl, exposure.reason)
    (1, 3) 85.0 12.0 n + w = 85 can be computed and violates p%=15
    """
    pattern = np.asarray(pattern, dtype=bool)
    if pattern.shape[0] < table.n_cells:
        raise InputError(f"the pattern has {pattern.shape[0]} entries for {table.n_cells} cells")
    wanted = as_rules(rules)
    sets = _concerned(table, wanted, determined_unions(table.system, pattern[: table.n_cells]))
    judges = [rule for rule in wanted if isinstance(rule, Rule)]
    if not sets or not judges:
        return ()
    least = smallest_level(table) if minimum is None else minimum
    n = len(sets)
    lpl, upl, fired, decided = np.zeros(n), np.zeros(n), np.zeros((n, len(judges)), bool), np.zeros(n, bool)
    top = max(rule.needs().top for rule in judges)
    for sums, sure in zip(merged(table, sets, top), (True, False), strict=True):
        for k, rule in enumerate(judges):
            verdict = rule.judge(sums)
            fired[verdict.cells, k] = True
            decided[verdict.cells] |= sure
            lpl[verdict.cells] = np.maximum(lpl[verdict.cells], np.maximum(verdict.lpl, least))
            upl[verdict.cells] = np.maximum(upl[verdict.cells], np.maximum(verdict.upl, least))
    lpl, upl, spl = shape_levels(lpl, upl, levels)
    return tuple(
        _exposure(
            table, sets[i], [str(judges[k]) for k in np.flatnonzero(fired[i])], lpl[i], upl[i], spl[i], decided[i]
        )
        for i in np.flatnonzero(fired.any(axis=1))
    )


def _concerned(table: Table, rules: Sequence[Rule | Override], sets: Sequence[Ints]) -> list[Ints]:
    """Leave out sums whose cells are all declared safe."""
    safe = np.zeros(table.n_cells, bool)
    for override in sorted((rule for rule in rules if isinstance(rule, Override)), key=lambda rule: rule.rank):
        status = override.decide(table).status
        safe = np.where(status == NOTHING, safe, status == Status.SAFE)
    return [cells for cells in sets if not safe[cells].all()]


def _exposure(
    table: Table, cells: Ints, rules: list[str], lpl: float, upl: float, spl: float, decided: bool
) -> UnionExposure:
    value = float(table.values[cells].sum())
    names = [table.system.label(int(cell)) for cell in cells[:4]] + (["..."] if len(cells) > 4 else [])
    words = f"{' + '.join(names)} = {value:g} can be computed and {'violates' if decided else 'may violate'} "
    words += ", ".join(rules) + ("" if decided else " (the table keeps too few contributions to tell)")
    return UnionExposure(
        tuple(cells.tolist()), value, tuple(rules), float(lpl), float(upl), float(spl), bool(decided), words
    )


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
    if not exposures:
        return problem
    n, m = problem.n_cells, len(exposures)
    indptr = np.cumsum([0, *(len(e.cells) for e in exposures)])
    members = sparse.csr_array(
        (np.ones(indptr[-1]), np.concatenate([e.cells for e in exposures]), indptr), shape=(m, n), dtype=np.float64
    )
    nothing = sparse.csr_array((problem.system.n_equations, m))
    A = sparse.block_array([[problem.system.A, nothing], [members, -sparse.eye_array(m)]], format="csr")
    system = LinearSystem(A, np.r_[problem.system.b, np.zeros(m)], _names(problem, exposures))
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


def _names(problem: Problem, exposures: Sequence[UnionExposure]) -> pd.Index:
    """Return the ids of the cells and of the sums."""
    cells = problem.system.cells
    sums = ["sum of " + " + ".join(map(problem.system.label, e.cells)) for e in exposures]
    several = isinstance(cells, pd.MultiIndex)  # with one level, too
    new: list[Any] = [(name, *[""] * (cells.nlevels - 1)) if several else name for name in sums]
    if known := [name for name, key in zip(sums, new, strict=True) if key in cells]:
        raise InputError(f"{known[0]} is in the problem already; its pattern does not protect it")
    if several:
        return pd.MultiIndex.from_tuples([*cells.tolist(), *new], names=cells.names)
    ids: pd.Index = pd.Index([*cells.tolist(), *new], dtype=object, name=cells.name)
    return ids
