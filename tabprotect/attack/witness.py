"""Which protection levels does a pattern fail to provide? Answered by few linear programmes for all cells together.

A deviation z (A z = 0, -LB x <= z <= UB x) is a witness for every cell that it moves far enough, so one programme

    max sum_p s_p z_p / L_p   subject to   A z = 0,  -LB x <= z <= UB x,  s_p z_p <= L_p

answers most questions at once, once with all signs up and once down, then again on what is left. Only a question that
no witness answers gets a programme of its own, which finds a witness or proves exposure by its multipliers. Witnesses
are kept: z is still one under any other pattern that hides all cells that it moves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse
from scipy.sparse import csgraph

from tabprotect.attack.attackers import AttackProgramme, unit_of
from tabprotect.attack.keys import Key, Questions, keys
from tabprotect.attack.pool import Deviation, Pool
from tabprotect.attack.region import Region, open_region
from tabprotect.problem import Problem, Status
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LpSolution
from tabprotect.solver.tolerances import LEVEL, MULTIPLIER

__all__ = ["Deviation", "Exposure", "Key", "Multipliers", "Witnesses", "capacity", "keys"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_BATCH = 4000
"""Columns of one simultaneous programme; larger only when one component is."""

_LEVEL_RANGE = 2.0**13
"""Levels within this ratio share a programme, so that its numbers stay comparable."""

_TOGETHER = 8
"""More attackers than this are first played as one."""

_JOINT_CAP = 2.0**10
_SINGLE_CAPS = (2.0**20, 2.0**36, np.inf)
"""Bounds in an attack, as multiples of the level. Exposure is proven with the true bounds, never with a cap."""


class Multipliers(NamedTuple):
    """A proof that an attack ends below its level.

    With d = side * e_p - A' lambda every deviation has side * z_p = d z <= sum of UB_i max(d_i, 0) + LB_i max(-d_i, 0).

    Attributes
    ----------
    side : int
        +1 or -1.
    rows : ndarray of int
    values : ndarray of float
        The multipliers lambda of these equations; 0 elsewhere.
    """

    side: int
    rows: Ints
    values: Floats


@dataclass(frozen=True, eq=False)
class Exposure:
    """A question that a pattern answers with no.

    Attributes
    ----------
    key : Key
    reached : float
        How far the intruder's view of the cell reaches to that side (or how wide it is), in the unit of the values.
    needed : float
        The level asked for.
    proofs : tuple of Multipliers
        One; an upper and a lower one for a sliding level; none when the limits ended the work before the question was
        decided (it counts as exposed then).
    decided : bool
        False when `reached` is only what had been found at the limit, or within floating-point reach of the level.
    """

    key: Key
    reached: float
    needed: float
    proofs: tuple[Multipliers, ...] = ()
    decided: bool = True


def capacity(problem: Problem, cell: int, proof: Multipliers, known: Ints, *, box: bool = False) -> tuple[Ints, Floats]:
    """Return the capacities of the cut sum c_i x_i >= level that a proof of exposure gives.

    Fischetti and Salazar-Gonzalez (2000): c_i = UB_i max(d_i, 0) + LB_i max(-d_i, 0), 0 for known cells.

    Parameters
    ----------
    known : ndarray of int
        Cells that the attacker knows.
    box : bool
        Keep the term of the cell itself (sliding levels, intervals). For one-sided levels it is dropped, which is
        right as long as the level lies within the external bounds of the cell.

    Returns
    -------
    cells : ndarray of int
    capacities : ndarray of float
        Not truncated at the level; may be infinite.
    """
    A = problem.system.A
    multiplier = np.zeros(A.shape[0])
    multiplier[proof.rows] = proof.values
    d = -(A.T @ multiplier)
    d[cell] += proof.side
    d[np.abs(d) < MULTIPLIER] = 0.0
    d[known] = 0.0
    if not box:
        d[cell] = 0.0
    cells = np.flatnonzero(d)
    size = d[cells]
    return cells, np.abs(size) * np.where(size > 0, problem.up[cells], problem.down[cells])


class Witnesses:
    """Judges patterns of one problem; what it learns from one pattern it uses for the next.

    Parameters
    ----------
    problem : Problem

    Examples
    --------
    Hiding only the sensitive cell of a row is not enough; one more cell protects it:

    >>> p = Problem.from_arrays([[-1, 1, 1, 1]], [20, 9, 6, 5], primary=[1], lpl=2, upl=2)
    >>> judge = Witnesses(p)
    >>> [(e.key.side, e.reached, e.needed) for e in judge.check([False, True, False, False])]
    [(1, 0.0, 2.0), (-1, 0.0, 2.0)]
    >>> judge.check([False, True, True, False])
    ()
    >>> (deviation,) = judge.witness(Key(-1, 1, 1))
    >>> deviation.cells.tolist(), deviation.z.tolist()
    ([1, 2], [2.0, -2.0])
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.questions = Questions.of(problem)
        self.pool = Pool(self.questions, problem.n_cells)
        self.programmes = 0
        self._columns = sparse.csc_array(problem.system.A)
        self._down, self._up = problem.down, problem.up
        self._movable = (problem.status != Status.ZERO) & ((self._down > 0) | (self._up > 0))
        self._known = tuple(np.unique(np.asarray(a.known, np.int64)) for a in problem.attackers)
        n_known = [len(k) for k in self._known]
        self._knows = sparse.csr_array(
            (
                np.ones(sum(n_known), np.int32),
                np.concatenate(self._known) if n_known else np.zeros(0, np.int64),
                np.concatenate(([0], np.cumsum(n_known))).astype(np.int64),
            ),
            shape=(len(self._known), problem.n_cells),
        )
        self._last = np.zeros(problem.n_cells, bool)
        self._dismissed: dict[int, Bools] = {}

    def dismiss(self, key: Key) -> None:
        """Never ask this question again (a public one: of no attacker): it is known to have no answer."""
        nothing = np.zeros(len(self.questions.cell), bool)
        self._dismissed.setdefault(key.attacker, nothing)[self.questions.place[key.side][key.cell]] = True

    def check(
        self, pattern: Bools | list[bool], budget: Budget | None = None, stop_at_first: bool = False
    ) -> tuple[Exposure, ...]:
        """Return what a pattern leaves exposed; nothing means safe up to the tolerance of the linear programmes.

        An attacker is not asked about a cell and side that is exposed to the public already (he knows more).

        Parameters
        ----------
        pattern : sequence of bool, shape (cells,)
            True where a cell is hidden.
        budget : Budget, optional
            When it is exhausted, questions not yet answered are returned as exposures with ``decided=False``.
        stop_at_first : bool
            Return after the first exposure.

        Returns
        -------
        tuple of Exposure
            By attacker and question, in the order of `keys`.
        """
        run = _Check(self, np.asarray(pattern, bool) & self._movable, budget or Budget(), stop_at_first)
        self._last = run.hidden
        found = run.public()
        if not (found and stop_at_first):
            found += run.attackers([q for q, _ in found])
        return tuple(exposure for _, exposure in found)

    def witness(self, key: Key, pattern: Bools | None = None) -> tuple[Deviation, ...]:
        """Return the smallest stored deviation that answers a question with yes.

        Parameters
        ----------
        key : Key
        pattern : ndarray of bool, optional
            It moves only cells hidden here; by default in the pattern checked last.

        Returns
        -------
        tuple of Deviation
            One; an upper and a lower one (either may be empty) for a sliding level; none when nothing stored answers.
        """
        hidden = self._last if pattern is None else np.asarray(pattern, bool) & self._movable
        valid = self.pool.valid(hidden)
        if key.attacker >= 0:
            valid = self.pool.avoiding(valid, self._known[key.attacker])
        return self.pool.best(valid, int(self.questions.place[key.side][key.cell]))

    def deviations(self, pattern: Bools, *, few: bool = False) -> list[Deviation]:
        """Return all stored deviations that move only cells hidden in a pattern.

        With `few` only some that together answer all questions about the public view which one of them answers.
        """
        valid = self.pool.valid(np.asarray(pattern, bool) & self._movable)
        return [self.pool[i] for i in (self.pool.cover(valid) if few else valid).tolist()]

    def known(self, attacker: int) -> Ints:
        """Return the cells that an attacker knows (none for -1)."""
        return np.zeros(0, np.int64) if attacker < 0 else self._known[attacker]

    def stored(self, pattern: Bools) -> Bools:
        """Return which questions about the public view stored witnesses answer under a pattern."""
        return self.pool.answered(self.pool.valid(np.asarray(pattern, bool) & self._movable))

    def sweep(self, pattern: Bools, budget: Budget | None = None) -> Bools:
        """Return which questions about the public view are answered with yes by stored and simultaneous witnesses.

        Cheaper than `check`: what is left open may still be answered by a programme of its own.
        """
        run = _Check(self, np.asarray(pattern, bool) & self._movable, budget or Budget(), False, alone=False)
        run.public()
        return self.pool.answered(self.pool.valid(run.hidden))

    def offer(self, deviation: Deviation) -> Ints:
        """Store a deviation found elsewhere after checking it; return the (public) questions that it answers alone."""
        inside = self._movable[deviation.cells]
        cells = deviation.cells[inside]
        z = np.clip(deviation.z[inside], -self._down[cells], self._up[cells])
        order = np.argsort(cells)
        return self._store(cells[order], z[order])

    def _store(self, cells: Ints, z: Floats) -> Ints:
        """Split a deviation into parts that no equation joins, and keep those that answer something."""
        block = self._columns[:, cells]
        rows, local = np.unique(block.indices, return_inverse=True)
        block = sparse.csc_array((block.data, local, block.indptr), shape=(len(rows), len(cells)))
        residual = np.abs(block @ z)
        n = len(cells)
        column = np.repeat(np.arange(n), np.diff(block.indptr))
        links = sparse.coo_array((np.ones(len(local)), (column, n + local)), shape=(n + len(rows),) * 2)
        label = csgraph.connected_components(links, directed=False)[1]
        parts = int(label.max()) + 1 if len(label) else 0
        worst = np.zeros(parts)
        np.maximum.at(worst, label[n:], residual)
        order = np.argsort(label[:n], kind="stable")
        ends = np.searchsorted(label[:n][order], np.arange(parts + 1))
        answered = [
            self.pool.add(Deviation(cells[part], z[part]), float(worst[k]))
            for k in range(parts)
            if len(part := order[ends[k] : ends[k + 1]])
        ]
        return np.concatenate(answered) if answered else np.zeros(0, np.int64)

    def _take(self, region: Region, programme: AttackProgramme, x: Floats) -> Ints:
        """Keep the answer of a programme as witnesses."""
        cells = region.cells[programme.columns]
        z = x * programme.unit
        moved = np.abs(x) > MULTIPLIER
        cells, z = cells[moved], np.clip(z[moved], -self._down[cells[moved]], self._up[cells[moved]])
        return self._store(cells, z)


