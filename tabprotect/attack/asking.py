"""Programmes for many questions at once, then for one: what an attacker reaches, with the proof of too little.

Questions of one attacker about the same components, of levels within one range, share a programme.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from tabprotect.attack.attackers import AttackProgramme, unit_of
from tabprotect.attack.exposure import Exposure, Multipliers, capacity
from tabprotect.attack.grouping import batches, by_level
from tabprotect.attack.judge import Judge
from tabprotect.attack.kept import KeptProgrammes
from tabprotect.attack.keys import Key
from tabprotect.attack.region import Region, open_region
from tabprotect.solver.limits import Budget
from tabprotect.solver.lp import LpSolution
from tabprotect.solver.tolerances import LEVEL, MULTIPLIER

__all__ = ["Asking"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_JOINT_CAP = 2.0**10
_SINGLE_CAPS = (2.0**20, 2.0**36, np.inf)
"""Bounds in an attack, as multiples of the level. Exposure is proven with the true bounds, never with a cap."""


class Asking:
    """What one pattern leaves open, asked question by question.

    Parameters
    ----------
    judge : Judge
    hidden : ndarray of bool
        The pattern.
    budget : Budget
    stop_at_first : bool
        Whether one exposure ends it.
    alone : bool
        Whether questions are also asked one by one; otherwise only what many programmes at once answer is found out.

    Attributes
    ----------
    valid : ndarray of int
        Witnesses of the judge within the pattern.
    answered : ndarray of bool
        Questions that need not be asked.
    """

    def __init__(self, judge: Judge, hidden: Bools, budget: Budget, stop_at_first: bool, *, alone: bool = True) -> None:
        self.judge = judge
        self.hidden = hidden
        self.budget = budget
        self.stop = stop_at_first
        self.alone = alone
        self.valid = judge.pool.valid(hidden)
        self.answered = judge.pool.answered(self.valid)
        if -1 in judge._dismissed:
            self.answered = self.answered | judge._dismissed[-1]
        self._kept: KeptProgrammes | None = None

    @property
    def kept(self) -> KeptProgrammes:
        """The programmes of this pattern, or of one around it."""
        if self._kept is None:
            self._kept = self.judge.kept(self.hidden)
        return self._kept

    def _ask(self, left: Ints, attacker: int, known: Ints) -> Iterator[tuple[int, Exposure]]:
        """Answer questions for one attacker by programmes; yield what stays exposed.

        The programmes are those of the public, for this pattern or one around it, with what he knows fixed.
        """
        q, region = self.judge.questions, self.kept.region
        known = np.concatenate((known, self.kept.published(self.hidden)))
        felt = np.isin(region.component, region.component[np.isin(region.cells, known)])
        free = region
        place, inside = region.places(q.cell[left])
        if felt.any():
            free = open_region(self.judge._columns, region.cells[felt & ~np.isin(region.cells, known)])
            inside[inside] = ~felt[place[inside]] | free.places(q.cell[left[inside]])[1]
        for question in left[~inside].tolist() if self.alone else ():
            yield question, self._fixed(free, question, attacker)
            if self.stop:
                return
        left, component = left[inside], region.component[place[inside]]
        order = np.argsort(component, kind="stable")
        size = np.bincount(region.component, minlength=region.n_components)
        for batch in batches(component[order], size):
            mine = order[batch]
            columns = np.flatnonzero(np.isin(region.component, np.unique(component[mine])))
            for group in by_level(q.need[left[mine]]):
                asked = left[mine[group]]
                for item in _Group(self, columns, asked, attacker, known).run():
                    yield item
                    if self.stop:
                        return

    def programme(self, columns: Ints, known: Ints, unit: float, cap: float) -> AttackProgramme:
        """Return the programme of some columns of the region for an attacker: the last one of these, restated."""
        judge, region = self.judge, self.kept.region
        cells, capped = region.cells[columns], bool(np.isfinite(cap))
        found = self.kept.find(columns, capped)
        if found is None:
            judge.programmes += 1
            down, up = judge._down[cells], judge._up[cells]
            found = AttackProgramme(
                region, columns, down, up, unit, cap, presolve=judge.presolve, patience=judge.patience
            )
            self.kept.keep(found, capped)
        found.restate(np.flatnonzero(np.isin(cells, known)), unit, cap)
        return found

    def _fixed(self, region: Region, question: int, attacker: int) -> Exposure:
        """The cell cannot move: it is published, or the equations fix it."""
        q = self.judge.questions
        cell, side = int(q.cell[question]), int(q.side[question])
        none = np.zeros(0, np.int64)
        proofs = tuple(
            self.complete(region, Multipliers(s, none, np.zeros(0)), cell) for s in ((side,) if side else (1, -1))
        )
        return Exposure(Key(attacker, cell, side), 0.0, float(q.need[question]), proofs)

    def _undecided(self, question: int, attacker: int) -> Exposure:
        q = self.judge.questions
        key = Key(attacker, int(q.cell[question]), int(q.side[question]))
        return Exposure(key, 0.0, float(q.need[question]), (), decided=False)

    def complete(self, region: Region, proof: Multipliers, cell: int) -> Multipliers:
        """Add multipliers of the equations that fix peeled cells, so that those cost nothing in the proof."""
        if region is not self.kept.region:
            proof = self._complete(region, proof, cell)
        return self._complete(self.kept.region, proof, cell)

    def _complete(self, region: Region, proof: Multipliers, cell: int) -> Multipliers:
        if not len(region.peeled):
            return proof
        A = self.judge.problem.system.A
        multiplier = np.zeros(A.shape[0])
        d = np.zeros(len(region.peeled))
        if len(proof.rows):
            multiplier[proof.rows] = proof.values
            d -= self.judge._columns[:, region.peeled].T @ multiplier
        d[region.peeled == cell] += proof.side
        more = region.fix_peeled(A, {int(i): float(d[i]) for i in np.flatnonzero(np.abs(d) > MULTIPLIER)})
        for row, value in more.items():
            multiplier[row] += value
        rows = np.flatnonzero(multiplier)
        return Multipliers(proof.side, rows, multiplier[rows])


class _Group:
    """Questions of one attacker about some components, of levels within one range."""

    def __init__(self, check: Asking, columns: Ints, asked: Ints, attacker: int, known: Ints) -> None:
        self.check = check
        self.judge = check.judge
        self.region = check.kept.region
        self.columns = columns
        self.attacker = attacker
        self.known = known
        self.asked = asked
        q = self.judge.questions
        self.column = {
            int(question): int(place)
            for question, place in zip(
                asked, np.searchsorted(columns, np.searchsorted(self.region.cells, q.cell[asked])), strict=True
            )
        }
        need = q.need[asked]
        self.unit, self.top = unit_of(float(need.min())), float(need.max())

    def programme(self, unit: float, cap: float) -> AttackProgramme:
        return self.check.programme(self.columns, self.known, unit, cap)

    def run(self) -> Iterator[tuple[int, Exposure]]:
        """Simultaneous programmes while they help, then one by one."""
        q = self.judge.questions
        open_ = np.zeros(len(q.cell), bool)
        open_[self.asked] = True
        if len(self.asked) > 1:
            joint = self.programme(self.unit, _JOINT_CAP * self.top)
            self._joint(joint, self.asked[q.side[self.asked] != 0], open_)
            self._joint(joint, self.asked[q.side[self.asked] == 0], open_)
        for question in self.asked.tolist() if self.check.alone else ():
            if not open_[question]:
                continue
            exposure = self._single(question, open_)
            if exposure is not None:
                yield question, exposure

    def _joint(self, programme: AttackProgramme, asked: Ints, open_: Bools) -> None:
        """Ask many questions at once, to one side after the other, as long as that answers some."""
        q, judge = self.judge.questions, self.judge
        side, idle = 1, 0
        while idle < 2 and open_[asked].sum() > 1 and not self.check.budget.exhausted:
            pending = asked[open_[asked]]
            first = np.argsort(q.side[pending] != side, kind="stable")
            targets = pending[first][np.unique(q.cell[pending[first]], return_index=True)[1]]
            sliding = not q.side[targets].any()
            self._solve(programme, targets, np.where(q.side[targets], q.side[targets], side), open_, both=sliding)
            if sliding:
                stored = judge.pool.avoiding(judge.pool.valid(self.check.hidden), self.known)
                open_[pending[judge.pool.answered(stored)[pending]]] = False
            idle = 0 if open_[asked].sum() < len(pending) else idle + 1
            side = -side

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
        turned = self._turned(programme, solution.x, open_)
        open_[self.judge._take(self.region, programme, solution.x, turned=turned)] = False
        return solution

    def _turned(self, programme: AttackProgramme, x: Floats, open_: Bools) -> bool:
        """Whether a deviation turned round, within the bounds of the cells asked about, answers an open question.

        Where the bounds are wide it answers what the deviation itself answers on the other side.
        """
        q = self.judge.questions
        asked = self.asked[open_[self.asked]]
        cells, side = q.cell[asked], q.side[asked]
        z = x[[self.column[int(question)] for question in asked]] * programme.unit
        down, up, enough = self.judge._down[cells], self.judge._up[cells], q.need[asked] * (1 - LEVEL)
        straight = side * np.clip(z, -down, up) >= enough
        return bool(np.any(~straight & (side * np.clip(-z, -down, up) >= enough)))

    def _single(self, question: int, open_: Bools) -> Exposure | None:
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
            programme = self.programme(unit, 2 * cap * unit)
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
