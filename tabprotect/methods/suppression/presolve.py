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

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.problem import Problem
from tabprotect.solver.elimination import eliminate
from tabprotect.solver.tolerances import LEVEL

__all__ = ["Core", "Reduction", "Targets", "reduce_problem"]

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Targets:
    """What must be protected: `cell[t]` must reach `level[t]` on `side[t]` against `attacker[t]`.

    Attributes
    ----------
    cell : ndarray of int
    side : ndarray of int
        +1 up, -1 down, 0 the width of the interval (sliding level).
    level : ndarray of float
        In the unit of the cell's deviation; positive.
    attacker : ndarray of int
        Position in the attackers of the core; -1 knows only what is published.
    """

    cell: Ints
    side: Ints
    level: Floats
    attacker: Ints

    def __len__(self) -> int:
        return len(self.cell)

    def __getitem__(self, which: Ints | Bools | slice) -> Targets:
        return Targets(self.cell[which], self.side[which], self.level[which], self.attacker[which])


@dataclass(frozen=True, eq=False)
class Core:
    """One independent part of a problem after reduction, stated in deviations.

    Attributes
    ----------
    A : scipy.sparse.csr_array, shape (m, n)
        Independent equations A z = 0.
    rows : ndarray of int
        The original equation behind every row.
    implied : scipy.sparse.csr_array, shape (k, n)
        Equations that follow from those of A: they tell an intruder nothing new, but each gives inequalities of its
        own.
    implied_rows : ndarray of int
        The original equation behind each of them.
    down, up : ndarray of float
        -down_i x_i <= z_i <= up_i x_i; may be infinite.
    weight : ndarray of float
        Cost of hiding; zero where `hidden`.
    hidden : ndarray of bool
        Cells that are hidden in every pattern (primary, forced, or free of charge).
    targets : Targets
    attackers : tuple of ndarray
        Positions of the cells that each attacker knows.
    members : tuple of (ndarray, ndarray)
        For every cell the original cells it stands for and their scales: z_original = scale * z.
    """

    A: sparse.csr_array
    rows: Ints
    implied: sparse.csr_array
    implied_rows: Ints
    down: Floats
    up: Floats
    weight: Floats
    hidden: Bools
    targets: Targets
    attackers: tuple[Ints, ...]
    members: tuple[tuple[Ints, Floats], ...] = field(repr=False)

    @property
    def n(self) -> int:
        """Number of cells."""
        return len(self.weight)

    def cost(self, x: Bools) -> float:
        """Return the weight of a choice of cells."""
        return float(self.weight[x].sum())


@dataclass(frozen=True, eq=False)
class Reduction:
    """The independent cores of a problem and the way back.

    Attributes
    ----------
    cores : tuple of Core
    base : ndarray of bool
        Original cells hidden in every pattern made here: the primaries and forced cells, and the safe cells tied to a
        primary.
    unreachable : tuple of (int, int, int, float)
        Targets (original cell, attacker, side, level) that the reduction alone shows to be out of reach: the cell
        cannot move at all, or its external bounds are nearer than its level.
    """

    problem: Problem
    cores: tuple[Core, ...]
    base: Bools
    unreachable: tuple[tuple[int, int, int, float], ...]

    @property
    def constant(self) -> float:
        """Weight of the safe cells that every pattern hides."""
        return self.problem.cost(self.base)

    def pattern(self, choices: Sequence[Bools]) -> Bools:
        """Translate choices of cells, one array a core, into a pattern of the original problem.

        Cells that are free of charge and hidden by choice are hidden in the pattern too.
        """
        pattern = self.base.copy()
        for core, x in zip(self.cores, choices, strict=True):
            if x.any():
                pattern[np.concatenate([core.members[i][0] for i in np.flatnonzero(x)])] = True
        return pattern

    def choices(self, pattern: Bools) -> list[Bools]:
        """Translate a pattern into choices: a cell of a core is chosen when all that it stands for is hidden."""
        return [np.array([pattern[cells].all() for cells, _ in core.members], dtype=bool) for core in self.cores]


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