class _Check:
    """One run of `Witnesses.check`."""

    def __init__(
        self, judge: Witnesses, hidden: Bools, budget: Budget, stop_at_first: bool, *, alone: bool = True
    ) -> None:
        self.judge = judge
        self.hidden = hidden
        self.budget = budget
        self.stop = stop_at_first
        self.alone = alone
        self.valid = judge.pool.valid(hidden)
        self.answered = judge.pool.answered(self.valid)
        if -1 in judge._dismissed:
            self.answered = self.answered | judge._dismissed[-1]
        self._region: Region | None = None

    @property
    def region(self) -> Region:
        """The hidden cells that can move in the eyes of the public."""
        if self._region is None:
            self._region = open_region(self.judge._columns, np.flatnonzero(self.hidden))
        return self._region

    def public(self) -> list[tuple[int, Exposure]]:
        """Answer everything for the intruder who knows only what is published."""
        left = np.flatnonzero(~self.answered)
        if not len(left):
            return []
        none = np.zeros(0, np.int64)
        return sorted(self._ask(self.region, left, -1, none), key=lambda item: item[0])

    def attackers(self, exposed: list[int]) -> list[tuple[int, Exposure]]:
        """Answer what the attackers with known cells add to that."""
        judge, q = self.judge, self.judge.questions
        if not judge._known:
            return []
        self.valid = judge.pool.valid(self.hidden)
        skip = np.zeros(len(q.cell), bool)
        skip[exposed] = True
        if -1 in judge._dismissed:
            skip |= judge._dismissed[-1]
        found: list[tuple[int, Exposure]] = []
        contested = list(self._contested(skip))
        size = len(contested)
        while size > _TOGETHER and not self.budget.exhausted:
            for k in range(0, len(contested), size):
                self._together(contested[k : k + size])
            self.valid = judge.pool.valid(self.hidden)
            contested, size = list(self._contested(skip)), -(-size // 2)
        for attacker, left in contested:
            known = judge._known[attacker]
            valid = judge.pool.avoiding(judge.pool.valid(self.hidden), known)
            left = left[~judge.pool.answered(valid)[left]]
            if attacker in judge._dismissed:
                left = left[~judge._dismissed[attacker][left]]
            if not len(left):
                continue
            found += sorted(self._ask(self._without(known), left, attacker, known), key=lambda item: item[0])
            if found and self.stop:
                break
        return found

    def _together(self, group: list[tuple[int, Ints]]) -> None:
        """Play some attackers as one who knows what each of them knows: his witnesses are witnesses of all of them."""
        judge, pool = self.judge, self.judge.pool
        known = np.unique(np.concatenate([judge._known[a] for a, _ in group]))
        asked = np.unique(np.concatenate([left for _, left in group]))
        asked = asked[~np.isin(judge.questions.cell[asked], known)]
        asked = asked[~pool.answered(pool.avoiding(pool.valid(self.hidden), known))[asked]]
        alone, self.alone = self.alone, False
        for _ in self._ask(self._without(known), asked, group[0][0], known):
            pass
        self.alone = alone

    def _without(self, known: Ints) -> Region:
        """The part of the region that can move although some cells are known, as far as they are felt."""
        mine = np.isin(self.region.cells, known)
        touched = np.isin(self.region.component, self.region.component[mine]) & ~mine
        return open_region(self.judge._columns, self.region.cells[touched])

    def _contested(self, skip: Bools) -> Iterator[tuple[int, Ints]]:
        """Attackers and those questions whose every stored public witness moves a cell that they know."""
        judge, q, pool = self.judge, self.judge.questions, self.judge.pool
        touches = (judge._knows @ pool._supports[self.valid].T).tocsr()
        touches.data[:] = 1
        answers = pool._answered[self.valid]
        total = np.bincount(answers.indices, minlength=len(q.cell))
        lost = sparse.csr_array(touches @ answers)
        sliding = np.flatnonzero((q.side == 0) & ~skip)
        for attacker, known in enumerate(judge._known):
            lo, hi = lost.indptr[attacker], lost.indptr[attacker + 1]
            asked = lost.indices[lo:hi]
            gone = asked[lost.data[lo:hi] == total[asked]]
            gone = gone[(q.side[gone] != 0) & ~skip[gone]]
            if len(sliding) and touches.indptr[attacker] < touches.indptr[attacker + 1]:
                gone = np.concatenate((gone, sliding))
            gone = np.sort(gone[~np.isin(q.cell[gone], known)])
            if len(gone):
                yield attacker, gone

    def _ask(self, region: Region, left: Ints, attacker: int, known: Ints) -> Iterator[tuple[int, Exposure]]:
        """Answer questions for one attacker by programmes; yield what stays exposed."""
        q = self.judge.questions
        place = np.searchsorted(region.cells, q.cell[left])
        inside = place < len(region.cells)
        inside[inside] = region.cells[place[inside]] == q.cell[left[inside]]
        for question in left[~inside].tolist() if self.alone else ():
            yield question, self._fixed(region, question, attacker, known)
            if self.stop:
                return
        left, place = left[inside], place[inside]
        component = region.component[place]
        order = np.argsort(component, kind="stable")
        size = np.bincount(region.component, minlength=region.n_components)
        for batch in _batches(component[order], size):
            mine = order[batch]
            columns = np.flatnonzero(np.isin(region.component, np.unique(component[mine])))
            for group in _by_level(q.need[left[mine]]):
                asked = left[mine[group]]
                for item in _Group(self, region, columns, asked, attacker, known).run():
                    yield item
                    if self.stop:
                        return

    def _fixed(self, region: Region, question: int, attacker: int, known: Ints) -> Exposure:
        """The cell cannot move: it is published, or the equations fix it."""
        q = self.judge.questions
        cell, side = int(q.cell[question]), int(q.side[question])
        none = np.zeros(0, np.int64)
        proofs = tuple(
            self.complete(region, Multipliers(s, none, np.zeros(0)), cell) for s in ((side,) if side else (1, -1))
        )
        return Exposure(Key(attacker, cell, side), 0.0, float(q.need[question]), proofs)

    def complete(self, region: Region, proof: Multipliers, cell: int) -> Multipliers:
        """Add multipliers of the equations that fix peeled cells, so that those cost nothing in the proof."""
        if region is not self.region:
            proof = self._complete(region, proof, cell)
        return self._complete(self.region, proof, cell)

    def _complete(self, region: Region, proof: Multipliers, cell: int) -> Multipliers:
        if not len(region.peeled):
            return proof
        A = self.judge.problem.system.A
        multiplier = np.zeros(A.shape[0])
        multiplier[proof.rows] = proof.values
        d = -(self.judge._columns[:, region.peeled].T @ multiplier)
        d[region.peeled == cell] += proof.side
        more = region.fix_peeled(A, {int(i): float(d[i]) for i in np.flatnonzero(np.abs(d) > MULTIPLIER)})
        for row, value in more.items():
            multiplier[row] += value
        rows = np.flatnonzero(multiplier)
        return Multipliers(proof.side, rows, multiplier[rows])


class _Group:
    """Questions of one attacker about some components, of levels within one range."""

    def __init__(self, check: _Check, region: Region, columns: Ints, asked: Ints, attacker: int, known: Ints) -> None:
        self.check = check
        self.judge = check.judge
        self.region = region
        self.columns = columns
        self.attacker = attacker
        self.known = known
        self.asked = asked
        q = self.judge.questions
        self.column = {
            int(question): int(place)
            for question, place in zip(
                asked, np.searchsorted(columns, np.searchsorted(region.cells, q.cell[asked])), strict=True
            )
        }
        need = q.need[asked]
        self.unit, self.top = unit_of(float(need.min())), float(need.max())

    def programme(self, unit: float, cap: float) -> AttackProgramme:
        cells = self.region.cells[self.columns]
        self.judge.programmes += 1
        return AttackProgramme(self.region, self.columns, self.judge._down[cells], self.judge._up[cells], unit, cap)

    def run(self) -> Iterator[tuple[int, Exposure]]:
        """Simultaneous programmes while they help, then one by one."""
        q = self.judge.questions
        open_ = np.zeros(len(q.cell), bool)
        open_[self.asked] = True
        one_sided = self.asked[q.side[self.asked] != 0]
        side, idle = 1, 0
        joint = self.programme(self.unit, _JOINT_CAP * self.top) if len(one_sided) > 1 else None
        while joint is not None and idle < 2 and open_[one_sided].sum() > 1 and not self.check.budget.exhausted:
            pending = one_sided[open_[one_sided]]
            first = np.argsort(q.side[pending] != side, kind="stable")
            targets = pending[first][np.unique(q.cell[pending[first]], return_index=True)[1]]
            before = open_[one_sided].sum()
            self._solve(joint, targets, q.side[targets], open_)
            idle = idle + 1 if open_[one_sided].sum() == before else 0
            side = -side
        singles: dict[tuple[float, float], AttackProgramme] = {}
        for question in self.asked.tolist() if self.check.alone else ():
            if not open_[question]:
                continue
            exposure = self._single(question, open_, singles)
            if exposure is not None:
                yield question, exposure

    def _solve(
        self, programme: AttackProgramme, targets: Ints, sides: Ints, open_: Bools, *, both: bool = False
    ) -> LpSolution | None:
        """Solve, keep the witnesses and close the questions that they answer; None at a limit."""
        columns = np.array([self.column[int(t)] for t in targets], np.int64)
        order = np.argsort(columns)
        need = self.judge.questions.need[targets]
        solution = programme.solve(columns[order], sides[order], need[order], self.check.budget, both=both)
        if solution.status != "optimal":
            return None
        open_[self.judge._take(self.region, programme, solution.x)] = False
        # where the bounds are wide, the same deviation turned round answers the other side
        q = self.judge.questions
        if open_[self.asked[np.isin(q.side[self.asked], -sides)]].any():
            open_[self.judge._take(self.region, programme, -solution.x)] = False
        return solution

    def _single(
        self, question: int, open_: Bools, singles: dict[tuple[float, float], AttackProgramme]
    ) -> Exposure | None:
        """Ask one question, with wider and wider caps until it is decided."""
        q, check = self.judge.questions, self.check
        key = Key(self.attacker, int(q.cell[question]), int(q.side[question]))
        need = float(q.need[question])
        unit = unit_of(need)
        target = np.array([question])
        reached = 0.0
        for cap in _SINGLE_CAPS:
            if check.budget.exhausted:
                break
            if (unit, cap) not in singles:
                singles[unit, cap] = self.programme(unit, 2 * cap * unit)
            programme = singles[unit, cap]
            total, limit = 0.0, 0.0
            proofs: list[Multipliers] = []
            for side in (key.side,) if key.side else (1, -1):
                solution = self._solve(programme, target, np.array([side]), open_, both=key.side == 0)
                if solution is None:
                    return Exposure(key, max(reached, total), need, (), decided=False)
                total += solution.objective * need
                proof = self._proof(programme, key.cell, side, solution.duals * (need / programme.unit))
                proofs.append(proof)
                limit += self._limit(key, need, proof)
            if key.side == 0 and total >= need * (1 - LEVEL):
                open_[question] = False
            if not open_[question]:
                return None
            reached = max(reached, total)
            if limit < need:
                return Exposure(key, total, need, tuple(proofs))
        return Exposure(key, reached, need, (), decided=False)

    def _proof(self, programme: AttackProgramme, cell: int, side: int, duals: Floats) -> Multipliers:
        rows = np.flatnonzero(np.abs(duals) > MULTIPLIER)
        return self.check.complete(self.region, Multipliers(side, programme.rows[rows], duals[rows]), cell)

    def _limit(self, key: Key, need: float, proof: Multipliers) -> float:
        """How far the cell gets at most, by the multipliers and the true bounds alone."""
        own = (self.judge._up if proof.side > 0 else self.judge._down)[key.cell]
        cells, c = capacity(self.judge.problem, key.cell, proof, self.known, box=key.side == 0 or need > own)
        return float(c[self.check.hidden[cells]].sum())


def _batches(component: Ints, size: Ints) -> Iterator[slice]:
    """Cut a sorted list of components into slices of whole components of about `_BATCH` columns."""
    start, total = 0, 0
    for i in range(len(component)):
        if i and component[i] != component[i - 1]:
            if total + size[component[i]] > _BATCH:
                yield slice(start, i)
                start, total = i, 0
            total += int(size[component[i]])
        elif i == 0:
            total = int(size[component[0]])
    if len(component):
        yield slice(start, len(component))


def _by_level(need: Floats) -> Iterator[Ints]:
    """Group levels so that those of one group lie within `_LEVEL_RANGE`."""
    order = np.argsort(need, kind="stable")
    start = 0
    for i in range(1, len(order) + 1):
        if i == len(order) or need[order[i]] > need[order[start]] * _LEVEL_RANGE:
            yield np.sort(order[start:i])
            start = i
