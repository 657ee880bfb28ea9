"""Turn the rows behind the bound of a relaxation into a proof that is checked against the problem itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from scipy import sparse

from tabprotect.attack import proof_rows as exact_rows
from tabprotect.attack.facts import facts_of
from tabprotect.attack.keys import Key
from tabprotect.attack.proof import prove_bound, snap_multipliers
from tabprotect.attack.proof_rows import BoundProof, ExactMultipliers, ProofRow
from tabprotect.methods.suppression.bound.cuts import Bridge, Capacity, Cover, Own
from tabprotect.methods.suppression.bound.joint import strengthen
from tabprotect.methods.suppression.options import DEFAULTS, RelaxationOptions
from tabprotect.methods.suppression.presolve.core import Core, Reduction
from tabprotect.problem import Problem
from tabprotect.solver.exact import exact
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LinearProgram
from tabprotect.solver.mip.rows import RowPool
from tabprotect.solver.mip.zerohalf import ZeroHalf
from tabprotect.solver.tolerances import LEVEL, ROUNDED_UP, TIGHT_ROW, USED_ROW

__all__ = ["bound_proof"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def bound_proof(
    reduction: Reduction,
    pools: Mapping[int, tuple[RowPool, Floats]],
    budget: Budget | None = None,
    options: RelaxationOptions = DEFAULTS.relaxation,
) -> BoundProof:
    """Prove the bound of the linear relaxations of the cores, exactly.

    Parameters
    ----------
    reduction : Reduction
    pools : mapping of int to (RowPool, ndarray)
        For every core with a relaxation its rows with their origins and the solution of the relaxation. Rows without
        an origin that can be rebuilt are left out, which only weakens the bound. Joint cuts are added to them.
    budget : Budget, optional
        For joint cuts.
    options : RelaxationOptions

    Returns
    -------
    BoundProof
        Of a bound that is near the sum of the relaxations, or above it where weights allow to round up.
    """
    problem = reduction.problem
    rows = [row for core in reduction.cores for row in _of_members(problem, core)]
    companions = np.flatnonzero(reduction.base & ~problem.must_hide & (problem.weights > 0))
    rows += [exact_rows.Companion(int(i)) for i in companions]
    for number, (pool, x) in pools.items():
        core = reduction.cores[number]
        x = strengthen(core, pool, x, budget or Budget(), options)
        translator = _Translator(problem, core, pool, rows)
        for k in _active(core, pool, x):
            translator.row(k)
    return prove_bound(problem, rows, facts_of(problem, *_ties(reduction)))


def _ties(reduction: Reduction) -> tuple[list[tuple[Ints, Floats]], Ints]:
    """Groups of cells that move together, and cells that never move, as far as the equations of the cores name them."""
    group = reduction.group
    named = [rows for core in reduction.cores for rows in (core.rows, core.implied_rows)]
    used = np.concatenate([np.zeros(0, np.int64), *named])
    seen = np.unique(reduction.problem.system.A[used].indices).astype(np.int64)
    merged = [members for core in reduction.cores for members in core.members if len(members[0]) > 1]
    inside = np.zeros(group.max(initial=-1) + 1, bool)
    inside[[group[members[0][0]] for core in reduction.cores for members in core.members]] = True
    # groups of no core are named by equations in which their cells cancel out
    for g in np.setdiff1d(group[seen], np.append(np.flatnonzero(inside), -1)).tolist():
        cells = np.flatnonzero(group == g)
        merged.append((cells, reduction.factor[cells]))
    return merged, seen[reduction.problem.may_hide[seen] & (group[seen] < 0)]


def _of_members(problem: Problem, core: Core) -> list[ProofRow]:
    """x_i <= x_j <= x_i for the cells that one cell of the core stands for."""
    rows: list[ProofRow] = []
    for cells, _ in core.members:
        mine = _open(problem, cells)
        if len(mine) == len(cells) > 1:
            pairs = list(zip(mine, [*mine[1:], mine[0]], strict=True))
            rows += [exact_rows.Tied(i, j) for i, j in pairs]
    return rows


def _open(problem: Problem, cells: Ints) -> list[int]:
    free = problem.may_hide[cells] & ~problem.must_hide[cells] & (problem.weights[cells] > 0)
    return [int(i) for i in cells[free]]


def _active(core: Core, pool: RowPool, x: Floats) -> list[int]:
    """Rows of the pool that carry the bound: those with a multiplier among the ones tight at the solution."""
    tight = np.flatnonzero(np.abs(pool.slack(x)) < TIGHT_ROW)
    if not len(tight):
        return []
    lp = LinearProgram(
        pool.matrix[tight],
        pool.rhs[tight],
        np.full(len(tight), np.inf),
        core.hidden.astype(np.float64),
        np.ones(core.n),
        core.weight,
    )
    duals = lp.solve().duals
    return [int(k) for k in tight[duals > USED_ROW * max(1.0, float(np.abs(duals).max(initial=0.0)))]]


class _Translator:
    """Writes rows of a pool in the terms of the problem, each after the rows that it is made of."""

    def __init__(self, problem: Problem, core: Core, pool: RowPool, rows: list[ProofRow]) -> None:
        self.problem = problem
        self.core = core
        self.pool = pool
        self.rows = rows
        self._place: dict[int, int | None] = {}
        self._whole: sparse.csr_array | None = None
        self._attackers = _attackers(problem, core)

    def row(self, k: int) -> int | None:
        """Position of a row of the pool among the rows of the proof; None if it cannot be rebuilt."""
        if k not in self._place:
            origin = self.pool.origin(k)
            if isinstance(origin, Bridge):
                (cell,) = self._speakers([origin.cell])
                self._place[k] = self._add(exact_rows.Bridge(cell, origin.equation))
            elif isinstance(origin, Capacity | Own):
                self._place[k] = self._capacity(origin)
            elif isinstance(origin, Cover) and isinstance(origin.parent, Capacity | Own):
                base = self._capacity(origin.parent)
                others = self._speakers(origin.others)
                self._place[k] = None if base is None else self._add(exact_rows.Cover(base, tuple(others)))
            elif isinstance(origin, ZeroHalf):
                self._place[k] = self._half(origin)
            else:
                self._place[k] = None
        return self._place[k]

    def _add(self, row: ProofRow) -> int:
        self.rows.append(row)
        return len(self.rows) - 1

    def _speakers(self, cells: Sequence[int] | Ints) -> list[int]:
        """One open cell of the problem for each of some cells of the core."""
        return [_open(self.problem, self.core.members[int(i)][0])[0] for i in cells]

    def _half(self, cut: ZeroHalf) -> int | None:
        parents = [self.row(int(k)) for k in cut.parents]
        if self._whole is None or self._whole.shape[0] < len(self.pool):
            self._whole = self.pool.matrix.copy()
            self._whole.data = np.ceil(self._whole.data - ROUNDED_UP)
        total: Floats = np.asarray(self._whole[cut.parents].sum(axis=0), np.float64).ravel()
        total[cut.row.index] -= 2 * cut.row.values
        terms = []
        for parent in parents:
            if parent is None:
                return None
            terms.append((self._add(exact_rows.Rounded(parent)), Fraction(1, 2)))
        lowered = self._speakers(np.flatnonzero(total > 0))
        terms += [(self._add(exact_rows.AtMost1(cell)), Fraction(1, 2)) for cell in lowered]
        return self._add(exact_rows.Rounded(self._add(exact_rows.Sum(tuple(terms)))))

    def _capacity(self, cut: Capacity | Own) -> int | None:
        """State a cut about a cell of the core as one about the cell of the problem that its level comes from."""
        problem, targets, t = self.problem, self.core.targets, cut.target
        side, level = int(targets.side[t]), float(targets.level[t])
        group = int(targets.cell[t])
        vectors: dict[int, ExactMultipliers | None]
        if isinstance(cut, Own):
            one = np.array([side / cut.coefficient])
            vectors = {
                side: snap_multipliers(np.array([cut.equation]), one, np.array([cut.coefficient]), side),
                -side: None,
            }
        else:
            vectors = {
                1: None if cut.up is None else self._exact(cut.up, group, 1 if side else 0),
                -1: None if cut.down is None else self._exact(cut.down, group, -1 if side else 0),
            }
        nothing = ExactMultipliers((), (), 1)
        attacker = -1 if cut.attacker < 0 else self._attackers[cut.attacker]
        for cell, scale in zip(*self.core.members[group], strict=True):
            turn, size = int(np.sign(scale)), abs(float(scale))
            mine = {turn * s: None if v is None else _times(v, exact(size)) for s, v in vectors.items()}
            need, most = {1: problem.upl, -1: problem.lpl, 0: problem.spl}, {1: problem.down, -1: problem.up}
            way = side * turn
            if _equal(float(need[way][cell]), level * size):
                key = Key(attacker, int(cell), way)
                parts = (mine[1], mine[-1]) if way == 0 else (mine[way],)
            elif way and _equal(float(problem.spl[cell] - most[way][cell]), level * size):
                # a sliding level less the room on the other side
                key = Key(attacker, int(cell), 0)
                parts = (mine[1] or nothing, mine[-1] or nothing)
            else:
                continue
            if all(part is not None for part in parts):
                return self._add(exact_rows.Capacity(key, tuple(part for part in parts if part is not None)))
        return None

    def _exact(self, multipliers: Floats, group: int, side: int) -> ExactMultipliers:
        used = np.flatnonzero(multipliers)
        own = self.core.A[used][:, [group]].toarray().ravel()
        return snap_multipliers(self.core.rows[used], multipliers[used], own, side)


def _equal(need: float, level: float) -> bool:
    return need > 0 and abs(need - level) <= LEVEL * need


def _times(multipliers: ExactMultipliers, factor: Fraction) -> ExactMultipliers:
    equations, numerators, denominator = multipliers
    return ExactMultipliers(
        equations, tuple(m * factor.numerator for m in numerators), denominator * factor.denominator
    )


def _attackers(problem: Problem, core: Core) -> list[int]:
    """Which attackers of the problem those of the core are, by what they know of it and are not asked about."""
    place = np.full(problem.n_cells, -1)
    for g, (cells, _) in enumerate(core.members):
        place[cells] = g

    def within(cells: Iterable[int]) -> frozenset[int]:
        return frozenset(g for g in place[list(cells)].tolist() if g >= 0)

    sets: dict[tuple[frozenset[int], ...], int] = {}
    for k, attacker in enumerate(problem.attackers):
        sets.setdefault((within(attacker.known), within(attacker.spared)), k)
    pairs = zip(core.attackers, core.spared, strict=True)
    return [sets[frozenset(known.tolist()), frozenset(spared.tolist())] for known, spared in pairs]