def _targets(problem: Problem) -> list[tuple[int, int, int, float]]:
    """(cell, attacker, side, level) for everything with a positive level, the sliding level sharpening the sides."""
    p = problem.primaries
    down, up = problem.down[p], problem.up[p]
    lpl, upl, spl = problem.lpl[p], problem.upl[p], problem.spl[p]
    upl, lpl = np.maximum(upl, spl - down), np.maximum(lpl, spl - up)
    found = []
    known = [(-1, frozenset[int]())] + [(k, frozenset(a.known)) for k, a in enumerate(problem.attackers)]
    for attacker, cells in known:
        for i, cell in enumerate(p):
            if int(cell) in cells:
                continue
            for side, level in ((1, upl[i]), (-1, lpl[i]), (0, spl[i] if spl[i] > upl[i] + lpl[i] else 0.0)):
                if level > 0:
                    found.append((int(cell), attacker, side, float(level)))
    return found


def reduce_problem(problem: Problem) -> Reduction:
    """Reduce a problem to its independent cores.

    Every protected pattern of minimal cost of `problem` that hides no tied cell in vain corresponds to a choice of
    cells of the cores, at the same cost, and the other way round.
    """
    A_all = problem.system.A
    down, up = problem.down, problem.up
    never = _immovable(A_all, down, up, ~problem.may_hide)
    columns = np.flatnonzero(~never)
    tied_zero, leader, scale = _classes(A_all[:, columns])
    n_groups, group_of = _number(leader, tied_zero)
    group = np.full(problem.n_cells, -1, dtype=np.int64)
    group[columns] = group_of
    factor = np.zeros(problem.n_cells)
    factor[columns] = scale
    inside = np.flatnonzero(group >= 0)
    merge = sparse.coo_array((factor[inside], (inside, group[inside])), shape=(problem.n_cells, n_groups)).tocsr()
    A = sparse.csr_array(A_all @ merge)
    A.data[np.abs(A.data) < 1e-12] = 0.0
    A.eliminate_zeros()
    rows = _distinct(A)
    A = sparse.csr_array(A[rows])
    independent = np.zeros(len(rows), dtype=bool)
    independent[eliminate(A).independent] = True

    s = factor[inside]
    with np.errstate(invalid="ignore"):
        member_up = np.where(s > 0, up[inside], down[inside]) / np.abs(s)
        member_down = np.where(s > 0, down[inside], up[inside]) / np.abs(s)
    group_up, group_down = np.full(n_groups, np.inf), np.full(n_groups, np.inf)
    np.minimum.at(group_up, group[inside], member_up)
    np.minimum.at(group_down, group[inside], member_down)

    targets, unreachable = _merge_targets(problem, group, factor, group_down, group_up)
    needed = np.zeros(n_groups, dtype=bool)
    needed[[t[0] for t in targets]] = True
    base = problem.must_hide.copy()
    base[inside[needed[group[inside]]]] = True
    weight = np.zeros(n_groups)
    charged = inside[~base[inside]]
    np.add.at(weight, group[charged], problem.weights[charged])
    hidden = weight == 0
    cores = _split(problem, A, rows, independent, group, factor, inside, group_down, group_up, weight, hidden, targets)
    return Reduction(problem, cores, base, unreachable)


def _distinct(A: sparse.csr_array) -> Ints:
    """Rows that have entries, each once, whatever its sign."""
    A.sort_indices()
    first: dict[bytes, int] = {}
    for r in range(A.shape[0]):
        lo, hi = A.indptr[r], A.indptr[r + 1]
        if lo < hi:
            first.setdefault(A.indices[lo:hi].tobytes() + (A.data[lo:hi] * np.sign(A.data[lo])).tobytes(), r)
    return np.array(sorted(first.values()), dtype=np.int64)


def _classes(A: sparse.csr_array) -> tuple[Bools, Ints, Floats]:
    """Which columns are zero in every solution of A z = 0, and the leader and scale of the others."""
    n = A.shape[1]
    zero = np.zeros(n, dtype=bool)
    leader, scale = np.arange(n), np.ones(n)
    never, tied = eliminate(sparse.csr_array(A)).ties(np.random.default_rng(0))
    zero[never] = True
    for j, i, ratio in tied:
        leader[j], scale[j] = i, float(ratio)
    return zero, leader, scale


