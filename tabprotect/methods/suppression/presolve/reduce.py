"""Make a suppression problem smaller without changing its optimum, and tell which cells nothing can protect.

What is done, in order, and why the optimum stays (deviations z, A z = 0, z_i = 0 where nothing is hidden):

1. Cells that never move (protected from suppression, structural zeros, equal external bounds, or alone in an equation;
   all cells of an equation whose terms can only have one sign) have z_i = 0 in every attack: drop them.
2. Cells that are multiples of each other in every solution of A z = 0 (two cells of one equation, or by a
   combination of equations) move together or not at all. Hiding one and not all of them hides nothing, so they
   become one cell: tightest bounds, largest levels, summed weights.
3. Dependent equations say nothing new to an intruder: they leave the attacks (and stay for inequalities of their own).
4. Cells that share no equation, directly or through others, are independent problems: solve them apart, and
   publish everything where nothing is to be protected.
5. A level that a sliding level implies on one side is stated on that side: max z >= SPL - LB and so on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.methods.suppression.presolve.core import Core, Reduction, Targets
from tabprotect.problem import Problem
from tabprotect.solver.connected import connected
from tabprotect.solver.exact.elimination import Elimination, eliminate
from tabprotect.solver.tolerances import CANCELLED, LEVEL

__all__ = ["questions", "reduce_problem"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Groups:
    """The reduced system as a whole: equations, and cells that move together as groups.

    Attributes
    ----------
    A : csr_array, shape (rows, groups)
    rows, independent : ndarray
        The original equation behind every row, and whether it says something new.
    group, factor : ndarray, shape (cells,)
        As in `Reduction`.
    down, up, weight, hidden : ndarray, shape (groups,)
        As in `Core`.
    """

    A: sparse.csr_array
    rows: Ints
    independent: Bools
    group: Ints
    factor: Floats
    down: Floats
    up: Floats
    weight: Floats
    hidden: Bools


def _immovable(A: sparse.csr_array, down: Floats, up: Floats, never: Bools) -> Bools:
    """Extend `never` by cells alone in an equation and by equations whose terms all have one sign."""
    never = never | ((down <= 0) & (up <= 0))
    pattern = sparse.csr_array((np.ones_like(A.data), A.indices, A.indptr), shape=A.shape)
    row = np.repeat(np.arange(A.shape[0]), np.diff(A.indptr))
    while True:
        free = ~never
        live = free[A.indices]
        positive = A.data > 0
        # a term may rise (fall) in an equation unless its bound on that side is zero
        rise = live & np.where(positive, up[A.indices] > 0, down[A.indices] > 0)
        fall = live & np.where(positive, down[A.indices] > 0, up[A.indices] > 0)
        n_rise = np.bincount(row[rise], minlength=A.shape[0])
        n_fall = np.bincount(row[fall], minlength=A.shape[0])
        count = np.asarray(pattern @ free.astype(np.float64))
        stuck = ((n_rise == 0) | (n_fall == 0) | (count == 1)) & (count > 0)
        if not stuck.any():
            return never
        never = never.copy()
        never[A.indices[stuck[row]]] = True


def questions(problem: Problem) -> tuple[Ints, Ints, Floats]:
    """(cell, side, level) for everything with a positive level, the sliding level sharpening the sides."""
    p = problem.primaries
    down, up = problem.down[p], problem.up[p]
    lpl, upl, spl = problem.lpl[p], problem.upl[p], problem.spl[p]
    upl, lpl = np.maximum(upl, spl - down), np.maximum(lpl, spl - up)
    level = np.concatenate((upl, lpl, np.where(spl > upl + lpl, spl, 0.0)))
    asked = level > 0
    return np.tile(p, 3)[asked], np.repeat(np.array([1, -1, 0]), len(p))[asked], level[asked]


def reduce_problem(problem: Problem, *, insiders: bool = True) -> Reduction:
    """Reduce a problem to its independent cores.

    Parameters
    ----------
    problem : Problem
    insiders : bool
        State the targets of attackers who know cells one by one, which takes memory in proportion to attackers times
        targets of a core; without, only those of the public are stated, and attackers are known by their cells.

    Notes
    -----
    Every protected pattern of minimal cost of `problem` that hides no tied cell without need corresponds to a choice of
    cells of the cores, at the same cost, and the other way round.
    """
    A_all = problem.system.A
    down, up = problem.down, problem.up
    never = _immovable(A_all, down, up, ~problem.may_hide)
    columns = np.flatnonzero(~never)
    echelon = eliminate(sparse.csr_array(A_all[:, columns]))
    tied_zero, leader, scale = _classes(echelon, len(columns))
    spared = np.unique(np.concatenate([np.zeros(0, np.int64), *(list(a.spared) for a in problem.attackers)]))
    _by_themselves(np.flatnonzero(np.isin(columns, spared)), leader, scale)
    n_groups, group_of = _number(leader, tied_zero)
    group = np.full(problem.n_cells, -1, dtype=np.int64)
    group[columns] = group_of
    factor = np.zeros(problem.n_cells)
    factor[columns] = scale
    inside = np.flatnonzero(group >= 0)
    merge = sparse.coo_array((factor[inside], (inside, group[inside])), shape=(problem.n_cells, n_groups)).tocsr()
    A = sparse.csr_array(A_all @ merge)
    A.data[np.abs(A.data) < CANCELLED] = 0.0
    A.eliminate_zeros()
    same = _same(A)
    rows = np.unique(same[same >= 0])
    A = sparse.csr_array(A[rows])
    independent = np.isin(rows, same[echelon.independent])
    # every class merged into its leader takes a column and a dimension of the rows along
    if independent.sum() > echelon.rank - (len(columns) - n_groups):
        which = np.flatnonzero(independent)
        independent[np.delete(which, eliminate(sparse.csr_array(A[which])).independent)] = False

    s = factor[inside]
    with np.errstate(invalid="ignore"):
        member_up = np.where(s > 0, up[inside], down[inside]) / np.abs(s)
        member_down = np.where(s > 0, down[inside], up[inside]) / np.abs(s)
    group_up, group_down = np.full(n_groups, np.inf), np.full(n_groups, np.inf)
    np.minimum.at(group_up, group[inside], member_up)
    np.minimum.at(group_down, group[inside], member_down)

    targets = _merge_targets(problem, group, factor, group_down, group_up)
    needed = np.zeros(n_groups, dtype=bool)
    needed[targets.cell] = True
    base = problem.must_hide.copy()
    base[inside[needed[group[inside]]]] = True
    weight = np.zeros(n_groups)
    charged = inside[~base[inside]]
    np.add.at(weight, group[charged], problem.weights[charged])
    groups = _Groups(A, rows, independent, group, factor, group_down, group_up, weight, weight == 0)
    return Reduction(problem, _split(problem, groups, targets, insiders), base, group, factor)


def _same(A: sparse.csr_array) -> Ints:
    """For every row the first one that is the same, whatever its sign; -1 where it has no entries."""
    A.sort_indices()
    first: dict[bytes, int] = {}
    found = np.full(A.shape[0], -1)
    for r in range(A.shape[0]):
        lo, hi = A.indptr[r], A.indptr[r + 1]
        if lo < hi:
            key = A.indices[lo:hi].tobytes() + (A.data[lo:hi] * np.sign(A.data[lo])).tobytes()
            found[r] = first.setdefault(key, r)
    return found


def _classes(echelon: Elimination, n: int) -> tuple[Bools, Ints, Floats]:
    """Which of n columns are zero in every solution of A z = 0, and the leader and scale of the others."""
    zero = np.zeros(n, dtype=bool)
    leader, scale = np.arange(n), np.ones(n)
    never, tied = echelon.ties(np.random.default_rng(0))
    zero[never] = True
    for j, i, ratio in tied:
        leader[j], scale[j] = i, float(ratio)
    return zero, leader, scale


def _by_themselves(apart: Ints, leader: Ints, scale: Floats) -> None:
    """Take columns out of their classes: what some attackers are not asked about has levels of its own."""
    for column in apart.tolist():
        led = np.flatnonzero(leader == column)
        led = led[led != column]
        if len(led):
            leader[led], scale[led] = led[0], scale[led] / scale[led[0]]
        leader[column], scale[column] = column, 1.0


def _number(leader: Ints, zero: Bools) -> tuple[int, Ints]:
    """Number the classes 0, 1, ... in order of their first column; -1 for columns that are always zero."""
    roots = np.flatnonzero((leader == np.arange(len(leader))) & ~zero)
    number = np.full(len(leader), -1, dtype=np.int64)
    number[roots] = np.arange(len(roots))
    return len(roots), np.where(zero, -1, number[leader])


def _merge_targets(problem: Problem, group: Ints, factor: Floats, down: Floats, up: Floats) -> Targets:
    """State the questions of the public on groups, the largest level of each; leave out those that nothing answers."""
    cell, side, level = questions(problem)
    inside = group[cell] >= 0
    cell, side, level = cell[inside], side[inside], level[inside]
    g = group[cell]
    side, level = side * np.sign(factor[cell]).astype(np.int64), level / np.abs(factor[cell])
    room = np.where(side > 0, up[g], np.where(side < 0, down[g], up[g] + down[g]))
    near = level <= room * (1 + LEVEL)
    key, place = np.unique(g[near] * 3 + 1 - side[near], return_inverse=True)
    largest = np.zeros(len(key))
    np.maximum.at(largest, place, np.minimum(level, room)[near])
    return Targets(key // 3, 1 - key % 3, largest, np.full(len(key), -1))


def _split(problem: Problem, groups: _Groups, targets: Targets, insiders: bool) -> tuple[Core, ...]:
    """Cut the reduced system into its connected parts and keep those with something to protect."""
    g, A, (m, n) = groups, groups.A, groups.A.shape
    part = connected(A.indices, n + np.repeat(np.arange(m), np.diff(A.indptr)), n + m)
    cell_part, row_part = part[:n], part[n:]
    inside = np.flatnonzero(g.group >= 0)
    order = inside[np.argsort(g.group[inside], kind="stable")]
    starts, factors = np.searchsorted(g.group[order], np.arange(n + 1)).tolist(), g.factor[order]
    cores = []
    known = [(np.unique(g.group[list(a.known)]), np.unique(g.group[list(a.spared)])) for a in problem.attackers]
    for which in np.unique(cell_part[targets.cell]).tolist():
        asked = targets[cell_part[targets.cell] == which]
        cells = np.flatnonzero(cell_part == which)
        own = np.flatnonzero((row_part == which) & g.independent)
        implied = np.flatnonzero((row_part == which) & ~g.independent)
        position = np.full(n, -1, dtype=np.int64)
        position[cells] = np.arange(len(cells))
        attackers, spared = _attackers(known, position)
        cores.append(
            Core(
                sparse.csr_array(A[own][:, cells]),
                g.rows[own],
                sparse.csr_array(A[implied][:, cells]),
                g.rows[implied],
                g.down[cells],
                g.up[cells],
                g.weight[cells],
                g.hidden[cells],
                _of_everybody(asked, position, zip(attackers, spared, strict=True) if insiders else ()),
                attackers,
                spared,
                tuple((order[(s := slice(starts[i], starts[i + 1]))], factors[s]) for i in cells.tolist()),
            )
        )
    return tuple(cores)


def _attackers(groups: Sequence[tuple[Ints, Ints]], position: Ints) -> tuple[tuple[Ints, ...], tuple[Ints, ...]]:
    """The cells of a core that attackers know, and those spared; who is as another one, or knows none, is left out."""
    different: dict[tuple[bytes, bytes], tuple[Ints, Ints]] = {}
    for pair in groups:
        places = (position[of[of >= 0]] for of in pair)
        known, spared = (np.sort(place[place >= 0]) for place in places)
        if len(known):
            different.setdefault((known.tobytes(), spared.tobytes()), (known, spared))
    return tuple(known for known, _ in different.values()), tuple(spared for _, spared in different.values())


def _of_everybody(public: Targets, position: Ints, attackers: Iterable[tuple[Ints, Ints]]) -> Targets:
    """The targets of the public, and those of every attacker on the cells that he does not know, nor is spared."""
    cell = position[public.cell]
    order = np.lexsort((-public.side, cell))
    mine = Targets(cell[order], public.side[order], public.level[order], public.attacker[order])
    parts = [mine]
    for k, unasked in enumerate(attackers):
        rest = mine[~np.isin(mine.cell, np.concatenate(unasked))]
        parts.append(Targets(rest.cell, rest.side, rest.level, np.full(len(rest), k)))
    return Targets(
        np.concatenate([t.cell for t in parts]),
        np.concatenate([t.side for t in parts]),
        np.concatenate([t.level for t in parts]),
        np.concatenate([t.attacker for t in parts]),
    )