def _number(leader: Ints, zero: Bools) -> tuple[int, Ints]:
    """Number the classes 0, 1, ... in order of their first column; -1 for columns that are always zero."""
    roots = np.flatnonzero((leader == np.arange(len(leader))) & ~zero)
    number = np.full(len(leader), -1, dtype=np.int64)
    number[roots] = np.arange(len(roots))
    return len(roots), np.where(zero, -1, number[leader])


def _merge_targets(
    problem: Problem, group: Ints, factor: Floats, down: Floats, up: Floats
) -> tuple[dict[tuple[int, int, int], float], tuple[tuple[int, int, int, float], ...]]:
    """State the targets on groups, the largest level of each; set apart those that cannot be reached."""
    known = {-1: frozenset[int]()}
    for k, who in enumerate(problem.attackers):
        known[k] = frozenset(int(g) for g in group[list(who.known)] if g >= 0)
    targets: dict[tuple[int, int, int], float] = {}
    unreachable = []
    for cell, attacker, side, level in _targets(problem):
        g = int(group[cell])
        if g < 0 or g in known[attacker]:
            unreachable.append((cell, attacker, side, level))
            continue
        turned, size = side * int(np.sign(factor[cell])), level / abs(factor[cell])
        room = {1: up[g], -1: down[g], 0: up[g] + down[g]}[turned]
        if size > room * (1 + LEVEL):
            unreachable.append((cell, attacker, side, level))
            continue
        key = (g, attacker, turned)
        targets[key] = max(targets.get(key, 0.0), float(min(size, room)))
    return targets, tuple(unreachable)


def _split(
    problem: Problem,
    A: sparse.csr_array,
    rows: Ints,
    independent: Bools,
    group: Ints,
    factor: Floats,
    inside: Ints,
    down: Floats,
    up: Floats,
    weight: Floats,
    hidden: Bools,
    targets: dict[tuple[int, int, int], float],
) -> tuple[Core, ...]:
    """Cut the reduced system into its connected parts and keep those with something to protect."""
    n, m = A.shape[1], A.shape[0]
    links = A.tocoo()
    ones = np.ones(A.nnz)
    graph = sparse.coo_array((ones, (links.coords[1], n + links.coords[0])), shape=(n + m, n + m))
    _, part = sparse.csgraph.connected_components(graph, directed=False)
    cell_part, row_part = part[:n], part[n:]
    order = inside[np.argsort(group[inside], kind="stable")]
    starts = np.searchsorted(group[order], np.arange(n + 1))
    cores = []
    wanted: dict[int, list[tuple[int, int, int, float]]] = {}
    for (g, attacker, side), level in targets.items():
        wanted.setdefault(int(cell_part[g]), []).append((g, attacker, side, level))
    for which, asked in sorted(wanted.items()):
        cells = np.flatnonzero(cell_part == which)
        own = np.flatnonzero((row_part == which) & independent)
        implied = np.flatnonzero((row_part == which) & ~independent)
        position = np.full(n, -1, dtype=np.int64)
        position[cells] = np.arange(len(cells))
        names: dict[int, int] = {-1: -1}
        attackers: list[Ints] = []
        kept = []
        for g, attacker, side, level in asked:
            if attacker not in names:
                seen = group[list(problem.attackers[attacker].known)]
                local = np.unique(position[seen[seen >= 0]])
                local = local[local >= 0]
                names[attacker] = len(attackers) if len(local) else -2
                if len(local):
                    attackers.append(local)
            if names[attacker] != -2:  # an attacker who knows nothing here is the public one
                kept.append((int(position[g]), side, level, names[attacker]))
        kept.sort(key=lambda t: (t[3], t[0], -t[1]))
        cell, side_, level_, attacker_ = zip(*kept, strict=True)
        cores.append(
            Core(
                sparse.csr_array(A[own][:, cells]),
                rows[own],
                sparse.csr_array(A[implied][:, cells]),
                rows[implied],
                down[cells],
                up[cells],
                weight[cells],
                hidden[cells],
                Targets(np.array(cell), np.array(side_), np.array(level_), np.array(attacker_)),
                tuple(attackers),
                tuple((order[starts[g] : starts[g + 1]], factor[order[starts[g] : starts[g + 1]]]) for g in cells),
            )
        )
    return tuple(cores)
